"""JSON lines: each field becomes a column."""

import json

import numpy as np
import pytest

from consilience.files.formats import read_file


@pytest.mark.parametrize("ending", ["jsonl", "ndjson"])
def test_fields_are_columns_in_order_of_occurrence(put, ending):
    frame = read_file(put(f"t.{ending}", [{"b": 1, "a": "x"}, {"c": True, "b": 2.5}]))
    assert list(frame.columns) == ["b", "a", "c"]
    np.testing.assert_array_equal(frame.columns["b"], [1, 2.5])
    assert frame.columns["a"].tolist() == ["x", None]
    np.testing.assert_array_equal(frame.columns["c"], [np.nan, 1])


NAN = np.nan
COLUMNS = {
    "null": ([1, None, -2.5], [1, NAN, -2.5]),
    "null among strings": (["a", None], ["a", None]),
    "empty string": (["a", "", " "], ["a", None, None]),
    "strings": (["007", "1e5", 'ü,\n"', "😀"], ["007", "1e5", 'ü,\n"', "😀"]),
    "vectors": ([[1, 2.5], None, [], [3, 4]], [[1, 2.5], [NAN, NAN], [NAN, NAN], [3, 4]]),
    "null within a vector": ([[1.5, None], [2, 3]], [[1.5, NAN], [2, 3]]),
    "lists of words": ([["b", "a", "b"], None, []], [{"b": 2.0, "a": 1.0}, None, {}]),
    "lists of codes": ([[1, 2], [3]], [{"1": 1.0, "2": 1.0}, {"3": 1.0}]),
    "counts": ([{"a": 2, "b": 0.5}, None, ["a"]], [{"a": 2.0, "b": 0.5}, None, {"a": 1.0}]),
    "objects without counts": ([{"a": "b"}, {"a": 1}], ['{"a": "b"}', '{"a": 1}']),
    "mixture": ([1, "two", [3], True, None], ["1", "two", "[3]", "true", None]),
    "overflow": ([10**400, -(10**400), 1], [np.inf, -np.inf, 1]),
}


@pytest.mark.parametrize(("values", "expected"), COLUMNS.values(), ids=COLUMNS)
def test_fields_are_read_by_their_values(put, values, expected):
    for ensure_ascii in (True, False):
        lines = "".join(json.dumps({"x": value}, ensure_ascii=ensure_ascii) + "\n" for value in values)
        column = read_file(put("t.jsonl", lines)).columns["x"]
        np.testing.assert_array_equal(column.tolist(), expected)


def test_field_read_as_text_is_text_and_blank_lines_and_marks_do_not_matter(put):
    path = put("t.jsonl", b'\xef\xbb\xbf{"id": 7, "x": 7}\r\n\r\n  \n{"id": "007", "x": 8}')
    columns = read_file(path, frozenset({"id"})).columns
    assert (columns["id"].tolist(), columns["x"].tolist()) == (["7", "007"], [7, 8])


def test_invalid_line_is_named(put):
    for line in ("{", '{"x": }', "{'x': 1}", '{"x": 1} {"x": 2}', "x", "[" * 100_000):
        with pytest.raises(ValueError, match=r"t\.jsonl: line 3 is not valid JSON: "):
            read_file(put("t.jsonl", f'{{"x": 1}}\n\n{line}\n'))
    for line, what in (("[1]", "list"), ("1", "int"), ('"a"', "str"), ("null", "NoneType")):
        with pytest.raises(ValueError, match=rf"t\.jsonl: line 2 holds no object {{\.\.\.}} but a {what}"):
            read_file(put("t.jsonl", f'{{"x": 1}}\n{line}\n'))
    with pytest.raises(ValueError, match=r"t\.jsonl is empty: it must hold one JSON object per line"):
        read_file(put("t.jsonl", "\n \n"))


def test_unused_field_may_hold_anything(put, content):
    path = put("t.jsonl", [{"x": i / 2, "other": {"a": "b"}} for i in range(5)])
    np.testing.assert_array_equal(content(f"{path}:x").data[0].ravel(), np.arange(5) / 2)


def test_missing_number_may_be_spelled_as_in_table(put, content):
    columns = content(put("t.jsonl", [*({"x": i / 2} for i in range(60)), *({"x": x} for x in ("NA", "", "?"))]))
    assert columns.kind == "numbers"
    np.testing.assert_array_equal(columns.data[0].ravel(), [*np.arange(60) / 2, np.nan, np.nan, np.nan])


def test_json_of_another_form_is_refused(put):
    for content, what in (
        ([], "nothing"),
        ({}, "nothing"),
        (7, "a single int"),
        ([1, 2], "an array with an element that is no object but a int"),
        ([{"x": 1}, [2]], "an array with an element that is no object but a list"),
        ({"x": 1}, "an object with the keys 'x'"),
        ({"p1": {"x": 1}, "p2": {"x": 2}}, "an object with the keys 'p1', 'p2'"),
        ({"x": [1, 2], "y": [3]}, "an object with the keys 'x', 'y'"),
        ({"columns": ["x"], "index": [0], "data": [[1]]}, "an object with the keys 'columns', 'index', 'data'"),
        ({"data": [{"x": 1}], "other": [{"y": 2}]}, "an object with the keys 'data', 'other'"),
        ({"data": [{"x": 1}, {"x": 2}], "codes": [1, 2]}, "an object with the keys 'data', 'codes'"),
        (dict.fromkeys("abcdefg", 1), "an object with the keys 'a', 'b', 'c', 'd', 'e', ..."),
    ):
        with pytest.raises(ValueError, match=rf"t\.json holds {what}: a table is an array with an object per row"):
            read_file(put("t.json", json.dumps(content)))


def test_broken_json_is_refused(put):
    with pytest.raises(ValueError, match=r"t\.json is not valid JSON: Expecting"):
        read_file(put("t.json", '[{"x": 1},'))
    with pytest.raises(ValueError, match=r"t\.json: line 2 is not valid JSON: Expecting"):
        read_file(put("t.json", '{"x": 1}\n{"x": \n'))
    with pytest.raises(ValueError, match=r"t\.json is empty: it must hold an array with an object per row"):
        read_file(put("t.json", " \n"))
    with pytest.raises(ValueError, match=r"t\.json is not UTF-8 near line 2: save it as UTF-8"):
        read_file(put("t.json", b'[\n{"x": "\xe9"}]'))
