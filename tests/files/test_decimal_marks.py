"""The decimal mark is a property of the table: 1.157 is 1157 where other cells have decimal commas."""

import numpy as np
import pandas as pd
import pytest

import consilience as cs
from consilience.files import InputFiles, ModelViews, parse_view, read_files
from consilience.files.formats import read_file
from consilience.files.objects import read_object

N = 12
SIZES = [976, 1157, 2300, 84] * 3  # as they are meant
ENGLISH_SIZES = [976, 1.157, 2.3, 84] * 3
GERMAN_SIZES = ["976", "1.157", "2.300", "84"] * 3
PRICES = ["12,5", "1.234,56", "7,25", "0,5"] * 3


def join_lines(columns, mark=";"):
    header = mark.join(columns)
    cells = zip(*columns.values(), strict=True)
    rows = [mark.join(f'"{cell}"' if mark in cell else cell for cell in row) for row in cells]
    return "\n".join([header, *rows, ""])


def read_sizes(source, name="size"):
    return (source if hasattr(source, "columns") else read_file(source)).columns[name].tolist()


@pytest.mark.parametrize("mark", [";", ",", "\t"])
def test_other_columns_show_decimal_comma(put, mark):
    for prices in (PRICES, ["12,50 €", "7,25 €"] * 6, ["12,5", "k.A."] + ["3,75"] * 10):
        assert read_sizes(put("t.csv", join_lines({"price": prices, "size": GERMAN_SIZES}, mark))) == SIZES


def test_other_columns_show_decimal_point(put):
    for prices in (["12.5", "3"] * 6, ["1,234.56", "7.25"] * 6, ["0.125", "7"] * 6, ["$12.50"] * 12):
        columns = {"price": prices, "size": GERMAN_SIZES}
        assert read_sizes(put("t.csv", join_lines(columns))) == ENGLISH_SIZES
    columns = {"price": ["12,50 €", "1.234,56 €"] * 6, "weight": ["0.5", "12.25"] * 6, "size": GERMAN_SIZES}
    assert read_sizes(put("t.csv", join_lines(columns))) == ENGLISH_SIZES  # prices count less than plain numbers


@pytest.mark.parametrize("row", [0, 5000, 9999])
def test_single_cell_anywhere_shows_the_mark(put, row):
    prices, sizes = ["3"] * 10_000, [*["976"] * 9999, "1.157"]
    prices[row] = "12,5"
    assert read_sizes(put("t.csv", join_lines({"price": prices, "size": sizes})))[-2:] == [976, 1157]


def test_note_says_how_numbers_were_read(put, read):
    path = put("t.csv", join_lines({"price": PRICES, "size": GERMAN_SIZES, "area": GERMAN_SIZES}))
    note = f"{path}: decimal comma, as in '12,5' (column 'price'): '1.157' is read as 1157."
    assert [each for each in read(path).notes if "decimal comma" in each] == [note]
    assert not any("decimal" in each for each in read(f"{path}:-size,-area").notes)
    reading = read(f"{path}:size")
    assert reading.contents[0].data[0].ravel().tolist() == SIZES
    assert note in reading.notes
    (view,) = read(put("t.csv", join_lines({"price": PRICES, "size": [*GERMAN_SIZES[:-1], "k.A."]}))).contents
    np.testing.assert_array_equal(view.data[0][:, 1], [*SIZES[:-1], np.nan])  # few words do not change the mark


AMBIGUOUS = {
    "alone": {},
    "whole": {"count": ["3", "4"] * 6},
    "contradictory": {"a": ["12,5", "7,25"] * 6, "b": ["12.5", "7.25"] * 6},
    "prices": {"fee": ["5 €", "6 €"] * 6},
}


@pytest.mark.parametrize("others", AMBIGUOUS.values(), ids=AMBIGUOUS)
def test_numbers_are_refused_if_a_file_with_semicolons_does_not_show_the_mark(put, read, others):
    advice = r"write its numbers with a decimal point and without thousands separators \(1157 or 1\.1570\)"
    message = rf"column 'size': '1\.157' in row 2 may be 1\.157 or 1157: {advice}"
    for sizes in (GERMAN_SIZES, [*GERMAN_SIZES[:-1], "k.A."]):
        path = put("t.csv", join_lines({"size": sizes, "other": ["6", "5", "4"] * 4, **others}))
        with pytest.raises(ValueError, match=message):
            read(path)
        assert {column for view in read(f"{path}:-size").contents for column in view.columns} == {"other", *others}
    for mark in (",", "\t"):  # which are not those of countries with decimal commas
        path = put("t.csv", join_lines({"size": GERMAN_SIZES, "count": ["3"] * N}, mark))
        assert read_sizes(path) == ENGLISH_SIZES


def test_described_columns_follow_the_table(put, read):
    columns = {"price": PRICES, "size": GERMAN_SIZES, "x": ["1", "2", "4"] * 4}
    reading = read(put("t.csv", join_lines(columns)), describe=["size"])
    assert reading.descriptions[0].values.tolist() == SIZES
    with pytest.raises(ValueError, match=r"column 'size': '1\.157' in row 2 may be 1\.157 or 1157"):
        read(put("u.csv", join_lines({"size": GERMAN_SIZES, "x": columns["x"]})), describe=["size"])


def test_ids_and_labels_are_texts(put, read):
    columns = {"id": [f"{i + 1}.{157 + i}" for i in range(N)], "price": PRICES, "size": GERMAN_SIZES}
    reading = read(put("t.csv", join_lines(columns)), labels="size")
    assert reading.contents[0].ids.tolist() == columns["id"]
    assert reading.contents[0].columns == ("price",)


def test_thousands_may_be_separated_by_blanks_and_apostrophes(put, read):
    for blank in (" ", "\u00a0", "\u202f", "'", "\u2019"):
        columns = {"price": [f"1{blank}157,5", "7,25"] * 6, "size": [f"1{blank}157", "976"] * 6}
        (view,) = read(put("t.csv", join_lines(columns))).contents
        assert view.data[0][:2].tolist() == [[1157.5, 1157], [7.25, 976]]


def test_texts_in_frames_follow_the_same_rule():
    columns = {"price": PRICES, "size": GERMAN_SIZES, "real": [1.157, 2.3, 0.5] * 4}
    for table in (read_object("data", pd.DataFrame(columns)), read_object("data", cs.Table(columns))):
        assert read_sizes(table) == SIZES
        assert read_sizes(table, "real") == columns["real"]
    assert read_sizes(read_object("data", pd.DataFrame(columns)[["size", "real"]])) == ENGLISH_SIZES


def read_as_in_the_fit(fit, *views):
    model = ModelViews.from_contents(fit.contents)
    with InputFiles() as inputs:
        specs = [spec for view in views for spec in model.find_views(parse_view(str(view)), inputs)]
        return read_files(specs, kinds=model.kinds, readings=model.readings, inputs=inputs)


def test_new_rows_are_read_with_the_mark_of_the_fit(put, read, tmp_path):
    fit = read(put("t.csv", join_lines({"price": PRICES, "size": GERMAN_SIZES, "count": ["84", "12", "9"] * 4})))
    new = {"price": ["1.234"], "size": ["1.157"], "count": ["2.300"]}  # no cell of which shows the mark
    expected = [[1234, 1157, 2300]]
    assert read_as_in_the_fit(fit, put("new.csv", join_lines(new))).contents[0].data[0].tolist() == expected
    assert read_as_in_the_fit(fit, put("new.tsv", join_lines(new, "\t"))).contents[0].data[0].tolist() == expected
    pd.DataFrame({"price": [1.234], "size": [1157], "count": [1.157]}).to_parquet(tmp_path / "new.parquet")
    (view,) = read_as_in_the_fit(fit, tmp_path / "new.parquet").contents
    assert view.data[0].tolist() == [[1.234, 1157, 1.157]]
    fit = read(put("t.csv", join_lines({"price": ["12.5", "3.25"] * 6, "size": GERMAN_SIZES})))
    (view,) = read_as_in_the_fit(fit, put("new.csv", join_lines({"price": ["1.234"], "size": ["1.157"]}))).contents
    assert view.data[0].tolist() == [[1.234, 1.157]]


@pytest.mark.parametrize("source", ["csv", "frame"])
def test_new_rows_are_read_as_in_the_fit_whatever_mark_another_column_shows(put, read, source):
    sizes = ["1.157", "3.4", "2.25"] * 4
    fit = read(put("t.csv", join_lines({"size": sizes, "count": ["1", "2", "4"] * 4})))
    new = {"size": ["1.157", "976"], "count": ["1", "2"], "other": ["1,5", "2,5"]}
    path = put("new.csv", join_lines(new))
    if source == "frame":
        path = path.with_name("new.parquet")
        pd.DataFrame(new).to_parquet(path)
    reading = read_as_in_the_fit(fit, path)
    assert reading.contents[0].data[0].tolist() == [[1.157, 1], [976, 2]]
    assert not any("decimal" in note for note in reading.notes)


def test_lists_of_whole_numbers_do_not_outweigh_numbers_with_points(put, read):
    columns = {"x": ["-0.123", "2.5"] * 6, "size": ["43.952", "12.340"] * 6}
    path = put("t.csv", join_lines({**columns, "pair": ["3,4", "12,1"] * 6}, ","))
    assert read_sizes(path) == [43.952, 12.34] * 6
    assert read(f"{path}:x,size").contents[0].data[0][0].tolist() == [-0.123, 43.952]
    with pytest.raises(ValueError, match=r"column 'size': '43\.952' in row 1 may be 43\.952 or 43952"):
        read(put("u.csv", join_lines({**columns, "a": ["3,4", "12,1"] * 6, "b": ["0,5", "7,25"] * 6}, ",")))
