"""Names of views on the command line."""

from pathlib import Path

import pytest

from consilience.files import ViewSpec, parse_view
from consilience.files.spec import select_columns, split_columns

pytestmark = pytest.mark.quick


@pytest.mark.parametrize(
    ("text", "name", "path", "columns"),
    [
        ("f.csv", None, "f.csv", None),
        ("a=f.csv", "a", "f.csv", None),
        (" a =f.csv", "a", "f.csv", None),
        ("a=f.csv:x", "a", "f.csv", ("x",)),
        ("a=f.csv:x,y", "a", "f.csv", ("x", "y")),
        ("a=f.csv: x , y ,", "a", "f.csv", ("x", "y")),
        ("f.csv:x_*", None, "f.csv", ("x_*",)),
        ("a=f.csv:x=1", "a", "f.csv", ("x=1",)),
        ("a=b=c.csv", "a", "b=c.csv", None),
        ("d/e=f.csv", None, "d/e=f.csv", None),
        ("a=d/e=f.csv:x", "a", "d/e=f.csv", ("x",)),
        ("a=/abs/f.csv", "a", "/abs/f.csv", None),
        (r"a=C:\d\f.csv", "a", r"C:\d\f.csv", None),
        ("a=C:/d/f.csv", "a", "C:/d/f.csv", None),
        (r"a=C:\d\f.csv:x,y", "a", r"C:\d\f.csv", ("x", "y")),
        (r"C:\d\f.csv", None, r"C:\d\f.csv", None),
        ("a=f:1.csv:x", "a", "f:1.csv", ("x",)),
        ("ünï=f.csv", "ünï", "f.csv", None),
        ('"x=y"=f.csv:x', "x=y", "f.csv", ("x",)),
        ('" d/e "=f.csv', " d/e ", "f.csv", None),
        ('"a.csv', None, '"a.csv', None),
    ],
)
def test_name_file_and_columns(text, name, path, columns):
    assert parse_view(text) == ViewSpec(name, Path(path), columns)


@pytest.mark.parametrize("file", ["a=1.csv", "a:1.csv", "a=b:c.csv"])
def test_existing_file_name_is_not_parsed(tmp_path, monkeypatch, file):
    monkeypatch.chdir(tmp_path)
    Path(file).write_text("x\n1\n")
    assert parse_view(file) == ViewSpec(None, Path(file))
    assert parse_view(f"name={file}") == ViewSpec("name", Path(file))


def test_existing_file_name_with_columns(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("a=1.csv").write_text("x\n1\n")
    assert parse_view("a=1.csv:x") == ViewSpec(None, Path("a=1.csv"), ("x",))


@pytest.mark.parametrize("text", ["=f.csv", "  =f.csv"])
def test_missing_view_name_is_refused(text):
    with pytest.raises(ValueError, match=r"named as NAME=FILE, got '.*': the name is missing"):
        parse_view(text)


@pytest.mark.parametrize("text", ["a=", "a=  ", "", "  "])
def test_missing_file_after_name_is_refused(text):
    with pytest.raises(ValueError, match=r"named as NAME=FILE, got '.*': the file is missing"):
        parse_view(text)


@pytest.mark.parametrize("text", ["a=f.csv:", "f.csv:", "f.csv:,", "a=f.csv: , "])
def test_missing_columns_are_refused(text):
    with pytest.raises(ValueError, match=r"ends in a colon: name the columns after it, or leave it out"):
        parse_view(text)


def test_missing_columns_after_short_name_are_refused():
    with pytest.raises(ValueError, match=r"ends in a colon"):
        parse_view("a=f:")


def test_windows_path_may_contain_equals_sign():
    assert parse_view(r"C:\d\a=1.csv") == ViewSpec(None, Path(r"C:\d\a=1.csv"))


@pytest.mark.parametrize("start", ["a=f.csv", "f.csv", "a=d/f.csv"])
def test_several_columns_can_be_named(start):
    columns = tuple(f"column{i}" for i in range(600))
    assert parse_view(f"{start}:{','.join(columns)}").columns == columns


def test_origin_repeats_the_argument():
    assert parse_view("a=d/f.csv:x,y").origin == "d/f.csv:x,y"
    assert parse_view("a=d/f.csv").origin == "d/f.csv"


def test_leading_colon_is_part_of_file_name():
    assert split_columns(":x") == (Path(":x"), None)


COLUMNS = ["id", "pixel_1", "pixel_2", "a[0]", "*", "Pixel_3"]


@pytest.mark.parametrize(
    ("patterns", "selected"),
    [
        (None, ["pixel_1", "pixel_2", "a[0]", "*", "Pixel_3"]),
        (["pixel_*"], ["pixel_1", "pixel_2"]),
        (["pixel_?", "pixel_1"], ["pixel_1", "pixel_2"]),
        (["pixel_2", "pixel_*"], ["pixel_2", "pixel_1"]),
        (["a[0]"], ["a[0]"]),
        (["*"], ["*"]),
        (["*_*"], ["pixel_1", "pixel_2", "Pixel_3"]),
        (["id"], ["id"]),
    ],
)
def test_columns_are_selected_by_name_then_by_pattern(patterns, selected):
    assert select_columns(Path("f.csv"), patterns, COLUMNS, {"id"}) == selected


def test_pattern_never_selects_id():
    with pytest.raises(ValueError, match=r"f\.csv has no column 'i\?'; it has 'id', 'pixel_1'"):
        select_columns(Path("f.csv"), ["i?"], COLUMNS, {"id"})


def test_unknown_column_is_refused():
    with pytest.raises(ValueError, match=r"f\.csv has no column 'y'; it has 'c0', 'c1', .*'c11' and 8 more"):
        select_columns(Path("f.csv"), ["y"], [f"c{i}" for i in range(20)], set())


@pytest.mark.parametrize(
    ("text", "remedy"),
    [("caf\udce9=x.csv", "choose another name"), ("folder/caf\udce9.csv", "name the view, as in NAME=FILE")],
)
def test_names_that_are_not_utf8_are_refused(text, remedy):
    with pytest.raises(ValueError, match=rf"the name of the view 'caf\\udce9' is not valid UTF-8: {remedy}"):
        parse_view(text)


def test_files_whose_names_are_not_utf8_are_accepted():
    assert parse_view("cafe=caf\udce9.csv") == ViewSpec("cafe", Path("caf\udce9.csv"))
