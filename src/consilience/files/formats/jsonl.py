"""JSON Lines: one JSON object per line."""

from __future__ import annotations

import json

from .base import FileFormat, FileTable, InputFile, TableOptions
from .columns import to_column
from .text import open_text, read_lines


def read_jsonl(path: InputFile, options: TableOptions) -> FileTable:
    """Read fields as columns: numbers, texts, lists of numbers (vectors), lists of words or counts by word (bags)."""
    records = []
    with open_text(path) as text:
        for number, line in enumerate(read_lines(path, text), 1):
            if not line.strip():
                continue
            try:
                record = json.loads(line)
            except (ValueError, RecursionError) as error:
                raise ValueError(f"{path}: line {number} is not valid JSON: {error}") from error
            if type(record) is not dict:
                raise ValueError(f"{path}: line {number} holds no object {{...}} but a {type(record).__name__}")
            records.append(record)
    if not records:
        raise ValueError(f"{path} is empty: it must hold one JSON object per line")
    names = dict.fromkeys(name for record in records for name in record)
    return FileTable(
        {name: to_column([record.get(name) for record in records], name in options.as_text) for name in names}
    )


FORMAT = FileFormat((".jsonl", ".ndjson"), read_jsonl, is_table=True, detect=lambda start: start.startswith(b"{"))
