"""Similarities that the user brings."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import scipy.sparse as sp

from .._saving import refer_as, save_as
from ..arrays import Array, is_on_host, namespace, squared_norms, to_host
from .base import NoAffinityError
from .graph import SimilarityGraph

ROUNDING = 1e-5  # errors in given similarities, as a share of the largest, that are let pass


@save_as("affinity-precomputed")
@dataclass(frozen=True)
class Precomputed:
    """The view is a square matrix of similarities, dense or sparse: symmetric, none negative.

    New entities come with their similarities to those of the fit.
    """

    columns_are_entities: ClassVar[bool] = True

    def resolve(self, X: Array) -> Precomputed:  # noqa: ARG002
        return self

    def comparable_rows(self, X: Array) -> Array:
        return squared_norms(X) >= 0

    def build_operator(self, X: Array, rng: np.random.Generator) -> SimilarityGraph:  # noqa: ARG002
        matrix = check_nonnegative(X)
        check_similarities(matrix)
        return SimilarityGraph((matrix + matrix.T) / 2, check_nonnegative)

    def nbytes(self, X: Array) -> int:  # noqa: ARG002
        return 0


@refer_as("check-similarities")
def check_nonnegative(X: Array) -> Any:
    """The matrix itself: similarities of rows to the entities of the fit, none negative."""
    matrix = to_host(X) if is_on_host(X) else X
    least, largest = compute_extremes(matrix)
    if least < -ROUNDING * largest:
        raise NoAffinityError(f"{NEEDED}, and one is {least:.3g}: {REMEDY}")
    return matrix


def check_similarities(matrix: Any) -> None:
    """Refuse a matrix that cannot hold similarities of entities to each other."""
    if matrix.shape[0] != matrix.shape[1]:
        raise NoAffinityError(f"{NEEDED}, got shape {matrix.shape}: {REMEDY}")
    _, largest = compute_extremes(matrix)
    if not largest:
        raise NoAffinityError(f"{NEEDED}, and all are zero: leave the view out")
    if compute_extremes(matrix - matrix.T)[1] > ROUNDING * largest:
        raise NoAffinityError(f"{NEEDED}, and it is not symmetric: {REMEDY}")


def compute_extremes(matrix: Any) -> tuple[float, float]:
    """The smallest entry, and the largest absolute value; zeros where there is none."""
    if not matrix.shape[0]:
        return 0.0, 0.0
    if sp.issparse(matrix):
        return float(matrix.min()), float(abs(matrix).max())
    xp = namespace(matrix)
    return float(xp.min(matrix)), float(xp.max(xp.abs(matrix)))


NEEDED = "affinity='precomputed' needs a symmetric matrix of similarities, none negative"
REMEDY = "turn distances d into similarities (such as exp(-d**2)) first, or average the matrix with its transpose"
