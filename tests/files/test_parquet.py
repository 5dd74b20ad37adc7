"""Parquet: columns by their type."""

import datetime as dt

import numpy as np
import pytest

from consilience.files.formats import read_file

pl = pytest.importorskip("polars")


@pytest.fixture
def write_parquet(tmp_path):
    def write(columns, name="t.parquet", **types):
        path = tmp_path / name
        with path.open("wb") as file:
            pl.DataFrame(columns, **types).write_parquet(file)
        return path

    return write


@pytest.mark.parametrize("name", ["t.parquet", "t.pq", "T.PARQUET"])
@pytest.mark.parametrize(
    ("values", "wanted"),
    [
        ([1, -2, 3], [1, -2, 3]),
        ([1, None, 3], [1, np.nan, 3]),
        ([0.5, None, float("nan")], [0.5, np.nan, np.nan]),
        ([True, False, None], [1, 0, np.nan]),
        ([[1, 2], None, [3, 4]], [[1, 2], [np.nan, np.nan], [3, 4]]),
        ([[0.5, None], [1.5, 2.5], []], [[0.5, np.nan], [1.5, 2.5], [np.nan, np.nan]]),
    ],
    ids=["whole", "with null", "real", "truth", "lists", "lists with null"],
)
def test_numbers_round_trip(write_parquet, name, values, wanted):
    np.testing.assert_array_equal(read_file(write_parquet({"x": values}, name)).columns["x"], wanted)


@pytest.mark.parametrize(
    ("values", "wanted"),
    [
        (["a", None, "007"], ["a", None, "007"]),
        ([dt.date(2020, 1, 2), None], ["2020-01-02", None]),
        ([dt.datetime(2020, 1, 2, 3), None], ["2020-01-02 03:00:00", None]),
        ([None, None], [None, None]),
    ],
    ids=["strings", "dates", "times", "nothing"],
)
def test_other_types_are_text(write_parquet, values, wanted):
    assert read_file(write_parquet({"x": values})).columns["x"].tolist() == wanted


@pytest.mark.parametrize("kind", [pl.Categorical, pl.Enum(["a", "b"])], ids=["categorical", "enum"])
def test_categories_are_text(write_parquet, kind):
    path = write_parquet({"x": ["a", "b", "a"]}, schema={"x": kind})
    assert read_file(path).columns["x"].tolist() == ["a", "b", "a"]


@pytest.mark.parametrize("kind", [pl.Int8, pl.UInt64, pl.Float32, pl.Decimal(10, 2)])
def test_numbers_of_every_type_round_trip(write_parquet, kind):
    assert read_file(write_parquet({"x": [1, 2]}, schema={"x": kind})).columns["x"].tolist() == [1.0, 2.0]


def test_numbers_read_as_text_are_text(write_parquet):
    path = write_parquet({"id": [1, 2**53 + 1], "x": [1, 2]})
    assert read_file(path, frozenset({"id"})).columns["id"].tolist() == ["1", str(2**53 + 1)]


def test_arrays_of_fixed_length_round_trip(write_parquet):
    path = write_parquet({"x": [[1.0, 2.0], [3.0, 4.0]]}, schema={"x": pl.Array(pl.Float64, 2)})
    np.testing.assert_array_equal(read_file(path).columns["x"], [[1, 2], [3, 4]])


def test_file_without_rows_is_refused(write_parquet):
    with pytest.raises(ValueError, match=r"t\.parquet holds no rows: no entities"):
        read_file(write_parquet({"x": []}))


def test_unused_column_may_hold_anything(write_parquet, content):
    path = write_parquet({"x": [0.5, 1.5], "words": [["a"], ["b"]]})
    np.testing.assert_array_equal(content(f"{path}:x").data[0], [[0.5], [1.5]])


def test_file_name_with_brackets_is_not_a_pattern(write_parquet):
    assert read_file(write_parquet({"x": [1, 2]}, "t[1].parquet")).columns["x"].tolist() == [1.0, 2.0]


def test_file_name_with_star_is_not_a_pattern(write_parquet):
    write_parquet({"x": [3, 4]}, "t1.parquet")
    assert read_file(write_parquet({"x": [1, 2]}, "t*.parquet")).columns["x"].tolist() == [1.0, 2.0]


def test_lists_are_read_as_in_json_lines(write_parquet):
    columns = read_file(write_parquet({"words": [["b", "a", "b"], None], "codes": [[1, 2], [3]]})).columns
    assert columns["words"].tolist() == [{"b": 2.0, "a": 1.0}, None]
    assert columns["codes"].tolist() == [{"1": 1.0, "2": 1.0}, {"3": 1.0}]
