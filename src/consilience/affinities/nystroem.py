"""The Nyström approximation of a kernel through its columns at some landmarks."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import scipy.linalg

from .._saving import save_as
from ..arrays import Array, asarray_like, fits_in_memory, itemsize, take_rows, to_numpy
from .base import Affinity, NoAffinityError, check_positive
from .gaussian import Gaussian
from .kernel import KernelAffinity
from .low_rank import LowRank, choose_landmarks

LEARN_SAMPLE = 2000  # rows that a bandwidth is learned from


@save_as("affinity-nystroem")
@dataclass(frozen=True)
class Nystroem(Affinity):
    """The kernel ``C W^-1 C'`` of n rows from its columns C at some of them, drawn at random, and its entries W there.

    Memory and time grow with n, not with its square. Entries may come out a little below zero. A bandwidth is learned
    from 2,000 rows.

    Parameters
    ----------
    kernel : affinity that is a kernel, default=Gaussian()
        What is approximated.
    n_landmarks : int, default=500
        Number of rows that serve as landmarks.
    """

    kernel: KernelAffinity = field(default_factory=Gaussian)
    n_landmarks: int = 500

    options = Gaussian.options

    def __post_init__(self) -> None:
        check_positive("n_landmarks", self.n_landmarks, whole=True)
        if not isinstance(self.kernel, KernelAffinity):
            raise NoAffinityError(
                f"kernel={self.kernel!r} is no kernel: give an object of one, such as consilience.affinities.Gaussian()"
            )

    @classmethod
    def from_options(cls, **options: Any) -> Nystroem:
        return cls(Gaussian(**options))

    @property
    def accepts_sparse(self) -> bool:  # type: ignore[override]
        return self.kernel.accepts_sparse

    def out_of_core(self, n_rows: int) -> bool:  # noqa: ARG002
        return True

    def comparable_rows(self, X: Array) -> Array:
        return self.kernel.comparable_rows(X)

    def build_operator(self, X: Array, rng: np.random.Generator) -> LowRank:
        sample = take_rows(X, asarray_like(choose_landmarks(X.shape[0], LEARN_SAMPLE, rng), X))
        landmarks = take_rows(sample, asarray_like(choose_landmarks(sample.shape[0], self.n_landmarks, rng), X))
        C = self.kernel.build_matrix(X, landmarks, sample)
        W = to_numpy(C.kernel.tile(C.right, C.right)).astype(np.float64) - C.shift
        values, vectors = scipy.linalg.eigh((W + W.T) / 2)
        kept = values > values[-1] * np.finfo(C.dtype).eps ** 0.5  # smaller ones would amplify rounding errors
        core = (vectors[:, kept] / values[kept]) @ vectors[:, kept].T
        return LowRank(C, asarray_like(core.astype(C.dtype), C.right.X), C.compare_with, C.dtype)

    def nbytes(self, X: Array) -> int:
        table = X.shape[0] * min(X.shape[0], self.n_landmarks) * itemsize(X)
        return table if fits_in_memory(table, X) else 0
