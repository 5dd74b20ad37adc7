"""Python objects as the contents that files are read as."""

import datetime as dt
from decimal import Decimal

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

import consilience as cs
from consilience.files import FileCollection, FileMatrix, FileTable, read_file
from consilience.files.objects import add_columns, read_object, read_objects
from single_cell import make_mudata, write_cells

X = np.arange(12.0).reshape(4, 3)
DAYS = ["2020-01-31", None, "2021-02-28", "2021-03-01"]
MIXED = pd.DataFrame(
    {
        "whole": [1, 2, 3, 4],
        "price": [1.5, np.nan, 2.25, 1e-7],
        "nullable": pd.array([1, None, 3, 4], dtype="Int64"),
        "flag": [True, False, True, True],
        "maybe": pd.array([True, None, False, True], dtype="boolean"),
        "word": ["red", None, "blue", " "],
        "text": pd.array(["a, b", 'say "no"', pd.NA, "line\nbreak"], dtype="string"),
        "code": ["007", "1e3", None, "2"],
        "empty": [None] * 4,
        "day": pd.to_datetime(DAYS),
        "moment": pd.to_datetime(["2020-01-31 12:30", None, "2021-02-28", "2021-03-01 00:00:01"], format="ISO8601"),
        "zoned": pd.to_datetime(DAYS).tz_localize("Europe/Berlin"),
        "month": pd.period_range("2020-01", periods=4, freq="M"),
        "mixed": [1, "x", None, 2.5],
        "lucky": [7, "NA", None, 2.5],
        "amount": ["$1,200.50", "$3.00", None, "$17.25"],
        "decimal": [Decimal("1.5"), None, Decimal("2"), Decimal("3")],
    }
)


def assert_same_columns(actual, expected):
    assert list(actual) == list(expected)
    for name, values in expected.items():
        assert actual[name].dtype == values.dtype, name
        np.testing.assert_array_equal(actual[name], values, err_msg=name)


def test_frame_is_read_as_its_csv_file(tmp_path):
    MIXED.to_csv(tmp_path / "t.csv", index=False)
    assert_same_columns(read_object("t", MIXED).columns, read_file(tmp_path / "t.csv").columns)


SECONDS = st.integers(-(2**32), 2**32).map(lambda n: dt.datetime(1970, 1, 1) + dt.timedelta(seconds=n))
CELLS = {
    "text": st.none() | st.text(st.characters(codec="utf-8", exclude_characters="\r\0"), max_size=8),
    "numeral": st.none() | st.sampled_from(["1", "2.5", "-3e2", "NA", "007"]),
    "number": st.none() | st.floats(allow_infinity=False),
    "whole": st.integers(-(2**40), 2**40),
    "flag": st.booleans(),
    "moment": st.none() | SECONDS,
}


@settings(max_examples=25)
@given(st.lists(st.fixed_dictionaries(CELLS), min_size=1, max_size=6))
def test_random_frames_are_read_as_their_csv_files(tmp_path_factory, rows):
    frame = pd.DataFrame(rows)
    frame["moment"] = pd.to_datetime(pd.Series([row["moment"] for row in rows], dtype="datetime64[us]"))
    path = tmp_path_factory.mktemp("random") / "t.csv"
    frame.to_csv(path, index=False, lineterminator="\n")
    assert_same_columns(read_object("t", frame).columns, read_file(path).columns)


def test_frames_of_all_libraries_have_the_same_content():
    nan = np.nan
    cells = {
        "n": ([1, None, 3], [1, nan, 3]),
        "word": (["a", None, "c"], ["a", None, "c"]),
        "flag": ([True, None, False], ["True", None, "False"]),
        "day": ([dt.date(2020, 1, 1), None, dt.date(2021, 1, 1)], ["2020-01-01", None, "2021-01-01"]),
        "span": ([dt.timedelta(days=1), None, dt.timedelta(hours=12)], [1, nan, 0.5]),
        "vector": ([[1.0, 2.0], None, [3.0, 4.0]], [[1, 2], [nan, nan], [3, 4]]),
        "tags": ([["x", "y"], None, ["x"]], [{"x": 1.0, "y": 1.0}, None, {"x": 1.0}]),
    }
    columns = {name: values for name, (values, _) in cells.items()}
    is_number = {"n", "span", "vector"}
    expected = {name: np.array(to, float if name in is_number else object) for name, (_, to) in cells.items()}
    arrow = pa.table(columns)
    frames = [pd.DataFrame(columns), pl.DataFrame(columns), arrow, arrow.to_pandas(types_mapper=pd.ArrowDtype)]
    for frame in (*frames, cs.Table(columns)):
        assert_same_columns(read_object("t", frame).columns, expected)


def test_categories_are_never_numbers():
    for values in (
        pd.Series(["1", "2", None, "1"], dtype="category", name="c"),
        pd.Series(pd.Categorical([1, 2, None, 1]), name="c"),
        pl.Series("c", ["1", "2", None, "1"], dtype=pl.Categorical),
        pl.Series("c", ["1", "2", None, "1"], dtype=pl.Enum(["1", "2"])),
        pa.table({"c": pa.array(["1", "2", None, "1"]).dictionary_encode()}),
    ):
        table = read_object("t", values)
        assert table.columns["c"].tolist() == ["1", "2", None, "1"]
        assert table.categories == {"c"}


def test_columns_can_be_read_as_text():
    frame = pd.DataFrame({"a": [2**60 + 1, 7], "b": [1.5, 2.0], "c": ["007", "08"], "d": [1, 2]})
    columns = read_object("t", frame, frozenset("abc")).columns
    assert [columns[name].tolist() for name in "abc"] == [[str(2**60 + 1), "7"], ["1.5", "2"], ["007", "08"]]
    assert columns["d"].tolist() == [1.0, 2.0]


OBJECT_COLUMNS = {
    "tuples": ([(1, 2), (3, 4)], [[1.0, 2.0], [3.0, 4.0]]),
    "arrays": ([np.array([1, 2]), None], [[1.0, 2.0], [np.nan, np.nan]]),
    "lists with gaps": ([[1, None], [np.float64(3), 4]], [[1.0, np.nan], [3.0, 4.0]]),
    "lists of several lengths": ([[1, 2], [3]], [{"1": 1.0, "2": 1.0}, {"3": 1.0}]),
    "sets": ([{"b", "a"}, {"a"}], [{"a": 1.0, "b": 1.0}, {"a": 1.0}]),
    "counts": ([{"a": np.int64(2)}, None], [{"a": 2.0}, None]),
    "numerals in lists": ([["1", "2"], ["1", "3"]], [{"1": 1.0, "2": 1.0}, {"1": 1.0, "3": 1.0}]),
    "bytes": ([b"ab", "c"], ["ab", "c"]),
    "truths and gaps": ([True, None], ["True", None]),
    "numpy scalars": ([np.int32(1), np.float32(0.5)], [1.0, 0.5]),
    "times": ([dt.time(3, 30), None], ["03:30:00", None]),
    "spans": ([dt.timedelta(days=2), None], [2.0, np.nan]),
    "missing": ([pd.NA, pd.NaT], [np.nan, np.nan]),
}


def test_columns_of_python_objects():
    for name, (cells, expected) in OBJECT_COLUMNS.items():
        column = read_object("t", pd.DataFrame({"c": pd.Series(cells, dtype=object)})).columns["c"]
        np.testing.assert_array_equal(column.tolist(), expected, err_msg=name)


def test_index_identifies_rows_unless_it_numbers_them():
    for index, ids in (
        (pd.RangeIndex(2), None),
        (pd.RangeIndex(5, 7), ["5", "6"]),
        ([4, 9], ["4", "9"]),
        (pd.to_datetime(["2020-01-01", "2020-01-02"]), ["2020-01-01", "2020-01-02"]),
        (pd.MultiIndex.from_tuples([("a", 1), ("a", 2)]), ["a / 1", "a / 2"]),
        (pd.Index(["a", "b"], name="sku"), ["a", "b"]),
    ):
        table = read_object("t", pd.Series(["x", "y"], index=index, name="index"))
        name = getattr(index, "name", None) or "index_2"
        assert table.id_column == (None if ids is None else name)
        assert table.columns["index"].tolist() == ["x", "y"]
        assert list(table.columns) == (["index"] if ids is None else [name, "index"])
        assert ids is None or table.columns[name].tolist() == ids


def test_default_index_identifies_rows_beside_a_filtered_frame():
    frame = pd.DataFrame({"a": [1.0, 2.0, 3.0]})
    contents = read_objects({"all": frame, "few": frame[frame["a"] > 1], "array": X})
    assert contents["all"].columns["index"].tolist() == ["0", "1", "2"]
    assert contents["few"].columns["index"].tolist() == ["1", "2"]
    assert contents["array"].ids is None
    assert read_objects({"all": frame, "texts": pd.Series(["a", "b"], index=["u", "v"])})["all"].id_column is None


def test_whole_numbers_that_repeat_number_the_rows_unless_another_index_has_them():
    frame = pd.DataFrame({"a": [1.0, 2.0]})
    both = pd.concat([frame, frame])
    contents = read_objects({"both": both, "copy": both["a"], "all": both.reset_index(drop=True)})
    assert [(content.id_column, list(content.columns)) for content in contents.values()] == [(None, ["a"])] * 3
    matrix = read_object("t", pd.concat([pd.DataFrame.sparse.from_spmatrix(sp.csr_array(X))] * 2))
    assert matrix.ids is None
    for index in ([1, 0, 0, 1], [4, 5, 6, 7]):  # another order, and a filter
        contents = read_objects({"both": both, "others": both.set_axis(index)})
        assert contents["both"].columns["index"].tolist() == ["0", "1", "0", "1"]
        assert contents["others"].id_column == "index"


def test_two_dimensions_are_a_matrix():
    for values in (X, X.astype(np.float32), X.tolist(), list(X), sp.csr_array(X), sp.coo_matrix(X), np.ma.array(X)):
        content = read_object("t", values)
        assert type(content) is FileMatrix
        assert sp.issparse(content.values) == sp.issparse(values)
        np.testing.assert_array_equal(content.values.toarray() if sp.issparse(values) else content.values, X)
    frame = pd.DataFrame.sparse.from_spmatrix(sp.csr_array(X), index=list("abcd"), columns=["u", "v", "w"])
    matrix = read_object("t", frame)
    np.testing.assert_array_equal(matrix.values.toarray(), X)
    assert (matrix.ids.tolist(), matrix.features.tolist()) == (list("abcd"), ["u", "v", "w"])


def test_other_arrays_are_converted(tmp_path):
    import dask.array
    import h5py

    with h5py.File(tmp_path / "x.h5", "w") as file:
        file["x"] = X
        for values in (dask.array.from_array(X), file["x"]):
            np.testing.assert_array_equal(read_object("t", values).values, X)
    torch = pytest.importorskip("torch")
    np.testing.assert_array_equal(read_object("t", torch.asarray(X)).values, X)


COLUMNS = {
    "strings": (["a", "b"], ["a", "b"]),
    "numbers": ([1, 2.5], [1.0, 2.5]),
    "mixture": (["a", 1, None], ["a", "1", None]),
    "tuple": (("a", "b"), ["a", "b"]),
    "array of strings": (np.array(["a", ""]), ["a", None]),
    "array of numbers": (np.array([1, 2]), [1.0, 2.0]),
    "array of truths": (np.array([True, False]), ["True", "False"]),
    "array of nanoseconds": (np.array(["2020-01-01", "NaT"], dtype="M8[ns]"), ["2020-01-01", None]),
    "array of spans": (np.array([36, "NaT"], dtype="m8[h]"), [1.5, np.nan]),
    "masked": (np.ma.array([1, 2], mask=[False, True]), [1.0, np.nan]),
    "series": (pl.Series(["a", None]), ["a", None]),
    "chunks": (pa.chunked_array([["a"], [None]]), ["a", None]),
}


def test_one_dimension_is_a_column_with_the_name_of_the_view():
    for name, (values, expected) in COLUMNS.items():
        table = read_object("title", values)
        assert (type(table), list(table.columns)) == (FileTable, ["title"])
        np.testing.assert_array_equal(table.columns["title"].tolist(), expected, err_msg=name)


def test_rows_of_strings_and_structured_arrays_are_tables():
    rows, names = [["a", 1], ["b", 2]], ["column 1", "column 2"]
    structured = np.array([("a", 1), ("b", 2)], dtype=[("word", "U3"), ("n", "i4")])
    for values, header in ((rows, names), (np.array(rows, dtype=object), names), (structured, ["word", "n"])):
        columns = read_object("t", values).columns
        assert list(columns) == header
        assert [column.tolist() for column in columns.values()] == [["a", "b"], [1, 2]]


def test_views_become_matrices_without_the_rows_that_are_missing():
    present = np.array([[True, True], [True, False], [False, True], [True, True]])
    views = cs.Views({"dense": X, "sparse": sp.csr_array(X + 1)}, present=present, ids=[10, 20, 30, 40])
    content = read_object("t", views)
    assert type(content) is FileCollection
    assert content.ids.tolist() == content.matrices["dense"].ids.tolist() == ["10", "20", "30", "40"]
    np.testing.assert_array_equal(content.matrices["dense"].values, np.where(present[:, :1], X, np.nan))
    np.testing.assert_array_equal(content.matrices["sparse"].values.toarray(), np.where(present[:, 1:], X + 1, 0))
    named = read_object("t", cs.Views({"v": pd.DataFrame(X, columns=list("abc"))}))
    assert named.matrices["v"].features.tolist() == list("abc")
    assert named.ids is None


@pytest.mark.parametrize("name", ["t.h5ad", "t.h5mu"])
def test_annotated_data_is_read_as_its_file(tmp_path, name):
    ad, _ = pytest.importorskip("anndata"), pytest.importorskip("mudata")
    obs = pd.DataFrame({"kind": pd.Categorical(["a", None, "b", "a"]), "n": range(4)}, index=list("abcd"))
    var = pd.DataFrame(index=["g", "h", "i"])
    data = ad.AnnData(sp.csr_matrix(X), obs=obs, var=var, obsm={"pca": X[:, :2]})
    if name.endswith("mu"):
        data = make_mudata(rna=data, protein=ad.AnnData(X[1:] + 1, obs=obs[1:], var=var))
    in_file, in_memory = read_file(write_cells(data, tmp_path / name)), read_object("t", data)
    assert_same_columns(in_memory.columns, in_file.columns)
    np.testing.assert_array_equal(in_memory.ids, in_file.ids)
    assert list(in_memory.matrices) == list(in_file.matrices)
    for block, matrix in in_file.matrices.items():
        other = in_memory.matrices[block]
        assert (other.is_expression, sp.issparse(other.values)) == (matrix.is_expression, sp.issparse(matrix.values))
        np.testing.assert_array_equal(sp.csr_array(other.values).toarray(), sp.csr_array(matrix.values).toarray())
        np.testing.assert_array_equal(other.ids, matrix.ids)
        np.testing.assert_array_equal(other.features, matrix.features)


FRAME = pd.DataFrame({"a": [1]})
LEVELS = pd.DataFrame(X[:, :2], columns=pd.MultiIndex.from_tuples([("a", "x"), ("a", "y")]))
REPEATED = pd.DataFrame.sparse.from_spmatrix(sp.csr_array(X), index=list("abca"))
BAD = [
    (None, TypeError, "view 't' is None"),
    (3, TypeError, "view 't' is of type int: give a frame"),
    ("table.csv", TypeError, "view 't' is a single string"),
    ({"a": {"b": FRAME}}, TypeError, "view 't' is a dict: a dict of views holds frames and arrays"),
    (FRAME[:0], ValueError, r"view 't' is a frame of shape \(0, 1\): it has no rows or no columns"),
    (pd.DataFrame(index=[0, 1]), ValueError, r"of shape \(2, 0\): it has no rows or no columns"),
    ([], ValueError, "view 't' is an empty list"),
    ([[1, 2], [3]], ValueError, "view 't' is a list of rows that differ in length"),
    ([{"a": 1}], TypeError, "view 't' is a list of dicts: make a frame of it"),
    ([FRAME, FRAME], ValueError, "view 't' is a list of tables.* several views as a dict"),
    (X[None], ValueError, r"view 't' must have two dimensions .*got shape \(1, 4, 3\)"),
    (pl.LazyFrame({"a": [1]}), TypeError, r"view 't' is a lazy frame: call \.collect\(\)"),
    (pd.DataFrame(X, columns=list("aba")), ValueError, "view 't' has two columns called 'a'"),
    (pd.DataFrame({1: [1], "1": [2]}), ValueError, "view 't' has two columns called '1': rename one"),
    (pl.DataFrame({"a": [1], " a": [2]}), ValueError, "view 't' has two columns called 'a': rename one"),
    (LEVELS, ValueError, r"view 't' has columns of several levels, such as \('a', 'x'\): .*df\.columns = "),
    (REPEATED, ValueError, r"view 't' has 'a' more than once in its index.*reset_index\(drop=True\)"),
    (cs.Table({"a": [1], "b": [1, 2]}), ValueError, r"as many in each column, got {'a': 1, 'b': 2}"),
]


def test_unreadable_objects_are_refused_with_the_name_of_the_view():
    import dask.dataframe

    lazy = dask.dataframe.from_pandas(FRAME, npartitions=1)
    for data, error, message in [*BAD, (lazy, TypeError, r"is a lazy frame.*\.compute\(\) in dask")]:
        with pytest.raises(error, match=message):
            read_object("t", data)
    for data, error, message in (
        ({}, ValueError, "the dict of views is empty"),
        ({1: FRAME}, TypeError, "the name of a view must be a string, got 1"),
        ({"a": {"b": FRAME}}, TypeError, "view 'a' is a dict"),
        ({"a": FRAME, "b": None}, TypeError, "view 'b' is None"),
    ):
        with pytest.raises(error, match=message):
            read_objects(data)


@pytest.mark.parametrize("make", [pd.DataFrame, pl.DataFrame, pa.table], ids=["pandas", "polars", "pyarrow"])
def test_columns_are_added_to_a_frame_of_the_same_library(make):
    frame = make({"a": [1, 2, 3], "cluster": ["x", "y", "z"], "cluster_2": [0, 0, 0]})
    result = add_columns(frame, {"cluster": [5, 6], "name": ["u", None]}, rows=[2, 0])
    assert type(result) is type(frame)
    assert read_object("t", result).columns["cluster_3"].tolist() == [5, 6]
    columns = {name: column.tolist() for name, column in read_object("t", result).columns.items()}
    columns.pop("index", None)
    expected = {"a": [3, 1], "cluster": ["z", "x"], "cluster_2": [0, 0], "cluster_3": [5, 6], "name": ["u", None]}
    assert columns == expected
    assert read_object("t", frame).columns["a"].tolist() == [1, 2, 3]


def test_added_columns_keep_the_index_and_the_types_of_pandas():
    columns = {0: pd.Categorical(["u", "v", "u"]), "b": pd.array([1, None, 2], dtype="Int64")}
    for index in ([7, 7, 8], list("abc"), pd.date_range("2020", periods=3)):
        frame = pd.DataFrame(columns, index=index)
        result = add_columns(frame, {"k": [0, 1, 2]})
        pd.testing.assert_frame_equal(result[[0, "b"]], frame)
        assert result["k"].tolist() == [0, 1, 2]
        pd.testing.assert_frame_equal(add_columns(frame, {"k": [1]}, rows=np.array([2]))[[0, "b"]], frame.iloc[[2]])
    result = add_columns(pd.Series(["x", "y"], index=[4, 5]), {"k": [0, 1]})
    pd.testing.assert_frame_equal(result, pd.DataFrame({"data": ["x", "y"], "k": [0, 1]}, index=[4, 5]))


def test_other_objects_give_a_table():
    for data in (["x", "y"], X, {"a": FRAME}, cs.Views([X]), None):
        result = add_columns(data, {"k": [0, 1], "name": ["u", "v"]}, rows=[0, 1])
        assert type(result) is cs.Table
        assert {name: column.tolist() for name, column in result.items()} == {"k": [0, 1], "name": ["u", "v"]}
    with pytest.raises(ValueError, match="the column 'k' has 1 values for 4 rows: give one each"):
        add_columns(MIXED, {"k": [1]})
