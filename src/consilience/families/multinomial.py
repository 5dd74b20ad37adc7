"""Multinomial: bags of words."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from .._saving import save_as
from ..arrays import Array, build_scorer, compute_scores, namespace, row_sums, to_numpy
from .base import (
    CountingFamily,
    Density,
    Params,
    Statistics,
    convert_params,
    describe_bad_probabilities,
    pool_empty_clusters,
    safe_log,
)


@save_as("family-multinomial")
@dataclass(frozen=True)
class Multinomial(CountingFamily):
    """Multinomial counts (Bickel & Scheffer 2005, Eqs 20 to 22), for text and links; accepts sparse rows.

    `log_prob` omits the multinomial coefficient and the length of the document, which do not depend on the cluster. A
    row of zeros carries no information and counts as missing.

    Parameters
    ----------
    smoothing : float, default=0.01
        Added to each count of each cluster. With 0, as in the paper of 2005, a word that does not occur in a cluster
        rules the cluster out; the paper of 2004 adds 1.

    Examples
    --------
    >>> import numpy as np
    >>> family = Multinomial(smoothing=0)
    >>> statistics = family.statistics(np.array([[3.0, 1.0], [0.0, 4.0]]), np.array([[1.0], [1.0]]))
    >>> family.maximize(statistics)["probabilities"].tolist()
    [[0.375, 0.625]]
    """

    name: ClassVar[str] = "multinomial"
    divergence: ClassVar[str] = "cosine"
    centers: ClassVar[str | None] = "probabilities"

    def maximize(self, statistics: Statistics) -> Params:
        xp = namespace(statistics["sums"])
        sums = statistics["sums"] + self.smoothing
        sums, totals = pool_empty_clusters(sums, xp.sum(sums, axis=1))
        length = xp.sum(statistics["sums"]) / xp.sum(statistics["counts"])
        return {"probabilities": sums / totals[:, None], "length": length}

    def build_density(self, X: Array, params: Params) -> Density:
        probabilities = convert_params(params, X)["probabilities"]
        scorer = build_scorer(X, safe_log(probabilities, X.dtype))
        return lambda rows: compute_scores(rows, scorer)

    def shapes(self, n_clusters: int, n_columns: int) -> dict[str, tuple[int, ...]]:
        return {"probabilities": (n_clusters, n_columns)}

    def params_complaint(self, params: Params) -> str | None:
        return describe_bad_probabilities(params["probabilities"])

    def informative_rows(self, X: Array) -> Array:
        return row_sums(X) > 0

    def n_parameters(self, params: Params) -> int:
        k, d = params["probabilities"].shape
        return k * (d - 1)

    def sample(self, params: Params, labels: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        lengths = np.maximum(1, rng.poisson(float(params.get("length", 100.0)), len(labels)))
        probabilities = to_numpy(params["probabilities"])
        return rng.multinomial(lengths, probabilities[labels] / probabilities[labels].sum(axis=1, keepdims=True))
