"""Similarities that the user brings."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp

from .._backend import CSR, Array, squared_norms, to_numpy
from .base import NoAffinityError
from .graph import Graph

ROUNDING = 1e-5  # errors in given similarities, as a share of the largest, that are let pass


@dataclass(frozen=True)
class Precomputed:
    """The view is a square matrix of similarities, dense or sparse: symmetric, none negative.

    New entities come with their similarities to those of the fit.
    """

    def settle(self, X: Array) -> Precomputed:  # noqa: ARG002
        return self

    def comparable(self, X: Array) -> Array:
        return squared_norms(X) >= 0

    def over(self, X: Array, rng: np.random.Generator) -> Graph:  # noqa: ARG002
        matrix = given(X)
        check_similarities(matrix)
        return Graph((matrix + matrix.T) / 2, given)

    def nbytes(self, X: Array) -> int:  # noqa: ARG002
        return 0


def given(X: Array) -> np.ndarray | sp.csr_array:
    """The matrix itself."""
    return X.to_scipy() if isinstance(X, CSR) else to_numpy(X)


def check_similarities(matrix: np.ndarray | sp.csr_array) -> None:
    """Refuse a matrix that cannot hold similarities."""
    most = abs(matrix).max() if matrix.shape[0] else 0.0
    if matrix.shape[0] != matrix.shape[1]:
        problem = f"is not square but {matrix.shape}"
    elif matrix.min() < -ROUNDING * most:
        problem = f"has a negative similarity, {matrix.min():.3g}"
    elif abs(matrix - matrix.T).max() > ROUNDING * most:
        problem = "is not symmetric"
    elif most == 0:
        problem = "is all zeros"
    else:
        return
    raise NoAffinityError(
        f"the matrix of similarities {problem}: affinity='precomputed' needs a symmetric matrix of which no entry is "
        "negative. Turn distances d into similarities (such as exp(-d**2)) first, or average the matrix with its "
        "transpose"
    )
