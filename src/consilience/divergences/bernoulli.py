"""Logistic loss: the divergence of yes and no."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .._saving import save_as
from ..arrays import Array, KernelRows, asarray_like, map_values, namespace, row_sums, stored_values
from .pairs import BasePairs, NoDivergenceError, ProductMeasure, constant, normalizer_error, to_float64


@save_as("divergence-bernoulli")
@dataclass(frozen=True)
class Bernoulli(BasePairs):
    """``sum x log(x / y) + (1 - x) log((1 - x) / (1 - y))`` over the columns, of numbers from 0 to 1.

    As a mixture's component: Bernoulli. Between rows of zeros and ones it is the number of columns where they differ,
    times a constant.

    Parameters
    ----------
    margin : float, default=0.001
        Entries nearer than this to 0 or 1 count as so near, or a single column would put rows infinitely far apart.
        Between zeros and ones it changes nothing but the scale, which `beta` as a factor takes up.
    """

    margin: float = 1e-3

    def __post_init__(self) -> None:
        if not 0 < self.margin < 0.5:
            raise NoDivergenceError(f"margin={self.margin!r} must be above 0 and below 0.5")

    def learn(self, X: Array) -> BernoulliMeasure:
        refuse_outside(X)
        values = stored_values(X)
        xp = namespace(values)
        return BernoulliMeasure(self.margin, bool(xp.all(xp.logical_or(values == 0, values == 1))))


@save_as("measure-bernoulli")
@dataclass(frozen=True, eq=False)
class BernoulliMeasure(ProductMeasure):
    """The divergence of clipped rows, in terms that are zero where a row is: sparse rows stay sparse."""

    margin: float
    binary: bool

    @property
    def odds(self) -> float:
        """Log-odds of the nearest to 1."""
        return float(np.log((1 - self.margin) / self.margin))

    def clipped(self, x: Array) -> Array:
        return namespace(x).clip(x, self.margin, 1 - self.margin)

    def points(self, X: Array) -> KernelRows:
        """What the entries lie above the margin, and the entropy of the row; products are with log-odds above least."""
        refuse_outside(X)
        X = to_float64(X)
        xp = namespace(X)

        def entropy(x: Array) -> Array:
            return -(x * xp.log(x) + (1 - x) * xp.log(1 - x))

        nothing = entropy(asarray_like(np.full(1, self.margin), X))
        above = map_values(X, lambda x: self.clipped(x) - self.margin)
        entropies = map_values(X, lambda x: entropy(self.clipped(x)) - nothing)
        per_row = X.shape[1] * (float(nothing[0]) - self.margin * self.odds)
        own = row_sums(entropies) - self.odds * row_sums(above) + per_row
        return KernelRows(above, xp.astype(own, X.dtype))

    def exemplars(self, X: Array) -> KernelRows:
        X = to_float64(X)
        xp = namespace(X)
        least = float(np.log1p(-self.margin))
        odds = map_values(X, lambda y: xp.log(self.clipped(y) / (1 - self.clipped(y))) + self.odds)
        fails = map_values(X, lambda y: xp.log(1 - self.clipped(y)) - least)
        own = row_sums(fails) + self.margin * row_sums(odds) + X.shape[1] * least
        return KernelRows(odds, xp.astype(own, X.dtype))

    def log_normalizer(self, X: Array, beta: float) -> np.ndarray:
        if not self.binary:
            raise normalizer_error("exp(-beta d) of numbers between 0 and 1 sums up to another number for every row")
        apart = (1 - 2 * self.margin) * self.odds
        return constant(-X.shape[1] * np.log1p(np.exp(-beta * apart)), X)


def refuse_outside(X: Array) -> None:
    """A share of yes is from 0 to 1."""
    values = stored_values(X)
    xp = namespace(values)
    if bool(xp.any(xp.logical_or(values < 0, values > 1))):
        raise NoDivergenceError(
            "divergence 'bernoulli' needs numbers from 0 to 1: use divergence 'kl' for counts, 'squared-euclidean' for "
            "measurements"
        )
