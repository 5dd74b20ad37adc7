"""Bernoulli divergence (logistic loss) of numbers from 0 to 1."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from .._saving import save_as
from ..arrays import Array, KernelRows, asarray_like, map_values, namespace, row_sums, stored_values
from .base import NoDivergenceError, PairDivergence, ProductMeasure, to_float64


@save_as("divergence-bernoulli")
@dataclass(frozen=True)
class Bernoulli(PairDivergence):
    """``sum x log(x / y) + (1 - x) log((1 - x) / (1 - y))`` over the columns, of numbers from 0 to 1.

    As a mixture's component: Bernoulli. Between rows of zeros and ones it is the number of columns where they differ,
    times a constant.

    Parameters
    ----------
    margin : float, default=0.001
        Entries are clipped to at least this distance from 0 and 1, because otherwise a single column would put rows
        infinitely far apart. For zeros and ones it changes only the scale, like `beta`.

    Examples
    --------
    >>> import numpy as np
    >>> import consilience as cs
    >>> X = np.array([[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [1.0, 1.0, 1.0]])
    >>> measure = cs.divergences.Bernoulli().learn(X)
    >>> divergences = -measure.tile(measure.points(X), measure.exemplars(X))
    >>> round(float(divergences[0, 2] / divergences[0, 1]), 6)
    3.0
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
    """Divergence of clipped rows, in terms that are zero where a row is zero: sparse rows stay sparse."""

    margin: float
    binary: bool

    no_normalizer: ClassVar[str] = "exp(-beta d) of numbers between 0 and 1 has a different sum for every row"

    @property
    def odds(self) -> float:
        """Log-odds of the largest probability."""
        return float(np.log((1 - self.margin) / self.margin))

    def clip(self, x: Array) -> Array:
        return namespace(x).clip(x, self.margin, 1 - self.margin)

    def points(self, X: Array) -> KernelRows:
        """Entries above the margin, and the entropy of the row; exemplars hold log-odds above the smallest."""
        refuse_outside(X)
        X = to_float64(X)
        xp = namespace(X)

        def entropy(x: Array) -> Array:
            return -(x * xp.log(x) + (1 - x) * xp.log(1 - x))

        entropy_of_zero = entropy(asarray_like(np.full(1, self.margin), X))
        above = map_values(X, lambda x: self.clip(x) - self.margin)
        entropies = map_values(X, lambda x: entropy(self.clip(x)) - entropy_of_zero)
        constant = X.shape[1] * (float(entropy_of_zero[0]) - self.margin * self.odds)
        row_term = row_sums(entropies) - self.odds * row_sums(above) + constant
        return KernelRows(above, xp.astype(row_term, X.dtype))

    def exemplars(self, X: Array) -> KernelRows:
        X = to_float64(X)
        xp = namespace(X)
        log_failure = float(np.log1p(-self.margin))  # of the smallest probability
        odds = map_values(X, lambda y: xp.log(self.clip(y) / (1 - self.clip(y))) + self.odds)
        failures = map_values(X, lambda y: xp.log(1 - self.clip(y)) - log_failure)
        row_term = row_sums(failures) + self.margin * row_sums(odds) + X.shape[1] * log_failure
        return KernelRows(odds, xp.astype(row_term, X.dtype))

    def log_normalizer(self, X: Array, beta: float) -> np.ndarray:
        if not self.binary:
            return super().log_normalizer(X, beta)
        per_difference = (1 - 2 * self.margin) * self.odds
        return np.full(X.shape[0], -X.shape[1] * np.log1p(np.exp(-beta * per_difference)))


def refuse_outside(X: Array) -> None:
    """Refuse numbers that are not from 0 to 1."""
    values = stored_values(X)
    xp = namespace(values)
    if bool(xp.any(xp.logical_or(values < 0, values > 1))):
        raise NoDivergenceError(
            "divergence 'bernoulli' needs numbers from 0 to 1: use divergence 'kl' for counts, 'squared-euclidean' for "
            "measurements"
        )
