"""From a user's views to an ensemble of predictors, and the partitions that refinement starts from."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple, TypeVar

import numpy as np
import scipy.sparse as sp
import scipy.stats
from scipy.optimize import linear_sum_assignment
from sklearn.cluster import KMeans

from ...affinities import Precomputed
from ...arrays import (
    Array,
    all_rows_equal,
    asarray_like,
    is_on_host,
    is_sparse,
    map_chunks,
    namespace,
    single_openmp_thread,
    squared_norms,
    to_numpy,
)
from ...data import Constraints, Views
from ..common.input_checks import validate_blocks, warn_about_zero_rows
from ..common.similarities import name_view_in_errors, select_rows
from ..kmeans.estimator import MultiViewKMeans
from ..kmeans.spherical import MultiViewSphericalKMeans
from ..spectral.algorithm import normalize_embedding
from . import (
    ComponentRule,
    Ensemble,
    Geometry,
    GraphFeatures,
    GraphRule,
    LeaveOneOutRidge,
    NeighborGraph,
    NeighborRule,
    NeighborVote,
    Predictor,
    SimilarityGeometry,
    ViewPredictors,
    choose_geometries,
    count_graph_features,
    search_neighbors,
)

P = TypeVar("P")
T = TypeVar("T")

MOST_VOTERS = 15  # neighbours that predict a cluster
CONSTRAINED_FEATURES = 5  # eigenvectors per view in which constrained k-means looks for clusters


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
        """Skewness of the number of neighbours: hubs are points that are among the nearest of far too many others."""
        degree = self.features.degree
        return float(scipy.stats.skew(degree)) if np.ptp(degree) else 0.0


@dataclass(frozen=True, eq=False)
class PreparedView:
    """A view in all its geometries, over the entities that have it."""

    name: str
    entities: np.ndarray
    spaces: Sequence[PreparedSpace]
    dense: bool  # whether it holds measurements

    @property
    def clearest(self) -> PreparedSpace:
        """The geometry whose graph has fewest hubs."""
        return min(self.spaces, key=lambda space: space.hubness)


def prepare_views(views: Views, precomputed: Mapping[str, bool], n_clusters: int) -> list[PreparedView]:
    """Lay out each view in its geometries; rows of zeros in sparse views count as missing."""
    usable, present = {}, {}
    for name, (X, has_view) in validate_blocks(views).items():
        has_row = to_numpy(has_view)
        if is_sparse(X) and not precomputed[name]:
            has_row = has_row & to_numpy(squared_norms(X) > 0)
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
        spaces = [prepare_space(geometry, X, n_clusters, rng) for geometry in geometries]
        return PreparedView(name, np.flatnonzero(present[name]), spaces, not (precomputed[name] or is_sparse(X)))

    return list(map_views(prepare, list(usable), next(iter(usable.values()))))


def map_views(function: Callable[[P], T], parts: Sequence[P], array: Array) -> Iterator[T]:
    """Map a function over parts on several threads, or one after the other for arrays on a device."""
    return map_chunks(function, parts) if is_on_host(array) else map(function, parts)


def prepare_space(
    geometry: Geometry | SimilarityGeometry, X: Array, n_clusters: int, rng: np.random.Generator
) -> PreparedSpace:
    """Transform rows to points, join nearest points in a graph, and take the graph's leading eigenvectors."""
    points = geometry.transform(X)
    graph = NeighborGraph.over(points)
    matrix, distances = graph.connect_and_measure()
    features = GraphFeatures.fit(matrix, count_graph_features(points.shape[0], n_clusters), rng)
    return PreparedSpace(geometry, points, graph, matrix, features, distances)


def check_connected(names: Sequence[str], present: np.ndarray) -> None:
    """Refuse views that no entity connects: their clusters could not be matched."""
    reached: Any = present[:, 0].copy()
    while True:
        connected = present[reached].any(axis=0)
        widened = present[:, connected].any(axis=1)
        if (widened == reached).all():
            break
        reached = widened
    if not connected.all():
        apart = names[int(np.flatnonzero(~connected)[0])]
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

    def predictors_of(view: PreparedView) -> ViewPredictors:
        predictors = [PREDICTORS[kind].build(space, n_clusters, penalty) for space in view.spaces for kind in kinds]
        return ViewPredictors(view.name, view.entities, predictors, 1 / len(view.spaces))

    points = prepared[0].spaces[0].points
    views = list(map_views(predictors_of, prepared, points))
    xp = namespace(points)
    return Ensemble(views, n_entities, n_clusters, balance, xp.astype(points[:0, :], xp.float32))


class PredictorKind(NamedTuple):
    """How a predictor is built for the entities of a fit, and how it becomes a rule for new entities."""

    build: Callable[[PreparedSpace, int, float], Predictor]  # of a space, a number of clusters and a penalty
    learn: Callable[[Any, PreparedSpace, Array, float], Any]  # of the predictor, its space, clusters (n, k) and weight


def build_component_ridge(space: PreparedSpace, n_clusters: int, penalty: float) -> LeaveOneOutRidge:  # noqa: ARG001
    """Build the regression on leading components."""
    return LeaveOneOutRidge.fit(space.points, penalty)


def learn_component_rule(
    ridge: LeaveOneOutRidge,
    space: PreparedSpace,  # noqa: ARG001
    members: Array,
    weight: float,
) -> ComponentRule:
    """Fit the regression on leading components to all entities."""
    return ComponentRule(ridge.learn(members), weight)


def build_graph_ridge(space: PreparedSpace, n_clusters: int, penalty: float) -> LeaveOneOutRidge:  # noqa: ARG001
    """Build the regression on eigenvectors of the graph."""
    return LeaveOneOutRidge.fit(asarray_like(space.features.values, space.points), penalty)


def learn_graph_rule(ridge: LeaveOneOutRidge, space: PreparedSpace, members: Array, weight: float) -> GraphRule:
    """Fit the regression on eigenvectors of the graph to all entities."""
    return GraphRule(ridge.learn(members), weight, space.graph, space.features.extension)


def build_neighbor_vote(space: PreparedSpace, n_clusters: int, penalty: float) -> NeighborVote:  # noqa: ARG001
    """Build the vote of the nearest neighbours."""
    points = space.graph.points
    number = count_voters(len(points), n_clusters)
    return NeighborVote.fit(drop_self(search_neighbors(points, points, min(len(points), number + 1))))


def learn_neighbor_rule(
    vote: NeighborVote,  # noqa: ARG001
    space: PreparedSpace,
    members: Array,
    weight: float,
) -> NeighborRule:
    """Keep the points and clusters of all entities."""
    labels = to_numpy(namespace(members).argmax(members, axis=1))
    n, n_clusters = members.shape
    return NeighborRule(space.graph.points, labels, min(n, count_voters(n, n_clusters)), n_clusters, weight)


PREDICTORS = {
    "components": PredictorKind(build_component_ridge, learn_component_rule),
    "graph": PredictorKind(build_graph_ridge, learn_graph_rule),
    "neighbors": PredictorKind(build_neighbor_vote, learn_neighbor_rule),
}


def count_voters(n_entities: int, n_clusters: int) -> int:
    """Return how many neighbours vote: fewer where clusters are small."""
    return min(MOST_VOTERS, max(3, n_entities // (2 * n_clusters)))


def drop_self(nearest: np.ndarray) -> np.ndarray:
    """Return neighbours without the entity itself; with so many duplicates that it is missing, without the last."""
    n, number = nearest.shape
    itself = nearest == np.arange(n)[:, None]
    itself[~itself.any(axis=1), -1] = True
    return nearest[~itself].reshape(n, number - 1)


class Restarts(NamedTuple):
    """How often k-means is restarted within one start, of which the best counts."""

    views: int = 5  # over several views
    embedding: int = 10  # among eigenvectors


def propose_starts(
    prepared: Sequence[PreparedView],
    n_entities: int,
    n_clusters: int,
    n_init: int,
    rng: np.random.Generator,
    restarts: Restarts,
) -> Iterator[tuple[str, np.ndarray]]:
    """Yield partitions of different origins, each with its name; a negative label is left to the first round."""
    if n_clusters == 1 or n_clusters == n_entities:
        yield "trivial", np.arange(n_entities) % n_clusters
        return
    present = np.zeros((n_entities, len(prepared)), bool)
    for v, view in enumerate(prepared):
        present[view.entities, v] = True
    has_any = present.any(axis=1)
    if has_any.sum() <= n_clusters:
        yield "trivial", np.where(has_any, np.cumsum(has_any) - 1, -1)
        return

    def spread(rows: np.ndarray, view: PreparedView) -> np.ndarray:
        full = np.zeros((n_entities, rows.shape[1]))
        full[view.entities] = rows
        return full

    def cluster_views(method: Any, position: int, seed: int) -> np.ndarray:
        points = {view.name: spread(to_numpy(view.spaces[position].points), view) for view in prepared}
        model = method(n_clusters, n_init=restarts.views, random_state=seed, n_jobs=1)
        labels = np.full(n_entities, -1)
        labels[has_any] = model.fit(Views(points, present=present)[has_any]).labels_
        return labels

    def cluster_rows(rows: np.ndarray, entities: np.ndarray, seed: int) -> np.ndarray:
        labels = np.full(n_entities, -1)
        with single_openmp_thread():
            labels[entities] = KMeans(n_clusters, n_init=restarts.embedding, random_state=seed).fit_predict(rows)
        return labels

    embeddings = [normalize_embedding(view.clearest.features.vectors[:, :n_clusters]) for view in prepared]
    kinds = [("spherical k-means", partial(cluster_views, MultiViewSphericalKMeans, 0))]
    if all(view.dense for view in prepared):
        kinds.append(("k-means", partial(cluster_views, MultiViewKMeans, -1)))
    if len(prepared) > 1:
        everything = np.arange(n_entities)
        side_by_side = np.concatenate([spread(U, view) for U, view in zip(embeddings, prepared, strict=True)], axis=1)
        together = normalize_embedding(GraphFeatures.fit(add_graphs(prepared, n_entities), n_clusters, rng).vectors)
        kinds.append(("graphs side by side", partial(cluster_rows, side_by_side, everything)))
        kinds.append(("sum of the graphs", partial(cluster_rows, together, everything)))
    for U, view in zip(embeddings, prepared, strict=True):
        if len(view.entities) >= n_clusters:
            kinds.append((f"view {view.name!r}", partial(cluster_rows, U, view.entities)))
    for name, compute in kinds:
        for seed in rng.integers(2**31, size=n_init).tolist():
            yield name, compute(seed)


def agree_on_labels(partitions: Sequence[np.ndarray], n_clusters: int) -> np.ndarray:
    """Return the cluster that most partitions give each entity, -1 where no more than half of them agree.

    Clusters are numbered as in the first partition: the others are matched to it so that most entities agree.
    """
    matched = [partitions[0]]
    for labels in partitions[1:]:
        counts = np.bincount(labels * n_clusters + partitions[0], minlength=n_clusters**2)
        _, numbers = linear_sum_assignment(-counts.reshape(n_clusters, n_clusters))
        matched.append(numbers[labels])
    votes = np.zeros((len(matched[0]), n_clusters))
    for labels in matched:
        votes[np.arange(len(labels)), labels] += 1
    return np.where(votes.max(axis=1) > len(matched) / 2, votes.argmax(axis=1), -1)


def add_graphs(prepared: Sequence[PreparedView], n_entities: int) -> sp.csr_array:
    """Add up the clearest graph of each view, scaled to mean degree 1."""
    total = sp.csr_array((n_entities, n_entities))
    for view in prepared:
        graph = view.clearest.matrix.tocoo()
        rows, columns = view.entities[graph.row], view.entities[graph.col]
        scale = len(view.entities) / graph.data.sum()
        total = total + sp.csr_array((graph.data * scale, (rows, columns)), shape=total.shape)
    return sp.csr_array(total)


def propose_constrained_start(
    prepared: Sequence[PreparedView],
    n_entities: int,
    n_clusters: int,
    constraints: Constraints,
    rng: np.random.Generator,
) -> Iterator[tuple[str, np.ndarray]]:
    """Yield the clusters that constrained k-means finds in the leading eigenvectors of the views' graphs.

    It uses the views with at least as many entities as clusters, if there are any. Other entities are left open.
    """
    from ..constrained.multiview import MultiViewConstrainedKMeans

    large = [view for view in prepared if len(view.entities) >= n_clusters]
    if not large:
        return
    blocks = {}
    for view in large:
        U = view.clearest.features.vectors[:, 1 : CONSTRAINED_FEATURES + 1]
        blocks[view.name] = np.full((n_entities, max(1, U.shape[1])), np.nan)
        scale = np.sqrt(np.mean(U**2, axis=0))
        blocks[view.name][view.entities, : U.shape[1]] = U / np.where(scale > 0, scale, 1)
    model = MultiViewConstrainedKMeans(n_clusters, init="farthest", random_state=int(rng.integers(2**31)), n_jobs=1)
    used = np.unique(np.concatenate([view.entities for view in large]))
    numbers = np.column_stack([used, np.arange(len(used))])
    links = Constraints.from_links(constraints.must.transfer(numbers), constraints.cannot.transfer(numbers))
    labels = np.full(n_entities, -1)
    labels[used] = model.fit(Views(blocks)[used], constraints=links).labels_
    yield "constrained k-means", labels


def compute_starts(starts: Iterator[tuple[str, np.ndarray]]) -> list[tuple[str, np.ndarray]]:
    """Compute all starts without the warnings of the methods that make them: refinement goes on from any partition."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return list(starts)
