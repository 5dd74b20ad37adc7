"""Squared distances in the space of a kernel that the user brings."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import scipy.linalg

from .._saving import save_as
from ..arrays import Array, KernelRows, asarray_like, max_abs, namespace, to_numpy
from ..arrays.pairwise import fetch_numbers
from .pairs import BasePairs, NoDivergenceError, normalizer_error
from .precomputed import ROUNDING, check_square, compute_asymmetry, cut_matrix_rows, number_columns, take_columns


@save_as("divergence-kernel")
@dataclass(frozen=True)
class Kernel(BasePairs):
    """The view is a square matrix of similarities, positive semidefinite: ``d = K_ii + K_jj - 2 K_ij``.

    New entities come with their similarities to those of the fit. How similar they are to themselves is not known: it
    is what all of the fit are to themselves if that is one number, else the least that the similarities allow, which
    is right for entities of the fit.
    """

    columns_are_entities: ClassVar[bool] = True
    has_kernel: ClassVar[bool] = True

    def learn(self, X: Array) -> KernelMeasure:
        K = check_square(X, "similarities")
        slack = ROUNDING * max_abs(K)
        if compute_asymmetry(K) > slack:
            raise NoDivergenceError(
                "divergence='kernel' needs a symmetric matrix: average it with its transpose, or give distances and "
                "divergence='precomputed'"
            )
        xp = namespace(K)
        selves = xp.astype(xp.linalg.diagonal(K), xp.float64)

        def apart(rows: slice) -> Array:
            return selves[rows][:, None] + selves - 2 * K[rows, :]

        for rows, least in zip(
            parts := cut_matrix_rows(K), fetch_numbers(xp.min(apart(own)) for own in parts), strict=True
        ):
            if least < -4 * slack:
                a, b = divmod(int(xp.argmin(apart(rows))), K.shape[1])
                raise NoDivergenceError(
                    f"divergence='kernel' needs a positive semidefinite matrix, and entities {rows.start + a} and {b} "
                    "are more similar to each other than to themselves: give the kernel's own diagonal, or distances "
                    "and divergence='precomputed'"
                )
        return KernelMeasure(to_numpy(selves), describe_indefinite(to_numpy(K), slack))


@save_as("measure-kernel")
@dataclass(frozen=True, eq=False)
class KernelMeasure:
    """Distances from inner products; exemplars are positions of the columns."""

    selves: np.ndarray  # (n,) similarity of each entity of the fit to itself
    caveat: str | None

    def points(self, X: Array) -> KernelRows:
        return KernelRows(X, self.row_term(X, self.selves))

    def others(self, X: Array) -> KernelRows:
        if np.ptp(self.selves) <= ROUNDING * np.abs(self.selves).max():
            return KernelRows(X, self.row_term(X, np.full(X.shape[0], self.selves.mean())))
        xp = namespace(X)
        selves = asarray_like(np.where(self.selves > 0, self.selves, np.inf), X)
        return KernelRows(
            X, self.row_term(X, xp.max(xp.astype(X, xp.float64) ** 2 / selves, axis=1))
        )  # by Cauchy and Schwarz

    def exemplars(self, X: Array) -> KernelRows:
        return KernelRows(number_columns(X).X, self.row_term(X, self.selves))

    def row_term(self, X: Array, selves: Array) -> Array:
        return namespace(X).astype(asarray_like(-selves, X), X.dtype)

    def tile(self, points: KernelRows, exemplars: KernelRows) -> Array:
        found = take_columns(points.X, exemplars)
        found *= 2.0
        found += points.row_term[:, None]
        found += exemplars.row_term[None, :]
        return found

    def total(self, points: KernelRows, exemplars: KernelRows) -> float:
        xp = namespace(points.X)
        n, m = points.X.shape[0], exemplars.X.shape[0]
        own = m * float(xp.sum(points.row_term, dtype=xp.float64)) + n * float(
            xp.sum(exemplars.row_term, dtype=xp.float64)
        )
        return -(2 * float(xp.sum(points.X, dtype=xp.float64)) + own)

    def log_normalizer(self, X: Array, beta: float) -> np.ndarray:  # noqa: ARG002
        raise normalizer_error("the number of dimensions behind a kernel is not known")


def describe_indefinite(K: np.ndarray, slack: float) -> str | None:
    """What to say of a matrix that is no kernel though all its distances are real."""
    lifted = K.astype(np.float64)
    lifted.flat[:: len(K) + 1] += slack * len(K) ** 0.5
    try:
        scipy.linalg.cholesky(lifted, overwrite_a=True, check_finite=False)
    except scipy.linalg.LinAlgError:
        return (
            "the matrix of similarities is not positive semidefinite: the distances it gives are taken as they are, "
            "though no space has them"
        )
    return None
