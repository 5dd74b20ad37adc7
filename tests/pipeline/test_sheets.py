"""Items and groups of a run as sheets: CSV files and a workbook, whatever the cells contain."""

import csv
import datetime as dt
import re
import sys
import zipfile
from dataclasses import replace
from pathlib import Path
from xml.etree import ElementTree as ET

import numpy as np
import pandas as pd
import pytest
import python_calamine
import xlsxwriter

import consilience as cs
from consilience.data.frames import find_free_name
from consilience.explain import Hierarchy
from consilience.files.readings import ColumnReading
from consilience.pipeline import sheets
from consilience.pipeline.frame import JoinedColumn
from consilience.pipeline.log import RunLog
from consilience.pipeline.sheet_columns import (
    MAX_UNITS,
    SheetColumn,
    SheetTables,
    build_id_column,
    build_original_column,
    clean_cell,
    is_too_long,
    write_csv,
)
from consilience.pipeline.sheets import build_tables
from consilience.pipeline.workbook import COLORS, TINTS, write_workbook

STYLE = Path(cs.__file__).parent / "report" / "style.css"
MAIN = "{http://schemas.openxmlformats.org/spreadsheetml/2006/main}"
N = 60
WORDS = [["oak", "chair", "wood"], ["cotton", "shirt", "sleeve"], ["steel", "knife", "blade"]]


@pytest.fixture(scope="module")
def products():
    """A table of three groups whose columns are of all kinds."""
    rng = np.random.default_rng(0)
    kind = np.arange(N) % 3
    return pd.DataFrame(
        {
            "sku": [f"S-{i:03}" for i in range(N)],
            "price": [f"${[1400, 40, 90][k] + rng.normal():,.2f}" for k in kind],
            "listed": [f"{1 + i % 28}/{1 + i % 12}/2023" for i in range(N)],
            "weight": np.array([30.0, 1.0, 5.0])[kind] + rng.normal(size=N),
            "zip": [f"{i:05}" for i in range(N)],
            "story": [" ".join(rng.choice(WORDS[k], 8)) for k in kind],
            "name": ["=1+1", "@x", "-5", "+ 1", "\uff1dA1", "plain"] * (N // 6),
        }
    )


@pytest.fixture(scope="module")
def result(products):
    return cs.cluster(products, 3, id_column="sku", encode={"story": "words"})


@pytest.fixture(scope="module")
def folder(result, tmp_path_factory):
    return result.save(tmp_path_factory.mktemp("sheets") / "run")


def read_sheet(path, name="items"):
    """Return the rows of a sheet as dicts."""
    header, *rows = python_calamine.CalamineWorkbook.from_path(path).get_sheet_by_name(name).to_python()
    return [dict(zip(header, row, strict=True)) for row in rows]


def read_about(path):
    return python_calamine.CalamineWorkbook.from_path(path).get_sheet_by_name("about").to_python()


def read_table(path):
    with path.open(newline="", encoding="utf-8-sig") as file:
        return list(csv.DictReader(file))


def parse_parts(path):
    """Return the parsed XML of all members of a workbook, by name."""
    with zipfile.ZipFile(path) as archive:
        assert archive.testzip() is None
        return {name: ET.fromstring(archive.read(name)) for name in archive.namelist()}


def write_items(path, *columns, n_ids=1):
    """Write a workbook of these items, and return its notes."""
    groups = [SheetColumn("cluster", "group number", [0])]
    return write_workbook(path, SheetTables("t", "2026-01-01T00:00:00+00:00", list(columns), n_ids, groups, [], []))


def build_column(cells, reading=None):
    return build_original_column(JoinedColumn("text", np.array([*cells, None], dtype=object)[:-1], reading=reading))


def test_items_have_the_data_and_the_results(result, products, folder):
    items, rows = read_sheet(folder / "groups.xlsx"), read_table(folder / "items.csv")
    original = ["price", "listed", "weight", "zip", "story", "name"]
    assert list(items[0]) == [
        *("sku", "group", "group number", "confidence", "confidence in words", "second choice", "second choice number"),
        *("contested", *original),
    ]
    assert list(rows[0]) == [
        *("sku", "name_2", "cluster", "confidence", "confidence in words", "second name", "second", "contested"),
        *original,
    ]
    assert [row["sku"] for row in items] == [row["sku"] for row in rows] == products["sku"].tolist()
    frame, assessment = result.frame, result.assessment
    for name, heading in {"cluster": "group number", "name_2": "group", "second name": "second choice"}.items():
        expected = [str(value) for value in frame[name]]
        assert [row[name] for row in rows] == expected
        assert [str(int(row[heading]) if name == "cluster" else row[heading]) for row in items] == expected
    names = np.array([*result.names, None], dtype=object)
    assert frame["second name"].tolist() == names[frame["second"].fillna(-1).astype(int)].tolist()
    assert [row["confidence in words"] for row in items] == assessment.certainty.tolist()
    for table in (items, rows):
        assert [float(row["confidence"]) for row in table] == assessment.confidence.tolist()
        assert [float(row["weight"]) for row in table] == pytest.approx(products["weight"].tolist(), rel=1e-14)
    for column in ("price", "listed", "zip", "story"):
        assert [row[column] for row in rows] == products[column].tolist()
    assert [row["price"] for row in items] == [float(text[1:].replace(",", "")) for text in products["price"]]
    dates = [dt.datetime.strptime(text, "%d/%m/%Y").date() for text in products["listed"]]
    assert [row["listed"] for row in items] == dates
    assert [row["zip"] for row in items] == products["zip"].tolist()  # 00007 is not 7


def test_sheets_can_be_clustered_again(folder, result):
    data = {"sheet": f"{folder / 'groups.xlsx'}:weight", "table": f"{folder / 'items.csv'}:weight"}
    again = cs.cluster(data, 3, id_column="sku", assess=False, method="k-means")
    assert again.ids.tolist() == result.ids.tolist()


def test_formulas_are_texts(products, folder):
    items, rows = read_sheet(folder / "groups.xlsx"), read_table(folder / "items.csv")
    assert [row["name"] for row in items] == products["name"].tolist()
    guarded = ["'=1+1", "'@x", "-5", "'+ 1", "'\uff1dA1", "plain"]
    assert [row["name"] for row in rows] == guarded * (N // 6)
    parts = parse_parts(folder / "groups.xlsx")
    assert not [name for name, part in parts.items() if part.find(f".//{MAIN}f") is not None]
    assert not [name for name, part in parts.items() if part.find(f".//{MAIN}hyperlink") is not None]
    assert not [name for name in parts if "link" in name.lower()]


def test_groups_describe_the_clusters(result, folder):
    groups, rows = read_sheet(folder / "groups.xlsx", "groups"), read_table(folder / "groups.csv")
    assert list(rows[0]) == ["cluster", "name", "size", "share", "stability", "marks", "typical", "neighbors"]
    assert list(groups[0]) == [
        *("group number", "group", "items", "share", "stability", "what marks it", "typical items"),
        "neighboring groups",
    ]
    sizes, labels, ids = result.sizes, result.labels, result.ids.tolist()
    order = sorted(range(3), key=lambda cluster: (-sizes[cluster], cluster))
    assert [int(row["cluster"]) for row in rows] == [int(row["group number"]) for row in groups] == order
    stability = {row["cluster"]: row["stability"] for row in result.assessment.clusters.rows()}
    for cluster, row, group in zip(order, rows, groups, strict=True):
        assert row["name"] == group["group"] == result.names[cluster]
        assert int(row["size"]) == group["items"] == sizes[cluster]
        assert float(row["share"]) == group["share"] == pytest.approx(sizes[cluster] / N, abs=1e-4)
        assert float(row["stability"]) == group["stability"] == pytest.approx(stability[cluster], abs=1e-4)
        members = group["typical items"].split("\n")
        assert row["typical"] == " | ".join(members)
        assert [labels[ids.index(member.partition(": ")[0])] for member in members] == [cluster] * 5
        words = next(words for words in WORDS if words[0] in row["marks"])
        assert set(words) <= set(re.findall(r"\w+", row["marks"]))
        second = result.frame["second name"][labels == cluster].value_counts()
        assert row["neighbors"].startswith(f"{second.index[0]} ({second.iloc[0] / sizes[cluster]:.0%})")


def test_about_states_the_verdict_and_explains_the_columns(result, folder):
    about = {label: text for label, text in read_about(folder / "groups.xlsx") if label}
    assert about["result"] == "60 items in 3 groups"
    assert about["verdict"] == result.assessment.headline
    assert about["date"] == result.summary["when"]
    assert "agreement of the views" in about["how the groups were made"]
    headings = {*read_sheet(folder / "groups.xlsx")[0]} - {*result.frame} | {"sku", "confidence", "contested"}
    assert {f"items: {heading}" for heading in headings} <= set(about)
    assert {f"groups: {heading}" for heading in read_sheet(folder / "groups.xlsx", "groups")[0]} <= set(about)


def test_header_is_frozen_and_filtered(folder):
    parts = parse_parts(folder / "groups.xlsx")
    for number in (1, 2):
        sheet = parts[f"xl/worksheets/sheet{number}.xml"]
        assert sheet.find(f".//{MAIN}pane").get("ySplit") == "1"
        assert sheet.find(f"{MAIN}autoFilter") is not None
        widths = [float(column.get("width")) for column in sheet.iter(f"{MAIN}col")]
        assert widths
        assert all(8 <= width <= 61 for width in widths)
    formats = {item.get("formatCode") for item in parts["xl/styles.xml"].iter(f"{MAIN}numFmt")}
    assert {"0.0%", '"$"#,##0.00', "yyyy-mm-dd", "0%"} <= formats


def test_groups_have_the_colors_of_the_report(folder, result):
    palette = re.findall(r"--k\d: light-dark\((#\w+),", STYLE.read_text(encoding="utf-8"))
    assert palette == list(COLORS)
    fills = {fill.get("rgb") for fill in parse_parts(folder / "groups.xlsx")["xl/styles.xml"].iter(f"{MAIN}fgColor")}
    assert {f"FF{color[1:].upper()}" for color in TINTS[:3]} <= fills
    run = replace(result._run)
    vars(run)["hierarchy"] = Hierarchy(np.arange(3), np.array([[0, 2], [1, 3]]), np.array([0.1, 0.2]))
    looks, tables = run.build_report()._facts.looks, build_tables(run)
    assert [looks[cluster][0] for cluster in range(3)] == [1, 0, 2]  # colors follow the tree, not the numbers
    for columns in (tables.items, tables.groups):
        cells = {column.name: column for column in columns}
        named = next(column for column in columns if column.colors is not None)
        assert list(named.colors) == [looks[cluster][0] for cluster in cells["cluster"].cells]


HOSTILE = [
    '<r><t>x</t></r></is></c><c r="Z9"><f>1+1</f></c><c><is><r></r>',  # XlsxWriter writes <r>...</r> as tags
    "<script>alert(1)</script>&amp;<![CDATA[",
    "_x0041_ literal",
    "שלום עולם",
    "漢字かな",
    "👩‍👩‍👧 \U0001f600",
    "two\nlines",
    "  blanks  ",
    "=HYPERLINK(\"http://x\")",
    "http://example.org/",
    "mailto:a@b.c",
    "0012",
    "1e5",
    "#REF!",
    "TRUE",
    "\t=tab",
    "".join(map(chr, [*range(0xA1, 0x180), *range(0x5D0, 0x5F0), 0x200B, 0x202E])),
]  # fmt: skip


def test_texts_stay_as_they_are(tmp_path):
    notes = write_items(tmp_path / "t.xlsx", build_column(HOSTILE))
    assert notes == []
    cells = [cell["text"] for cell in read_sheet(tmp_path / "t.xlsx")]
    assert cells == [f" {HOSTILE[0]}", *HOSTILE[1:]]
    parts = parse_parts(tmp_path / "t.xlsx")
    assert all(part.find(f".//{MAIN}f") is None for part in parts.values())
    assert list(tmp_path.iterdir()) == [tmp_path / "t.xlsx"]  # no temporary file is left
    write_csv(tmp_path / "t.csv", [build_column(HOSTILE)])
    cells = [row["text"] for row in read_table(tmp_path / "t.csv")]
    assert [
        cell.removeprefix("'") if text[0] in "=\t" else cell for cell, text in zip(cells, HOSTILE, strict=True)
    ] == HOSTILE


CLEANED = {
    "a\x00b\x0b\x1fc\ufffe\uffff": "abc",
    "one\r\ntwo\rthree": "one\ntwo\nthree",
    "lone \ud83d surrogate": "lone \ufffd surrogate",
    "a" * MAX_UNITS: "a" * MAX_UNITS,
    "a" * (MAX_UNITS + 1): "a" * (MAX_UNITS - 1) + "…",
    "a" * 2**20: "a" * (MAX_UNITS - 1) + "…",
    "😀" * 16_383: "😀" * 16_383,
    "😀" * 16_384: "😀" * 16_383 + "…",
    "a" + "😀" * 16_383 + "b": "a" + "😀" * 16_382 + "…",
    "\x00" * 40_000: "…",
}


def test_cells_are_cleaned_for_spreadsheets(tmp_path):
    assert [clean_cell(text) for text in CLEANED] == list(CLEANED.values())
    assert [is_too_long(text) for text in CLEANED] == [cleaned[-1] == "…" for cleaned in CLEANED.values()]
    assert max(len(cleaned.encode("utf-16-le")) // 2 for cleaned in CLEANED.values()) <= MAX_UNITS
    write_items(tmp_path / "t.xlsx", build_column(CLEANED))
    assert [row["text"] for row in read_sheet(tmp_path / "t.xlsx")] == list(CLEANED.values())
    write_csv(tmp_path / "t.csv", [build_column(CLEANED)])
    assert [row["text"] for row in read_table(tmp_path / "t.csv")] == list(CLEANED.values())


def test_numbers_keep_their_digits(tmp_path):
    values = np.array([1.0, 0.1, -2.5, np.nan, 1e300, 10.0**15, np.inf, 1 / 3])
    column = build_original_column(JoinedColumn("x", values))
    write_items(tmp_path / "t.xlsx", SheetColumn("id", "id", list("abcdefgh")), column)
    cells = [row["x"] for row in read_sheet(tmp_path / "t.xlsx")]
    assert cells == [1.0, 0.1, -2.5, "", 1e300, 1e15, "inf", 1 / 3]
    write_csv(tmp_path / "t.csv", [column])
    texts = (tmp_path / "t.csv").read_text(encoding="utf-8-sig").splitlines()
    assert texts == ["x", "1", "0.1", "-2.5", '""', "1e+300", "1000000000000000", "inf", "0.3333333333333333"]


@pytest.mark.parametrize(
    ("kind", "form", "unit", "cells", "numbers", "number_format"),
    [
        ("amount", ".", "$", ["$1,299.50", "-$5", "call us"], [1299.5, -5, None], '"$"#,##0.00'),
        ("amount", ",", "€", ["1.299 €", "7 €"], [1299, 7], '#,##0"€"'),
        ("amount", ".", "%", ["7%", "12%"], [7, 12], '#,##0"%"'),
        ("amount", ".", "", ["1,299", "(5)"], [1299, -5], "#,##0"),
        ("date", "", "", ["1970-01-02", "1969-12-31", None], [25570, 25568, None], "yyyy-mm-dd"),
        ("date", "", "", ["2020-01-01 12:00", "1850-01-01"], [43831.5, None], "yyyy-mm-dd hh:mm"),
        ("truth", "", "", ["yes", "no"], None, ""),
        ("time", "", "", ["10:30", "11:00"], None, ""),
    ],
)
def test_texts_that_were_read_as_numbers(kind, form, unit, cells, numbers, number_format, tmp_path):
    column = build_column(cells, ColumnReading(kind, form, unit, lenient=True))
    assert column.cells == cells
    assert column.number_format == number_format
    read = column.numbers and [None if number != number else number for number in column.numbers]
    assert read == numbers
    write_csv(tmp_path / "t.csv", [column])
    assert [row["text"] for row in read_table(tmp_path / "t.csv")] == [cell or "" for cell in cells]  # no formula


def test_ids_are_numbers_only_if_nothing_is_lost(tmp_path):
    many = "1" * 16
    for ids, cells in (
        (["1", "20"], [1.0, 20.0]),
        (["01", "2"], ["01", "2"]),
        ([many, "2"], [many, "2"]),
        (["=a"], ["=a"]),
    ):
        write_items(tmp_path / "t.xlsx", build_id_column("id", ids))
        assert [row["id"] for row in read_sheet(tmp_path / "t.xlsx")] == cells


def test_items_beyond_the_rows_of_a_sheet_go_on_in_the_next_and_columns_beyond_are_noted(tmp_path, tune):
    tune("pipeline.workbook", max_rows=4)
    clusters = [i % 3 for i in range(10)]
    columns = [SheetColumn("id", "id", list(range(10))), SheetColumn("g", "group", list("abcdefghij"), colors=clusters)]
    assert write_items(tmp_path / "t.xlsx", *columns) == []
    book = python_calamine.CalamineWorkbook.from_path(tmp_path / "t.xlsx")
    assert book.sheet_names == ["items", "items 2", "items 3", "groups", "about"]
    rows = [row for name in book.sheet_names[:3] for row in read_sheet(tmp_path / "t.xlsx", name)]
    assert [(row["id"], row["group"]) for row in rows] == list(zip(range(10), "abcdefghij", strict=True))
    parts = parse_parts(tmp_path / "t.xlsx")
    styles = [cell.get("s") for n in (1, 2, 3) for cell in parts[f"xl/worksheets/sheet{n}.xml"].iter(f"{MAIN}c")
              if cell.get("r")[0] == "B" and cell.get("r") != "B1"]  # fmt: skip
    assert [styles[i] == styles[j] for i in range(10) for j in range(i)] == [
        clusters[i] == clusters[j] for i in range(10) for j in range(i)
    ]
    tune("pipeline.workbook", max_columns=3)
    notes = write_items(tmp_path / "u.xlsx", *(SheetColumn(f"c{i}", f"c{i}", [i]) for i in range(5)))
    assert notes == ["groups.xlsx lacks the last 2 of 5 columns, because a sheet has at most 3: items.csv has them."]
    assert list(read_sheet(tmp_path / "u.xlsx")[0]) == ["c0", "c1", "c2"]
    assert read_about(tmp_path / "u.xlsx") == [["note", notes[0]]]


def test_without_xlsxwriter_there_are_csv_files_and_a_note(result, tmp_path, monkeypatch):
    folder = result.save(tmp_path / "run")
    (folder / "mine.txt").write_text("stays")
    assert (folder / "groups.xlsx").exists()
    monkeypatch.setitem(sys.modules, "xlsxwriter", None)
    result.save(folder, overwrite=True)
    assert not (folder / "groups.xlsx").exists(), "a replaced run loses the workbook"
    assert {"groups.csv", "items.csv", "mine.txt"} <= {path.name for path in folder.iterdir()}
    with pytest.raises(FileExistsError, match=r"items.csv.*groups.csv.*overwrite=True"):
        result.save(folder)
    sheets.write_sheets(result._run, tmp_path, log := RunLog())
    assert log.notes[-1] == (
        "groups.xlsx is not written: workbooks need XlsxWriter: pip install 'consilience[excel]'. items.csv and "
        "groups.csv have the same content."
    )
    with pytest.raises(ImportError, match=r"workbooks need XlsxWriter: pip install 'consilience\[excel\]'"):
        result.to_excel(tmp_path / "t.xlsx")
    assert not (tmp_path / "t.xlsx").exists()


def test_large_tables_are_left_out_with_a_note(result, tmp_path, tune):
    tune("pipeline.sheets", max_cells=100)
    tune("pipeline.sheets", max_original_cells=359)  # 60 rows of 6 columns are one more
    log = RunLog()
    sheets.write_sheets(result._run, tmp_path, log)
    assert "lack the 6 columns of the data, because these have 360 cells. Result.frame has them" in log.notes[-2]
    assert "groups.xlsx is not written, because 480 cells take long to write and to open" in log.notes[-1]
    assert sorted(path.name for path in tmp_path.iterdir()) == ["groups.csv", "items.csv"]
    assert list(read_table(tmp_path / "items.csv")[0])[-1] == "contested"


def test_to_excel_writes_a_workbook(result, tmp_path, tune, monkeypatch):
    tune("pipeline.sheets", max_cells=100)  # of the folder of a run only
    path = result.to_excel(tmp_path / "out.xlsx")
    assert len(read_sheet(path)) == N
    with pytest.raises(FileExistsError, match="overwrite=True"):
        result.to_excel(path)
    result.to_excel(path, overwrite=True)
    with pytest.raises(ValueError, match=r"path must end in .xlsx, got '.*out.csv'"):
        result.to_excel(tmp_path / "out.csv")

    def fail(*arguments, **options):
        raise xlsxwriter.exceptions.FileCreateError(OSError(28, "No space left on device"))

    monkeypatch.setattr(xlsxwriter.Workbook, "_store_workbook", fail)
    with pytest.raises(OSError, match="No space left on device"):
        result.to_excel(tmp_path / "other.xlsx")
    assert list(tmp_path.iterdir()) == [path]


def test_long_cells_are_noted(tmp_path):
    rng = np.random.default_rng(0)
    texts = [" ".join(rng.choice(WORDS[i % 3], 6)) for i in range(30)]
    texts[0] += " oak" * 10_000
    result = cs.cluster({"story": texts, "x": rng.normal(size=(30, 2))}, 2, method="k-means", assess=False)
    sheets.write_sheets(result._run, tmp_path, log := RunLog())
    note = "1 cell of the data is shortened in items.csv and groups.xlsx to 32,767 characters, the most in a cell."
    assert log.notes == [note]
    assert read_table(tmp_path / "items.csv")[0]["story"] == texts[0][:32_766] + "…"
    assert ["note", note] in read_about(tmp_path / "groups.xlsx")


def test_matrices_have_numbers_of_rows_and_entities_without_data_no_group(tmp_path):
    X, options = np.random.default_rng(0).normal(size=(20, 5)), {"method": "k-means", "assess": False}
    rows = read_sheet(cs.cluster({"a": X[:, :2], "b": X[:, 2:]}, 2, **options).to_excel(tmp_path / "t.xlsx"))
    assert list(rows[0]) == ["id", "group", "group number", "contested"]
    assert [row["id"] for row in rows] == list(range(20))
    frame = pd.DataFrame({"id": list("abcdefghijkl"), "x": [0.0, 1, None, *range(9)], "y": [0.0, 5, None, *range(9)]})
    result = cs.cluster(frame, 2, **options)
    rows = read_sheet(result.to_excel(tmp_path / "u.xlsx"))
    assert [rows[2][name] for name in ("id", "group", "group number", "x")] == ["c", "", -1, ""]
    assert [int(row["group number"]) for row in rows] == result.labels.tolist()


def test_columns_of_results_never_replace_those_of_the_user(tmp_path):
    rng = np.random.default_rng(0)
    names = ["cluster", "name", "second", "group", "group number", "contested", "confidence", "contested_2"]
    frame = pd.DataFrame({"id": [f"e{i}" for i in range(30)], **{name: rng.normal(size=30) for name in names}})
    result = cs.cluster(frame, 2, method="k-means", assess=False)
    folder = result.save(tmp_path / "run")
    items, rows = read_sheet(folder / "groups.xlsx"), read_table(folder / "items.csv")
    for name in names:
        assert [float(row[name]) for row in rows] == frame[name].tolist()
        assert [row[name] for row in items] == pytest.approx(frame[name].tolist(), rel=1e-14)
    free = find_free_name("contested", names)
    assert free == "contested_3"
    assert list(items[0])[:4] == ["id", "group_2", "group number_2", "contested_3"]
    assert list(rows[0])[:4] == ["id", "name_2", "cluster_2", "contested_3"]
    assert [int(row["cluster_2"]) for row in rows] == result.labels.tolist()
