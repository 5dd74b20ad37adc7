"""Names of views on the command line."""

from pathlib import Path

import pytest

from consilience.files import ViewSpec, parse_view
from consilience.files.spec import select_columns, split_columns

pytestmark = pytest.mark.quick


def test_name_file_and_columns():
    for text, name, path, columns in (
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
        (r"C:\d\a=1.csv", None, r"C:\d\a=1.csv", None),
        ("a=f:1.csv:x", "a", "f:1.csv", ("x",)),
        ("ünï=f.csv", "ünï", "f.csv", None),
        ('"x=y"=f.csv:x', "x=y", "f.csv", ("x",)),
        ('" d/e "=f.csv', " d/e ", "f.csv", None),
        ('"a.csv', None, '"a.csv', None),
        ("cafe=caf\udce9.csv", "cafe", "caf\udce9.csv", None),
    ):
        assert parse_view(text) == ViewSpec(name, Path(path), columns)
    assert split_columns(":x") == (Path(":x"), None)


def test_existing_file_name_is_not_parsed(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for file in ("a=1.csv", "a:1.csv", "a=b:c.csv"):
        Path(file).write_text("x\n1\n")
        assert parse_view(file) == ViewSpec(None, Path(file))
        assert parse_view(f"name={file}") == ViewSpec("name", Path(file))
    assert parse_view("a=1.csv:x") == ViewSpec(None, Path("a=1.csv"), ("x",))


@pytest.mark.parametrize(
    ("texts", "message"),
    [
        (["=f.csv", "  =f.csv"], r"named as NAME=FILE, got '.*': the name is missing"),
        (["a=", "a=  ", "", "  "], r"named as NAME=FILE, got '.*': the file is missing"),
        (["a=f.csv:", "f.csv:", "f.csv:,", "a=f.csv: , ", "a=f:"], "ends in a colon: name the columns after it, or"),
        (["caf\udce9=x.csv"], r"name of the view 'caf\\udce9' is not valid UTF-8: choose another name"),
        (["folder/caf\udce9.csv"], r"name of the view 'caf\\udce9' is not valid UTF-8: name the view, as in NAME=FILE"),
    ],
)
def test_incomplete_arguments_are_refused(texts, message):
    for text in texts:
        with pytest.raises(ValueError, match=message):
            parse_view(text)


def test_many_columns_can_be_named_and_origin_repeats_the_argument():
    columns = tuple(f"column{i}" for i in range(600))
    for start in ("a=f.csv", "f.csv", "a=d/f.csv"):
        assert parse_view(f"{start}:{','.join(columns)}").columns == columns
    assert parse_view("a=d/f.csv:x,y").origin == "d/f.csv:x,y"
    assert parse_view("a=d/f.csv").origin == "d/f.csv"


COLUMNS = ["id", "pixel_1", "pixel_2", "a[0]", "*", "Pixel_3"]


def test_columns_are_selected_by_name_then_by_pattern():
    for patterns, selected in (
        (None, ["pixel_1", "pixel_2", "a[0]", "*", "Pixel_3"]),
        (["pixel_*"], ["pixel_1", "pixel_2"]),
        (["pixel_?", "pixel_1"], ["pixel_1", "pixel_2"]),
        (["pixel_2", "pixel_*"], ["pixel_2", "pixel_1"]),
        (["a[0]"], ["a[0]"]),
        (["*"], ["*"]),
        (["*_*"], ["pixel_1", "pixel_2", "Pixel_3"]),
        (["id"], ["id"]),
    ):
        assert select_columns(Path("f.csv"), patterns, COLUMNS, {"id"}) == selected


def test_unknown_column_is_refused_and_a_pattern_never_selects_the_id():
    with pytest.raises(ValueError, match=r"f\.csv has no column 'i\?'; it has 'id', 'pixel_1'"):
        select_columns(Path("f.csv"), ["i?"], COLUMNS, {"id"})
    with pytest.raises(ValueError, match=r"f\.csv has no column 'y'; it has 'c0', 'c1', .*'c11' and 8 more"):
        select_columns(Path("f.csv"), ["y"], [f"c{i}" for i in range(20)], set())
