"""Distances that the user brings."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from .._saving import save_as
from ..arrays import CSR, Array, Points, cut, largest, like, namespace, to_numpy
from ..arrays.pairwise import fetched
from .pairs import BasePairs, NoDivergenceError, no_normalizer

ROUNDING = 1e-5  # errors in given numbers, as a share of the largest, that are let pass


@save_as("divergence-precomputed")
@dataclass(frozen=True)
class Precomputed(BasePairs):
    """The view is a square matrix of divergences, of each entity (row) from each exemplar (column).

    They stand in the exponent as they are: for a Gaussian give *squared* Euclidean distances. New entities come with
    their divergences from those of the fit.
    """

    columns_are_entities: ClassVar[bool] = True
    has_kernel: ClassVar[bool] = True

    def learn(self, X: Array) -> Given:
        D = square(X, "distances")
        slack = ROUNDING * largest(D)
        own = np.abs(to_numpy(namespace(D).linalg.diagonal(D)))
        if own.max() > slack:
            at = int(own.argmax())
            raise NoDivergenceError(
                f"divergence='precomputed' needs distances, and entity {at} is at a distance from itself: turn "
                "similarities into distances (such as 1 - s), or give divergence='kernel' for a kernel matrix"
            )
        refuse_negative(D, slack)
        caveat = None
        if asymmetry(D) > slack:
            caveat = (
                "the matrix of distances is not symmetric: its rows are taken as points, its columns as exemplars. If "
                "that is not meant, average it with its transpose"
            )
        return Given(caveat)


@save_as("measure-precomputed")
@dataclass(frozen=True, eq=False)
class Given:
    """What is in the matrix; exemplars are positions of its columns."""

    caveat: str | None

    def points(self, X: Array) -> Points:
        return Points(X)

    def others(self, X: Array) -> Points:
        refuse_negative(X, ROUNDING * largest(X))
        return Points(X)

    def exemplars(self, X: Array) -> Points:
        return positions(X)

    def tile(self, points: Points, exemplars: Points) -> Array:
        return -columns(points.X, exemplars)

    def total(self, points: Points, exemplars: Points) -> float:  # noqa: ARG002
        xp = namespace(points.X)
        return float(xp.sum(points.X, dtype=xp.float64))

    def log_normalizer(self, X: Array, beta: float) -> np.ndarray:  # noqa: ARG002
        raise no_normalizer("the number of columns behind given distances is not known")


def square(X: Array, what: str) -> Array:
    """The matrix itself, if it is dense and square."""
    if isinstance(X, CSR):
        raise NoDivergenceError(f"all {what} are needed, got a sparse matrix: give toarray() of it")
    if X.shape[0] != X.shape[1]:
        raise NoDivergenceError(f"a square matrix of {what} is needed, got shape {X.shape}")
    return X


def refuse_negative(D: Array, slack: float) -> None:
    """A divergence is not negative."""
    least = float(namespace(D).min(D)) if D.shape[0] else 0.0
    if least < -slack:
        raise NoDivergenceError(
            f"divergence='precomputed' needs distances, and one is negative, {least:.3g}: turn similarities into "
            "distances (such as 1 - s), or give divergence='kernel' for a kernel matrix"
        )


def asymmetry(D: Array) -> float:
    """The largest difference of an entry and its mirror image, a few rows at a time."""
    xp = namespace(D)
    return max(fetched(xp.max(xp.abs(D[rows, :] - D[:, rows].T)) for rows in some_at_a_time(D)))


def some_at_a_time(D: Array) -> list[slice]:
    """Its rows, a few of them at a time."""
    return cut(slice(0, D.shape[0]), -(-D.shape[0] // 256))


def positions(X: Array) -> Points:
    """The columns by their positions, as exemplars."""
    return Points(like(np.arange(X.shape[1])[:, None], X))


def columns(X: Array, exemplars: Points) -> Array:
    """The columns of these exemplars, copied."""
    return namespace(X).take(X, exemplars.X[:, 0], axis=1)
