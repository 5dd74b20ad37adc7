"""Affinities that are a function of two rows."""

from __future__ import annotations

from abc import abstractmethod

import numpy as np

from ..arrays import Array, KernelMatrix, RowKernel, fits_in_memory, itemsize, namespace, stored_values
from .base import Affinity


class KernelAffinity(Affinity):
    """An affinity that is a kernel."""

    @abstractmethod
    def learn(self, X: Array) -> RowKernel:
        """Return the kernel, with what it learns from these rows, such as a bandwidth."""

    def may_be_negative(self, X: Array) -> bool:  # noqa: ARG002
        """Whether the kernel of these rows may have negative entries, which are then shifted."""
        return False

    def build_matrix(self, X: Array, others: Array | None = None, learn_from: Array | None = None) -> KernelMatrix:
        """Return the kernel of rows with others, by default with themselves.

        A kernel with negative entries is shifted by its smallest entry, as the paper does within its rounds: a graph
        has no edges of negative weight.
        """
        kernel = self.learn(X if learn_from is None else learn_from)
        points = kernel.points(X)
        right = points if others is None else kernel.points(others)
        cached = fits_in_memory(points.X.shape[0] * right.X.shape[0] * itemsize(X), points.X)
        matrix = KernelMatrix(kernel, points, right, cached)
        if self.may_be_negative(X) and (shift := matrix.least()) < 0:
            matrix = KernelMatrix(kernel, points, right, cached, shift)
        return matrix

    def build_operator(self, X: Array, rng: np.random.Generator) -> KernelMatrix:  # noqa: ARG002
        return self.build_matrix(X)

    def nbytes(self, X: Array) -> int:
        table = X.shape[0] ** 2 * itemsize(X)
        return table if fits_in_memory(table, X) else 0


def has_negative(X: Array) -> bool:
    """Whether any number is negative."""
    values = stored_values(X)
    return bool(namespace(values).any(values < 0))
