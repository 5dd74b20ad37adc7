"""Similarities through a few landmarks: F M F' with a thin F and a small M."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from .._saving import save_as
from ..arrays import Array, namespace
from .base import extract_columns


@save_as("low-rank-similarities")
@dataclass(frozen=True, eq=False)
class LowRank:
    """Similarities of rows through their similarities to the same landmarks."""

    factor: Any  # (n, landmarks): can be multiplied, and so can its .T
    core: Any  # (landmarks, landmarks)
    join: Callable[[Array], Any]  # other rows of the view -> their factor
    dtype: np.dtype
    exact = False

    @property
    def shape(self) -> tuple[int, int]:
        return self.factor.shape[0], self.factor.shape[0]

    def __matmul__(self, U: Array) -> Array:
        return self.factor @ (self.core @ (self.factor.T @ U))

    def columns(self, entities: np.ndarray) -> Array:
        return extract_columns(self, entities)

    def norm(self) -> float:
        small = self.core @ (self.factor.T @ (self.factor @ np.eye(self.factor.shape[1], dtype=self.dtype)))
        xp = namespace(small)
        return float(xp.sqrt(xp.sum(small * small.T)))

    def compare_with(self, X: Array) -> LowRankCross:
        return LowRankCross(self.join(X), self)


@dataclass(frozen=True, eq=False)
class LowRankCross:
    """Similarities of other rows through the landmarks of the fit."""

    factor: Any
    fitted: LowRank

    @property
    def shape(self) -> tuple[int, int]:
        return self.factor.shape[0], self.fitted.shape[0]

    @property
    def dtype(self) -> np.dtype:
        return self.fitted.dtype

    def columns(self, entities: np.ndarray) -> Array:
        return extract_columns(self, entities)

    def __matmul__(self, U: Array) -> Array:
        return self.factor @ (self.fitted.core @ (self.fitted.factor.T @ U))


def choose_landmarks(n_rows: int, n_landmarks: int, rng: np.random.Generator) -> np.ndarray:
    """Draw rows to serve as landmarks, in ascending order."""
    return np.sort(rng.choice(n_rows, min(n_rows, n_landmarks), replace=False))
