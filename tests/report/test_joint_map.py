"""Positions and colors of the joint map."""

import base64
import json
import zlib
from types import SimpleNamespace

import numpy as np

import consilience as cs
from consilience.explain import OriginalColumn
from consilience.report import joint_map
from consilience.report.facts import ReportFacts
from consilience.report.joint_map import build_joint_map, locate_entities, pack_colors, rank_columns

NOWHERE, NO_CATEGORY = 65535, 255
N = 240


def unpack(packed):
    kind = {"Uint8Array": "<u1", "Uint16Array": "<u2"}[packed["array"]]
    return np.frombuffer(zlib.decompress(base64.b64decode(packed["data"])), kind).astype(int)


def make_facts(columns=(), labels=None, view_labels=None, **options):
    rng = np.random.default_rng(0)
    labels = np.arange(N) % 4 if labels is None else labels
    view_labels = {"a": labels, "b": labels} if view_labels is None else view_labels
    model = SimpleNamespace(labels_=labels, view_labels_=view_labels)
    views = cs.Views({name: rng.normal(size=(len(labels), 3)) for name in view_labels})
    options.setdefault("custom_layout", rng.normal(size=(len(labels), 2)))
    options.setdefault("custom_confidence", np.ones(len(labels)))
    return ReportFacts(model, views, columns=columns, custom_names=[f"name {i}" for i in range(5)], **options)


def find_color(facts, name):
    return next(color for color in pack_colors(facts) if color["name"] == name)


def decode(color):
    """Return the values of a packed column of numbers, as the script computes them."""
    levels = unpack(color["values"])
    share = levels / color["top"]
    low, high = color["low"], color["high"]
    values = low * (high / low) ** share if color["scale"] == "log" else low + (high - low) * share
    return np.where(levels == NOWHERE, np.nan, values)


def test_positions_keep_shapes_and_fill_the_square():
    layout = np.random.default_rng(0).uniform(size=(400, 2)) * [3.0, 1.0] + 7.0
    places = locate_entities(layout)
    assert places.min() == 0
    assert places.max() == NOWHERE - 1
    inside = np.flatnonzero((np.abs(layout - [8.5, 7.5]) < [1.3, 0.45]).all(axis=1))
    lengths = np.diff(layout[inside], axis=0)
    scale = np.median(np.diff(places[inside], axis=0) / lengths)
    np.testing.assert_allclose(np.diff(places[inside], axis=0), scale * lengths, atol=2)  # one scale for both axes
    for axis in range(2):
        assert (np.diff(places[np.argsort(layout[:, axis]), axis]) >= 0).all()


def test_entities_without_a_position_are_marked():
    layout = np.random.default_rng(0).normal(size=(30, 2))
    layout[3, 1], layout[5] = np.nan, np.inf
    places = locate_entities(layout)
    assert np.flatnonzero((places == NOWHERE).all(axis=1)).tolist() == [3, 5]
    assert (np.delete(places, [3, 5], axis=0) < NOWHERE).all()
    figure, _ = build_joint_map(make_facts(custom_layout=np.vstack((layout, np.zeros((N - 30, 2))))))
    assert "2 without a position are not drawn" in figure


def test_equal_or_missing_positions():
    for layout in (np.full((5, 2), np.nan), np.zeros((1, 2)), np.full((40, 2), 1e300), np.full((9, 2), -3.5)):
        places = locate_entities(layout)
        assert len(np.unique(places, axis=0)) == 1
        assert (places[0] == NOWHERE).all() == np.isnan(layout).all()


def test_outliers_leave_room_for_the_others():
    layout = np.random.default_rng(0).normal(size=(1000, 2))
    layout[0], layout[1] = [1e9, 0.0], [0.0, -1e200]
    assert np.ptp(locate_entities(layout)[2:], axis=0).min() > 30_000
    layout[0], layout[1] = [40.0, 0.0], [0.0, -25.0]
    places = locate_entities(layout)
    assert np.ptp(places[2:], axis=0).min() > 30_000
    assert places[0, 0] == places[:, 0].max()
    assert places[1, 1] == places[:, 1].min()


def test_numbers_are_packed_to_the_shown_precision():
    for values, scale, decimals in [
        (np.random.default_rng(0).normal(50, 10, N), "linear", 1),
        (np.round(np.random.default_rng(0).normal(50, 10, N)), "linear", 0),
        (np.round(np.random.default_rng(0).uniform(0, 9, N), 2), "linear", 2),
        (np.exp(2 * np.random.default_rng(0).normal(size=N)), "log", None),
        (np.random.default_rng(0).normal(size=N) * 1e-9, "linear", None),
        (np.append(np.random.default_rng(0).uniform(0, 1, N - 1), -4e6), "linear", -2),
    ]:
        values = values.copy()
        values[7] = np.nan
        color = find_color(make_facts([OriginalColumn("price", values, "number", "$")]), "price")
        assert (color["scale"], color["unit"], color["kind"]) == (scale, "$", "number")
        decoded = decode(color)
        assert np.flatnonzero(np.isnan(decoded)).tolist() == [7]
        if scale == "log":
            np.testing.assert_allclose(decoded, values, rtol=0.001)
        else:
            np.testing.assert_allclose(decoded, values, atol=0.51 * 10.0 ** -color["decimals"])
        assert decimals is None or color["decimals"] == decimals
        low, high = color["shown"]
        assert 0 <= low < high <= color["top"]
        levels = unpack(color["values"])
        assert np.mean((levels >= low) & (levels <= high)) > 0.9


def test_whole_numbers_and_dates_are_exact():
    values = np.random.default_rng(0).integers(-300, 40_000, N).astype(float)
    days = OriginalColumn("added", values, "date")
    color = find_color(make_facts([days]), "added")
    np.testing.assert_array_equal(np.round(decode(color)), values)
    assert (color["kind"], color["decimals"]) == ("date", 0)


def test_categories_keep_the_most_frequent_values():
    rng = np.random.default_rng(0)
    values = np.array([f"brand {i}" for i in rng.integers(4, size=N)] + [None] * 3, dtype=object)[:N]
    values[:14] = [f"rare {i}" for i in range(14)]
    values[20] = None
    color = find_color(make_facts([OriginalColumn("brand", values, "category")]), "brand")
    codes = unpack(color["values"])
    assert len(color["names"]) == 10
    assert color["n_others"] == 8
    for value, code in zip(values, codes, strict=True):
        expected = NO_CATEGORY if value is None else 10 if value not in color["names"] else color["names"].index(value)
        assert code == expected
    counts = np.bincount(codes[codes < 10])
    assert (np.diff(counts) <= 0).all()


def test_useless_columns_are_left_out():
    identifiers = np.array([f"id {i}" for i in range(N)], dtype=object)
    columns = [
        OriginalColumn("constant", np.full(N, 3.0), "number"),
        OriginalColumn("empty", np.full(N, np.nan), "number"),
        OriginalColumn("infinite", np.where(np.arange(N) % 2, 1e308, -1e308), "number"),
        OriginalColumn("identifier", identifiers, "category"),
        OriginalColumn("one value", np.array(["same"] * N, dtype=object), "category"),
        OriginalColumn("no value", np.array([None] * N, dtype=object), "category"),
        OriginalColumn("text", identifiers, "text"),
        OriginalColumn("two values", np.arange(N) % 2.0, "number"),
    ]
    names = [color["name"] for color in pack_colors(make_facts(columns))]
    assert names == ["Agreement of the views", "Confidence", "two values"]


def explain_literally(values, labels):
    """Return the share of the variance of ranks that groups explain, by loops."""
    ranks = np.searchsorted(np.unique(values), values).astype(float)
    within = sum(((ranks[labels == c] - ranks[labels == c].mean()) ** 2).sum() for c in np.unique(labels))
    return 1 - within / ((ranks - ranks.mean()) ** 2).sum()


def test_columns_are_ranked_by_what_the_clusters_explain():
    rng = np.random.default_rng(0)
    labels = np.arange(N) % 4
    noise = [rng.normal(size=N) + weight * labels for weight in (0.0, 3.0, 0.4, 1.0)]
    columns = [OriginalColumn(f"column {i}", values, "number") for i, values in enumerate(noise)]
    expected = sorted(range(4), key=lambda i: -explain_literally(noise[i], labels))
    assert [column.name for column in rank_columns(columns, labels)] == [f"column {i}" for i in expected]
    letters = np.array(list("abcd"), dtype=object)
    columns += [
        OriginalColumn("exact", letters[labels], "category"),
        OriginalColumn("random", rng.permutation(letters[labels]), "category"),
        OriginalColumn("described", rng.normal(size=N), "number", is_description=True),
    ]
    names = [column.name for column in rank_columns(columns, labels)]
    assert names[:2] == ["described", "exact"]
    assert names.index("random") > names.index("column 1")


def test_columns_fit_into_the_bytes(tune):
    rng = np.random.default_rng(0)
    columns = [OriginalColumn(f"column {i}", rng.normal(size=N), "number") for i in range(60)]
    assert len(pack_colors(make_facts(columns))) == joint_map.MAX_COLORS
    tune("report.joint_map", max_color_bytes=3000)
    colors = pack_colors(make_facts(columns))
    assert 2 < len(colors) < 8
    assert sum(len(json.dumps(color.get("values", ""))) for color in colors) <= 3000


def test_agreement_counts_views_that_differ():
    rng = np.random.default_rng(0)
    labels = rng.integers(-1, 3, N)
    views = {name: rng.integers(-1, 3, N) for name in "abc"}
    color = find_color(make_facts(labels=labels, view_labels=views), "Agreement of the views")
    for row, code in enumerate(unpack(color["values"])):
        present = [view[row] for view in views.values() if view[row] >= 0]
        if labels[row] < 0 or not present:
            assert code == NO_CATEGORY
        else:
            assert code == sum(label != labels[row] for label in present)
    assert color["names"] == ["all views agree", "1 view differs", "2 views differ", "3 views differ"]


def test_known_classes_have_their_names():
    classes = [None if i % 10 == 0 else i % 3 for i in range(N)]
    facts = make_facts(known_classes=classes, class_names=["<b>cat", "dog", "fish"])
    color = find_color(facts, "Known classes")
    assert set(color["names"]) == {"<b>cat", "dog", "fish"}
    assert (unpack(color["values"]) == NO_CATEGORY).sum() == N // 10


def test_one_cluster_has_no_agreement():
    facts = make_facts(labels=np.zeros(N, dtype=int))
    assert pack_colors(facts) == []
