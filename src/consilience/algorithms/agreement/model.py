"""What is kept of a fit to predict new entities."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..._backend import Array, like, namespace, to_numpy
from ..spectral import unit_rows
from .ensemble import indicate
from .geometry import Geometry, SimilarityGeometry
from .predictors import NeighborGraph, append_ones, search_neighbors


@dataclass(frozen=True, eq=False)
class ComponentRule:
    """A linear function of a row's point for each cluster."""

    coefficients: Array
    weight: float

    def predict(self, points: Array) -> Array:
        """Return the weighted scores of points for each cluster."""
        return append_ones(points) @ like(self.coefficients, points) * self.weight


@dataclass(frozen=True, eq=False)
class GraphRule:
    """A linear function of a row's place in a graph for each cluster."""

    coefficients: Array
    weight: float
    graph: NeighborGraph
    extension: np.ndarray

    def predict(self, points: Array) -> Array:
        """Return the weighted scores of points for each cluster."""
        placed = like(unit_rows(self.graph.join(to_numpy(points)) @ self.extension), points)
        placed = namespace(points).astype(placed, points.dtype, copy=False)
        return append_ones(placed) @ like(self.coefficients, points) * self.weight


@dataclass(frozen=True, eq=False)
class NeighborRule:
    """The clusters of a row's nearest neighbours among the entities of the fit."""

    points: np.ndarray
    labels: np.ndarray
    number: int
    n_clusters: int
    weight: float

    def predict(self, points: Array) -> Array:
        """Return the weighted scores of points for each cluster."""
        nearest = search_neighbors(self.points, to_numpy(points), self.number)
        members = indicate(self.labels, self.n_clusters, np.empty(0))
        return like(members[nearest].mean(axis=1) * self.weight, points)


@dataclass(frozen=True, eq=False)
class SpaceModel:
    """The rules of a view in one geometry."""

    geometry: Geometry | SimilarityGeometry
    rules: Sequence[Any]

    def predict(self, X: Array) -> Array:
        """Return the votes of rows for each cluster."""
        points = self.geometry.transform(X)
        votes = [rule.predict(points) for rule in self.rules]
        return sum(votes[1:], votes[0])


@dataclass(frozen=True, eq=False)
class ViewModel:
    """The rules of a view in all its geometries."""

    spaces: Sequence[SpaceModel]

    def predict(self, X: Array) -> Array:
        """Return the votes of rows for each cluster."""
        votes = [space.predict(X) for space in self.spaces]
        return sum(votes[1:], votes[0])
