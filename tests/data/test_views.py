"""Views: what goes in, who is who, and what comes out for some of the entities or some of the views."""

import copy
import pickle
import re
import warnings

import array_api_strict
import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.preprocessing import MaxAbsScaler

from consilience import Views

DENSE = np.arange(12.0).reshape(4, 3)
SPARSE = sp.csr_array(np.array([[0, 1], [2, 0], [0, 0], [3, 4]]))
nan = np.nan


def as_numpy(block):
    return block.toarray() if sp.issparse(block) else np.asarray(block)


def two_views(**kwargs):
    return Views({"dense": DENSE, "sparse": SPARSE}, **kwargs)


def join_views():
    """Two frames that share two of four entities, in another order."""
    left = pd.DataFrame(DENSE[:3], index=["a", "b", "c"], columns=["p", "q", "r"])
    right = pd.DataFrame.sparse.from_spmatrix(SPARSE[:3], index=["c", "d", "a"], columns=["s", "t"])
    return Views({"left": left, "right": right})


def assert_views_equal(views, other):
    assert views.names == other.names
    for name in views.names:
        assert type(views[name]) is type(other[name])
        np.testing.assert_array_equal(as_numpy(views[name]), as_numpy(other[name]))
        np.testing.assert_array_equal(views.feature_names(name), other.feature_names(name))
    np.testing.assert_array_equal(views.present, other.present)
    np.testing.assert_array_equal(views.rows, other.rows)
    np.testing.assert_array_equal(views.ids, other.ids)


def test_mapping_names_the_views():
    views = Views({"z": DENSE, "a": SPARSE})
    assert views.names == ("z", "a")
    assert views.n_views == 2
    assert views.shape == (4, 5)
    assert views.ndim == 2
    assert len(views) == 4
    assert "z" in views
    assert "b" not in views
    assert_views_equal(Views([("dense", DENSE), ("sparse", SPARSE)]), two_views())


def test_sequence_numbers_the_views():
    for sequence in (list, tuple):
        views = Views(sequence([DENSE, SPARSE, pd.DataFrame(DENSE), pl.DataFrame(DENSE), DENSE.tolist()]))
        assert views.names == ("view0", "view1", "view2", "view3", "view4")
        assert views.shape == (4, 14)
        assert views.present.all()
    assert Views([np.zeros((0, 3)), np.zeros((0, 2))]).shape == (0, 5)
    assert Views([np.zeros((3, 0))]).present.tolist() == [[True]] * 3


def test_views_of_views_are_equal():
    for views in (two_views(ids=list("wxyz"), present=np.eye(4, 2, dtype=bool)), join_views(), join_views()[[3, 0]]):
        assert_views_equal(Views(views), views)
    assert np.shares_memory(Views(two_views())["dense"], DENSE)
    views = Views(two_views(ids=list("wxyz")), present=np.eye(4, 2, dtype=bool), ids=[4, 5, 6, 7])
    assert views.present.tolist() == np.eye(4, 2, dtype=bool).tolist()
    assert views.ids.tolist() == [4, 5, 6, 7]


BAD = {
    "different numbers of rows": ([np.ones((3, 1)), np.ones((2, 1))], ValueError, "'view1' has 2 rows.*present=.*ids="),
    "the same name twice": ([("a", DENSE), ("a", DENSE)], ValueError, r"two views are called 'a': give each a unique"),
    "a number for a name": ({1: DENSE}, TypeError, r"a view's name must be a string, got 1: Views\(\{'text': X_text"),
    "no views in a mapping": ({}, ValueError, r"Views needs at least one view, got none: Views\(\{'text': X_text"),
    "no views in a list": ([], ValueError, r"Views needs at least one view, got none"),
    "one array": (DENSE, TypeError, r"wants a mapping or a sequence of blocks, got ndarray: Views\(\{'name': X\}\)"),
    "one frame": (pd.DataFrame(DENSE), TypeError, r"wants a mapping or a sequence of blocks, got DataFrame"),
    "one sparse matrix": (SPARSE, TypeError, r"wants a mapping or a sequence of blocks, got csr_array"),
    "text": ("abc", TypeError, r"wants a mapping or a sequence of blocks, got str"),
}


@pytest.mark.parametrize(("blocks", "error", "message"), BAD.values(), ids=BAD)
def test_invalid_views_are_refused(blocks, error, message):
    with pytest.raises(error, match=message):
        Views(blocks)


HOW = {
    "new": lambda: two_views(ids=np.array(list("wxyz"))),
    "rows by slice": lambda: two_views(ids=np.array(list("wxyz")))[1:],
    "rows by position": lambda: two_views(ids=np.array(list("wxyz")))[[2, 0]],
    "some views": lambda: two_views(ids=np.array(list("wxyz")))[["dense"]],
    "joined": lambda: Views({"dense": DENSE, "b": DENSE[:2]}, ids={"dense": [1, 2, 3, 4], "b": [4, 9]}),
    "cut from columns": lambda: Views.from_columns(pd.DataFrame(DENSE, index=list("wxyz")), {"dense": [2, 0]}),
    "mapped": lambda: two_views(ids=list("wxyz")).map(lambda block: block * 2),
    "pickled": lambda: pickle.loads(pickle.dumps(two_views(ids=list("wxyz")))),
    "copied deeply": lambda: copy.deepcopy(two_views(ids=list("wxyz"))),
}


@pytest.mark.parametrize("make", HOW.values(), ids=HOW)
def test_arrays_are_read_only(make):
    views = make()
    for values in (views["dense"], views.present, views.ids, views.rows):
        with pytest.raises(ValueError, match="read-only"):
            values[:] = values[::-1]


def test_ids_and_masks_of_the_user_stay_writeable():
    ids, present = np.array(list("wxyz")), np.ones((4, 2), bool)
    views = two_views(ids=ids, present=present)
    present[0, 0] = False
    assert ids.flags.writeable
    assert views.present.all(), "the mask is the views' own"
    views = Views([pd.DataFrame(DENSE)])
    with pytest.raises(ValueError, match="read-only"):
        views.feature_names("view0")[0] = "other"
    for name in ("names", "present", "ids", "rows", "shape", "n_views"):
        with pytest.raises(AttributeError, match=f"property '{name}' of 'Views' object has no setter"):
            setattr(views, name, None)
    with pytest.raises(TypeError, match="does not support item assignment"):
        views["view0"] = DENSE


def test_missing_rows_are_found_in_every_array_library(to_kind):
    block = to_kind(np.array([[nan, nan], [nan, 1.0], [1.0, 2.0]], dtype=np.float32))
    assert Views([block]).present.ravel().tolist() == [False, True, True]


@settings(max_examples=60, deadline=None)
@given(st.lists(st.lists(st.sampled_from([nan, 0.0, 1.0]), min_size=3, max_size=3), min_size=1, max_size=6))
def test_missing_means_all_nan(rows):
    assert Views([rows]).present.ravel().tolist() == [not all(np.isnan(row)) for row in rows]
    assert Views([np.zeros((4, 2), int), np.zeros((4, 2), bool), sp.csr_array((4, 2))]).present.all()
    mask = np.ones((len(rows), 1), bool)
    assert Views([rows], present=mask).present.all(), "a mask takes precedence"


@pytest.mark.parametrize("form", [np.asarray, np.ndarray.tolist, pd.DataFrame, array_api_strict.asarray])
def test_mask_says_which_rows_are_present(form):
    present = np.array([[True, False], [False, True], [True, True], [True, False]])
    views = two_views(present=form(present))
    assert views.present.tolist() == present.tolist()
    assert views.rows.tolist() == [[0, -1], [-1, 1], [2, 2], [3, -1]]


def test_bad_masks_are_refused():
    for shape in ((4,), (2, 4), (3, 2)):
        message = f"present must have shape (entities, views) = (4, 2), got {shape}"
        with pytest.raises(ValueError, match=re.escape(message)):
            two_views(present=np.ones(shape, bool))
    for dtype in (int, float, object):
        with pytest.raises(TypeError, match=f"present must hold True and False, got {np.dtype(dtype)}: convert it"):
            two_views(present=np.ones((4, 2), dtype))
    frames = {"a": pd.DataFrame(DENSE, index=list("wxyz")), "b": pd.DataFrame(DENSE, index=list("vxyz"))}
    with pytest.raises(ValueError, match=r"present says that entity w has view 'b', which has no row with this id"):
        Views(frames, present=np.ones((5, 2), bool))


def test_ids_or_the_index_of_a_frame_name_the_entities():
    for ids in (list("wxyz"), np.array([7, 5, 3, 1]), pd.Index(list("wxyz")), pl.Series([7, 5, 3, 1])):
        views = two_views(ids=ids)
        assert views.ids.tolist() == list(ids)
        np.testing.assert_array_equal(views["dense"], DENSE)
    named = pd.DataFrame(DENSE, index=list("wxyz"))
    assert Views({"a": DENSE, "b": named}).ids.tolist() == list("wxyz")
    assert Views([pd.DataFrame(DENSE), DENSE]).ids is None
    views = Views({"a": named, "b": pd.DataFrame(DENSE)}, ids=[1, 2, 3, 4])
    assert views.ids.tolist() == [1, 2, 3, 4], "ids take precedence"
    np.testing.assert_array_equal(views["b"], DENSE)


def test_frames_are_joined_by_their_index():
    views = join_views()
    assert views.ids.tolist() == ["a", "b", "c", "d"]
    assert views.rows.tolist() == [[0, 2], [1, -1], [2, 0], [-1, 1]]
    assert views.present.tolist() == [[True, True], [True, False], [True, True], [False, True]]
    np.testing.assert_array_equal(views["left"], [*DENSE[:3], [nan] * 3])
    assert isinstance(views["right"], sp.csr_array)
    np.testing.assert_array_equal(views["right"].toarray(), [[0, 0], [0, 0], [0, 1], [2, 0]])
    assert views.feature_names("right").tolist() == ["s", "t"]


def test_views_that_share_no_entity_are_refused():
    numbers, texts = pd.DataFrame({"x": [1.0, 2.0]}, index=[1, 2]), pd.DataFrame({"y": [1.0, 2.0]}, index=["1", "2"])
    with pytest.raises(ValueError, match=r"view 'a' shares no id with the other views: it starts with \[1\], another"):
        Views({"a": numbers, "b": texts})


def test_default_index_beside_numbers_identifies_rows():
    frame = pd.DataFrame({"x": [0.0, 1.0, 2.0, 3.0]})
    shuffled = frame.sample(frac=1, random_state=1)
    assert shuffled.index.tolist() != [0, 1, 2, 3]
    views = Views({"straight": frame, "shuffled": shuffled, "some": frame[frame.x > 1]})
    assert np.array_equal(views["straight"], views["shuffled"])
    assert views.present[:, 2].tolist() == [False, False, True, True]
    named = Views({"a": frame, "b": frame.set_axis(list("pqrs"))})  # beside names it is only a count
    assert named.ids.tolist() == list("pqrs")


some_ids = st.lists(st.integers(0, 7), unique=True, min_size=1, max_size=6)


@settings(max_examples=40, deadline=None)
@given(ids=st.lists(some_ids, min_size=2, max_size=3), text=st.booleans(), sparse=st.booleans())
def test_join_gives_every_entity_its_rows(ids, text, sparse):
    def make_id(id_):
        return f"id{id_}" if text else id_

    ids = [[*view_ids, 9] for view_ids in ids]  # views that share no entity are refused
    blocks = {f"v{i}": np.array([[id_ + 1, 10 * i] for id_ in view_ids]) for i, view_ids in enumerate(ids)}
    kind = sp.csr_array if sparse else np.asarray
    views = Views(
        {name: kind(block) for name, block in blocks.items()},
        ids={f"v{i}": [make_id(id_) for id_ in view_ids] for i, view_ids in enumerate(ids)},
    )
    all_ids = list(dict.fromkeys(id_ for view_ids in ids for id_ in view_ids))
    assert views.ids.tolist() == [make_id(id_) for id_ in all_ids]
    for v, view_ids in enumerate(ids):
        block = as_numpy(views[f"v{v}"])
        for entity, id_ in enumerate(all_ids):
            assert views.present[entity, v] == (id_ in view_ids)
            if id_ in view_ids:
                assert block[entity].tolist() == [id_ + 1, 10 * v]
                assert views.rows[entity, v] == view_ids.index(id_)
            else:
                np.testing.assert_array_equal(block[entity], [0, 0] if sparse else [nan, nan])
                assert views.rows[entity, v] == -1


def test_ids_per_view_join_arrays_of_every_library(to_kind):
    views = Views({"a": to_kind(DENSE), "b": to_kind(DENSE)}, ids={"a": list("wxyz"), "b": list("zyxv")})
    assert type(views["b"]) is type(to_kind(DENSE))
    np.testing.assert_array_equal(np.asarray(views["b"]), [[nan] * 3, DENSE[2], DENSE[1], DENSE[0], DENSE[3]])


def test_join_keeps_dtypes_dates_and_missing_rows():
    counts = np.array([[1], [2], [3]])
    views = Views({"a": counts, "b": counts, "c": counts[:2]}, ids={"a": [1, 2, 3], "b": [3, 1, 2], "c": [1, 2]})
    assert [views[name].dtype.kind for name in views.names] == ["i", "i", "f"]
    assert views["b"].ravel().tolist() == [2, 3, 1]
    assert np.shares_memory(views["a"], counts), "in its place already"
    block = DENSE.astype(np.float32)
    assert Views({"a": block, "b": block}, ids={"a": list("wxyz"), "b": list("vxyz")})["b"].dtype == np.float32
    holes = np.array([[nan], [1.0]])
    views = Views({"a": holes, "b": DENSE[:2]}, ids={"a": ["x", "y"], "b": ["y", "x"]})
    assert views.present.tolist() == [[False, True], [True, True]]
    assert views.rows.tolist() == [[-1, 1], [1, 0]]
    first = pd.DataFrame(DENSE, index=pd.date_range("2026-01-01", periods=4))
    second = pd.DataFrame(DENSE, index=pd.date_range("2026-01-02", periods=4, unit="s"))
    views = Views({"a": first, "b": second})
    assert views.ids.astype("M8[D]").astype(str).tolist() == [f"2026-01-0{day}" for day in range(1, 6)]
    assert views.present.sum(axis=0).tolist() == [4, 4]


FRAME = pd.DataFrame(DENSE, index=list("wxyz"))
BAD_IDS = {
    "too few": ({"a": DENSE}, [1, 2], r"view 'a' has 4 rows but 2 ids: give one id per row"),
    "too many in a view": ({"a": DENSE}, {"a": range(5)}, r"view 'a' has 4 rows but 5 ids"),
    "one number": ({"a": DENSE}, 4, r"ids of view 'a' must be a flat sequence, one id per row, got shape \(\)"),
    "text": ({"a": DENSE}, "wxyz", r"ids of view 'a' must be a flat sequence, one id per row, got shape \(\)"),
    "ragged lists": ({"a": DENSE}, [[1], [2, 3], [4], [5]], "must be a flat sequence, one id per row, got sequences"),
    "a column": ({"a": DENSE}, [[1], [2], [3], [4]], r"must be a flat sequence, one id per row, got shape \(4, 1\)"),
    "an unknown view": ({"a": DENSE}, {"b": [1]}, r"ids names view 'b'; the views are 'a'"),
    "one twice": ({"a": DENSE}, [1, 2, 1, 3], r"view 'a' has the id 1 more than once: aggregate or drop the repeated"),
    "one twice in an index": (
        {"a": FRAME, "b": pd.DataFrame(DENSE, index=list("xyzx"))},
        None,
        "'b' has the id 'x' more",
    ),
    "a list": ({"a": DENSE}, np.array(["x", [1], "y", "z"], object), "id .* in row 1, a list: ids must be hashable"),
    "NaN": ({"a": DENSE}, [1, 2, nan, 3], r"view 'a' has no id in row 2 \(nan\): give the row an id, or drop it"),
    "None": ({"a": DENSE}, ["w", None, "y", "z"], r"view 'a' has no id in row 1 \(None\)"),
    "a null in an index": (
        {"a": pd.DataFrame(DENSE, index=pd.array(["w", "x", "y", None], dtype="string"))},
        None,
        r"view 'a' has no id in row 3 \(<NA>\)",
    ),
    "ids that differ beside none": ({"a": FRAME, "b": DENSE, "c": FRAME[::-1]}, None, "the other views' ids differ"),
    "another number of rows beside ids": ({"a": FRAME, "b": DENSE[:3]}, None, "view 'b' has 3 rows, view 'a' 4"),
}


@pytest.mark.parametrize(("blocks", "ids", "message"), BAD_IDS.values(), ids=BAD_IDS)
def test_invalid_ids_are_refused(blocks, ids, message):
    with pytest.raises((ValueError, TypeError), match=message):
        Views(blocks, ids=ids)


positions = st.lists(st.integers(-4, 3), max_size=6)
row_keys = st.one_of(
    st.slices(4),
    st.integers(-4, 3),
    positions,
    positions.map(lambda rows: np.array(rows, dtype=np.intp)),
    positions.map(lambda rows: np.array(rows, dtype=np.int8)),
    st.lists(st.booleans(), min_size=4, max_size=4),
    st.lists(st.booleans(), min_size=4, max_size=4).map(np.array),
    st.integers(0, 3).map(np.int64),
    st.integers(0, 4).map(range),
)


@settings(max_examples=80, deadline=None)
@given(key=row_keys, ellipsis=st.booleans())
def test_row_selection_equals_numpy(key, ellipsis):
    wanted = np.atleast_1d(np.arange(4)[list(key) if isinstance(key, range) else key])
    present = np.array([[True, False], [False, True], [True, True], [True, False]])
    views = two_views(ids=list("wxyz"), present=present)
    taken = views[key, ...] if ellipsis else views[key]
    assert taken.ids.tolist() == [list("wxyz")[row] for row in wanted]
    np.testing.assert_array_equal(taken["dense"], DENSE[wanted])
    np.testing.assert_array_equal(taken["sparse"].toarray(), SPARSE.toarray()[wanted])
    np.testing.assert_array_equal(taken.present, present[wanted])
    np.testing.assert_array_equal(taken.rows, np.where(present, np.arange(4)[:, None], -1)[wanted])
    assert isinstance(taken["sparse"], sp.csr_array)
    assert taken.shape == (len(wanted), 5)


def test_row_selection_in_every_array_library(to_kind):
    mask = np.array([True, False, True, True])
    for key in (slice(1, 3), slice(None, None, -1), slice(None, None, 2), [2, 0, 0], [-1], mask, 2, []):
        taken = Views([to_kind(DENSE)])[key]
        wanted = np.arange(4)[np.array(key, np.intp) if isinstance(key, list) else key]
        assert type(taken["view0"]) is type(to_kind(DENSE))
        np.testing.assert_array_equal(np.asarray(taken["view0"]), DENSE[np.atleast_1d(wanted)])


def test_selection_from_joined_views_keeps_rows_together():
    taken = join_views()[[3, 0]]
    assert taken.ids.tolist() == ["d", "a"]
    assert taken.rows.tolist() == [[-1, 1], [0, 2]]
    assert taken.present.tolist() == [[False, True], [True, True]]
    assert taken.feature_names("left").tolist() == ["p", "q", "r"]
    np.testing.assert_array_equal(taken["right"].toarray(), [[2, 0], [0, 0]])


def test_repeated_selection_equals_one_selection():
    views = two_views(ids=list("wxyz"))
    assert_views_equal(views[[3, 1, 0]][[2, 0]], views[[0, 3]])
    assert_views_equal(views[1:][1:], views[2:])
    assert_views_equal(join_views()[["right"]][[2, 0]], join_views()[[2, 0]][["right"]])
    assert np.shares_memory(views[1:3]["dense"], DENSE), "a slice is no copy"
    for column in (pd.Series, pl.Series):
        assert_views_equal(views[column([True, False, True, False])], views[[0, 2]])


NONSENSE = r"rows are selected by a slice, integers or a mask of True and False; views by their names"
BAD_KEYS = {
    "too far": (4, IndexError, r"row 4 is out of range: there are 4 entities"),
    "too far from the end": (-5, IndexError, r"row -5 is out of range: there are 4 entities"),
    "one of several": ([0, 9, 1], IndexError, r"row 9 is out of range: there are 4 entities"),
    "a short mask": ([True, False], IndexError, r"a mask of rows must have 4 entries, got shape \(2,\)"),
    "a mask of cells": (np.ones((4, 2), bool), IndexError, r"a mask of rows must have 4 entries, got shape \(4, 2\)"),
    "True": (True, IndexError, r"a mask of rows must have 4 entries"),
    "a fraction": (1.5, IndexError, NONSENSE),
    "fractions": ([0.0, 1.0], IndexError, NONSENSE),
    "a table of rows": ([[0, 1]], IndexError, NONSENSE),
    "a row and a column": ((slice(None), 0), IndexError, NONSENSE),
    "rows and names": ([0, "dense"], IndexError, NONSENSE),
    "an unknown view": ("text", KeyError, r"no view 'text'; the views are 'dense', 'sparse'"),
    "a view twice": (["dense", "dense"], ValueError, r"a view is selected twice in \['dense', 'dense'\]"),
}


@pytest.mark.parametrize(("key", "error", "message"), BAD_KEYS.values(), ids=BAD_KEYS)
def test_invalid_selection_is_refused(key, error, message):
    with pytest.raises(error, match=message):
        two_views()[key]


def test_name_gives_the_block_and_list_of_names_gives_views_in_that_order():
    views = two_views()
    assert np.shares_memory(views["dense"], DENSE)
    assert views["dense"] is views["dense"]
    assert [(name, block is views[name]) for name, block in views.items()] == [("dense", True), ("sparse", True)]
    views = join_views()
    assert_views_equal(views["right", "left"], views[["right", "left"]])
    swapped = views[["right", "left"]]
    assert swapped.names == ("right", "left")
    np.testing.assert_array_equal(swapped.present, views.present[:, ::-1])
    np.testing.assert_array_equal(swapped.rows, views.rows[:, ::-1])
    np.testing.assert_array_equal(swapped.ids, views.ids)
    assert swapped.feature_names("left").tolist() == ["p", "q", "r"]
    assert views[["right"]].shape == (4, 2)
    with pytest.raises(KeyError, match=r"no view 'text'; the views are 'left', 'right'"):
        views.feature_names("text")


WHOLE = {
    "ndarray": DENSE,
    "lists": DENSE.tolist(),
    "csr": sp.csr_array(DENSE),
    "pandas": pd.DataFrame(DENSE, columns=["p", "q", "r"]),
    "pandas sparse": pd.DataFrame.sparse.from_spmatrix(sp.csr_array(DENSE), columns=["p", "q", "r"]),
    "polars": pl.DataFrame(DENSE, schema=["p", "q", "r"]),
    "array_api_strict": array_api_strict.asarray(DENSE),
}
GROUPS = {
    "slice": (slice(0, 2), [0, 1]),
    "open slice": (slice(1, None), [1, 2]),
    "positions": ([2, 0], [2, 0]),
    "an array of positions": (np.array([1, 2]), [1, 2]),
    "one position": (1, [1]),
    "from the end": ([-1], [2]),
    "no columns in between": (slice(None, None, 2), [0, 2]),
}


@pytest.mark.parametrize("whole", WHOLE.values(), ids=WHOLE)
def test_columns_by_position(whole):
    is_sparse = sp.issparse(whole) or whole is WHOLE["pandas sparse"]
    for group, wanted in GROUPS.values():
        views = Views.from_columns(whole, {"some": group, "all": slice(None)})
        assert views.names == ("some", "all")
        np.testing.assert_array_equal(as_numpy(views["some"]), DENSE[:, wanted])
        np.testing.assert_array_equal(as_numpy(views["all"]), DENSE)
        assert sp.issparse(views["some"]) == sp.issparse(views["all"]) == is_sparse
        if hasattr(whole, "columns"):
            assert views.feature_names("some").tolist() == [["p", "q", "r"][i] for i in wanted]


@pytest.mark.parametrize("kind", ["pandas", "pandas sparse", "polars"])
def test_columns_by_name(kind):
    for group, wanted in ((["r", "p"], [2, 0]), ("q", [1]), (pd.Index(["q"]), [1]), (("p", 2), [0, 2])):
        views = Views.from_columns(WHOLE[kind], {"some": group})
        np.testing.assert_array_equal(as_numpy(views["some"]), DENSE[:, wanted])
        assert views.feature_names("some").tolist() == [["p", "q", "r"][i] for i in wanted]
    numbered = pd.DataFrame(DENSE, columns=[2, 1, 0])
    views = Views.from_columns(numbered, {"a": [2], "b": 0})
    np.testing.assert_array_equal(views["a"], DENSE[:, :1], "names take precedence over positions")


def test_row_of_nan_in_one_group_of_columns_lacks_that_view():
    whole = DENSE.copy()
    whole[1, :2] = nan
    whole[2, 2] = nan
    assert Views.from_columns(whole, {"a": [0, 1], "b": [2]}).present[1:3].tolist() == [[False, True], [True, False]]
    assert np.shares_memory(Views.from_columns(DENSE, {"a": slice(0, 2)})["a"], DENSE), "a slice is no copy"


@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame])
def test_unselected_columns_may_hold_anything(frame):
    data = frame({"label": ["x", "y"], "n": [1, 2], "z": [0.5, 1.5]})
    views = Views.from_columns(data, {"counts": "n", "sizes": ["z"]})
    assert views["counts"].dtype.kind == "i"
    assert views["sizes"].ravel().tolist() == [0.5, 1.5]
    with pytest.raises(TypeError, match=r"view 'text': column 'label' holds no numbers"):
        Views.from_columns(data, {"text": ["label"], "counts": "n"})


BAD_GROUPS = {
    "an unknown name": ("pandas", {"a": ["p", "zz"]}, ValueError, r"view 'a' selects column 'zz', which the data does"),
    "one unknown name": ("polars", {"a": "zz"}, ValueError, r"view 'a' selects column 'zz'"),
    "a name where there are none": ("ndarray", {"a": ["p"]}, ValueError, r"view 'a' selects column 'p'"),
    "a position too far": ("csr", {"a": [3]}, ValueError, r"view 'a' selects column 3, which the data does not have"),
    "too far from the end": ("ndarray", {"a": -4}, ValueError, r"view 'a' selects column -4"),
    "a slice of names": ("pandas", {"a": slice("p", "q")}, ValueError, "view 'a': a slice of columns goes by"),
    "no groups": ("ndarray", {}, ValueError, r"needs at least one view, got none"),
    "a number for a name": ("ndarray", {1: [0]}, TypeError, r"a view's name must be a string, got 1"),
}


@pytest.mark.parametrize(("kind", "groups", "error", "message"), BAD_GROUPS.values(), ids=BAD_GROUPS)
def test_unknown_columns_are_refused(kind, groups, error, message):
    with pytest.raises(error, match=message):
        Views.from_columns(WHOLE[kind], groups)


@pytest.fixture
def modalities():
    """RNA and protein of cells of which only some are in both, and another order."""
    anndata = pytest.importorskip("anndata")

    def make_modality(X, cells, genes):
        return anndata.AnnData(X, obs=pd.DataFrame(index=cells), var=pd.DataFrame(index=genes))

    rna = make_modality(DENSE[:3], ["c1", "c2", "c3"], ["g1", "g2", "g3"])
    protein = make_modality(sp.csr_matrix(SPARSE[:3]), ["c3", "c4", "c1"], ["p1", "p2"])
    rna.obsm["X_pca"], protein.obsm["X_pca"] = DENSE[:3, :2], DENSE[:3, 2:]
    return {"rna": rna, "protein": protein}


@pytest.fixture
def mudata(modalities):
    module = pytest.importorskip("mudata")
    with warnings.catch_warnings(action="ignore"):  # versions of mudata announce changes
        return module.MuData(modalities)


def test_modalities_are_joined_by_cell(mudata):
    views = Views.from_mudata(mudata)
    assert views.names == ("rna", "protein")
    assert views.ids.tolist() == ["c1", "c2", "c3", "c4"]
    assert views.rows.tolist() == [[0, 2], [1, -1], [2, 0], [-1, 1]]
    np.testing.assert_array_equal(views["rna"], [*DENSE[:3], [nan] * 3])
    np.testing.assert_array_equal(views["protein"].toarray(), [[0, 0], [0, 0], [0, 1], [2, 0]])
    assert views.feature_names("rna").tolist() == ["g1", "g2", "g3"]
    assert views.feature_names("protein").tolist() == ["p1", "p2"]


def test_embeddings_of_modalities(mudata):
    views = Views.from_mudata(mudata, use="X_pca")
    np.testing.assert_array_equal(views["rna"], [*DENSE[:3, :2], [nan] * 2])
    np.testing.assert_array_equal(views["protein"].ravel(), [DENSE[2, 2], nan, DENSE[0, 2], DENSE[1, 2]])
    assert views.present.tolist() == Views.from_mudata(mudata).present.tolist()
    assert views.feature_names("rna") is None
    views = Views.from_mudata(mudata, use={"rna": "X_pca"})
    assert views["rna"].shape == (4, 2)
    assert sp.issparse(views["protein"])


def test_the_embeddings_of_an_anndata_are_views(modalities):
    rna = modalities["rna"]
    rna.obsm["X_umap"] = pd.DataFrame(DENSE[:3, 1:], index=rna.obs_names)
    views = Views.from_mudata(rna)
    assert views.names == ("X_pca", "X_umap")
    assert views.ids.tolist() == ["c1", "c2", "c3"]
    assert views.present.all()
    np.testing.assert_array_equal(views["X_umap"], DENSE[:3, 1:])


def test_unknown_embeddings_and_other_objects_are_refused(modalities, mudata):
    with pytest.raises(ValueError, match=r"modality 'rna' has no 'X_tsne' in obsm, which has \['X_pca'\]"):
        Views.from_mudata(mudata, use="X_tsne")
    with pytest.raises(ValueError, match=r"use names 'atac'; the modalities are 'rna', 'protein'"):
        Views.from_mudata(mudata, use={"atac": "X_pca"})
    rna = modalities["rna"]
    del rna.obsm["X_pca"]
    for data in (rna, DENSE):
        with pytest.raises(ValueError, match=r"from_mudata wants a MuData, or an AnnData with entries in obsm"):
            Views.from_mudata(data)


def test_map_changes_the_blocks_and_keeps_the_entities():
    views = join_views()
    scaled = views.map(MaxAbsScaler().fit_transform)
    np.testing.assert_allclose(scaled["left"][:3], DENSE[:3] / DENSE[2])
    assert sp.issparse(scaled["right"])
    assert scaled["right"].max() == 1.0
    assert scaled.names == views.names
    for part in ("present", "ids", "rows"):
        np.testing.assert_array_equal(getattr(scaled, part), getattr(views, part))
    assert scaled.feature_names("left").tolist() == ["p", "q", "r"]
    narrow = views.map(lambda block: block[:, :1])
    assert narrow.shape == (4, 2)
    assert narrow.feature_names("left") is None
    filled = Views([np.array([[nan], [1.0]])]).map(np.nan_to_num)
    assert filled["view0"].ravel().tolist() == [0.0, 1.0]
    assert filled.present.ravel().tolist() == [False, True], "missing rows stay missing"
    with pytest.raises(ValueError, match=r"view 'dense' must have two dimensions .* got shape \(4,\)"):
        two_views().map(lambda block: block.sum(axis=1))
    with pytest.raises(ValueError, match=r"the function changed view 'dense' from 4 to 1 rows: use one that keeps"):
        two_views().map(lambda block: block[:1])


@pytest.mark.parametrize("again", [lambda views: pickle.loads(pickle.dumps(views)), copy.copy, copy.deepcopy])
def test_pickling_and_copying(again):
    for views in (join_views(), two_views(present=np.eye(4, 2, dtype=bool)), join_views()[[3, 1]]):
        assert_views_equal(again(views), views)
    views = Views([np.zeros((10_000, 10))])
    assert len(pickle.dumps(views[:10])) < 10_000, "other rows are left out"


def test_views_are_neither_iterated_over_nor_converted_to_an_array():
    with pytest.raises(TypeError, match=r"several blocks, not one array: take one with views\[name\], or .*hstack"):
        np.asarray(two_views())
    message = r"Views is not iterated over: use views\.items\(\) for the views, views\[rows\] for entities"
    with pytest.raises(TypeError, match=message):
        iter(two_views())
    with pytest.raises(TypeError, match=message):
        list(two_views())


def test_repr_is_a_table_of_the_views():
    block = np.array([[0.5, 0.0]]).repeat(1200, axis=0)
    block[:300] = nan
    views = Views({"a longer name": block, "counts": sp.csr_array(np.eye(1200, 1500, dtype=int))})
    assert repr(views).splitlines() == [
        "Views: 1,200 entities, 2 views",
        "name           kind           columns  density  present",
        "a longer name  dense float64        2    50.0%    75.0%",
        "counts         sparse int64     1,500     0.1%   100.0%",
    ]
    assert repr(two_views()[[]]).splitlines()[0] == "Views: 0 entities, 2 views"
    assert "array_api_strict float64" in repr(Views([array_api_strict.asarray(DENSE)]))
    html = Views({"<b>bold</b>": DENSE, "a & b": SPARSE})._repr_html_()
    assert "<td>&lt;b&gt;bold&lt;/b&gt;</td><td>dense float64</td><td>3</td><td>91.7%</td><td>100.0%</td>" in html
    assert "<td>a &amp; b</td><td>sparse int64</td>" in html
