"""Categorical: independent columns of codes."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np
from array_api_compat import device

from .._saving import save_as
from ..arrays import Array, as_rows, namespace, to_numpy
from .base import (
    Density,
    DensityFamily,
    Params,
    Statistics,
    check_smoothing,
    convert_params,
    describe_bad_probabilities,
    first_where,
    pool_empty_clusters,
    safe_log,
)


@save_as("family-categorical")
@dataclass(frozen=True)
class Categorical(DensityFamily):
    """Independent columns of codes 0, 1, 2, ... whose order means nothing (scikit-learn's OrdinalEncoder makes them).

    Parameters
    ----------
    smoothing : float, default=0.01
        Number of rows added for each code of each column and cluster.
    n_levels : tuple of int, optional
        Number of codes of each column. By default determined in `CoEM.fit`.

    Examples
    --------
    >>> import numpy as np
    >>> family = Categorical(smoothing=0, n_levels=(2, 3))
    >>> statistics = family.statistics(np.array([[0.0, 2.0], [1.0, 2.0]]), np.array([[1.0], [1.0]]))
    >>> family.maximize(statistics)["probabilities"].tolist()
    [[[0.5, 0.5, 0.0], [0.0, 0.0, 1.0]]]
    """

    smoothing: float = 0.01
    n_levels: tuple[int, ...] | None = None

    name: ClassVar[str] = "categorical"

    def __post_init__(self) -> None:
        check_smoothing(self.smoothing)
        levels = np.asarray((1,) if self.n_levels is None else self.n_levels)
        if levels.ndim != 1 or levels.dtype.kind not in "iu" or (levels <= 0).any():
            raise ValueError(f"n_levels must be whole numbers, one per column, got {self.n_levels!r}")

    def bind(self, X: Array, present: Array) -> Categorical:  # noqa: ARG002
        return self if self.n_levels is not None else replace(self, n_levels=count_levels(X))

    def statistics(self, X: Array, responsibilities: Array) -> Statistics:
        X = as_rows(X)
        xp = namespace(X)
        weights = xp.astype(responsibilities, xp.float64).T
        codes = xp.arange(max(self.n_levels or count_levels(X)), dtype=X.dtype, device=device(X))
        columns = [weights @ xp.astype(X[:, c][:, None] == codes[None, :], xp.float64) for c in range(X.shape[1])]
        return {"counts": xp.sum(weights, axis=1), "sums": xp.stack(columns, axis=1)}

    def maximize(self, statistics: Statistics) -> Params:
        xp = namespace(statistics["sums"])
        sums, _ = pool_empty_clusters(statistics["sums"], statistics["counts"])
        n_codes = sums.shape[2]
        codes = xp.arange(n_codes, device=device(sums))
        possible = xp.stack([codes < levels for levels in self.n_levels or (n_codes,) * sums.shape[1]])
        sums = sums + self.smoothing * xp.astype(possible, sums.dtype)[None, ...]
        return {"probabilities": sums / xp.sum(sums, axis=2)[..., None]}

    def build_density(self, X: Array, params: Params) -> Density:
        probabilities = convert_params(params, X)["probabilities"]
        xp = namespace(X)
        logs = xp.astype(xp.permute_dims(safe_log(probabilities, X.dtype), (1, 2, 0)), X.dtype)  # (columns, codes, k)

        def log_prob(rows: Array) -> Array:
            total = xp.take(logs[0, ...], xp.astype(rows[:, 0], xp.int64), axis=0)
            for c in range(1, rows.shape[1]):
                total = total + xp.take(logs[c, ...], xp.astype(rows[:, c], xp.int64), axis=0)
            return total

        return log_prob

    def shapes(self, n_clusters: int, n_columns: int) -> dict[str, tuple[int, ...]]:
        return {"probabilities": (n_clusters, n_columns, max(self.n_levels or (0,)))}

    def params_complaint(self, params: Params) -> str | None:
        return describe_bad_probabilities(params["probabilities"])

    def complaint(self, X: Array) -> str | None:
        invalid = first_where(X, (X < 0) | (namespace(X).floor(X) != X))
        if invalid is not None:
            return f"needs codes 0, 1, 2, ..., got {invalid:.6g}. scikit-learn's OrdinalEncoder makes codes"
        largest = find_largest_codes(X)
        if largest.max(initial=0) > max(1000, X.shape[0]):
            return f"needs codes 0, 1, 2, ..., got {largest.max():.6g} in {X.shape[0]} rows. OrdinalEncoder makes codes"
        if self.n_levels is not None:
            if len(self.n_levels) != len(largest):
                return f"needs as many columns as n_levels, {len(self.n_levels)}, got {len(largest)}"
            for c, (code, levels) in enumerate(zip(largest, self.n_levels, strict=True)):
                if code >= levels:
                    return f"knows codes 0 to {levels - 1} in column {c}, got {code:.6g}. Set n_levels= before fitting"
        return None

    def extremes(self, X: Array) -> Array:
        return namespace(X).max(X, axis=0)[None, :]

    def n_parameters(self, params: Params) -> int:
        k, d, n_codes = params["probabilities"].shape
        return k * (sum(self.n_levels or (n_codes,) * d) - d)

    def sample(self, params: Params, labels: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        cumulated = np.cumsum(to_numpy(params["probabilities"]), axis=2)[labels]
        draws = rng.random(cumulated.shape[:2]) * cumulated[..., -1]
        return (draws[..., None] >= cumulated).sum(axis=2)


def count_levels(X: Array) -> tuple[int, ...]:
    """Number of codes of each column: one more than the largest."""
    return tuple(int(code) + 1 for code in find_largest_codes(X))


def find_largest_codes(X: Array) -> np.ndarray:
    """The largest code of each column; 0 if there are no rows."""
    return to_numpy(namespace(X).max(X, axis=0)) if X.shape[0] else np.zeros(X.shape[1])
