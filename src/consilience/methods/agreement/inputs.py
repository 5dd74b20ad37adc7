"""From views to an ensemble of predictors."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np
import scipy.sparse as sp
import scipy.stats
from scipy.sparse.csgraph import connected_components

from ...affinities import Auto, Precomputed
from ...arrays import (
    Array,
    all_rows_equal,
    asarray_like,
    find_nearest,
    is_on_host,
    is_sparse,
    map_chunks,
    namespace,
    normalize_rows,
    squared_norms,
    to_numpy,
)
from ...data import Views
from ..common.input_checks import validate_blocks, warn_about_zero_rows
from ..common.similarities import find_precomputed_columns, name_view_in_errors, select_rows
from .ensemble import Ensemble, ViewPredictors
from .geometry import Geometry, SimilarityGeometry, choose_geometries
from .model import NeighborRule, RidgeRule
from .predictors import GraphFeatures, LeaveOneOutRidge, NeighborGraph, NeighborVote, count_graph_features

P = TypeVar("P")
T = TypeVar("T")

PREDICTORS = ("components", "graph", "neighbors")
MOST_VOTERS = 15  # neighbors that predict a cluster


@dataclass(frozen=True, eq=False)
class PreparedSpace:
    """A view in one geometry: its points, the graph of nearest points, and features from the graph."""

    geometry: Geometry | SimilarityGeometry
    points: Array  # (entities, p)
    graph: NeighborGraph
    matrix: sp.csr_array  # of the graph
    features: GraphFeatures
    distances: np.ndarray  # (entities,): mean distance from the nearest points

    @property
    def hubness(self) -> float:
        """Skewness of the number of neighbors: hubs are points that are among the nearest of far too many others."""
        degree = self.features.degree
        return float(scipy.stats.skew(degree)) if np.ptp(degree) else 0.0


@dataclass(frozen=True, eq=False)
class PreparedView:
    """A view in all its geometries, over the entities that have it."""

    name: str
    entities: np.ndarray
    spaces: Sequence[PreparedSpace]
    dense: bool  # whether it holds measurements
    is_precomputed: bool = False  # whether it is a matrix of similarities

    @property
    def clearest(self) -> PreparedSpace:
        """The geometry whose graph has fewest hubs."""
        return min(self.spaces, key=lambda space: space.hubness)

    def embed(self, n_clusters: int) -> np.ndarray:
        """Return the spectral embedding of the clearest geometry: leading eigenvectors, rows of unit length."""
        return normalize_rows(self.clearest.features.vectors[:, :n_clusters])


def prepare_views(views: Views, precomputed: Mapping[str, bool], n_clusters: int) -> list[PreparedView]:
    """Prepare each view in its geometries; rows of zeros in sparse views count as missing."""
    usable, present = {}, {}
    for name, (X, has_view) in validate_blocks(views).items():
        has_row = to_numpy(has_view) if precomputed[name] else find_usable_rows(X, has_view)
        if not has_row.any():
            raise ValueError(f"view {name!r} is all zeros, which have no direction: leave the view out")
        rows = select_rows(X, has_row)
        if precomputed[name]:
            with name_view_in_errors(name):
                Precomputed().build_operator(rows, np.random.default_rng(0))  # refuses an invalid matrix
        if rows.shape[0] == 1 and len(views) > 1:
            raise ValueError(f"only one entity has view {name!r}, which tells no clusters apart: leave the view out")
        if rows.shape[0] > 1 and all_rows_equal(rows):
            raise ValueError(f"view {name!r} is the same for every entity: leave the view out")
        usable[name], present[name] = rows, has_row
    warn_about_zero_rows(views, present, "gets the largest cluster")
    check_connected(list(present), np.column_stack(list(present.values())))

    def prepare(name: str) -> PreparedView:
        X, rng = usable[name], np.random.default_rng(0)  # the user's seed is for the starts alone
        geometries: Sequence[Any] = [SimilarityGeometry.fit(X, rng)] if precomputed[name] else choose_geometries(X, rng)
        if len(views) > 1 and any(geometry.is_constant for geometry in geometries):
            raise ValueError(
                f"view {name!r} is the same for every entity up to rounding: subtract its mean in higher precision, or "
                "leave the view out"
            )
        spaces = []
        for geometry in geometries:
            points = geometry.transform(X)
            graph = NeighborGraph.build(points)
            matrix, distances = graph.connect()
            features = GraphFeatures.fit(matrix, count_graph_features(points.shape[0], n_clusters), rng)
            spaces.append(PreparedSpace(geometry, points, graph, matrix, features, distances))
        is_dense = not (precomputed[name] or is_sparse(X))
        return PreparedView(name, np.flatnonzero(present[name]), spaces, is_dense, precomputed[name])

    return list(map_views(prepare, list(usable), next(iter(usable.values()))))


def find_usable_rows(X: Array, has_view: Array) -> np.ndarray:
    """Return which rows of a view are present; rows of zeros in sparse views count as missing."""
    has_row = to_numpy(has_view)
    return has_row & to_numpy(squared_norms(X) > 0) if is_sparse(X) else has_row


def find_similarity_columns(views: Views, precomputed: Mapping[str, bool], *, source: Any) -> Any:
    """Return what `find_precomputed_columns` returns, for views that are or are not matrices of similarities."""
    affinities = {name: Precomputed() if is_given else Auto() for name, is_given in precomputed.items()}
    return find_precomputed_columns(views, affinities, source=source)


def map_views(function: Callable[[P], T], parts: Sequence[P], array: Array) -> Iterator[T]:
    """Map a function over parts on several threads, or one after the other for arrays on a device."""
    return map_chunks(function, parts) if is_on_host(array) else map(function, parts)


def check_connected(names: Sequence[str], present: np.ndarray) -> None:
    """Refuse views that no entity connects: their clusters could not be matched."""
    component = connected_components(present.T.astype(int) @ present, directed=False)[1]
    if component.any():
        apart = names[int(np.flatnonzero(component != component[0])[0])]
        raise ValueError(
            f"no entity has view {apart!r} together with view {names[0]!r} or a view connected to it, so clusters of "
            "the one cannot be matched with clusters of the other: cluster them apart, or add entities that have both"
        )


def build_ensemble(
    prepared: Sequence[PreparedView],
    n_entities: int,
    n_clusters: int,
    kinds: Sequence[str],
    penalty: float,
    balance: float,
) -> Ensemble:
    """Build the predictors of each view."""

    def build_predictors(view: PreparedView) -> ViewPredictors:
        predictors = [build_predictor(kind, space, n_clusters, penalty) for space in view.spaces for kind in kinds]
        return ViewPredictors(view.name, view.entities, predictors, 1 / len(view.spaces))

    points = prepared[0].spaces[0].points
    views = list(map_views(build_predictors, prepared, points))
    xp = namespace(points)
    return Ensemble(views, n_entities, n_clusters, balance, xp.astype(points[:0, :], xp.float32))


def build_predictor(
    kind: str, space: PreparedSpace, n_clusters: int, penalty: float
) -> LeaveOneOutRidge | NeighborVote:
    """Build a predictor of one of the `PREDICTORS`."""
    if kind == "components":
        return LeaveOneOutRidge.fit(space.points, penalty)
    if kind == "graph":
        return LeaveOneOutRidge.fit(asarray_like(space.features.values, space.points), penalty)
    points = space.graph.points
    number = min(len(points), count_voters(len(points), n_clusters) + 1)
    return NeighborVote.fit(drop_self(find_nearest(points, number).positions))


def build_rule(kind: str, predictor: Any, weight: float, space: PreparedSpace, members: Array) -> Any:
    """Fit the rule that predicts new entities as the predictor does to the clusters of all entities, (n, k)."""
    if kind == "components":
        return RidgeRule(predictor.learn(members), weight)
    if kind == "graph":
        return RidgeRule(predictor.learn(members), weight, space.graph, space.features.extension)
    labels = to_numpy(namespace(members).argmax(members, axis=1))
    n, n_clusters = members.shape
    return NeighborRule(space.graph.points, labels, min(n, count_voters(n, n_clusters)), n_clusters, weight)


def count_voters(n_entities: int, n_clusters: int) -> int:
    """Return how many neighbors vote: fewer if clusters are small."""
    return min(MOST_VOTERS, max(3, n_entities // (2 * n_clusters)))


def drop_self(nearest: np.ndarray) -> np.ndarray:
    """Return neighbors without the entity itself; with so many duplicates that it is missing, without the last."""
    n, number = nearest.shape
    itself = nearest == np.arange(n)[:, None]
    itself[~itself.any(axis=1), -1] = True
    return nearest[~itself].reshape(n, number - 1)
