"""The verbs on rows that are not in memory: one pass over their blocks, or a step to be taken when they are read."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import TypeVar

import numpy as np

from .lazy import Source, plan_reads
from .namespace import Array
from .parallel import map_chunks
from .verbs import (
    Scorer,
    dense_rows,
    largest,
    map_values,
    only_rows,
    row_is_finite,
    row_sums,
    rows_are_same,
    scale_rows,
    scorer,
    shifted,
    squared_norms,
    take_rows,
)

T = TypeVar("T")


def _over_blocks(X: Source, verb: Callable[[Array], T]) -> Iterator[T]:
    return map_chunks(lambda rows: verb(X[rows, ...]), plan_reads(X))


@squared_norms.register
def _(X: Source) -> np.ndarray:
    return np.concatenate(list(_over_blocks(X, squared_norms)))


@row_sums.register
def _(X: Source) -> np.ndarray:
    return np.concatenate(list(_over_blocks(X, row_sums)))


@row_is_finite.register
def _(X: Source) -> np.ndarray:
    return np.concatenate(list(_over_blocks(X, row_is_finite)))


@largest.register
def _(X: Source) -> float:
    return float(np.max(list(_over_blocks(X, largest))))  # unlike Python's, numpy's maximum keeps NaN


@rows_are_same.register
def _(X: Source) -> bool:
    first = X[:1, ...]

    def same(block: Array) -> bool:
        return rows_are_same(block) and (block.shape[0] == 0 or _equal(block[:1, ...], first))

    return all(_over_blocks(X, same))


def _equal(one: Array, other: Array) -> bool:
    """Whether two single rows hold the same."""
    everything = np.arange(1)
    return bool(np.all(dense_rows(one, everything) == dense_rows(other, everything)))


@dense_rows.register
def _(X: Source, rows: np.ndarray) -> np.ndarray:
    return dense_rows(X.take(rows), np.arange(len(rows)))


@take_rows.register
def _(X: Source, rows: np.ndarray) -> Array:
    return X.take(rows)


@only_rows.register
def _(X: Source, kept: np.ndarray) -> Source:
    return X.mapped(only_rows, kept)


@scale_rows.register
def _(X: Source, factors: np.ndarray) -> Source:
    return X.mapped(scale_rows, factors)


@shifted.register
def _(X: Source, origin: np.ndarray) -> Source:
    return X.mapped(partial(shifted, origin=origin))


@map_values.register
def _(X: Source, function: Callable[[Array], Array]) -> Source:
    return X.mapped(partial(map_values, function=function))


@scorer.register
def _(X: Source, weights: Array, bias: Array | None = None, origin: Array | None = None) -> Scorer:
    return scorer(X[:0, ...], weights, bias, origin)
