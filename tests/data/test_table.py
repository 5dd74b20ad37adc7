"""The small table that results come in."""

import pickle
import sys

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from consilience import Table

pytestmark = pytest.mark.quick

ROWS = [{"method": "a", "score": 0.51234, "n": 3}, {"method": "bcd", "score": 12.0, "n": 1200}]


@settings(max_examples=25, deadline=None)
@given(st.lists(st.fixed_dictionaries({"a": st.floats(allow_nan=False), "b": st.integers(-9, 9)}), max_size=5))
def test_rows_round_trip(rows):
    table = Table.from_rows(iter(rows))
    assert table.rows() == rows
    assert table.n_rows == len(rows)
    back = pickle.loads(pickle.dumps(table))
    assert isinstance(back, Table)
    assert back.rows() == rows


def test_the_first_row_names_the_columns():
    with pytest.raises(KeyError, match="n"):
        Table.from_rows([*ROWS, {"method": "e", "score": 1.0}])


def test_pandas_and_polars_take_a_table():
    table = Table.from_rows(ROWS)
    assert list(table) == ["method", "score", "n"]
    assert table["score"].dtype == np.float64
    assert pl.DataFrame(table).to_dicts() == ROWS
    for frame in (pd.DataFrame(table), table.to_pandas()):
        assert frame.to_dict("records") == ROWS
        assert frame.dtypes["score"] == np.float64
    assert Table().to_pandas().empty
    assert pd.api.interchange.from_dataframe(table).to_dict("records") == ROWS
    assert pl.from_dataframe(table).to_dicts() == ROWS


def test_arrow_stream_is_read_by_pyarrow_and_polars():
    table = Table.from_rows(ROWS)
    assert pa.RecordBatchReader.from_stream(table).read_all().to_pylist() == ROWS

    class Stream:
        """An object that is no dict, so that polars must use the interface."""

        def __arrow_c_stream__(self, requested_schema=None):
            return table.__arrow_c_stream__(requested_schema)

    assert pl.DataFrame(Stream()).to_dicts() == ROWS


def test_text_is_aligned_left_and_numbers_right():
    assert repr(Table.from_rows(ROWS)).splitlines() == [
        "method    score     n",
        "a        0.5123     3",
        "bcd     12.0000  1200",
    ]


def test_numbers_and_text_that_reads_as_one_are_aligned_right():
    for value in (1e20, -np.inf, np.nan, np.float32(1e-7)):
        name = "a column as wide as that is long"
        lines = repr(Table.from_rows([{name: value}, {name: 2.0}])).splitlines()
        assert lines == [name, f"{value:.4f}".rjust(len(name)), "2.0000".rjust(len(name))]
    for cell in ("1,200", "33.3%", "-12", "0.5"):
        assert repr(Table.from_rows([{"column": cell}])).splitlines()[1] == cell.rjust(6)
    for cell in ("1-2", "a1", "-", "1.2.3", "True"):
        assert repr(Table.from_rows([{"column": cell}])).splitlines()[1] == cell


def test_html_is_escaped():
    html = Table.from_rows([{"<i>": "a & b", "n": 1}])._repr_html_()
    assert "<th>&lt;i&gt;</th>" in html
    assert "<td>a &amp; b</td><td>1</td>" in html
    assert "<i>" not in html
    assert repr(Table.from_rows([])) == ""
    assert Table.from_rows([])._repr_html_() == "<table><thead><tr></tr></thead><tbody></tbody></table>"


def test_missing_package_is_named_with_its_extra(monkeypatch):
    monkeypatch.setitem(sys.modules, "pandas", None)
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(ImportError, match=r"to_pandas needs pandas: pip install 'consilience\[frames\]'"):
        Table({"k": [2]}).to_pandas()
    with pytest.raises(ImportError, match=r"by pyarrow: pip install 'consilience\[parquet\]'"):
        Table({"k": [2]}).__arrow_c_stream__()
