"""Distances that the user gives."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from .._saving import save_as
from ..arrays import Array, KernelRows, asarray_like, is_sparse, max_abs, namespace, split_slice, to_numpy
from ..arrays.pairwise import fetch_numbers
from .pairs import BasePairs, NoDivergenceError, normalizer_error

ROUNDING = 1e-5  # tolerated error of the given numbers, as a share of the largest


@save_as("divergence-precomputed")
@dataclass(frozen=True)
class Precomputed(BasePairs):
    """The view is a square matrix of divergences, of each entity (row) from each exemplar (column).

    They are used in the exponent as they are: for a Gaussian give *squared* Euclidean distances. New entities come with
    their divergences from those of the fit.
    """

    columns_are_entities: ClassVar[bool] = True
    has_kernel: ClassVar[bool] = True

    def learn(self, X: Array) -> PrecomputedMeasure:
        D = check_square(X, "distances")
        slack = ROUNDING * max_abs(D)
        diagonal = np.abs(to_numpy(namespace(D).linalg.diagonal(D)))
        if diagonal.max() > slack:
            entity = int(diagonal.argmax())
            raise NoDivergenceError(
                f"divergence='precomputed' needs distances, and entity {entity} is at a distance from itself: turn "
                "similarities into distances (such as 1 - s), or give divergence='kernel' for a kernel matrix"
            )
        refuse_negative_distances(D, slack)
        caveat = None
        if compute_asymmetry(D) > slack:
            caveat = (
                "the matrix of distances is not symmetric: its rows are used as points, its columns as exemplars. If "
                "that is not intended, average it with its transpose"
            )
        return PrecomputedMeasure(caveat)


@save_as("measure-precomputed")
@dataclass(frozen=True, eq=False)
class PrecomputedMeasure:
    """The divergences of the matrix; exemplars are numbers of its columns."""

    caveat: str | None

    def points(self, X: Array) -> KernelRows:
        return KernelRows(X)

    def new_points(self, X: Array) -> KernelRows:
        refuse_negative_distances(X, ROUNDING * max_abs(X))
        return KernelRows(X)

    def exemplars(self, X: Array) -> KernelRows:
        return number_columns(X)

    def tile(self, points: KernelRows, exemplars: KernelRows) -> Array:
        return -take_columns(points.X, exemplars)

    def total(self, points: KernelRows, exemplars: KernelRows) -> float:  # noqa: ARG002
        xp = namespace(points.X)
        return float(xp.sum(points.X, dtype=xp.float64))

    def log_normalizer(self, X: Array, beta: float) -> np.ndarray:  # noqa: ARG002
        raise normalizer_error("the number of columns behind given distances is not known")


def check_square(X: Array, what: str) -> Array:
    """Return the matrix if it is dense and square."""
    if is_sparse(X):
        raise NoDivergenceError(f"all {what} are needed, got a sparse matrix: give toarray() of it")
    if X.shape[0] != X.shape[1]:
        raise NoDivergenceError(f"a square matrix of {what} is needed, got shape {X.shape}")
    return X


def refuse_negative_distances(D: Array, slack: float) -> None:
    """Refuse negative distances."""
    smallest = float(namespace(D).min(D)) if D.shape[0] else 0.0
    if smallest < -slack:
        raise NoDivergenceError(
            f"divergence='precomputed' needs distances, and one is negative, {smallest:.3g}: turn similarities into "
            "distances (such as 1 - s), or give divergence='kernel' for a kernel matrix"
        )


def compute_asymmetry(D: Array) -> float:
    """The largest difference between an entry and its transposed one."""
    xp = namespace(D)
    return max(fetch_numbers(xp.max(xp.abs(D[rows, :] - D[:, rows].T)) for rows in split_matrix_rows(D)))


def split_matrix_rows(D: Array) -> list[slice]:
    """Cut the rows of a matrix into blocks of about 256."""
    return split_slice(slice(0, D.shape[0]), -(-D.shape[0] // 256))


def number_columns(X: Array) -> KernelRows:
    """Exemplars that stand for the columns by their numbers."""
    return KernelRows(asarray_like(np.arange(X.shape[1])[:, None], X))


def take_columns(X: Array, exemplars: KernelRows) -> Array:
    """Copy the columns that exemplars stand for."""
    return namespace(X).take(X, exemplars.X[:, 0], axis=1)
