"""Displays of a result: map, group profile, verdict, survival, hierarchy, descriptions."""

from io import BytesIO

import numpy as np
import pytest
from matplotlib import rc_context
from matplotlib.colors import to_hex
from matplotlib.figure import Figure
from scipy.cluster.hierarchy import linkage

import consilience as cs
from consilience.explain import Hierarchy, OriginalColumn, estimate_survival, find_differences
from consilience.plot import (
    DescribedDisplay,
    GroupProfileDisplay,
    HierarchyDisplay,
    JointMapDisplay,
    SurvivalDisplay,
    VerdictDisplay,
)
from consilience.plot._figure import NEUTRAL_COLOR, break_at_commas, marker_style, shorten_names


def get_texts(display):
    return [text.get_text() for panel in np.ravel(display.ax_) for text in panel.texts]


def test_map_draws_every_entity_in_its_color():
    labels = np.array([0, 1, 1, -1, 2])
    layout = np.arange(10.0).reshape(5, 2)
    layout[4] = np.nan
    display = JointMapDisplay(layout, labels, ["a", "b", "c"]).plot()
    drawn = {
        tuple(point): to_hex(color)
        for points in display.points_
        for point, color in zip(points.get_offsets().tolist(), points.get_facecolors(), strict=True)
    }
    colors = [marker_style(c)[0].lower() for c in (0, 1, 1, -1)]
    assert drawn == {tuple(point): color for point, color in zip(layout[:4].tolist(), colors, strict=True)}
    assert sorted(display.labels_) == [0, 1]


def test_map_of_many_entities_is_rasterized_shuffled_and_transparent():
    rng = np.random.default_rng(0)
    labels = np.sort(rng.integers(0, 4, 50_000))
    names = ["santoku", "oak", "pan", "pot"]
    display = JointMapDisplay(rng.normal(size=(50_000, 2)), labels, names).plot(Figure().subplots())
    (points,) = display.points_
    assert points.get_rasterized()
    assert points.get_alpha() == pytest.approx(0.4)
    colors = points.get_facecolors()[:, :3]
    assert (np.diff(colors, axis=0) != 0).any(axis=1).mean() > 0.5  # clusters are mixed in the order of drawing
    with rc_context({"svg.fonttype": "none"}):
        display.figure_.savefig(file := BytesIO(), format="svg")
    assert file.getbuffer().nbytes < 1_000_000
    assert b">santoku</text>" in file.getvalue(), "names stay texts"


def test_map_by_category_has_a_legend_and_by_number_a_scale():
    values = np.array([*"aaabbcdefgh", None], dtype=object)
    column = OriginalColumn("kind", values, "category")
    display = JointMapDisplay(np.random.default_rng(0).normal(size=(12, 2)), np.zeros(12, int), color=column).plot()
    legend = display.ax_.get_legend()
    assert [text.get_text() for text in legend.get_texts()] == [*"abcdef", "other"]
    colors = {to_hex(color) for points in display.points_ for color in points.get_facecolors()}
    assert len(colors) == 7
    assert NEUTRAL_COLOR in colors
    column = OriginalColumn("price", np.array([1.0, 5.0, np.nan, 9.0]), "number", "$")
    display = JointMapDisplay(np.eye(4)[:, :2], np.zeros(4, int), color=column).plot()
    assert [panel.get_ylabel() for panel in display.figure_.axes] == ["", "price (\\$)"]
    assert to_hex(display.points_[0].get_facecolors()[2]) == NEUTRAL_COLOR


def test_verdict_shows_stability_and_support(assessment):
    display = VerdictDisplay(assessment, ["x", "y", "z"]).plot()
    table = assessment.clusters
    order = np.argsort(-table["size"], kind="stable")
    assert display.clusters_ == table["cluster"][order].tolist()
    assert [bar.get_width() for bar in display.cluster_bars_] == pytest.approx(table["stability"][order])
    assert [bar.get_width() for bar in display.view_bars_] == pytest.approx(assessment.views["support"])
    assert [text.get_text() for text in display.ax_[0].get_yticklabels()] == ["xyz"[c] for c in display.clusters_]
    assert assessment.headline in display.ax_[0].get_title().replace("\n", " ")
    display.plot(max_groups=1)
    others = np.delete(assessment.clusters["stability"], display.clusters_)
    assert len(display.cluster_bars_) == 1
    assert display.ax_[0].get_xlabel().endswith(f"2 smaller groups: median {np.median(others):.2f}")


def test_unconfirmed_views_are_hatched():
    rng = np.random.default_rng(0)
    views, _ = cs.datasets.make_gaussian_views(150, n_features=(3, 3), separation=6, random_state=0)
    noisy = cs.Views({"a": views["view0"], "b": views["view1"], "noise": rng.normal(size=(150, 3))})
    assessment = cs.assess(cs.MultiViewKMeans(3, random_state=0).fit(noisy), noisy)
    assert assessment.unconfirmed == ["noise"]
    display = VerdictDisplay(assessment).plot()
    assert [bool(bar.get_hatch()) for bar in display.view_bars_] == [False, False, True]


def test_survival_draws_the_estimate_and_numbers_at_risk(columns, kmeans):
    column, labels = columns["months"], kmeans.labels_
    display = SurvivalDisplay.from_labels(labels, column)
    ticks = display.ax_.get_xticks()
    for c, line in display.lines_.items():
        x, y = line.get_data()
        time = column.values[labels == c]
        curve = estimate_survival(time, column.event[labels == c])
        for t, share in zip(curve.times, curve.survival, strict=True):
            assert y[np.searchsorted(x, t, side="right") - 1] == pytest.approx(share)
        assert display.at_risk_[c] == [int(np.sum(time >= tick)) for tick in ticks]


def test_survival_of_many_clusters_has_no_bands():
    rng = np.random.default_rng(0)
    column = OriginalColumn("days", rng.exponential(size=300), "number", "", True, rng.random(300) < 0.5)
    display = SurvivalDisplay.from_labels(rng.integers(0, 14, 300), column)
    assert len(display.lines_) == 8
    assert not display.bands_
    assert "8 of 14 groups" in get_texts(display)
    chosen = display.plot(clusters=[2, 3])
    assert sorted(chosen.bands_) == sorted(chosen.lines_) == [2, 3]


def merge_groups(labels, points):
    """Merge clusters by the distances of their means."""
    means = np.array([points[labels == c].mean(axis=0) for c in np.unique(labels)])
    steps = linkage(means, "average")
    return Hierarchy(np.unique(labels), steps[:, :2].astype(int), steps[:, 2])


def test_hierarchy_has_leaves_in_the_order_of_the_tree():
    rng = np.random.default_rng(0)
    labels = rng.integers(0, 9, 300)
    hierarchy = merge_groups(labels, rng.normal(size=(9, 3))[labels])
    display = HierarchyDisplay(hierarchy, np.bincount(labels)).plot(n_groups=4)
    assert [leaf[0] for leaf in display.leaves_] == hierarchy.order
    assert len(display.links_.get_segments()) == 8
    sizes = [int(text.get_text().split("(")[1][:-1]) for text in display.ax_.get_yticklabels()]
    assert sizes == np.bincount(labels)[hierarchy.order].tolist()
    # the line at four groups crosses as many branches
    at = next(line.get_xdata()[0] for line in display.ax_.lines if line.get_linestyle() == "--")
    crossed = sum(
        (ends[:, 0].min() < at < ends[:, 0].max())
        for link in display.links_.get_segments()
        for ends in (link[:2], link[2:])
    )
    assert crossed == 4


def test_hierarchy_merges_what_cannot_be_named():
    rng = np.random.default_rng(0)
    labels = np.arange(500) % 100
    hierarchy = merge_groups(labels, rng.normal(size=(100, 3))[labels])
    display = HierarchyDisplay(hierarchy, np.bincount(labels)).plot(max_leaves=12)
    assert len(display.leaves_) == 12
    assert sorted(c for leaf in display.leaves_ for c in leaf) == list(range(100))
    groups = hierarchy.cut(12)
    assert all(len({int(groups[c]) for c in leaf}) == 1 for leaf in display.leaves_)
    assert "100 groups, merged into 12" in get_texts(display)


def test_hierarchy_of_one_cluster_has_one_leaf():
    display = HierarchyDisplay(Hierarchy(np.array([0]), np.zeros((0, 2), int), np.zeros(0)), [2], ["all"]).plot()
    assert [text.get_text() for text in display.ax_.get_yticklabels()] == ["all (2)"]


def test_boxes_are_quartiles_and_shares_those_of_filled_cells(columns, kmeans):
    display = DescribedDisplay.from_labels(kmeans.labels_, [columns["age"], columns["stage"]])
    stages = columns["stage"].values
    for i, c in enumerate(display.clusters_):
        box, cells = display.boxes_["age"][i], [cell for cell in stages[kmeans.labels_ == c] if cell is not None]
        expected = np.nanpercentile(columns["age"].values[kmeans.labels_ == c], [25, 75])
        assert [box.get_x(), box.get_x() + box.get_width()] == pytest.approx(expected)
        shares = [bars[i].get_width() for bars in display.boxes_["stage"]]
        assert shares == pytest.approx([cells.count(stage) / len(cells) for stage in ("I", "II", "III")])
    titles = [panel.get_title() for panel in display.ax_]
    assert titles[0] == "age", "columns that were clustered are not tested"
    assert titles[1].splitlines()[1] == "p < .001"


def test_empty_columns_are_drawn_as_such_and_rare_categories_together():
    for kind in ("number", "category", "date"):
        empty = np.full(6, None, dtype=object) if kind == "category" else np.full(6, np.nan)
        display = DescribedDisplay.from_labels([0, 0, 0, 1, 1, 1], [OriginalColumn("x", empty, kind, "", True)])
        assert get_texts(display) == ["no values"]
    cells = np.array([*"aabbccddeefghij"], dtype=object)
    display = DescribedDisplay.from_labels(np.zeros(15, int), [OriginalColumn("x", cells, "category")])
    names = [text.get_text() for text in display.ax_[0].get_legend().get_texts()]
    assert names == [*"abcde", "other"]
    assert display.boxes_["x"][5][0].get_width() == pytest.approx(5 / 15)


def test_group_profile_shows_quartiles_shares_and_units(columns, kmeans):
    labels = kmeans.labels_
    display = GroupProfileDisplay.from_labels(labels, list(columns.values()), 2, "last")
    differences = find_differences(labels, list(columns.values()))[2]
    rows = [text.get_text() for text in display.ax_.get_yticklabels()]
    assert len(rows) == len(differences) == len(display.inside_bars_)
    assert get_texts(display) == [text for d in differences for text in (d.text, d.elsewhere)]
    assert "'pain'" in rows
    bar = display.inside_bars_[rows.index("'pain'")]
    share = np.mean(["pain" in text for text in columns["notes"].values[labels == 2]])
    assert bar.get_width() == pytest.approx(share, abs=0.006)
    age = rows.index("age")
    values = columns["age"].values
    quartiles = [np.nanpercentile(values[inside], [25, 75]) for inside in (labels == 2, labels != 2)]
    widths = [bars[age].get_width() for bars in (display.inside_bars_, display.other_bars_)]
    assert widths[0] / widths[1] == pytest.approx(np.diff(quartiles[0])[0] / np.diff(quartiles[1])[0])
    assert display.ax_.get_title(loc="left") == f"last ({np.sum(labels == 2)} of 120)"


def test_group_without_differences_says_so():
    column = OriginalColumn("x", np.zeros(10), "number")
    display = GroupProfileDisplay.from_labels([0] * 5 + [1] * 5, [column], 0)
    assert get_texts(display) == ["no column differs from elsewhere by more than chance"]


PLANE, THREE = np.eye(3)[:, :2], np.array([0, 1, 1])
EMPTY, TEXT = OriginalColumn("x", np.full(3, np.nan), "number"), OriginalColumn("t", np.array(["a"] * 3), "text")
TIMES = OriginalColumn("days", np.ones(3), "number", "", True, np.ones(3, dtype=bool))
PAIR = Hierarchy(np.array([0, 1]), np.array([[0, 1]]), np.ones(1))


@pytest.mark.parametrize(
    ("draw", "message"),
    [
        (
            lambda: JointMapDisplay(PLANE[:2], THREE),
            r"layout must have shape \(3, 2\), one position per label, got \(2, 2",
        ),
        (lambda: JointMapDisplay(PLANE, THREE, ["a"]), "names: 1 names for 2 clusters; give one per cluster"),
        (lambda: JointMapDisplay(PLANE[:2], [0, 1], color=EMPTY), "column 'x' must have a cell per label, 2, got 3"),
        (
            lambda: JointMapDisplay(PLANE, THREE, color=EMPTY).plot(),
            "column 'x' has no values to color by: choose anoth",
        ),
        (lambda: SurvivalDisplay.from_labels(THREE, EMPTY), "column 'x' has no events, which survival needs"),
        (lambda: SurvivalDisplay.from_labels(THREE, TIMES, clusters=[9]), "cluster 9 has no times: choose from"),
        (lambda: SurvivalDisplay({}).plot(), "no cluster has times"),
        (lambda: HierarchyDisplay(PAIR, [1, 1], ["a"]), "names: 1 names for 2 clusters; give one per cluster"),
        (lambda: HierarchyDisplay(PAIR, [1]), "2 clusters need as many sizes, got 1"),
        (lambda: DescribedDisplay([TEXT], THREE), "column 't' has the kind 'text': choose number, date, category"),
        (lambda: DescribedDisplay([EMPTY], [0, 1]), "column 'x' must have a cell per label, 2, got 3"),
        (lambda: DescribedDisplay([], [0, 1]), "there are no columns to draw"),
        (lambda: GroupProfileDisplay.from_labels(THREE, [EMPTY], 7), "there is no cluster 7: they are 0 to 1"),
    ],
)
def test_what_cannot_be_drawn_is_refused(draw, message):
    with pytest.raises(ValueError, match=message):
        draw()


def test_short_names_differ_and_long_ones_break_at_commas():
    names = ["steel, knife, santoku, kitchen", "steel, knife, bread", "steel, knife, paring", "oak"]
    short = shorten_names(names, 14)
    assert len(set(short)) == 4
    assert max(map(len, short)) <= 14
    assert shorten_names(["a, b", "c, d"], 3) == ["a", "c"]
    assert shorten_names(["same", "same"], 20) == ["same (0)", "same (1)"]
    assert break_at_commas("knife, santoku, steel", 15) == "knife, santoku,\nsteel"
    assert break_at_commas("high protein alpha, low b", 12) == "high protein\nalpha,\nlow b"
