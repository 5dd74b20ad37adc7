"""The spreadsheets of a run folder, from tables whose cells and headers are hostile."""

import csv

import python_calamine

from stage import FAST, FILES, list_folder, read_labels, read_summary, run_successfully, write_csv

HEADER = ["id", "cluster", "=HEAD()", "text"]
WORDS = [["oak", "chair", "wood"], ["cotton", "shirt", "sleeve"], ["steel", "knife", "blade"]]


def test_hostile_table(tmp_path):
    rows = [[f"={i}\nrow", 10 * (i % 3) + i / 60, "=cmd|' /C calc'!A0", " ".join(WORDS[i % 3])] for i in range(60)]
    table, folder = write_csv(tmp_path / "table.csv", HEADER, rows), tmp_path / "out"
    run_successfully("cluster", table, *FAST, "--out", folder)
    assert set(list_folder(folder)) == FILES
    with (folder / "items.csv").open(newline="", encoding="utf-8-sig") as file:
        rows = list(csv.DictReader(file))
    sheet = python_calamine.CalamineWorkbook.from_path(folder / "groups.xlsx").get_sheet_by_name("items")
    header, *cells = sheet.to_python()
    assert header == ["id", "group", "group number", "contested", *HEADER[1:]]
    labels = read_labels(folder)
    assert [row["id"] for row in rows] == [row["id"] for row in labels] == [f"'={i}\nrow" for i in range(60)]
    assert [row[0] for row in cells] == [f"={i}\nrow" for i in range(60)]
    assert {row["'=HEAD()"] for row in rows} == {"'=cmd|' /C calc'!A0"}
    assert {row[header.index("=HEAD()")] for row in cells} == {"=cmd|' /C calc'!A0"}
    notes = read_summary(folder)["notes"]
    assert any(note.startswith("120 cells start like a formula: items.csv has them with a '") for note in notes)
