"""What is kept of a fit to predict new entities."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..._saving import save_as
from ...arrays import Array, asarray_like, namespace, to_numpy
from ..spectral.algorithm import normalize_embedding
from .ensemble import encode_labels
from .geometry import Geometry, SimilarityGeometry
from .predictors import NeighborGraph, append_constant, search_neighbors


@save_as("agreement-component-rule")
@dataclass(frozen=True, eq=False)
class ComponentRule:
    """A linear function of a row's point for each cluster."""

    coefficients: Array
    weight: float

    def predict(self, points: Array) -> Array:
        """Return the weighted scores of points for each cluster."""
        return append_constant(points) @ asarray_like(self.coefficients, points) * self.weight


@save_as("agreement-graph-rule")
@dataclass(frozen=True, eq=False)
class GraphRule:
    """A linear function of a row's place in a graph for each cluster."""

    coefficients: Array
    weight: float
    graph: NeighborGraph
    extension: np.ndarray

    def predict(self, points: Array) -> Array:
        """Return the weighted scores of points for each cluster."""
        return self.predict_and_measure(points)[0]

    def predict_and_measure(self, points: Array) -> tuple[Array, np.ndarray]:
        """Return the weighted scores of points for each cluster, and their mean distance from their neighbours."""
        joined, distances = self.graph.join_and_measure(to_numpy(points))
        placed = asarray_like(normalize_embedding(joined @ self.extension), points)
        placed = namespace(points).astype(placed, points.dtype, copy=False)
        return append_constant(placed) @ asarray_like(self.coefficients, points) * self.weight, distances


@save_as("agreement-neighbor-rule")
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
        members = encode_labels(self.labels, self.n_clusters, np.empty(0))
        return asarray_like(members[nearest].mean(axis=1) * self.weight, points)


@save_as("agreement-space-model")
@dataclass(frozen=True, eq=False)
class SpaceModel:
    """The rules of a view in one geometry."""

    geometry: Geometry | SimilarityGeometry
    rules: Sequence[Any]

    def predict_and_measure(self, X: Array) -> tuple[Array, np.ndarray | None]:
        """Return the votes of rows for each cluster, and their mean distance from their neighbours in a graph."""
        points = self.geometry.transform(X)
        votes, distances = [], None
        for rule in self.rules:
            if isinstance(rule, GraphRule):
                rule_votes, distances = rule.predict_and_measure(points)
            else:
                rule_votes = rule.predict(points)
            votes.append(rule_votes)
        return sum(votes[1:], votes[0]), distances


@save_as("agreement-view-model")
@dataclass(frozen=True, eq=False)
class ViewModel:
    """The rules of a view in all its geometries."""

    spaces: Sequence[SpaceModel]

    @property
    def weight(self) -> float:
        """The weight of all rules together."""
        return float(sum(rule.weight for space in self.spaces for rule in space.rules))

    def predict_and_measure(self, X: Array) -> tuple[Array, list[np.ndarray]]:
        """Return the votes of rows for each cluster, and their mean distance from their neighbours in each graph."""
        votes, distances = zip(*(space.predict_and_measure(X) for space in self.spaces), strict=True)
        return sum(votes[1:], votes[0]), [values for values in distances if values is not None]
