"""Clusters of a convex mixture after kernel k-means: entities belong to the nearest mean."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from ..._saving import save_as
from ...arrays import Array, KernelMatrix, KernelRows, to_numpy
from ...divergences import Measure
from .components import as_float64
from .exemplars import NOWHERE, NegativeDivergence, Placement, ViewPoints
from .kernel_kmeans import KernelMeans


@dataclass(frozen=True, eq=False)
class PairwiseDistances:
    """Divergences that are squared distances, as a matrix that multiplies."""

    minus: KernelMatrix

    @classmethod
    def between(cls, measure: Measure, points: KernelRows, exemplars: KernelRows, *, cached: bool) -> PairwiseDistances:
        """Of points and exemplars."""
        return cls(KernelMatrix(NegativeDivergence(measure), points, exemplars, cached))

    def __matmul__(self, U: Array) -> Array:
        return -as_float64(self.minus @ U)


@save_as("refined-view-means")
@dataclass(frozen=True, eq=False)
class ViewClusterMeans:
    """The means of the clusters in one view."""

    measure: Measure
    exemplars: KernelRows  # all entities of the fit that have the view
    means: KernelMeans
    weight: float

    def away(self, points: KernelRows) -> np.ndarray:
        """Squared distance of points from each mean, fetched if they are on a device."""
        return to_numpy(self.means.away(PairwiseDistances.between(self.measure, points, self.exemplars, cached=False)))


@save_as("refined-means")
@dataclass(frozen=True, eq=False)
class RefinedClusters:
    """The means of the clusters."""

    views: Mapping[str, ViewClusterMeans]
    n_clusters: int

    def place(self, seen: Mapping[str, ViewPoints], n: int) -> Placement:
        """Give entities to the nearest mean by the weighted sum over the views that they have."""
        total, labels = np.zeros((n, self.n_clusters)), {}
        for name, own in seen.items():
            away = self.views[name].away(own.points)
            total[own.entities] += self.views[name].weight * away
            labels[name] = np.full(n, NOWHERE)
            labels[name][own.entities] = away.argmin(axis=1)
        return Placement(np.eye(self.n_clusters)[total.argmin(axis=1)], np.zeros(n, dtype=bool), labels)
