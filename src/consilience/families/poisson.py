"""Poisson: independent columns of counts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from .._saving import save_as
from ..arrays import Array, build_scorer, compute_scores, map_values, namespace, row_sums, split_into_blocks, to_numpy
from ..arrays.special import log_factorial
from .base import CountingFamily, Density, Params, Statistics, convert_params, pool_empty_clusters

LEAST_RATE = 1e-12  # rate of a column that is always zero


@save_as("family-poisson")
@dataclass(frozen=True)
class Poisson(CountingFamily):
    """Independent Poisson columns, for counts whose totals matter (unlike in a multinomial); accepts sparse rows.

    Parameters
    ----------
    smoothing : float, default=0.01
        Number of average rows added to each cluster, so that no rate is zero unless the whole column is.

    Examples
    --------
    >>> import numpy as np
    >>> family = Poisson()
    >>> statistics = family.statistics(np.array([[3.0, 1.0], [5.0, 2.0]]), np.array([[1.0], [1.0]]))
    >>> family.maximize(statistics)["rates"].round(6).tolist()
    [[4.0, 1.5]]
    """

    name: ClassVar[str] = "poisson"
    centers: ClassVar[str | None] = "rates"

    def maximize(self, statistics: Statistics) -> Params:
        xp = namespace(statistics["sums"])
        sums, counts = pool_empty_clusters(statistics["sums"], statistics["counts"])
        average = xp.sum(statistics["sums"], axis=0) / xp.sum(statistics["counts"])
        rates = (sums + self.smoothing * average[None, :]) / (counts + self.smoothing)[:, None]
        return {"rates": xp.clip(rates, LEAST_RATE, None)}

    def build_density(self, X: Array, params: Params) -> Density:
        rates = convert_params(params, X)["rates"]
        xp = namespace(rates)
        rates = xp.clip(rates, LEAST_RATE, None)
        scorer = build_scorer(X, xp.log(rates), xp.sum(rates, axis=1))
        return lambda rows: compute_scores(rows, scorer)

    def row_term(self, X: Array) -> Array:
        """Minus the logarithm of x!, summed over the columns."""
        blocks = split_into_blocks(X, slice(0, X.shape[0]))
        return -namespace(X).concat([row_sums(map_values(X[rows, ...], log_factorial)) for rows in blocks])

    def shapes(self, n_clusters: int, n_columns: int) -> dict[str, tuple[int, ...]]:
        return {"rates": (n_clusters, n_columns)}

    def params_complaint(self, params: Params) -> str | None:
        return "'rates' must be 0 or more" if (to_numpy(params["rates"]) < 0).any() else None

    def sample(self, params: Params, labels: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        return rng.poisson(to_numpy(params["rates"])[labels])
