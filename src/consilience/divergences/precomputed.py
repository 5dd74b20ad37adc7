"""Matrices of distances, or of similarities, that the user gives."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import scipy.linalg

from .._saving import save_as
from ..arrays import Array, KernelRows, asarray_like, is_sparse, max_abs, namespace, split_slice, to_numpy
from ..arrays.namespace import fetch_numbers
from .base import Measure, NoDivergenceError, PairDivergence, ProductMeasure

ROUNDING = 1e-5  # tolerated error of the given numbers, as a share of the largest


@save_as("divergence-precomputed")
@dataclass(frozen=True)
class Precomputed(PairDivergence):
    """The view is a square matrix of divergences, of each entity (row) from each exemplar (column).

    They are used in the exponent as they are: for a Gaussian give *squared* Euclidean distances. New entities come with
    their divergences from those of the fit.

    Examples
    --------
    >>> import numpy as np
    >>> import consilience as cs
    >>> X = np.array([[0.0, 4.0], [4.0, 0.0]])
    >>> measure = cs.divergences.Precomputed().learn(X)
    >>> divergences = -measure.tile(measure.points(X), measure.exemplars(X))
    >>> round(float(divergences[0, 1]), 4)
    4.0
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
class PrecomputedMeasure(Measure):
    """The divergences of the matrix; exemplars are numbers of its columns."""

    caveat: str | None

    no_normalizer: ClassVar[str] = "the number of columns behind given distances is not known"

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


@save_as("divergence-kernel")
@dataclass(frozen=True)
class Kernel(PairDivergence):
    """The view is a positive semidefinite matrix of similarities: ``d = K_ii + K_jj - 2 K_ij``.

    New entities come with their similarities to those of the fit. Their similarity to themselves is not known: it is
    taken from the diagonal if that is constant, and otherwise is the smallest value that the similarities allow, which
    is exact for entities of the fit.

    Examples
    --------
    >>> import numpy as np
    >>> import consilience as cs
    >>> X = np.array([[2.0, 1.0], [1.0, 3.0]])
    >>> measure = cs.divergences.Kernel().learn(X)
    >>> divergences = -measure.tile(measure.points(X), measure.exemplars(X))
    >>> round(float(divergences[0, 1]), 4)
    3.0
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
    no_normalizer: ClassVar[str] = "the number of dimensions behind a kernel is not known"

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
