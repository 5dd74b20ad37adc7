"""Halves of the entities: groups of identical entities."""

import numpy as np
import pytest
import scipy.sparse as sp

import consilience as cs
from consilience.methods.common.halves import group_identical, split_entities


@pytest.mark.parametrize("convert", [np.asarray, sp.csr_array, sp.coo_array])
def test_identical_entities_form_a_group(convert):
    first = np.array([[1.0, 0.0], [1.0, 0.0], [1.0, -0.0], [0.0, 2.0], [1.0, 0.0]])
    second = np.array([[5.0], [6.0], [5.0], [5.0], [5.0]])
    views = cs.Views({"first": convert(first), "second": second})
    assert group_identical(views).tolist() == [0, 1, 0, 2, 0]


def test_explicit_zeros_do_not_distinguish_sparse_rows():
    stored = sp.csr_array((np.array([0.0, 3.0, 3.0]), np.array([0, 1, 1]), np.array([0, 2, 3])), shape=(2, 2))
    assert group_identical(cs.Views({"a": stored})).tolist() == [0, 0]


def test_entities_with_other_views_are_not_identical():
    X = np.ones((5, 2))
    present = np.array([[1, 1], [1, 0], [1, 0], [0, 0], [0, 0]], bool)
    assert group_identical(cs.Views({"a": X, "b": X}, present=present)).tolist() == [0, 1, 1, 2, 3]


def test_groups_are_not_divided():
    rows = np.arange(100, 160)
    groups = np.arange(60) // 3
    first, second = split_entities(rows, np.random.default_rng(0), groups)
    assert len(first) == len(second) == 30
    assert sorted([*first, *second]) == rows.tolist()
    assert not set(groups[first - 100]) & set(groups[second - 100])
