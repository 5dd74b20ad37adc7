"""Sentences about the views that do not support the clusters."""

import pytest

import consilience as cs
from consilience.explain import describe_support

ALONE = "not support the clusters: they rest on view 'a' alone, and no other confirms them."


@pytest.mark.parametrize(
    ("shares", "sentence"),
    [
        ({"a": 0.6, "b": 0.05}, None),
        ({"a": 0.01}, "View 'a' does not support the clusters: there may be no groups in this data."),
        ({"a": 0.9, "b": 0.0}, f"View 'b' does {ALONE}"),
        ({"a": 0.9, "b": 0.0, "c": 0.0, "d": 0.01}, f"Views 'b', 'c' and 'd' do {ALONE}"),
        (
            {"a": 0.9, "b": 0.0, "c": 0.3, "d": 0.0},
            "Views 'b' and 'd' do not support the clusters: they tell next to nothing about them. Consider leaving "
            "them out.",
        ),
    ],
)
def test_weak_views_are_named(shares, sentence):
    assert describe_support({"view": list(shares), "share": list(shares.values())}) == sentence


def test_supporting_views_are_not_named():
    views, _ = cs.datasets.make_gaussian_views(150, n_clusters=3, separation=6, random_state=0)
    assert describe_support(cs.Consilience(3, random_state=0).fit(views).view_information_) is None
