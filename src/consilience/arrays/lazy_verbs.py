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
    all_rows_equal,
    build_scorer,
    map_values,
    mask_rows,
    max_abs,
    row_is_finite,
    row_sums,
    scale_rows,
    shift_rows,
    squared_norms,
    take_dense_rows,
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


@max_abs.register
def _(X: Source) -> float:
    return float(np.max(list(_over_blocks(X, max_abs))))  # unlike Python's, numpy's maximum keeps NaN


@all_rows_equal.register
def _(X: Source) -> bool:
    first = X[:1, ...]

    def same(block: Array) -> bool:
        return all_rows_equal(block) and (block.shape[0] == 0 or _equal(block[:1, ...], first))

    return all(_over_blocks(X, same))


def _equal(one: Array, other: Array) -> bool:
    """Whether two single rows hold the same."""
    everything = np.arange(1)
    return bool(np.all(take_dense_rows(one, everything) == take_dense_rows(other, everything)))


@take_dense_rows.register
def _(X: Source, rows: np.ndarray) -> np.ndarray:
    return take_dense_rows(X.take(rows), np.arange(len(rows)))


@take_rows.register
def _(X: Source, rows: np.ndarray) -> Array:
    return X.take(rows)


@mask_rows.register
def _(X: Source, kept: np.ndarray) -> Source:
    return X.mapped(mask_rows, kept)


@scale_rows.register
def _(X: Source, factors: np.ndarray) -> Source:
    return X.mapped(scale_rows, factors)


@shift_rows.register
def _(X: Source, origin: np.ndarray) -> Source:
    return X.mapped(partial(shift_rows, origin=origin))


@map_values.register
def _(X: Source, function: Callable[[Array], Array]) -> Source:
    return X.mapped(partial(map_values, function=function))


@build_scorer.register
def _(X: Source, weights: Array, bias: Array | None = None, origin: Array | None = None) -> Scorer:
    return build_scorer(X[:0, ...], weights, bias, origin)
