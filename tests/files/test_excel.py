"""Sheets of workbooks are read like CSV files."""

import datetime as dt
import io
import sys
import zipfile
from pathlib import Path

import numpy as np
import pytest

from consilience.files import read_file
from workbooks import MAIN, make_archive, make_ods, make_xlsx

pytest.importorskip("python_calamine")

HEADER = ["sku", "price", "sold", "ok", "at", "code", None, "sum"]
TIMES = [dt.datetime(2020, 1, 1 + i, 12 * (i == 2)) for i in range(4)]
BODY = [[f"S{i}", 1.5 * i, TIMES[i], i % 2 == 0, dt.time(8 + i, 30), "007", None, f"=A1+1->{i}"] for i in range(4)]
TITLED = [["Report of the month"], [], [None, *HEADER], *([None, *row] for row in BODY), []]


def test_sheet_is_read_like_a_csv_file_and_errors_as_empty_cells(put):
    columns = read_file(put("t.xlsx", make_xlsx({"Sheet": TITLED}))).columns
    assert list(columns) == ["sku", "price", "sold", "ok", "at", "code", "sum"]
    assert columns["sku"].tolist() == ["S0", "S1", "S2", "S3"]
    assert columns["price"].tolist() == [0, 1.5, 3, 4.5]
    assert columns["sold"].tolist() == ["2020-01-01", "2020-01-02", "2020-01-03 12:00:00", "2020-01-04"]
    assert columns["ok"].tolist() == ["true", "false"] * 2
    assert columns["at"].tolist() == ["08:30:00", "09:30:00", "10:30:00", "11:30:00"]
    assert columns["code"].tolist() == [7, 7, 7, 7]
    assert columns["sum"].tolist() == [0, 1, 2, 3]  # the saved values of the formulas
    path = put("t.xlsx", make_xlsx({"Sheet": [["id", "x", "y"], [7, 1, "#N/A"], ["007", "#DIV/0!", "a"], [8, 3, "b"]]}))
    columns = read_file(path, frozenset({"id"})).columns
    assert columns["id"].tolist() == ["7", "007", "8"]
    np.testing.assert_array_equal(columns["x"], [1, np.nan, 3])
    assert columns["y"].tolist() == [None, "a", "b"]


@pytest.mark.parametrize("make", [make_xlsx, make_ods])
def test_first_sheet_with_data_or_a_named_one_is_read(put, make):
    path = put("t.ods", make({"Cover": [], "Data": [["a", "b"], ["x", 1]], "My data": [["c"], ["y"]]}))
    assert list(read_file(path).columns) == ["a", "b"]
    assert list(read_file(Path(f"{path}#My data")).columns) == ["c"]
    with pytest.raises(ValueError, match=r"there is no sheet 'Dat'; there are 'Cover', .*Did you mean 'Data'\?"):
        read_file(Path(f"{path}#Dat"))


def test_sheets_are_views_and_hidden_ones_are_skipped(put, read):
    sheets = {"Secret": [["a"], [1]], "A": [["id", "x"], ["u", 1], ["v", 2]], "B": [["id", "y"], ["v", 1], ["u", 5]]}
    path = put("t.xlsx", make_xlsx(sheets, hidden=["Secret"]))
    contents = read(f"{path}#A", f"b={path}#B:y").contents
    assert [(content.name, content.columns) for content in contents] == [("A", ("x",)), ("b", ("y",))]
    assert list(read_file(path).columns) == ["id", "x"]


def test_sheet_without_table_is_refused(put):
    for rows, message in (
        ([], "is empty: it must hold a row that names the columns"),
        ([["a", "b"]], "has a header, but no rows"),
        ([[1, 2], [3, 4]], "row 1 holds numbers, not the names of the columns: add a header"),
        ([["a", "a"], [1, 2]], "has two columns called 'a': rename one"),
    ):
        with pytest.raises(ValueError, match=rf"t\.xlsx.*{message}"):
            read_file(put("t.xlsx", make_xlsx({"Sheet": rows})))


def test_damaged_workbooks_are_refused(put):
    whole, refusals = make_xlsx({"Sheet": TITLED}), []
    for seed in range(60):
        rng = np.random.default_rng(seed)
        damaged = np.frombuffer(whole, np.uint8).copy()
        damaged[rng.integers(len(damaged), size=3)] = rng.integers(256, size=3)
        path = put("t.xlsx", damaged.tobytes()[: len(whole) if seed % 2 else rng.integers(1, len(whole))])
        try:
            read_file(path)
        except ValueError as error:
            refusals.append(str(error))
    assert len(refusals) > 30  # damage in unused bytes does no harm
    assert all("t.xlsx" in refusal for refusal in refusals)


def test_archive_that_unpacks_to_too_much_is_refused(put, tune):
    tune("files.formats.excel", min_allowed_bytes=10**5)
    path = put("t.xlsx", make_xlsx({"Sheet": TITLED}, extra={"xl/x.xml": "0" * 10**7}))
    with pytest.raises(ValueError, match=r"t\.xlsx would unpack to 10,\d+,\d+ bytes, which is not plausible"):
        read_file(path)


def test_stray_cell_at_the_end_of_a_sheet_is_refused(put):
    with zipfile.ZipFile(io.BytesIO(make_xlsx({"Sheet": [["a", "b"], [1, 2]]}))) as archive:
        members = {name: archive.read(name).decode() for name in archive.namelist()}
    sheet = "xl/worksheets/sheet1.xml"
    stray = '<row r="1048576"><c r="XFD1048576"><v>1</v></c></row></sheetData>'
    members[sheet] = members[sheet].replace("</sheetData>", stray)
    message = r"a sheet has 5 cells, but extends over 1,048,576 rows and 16,384 columns: delete the stray cells"
    with pytest.raises(ValueError, match=message):
        read_file(put("t.xlsx", make_archive(members)))


def make_shared(texts, n_rows=20_000):
    """Return a workbook with a column whose header is the first text and whose rows repeat the last one."""
    last = len(texts) - 1
    rows = "".join(f'<row r="{r}"><c r="A{r}" t="s"><v>{last}</v></c></row>' for r in range(2, n_rows + 2))
    rows = f'<row r="1"><c r="A1" t="s"><v>0</v></c></row>{rows}'
    members = {
        "xl/worksheets/sheet1.xml": f'<worksheet xmlns="{MAIN}"><sheetData>{rows}</sheetData></worksheet>',
        "xl/sharedStrings.xml": f'<sst xmlns="{MAIN}">{"".join(f"<si><t>{text}</t></si>" for text in texts)}</sst>',
    }
    return make_xlsx({"Sheet": []}, extra=members)


def test_long_text_that_many_cells_repeat_is_refused_before_reading(put, monkeypatch):
    path = put("t.xlsx", make_shared(["a", "x" * 32_000, "short"]))  # no cell shows the long one
    assert read_file(path).columns["a"].tolist() == ["short"] * 20_000
    monkeypatch.setattr("python_calamine.CalamineWorkbook.from_filelike", None)
    path = put("t.xlsx", make_shared(["a", "x" * 32_000]))
    with pytest.raises(ValueError, match=r"a sheet repeats long texts so often .* take up 6[34]\d,\d{3},\d{3} bytes"):
        read_file(path)


def test_missing_package_is_named(put, monkeypatch):
    monkeypatch.setitem(sys.modules, "python_calamine", None)
    with pytest.raises(ImportError, match=r"t\.xlsx: .* need python-calamine: pip install 'consilience\[excel\]'"):
        read_file(put("t.xlsx", make_xlsx({"Sheet": TITLED})))
