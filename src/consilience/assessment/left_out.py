"""What the views' predictors say of entities they have not learned from, for clusters of any origin."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations

import numpy as np
from sklearn.cluster import KMeans

from .._backend import single_openmp_thread, to_numpy
from ..affinities import Auto, Precomputed
from ..algorithms.agreement import Ensemble, balance_votes, mutual_information, refine_labels
from ..algorithms.run import run
from ..algorithms.spectral import unit_rows
from ..cluster._agreement import PreparedView, build_ensemble, map_views, prepare_views
from ..cluster._shared import ready_blocks
from ..cluster._similarities import columns_of, restricted
from ..cluster.consilience import measure_margins as measure_vote_margins
from ..data import Views
from .reference import LEAST_SHARED

PREDICTORS = ("components", "graph")
PENALTY, BALANCE = 0.05, 0.5  # as in Consilience
MAX_ITER, TOL = 15, 1e-3
RESTARTS = 3  # of k-means in one view
N_PERMUTATIONS = 3  # of labels, for the information that predictions seem to have by chance
COPIES = 0.9  # share of common neighbours from which two views count as copies of each other


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
            rounds = refine_labels(self.predictors, start, TOL)
            state = run(rounds, max_iter=MAX_ITER, tol=0, patience=MAX_ITER + 1, report=lambda *_: None).state
            if state.score > best_score:
                best_labels, best_score = state.labels, state.score
        return best_labels

    def _propose_starts(self, seed: int) -> list[np.ndarray]:
        """Return the clusters of k-means among the points of each geometry and among eigenvectors of the graph."""
        n_entities = len(self.view.entities)
        if n_entities <= self.n_clusters:
            return [np.arange(n_entities)]
        rows = [to_numpy(space.points) for space in self.view.spaces]
        rows.append(unit_rows(self.view.clearest.features.vectors[:, : self.n_clusters]))
        with single_openmp_thread(), warnings.catch_warnings():
            warnings.simplefilter("ignore")  # refinement goes on from fewer clusters, too
            return [
                KMeans(self.n_clusters, n_init=RESTARTS, random_state=seed).fit_predict(points).astype(np.int64)
                for points in rows
            ]

    def measure_prediction(self, labels: np.ndarray, rng: np.random.Generator) -> float:
        """Return how much of the information in labels the view predicts, from 0 (chance) to 1; NaN if undefined.

        `labels` has all entities; those count that have the view and a label from 0 on.
        """
        labels = labels[self.view.entities]
        labelled = np.flatnonzero(labels >= 0)
        if len(labelled) < LEAST_SHARED:
            return np.nan
        entropy = mutual_information(labels[labelled], labels[labelled], self.n_clusters)
        if entropy <= 0:
            return np.nan
        permuted = []
        for _ in range(N_PERMUTATIONS):
            shuffled = labels.copy()
            shuffled[labelled] = rng.permutation(labels[labelled])
            permuted.append(self._measure_information(shuffled, labelled))
        return (self._measure_information(labels, labelled) - float(np.mean(permuted))) / entropy

    def _measure_information(self, labels: np.ndarray, labelled: np.ndarray) -> float:
        predicted = self.predictors.choose(self.predictors.vote(labels).total, labels)
        return mutual_information(labels[labelled], predicted[labelled], self.n_clusters)


def judge_views(
    prepared: Sequence[PreparedView | None], labels: np.ndarray, n_clusters: int, seed: int
) -> dict[str, np.ndarray]:
    """Return how well each view predicts the labels, and (row) the clusters of each other view (column).

    A view without information (constant, or of too few entities) has NaN everywhere.
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
    return {"share": share, "prediction": prediction, "copies": find_copies(prepared)}


def measure_margins(prepared: Sequence[PreparedView | None], labels: np.ndarray, n_clusters: int) -> np.ndarray:
    """Return the margin of each entity's cluster over the best other in the left-out vote of all views, from 0 to 1.

    It is relative to the votes for the entity's cluster, 0 if another cluster has more, and NaN for an entity with a
    negative label. `Consilience` computes these margins when it is fitted.
    """
    margin = np.where(labels >= 0, 0.0, np.nan)
    usable = [view for view in prepared if view is not None]
    if usable:
        ensemble = build_ensemble(usable, len(labels), n_clusters, PREDICTORS, PENALTY, BALANCE)
        votes = to_numpy(balance_votes(ensemble.vote(labels).total, ensemble.sizes(labels), BALANCE))
        labelled = labels >= 0
        margin[labelled] = measure_vote_margins(votes[labelled], labels[labelled])
    return margin


def prepare_apart(views: Views, precomputed: Mapping[str, bool], n_clusters: int) -> list[PreparedView | None]:
    """Prepare each view by itself; None for a view that holds no information about its entities."""
    affinities = {name: Precomputed() if given else Auto() for name, given in precomputed.items()}
    columns = columns_of(views, affinities, chosen=True)

    def prepare(name: str) -> PreparedView | None:
        chosen = {name: columns[name]} if name in columns else {}
        try:
            return prepare_views(restricted(views[[name]], chosen), precomputed, n_clusters)[0]
        except ValueError:  # the view is constant or zero, or at most one entity has it
            return None

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # entities that lack a view are mentioned by the fit
        return list(map_views(prepare, views.names, ready_blocks(views[:1])[views.names[0]][0]))


def find_copies(prepared: Sequence[PreparedView | None]) -> np.ndarray:
    """Return the positions of pairs of views whose entities have nearly the same neighbours, (pairs, 2)."""
    pairs = [
        (first, second)
        for (first, view), (second, other) in combinations(enumerate(prepared), 2)
        if view is not None and other is not None and share_neighbors(view, other) >= COPIES
    ]
    return np.array(pairs, dtype=np.int64).reshape(-1, 2)


def share_neighbors(first: PreparedView, second: PreparedView) -> float:
    """Return the share of neighbours that are the same in two views, over the geometries that are most alike."""
    if not np.array_equal(first.entities, second.entities):
        return 0.0
    shares = []
    for space in first.spaces:
        for other_space in second.spaces:
            edges, other_edges = space.matrix > 0, other_space.matrix > 0
            n = edges.shape[0]
            common = edges.multiply(other_edges).sum() - n  # every entity is joined to itself
            shares.append(common / max(1, min(edges.sum(), other_edges.sum()) - n))
    return float(max(shares))
