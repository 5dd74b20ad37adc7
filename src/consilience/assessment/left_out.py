"""What the views' predictors say of entities they have not learned from, for clusters of any origin."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations

import numpy as np

from .._backend import to_numpy
from ..affinities import Auto, Precomputed
from ..algorithms.agreement import Ensemble, balance_votes, mutual_information, refine_labels
from ..algorithms.run import run
from ..cluster._agreement import PreparedView, build_ensemble, compute_starts, prepare_views, propose_starts
from ..cluster._similarities import columns_of, restricted
from ..data import Views

PREDICTORS = ("components", "graph")
PENALTY, BALANCE = 0.05, 0.5  # as in Consilience
MAX_ITER, TOL = 15, 1e-3
N_PERMUTATIONS = 6  # of labels, for the information that predictions seem to have by chance
LEAST_SHARED = 20  # entities that two views must share to be compared
COPIES = 0.9  # share of common neighbours from which two views count as copies of each other


@dataclass(frozen=True, eq=False)
class LeftOutPredictors:
    """Predictors of each view that leave out the entity they predict."""

    prepared: Sequence[PreparedView]
    n_entities: int
    n_clusters: int

    @classmethod
    def build(cls, views: Views, precomputed: Mapping[str, bool], n_clusters: int) -> LeftOutPredictors:
        """Build the predictors of these entities; `precomputed` tells which views are matrices of similarities."""
        affinities = {name: Precomputed() if given else Auto() for name, given in precomputed.items()}
        columns = columns_of(views, affinities, chosen=True)
        return cls(prepare_views(restricted(views, columns), precomputed, n_clusters), len(views), n_clusters)

    def measure_margins(self, labels: np.ndarray) -> np.ndarray:
        """Return the relative margin of the largest vote over the second for each entity, from 0 to 1.

        Entities with a negative label teach nothing but are predicted.
        """
        ensemble = self._build_ensemble(self.prepared, self.n_entities)
        votes = to_numpy(balance_votes(ensemble.vote(labels).total, ensemble.sizes(labels), BALANCE))
        return compare_largest(votes)

    def cluster_view(self, view: PreparedView, rng: np.random.Generator) -> np.ndarray:
        """Cluster the entities by one view alone; -1 where an entity lacks the view."""
        n_rows = len(view.entities)
        alone = replace(view, entities=np.arange(n_rows))
        ensemble = self._build_ensemble([alone], n_rows)
        best_labels, best_score = np.zeros(n_rows, np.int64), -np.inf
        for _, start in compute_starts(propose_starts([alone], n_rows, self.n_clusters, 1, rng)):
            rounds = refine_labels(ensemble, start, TOL)
            state = run(rounds, max_iter=MAX_ITER, tol=0, patience=MAX_ITER + 1, report=lambda *_: None).state
            if state.score > best_score:
                best_labels, best_score = state.labels, state.score
        labels = np.full(self.n_entities, -1)
        labels[view.entities] = best_labels
        return labels

    def measure_prediction(self, view: PreparedView, labels: np.ndarray, rng: np.random.Generator) -> float:
        """Return how much of the information in labels one view predicts, from 0 (chance) to 1; NaN if undefined.

        Only entities that have the view and a label count.
        """
        n_rows = len(view.entities)
        ensemble = self._build_ensemble([replace(view, entities=np.arange(n_rows))], n_rows)
        labels = labels[view.entities]
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
            permuted.append(self._measure_information(ensemble, shuffled, labelled))
        return (self._measure_information(ensemble, labels, labelled) - float(np.mean(permuted))) / entropy

    def _measure_information(self, ensemble: Ensemble, labels: np.ndarray, labelled: np.ndarray) -> float:
        predicted = ensemble.choose(ensemble.vote(labels).total, labels)
        return mutual_information(labels[labelled], predicted[labelled], self.n_clusters)

    def _build_ensemble(self, prepared: Sequence[PreparedView], n_entities: int) -> Ensemble:
        return build_ensemble(prepared, n_entities, self.n_clusters, PREDICTORS, PENALTY, BALANCE)

    def find_copies(self) -> list[tuple[int, int]]:
        """Return the positions of pairs of views whose entities have nearly the same neighbours."""
        return [
            (first, second)
            for first, second in combinations(range(len(self.prepared)), 2)
            if share_neighbors(self.prepared[first], self.prepared[second]) >= COPIES
        ]


def share_neighbors(first: PreparedView, second: PreparedView) -> float:
    """Return the share of neighbours that are the same in two views, over the geometries that are most alike."""
    if not np.array_equal(first.entities, second.entities):
        return 0.0
    shares = []
    for one_space in first.spaces:
        for other_space in second.spaces:
            edges, other_edges = one_space.matrix > 0, other_space.matrix > 0
            n = edges.shape[0]
            common = edges.multiply(other_edges).sum() - n  # every entity is joined to itself
            shares.append(common / max(1, min(edges.sum(), other_edges.sum()) - n))
    return float(max(shares))


def compare_largest(votes: np.ndarray) -> np.ndarray:
    """Return the largest vote of each row minus the second, relative to the largest, from 0 to 1."""
    if votes.shape[1] == 1:
        return np.ones(len(votes))
    second, largest = np.partition(votes, -2, axis=1)[:, -2:].T
    margin = largest - np.maximum(second, 0)
    return np.clip(np.where(largest > 0, margin / np.where(largest > 0, largest, 1), 0), 0, 1)
