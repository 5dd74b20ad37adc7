"""Itakura-Saito divergence of positive numbers, such as the power of a spectrum."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import gammaln

from .._saving import save_as
from ..arrays import Array, KernelRows, is_sparse, namespace, row_sums, to_numpy
from .base import NoDivergenceError, PairDivergence, ProductMeasure, to_float64


@save_as("divergence-itakura-saito")
@dataclass(frozen=True)
class ItakuraSaito(PairDivergence):
    """``sum x / y - log(x / y) - 1`` over the columns, of positive numbers; only their ratios matter.

    As a mixture's component: a gamma distribution of shape beta.

    Examples
    --------
    >>> import numpy as np
    >>> import consilience as cs
    >>> X = np.array([[1.0, 2.0], [2.0, 4.0], [10.0, 20.0], [20.0, 40.0]])
    >>> measure = cs.divergences.ItakuraSaito().learn(X)
    >>> divergences = -measure.tile(measure.points(X), measure.exemplars(X))
    >>> divergences[[0, 2], [1, 3]].round(4).tolist()
    [0.3863, 0.3863]
    """

    def learn(self, X: Array) -> ItakuraSaitoMeasure:
        refuse_not_positive(X)
        return ItakuraSaitoMeasure()


@save_as("measure-itakura-saito")
@dataclass(frozen=True, eq=False)
class ItakuraSaitoMeasure(ProductMeasure):
    """The divergence as a product of rows with inverse rows."""

    def points(self, X: Array) -> KernelRows:
        refuse_not_positive(X)
        X = to_float64(X)
        xp = namespace(X)
        return KernelRows(X, xp.astype(row_sums(xp.log(X)) + X.shape[1], X.dtype))

    def exemplars(self, X: Array) -> KernelRows:
        X = to_float64(X)
        xp = namespace(X)
        return KernelRows(-1 / X, xp.astype(-row_sums(xp.log(X)), X.dtype))

    def log_normalizer(self, X: Array, beta: float) -> np.ndarray:
        per_column = beta * np.log(beta) - beta - gammaln(beta)  # of a gamma distribution
        return X.shape[1] * per_column - to_numpy(row_sums(namespace(X).log(X)))


def refuse_not_positive(X: Array) -> None:
    """Refuse numbers that are zero or negative."""
    if is_sparse(X) or not bool(namespace(X).all(X > 0)):
        raise NoDivergenceError(
            "divergence 'itakura-saito' needs positive numbers, and some are zero or less: use divergence 'kl' for "
            "counts, or drop what is zero"
        )
