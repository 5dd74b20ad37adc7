"""One JSON object a line."""

from __future__ import annotations

import json

from .inputs import InputFile
from .source import FileTable
from .text import open_text, read_lines
from .values import build_column


def read_jsonl(path: InputFile, as_text: frozenset[str] = frozenset(), delimiter: str | None = None) -> FileTable:  # noqa: ARG001
    """Fields become columns: numbers, texts, lists of numbers (vectors), lists of words and counts by word (bags)."""
    records = []
    with open_text(path) as text:
        for number, line in enumerate(read_lines(path, text), 1):
            if not line.strip():
                continue
            try:
                record = json.loads(line)
            except (ValueError, RecursionError) as error:
                raise ValueError(f"{path}: line {number} is no JSON: {error}") from error
            if not isinstance(record, dict):
                raise ValueError(f"{path}: line {number} holds no object {{...}} but a {type(record).__name__}")
            records.append(record)
    if not records:
        raise ValueError(f"{path} is empty: it must hold one JSON object a line")
    names = list(dict.fromkeys(name for record in records for name in record))
    return FileTable(
        path, {name: build_column([record.get(name) for record in records], name in as_text) for name in names}
    )
