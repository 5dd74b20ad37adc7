"""Leave-one-out predictors that are prepared once and serve every number of clusters."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import scipy.sparse as sp
from sklearn.metrics import adjusted_mutual_info_score

from ..arrays import normalize_rows, to_numpy
from ..data import Views
from ..methods.agreement.ensemble import Ensemble, ViewPredictors, Vote, choose_clusters, encode_labels
from ..methods.agreement.inputs import PreparedView, find_similarity_columns, find_usable_rows, prepare_views
from ..methods.agreement.predictors import GraphFeatures, LeaveOneOutRidge, append_constant, count_graph_features
from ..methods.agreement.refine import Round, refine_start
from ..methods.agreement.starts import add_graphs, concatenate_embeddings, run_kmeans
from ..methods.common.input_checks import validate_blocks
from ..methods.common.similarities import restrict_columns, select_rows

PENALTY, BALANCE = 0.05, 0.5  # as in Consilience
ROUNDS = 6  # of refinement per start: enough to compare numbers of clusters
RESTARTS = 3  # of k-means per start
TOL = 1e-3  # share of entities below which refinement stops
MOST_FEATURES = 150  # eigenvectors of a graph
LEAST_SHARED = 20  # entities with a view and another from which their agreement is measured


@dataclass(frozen=True, eq=False)
class SharedPredictors:
    """The views of some entities, prepared for predictors of any number of clusters.

    In a permuted copy each view belongs to other entities than the rest, so that the views are independent.
    """

    prepared: Sequence[PreparedView]
    ridges: Sequence[Sequence[LeaveOneOutRidge]]  # on the components, per view and geometry
    n_entities: int
    columns: Mapping[str, np.ndarray]  # of similarities: the entities that are compared with
    graph: sp.csr_array  # sum of the views' graphs
    embedding: np.ndarray  # (entities, most clusters): leading eigenvectors of the graph

    @classmethod
    def build(cls, views: Views, precomputed: Mapping[str, bool], most_clusters: int) -> SharedPredictors:
        """Prepare the views; `precomputed` tells which of them are matrices of similarities."""
        columns = find_similarity_columns(views, precomputed, source=views)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # the fit with the chosen number will warn of the data
            prepared = prepare_views(
                restrict_columns(views, columns), precomputed, min(most_clusters, MOST_FEATURES // 2)
            )
        return cls.from_prepared(prepared, len(views), columns, most_clusters)

    @classmethod
    def from_prepared(
        cls, prepared: Sequence[PreparedView], n_entities: int, columns: Mapping[str, np.ndarray], most_clusters: int
    ) -> SharedPredictors:
        """Build the predictors of views that have been prepared."""
        prepared = [
            replace(view, spaces=[replace(space, points=to_numpy(space.points)) for space in view.spaces])
            for view in prepared
        ]
        ridges = [[LeaveOneOutRidge.fit(space.points, PENALTY) for space in view.spaces] for view in prepared]
        return cls._embed(prepared, ridges, n_entities, columns, most_clusters)

    @classmethod
    def _embed(
        cls,
        prepared: Sequence[PreparedView],
        ridges: Sequence[Sequence[LeaveOneOutRidge]],
        n_entities: int,
        columns: Mapping[str, np.ndarray],
        most_clusters: int,
    ) -> SharedPredictors:
        graph = add_graphs(prepared, n_entities)
        embedding = GraphFeatures.fit(graph, min(n_entities, most_clusters), np.random.default_rng(0)).vectors
        return cls(prepared, ridges, n_entities, columns, graph, embedding)

    @property
    def most_clusters(self) -> int:
        """Largest number of clusters that the views were prepared for."""
        return self.embedding.shape[1]

    def permute(self, rng: np.random.Generator) -> SharedPredictors:
        """Return a copy in which each view belongs to entities drawn at random among those that have it."""
        permuted = [replace(view, entities=rng.permutation(view.entities)) for view in self.prepared]
        return self._embed(permuted, self.ridges, self.n_entities, self.columns, self.most_clusters)

    def build_ensemble(self, n_clusters: int) -> Ensemble:
        """Build the predictors of so many clusters."""
        views = [
            ViewPredictors(view.name, view.entities, ridges, 1 / len(view.spaces))
            for view, ridges in zip(self.prepared, self._build_ridges(n_clusters), strict=True)
        ]
        return Ensemble(views, self.n_entities, n_clusters, BALANCE, np.zeros((0, 1), np.float32))

    def _build_ridges(self, n_clusters: int) -> list[list[LeaveOneOutRidge]]:
        """Return per view and geometry the regression on components and the one on eigenvectors of the graph."""
        by_view = []
        for view, on_components in zip(self.prepared, self.ridges, strict=True):
            ridges = []
            for space, ridge in zip(view.spaces, on_components, strict=True):
                vectors, eigenvalues = space.features.vectors, space.features.eigenvalues
                number = count_graph_features(len(vectors), n_clusters)  # as a fit with so many clusters computes
                features = replace(space.features, vectors=vectors[:, :number], eigenvalues=eigenvalues[:number])
                ridges += [ridge, LeaveOneOutRidge.fit(features.values.astype(np.float32), PENALTY)]
            by_view.append(ridges)
        return by_view

    def cluster(self, n_clusters: int, rng: np.random.Generator, earlier: np.ndarray | None = None) -> Round:
        """Return the best of a few refined starts; `earlier` are labels of fewer clusters, of which some are split."""
        ensemble = self.build_ensemble(n_clusters)
        rows = normalize_rows(self.embedding[:, :n_clusters])
        starts = [cluster_rows(rows, n_clusters, rng)]
        if len(self.prepared) > 1:
            side_by_side = concatenate_embeddings(self.prepared, self.n_entities, n_clusters)
            starts.append(cluster_rows(side_by_side, n_clusters, rng))
        if earlier is not None:
            starts.append(split_clusters(earlier, rows, n_clusters, rng))
        return max((refine_start(ensemble, start, TOL, ROUNDS) for start in starts), key=lambda state: state.score)

    def place(self, views: Views) -> list[PlacedView]:
        """Return other entities as points and in the graphs of these views, for `predict`."""
        placed = []
        blocks = validate_blocks(restrict_columns(views, self.columns))
        for view in self.prepared:
            X, has_view = blocks[view.name]
            has_row = find_usable_rows(X, has_view)
            spaces = []
            if has_row.any():
                for space in view.spaces:
                    points = to_numpy(space.geometry.transform(select_rows(X, has_row)))
                    spaces.append((points, space.graph.join(points)[0] @ space.features.extension))
            placed.append(PlacedView(np.flatnonzero(has_row), spaces))
        return placed

    def predict(self, state: Round, placed: Sequence[PlacedView], n_entities: int) -> np.ndarray:
        """Return the clusters of other entities, predicted from the clusters of these."""
        n_clusters = state.vote.total.shape[1]
        votes = np.zeros((n_entities, n_clusters))
        ridges = self._build_ridges(n_clusters)
        for view, others, view_ridges, weights in zip(self.prepared, placed, ridges, state.vote.weights, strict=True):
            members = encode_labels(state.labels[view.entities], n_clusters, np.zeros((0, 1), np.float32))
            pairs = iter(zip(view_ridges, weights.tolist(), strict=True))
            for points, joined in others.spaces:
                ridge, weight = next(pairs)
                votes[others.entities] += weight * (append_constant(points) @ to_numpy(ridge.learn(members)))
                ridge, weight = next(pairs)
                coefficients = to_numpy(ridge.learn(members))
                features = normalize_rows(joined[:, : len(coefficients) - 1])
                votes[others.entities] += weight * (append_constant(features) @ coefficients)
        shares = np.bincount(state.labels, minlength=n_clusters) / len(state.labels)
        return choose_clusters(votes, np.maximum(shares, 1 / len(state.labels)), BALANCE)


@dataclass(frozen=True, eq=False)
class PlacedView:
    """The entities that have a view, and in each geometry their points and their places in its graph."""

    entities: np.ndarray
    spaces: Sequence[tuple[np.ndarray, np.ndarray]]


def cluster_rows(rows: np.ndarray, n_clusters: int, rng: np.random.Generator) -> np.ndarray:
    """Cluster rows by k-means with a random seed."""
    return run_kmeans(rows, n_clusters, RESTARTS, int(rng.integers(2**31)))


def split_clusters(labels: np.ndarray, rows: np.ndarray, n_clusters: int, rng: np.random.Generator) -> np.ndarray:
    """Split the widest cluster in two until there are so many clusters."""
    labels = labels.copy()
    for number in range(int(labels.max()) + 1, n_clusters):
        members_of = [rows[labels == cluster] for cluster in range(number)]
        widths = [np.sum((points - points.mean(axis=0)) ** 2) if len(points) > 1 else 0.0 for points in members_of]
        members = np.flatnonzero(labels == int(np.argmax(widths)))
        if len(members) < 2:
            break
        labels[members[cluster_rows(rows[members], 2, rng) == 1]] = number
    return labels


def measure_agreement(ensemble: Ensemble, vote: Vote, labels: np.ndarray) -> float:
    """Return how far each view and all others predict the same clusters, the entity left out, beyond chance.

    Adjusted mutual information, the mean over views by their entities; NaN with one view.
    """
    n_views = np.zeros(ensemble.n_entities)
    for view in ensemble.views:
        n_views[view.entities] += 1
    values, weights = [], []
    for view, votes in zip(ensemble.views, vote.by_view, strict=True):
        shared = n_views[view.entities] > 1
        if shared.sum() < LEAST_SHARED:
            continue
        others = vote.total[view.entities] - votes
        first, second = ensemble.choose(votes, labels), ensemble.choose(others, labels)
        values.append(adjusted_mutual_info_score(first[shared], second[shared]))
        weights.append(int(shared.sum()))
    return float(np.average(values, weights=weights)) if values else np.nan


def measure_modularity(graph: sp.csr_array, labels: np.ndarray) -> float:
    """Return the modularity of clusters in a graph, from -1/2 to 1; loops and entities labeled -1 do not count."""
    edges = sp.coo_array(graph)
    apart = (edges.row != edges.col) & (labels[edges.row] >= 0) & (labels[edges.col] >= 0)
    rows, columns, weights = edges.row[apart], edges.col[apart], edges.data[apart]
    total = weights.sum()
    if total <= 0:
        return 0.0
    within = weights[labels[rows] == labels[columns]].sum() / total
    shares = np.bincount(labels[rows], weights) / total
    return float(within - np.sum(shares**2))
