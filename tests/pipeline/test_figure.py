"""Displays of a result, and the figure for a paper with its caption."""

import re

import matplotlib as mpl
import numpy as np
import pandas as pd
import pytest
from matplotlib.figure import Figure
from matplotlib.text import Text

import consilience as cs
from consilience.pipeline.figure import Panel, arrange_panels
from consilience.plot import (
    DescribedDisplay,
    GroupProfileDisplay,
    HierarchyDisplay,
    JointMapDisplay,
    SurvivalDisplay,
    VerdictDisplay,
)

mpl.use("Agg")
N = 90


@pytest.fixture(scope="module")
def frame():
    rng = np.random.default_rng(0)
    group = np.repeat([0, 1, 2], N // 3)
    center = 6 * np.eye(3)[group]
    parts = {f"{view}{j}": center[:, j] + rng.normal(size=N) for view in "ab" for j in range(3)}
    return pd.DataFrame(
        {
            **parts,
            "age": 30 + 10 * group + rng.integers(0, 9, N),
            "sex": rng.choice(["f", "m"], N),
            "months": rng.exponential(np.array([5, 20, 60])[group]).round(2),
            "event": rng.random(N) < 0.8,
        }
    )


@pytest.fixture(scope="module")
def result(frame):
    views = {view: frame[[f"{view}{j}" for j in range(3)]] for view in "ab"}
    return cs.cluster(views, 3, describe=frame[["age", "sex", "months", "event"]])


@pytest.fixture(scope="module")
def plain(frame):
    """A result without descriptions and assessment."""
    return cs.cluster(frame[["a0", "a1", "a2"]].to_numpy(), 3, assess=False, method="k-means")


def test_result_draws_displays(result):
    for kind, options, display in (
        ("map", {}, JointMapDisplay),
        ("map", {"color": "age"}, JointMapDisplay),
        ("group", {"cluster": 1}, GroupProfileDisplay),
        ("verdict", {}, VerdictDisplay),
        ("survival", {}, SurvivalDisplay),
        ("hierarchy", {"n_groups": 2}, HierarchyDisplay),
        ("described", {}, DescribedDisplay),
        ("described", {"columns": ["a0", "age"]}, DescribedDisplay),
    ):
        drawn = result.plot(kind, ax=Figure(layout="constrained").subplots(), **options)
        assert type(drawn) is display
        drawn.figure_.draw_without_rendering()


def test_map_and_repr_have_the_names_of_the_result(result):
    display = result.plot(ax=Figure().subplots())
    names = {c: label.get_text().replace("\n", " ") for c, label in display.labels_.items()}
    assert names == dict(enumerate(result.names))
    assert np.array_equal(display.layout, result.map)
    page = result._repr_html_()
    assert result.assessment.headline in page
    assert all(name in page for name in result.names)


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda r: r.plot("mapp"), "kind='mapp': choose from 'map', 'group', 'verdict'"),
        (lambda r: r.plot("map", color="price"), "there is no column 'price': choose from 'a0', 'a1'"),
        (lambda r: r.plot("group", cluster=8), "there is no cluster 8: they are 0 to 2"),
        (lambda r: r.figure("maps"), "kind='maps': choose from 'all', 'map', 'groups'"),
        (lambda r: r.figure(width=20), "a width of 20 mm is not between 60 and 400 mm"),
        (lambda r: r.figure("map", groups=[1, 7]), "there is no group 7: their numbers are 0 to 2"),
        (lambda r: r.figure("map", groups=[]), "groups is empty: name at least one group"),
    ],
)
def test_wrong_arguments_are_refused(result, call, words):
    with pytest.raises(ValueError, match=re.escape(words)):
        call(result)


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda r: r.plot("verdict"), "the result was not assessed, so there is no verdict"),
        (lambda r: r.plot("survival"), "no column says when an event happened"),
        (lambda r: r.plot("described"), "no column describes the clusters without having been used to find them"),
        (lambda r: r.figure("verdict"), "the run was not assessed, so there is no verdict to draw"),
        (lambda r: r.figure("survival"), "run `consilience.cluster` again with describe"),
        (lambda r: r.figure("described"), "run `consilience.cluster` again with describe"),
    ],
)
def test_what_a_result_lacks_is_named_and_left_out_of_the_figure(plain, call, words):
    with pytest.raises(ValueError, match=re.escape(words)):
        call(plain)
    figure = plain.figure()
    assert not figure.texts
    assert len(figure.axes) == 1
    assert "(a)" not in figure.get_label()


def find_texts(figure):
    return [text for text in figure.findobj(Text) if text.get_visible() and text.get_text().strip()]


@pytest.mark.parametrize(
    ("kind", "width"),
    [("all", 180), *((kind, 90) for kind in ("all", "map", "groups", "verdict", "survival", "hierarchy", "described"))],
)
def test_figure_has_its_width_and_readable_texts(result, kind, width):
    figure = result.figure(kind, width=width)
    assert figure.get_size_inches()[0] == pytest.approx(width / 25.4)
    assert min(text.get_fontsize() for text in find_texts(figure)) >= 6
    inside = figure.bbox
    figure.draw_without_rendering()
    for panel in figure.axes:
        box = panel.get_tightbbox(for_layout_only=True)
        assert box is None or (box.x0 > inside.x0 - 2 and box.x1 < inside.x1 + 2), kind


def test_figure_of_all_has_four_panels_and_their_caption(result):
    figure = result.figure()
    letters = [text.get_text() for text in figure.texts]
    assert letters == ["a", "b", "c", "d"]
    caption = figure.get_label()
    assert caption.startswith("90 items in 3 groups, by 2 views: 'a', 'b'. (a) Map of all views")
    assert re.search(
        r"\(b\) Stability.* \(c\) Kaplan-Meier .* \(d\) Columns that were not used .* age, sex; boxes", caption
    )
    assert "log-rank, p < .001" in caption
    assert "p-values are adjusted for 3 tests by Holm's method" in caption
    assert "90 items, " in caption
    assert caption.endswith(f"seed 0, consilience {cs.__version__}.")


def test_adjusted_p_values_are_those_of_all_descriptions(result):
    table = cs.explain.compare_clusters(result.model.labels_, result.columns)
    sex = dict(zip(table["column"].tolist(), table["p_adjusted"].tolist(), strict=True))["sex"]
    title = result.plot("described", ax=Figure().subplots()).ax_[1].get_title()
    assert title in [f"sex\np = {sex:.{digits}f}".replace("0.", ".") for digits in (2, 3)]


def make_panels(names):
    heights = {"map": 80.0, "verdict": 40.0, "survival": 60.0, "described": 50.0, "group": 30.0}
    return {"abcdef"[i]: Panel(name, str, heights[name], str, name == "described") for i, name in enumerate(names)}


@pytest.mark.parametrize(
    ("names", "rows", "heights"),
    [
        (["map"], ["a"], [80]),
        (["map", "verdict"], ["ab"], [80]),
        (["map", "verdict", "survival"], ["ab", "ac"], [40, 60]),
        (["map", "described"], ["a", "b"], [80, 50]),
        (["map", "survival", "described"], ["ab", "cc"], [80, 50]),
        (["map", "verdict", "survival", "described"], ["ab", "ac", "dd"], [40, 60, 50]),
        (["group"] * 5, ["ab", "cd", "e."], [30, 30, 30]),
    ],
)
def test_arrangement(names, rows, heights):
    arranged = arrange_panels(make_panels(names), 180)
    assert arranged[0] == rows
    assert arranged[1] == pytest.approx(heights)
    assert arrange_panels(make_panels(names), 90)[0] == list(make_panels(names))
