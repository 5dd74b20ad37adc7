"""Delimited tables are read as they were written."""

import csv
import gzip
import io

import numpy as np
import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from consilience.files.formats import delimited, read_file
from consilience.files.formats.columns import clean_table

TABLE = [["name", "size", "weight"], ["a", "1", "0.5"], ["b", "-2", ""], ["c", "1e5", "-0"]]


def lines_of(table, mark=",", end="\n"):
    return "".join(mark.join(row) + end for row in table)


def check_table(frame):
    assert list(frame.columns) == TABLE[0]
    assert frame.columns["name"].tolist() == ["a", "b", "c"]
    np.testing.assert_array_equal(frame.columns["size"], [1.0, -2.0, 1e5])
    np.testing.assert_array_equal(frame.columns["weight"], [0.5, np.nan, -0.0])
    assert {len(column) for column in frame.columns.values()} == {3}


def test_given_delimiter_is_used(put):
    for mark in (",", ";", " ", ":"):
        check_table(read_file(put("t.csv", lines_of(TABLE, mark)), delimiter=mark))


def test_empty_lines_are_skipped_and_the_last_line_needs_no_end(put):
    first, *rest = lines_of(TABLE).splitlines(keepends=True)
    for extra in ("\n", "\r\n", "\n\n\n"):
        check_table(read_file(put("t.csv", first + extra + extra.join(rest) + extra)))
    check_table(read_file(put("t.csv", lines_of(TABLE).rstrip("\n"))))


def test_numbers_are_read_as_python_reads_them_and_missing_ones_are_nan(put):
    numbers = {"1e5": 1e5, "-0": 0.0, " 7 ": 7.0, "+.5": 0.5, "1E-3": 1e-3, "inf": np.inf, "-Infinity": -np.inf}
    numbers |= dict.fromkeys(["", " ", "NA", "n/a", "NaN", "null", "None", "?"], np.nan)
    columns = read_file(put("t.csv", "x,y\n" + "".join(f"{cell},a\n" for cell in numbers))).columns
    np.testing.assert_array_equal(columns["x"], list(numbers.values()))
    assert np.isnan(read_file(put("t.csv", "x,y\n1,\n2,\n")).columns["y"]).all()


def test_other_cells_are_text(put):
    for cell in ("1,5", "1.2.3", "12a", "0x10", "1e", "$5", "5%", "1_2"):
        assert read_file(put("t.csv", f'x\n2\n"{cell}"\n')).columns["x"].tolist() == ["2", cell]


@pytest.mark.parametrize("row", [0, 4999, 5000, 6000])
def test_single_word_makes_column_text(put, row):
    cells = [f"{i:03d}" for i in range(6001)]
    cells[row] = "word"
    frame = read_file(put("t.csv", "x,y\n" + "".join(f"{cell},{i}\n" for i, cell in enumerate(cells))))
    assert frame.columns["x"].tolist() == cells
    np.testing.assert_array_equal(frame.columns["y"], np.arange(6001.0))


def test_unnamed_column_is_numbered(put):
    frame = read_file(put("t.csv", ",x, \n1,2,3\n"))
    assert list(frame.columns) == ["column 1", "x", "column 3"]


def test_repeated_column_name_is_refused(put):
    for header in ("x,y,x", "x, x,y", ",column 1,x"):
        with pytest.raises(ValueError, match=r"t\.csv has two columns called '(x|column 1)': rename one"):
            read_file(put("t.csv", f"{header}\n1,2,3\n"))


def test_row_of_another_length_is_named_by_its_line(put):
    for row, cells in (("1", 1), ("1,2,3", 3), ("1,2,", 3), ("  ", 1)):
        message = rf"t\.csv: line 3 has {cells} cells, but the header has 2: is ',' the delimiter \(--delimiter\)"
        with pytest.raises(ValueError, match=message):
            read_file(put("t.csv", f"x,y\n1,2\n{row}\n"))
    with pytest.raises(ValueError, match=r"line 4 has 3 cells, but the header has 2: is tab the delimiter"):
        read_file(put("t.tsv", 'x\ty\n1\t"2\n"\n1\t2\t3\n'))  # a line ends within a cell


@pytest.mark.parametrize(
    ("texts", "message"),
    [
        (["x,y", "x,y\n", "\ufeffx,y\r\n", "x,y\n\n\n"], " has a header, but no rows"),
        (["\n", "\r\n\r\n", "   \n", "\ufeff", "\ufeff\n"], " is empty: it must start with a line that names"),
        (['x,y\n1,"2\n3,4\n5,6\n'], r": line \d cannot be read as a table"),
        ([f"{start}\n3,4\n" for start in ("1,2", "1.5", "1.0 2.0", "-3;4e5")], ": the first line holds numbers, not"),
    ],
)
def test_files_without_a_table_are_refused(put, texts, message):
    for text in texts:
        with pytest.raises(ValueError, match=rf"t\.csv{message}"):
            read_file(put("t.csv", text))


@pytest.fixture
def default_field_size_limit():
    before = csv.field_size_limit(131_072)
    yield 131_072
    csv.field_size_limit(before)


@pytest.mark.parametrize("mark", [";", "\t"])
def test_wide_header_is_read_and_the_limit_of_python_restored(put, mark, default_field_size_limit):
    wide = lines_of([[f"a column called {i:05d}" for i in range(8000)], ["1"] * 8000], mark)
    assert len(read_file(put("t.csv", wide)).columns) == 8000
    assert csv.field_size_limit() == default_field_size_limit


def test_suffix_may_be_upper_case_and_the_last_one_counts(put):
    assert list(read_file(put("T.TSV", "a,b,c\td\n1\t2\n")).columns) == ["a,b,c", "d"]
    assert list(read_file(put("from.tsv.csv", "a,b\n1,2\n")).columns) == ["a", "b"]


def test_overlong_lines_and_cells_are_refused(put, tune, default_field_size_limit):
    tune("files.formats.text", max_line_length=100)
    for ending in ("csv", "jsonl"):
        with pytest.raises(ValueError, match=rf"t\.{ending}: line 1 is longer than .*: is this a text file"):
            read_file(put(f"t.{ending}", "x" * 1000))
    with pytest.raises(ValueError, match=r"t\.csv: line \d+ cannot be read as a table: field larger than"):
        read_file(put("t.csv", 'x,y\n1,"' + "two\n" * 100 + '"\n'))


SPECIAL = [",", '"', "\n", "\r\n", ";", "\t", "|", '"quoted"', "NA", "007", "1e5", "-0", " ", "nan", "\ufeff", "\u2028"]
CELLS = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\x00"), max_size=8)
TABLES = st.integers(1, 4).flatmap(
    lambda width: st.lists(
        st.lists(CELLS | st.sampled_from(SPECIAL), min_size=width, max_size=width), min_size=1, max_size=6
    )
)


@given(rows=TABLES, mark=st.sampled_from(",;|\t"), packed=st.booleans())
@example(rows=[["\n", ""]], mark=",", packed=False)
@settings(max_examples=50, suppress_health_check=list(HealthCheck))
def test_any_table_round_trips(tmp_path, rows, mark, packed):
    names = [f"column {i + 1}" for i in range(len(rows[0]))]
    buffer = io.StringIO(newline="")
    csv.writer(buffer, delimiter=mark).writerows([names, *rows])
    path = tmp_path / ("t.csv.gz" if packed else "t.csv")
    whole = buffer.getvalue().encode()
    path.write_bytes(gzip.compress(whole, mtime=0) if packed else whole)
    frame = read_file(path, frozenset(names), delimiter=mark)
    assert list(frame.columns) == names
    for name, cells in zip(names, zip(*rows, strict=True), strict=True):
        assert frame.columns[name].tolist() == [cell if cell.strip() else None for cell in cells]


@given(values=st.lists(st.floats(allow_infinity=False), min_size=1, max_size=20), mark=st.sampled_from(",;|\t"))
@settings(max_examples=30, suppress_health_check=list(HealthCheck))
def test_any_number_round_trips(tmp_path, values, mark):
    path = tmp_path / "t.csv"
    cells = ["" if value != value else repr(value) for value in values]
    path.write_text(lines_of([["x", "y"], *([cell, "word"] for cell in cells)], mark))
    np.testing.assert_array_equal(read_file(path).columns["x"], values)


def test_numbers_that_lose_digits_are_codes(put):
    codes = [["007", "12"], ["1234567890123456", "1"], ["", "NA", " 01 "]]
    numbers = [["0", "0.5", "-0.25"], ["123456789012345", "1"], ["0.1234567890123456789", "1e20"]]
    for cells in [*codes, *numbers]:
        table = read_file(put("t.csv", "name,code\n" + "".join(f"a,{cell}\n" for cell in cells)))
        assert table.columns["code"].dtype == np.float64
        assert table.codes == ({"code"} if cells in codes else set())


def test_codes_after_the_first_rows_are_noticed(tmp_path):
    numbers = [str(i + 1) for i in range(delimited.ROWS_AT_A_TIME)]
    (tmp_path / "t.csv").write_text("\n".join(["x", *numbers, "007", ""]))
    assert read_file(tmp_path / "t.csv").codes == {"x"}


def test_only_columns_that_are_needed_are_read_again(put, read, monkeypatch):
    rows = "".join(f"00{i % 4},{i % 3},{i * 7 % 11}.5,{'red' if i % 2 else 'blue'}\n" for i in range(40))
    path = put("t.csv", f"shelf,x,y,color\n{rows}")
    n_columns = []

    def count_columns(table, *words):
        n_columns.append(len(table.columns))
        return clean_table(table, *words)

    monkeypatch.setattr("consilience.files.read.clean_table", count_columns)
    (view,) = read(path).contents
    assert view.data["shelf"].tolist()[:4] == ["000", "001", "002", "003"]
    assert n_columns == [4, 1]
