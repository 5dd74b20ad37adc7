"""Rows cut into neighbouring slices."""

from __future__ import annotations

from itertools import pairwise


def split_slice(rows: slice, n_parts: int) -> list[slice]:
    """`n_parts` neighbouring slices of nearly the same length."""
    n = rows.stop - rows.start
    edges = [rows.start + n * i // n_parts for i in range(n_parts + 1)]
    return [slice(a, b) for a, b in pairwise(edges)]
