"""Bernoulli: independent columns of zeros and ones."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from .._saving import save_as
from ..arrays import Array, build_scorer, compute_scores, namespace, stored_values, to_numpy
from .base import CountingFamily, Density, Params, Statistics, convert_params, first_where, pool_empty_clusters

CERTAIN = 1e-12  # no probability is closer to 0 or 1, so that an exception does not rule a cluster out


@save_as("family-bernoulli")
@dataclass(frozen=True)
class Bernoulli(CountingFamily):
    """Independent 0/1 columns, for sets of tags, presence of words or answers; accepts sparse rows.

    Parameters
    ----------
    smoothing : float, default=0.01
        Number of ones, and of zeros, added to each column of each cluster.

    Examples
    --------
    >>> import numpy as np
    >>> family = Bernoulli(smoothing=0)
    >>> statistics = family.statistics(np.array([[1.0, 0.0], [1.0, 1.0]]), np.array([[1.0], [1.0]]))
    >>> family.maximize(statistics)["probabilities"].round(6).tolist()
    [[1.0, 0.5]]
    """

    name: ClassVar[str] = "bernoulli"
    centers: ClassVar[str | None] = "probabilities"

    def maximize(self, statistics: Statistics) -> Params:
        sums, counts = pool_empty_clusters(statistics["sums"], statistics["counts"])
        probabilities = (sums + self.smoothing) / (counts + 2 * self.smoothing)[:, None]
        return {"probabilities": namespace(sums).clip(probabilities, CERTAIN, 1 - CERTAIN)}

    def build_density(self, X: Array, params: Params) -> Density:
        p = convert_params(params, X)["probabilities"]
        xp = namespace(p)
        p = xp.clip(p, CERTAIN, 1 - CERTAIN)
        scorer = build_scorer(X, xp.log(p) - xp.log1p(-p), -xp.sum(xp.log1p(-p), axis=1))
        return lambda rows: compute_scores(rows, scorer)

    def shapes(self, n_clusters: int, n_columns: int) -> dict[str, tuple[int, ...]]:
        return {"probabilities": (n_clusters, n_columns)}

    def params_complaint(self, params: Params) -> str | None:
        p = to_numpy(params["probabilities"])
        return "'probabilities' must be from 0 to 1" if (p < 0).any() or (p > 1).any() else None

    def complaint(self, X: Array) -> str | None:
        values = stored_values(X)
        invalid = first_where(values, (values != 0) & (values != 1))
        if invalid is not None:
            return f"needs zeros and ones, got {invalid:.6g}. Use 'multinomial' or 'poisson' for counts"
        return None

    def sample(self, params: Params, labels: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        p = to_numpy(params["probabilities"])[labels]
        return (rng.random(p.shape) < p).astype(np.int64)
