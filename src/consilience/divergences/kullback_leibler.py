"""Kullback-Leibler divergence of counts or proportions."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from .._saving import save_as
from ..arrays import Array, KernelRows, map_values, namespace, row_sums, stored_values
from .base import NoDivergenceError, PairDivergence, ProductMeasure, to_float64


@save_as("divergence-kullback-leibler")
@dataclass(frozen=True)
class KullbackLeibler(PairDivergence):
    """``sum x log(x / y) - x + y`` over the columns; on rows that sum to one, the divergence of two distributions.

    As a mixture's component: Poisson, or multinomial if all rows have the same sum. A column that is zero in y but not
    in x would make the divergence infinite, so a smoothing constant is added to all rows if the view has zeros; sparse
    rows stay sparse.

    Parameters
    ----------
    smoothing : float, optional
        Added to all entries. By default 0 if no entry is zero, and otherwise the mean of all entries: as much as one
        more row would add, spread evenly.

    Examples
    --------
    >>> import numpy as np
    >>> import consilience as cs
    >>> X = np.array([[2.0, 2.0], [1.0, 3.0]])
    >>> measure = cs.divergences.KullbackLeibler().learn(X)
    >>> divergences = -measure.tile(measure.points(X), measure.exemplars(X))
    >>> divergences[[0, 1], [1, 0]].round(4).tolist()
    [0.5754, 0.5232]
    """

    smoothing: float | None = None

    def __post_init__(self) -> None:
        if self.smoothing is not None and not 0 <= self.smoothing < np.inf:
            raise NoDivergenceError(f"smoothing={self.smoothing!r} must be 0 or more")

    def learn(self, X: Array) -> KullbackLeiblerMeasure:
        refuse_negative_counts(X)
        n_cells = X.shape[0] * X.shape[1]
        values = stored_values(X)
        xp = namespace(values)
        filled = int(xp.count_nonzero(values)) == n_cells
        mean = float(xp.sum(values, dtype=xp.float64)) / n_cells
        if not filled and self.smoothing == 0:
            raise NoDivergenceError(
                "smoothing=0 puts rows infinitely far from those that have a zero where they have none: give "
                "smoothing= a number above 0, or leave it out"
            )
        default = 0.0 if filled else mean or 1.0
        return KullbackLeiblerMeasure(default if self.smoothing is None else float(self.smoothing))


@save_as("measure-kullback-leibler")
@dataclass(frozen=True, eq=False)
class KullbackLeiblerMeasure(ProductMeasure):
    """Divergence of rows x + s from rows y + s, in terms of log(1 + y / s), which is zero where y is zero."""

    smoothing: float

    no_normalizer: ClassVar[str] = "exp(-beta d) of the Kullback-Leibler divergence has a different sum for every row"

    def points(self, X: Array) -> KernelRows:
        refuse_negative_counts(X)
        X = to_float64(X)
        xp = namespace(X)
        s = self.smoothing

        def minus_term(x: Array) -> Array:
            logs = xp.log1p(x / s) if s else xp.log(xp.where(x > 0, x, xp.ones_like(x)))
            return x - (x + s) * logs

        return KernelRows(X, xp.astype(row_sums(map_values(X, minus_term)), X.dtype))

    def exemplars(self, X: Array) -> KernelRows:
        X = to_float64(X)
        xp = namespace(X)
        s = self.smoothing
        logs = map_values(X, (lambda y: xp.log1p(y / s)) if s else xp.log)
        return KernelRows(logs, xp.astype(s * row_sums(logs) - row_sums(X), X.dtype))


def refuse_negative_counts(X: Array) -> None:
    """Refuse negative counts."""
    values = stored_values(X)
    if bool(namespace(values).any(values < 0)):
        raise NoDivergenceError(
            "divergence 'kl' needs counts or shares, none negative: use divergence 'squared-euclidean' for measurements"
        )
