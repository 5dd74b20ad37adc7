"""The small table that results come in."""

import pickle

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from consilience import Table

ROWS = [{"method": "a", "score": 0.51234, "n": 3}, {"method": "bcd", "score": 12.0, "n": 1200}]


@settings(max_examples=50, deadline=None)
@given(st.lists(st.fixed_dictionaries({"a": st.floats(allow_nan=False), "b": st.integers(-9, 9)}), max_size=5))
def test_rows_go_in_and_come_out(rows):
    table = Table.from_rows(rows)
    assert table.rows() == rows
    assert table.n_rows == len(rows)


def test_columns_are_arrays_of_their_type():
    table = Table.from_rows(iter(ROWS))
    assert list(table) == ["method", "score", "n"]
    assert table["score"].dtype == np.float64
    assert table["n"].tolist() == [3, 1200]


def test_the_first_row_names_the_columns():
    with pytest.raises(KeyError, match="n"):
        Table.from_rows([*ROWS, {"method": "e", "score": 1.0}])


def test_a_table_is_a_frame_of_pandas_and_of_polars():
    table = Table.from_rows(ROWS)
    assert pd.DataFrame(table).to_dict("records") == ROWS
    assert pl.DataFrame(table).to_dicts() == ROWS


def test_it_prints_aligned_with_text_to_the_left_and_numbers_to_the_right():
    assert repr(Table.from_rows(ROWS)).splitlines() == [
        "method    score     n",
        "a        0.5123     3",
        "bcd     12.0000  1200",
    ]


@pytest.mark.parametrize("value", [1e-5, 1e20, np.inf, -np.inf, np.nan, -3.5, np.float32(1e-7)])
def test_every_float_belongs_to_the_right(value):
    name = "a column as wide as that is long"
    lines = repr(Table.from_rows([{name: value}, {name: 2.0}])).splitlines()
    assert lines == [name, f"{value:.4f}".rjust(len(name)), "2.0000".rjust(len(name))]


@pytest.mark.parametrize("cell", ["1,200", "33.3%", "-12", "0.5"])
def test_text_that_reads_as_a_number_belongs_to_the_right(cell):
    assert repr(Table.from_rows([{"column": cell}])).splitlines() == ["column", cell.rjust(6)]


@pytest.mark.parametrize("cell", ["1-2", "a1", "-", "1.2.3", "True"])
def test_other_text_belongs_to_the_left(cell):
    assert repr(Table.from_rows([{"column": cell}])).splitlines()[1] == cell


def test_html_is_escaped():
    html = Table.from_rows([{"<i>": "a & b", "n": 1}])._repr_html_()
    assert "<th>&lt;i&gt;</th>" in html
    assert "<td>a &amp; b</td><td>1</td>" in html
    assert "<i>" not in html


def test_a_table_without_rows_prints_nothing():
    table = Table.from_rows([])
    assert repr(table) == ""
    assert table._repr_html_() == "<table><thead><tr></tr></thead><tbody></tbody></table>"
    assert table.n_rows == 0


def test_pickling_keeps_the_rows():
    table = pickle.loads(pickle.dumps(Table.from_rows(ROWS)))
    assert isinstance(table, Table)
    assert table.rows() == ROWS
