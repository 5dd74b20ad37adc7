"""Likelihoods of points under components, and what every step of a mixture's solver asks about them."""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np

AHEAD = 0.05  # a set's own maximum is sought until it is nearer than this share of the whole gap
SLOPE = 1e-4  # share of the slope that a step must gain
LOSS = 0.05  # the part of its likelihood that a step must leave a point
ROUNDING = 1e-15  # of objectives, as a share of their size


class Components(Protocol):
    """How likely each point is under each component: (points, components), none negative, in float64."""

    @property
    def shape(self) -> tuple[int, int]:
        """(points, components)."""

    def __matmul__(self, q: np.ndarray) -> np.ndarray:
        """The mixture's likelihood of each point."""

    @property
    def T(self) -> Any:
        """What multiplies a number a point: (components,)."""

    def squared_sums(self, r: np.ndarray) -> np.ndarray:
        """What the squares of the likelihoods, transposed, make of a number a point: (components,)."""

    def columns(self, components: np.ndarray) -> np.ndarray:
        """The likelihoods of all points under a few components."""


def objective(w: np.ndarray, Q: np.ndarray) -> float:
    """Weighted mean log-likelihood; a point that counts for nothing may be impossible."""
    counts = w > 0
    with np.errstate(divide="ignore"):
        return float(w[counts] @ np.log(Q[counts]))


def ratio(w: np.ndarray, Q: np.ndarray) -> np.ndarray:
    """W / Q, zero where w is."""
    return np.divide(w, Q, out=np.zeros_like(Q), where=w != 0)


def positive(values: np.ndarray) -> np.ndarray:
    """To divide by: one in place of zero."""
    return np.where(values > 0, values, 1.0)
