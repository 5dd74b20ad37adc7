"""Delimited tables are read as they were written."""

import csv
import gzip
import io
import re

import numpy as np
import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from consilience.files.formats import delimited, read_file
from consilience.files.formats.columns import clean_table

TABLE = [["name", "size", "weight"], ["a", "1", "0.5"], ["b", "-2", ""], ["c", "1e5", "-0"]]
MARKS = {"comma": ",", "semicolon": ";", "tab": "\t", "pipe": "|"}


def lines_of(table, mark=",", end="\n"):
    return "".join(mark.join(row) + end for row in table)


def check_table(frame):
    assert list(frame.columns) == TABLE[0]
    assert frame.columns["name"].tolist() == ["a", "b", "c"]
    np.testing.assert_array_equal(frame.columns["size"], [1.0, -2.0, 1e5])
    np.testing.assert_array_equal(frame.columns["weight"], [0.5, np.nan, -0.0])
    assert {len(column) for column in frame.columns.values()} == {3}


NAMES = ["t.csv", "t.txt", "T.CSV", "t.v2.csv", "t.csv.gz"]


@pytest.mark.parametrize(
    ("name", "mark"), [*((name, mark) for name in NAMES for mark in MARKS), ("t.tsv", "tab"), ("t.tsv.gz", "tab")]
)
@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize("start", ["", "\ufeff"], ids=["plain", "marked"])
def test_delimiter_line_end_and_byte_order_mark_do_not_matter(put, name, mark, end, start):
    whole = (start + lines_of(TABLE, MARKS[mark], end)).encode()
    check_table(read_file(put(name, gzip.compress(whole, mtime=0) if name.endswith(".gz") else whole)))


@pytest.mark.parametrize("mark", [*MARKS.values(), " ", ":"])
def test_given_delimiter_is_used(put, mark):
    check_table(read_file(put("t.csv", lines_of(TABLE, mark)), delimiter=mark))


def test_last_line_needs_no_line_end(put):
    check_table(read_file(put("t.csv", lines_of(TABLE).rstrip("\n"))))


@pytest.mark.parametrize("extra", ["\n", "\r\n", "\n\n\n"])
def test_empty_lines_are_skipped(put, extra):
    first, *rest = lines_of(TABLE).splitlines(keepends=True)
    check_table(read_file(put("t.csv", first + extra + extra.join(rest) + extra)))


@pytest.mark.parametrize(
    "cell",
    ["a,b", "a;b\tc|d", 'he said "no"', "two\nlines", "two\r\nlines", " spaces around ", "ümläut ⚙ 漢字", "'", "=1+1"],
)
def test_quoted_cells_keep_their_content(put, cell):
    buffer = io.StringIO(newline="")
    csv.writer(buffer).writerows([["x", "words"], ["1", cell], ["2", "other"]])
    frame = read_file(put("t.csv", buffer.getvalue()))
    assert frame.columns["words"].tolist() == [cell, "other"]
    assert frame.columns["x"].tolist() == [1.0, 2.0]


@pytest.mark.parametrize("token", ["", " ", "NA", "n/a", "NaN", "null", "None", "?"])
def test_missing_number_is_nan(put, token):
    frame = read_file(put("t.csv", f"x,y\n1,a\n{token},b\n-3,c\n"))
    np.testing.assert_array_equal(frame.columns["x"], [1.0, np.nan, -3.0])


@pytest.mark.parametrize(
    ("cell", "number"),
    [("1e5", 1e5), ("-0", 0.0), (" 7 ", 7.0), ("+.5", 0.5), ("1E-3", 1e-3), ("inf", np.inf), ("-Infinity", -np.inf)],
)
def test_numbers_are_read_as_python_reads_them(put, cell, number):
    frame = read_file(put("t.csv", f"x,y\n{cell},a\n2,b\n"))
    assert frame.columns["x"].tolist() == [number, 2.0]


@pytest.mark.parametrize("cell", ["1,5", "1.2.3", "12a", "0x10", "1e", "$5", "5%"])
def test_other_cells_are_text(put, cell):
    frame = read_file(put("t.csv", f'x\n2\n"{cell}"\n'))
    assert frame.columns["x"].tolist() == ["2", cell]


def test_codes_with_underscores_are_text(put):
    assert read_file(put("t.csv", "plate\n1_2\n3_4\n")).columns["plate"].tolist() == ["1_2", "3_4"]


@pytest.mark.parametrize("row", [0, 1, 4999, 5000, 5999, 6000])
def test_single_word_makes_column_text(put, row):
    cells = [f"{i:03d}" for i in range(6001)]
    cells[row] = "word"
    frame = read_file(put("t.csv", "x,y\n" + "".join(f"{cell},{i}\n" for i, cell in enumerate(cells))))
    assert frame.columns["x"].tolist() == cells
    np.testing.assert_array_equal(frame.columns["y"], np.arange(6001.0))


def test_columns_read_as_text_keep_leading_zeros(put):
    frame = read_file(put("t.csv", "id,x\n007,007\n7,8\n"), frozenset({"id"}))
    assert frame.columns["id"].tolist() == ["007", "7"]
    assert frame.columns["x"].tolist() == [7.0, 8.0]


def test_empty_text_cells_are_none(put):
    frame = read_file(put("t.csv", "x,words\n1,a\n2,\n3,  \n"))
    assert frame.columns["words"].tolist() == ["a", None, None]


def test_unnamed_column_is_numbered(put):
    frame = read_file(put("t.csv", ",x, \n1,2,3\n"))
    assert list(frame.columns) == ["column 1", "x", "column 3"]


@pytest.mark.parametrize("header", ["x,y,x", "x, x,y", ",column 1,x"])
def test_repeated_column_name_is_refused(put, header):
    with pytest.raises(ValueError, match=r"t\.csv has two columns called '(x|column 1)': rename one"):
        read_file(put("t.csv", f"{header}\n1,2,3\n"))


@pytest.mark.parametrize(("row", "cells"), [("1", 1), ("1,2,3", 3), ("1,2,", 3), ("  ", 1)])
def test_row_of_another_length_is_named_by_its_line(put, row, cells):
    message = rf"t\.csv: line 3 has {cells} cells, but the header has 2: is ',' the delimiter \(--delimiter\)"
    with pytest.raises(ValueError, match=message):
        read_file(put("t.csv", f"x,y\n1,2\n{row}\n"))


def test_line_of_bad_row_counts_lines_within_cells(put):
    with pytest.raises(ValueError, match=r"line 4 has 3 cells, but the header has 2: is tab the delimiter"):
        read_file(put("t.tsv", 'x\ty\n1\t"2\n"\n1\t2\t3\n'))


def test_table_of_one_column(put):
    assert read_file(put("t.csv", "x\n1\n2\n")).columns["x"].tolist() == [1.0, 2.0]
    assert read_file(put("t.csv", 'word\na\n""\nb\n')).columns["word"].tolist() == ["a", None, "b"]


@pytest.mark.parametrize("text", ["x,y", "x,y\n", "\ufeffx,y\r\n", "x,y\n\n\n"])
def test_header_alone_is_refused(put, text):
    with pytest.raises(ValueError, match=r"t\.csv has a header, but no rows"):
        read_file(put("t.csv", text))


@pytest.mark.parametrize("text", ["\n", "\r\n\r\n", "   \n", "\ufeff", "\ufeff\n"])
def test_blank_file_is_refused(put, text):
    with pytest.raises(ValueError, match=r"t\.csv is empty: it must start with a line that names the columns"):
        read_file(put("t.csv", text))


def test_empty_column_is_missing_numbers(put):
    assert np.isnan(read_file(put("t.csv", "x,y\n1,\n2,\n")).columns["y"]).all()


def test_unclosed_quote_is_refused(put):
    with pytest.raises(ValueError, match=r"t\.csv: line \d cannot be read as a table"):
        read_file(put("t.csv", 'x,y\n1,"2\n3,4\n5,6\n'))


@pytest.mark.parametrize("mark", [";", "\t", "|"])
def test_wide_header_with_any_delimiter(put, mark, monkeypatch):
    before = csv.field_size_limit(131_072)  # Python's default
    try:
        wide = lines_of([[f"a column called {i:05d}" for i in range(8000)], ["1"] * 8000], mark)
        assert len(read_file(put("t.csv", wide)).columns) == 8000
    finally:
        csv.field_size_limit(before)


def test_reading_restores_field_size_limit(put):
    before = csv.field_size_limit(131_072)
    try:
        read_file(put("t.csv", "x,y\n1,2\n"))
        assert csv.field_size_limit() == 131_072
    finally:
        csv.field_size_limit(before)


def test_suffix_may_be_upper_case(put):
    frame = read_file(put("T.TSV", "a,b,c\td\n1\t2\n"))
    assert list(frame.columns) == ["a,b,c", "d"]


def test_last_suffix_counts(put):
    assert list(read_file(put("from.tsv.csv", "a,b\n1,2\n")).columns) == ["a", "b"]


@pytest.mark.parametrize("ending", ["csv", "jsonl"])
def test_overlong_line_is_refused(put, ending, tune):
    tune("files.formats.text", max_line_length=100)
    before = csv.field_size_limit()
    try:
        with pytest.raises(ValueError, match=rf"t\.{ending}: line 1 is longer than .*: is this a text file"):
            read_file(put(f"t.{ending}", "x" * 1000))
    finally:
        csv.field_size_limit(before)


def test_overlong_cell_is_refused(put, tune):
    tune("files.formats.text", max_line_length=100)
    before = csv.field_size_limit()
    try:
        with pytest.raises(ValueError, match=r"t\.csv: line \d+ cannot be read as a table: field larger than"):
            read_file(put("t.csv", 'x,y\n1,"' + "two\n" * 100 + '"\n'))
    finally:
        csv.field_size_limit(before)


CELLS = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\x00"), max_size=8) | st.sampled_from(
    [
        ",",
        '"',
        "\n",
        "\r\n",
        ";",
        "\t",
        "|",
        "a,b",
        '"quoted"',
        "NA",
        "007",
        "1e5",
        "-0",
        " ",
        "nan",
        "\ufeff",
        "\u2028",
    ]
)
TABLES = st.integers(1, 4).flatmap(
    lambda width: st.lists(st.lists(CELLS, min_size=width, max_size=width), min_size=1, max_size=6)
)


@given(rows=TABLES, mark=st.sampled_from(",;|\t"), packed=st.booleans())
@example(rows=[["\n", ""]], mark=",", packed=False)
@settings(
    max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow]
)
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


@given(
    values=st.lists(st.floats(allow_infinity=False, width=64), min_size=1, max_size=20), mark=st.sampled_from(",;|\t")
)
@settings(
    max_examples=100, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow]
)
def test_any_number_round_trips(tmp_path, values, mark):
    path = tmp_path / "t.csv"
    cells = ["" if value != value else repr(value) for value in values]
    path.write_text(lines_of([["x", "y"], *([cell, "word"] for cell in cells)], mark))
    np.testing.assert_array_equal(read_file(path).columns["x"], values)


def test_messages_name_whole_path(put):
    path = put("deep/down/t.csv", "x,y\n1\n")
    with pytest.raises(ValueError, match=re.escape(str(path))):
        read_file(path)


@pytest.mark.parametrize("start", ["1,2", "1.5", "1.0 2.0", "-3;4e5"])
def test_table_without_header_is_refused(put, start):
    with pytest.raises(ValueError, match=r"t\.csv: the first line holds numbers, not the names of the columns"):
        read_file(put("t.csv", f"{start}\n3,4\n"))


@pytest.mark.parametrize(
    ("cells", "is_code"),
    [
        (["007", "12"], True),
        (["0", "0.5", "-0.25"], False),
        (["1234567890123456", "1"], True),
        (["123456789012345", "1"], False),
        (["", "NA", " 01 "], True),
        (["0.1234567890123456789", "1e20"], False),
    ],
)
def test_numbers_that_lose_digits_are_codes(cells, is_code, tmp_path):
    (tmp_path / "t.csv").write_text("name,code\n" + "".join(f"a,{cell}\n" for cell in cells))
    table = read_file(tmp_path / "t.csv")
    assert table.columns["code"].dtype == np.float64
    assert table.codes == (frozenset({"code"}) if is_code else frozenset())


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
