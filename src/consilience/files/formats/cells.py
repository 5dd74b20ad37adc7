"""What stands in a cell: nothing, a number, or a text."""

from __future__ import annotations

from typing import Any

MISSING = frozenset({"", "na", "n/a", "nan", "null", "none", "?"})


def is_missing(text: str) -> bool:
    """Whether a cell among numbers says that there is none."""
    return text.strip().lower() in MISSING


def is_number(text: str) -> bool:
    """Whether a cell is a number as people write it; Python would also take 1_2."""
    try:
        float(text)
    except ValueError:
        return False
    return "_" not in text


def format_cell(value: Any) -> str:
    """A value as the text that it would be in a table: 1.0 is 1, and no digit is lost."""
    if isinstance(value, bytes):
        return value.decode("utf-8", "replace")
    if isinstance(value, float):
        return str(int(value)) if value.is_integer() else repr(value)
    return str(value)
