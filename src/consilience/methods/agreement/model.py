"""The rules of a fitted model that predict new entities."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ..._saving import save_as
from ...arrays import Array, asarray_like, find_nearest, namespace, normalize_rows, to_numpy
from .ensemble import encode_labels
from .geometry import Geometry, SimilarityGeometry
from .predictors import NeighborGraph, append_constant


@save_as("agreement-ridge-rule")
@dataclass(frozen=True, eq=False)
class RidgeRule:
    """A linear function per cluster of a row's point, or of its features in a graph."""

    coefficients: Array
    weight: float
    graph: NeighborGraph | None = None
    extension: np.ndarray | None = None

    def predict(self, points: Array) -> tuple[Array, np.ndarray | None]:
        """Return the weighted scores of points per cluster, and their mean distance from their neighbors."""
        features, distances = points, None
        if self.graph is not None:
            joined, distances = self.graph.join(to_numpy(points))
            features = asarray_like(normalize_rows(joined @ self.extension), points)
            features = namespace(points).astype(features, points.dtype, copy=False)
        xp, coefficients = namespace(points), asarray_like(self.coefficients, points)
        dtype = xp.result_type(features, coefficients)  # torch multiplies only matrices of one type
        features, coefficients = (xp.astype(factor, dtype, copy=False) for factor in (features, coefficients))
        return append_constant(features) @ coefficients * self.weight, distances


@save_as("agreement-neighbor-rule")
@dataclass(frozen=True, eq=False)
class NeighborRule:
    """The clusters of a row's nearest neighbors among the entities of the fit."""

    points: np.ndarray
    labels: np.ndarray
    number: int
    n_clusters: int
    weight: float

    def predict(self, points: Array) -> tuple[Array, None]:
        """Return the weighted scores of points per cluster; distances are not measured."""
        nearest, _ = find_nearest(self.points, self.number, to_numpy(points))
        members = encode_labels(self.labels, self.n_clusters, np.empty(0))
        return asarray_like(members[nearest].mean(axis=1) * self.weight, points), None


@save_as("agreement-space-model")
@dataclass(frozen=True, eq=False)
class SpaceModel:
    """The rules of a view in one geometry."""

    geometry: Geometry | SimilarityGeometry
    rules: Sequence[RidgeRule | NeighborRule]


@save_as("agreement-view-model")
@dataclass(frozen=True, eq=False)
class ViewModel:
    """The rules of a view in all its geometries."""

    spaces: Sequence[SpaceModel]

    @property
    def weight(self) -> float:
        """The weight of all rules together."""
        return float(sum(rule.weight for space in self.spaces for rule in space.rules))

    @property
    def n_graphs(self) -> int:
        """The number of rules that measure distances from neighbors."""
        return sum(getattr(rule, "graph", None) is not None for space in self.spaces for rule in space.rules)

    def predict(self, X: Array) -> tuple[Array, list[np.ndarray]]:
        """Return the votes of rows per cluster, and their mean distance from their neighbors in each graph."""
        votes, distances = [], []
        for space in self.spaces:
            points = space.geometry.transform(X)
            space_votes, rule_distances = zip(*(rule.predict(points) for rule in space.rules), strict=True)
            votes.append(sum(space_votes[1:], space_votes[0]))
            distances += [values for values in rule_distances if values is not None]
        return sum(votes[1:], votes[0]), distances
