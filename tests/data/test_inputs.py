"""What may be a view: every kind of block is read to the same numbers, without a copy where none is needed."""

import array_api_strict
import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp

from consilience import Views

X = np.array([[0.0, 1.0, 0.0], [2.0, 0.0, 0.0], [0.0, 0.0, 3.0], [4.0, 5.0, 0.0]])


def read(block):
    return Views({"v": block})["v"]


def as_numpy(block):
    return block.toarray() if sp.issparse(block) else np.asarray(block)


DENSE = {
    "ndarray": X,
    "Fortran order": np.asfortranarray(X),
    "float32": X.astype(np.float32),
    "integers": X.astype(int),
    "unsigned bytes": X.astype(np.uint8),
    "memory map": X.view(np.memmap),
    "list of lists": X.tolist(),
    "tuple of tuples": tuple(map(tuple, X.tolist())),
    "pandas": pd.DataFrame(X),
    "pandas of mixed numbers": pd.DataFrame(X).astype({0: int, 1: np.float32}),
    "polars": pl.DataFrame(X),
    "polars of mixed numbers": pl.DataFrame(X).cast({"column_0": pl.Int8, "column_1": pl.Float32}),
    "polars decimals": pl.DataFrame(X).cast(pl.Decimal(10, 2)),
}
SPARSE = {
    f"{layout}_{kind}": getattr(sp, f"{layout}_{kind}")(X)
    for layout in ("csr", "csc", "coo", "lil", "dok", "bsr")
    for kind in ("matrix", "array")
}
SPARSE["pandas sparse columns"] = pd.DataFrame.sparse.from_spmatrix(sp.csr_array(X))


@pytest.mark.parametrize("block", DENSE.values(), ids=DENSE)
def test_dense_blocks_keep_their_numbers(block):
    values = read(block)
    assert type(values) is np.ndarray
    assert values.dtype.kind in "iuf"
    np.testing.assert_array_equal(values, X)


@pytest.mark.parametrize("block", SPARSE.values(), ids=SPARSE)
def test_sparse_blocks_become_csr_arrays_and_stay_sparse(block):
    values = read(block)
    assert isinstance(values, sp.csr_array)
    assert values.nnz == np.count_nonzero(X)
    np.testing.assert_array_equal(values.toarray(), X)


def test_arrays_keep_their_library(to_kind):
    block = to_kind(X)
    values = read(block)
    assert type(values) is type(block)
    np.testing.assert_array_equal(np.asarray(values), X)
    assert np.shares_memory(np.asarray(values), np.asarray(block))


def test_dtype_is_kept_and_repeated_cells_add_up():
    twice = sp.coo_array(([1.0, 2.0], ([0, 0], [1, 1])), shape=(1, 2))
    assert read(twice).toarray().tolist() == [[0.0, 3.0]]
    for dtype in (np.float64, np.float32, np.int64, np.uint8, bool):
        values = X.astype(dtype)
        for make in (np.asarray, sp.csc_array, pd.DataFrame, pl.DataFrame):
            assert read(make(values)).dtype == dtype


def test_blocks_are_not_copied():
    locked = X.copy()
    locked.flags.writeable = False
    for block in (X, X[::2], np.asfortranarray(X), X.astype(bool), locked):
        assert np.shares_memory(read(block), block)
    for block in (sp.csr_matrix(X), sp.csr_array(X)):
        for part in ("data", "indices", "indptr"):
            assert np.shares_memory(getattr(read(block), part), getattr(block, part)), part
    frame = pd.DataFrame(X)
    assert np.shares_memory(read(frame), frame.to_numpy())


def test_array_of_the_user_stays_writeable():
    block, before = X.copy(), X.copy()
    views = Views({"v": block})
    views[[0, 2]], views[:2], views.map(lambda b: b + 1)
    assert block.flags.writeable
    np.testing.assert_array_equal(block, before)
    block[0, 0] = 7.0
    assert views["v"][0, 0] == 7.0, "not the same memory after all"


def test_sparse_matrix_of_the_user_is_unchanged():
    unsorted = sp.csr_array((np.array([5.0, 4.0]), np.array([2, 0]), np.array([0, 2])), shape=(1, 3))
    views = Views({"v": unsorted})
    views[[0]], repr(views), views.map(lambda b: b * 2)
    assert unsorted.indices.tolist() == [2, 0]
    assert unsorted.data.tolist() == [5.0, 4.0]
    assert unsorted.data.flags.writeable


NULLABLE = {
    "Int64": (pd.array([1, None, 3], dtype="Int64"), [1, np.nan, 3]),
    "UInt8": (pd.array([1, None, 3], dtype="UInt8"), [1, np.nan, 3]),
    "Float32": (pd.array([1.5, None, 3], dtype="Float32"), [1.5, np.nan, 3]),
    "boolean": (pd.array([True, None, False], dtype="boolean"), [1, np.nan, 0]),
    "Int64 without nulls": (pd.array([1, 2, 3], dtype="Int64"), [1, 2, 3]),
}


@pytest.mark.parametrize(("column", "wanted"), NULLABLE.values(), ids=NULLABLE)
def test_pandas_null_becomes_nan(column, wanted):
    np.testing.assert_array_equal(read(pd.DataFrame({"a": column}))[:, 0], wanted)
    beside = read(pd.DataFrame({"a": column, "b": [True, False, True]}))
    np.testing.assert_array_equal(beside, np.column_stack([wanted, [1, 0, 1]]))


def test_polars_null_becomes_nan():
    for values in ([1, None, 3], [1.5, None, 3.0], [True, None, False]):
        wanted = [np.nan if value is None else float(value) for value in values]
        np.testing.assert_array_equal(read(pl.DataFrame({"a": values}))[:, 0], wanted)
    blocks = {
        "pandas": pd.DataFrame({"a": pd.array([1, None], dtype="Int64"), "b": pd.array([True, None], dtype="boolean")}),
        "polars": pl.DataFrame({"a": [1, None], "b": [True, None]}),
    }
    assert Views(blocks).present.tolist() == [[True, True], [False, False]], "a row of nulls is missing"


def test_booleans_beside_numbers_become_zeros_and_ones():
    for frame in (pd.DataFrame, pl.DataFrame):
        for other in ([1, 2], [0.5, 2.5]):
            values = read(frame({"a": [True, False], "b": other}))
            np.testing.assert_array_equal(values, np.column_stack([[1, 0], other]))


def test_sparse_columns_with_other_fill_values_or_beside_dense_ones_become_dense():
    mixed = pd.DataFrame({"a": pd.arrays.SparseArray([1, 0]), "b": [0.5, 0.0]})
    np.testing.assert_array_equal(as_numpy(read(mixed)), [[1, 0.5], [0, 0]])
    ones = pd.DataFrame({"a": pd.arrays.SparseArray([1, 1, 0], fill_value=1)})
    assert as_numpy(read(ones)).ravel().tolist() == [1, 1, 0]
    holes = pd.DataFrame({"a": pd.arrays.SparseArray([1.0, np.nan, 0.0])})
    np.testing.assert_array_equal(as_numpy(read(holes)).ravel(), [1, np.nan, 0])


def test_sparse_booleans_stay_sparse():
    dummies = pd.get_dummies(pd.Series(list("aba")), sparse=True)
    assert isinstance(read(dummies), sp.csr_array)
    assert read(dummies).toarray().tolist() == [[True, False], [False, True], [True, False]]


def test_column_names_become_text():
    blocks = {
        "pandas": pd.DataFrame(X, columns=["a", "b", 3]),
        "polars": pl.DataFrame(X, schema=["x", "y", "z"]),
        "sparse": pd.DataFrame.sparse.from_spmatrix(sp.csr_array(X), columns=["p", "q", "r"]),
        "array": X,
    }
    views = Views(blocks)
    assert views.feature_names("pandas").tolist() == ["a", "b", "3"]
    assert views.feature_names("polars").tolist() == ["x", "y", "z"]
    assert views.feature_names("sparse").tolist() == ["p", "q", "r"]
    assert views.feature_names("array") is None


def test_masked_values_are_missing():
    block = np.ma.masked_array([[1, 2], [3, 4]], mask=[[True, True], [False, False]])
    views = Views([block])
    assert views.present.tolist() == [[False], [True]]
    assert views["view0"][1].tolist() == [3, 4]


INDEXES = {
    "text": list("abcd"),
    "integers": [0, 1, 2, 3],
    "range from one": pd.RangeIndex(1, 5),
    "dates": pd.date_range("2026-01-01", periods=4),
    "pairs": pd.MultiIndex.from_product([[0, 1], [1, 2]]),
}


@pytest.mark.parametrize("index", INDEXES.values(), ids=INDEXES)
def test_other_indexes_are_ids(index):
    frame = pd.DataFrame(X, index=index)
    views = Views({"a": frame, "b": frame})
    assert views.ids.tolist() == np.asarray(frame.index).tolist()
    np.testing.assert_array_equal(views["b"], X)


NO_NUMBERS = (
    r"view 'v' must hold real numbers, got {}\. Encode text or categories first \(Views\.from_frame\(df, text=.*"
    r"TfidfVectorizer.*OneHotEncoder.*astype\(float\)"
)
TWO_DIMENSIONS = r"view 'v' must have two dimensions \(entities, columns\), got shape {}: {}"
COLUMN = r"use reshape\(-1, 1\)"
TEXT_COLUMN = r"view 'v': column 'word' holds no numbers\. Encode it .*OneHotEncoder.*or leave it out"
BAD = {
    "text": (np.array([["a"]]), TypeError, NO_NUMBERS.format("<U1")),
    "objects": (np.array([[1, "b"]], dtype=object), TypeError, NO_NUMBERS.format("object")),
    "an array of strings": (np.array(["a", "b"]), TypeError, NO_NUMBERS.format("<U1")),
    "pandas strings": (pd.Series(["a", "b"]), TypeError, NO_NUMBERS.format("(object|str)")),
    "polars strings": (pl.Series(["a", "b"]), TypeError, NO_NUMBERS.format("(object|<U1)")),
    "dates": (np.array([["2026-01-01"]], dtype="M8[D]"), TypeError, NO_NUMBERS.format(r"datetime64\[D\]")),
    "complex": (np.array([[1j]]), TypeError, NO_NUMBERS.format("complex128")),
    "sparse complex": (sp.csr_array([[1j]]), TypeError, NO_NUMBERS.format("complex128")),
    "complex of another library": (array_api_strict.asarray([[1j]]), TypeError, NO_NUMBERS.format(".*complex128")),
    "pandas text": (pd.DataFrame({"n": [1], "word": ["a"]}), TypeError, TEXT_COLUMN),
    "pandas categories": (pd.DataFrame({"n": [1], "word": pd.Categorical(["a"])}), TypeError, TEXT_COLUMN),
    "pandas dates": (pd.DataFrame({"n": [1], "word": pd.to_datetime(["2026-01-01"])}), TypeError, TEXT_COLUMN),
    "pandas complex": (pd.DataFrame({"n": [1], "word": [1j]}), TypeError, TEXT_COLUMN),
    "pandas objects": (pd.DataFrame({"n": [1], "word": pd.Series([[1]], dtype=object)}), TypeError, TEXT_COLUMN),
    "polars text": (pl.DataFrame({"n": [1], "word": ["a"]}), TypeError, TEXT_COLUMN),
    "polars dates": (pl.DataFrame({"n": [1], "word": ["2026"]}).cast({"word": pl.Categorical}), TypeError, TEXT_COLUMN),
    "one dimension": (X[0], ValueError, TWO_DIMENSIONS.format(r"\(3,\)", COLUMN)),
    "three dimensions": (X[None], ValueError, TWO_DIMENSIONS.format(r"\(1, 4, 3\)", "make each part a view")),
    "a list of numbers": ([1.0, 2.0], ValueError, TWO_DIMENSIONS.format(r"\(2,\)", COLUMN)),
    "a number": (3.0, ValueError, TWO_DIMENSIONS.format(r"\(\)", "give one row per entity")),
    "a sparse vector": (sp.coo_array(X[0]), ValueError, TWO_DIMENSIONS.format(r"\(3,\)", COLUMN)),
    "a polars column": (pl.Series([1.0, 2.0]), ValueError, TWO_DIMENSIONS.format(r"\(2,\)", COLUMN)),
    "an array_api vector": (array_api_strict.asarray(X[0]), ValueError, TWO_DIMENSIONS.format(r"\(3,\)", COLUMN)),
    "None": (None, TypeError, "view 'v' is None: give a two-dimensional block"),
    "a lazy frame": (pl.LazyFrame({"x": [1]}), TypeError, "lazy frame: call .collect"),
    "ragged rows": ([[1, 2], [3]], ValueError, r"view 'v' is not a rectangle of numbers: its rows differ in length"),
}


@pytest.mark.parametrize(("block", "error", "message"), BAD.values(), ids=BAD)
def test_invalid_blocks_are_refused_with_the_name_of_the_view(block, error, message):
    with pytest.raises(error, match=message):
        Views({"fine": np.ones((1, 1)), "v": block})
