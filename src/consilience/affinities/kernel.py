"""Affinities that are a function of two rows."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import ClassVar

import numpy as np

from ..arrays import Array, KernelMatrix, RowKernel, fits_in_memory, itemsize, namespace, squared_norms, stored_values


class KernelAffinity(ABC):
    """An affinity that is a kernel."""

    columns_are_entities: ClassVar[bool] = False

    @abstractmethod
    def learn(self, X: Array) -> RowKernel:
        """The kernel with what it takes from these rows."""

    def resolve(self, X: Array) -> KernelAffinity:  # noqa: ARG002
        return self

    def comparable_rows(self, X: Array) -> Array:
        return squared_norms(X) >= 0

    def may_be_negative(self, X: Array) -> bool:  # noqa: ARG002
        """Whether the kernel of these rows may be negative somewhere."""
        return False

    def matrix(self, X: Array, others: Array | None = None, learned_from: Array | None = None) -> KernelMatrix:
        """The kernel of rows with some others; without others, with themselves.

        What may be negative is shifted by its smallest entry, as the paper shifts within its rounds: a graph has no
        edges of negative weight.
        """
        kernel = self.learn(X if learned_from is None else learned_from)
        points = kernel.points(X)
        right = points if others is None else kernel.points(others)
        held = fits_in_memory(points.X.shape[0] * right.X.shape[0] * itemsize(X), points.X)
        found = KernelMatrix(kernel, points, right, held)
        if self.may_be_negative(X) and (shift := found.least()) < 0:
            found = KernelMatrix(kernel, points, right, held, shift)
        return found

    def build_operator(self, X: Array, rng: np.random.Generator) -> KernelMatrix:  # noqa: ARG002
        return self.matrix(X)

    def nbytes(self, X: Array) -> int:
        table = X.shape[0] ** 2 * itemsize(X)
        return table if fits_in_memory(table, X) else 0


def has_negative(X: Array) -> bool:
    """Whether rows hold a negative number."""
    values = stored_values(X)
    return bool(namespace(values).any(values < 0))
