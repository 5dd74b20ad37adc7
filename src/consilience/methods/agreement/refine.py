"""Refinement: clusters follow the vote of the views' predictors, round by round."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from itertools import islice
from typing import Any

import numpy as np

from ...arrays import Array, asarray_like, namespace, to_numpy
from ...data import Constraints
from ...data.links import label_components
from .ensemble import Ensemble, Vote


@dataclass(frozen=True, eq=False)
class Round:
    """The clusters after a round, and the vote of the predictors given these clusters."""

    labels: np.ndarray
    vote: Vote
    changed: float  # share of entities that changed their cluster
    score: float  # bits
    tol: float

    comparable = True

    @property
    def costs(self) -> Mapping[str, float]:
        return {"bits": -self.score}

    @property
    def settled(self) -> bool:
        return self.changed <= self.tol

    @property
    def record(self) -> Mapping[str, Any]:
        return {"bits": self.score, "changed": self.changed}


def refine_labels(
    ensemble: Ensemble,
    labels: np.ndarray,
    tol: float,
    constraints: Constraints | None = None,
    is_outlier: np.ndarray | None = None,
    drift: np.ndarray | None = None,
    further_votes: Callable[[np.ndarray], np.ndarray] | None = None,
) -> Iterator[Round]:
    """Yield the clusters after each round; entities with a negative label get a cluster before the first.

    A cluster that no entity would choose keeps its members, so that no cluster is lost. Must-links by position
    are satisfied before the first round, and cannot-links are kept from then on if the clusters satisfy them.
    Outliers, which have no constraints, keep the label -1, so that no view learns from them. An entity that chooses
    the cluster `drift` has for it keeps its first label: it would have moved there in any case. `further_votes` are
    added to those of the views; they depend on the labels before the round.
    """
    is_placed = True if is_outlier is None else ~is_outlier
    if (is_placed & (labels < 0)).any():
        chosen = ensemble.choose(ensemble.vote(labels).total, labels)
        labels = np.where(is_placed & (labels < 0), chosen, labels)
    labels = first_labels = np.where(is_placed, labels, -1)
    kept = None
    if constraints is not None:
        labels = unite_linked(labels, constraints, ensemble.n_clusters)
        kept = KeptConstraints.from_labels(constraints, labels)
    vote = ensemble.vote(labels)
    while True:
        votes = vote.total
        if further_votes is not None:
            votes = votes + asarray_like(further_votes(labels).astype(np.float32), votes)
        votes = votes if kept is None else kept.pool(votes)
        chosen = np.where(is_placed, ensemble.choose(votes, labels), -1)
        if drift is not None:
            chosen = np.where(chosen == drift, first_labels, chosen)
        chosen = keep_clusters(chosen, labels, ensemble.n_clusters)
        if kept is not None:
            chosen = keep_constraints(chosen, labels, kept, ensemble.n_clusters)
        changed = float(np.mean(chosen != labels))
        labels = chosen
        vote = ensemble.vote(labels)
        yield Round(labels, vote, changed, ensemble.score(vote), tol)


def refine_start(ensemble: Ensemble, labels: np.ndarray, tol: float, max_iter: int) -> Round:
    """Return the last round of a refinement that ends when it is settled, or after `max_iter` rounds."""
    for state in islice(refine_labels(ensemble, labels, tol), max_iter):
        if state.settled:
            break
    return state


def keep_clusters(chosen: np.ndarray, labels: np.ndarray, n_clusters: int) -> np.ndarray:
    """Return the chosen clusters, with the members of clusters that would become empty put back."""
    before = np.bincount(labels + 1, minlength=n_clusters + 1)[1:]  # -1 is no cluster
    while True:
        emptied = (np.bincount(chosen + 1, minlength=n_clusters + 1)[1:] == 0) & (before > 0)
        if not emptied.any():
            return chosen
        is_back = (labels >= 0) & emptied[labels]
        chosen = np.where(is_back, labels, chosen)  # which may empty the cluster that they had chosen


def keep_constraints(chosen: np.ndarray, labels: np.ndarray, kept: KeptConstraints, n_clusters: int) -> np.ndarray:
    """Return the chosen clusters, with entities put back so that no constraint is broken and no cluster is lost."""
    while True:
        restored = kept.restore(chosen, labels)
        chosen = keep_clusters(restored, labels, n_clusters)
        if np.array_equal(chosen, restored):
            return chosen


@dataclass(frozen=True, eq=False)
class KeptConstraints:
    """Pairs of entities that refinement keeps together, or apart."""

    group: np.ndarray  # (n,), a number for each set of entities that must-links connect
    apart: np.ndarray  # (pairs, 2), entities that must be in different clusters

    @classmethod
    def from_labels(cls, constraints: Constraints, labels: np.ndarray) -> KeptConstraints:
        """Keep those of the constraints, by position, that the labels satisfy."""
        must, cannot = constraints.must_link, constraints.cannot_link
        together = labels[must[:, 0]] == labels[must[:, 1]]
        separate = labels[cannot[:, 0]] != labels[cannot[:, 1]]
        return cls(label_components(must[together], len(labels)), cannot[separate])

    def pool(self, votes: Array) -> Array:
        """Return votes summed over entities that stay together, so that they choose the same cluster."""
        n_groups = int(self.group.max()) + 1
        if n_groups == len(self.group):
            return votes
        sums = np.zeros((n_groups, votes.shape[1]))
        np.add.at(sums, self.group, to_numpy(votes))
        return namespace(votes).astype(asarray_like(sums[self.group], votes), votes.dtype)

    def restore(self, chosen: np.ndarray, labels: np.ndarray) -> np.ndarray:
        """Return the chosen clusters, with groups put back if two entities that stay apart would share a cluster.

        The loop ends because the previous labels satisfy all pairs.
        """
        chosen = chosen.copy()
        while True:
            met = self.apart[chosen[self.apart[:, 0]] == chosen[self.apart[:, 1]]]
            if not len(met):
                return chosen
            back = np.isin(self.group, self.group[met.ravel()])
            chosen[back] = labels[back]


def unite_linked(labels: np.ndarray, constraints: Constraints, n_clusters: int) -> np.ndarray:
    """Return labels in which entities that must-links connect share the cluster that most of them have."""
    group = label_components(constraints.must_link, len(labels))
    if group.max() + 1 == len(labels):
        return labels
    counts = np.zeros((group.max() + 1, n_clusters))
    placed = np.flatnonzero(labels >= 0)
    np.add.at(counts, (group[placed], labels[placed]), 1)
    return np.where(labels >= 0, np.argmax(counts, axis=1)[group], labels)


def drop_outweighed(links: Constraints) -> Constraints:
    """Return the constraints, by position, without the lighter of a must-link and a cannot-link on the same pair."""
    weights: dict[tuple[int, int], list[float]] = {}
    for kind, (pairs, pair_weights) in enumerate(
        ((links.must_link, links.must_weights), (links.cannot_link, links.cannot_weights))
    ):
        for first, second, weight in zip(*pairs.T.tolist(), pair_weights.tolist(), strict=True):
            weights.setdefault((min(first, second), max(first, second)), [0.0, 0.0])[kind] = weight
    must = [(*pair, heavy) for pair, (heavy, other) in weights.items() if heavy >= other and heavy > 0]
    cannot = [(*pair, heavy) for pair, (other, heavy) in weights.items() if heavy > other]
    return Constraints(must, cannot, by="position")


def count_broken(links: Constraints, labels: np.ndarray) -> float:
    """Return the number of constraints, by position, that labels break, weighted with mean weight 1."""
    must, cannot = links.must_link, links.cannot_link
    parted = links.must_weights[labels[must[:, 0]] != labels[must[:, 1]]].sum()
    joined = links.cannot_weights[labels[cannot[:, 0]] == labels[cannot[:, 1]]].sum()
    total = links.must_weights.sum() + links.cannot_weights.sum()
    return float(links.size * (parted + joined) / total) if total > 0 else 0.0
