"""What the views' predictors say of entities they have not learned from, for clusters of any origin."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.sparse.csgraph import connected_components

from ..arrays import to_numpy
from ..data import Views
from ..methods.agreement.ensemble import Ensemble, balance_votes, mutual_information
from ..methods.agreement.inputs import PreparedView, build_ensemble, find_similarity_columns, map_views, prepare_views
from ..methods.agreement.refine import refine_start
from ..methods.agreement.starts import run_kmeans
from ..methods.common.input_checks import validate_blocks
from ..methods.common.margins import measure_vote_margins
from ..methods.common.similarities import restrict_columns
from .reference import LEAST_SHARED

PREDICTORS = ("components", "graph")
PENALTY, BALANCE = 0.05, 0.5  # as in Consilience
MAX_ITER, TOL = 15, 1e-3
RESTARTS = 3  # of k-means in one view
N_PERMUTATIONS = 3  # of labels, for the information that predictions seem to have by chance
COPIES = 0.7  # share of common neighbors beyond chance from which two views count as copies of each other
ALIKE = 0.6  # and from which they are so alike that their agreement proves little


def uses_reference_votes(estimator: Any) -> bool:
    """Return whether the margins of an estimator come from the predictors that an assessment uses."""
    options = (getattr(estimator, name, None) for name in ("predictors", "penalty", "balance"))
    predictors, penalty, balance = options
    return predictors is not None and (tuple(predictors), penalty, balance) == (PREDICTORS, PENALTY, BALANCE)


@dataclass(frozen=True, eq=False)
class ViewJudge:
    """The predictors of one view, which leave out the entity they predict."""

    view: PreparedView
    predictors: Ensemble  # over the entities that have the view
    n_clusters: int

    @classmethod
    def build(cls, view: PreparedView, n_clusters: int) -> ViewJudge:
        """Build the predictors of a view."""
        n_entities = len(view.entities)
        rows = replace(view, entities=np.arange(n_entities))
        return cls(view, build_ensemble([rows], n_entities, n_clusters, PREDICTORS, PENALTY, BALANCE), n_clusters)

    def cluster(self, seed: int) -> np.ndarray:
        """Cluster the entities that have the view by this view alone: the best of several starts, refined."""
        best_labels, best_score = np.zeros(len(self.view.entities), np.int64), -np.inf
        for start in self._propose_starts(seed):
            state = refine_start(self.predictors, start, TOL, MAX_ITER)
            if state.score > best_score:
                best_labels, best_score = state.labels, state.score
        return best_labels

    def _propose_starts(self, seed: int) -> list[np.ndarray]:
        """Return the clusters of k-means among the points of each geometry and among eigenvectors of the graph."""
        n_entities = len(self.view.entities)
        if n_entities <= self.n_clusters:
            return [np.arange(n_entities)]
        rows = [to_numpy(space.points) for space in self.view.spaces]
        rows.append(self.view.embed(self.n_clusters))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # refinement accepts fewer clusters
            return [run_kmeans(points, self.n_clusters, RESTARTS, seed).astype(np.int64) for points in rows]

    def measure_prediction(self, labels: np.ndarray, rng: np.random.Generator) -> float:
        """Return how much of the information in labels the view predicts, from 0 (chance) to 1; NaN if undefined.

        `labels` has all entities; those count that have the view and a label from 0 on.
        """
        labels = labels[self.view.entities]
        labeled = np.flatnonzero(labels >= 0)
        if len(labeled) < LEAST_SHARED:
            return np.nan
        entropy = mutual_information(labels[labeled], labels[labeled], self.n_clusters)
        if entropy <= 0:
            return np.nan
        permuted = []
        for _ in range(N_PERMUTATIONS):
            shuffled = labels.copy()
            shuffled[labeled] = rng.permutation(labels[labeled])
            permuted.append(self._measure_information(shuffled, labeled))
        return (self._measure_information(labels, labeled) - float(np.mean(permuted))) / entropy

    def _measure_information(self, labels: np.ndarray, labeled: np.ndarray) -> float:
        predicted = self.predictors.choose(self.predictors.vote(labels).total, labels)
        return mutual_information(labels[labeled], predicted[labeled], self.n_clusters)


def judge_views(
    prepared: Sequence[PreparedView | None], labels: np.ndarray, n_clusters: int, seed: int
) -> dict[str, np.ndarray]:
    """Return how well each view predicts the labels, and (row) the clusters of each other view (column).

    A view without information (constant, or of too few entities) has NaN everywhere. `unjudged` says why the share of
    a view is NaN: "constant", "few" entities that have it, or "one cluster" that has all of these. `copies` and
    `alike` are pairs of views.
    """
    n_views = len(prepared)
    usable = [v for v, view in enumerate(prepared) if view is not None]
    judges = {v: ViewJudge.build(view, n_clusters) for v, view in enumerate(prepared) if view is not None}
    seeds = np.random.default_rng(seed).integers(2**31, size=(n_views, 2)).tolist()
    like = judges[usable[0]].predictors.like if usable else np.empty(0)
    clusters_alone = {v: np.full(len(labels), -1) for v in usable}
    if len(usable) > 1:
        for v, clusters in zip(usable, map_views(lambda v: judges[v].cluster(seeds[v][0]), usable, like), strict=True):
            clusters_alone[v][judges[v].view.entities] = clusters

    def measure_predictions(v: int) -> tuple[float, list[float]]:
        rng = np.random.default_rng(seeds[v][1])
        share = judges[v].measure_prediction(labels, rng)
        return share, [judges[v].measure_prediction(clusters_alone[w], rng) if w != v else np.nan for w in usable]

    share, prediction = np.full(n_views, np.nan), np.full((n_views, n_views), np.nan)
    for v, (share_of_labels, shares_of_views) in zip(usable, map_views(measure_predictions, usable, like), strict=True):
        share[v], prediction[v, usable] = share_of_labels, shares_of_views
    return {
        "share": share,
        "prediction": prediction,
        "unjudged": np.array([explain_unjudged(view, labels) for view in prepared], dtype="<U16"),
        **find_copies(prepared, labels),
    }


def explain_unjudged(view: PreparedView | None, labels: np.ndarray) -> str:
    """Return why it cannot be measured how well a view predicts the labels; empty if it can."""
    if view is None:
        return "constant"
    labels = labels[view.entities]
    labels = labels[labels >= 0]
    if len(labels) < LEAST_SHARED:
        return "few"
    return "one cluster" if (labels == labels[0]).all() else ""


def measure_left_out_margins(
    prepared: Sequence[PreparedView | None], labels: np.ndarray, n_clusters: int
) -> np.ndarray:
    """Return the margin of each entity's cluster over the best other in the left-out vote of all views, from 0 to 1.

    It is relative to the votes for the entity's cluster, 0 if another cluster has more, and NaN for an entity with a
    negative label. `Consilience` computes these margins when it is fitted.
    """
    margin = np.where(labels >= 0, 0.0, np.nan)
    usable = [view for view in prepared if view is not None]
    if usable:
        ensemble = build_ensemble(usable, len(labels), n_clusters, PREDICTORS, PENALTY, BALANCE)
        votes = to_numpy(balance_votes(ensemble.vote(labels).total, ensemble.sizes(labels), BALANCE))
        labeled = labels >= 0
        margin[labeled] = measure_vote_margins(votes[labeled], labels[labeled])
    return margin


def prepare_apart(views: Views, precomputed: Mapping[str, bool], n_clusters: int) -> list[PreparedView | None]:
    """Prepare each view by itself; None for a view that holds no information about its entities."""
    columns = find_similarity_columns(views, precomputed, source=views)

    def prepare(name: str) -> PreparedView | None:
        chosen = {name: columns[name]} if name in columns else {}
        try:
            return prepare_views(restrict_columns(views[[name]], chosen), precomputed, n_clusters)[0]
        except ValueError:  # the view is constant or zero, or at most one entity has it
            return None

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # entities that lack a view are mentioned by the fit
        return list(map_views(prepare, views.names, validate_blocks(views[:1])[views.names[0]][0]))


def find_copies(prepared: Sequence[PreparedView | None], labels: np.ndarray) -> dict[str, np.ndarray]:
    """Return pairs of views that are nearly copies of each other, and other pairs that are very alike, (pairs, 2).

    Entities have nearly the same neighbors in copies. A copy of a copy is a copy, too.
    """
    n_views = len(prepared)
    shared = np.zeros((n_views, n_views))
    for (first, view), (second, other) in combinations(enumerate(prepared), 2):
        if view is not None and other is not None:
            shared[first, second] = share_neighbors(view, other, labels)
    groups = connected_components(shared >= COPIES, directed=False)[1]
    copies = np.triu(groups[:, None] == groups, k=1)
    return {"copies": np.argwhere(copies), "alike": np.argwhere((shared >= ALIKE) & ~copies)}


def share_neighbors(first: PreparedView, second: PreparedView, labels: np.ndarray) -> float:
    """Return the share of neighbors that are the same in two views beyond chance, 0 to 1.

    Chance is the share after the entities of each cluster were permuted: in small clusters the neighbors are the same
    even if the views have nothing but these clusters in common. The geometries count that are most alike. Only entities
    that have both views count; the share is 0 if these are too few.
    """
    entities, rows, other_rows = np.intersect1d(first.entities, second.entities, return_indices=True)
    if len(entities) < LEAST_SHARED:
        return 0.0
    permuted = permute_within(labels[entities])
    shares = [0.0]
    for space in first.spaces:
        edges = (space.matrix > 0)[rows][:, rows]
        for other_space in second.spaces:
            other_edges = (other_space.matrix > 0)[other_rows][:, other_rows]
            share = compute_overlap(edges, other_edges)
            chance = compute_overlap(edges, other_edges[permuted][:, permuted])
            if chance < 1:
                shares.append((share - chance) / (1 - chance))
    return float(max(shares))


def compute_overlap(edges: sp.csr_array, other_edges: sp.csr_array) -> float:
    """Return the share of the edges of two graphs that are the same."""
    n = edges.shape[0]  # every entity is joined to itself, which is no edge
    return float((edges.multiply(other_edges).sum() - n) / max(1, min(edges.sum(), other_edges.sum()) - n))


def permute_within(labels: np.ndarray) -> np.ndarray:
    """Return a random permutation that keeps every entity in its cluster."""
    permuted = np.empty(len(labels), np.int64)
    shuffled = np.random.default_rng(0).permutation(len(labels))
    permuted[np.argsort(labels, kind="stable")] = shuffled[np.argsort(labels[shuffled], kind="stable")]
    return permuted
