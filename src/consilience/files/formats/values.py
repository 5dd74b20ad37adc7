"""Columns of values that may be anything: numbers, texts, lists, objects."""

from __future__ import annotations

import json
from numbers import Real
from typing import Any

import numpy as np

from .cells import format_cell, is_missing


def build_column(values: list[Any], as_text: bool) -> np.ndarray:
    """What all of them are: a string that says nothing is nothing, as in other tables."""
    values = [None if isinstance(value, str) and not value.strip() else value for value in values]
    there = [value for value in values if value is not None]
    words = [value for value in there if isinstance(value, str)]
    if as_text or len(words) == len(there):
        return _boxed([None if value is None else _as_text(value) for value in values])
    if all(is_missing(word) for word in words):
        there = [value for value in there if not isinstance(value, str)]
        values = [None if isinstance(value, str) else value for value in values]
    if all(isinstance(value, Real) for value in there):
        return np.array([_number(value) for value in values])
    if all(isinstance(value, list) and all(one is None or isinstance(one, Real) for one in value) for value in there):
        lengths = {len(value) for value in there if value}
        if len(lengths) == 1:  # lists of several lengths are no vectors but bags, of codes
            empty = [None] * lengths.pop()
            return np.array([[_number(one) for one in (value or empty)] for value in values])
    if all(_is_bag(value) for value in there):
        return _boxed([None if value is None else _bag(value) for value in values])
    return _boxed([None if value is None else _as_text(value) for value in values])


def _number(value: Any) -> float:
    try:
        return np.nan if value is None else float(value)
    except OverflowError:
        return np.inf if value > 0 else -np.inf


def _as_text(value: Any) -> str:
    if isinstance(value, list | dict | bool):
        return json.dumps(value, ensure_ascii=False)
    return format_cell(value)


def _is_bag(value: Any) -> bool:
    """A list of terms, or counts by term."""
    if isinstance(value, dict):
        return all(isinstance(count, Real) for count in value.values())
    return isinstance(value, list)


def _bag(value: Any) -> dict[str, float]:
    if isinstance(value, dict):
        return {str(term): _number(count) for term, count in value.items()}
    bag: dict[str, float] = {}
    for term in value:
        bag[_as_text(term)] = bag.get(_as_text(term), 0.0) + 1.0
    return bag


def _boxed(values: list[Any]) -> np.ndarray:
    column = np.empty(len(values), dtype=object)
    column[:] = values
    return column
