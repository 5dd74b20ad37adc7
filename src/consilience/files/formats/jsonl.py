"""JSON: one object per line, or a file with an array of objects."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from typing import Any

from .base import FileFormat, FileTable, InputFile, TableOptions
from .columns import to_column
from .marks import interpret_texts
from .text import open_text, read_lines, read_text

ARRAY_OF_OBJECTS = re.compile(rb"\[\s*\{")


def read_jsonl(path: InputFile, options: TableOptions) -> FileTable:
    """Read fields as columns: numbers, texts, lists of numbers (vectors), lists of words or counts by word (bags)."""
    with open_text(path) as text:
        return _collect_fields(path, _parse_lines(path, read_lines(path, text)), options)


def read_json_table(path: InputFile, options: TableOptions) -> FileTable:
    """Read an array of objects like JSON Lines, or an object with a list per column.

    A file with an object per line is read as JSON Lines.
    """
    with open_text(path) as text:
        whole = read_text(path, text)
    if not whole.strip():
        raise ValueError(f"{path} is empty: it must hold an array with an object per row")
    try:
        content = json.loads(whole)
    except (ValueError, RecursionError) as error:
        if str(error).startswith("Extra data"):
            return _collect_fields(path, _parse_lines(path, whole.splitlines()), options)
        raise ValueError(f"{path} is not valid JSON: {error}") from error
    columns = _find_columns(content)
    if columns is not None:
        return _interpret(columns, options)
    records = _find_records(content)
    if records is None:
        raise ValueError(
            f"{path} holds {_describe_content(content)}: a table is an array with an object per row, "
            '[{"name": "a", "size": 1}, ...], as pandas writes it by to_json(path, orient="records")'
        )
    return _collect_fields(path, records, options)


def _parse_lines(path: InputFile, lines: Iterable[str]) -> list[dict[str, Any]]:
    """Parse an object per line."""
    records = []
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        try:
            record = json.loads(line)
        except (ValueError, RecursionError) as error:
            raise ValueError(f"{path}: line {number} is not valid JSON: {error}") from error
        if type(record) is not dict:
            raise ValueError(f"{path}: line {number} holds no object {{...}} but a {type(record).__name__}")
        records.append(record)
    return records


def _collect_fields(path: InputFile, records: list[dict[str, Any]], options: TableOptions) -> FileTable:
    if not records:
        raise ValueError(f"{path} is empty: it must hold one JSON object per line")
    names = dict.fromkeys(name for record in records for name in record)
    return _interpret({name: [record.get(name) for record in records] for name in names}, options)


def _interpret(columns: dict[str, list[Any]], options: TableOptions) -> FileTable:
    """Build columns by the types of their values, and texts as in a CSV file."""
    converted = {name: to_column(values, name in options.as_text) for name, values in columns.items()}
    return interpret_texts(converted, options.as_text)


def _find_columns(content: Any) -> dict[str, list[Any]] | None:
    """Return the columns of an object of lists of one length; None if some could be the rows of a table."""
    if type(content) is not dict or not content or any(type(values) is not list for values in content.values()):
        return None
    if {"columns", "data"} <= content.keys():  # as pandas splits a frame
        return None
    lengths = {len(values) for values in content.values()}
    has_rows = any(_are_records(values) for values in content.values())
    return None if len(lengths) > 1 or 0 in lengths or has_rows else content


def _find_records(content: Any) -> list[dict[str, Any]] | None:
    """Return the objects of an array, or of the only array in an object such as {"data": [...]}."""
    if type(content) is dict:
        lists = [values for values in content.values() if type(values) is list]
        content = lists[0] if len(lists) == 1 else None
    return content if _are_records(content) else None


def _are_records(content: Any) -> bool:
    return type(content) is list and bool(content) and all(type(record) is dict for record in content)


def _describe_content(content: Any) -> str:
    match content:
        case list() if content:
            other = next(type(element).__name__ for element in content if type(element) is not dict)
            return f"an array with an element that is no object but a {other}"
        case dict() if content:
            names = list(content)
            return f"an object with the keys {', '.join(map(repr, names[:5]))}{', ...' if len(names) > 5 else ''}"
        case list() | dict():
            return "nothing"
    return f"a single {type(content).__name__}"


FORMAT = FileFormat((".jsonl", ".ndjson"), read_jsonl, is_table=True, detect=lambda start: start.startswith(b"{"))
JSON = FileFormat(
    (".json",), read_json_table, is_table=True, detect=lambda start: ARRAY_OF_OBJECTS.match(start) is not None
)
