"""Collections of which only some rows are known to be the same entity."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

import consilience as cs

A = np.arange(6.0).reshape(3, 2)
B = np.arange(10.0, 14.0).reshape(4, 1)


def one_to_one_mappings():
    return cs.align({"a": A, "b": B}, mapping={("a", "b"): [(0, 3), (2, 1)]})


def test_entity_without_a_row_lacks_the_view():
    assert cs.align({"a": A, "b": B}, {}).present.sum(axis=1).tolist() == [1] * 7
    views = one_to_one_mappings()
    assert views.rows.tolist() == [[0, 3], [1, -1], [2, 1], [-1, 0], [-1, 2]]
    assert views.names == ("a", "b")
    assert views.ids is None
    assert views.present.tolist() == [[True, True], [True, False], [True, True], [False, True], [False, True]]
    np.testing.assert_array_equal(views["a"], [*A, [np.nan] * 2, [np.nan] * 2])
    np.testing.assert_array_equal(views["b"].ravel(), [13, np.nan, 11, 10, 12])


some_in_any_order = st.lists(st.integers(0, 5), unique=True, max_size=6)


@settings(max_examples=30, deadline=None)
@given(st.lists(some_in_any_order, min_size=2, max_size=4))
def test_mapping_recovers_hidden_entities(collections):
    """Each view shows some entities in some order, and holds their numbers."""
    names = [f"v{i}" for i in range(len(collections))]
    columns = (np.array(collection, dtype=float).reshape(-1, 1) for collection in collections)
    blocks = dict(zip(names, columns, strict=True))
    mapping = {
        (names[i], names[j]): [(left.index(entity), right.index(entity)) for entity in left if entity in right]
        for i, left in enumerate(collections)
        for j, right in enumerate(collections)
        if i < j
    }
    views = cs.align(blocks, mapping)
    assert len(views) == len(set().union(*collections))
    for v, collection in enumerate(collections):
        rows = views.rows[:, v]
        assert sorted(rows[rows >= 0]) == list(range(len(collection))), "every row is there once"
        np.testing.assert_array_equal(views.present[:, v], rows >= 0)
    together = np.hstack([block for _, block in views.items()])
    for entity in together:
        assert len(set(entity[~np.isnan(entity)])) == 1, "an entity of two"


def test_rows_are_mapped_through_a_third_view():
    views = cs.align(
        {"a": A, "b": B, "c": np.eye(2)}, mapping={("a", "c"): [(1, 0)], ("c", "b"): [(0, 2)], ("b", "a"): [(3, 0)]}
    )
    assert [1, 2, 0] in views.rows.tolist()
    assert [0, 3, -1] in views.rows.tolist()
    assert len(views) == 3 + 4 + 2 - 3


def test_forms_of_pairs_are_equivalent():
    pairs = np.array([[0, 3], [2, 1]])
    repeated = [(0, 3), (0, 3), (2, 1)]
    for written in (pairs, pairs.astype(np.uint8), pd.DataFrame(pairs), repeated):
        views = cs.align({"a": A, "b": B}, {("a", "b"): written, ("b", "a"): [(3, 0)]})
        assert views.rows.tolist() == one_to_one_mappings().rows.tolist()


def test_sparse_views_get_empty_rows():
    for kind in (sp.csr_array, sp.csc_matrix, sp.coo_array):
        views = cs.align({"a": kind(A), "b": kind(B)}, {("a", "b"): [(0, 3), (2, 1)]})
        assert all(isinstance(block, sp.csr_array) for _, block in views.items())
        np.testing.assert_array_equal(views["a"].toarray(), [*A, [0, 0], [0, 0]])
        np.testing.assert_array_equal(views["b"].toarray().ravel(), [13, 0, 11, 10, 12])
        assert views.present.tolist() == one_to_one_mappings().present.tolist()


def test_complete_mapping_leaves_no_gap_and_keeps_integers():
    counts = np.array([[1], [2], [3]])
    views = cs.align({"a": A, "n": counts}, {("a", "n"): [(0, 2), (1, 1), (2, 0)]})
    assert views.present.all()
    assert views["n"].dtype == counts.dtype
    assert views["n"].ravel().tolist() == [3, 2, 1]


def test_mapped_row_of_nan_is_missing():
    holes = A.copy()
    holes[0] = np.nan
    views = cs.align({"a": holes, "b": B}, {("a", "b"): [(0, 3)]})
    assert views.present[0].tolist() == [False, True]
    assert views.rows[0].tolist() == [-1, 3]


def test_frames_keep_column_names_and_ignore_their_index():
    left = pd.DataFrame(A, columns=["x", "y"], index=["p", "q", "r"])
    views = cs.align({"a": left, "b": pl.DataFrame(B, schema=["z"])}, {("a", "b"): [(0, 3), (2, 1)]})
    assert views.feature_names("a").tolist() == ["x", "y"]
    assert views.feature_names("b").tolist() == ["z"]
    assert views.rows.tolist() == one_to_one_mappings().rows.tolist()


PAIRS = r"the mapping \('a', 'b'\) must list pairs of row numbers, \[\(row of 'a', row of 'b'\), \.\.\.\]"
BETWEEN = r"a mapping is between two of the views 'a', 'b', got {}"
BAD = {
    "a row too far": ({("a", "b"): [(0, 4)]}, r"names row 4 of view 'b', which has 4 rows \(0 to 3\)"),
    "a negative row": ({("a", "b"): [(-1, 0)]}, r"names row -1 of view 'a', which has 3 rows \(0 to 2\)"),
    "an unknown view": ({("a", "c"): [(0, 0)]}, BETWEEN.format(r"\('a', 'c'\)")),
    "a view and itself": ({("a", "a"): [(0, 1)]}, BETWEEN.format(r"\('a', 'a'\)")),
    "three views": ({("a", "b", "a"): [(0, 1)]}, BETWEEN.format(r"\('a', 'b', 'a'\)")),
    "no pair of views": ({"ab": [(0, 1)]}, BETWEEN.format("'ab'")),
    "fractions": ({("a", "b"): [(0.5, 1)]}, PAIRS),
    "text": ({("a", "b"): [("x", "y")]}, PAIRS),
    "triples": ({("a", "b"): [(0, 1, 2), (1, 2, 0)]}, PAIRS),
    "flat": ({("a", "b"): [0, 1, 2, 3]}, PAIRS),
    "ragged": ({("a", "b"): [(0,), (1, 2)]}, PAIRS),
}


@pytest.mark.parametrize(("mapping", "message"), BAD.values(), ids=BAD)
def test_invalid_mapping_is_refused(mapping, message):
    with pytest.raises(ValueError, match=message):
        cs.align({"a": A, "b": B}, mapping)


def test_row_mapped_to_several_rows_gives_several_entities():
    views = cs.align({"a": A, "b": B}, {("a", "b"): [(1, 2), (1, 1), (2, 1), (1, 2)], ("b", "a"): [(0, 0)]})
    assert views.rows.tolist() == [[0, 0], [1, 1], [1, 2], [2, 1], [-1, 3]]
    np.testing.assert_array_equal(views["a"][1:3], [A[1], A[1]])
    np.testing.assert_array_equal(views["b"].ravel(), [10, 11, 12, 11, 13])


def test_rows_of_one_view_connected_through_others_stay_separate():
    views = cs.align(
        {"a": A, "b": B, "c": np.eye(2)}, {("a", "b"): [(0, 0)], ("b", "c"): [(0, 1)], ("c", "a"): [(1, 2)]}
    )
    pairs = [[0, 0, -1], [2, -1, 1], [-1, 0, 1]]
    assert all(pair in views.rows.tolist() for pair in pairs)
    assert len(views) == 3 + 1 + 3 + 1  # the pairs, and the rows of a, b and c that are not mapped


@settings(max_examples=30, deadline=None)
@given(st.lists(st.tuples(st.integers(0, 4), st.integers(0, 5)), max_size=12))
def test_entities_are_the_pairs_and_the_unmapped_rows(pairs):
    views = cs.align({"a": np.eye(5), "b": np.eye(6)}, {("a", "b"): pairs})
    left, right = {a for a, _ in pairs}, {b for _, b in pairs}
    expected = sorted(set(pairs)) + [(a, -1) for a in range(5) if a not in left]
    expected += [(-1, b) for b in range(6) if b not in right]
    assert sorted(map(tuple, views.rows.tolist())) == sorted(expected)
    assert views.rows[:, 0][views.rows[:, 0] >= 0].tolist() == sorted(a for a, _ in expected if a >= 0)


def test_bad_blocks_are_refused_as_by_views():
    with pytest.raises(ValueError, match=r"view 'b' must have two dimensions"):
        cs.align({"a": A, "b": B.ravel()}, {("a", "b"): [(0, 0)]})
