"""Von Mises-Fisher: unit rows around a mean direction."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from array_api_compat import device
from scipy.stats import vonmises_fisher

from .._numbers import is_real
from .._saving import save_as
from ..arrays import (
    Array,
    as_rows,
    asarray_like,
    build_scorer,
    compute_scores,
    keep_where,
    log_bessel,
    log_sphere_integral,
    namespace,
    squared_norms,
    to_numpy,
)
from .base import Density, DensityFamily, Params, Statistics, convert_params, count_and_sum, pool_empty_clusters


@save_as("family-von-mises-fisher")
@dataclass(frozen=True)
class VonMisesFisher(DensityFamily):
    """Von Mises-Fisher on unit rows, for tf-idf, embeddings or profiles; accepts sparse rows.

    Rows are normalized without a copy. A row of zeros has no direction and counts as missing. From a device, one number
    per cluster is fetched in each round, to solve for the concentrations.

    Parameters
    ----------
    floor : float, default=1e-6
        Smallest distance of a mean resultant length from 1, so that no cluster collapses onto a row.

    Examples
    --------
    >>> import numpy as np
    >>> family = VonMisesFisher()
    >>> statistics = family.statistics(np.array([[2.0, 0.0], [0.0, 5.0]]), np.array([[1.0], [1.0]]))
    >>> family.maximize(statistics)["directions"].round(4).tolist()
    [[0.7071, 0.7071]]
    """

    floor: float = 1e-6

    name: ClassVar[str] = "von-mises-fisher"
    accepts_sparse: ClassVar[bool] = True
    divergence: ClassVar[str] = "cosine"

    def __post_init__(self) -> None:
        if not is_real(self.floor) or not 1e-7 <= self.floor < 1:
            raise ValueError(f"floor must be at least 1e-7 and below 1, got {self.floor!r}")

    def statistics(self, X: Array, responsibilities: Array) -> Statistics:
        X = as_rows(X)
        xp = namespace(responsibilities)
        weights = xp.astype(responsibilities, X.dtype) * xp.astype(inverse_lengths(X), X.dtype)[:, None]
        return count_and_sum(X, responsibilities, weights)

    def maximize(self, statistics: Statistics) -> Params:
        sums, counts = pool_empty_clusters(statistics["sums"], statistics["counts"])
        xp = namespace(sums)
        lengths = xp.linalg.vector_norm(sums, axis=1)
        first_axis = xp.eye(1, sums.shape[1], dtype=sums.dtype, device=device(sums))  # where no direction prevails
        directions = xp.where(lengths[:, None] > 0, sums, first_axis) / keep_where(lengths > 0, lengths, 1.0)[:, None]
        resultant = xp.clip(lengths / counts, None, 1 - self.floor)
        # on the host: many steps on few numbers take ten times as long on a device
        concentrations = solve_concentration(to_numpy(resultant), sums.shape[1])
        return {"directions": directions, "concentrations": asarray_like(concentrations, sums)}

    def build_density(self, X: Array, params: Params) -> Density:
        directions, concentrations = (convert_params(params, X)[name] for name in ("directions", "concentrations"))
        scorer = build_scorer(X, directions * concentrations[:, None])
        xp = namespace(X)
        log_norm = xp.astype(log_sphere_integral(concentrations, X.shape[1]), X.dtype)

        def log_prob(rows: Array) -> Array:
            scale = xp.astype(inverse_lengths(rows), rows.dtype)
            return compute_scores(rows, scorer) * scale[:, None] - log_norm[None, :]

        return log_prob

    def shapes(self, n_clusters: int, n_columns: int) -> dict[str, tuple[int, ...]]:
        return {"directions": (n_clusters, n_columns), "concentrations": (n_clusters,)}

    def params_complaint(self, params: Params) -> str | None:
        lengths = np.linalg.norm(to_numpy(params["directions"]), axis=1)
        if not np.allclose(lengths, 1, atol=1e-6):
            return "'directions' must be of length 1"
        return "'concentrations' must be 0 or more" if (to_numpy(params["concentrations"]) < 0).any() else None

    def complaint(self, X: Array) -> str | None:
        return "needs two columns or more, or there is no direction. Use family 'gaussian'" if X.shape[1] < 2 else None

    def informative_rows(self, X: Array) -> Array:
        return squared_norms(X) > 0

    def n_parameters(self, params: Params) -> int:
        return int(np.size(to_numpy(params["directions"])))  # d - 1 per direction, and the concentration

    def sample(self, params: Params, labels: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        directions, concentrations = (to_numpy(params[name]) for name in ("directions", "concentrations"))
        rows = np.empty((len(labels), directions.shape[1]))
        for j in np.unique(labels):
            members = labels == j
            distribution = vonmises_fisher(directions[j], max(concentrations[j], 1e-8))
            rows[members] = distribution.rvs(members.sum(), random_state=rng)
        return rows


def inverse_lengths(X: Array) -> Array:
    """One over the length of each row, in float64; 0 for a row of zeros."""
    xp = namespace(X)
    lengths = xp.sqrt(squared_norms(X))
    return keep_where(lengths > 0, 1 / keep_where(lengths > 0, lengths, 1.0), 0.0)


def solve_concentration(resultant: np.ndarray, d: int) -> np.ndarray:
    """Maximum likelihood concentration: the root of ``I_{d/2}(c) / I_{d/2-1}(c) = resultant``.

    Starts from the approximation of Banerjee et al. (2005) and takes the Newton steps of Sra (2012).
    """
    c = np.maximum(resultant * (d - resultant**2) / (1 - resultant**2), 1e-12)
    for _ in range(10):
        ratio = np.exp(log_bessel(d / 2, c, d) - log_bessel(d / 2 - 1, c, d))
        slope = 1 - ratio**2 - (d - 1) / c * ratio
        c = np.maximum(c - (ratio - resultant) / slope, c / 2)
    return c
