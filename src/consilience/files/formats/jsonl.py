"""One JSON object a line."""

from __future__ import annotations

import json
from numbers import Real
from pathlib import Path
from typing import Any

import numpy as np

from .source import Frame
from .text import lines, opened


def read_jsonl(path: Path, as_text: frozenset[str] = frozenset(), delimiter: str | None = None) -> Frame:  # noqa: ARG001
    """Fields become columns: numbers, texts, lists of numbers (vectors), lists of words and counts by word (bags)."""
    records = []
    with opened(path) as text:
        for number, line in enumerate(lines(path, text), 1):
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
    return Frame(path, {n: _column(path, n, [record.get(n) for record in records], n in as_text) for n in names})


def _column(path: Path, name: str, values: list[Any], as_text: bool) -> np.ndarray:
    there = [value for value in values if value is not None]
    if as_text or all(isinstance(value, str) for value in there):
        return _boxed([None if value is None else _spoken(value) for value in values])
    if all(isinstance(value, Real) for value in there):
        return np.array([np.nan if value is None else float(value) for value in values])
    if all(isinstance(value, list) and all(isinstance(one, Real) for one in value) for value in there):
        return _vectors(path, name, values)
    if all(isinstance(value, list | dict) for value in there):
        return _boxed([_bag(path, name, value) for value in values])
    return _boxed([None if value is None else _spoken(value) for value in values])


def _spoken(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _vectors(path: Path, name: str, values: list[Any]) -> np.ndarray:
    lengths = {len(value) for value in values if value}
    if len(lengths) > 1:
        raise ValueError(f"{path}: field {name!r} holds lists of {min(lengths)} and of {max(lengths)} numbers")
    empty = [np.nan] * max(lengths, default=1)
    return np.array([value or empty for value in values], dtype=np.float64)


def _bag(path: Path, name: str, value: Any) -> dict[str, float] | None:
    if value is None:
        return None
    if isinstance(value, list):
        bag: dict[str, float] = {}
        for term in value:
            bag[_spoken(term)] = bag.get(_spoken(term), 0.0) + 1.0
        return bag
    if not all(isinstance(count, Real) for count in value.values()):
        raise ValueError(f"{path}: field {name!r} holds an object whose values are no numbers: give counts by word")
    return {str(term): float(count) for term, count in value.items()}


def _boxed(values: list[Any]) -> np.ndarray:
    column = np.empty(len(values), dtype=object)
    column[:] = values
    return column
