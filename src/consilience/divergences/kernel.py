"""Squared distances in the space of a kernel matrix that the user gives."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import scipy.linalg

from .._saving import save_as
from ..arrays import Array, KernelRows, asarray_like, max_abs, namespace, to_numpy
from ..arrays.pairwise import fetch_numbers
from .pairs import BasePairs, NoDivergenceError, ProductMeasure, normalizer_error
from .precomputed import ROUNDING, check_square, compute_asymmetry, number_columns, split_matrix_rows, take_columns


@save_as("divergence-kernel")
@dataclass(frozen=True)
class Kernel(BasePairs):
    """The view is a positive semidefinite matrix of similarities: ``d = K_ii + K_jj - 2 K_ij``.

    New entities come with their similarities to those of the fit. Their similarity to themselves is not known: it is
    taken from the diagonal if that is constant, and otherwise is the smallest value that the similarities allow, which
    is exact for entities of the fit.
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
        diagonal = xp.astype(xp.linalg.diagonal(K), xp.float64)

        def compute_distances(rows: slice) -> Array:
            return diagonal[rows][:, None] + diagonal - 2 * K[rows, :]

        blocks = split_matrix_rows(K)
        smallest = fetch_numbers(xp.min(compute_distances(rows)) for rows in blocks)
        for rows, distance in zip(blocks, smallest, strict=True):
            if distance < -4 * slack:
                a, b = divmod(int(xp.argmin(compute_distances(rows))), K.shape[1])
                raise NoDivergenceError(
                    f"divergence='kernel' needs a positive semidefinite matrix, and entities {rows.start + a} and {b} "
                    "are more similar to each other than to themselves: give the kernel's own diagonal, or distances "
                    "and divergence='precomputed'"
                )
        return KernelMeasure(to_numpy(diagonal), describe_indefinite(to_numpy(K), slack))


@save_as("measure-kernel")
@dataclass(frozen=True, eq=False)
class KernelMeasure(ProductMeasure):
    """Squared distances from inner products; exemplars are numbers of columns."""

    diagonal: np.ndarray  # (n,) similarity of each entity of the fit to itself
    caveat: str | None

    scale: ClassVar[float] = 2.0

    def points(self, X: Array) -> KernelRows:
        return KernelRows(X, self.row_term(X, self.diagonal))

    def new_points(self, X: Array) -> KernelRows:
        if np.ptp(self.diagonal) <= ROUNDING * np.abs(self.diagonal).max():
            return KernelRows(X, self.row_term(X, np.full(X.shape[0], self.diagonal.mean())))
        xp = namespace(X)
        diagonal = asarray_like(np.where(self.diagonal > 0, self.diagonal, np.inf), X)
        bound = xp.max(xp.astype(X, xp.float64) ** 2 / diagonal, axis=1)  # by the Cauchy-Schwarz inequality
        return KernelRows(X, self.row_term(X, bound))

    def exemplars(self, X: Array) -> KernelRows:
        return KernelRows(number_columns(X).X, self.row_term(X, self.diagonal))

    def row_term(self, X: Array, self_similarities: Array) -> Array:
        return namespace(X).astype(asarray_like(-self_similarities, X), X.dtype)

    def products(self, points: KernelRows, exemplars: KernelRows) -> Array:
        return take_columns(points.X, exemplars)

    def sum_products(self, points: KernelRows, exemplars: KernelRows) -> float:  # noqa: ARG002
        xp = namespace(points.X)
        return float(xp.sum(points.X, dtype=xp.float64))

    def log_normalizer(self, X: Array, beta: float) -> np.ndarray:  # noqa: ARG002
        raise normalizer_error("the number of dimensions behind a kernel is not known")


def describe_indefinite(K: np.ndarray, slack: float) -> str | None:
    """Caveat for a matrix that is not positive semidefinite although no squared distance is negative."""
    raised = K.astype(np.float64)
    raised.flat[:: len(K) + 1] += slack * len(K) ** 0.5
    try:
        scipy.linalg.cholesky(raised, overwrite_a=True, check_finite=False)
    except scipy.linalg.LinAlgError:
        return (
            "the matrix of similarities is not positive semidefinite: its distances are used as they are, although no "
            "Euclidean space has such distances"
        )
    return None
