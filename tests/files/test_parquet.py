"""Parquet: columns by their type."""

import datetime as dt

import numpy as np
import pytest

from consilience.files.formats import read_file

pl = pytest.importorskip("polars")


@pytest.fixture
def write_parquet(tmp_path):
    def write(columns, name="t.parquet", **types):
        with (tmp_path / name).open("wb") as file:
            pl.DataFrame(columns, **types).write_parquet(file)
        return tmp_path / name

    return write


NAN = np.nan
COLUMNS = {
    "whole": ([1, -2, 3], None, [1, -2, 3]),
    "with null": ([1, None, 3], None, [1, NAN, 3]),
    "real": ([0.5, None, float("nan")], None, [0.5, NAN, NAN]),
    "truth": ([True, False, None], None, [1, 0, NAN]),
    "lists": ([[1, 2], None, [3, 4]], None, [[1, 2], [NAN, NAN], [3, 4]]),
    "lists with null": ([[0.5, None], [1.5, 2.5], []], None, [[0.5, NAN], [1.5, 2.5], [NAN, NAN]]),
    "lists of fixed length": ([[1.0, 2.0], [3.0, 4.0]], pl.Array(pl.Float64, 2), [[1, 2], [3, 4]]),
    "lists of words": ([["b", "a", "b"], None], None, [{"b": 2.0, "a": 1.0}, None]),
    "lists of codes": ([[1, 2], [3]], None, [{"1": 1.0, "2": 1.0}, {"3": 1.0}]),
    "int8": ([1, 2], pl.Int8, [1, 2]),
    "uint64": ([1, 2], pl.UInt64, [1, 2]),
    "float32": ([1, 2], pl.Float32, [1, 2]),
    "decimal": ([1, 2], pl.Decimal(10, 2), [1, 2]),
    "strings": (["a", None, "007"], None, ["a", None, "007"]),
    "dates": ([dt.date(2020, 1, 2), None], None, ["2020-01-02", None]),
    "times": ([dt.datetime(2020, 1, 2, 3), None], None, ["2020-01-02 03:00:00", None]),
    "nothing": ([None, None], None, [None, None]),
    "categorical": (["a", "b", "a"], pl.Categorical, ["a", "b", "a"]),
    "enum": (["a", "b", "a"], pl.Enum(["a", "b"]), ["a", "b", "a"]),
}


def test_columns_are_read_by_their_types(write_parquet):
    for values, kind, expected in COLUMNS.values():
        column = read_file(write_parquet({"x": values}, schema={"x": kind})).columns["x"]
        np.testing.assert_array_equal(column.tolist(), expected)


def test_file_name_is_no_pattern_and_may_end_in_two_ways(write_parquet):
    write_parquet({"x": [3, 4]}, "t1.parquet")
    for name in ("t[1].parquet", "t*.parquet", "t.pq", "T.PARQUET"):
        assert read_file(write_parquet({"x": [1, 2]}, name)).columns["x"].tolist() == [1.0, 2.0]


def test_numbers_read_as_text_are_text_and_a_file_without_rows_is_refused(write_parquet):
    path = write_parquet({"id": [1, 2**53 + 1], "x": [1, 2]})
    assert read_file(path, frozenset({"id"})).columns["id"].tolist() == ["1", str(2**53 + 1)]
    with pytest.raises(ValueError, match=r"t\.parquet holds no rows: no entities"):
        read_file(write_parquet({"x": []}))
