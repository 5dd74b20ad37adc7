"""The spreadsheets of a run folder, from tables whose cells and headers are hostile."""

import csv
import zipfile
from xml.etree import ElementTree as ET

import pytest
import python_calamine

from stage import FILES, list_folder, read_labels, read_summary, run_successfully, write_csv

HEADER = ["id", "cluster", "name", "=HEAD()", "nothing", "zip", "text"]
WORDS = [["oak", "chair", "wood"], ["cotton", "shirt", "sleeve"], ["steel", "knife", "blade"]]
SETTINGS = ("-k", 3, "--method", "k-means", "--no-assess")


@pytest.fixture
def table(tmp_path):
    """A table whose columns are called like those of the results."""
    rows = []
    for i in range(60):
        text = " ".join(WORDS[i % 3][(i + j) % 3] for j in range(5))
        name = f"{WORDS[i % 3][i % 2]} {i}"
        rows.append([f"={i}\nrow", 10 * (i % 3) + i / 60, name, "=cmd|' /C calc'!A0", "", f"{i:04}", text])
    return write_csv(tmp_path / "table.csv", HEADER, rows)


def read_items(folder):
    with (folder / "items.csv").open(newline="", encoding="utf-8-sig") as file:
        rows = list(csv.DictReader(file))
    sheet = python_calamine.CalamineWorkbook.from_path(folder / "groups.xlsx").get_sheet_by_name("items")
    return rows, sheet.to_python()


def test_hostile_table(table, tmp_path):
    run_successfully("cluster", table, *SETTINGS, "--out", tmp_path / "out")
    folder = tmp_path / "out"
    assert set(list_folder(folder)) == FILES
    rows, (header, *cells) = read_items(folder)
    assert list(rows[0]) == ["id", "name_2", "cluster_2", "contested", "cluster", "name", "'=HEAD()", *HEADER[4:]]
    assert header == ["id", "group", "group number", "contested", *HEADER[1:]]
    labels = read_labels(folder)
    assert [row["id"] for row in rows] == [row["id"] for row in labels] == [f"'={i}\nrow" for i in range(60)]
    assert [row[0] for row in cells] == [f"={i}\nrow" for i in range(60)]
    assert [row["cluster_2"] for row in rows] == [row["cluster"] for row in labels]
    assert [row["name_2"] for row in rows] == [row["name"] for row in labels] == [row[1] for row in cells]
    assert {row["'=HEAD()"] for row in rows} == {"'=cmd|' /C calc'!A0"}
    assert {row[header.index("=HEAD()")] for row in cells} == {"=cmd|' /C calc'!A0"}
    assert [row["zip"] for row in rows] == [row[header.index("zip")] for row in cells] == [f"{i:04}" for i in range(60)]
    assert {row["nothing"] for row in rows} == {row[header.index("nothing")] for row in cells} == {""}
    with zipfile.ZipFile(folder / "groups.xlsx") as archive:
        for name in archive.namelist():
            assert not [part for part in ET.fromstring(archive.read(name)).iter() if part.tag.endswith("}f")]
    notes = read_summary(folder)["notes"]
    assert (
        "120 cells start like a formula: items.csv has them with a ' in front, so that no spreadsheet runs them."
        in notes
    )
