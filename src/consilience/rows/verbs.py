"""The verbs of `arrays` for rows that are not in memory: one pass over blocks, or a step applied when they are read."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np

from ..arrays import (
    Array,
    Scorer,
    all_rows_equal,
    build_scorer,
    map_chunks,
    map_values,
    mask_rows,
    max_abs,
    plan_reads,
    row_is_finite,
    row_sums,
    scale_rows,
    shift_rows,
    squared_norms,
    take_dense_rows,
    take_rows,
)
from .source import Source, stack_rows


def _map_blocks(X: Source, verb: Callable[[Array], Any]) -> Iterator[Any]:
    return map_chunks(lambda rows: verb(X[rows, ...]), plan_reads(X))


for verb in (squared_norms, row_sums, row_is_finite):
    verb.register(Source, lambda X, verb=verb: np.concatenate(list(_map_blocks(X, verb))))
for verb in (mask_rows, scale_rows):
    verb.register(Source, lambda X, per_row, verb=verb: X.map_blocks(verb, per_row))  # when they are read


@max_abs.register
def _(X: Source) -> float:
    return float(np.max(list(_map_blocks(X, max_abs))))  # unlike Python's, numpy's maximum keeps NaN


@all_rows_equal.register
def _(X: Source) -> bool:
    first = X.take(np.arange(min(1, X.shape[0])))

    def equals_first(block: Array) -> bool:
        return block.shape[0] == 0 or all_rows_equal(stack_rows([first, block]))

    return all(_map_blocks(X, equals_first))


@take_dense_rows.register
def _(X: Source, rows: np.ndarray) -> np.ndarray:
    return take_dense_rows(X.take(rows), np.arange(len(rows)))


@take_rows.register
def _(X: Source, rows: np.ndarray) -> Array:
    return X.take(rows)


@shift_rows.register
def _(X: Source, origin: np.ndarray) -> Source:
    return X.map_blocks(partial(shift_rows, origin=origin))


@map_values.register
def _(X: Source, function: Callable[[Array], Array]) -> Source:
    return X.map_blocks(partial(map_values, function=function))


@build_scorer.register
def _(X: Source, weights: Array, bias: Array | None = None, origin: Array | None = None) -> Scorer:
    return build_scorer(X[:0, ...], weights, bias, origin)
