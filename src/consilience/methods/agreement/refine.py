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
    *,
    is_outlier: np.ndarray | None = None,
    drift: np.ndarray | None = None,
    further_votes: Callable[[np.ndarray], np.ndarray] | None = None,
) -> Iterator[Round]:
    """Yield the clusters after each round; entities with a negative label get a cluster before the first.

    A cluster that no entity would choose keeps its members, so that no cluster is lost. Must-links by position
    are satisfied before the first round, and cannot-links are kept from then on if the clusters satisfy them.
    Outliers, which have no constraints, keep the label -1, so that no view learns from them. An entity that chooses
    the cluster `drift` has for it, as do all that must-links connect it with, keeps its first label, because it would
    have moved there in any case. `further_votes` are added to those of the views; they depend on the labels before the
    round.
    """
    is_outlier = np.zeros(len(labels), bool) if is_outlier is None else is_outlier
    labels = np.where(is_outlier, -1, labels)
    is_open = (labels < 0) & ~is_outlier
    if is_open.any():
        labels = np.where(is_open, ensemble.choose(ensemble.vote(labels).total, labels), labels)
    links = Constraints() if constraints is None else constraints
    labels = first_labels = unite_linked(labels, links, ensemble.n_clusters)
    kept = KeptConstraints.from_labels(links, labels)
    vote = ensemble.vote(labels)
    while True:
        chosen = choose_together(ensemble, add_further_votes(vote.total, further_votes, labels), labels, kept)
        if drift is not None:
            chosen = np.where(kept.find_whole_groups(chosen == drift), first_labels, chosen)
        chosen = keep_constraints(chosen, labels, kept, ensemble.n_clusters)
        changed = float(np.mean(chosen != labels))
        labels = chosen
        vote = ensemble.vote(labels)
        yield Round(labels, vote, changed, ensemble.score(vote), tol)


def find_drift(
    ensemble: Ensemble,
    state: Round,
    constraints: Constraints,
    further_votes: Callable[[np.ndarray], np.ndarray] | None = None,
) -> np.ndarray:
    """Return the cluster that each entity would move to in a further round, -1 for those that would stay."""
    kept = KeptConstraints.from_labels(constraints, state.labels)
    votes = add_further_votes(state.vote.total, further_votes, state.labels)
    chosen = choose_together(ensemble, votes, state.labels, kept)
    chosen = keep_constraints(chosen, state.labels, kept, ensemble.n_clusters)
    return np.where(chosen == state.labels, -1, chosen)


def add_further_votes(
    votes: Array, further_votes: Callable[[np.ndarray], np.ndarray] | None, labels: np.ndarray
) -> Array:
    """Return votes with further ones, which depend on the labels; None stands for no further votes."""
    if further_votes is None:
        return votes
    return votes + asarray_like(further_votes(labels).astype(np.float32), votes)


def choose_together(ensemble: Ensemble, votes: Array, labels: np.ndarray, kept: KeptConstraints) -> np.ndarray:
    """Return the cluster that each entity chooses with those it stays together with, -1 where its label is negative."""
    return np.where(labels < 0, -1, ensemble.choose(kept.pool(votes), labels))


def refine_start(ensemble: Ensemble, labels: np.ndarray, tol: float, max_iter: int) -> Round:
    """Return the last round of a refinement that ends when it is settled, or after `max_iter` rounds."""
    for state in islice(refine_labels(ensemble, labels, tol), max_iter):
        if state.settled:
            break
    return state


def keep_clusters(chosen: np.ndarray, labels: np.ndarray, n_clusters: int) -> np.ndarray:
    """Return the chosen clusters, with the members of clusters that would become empty put back."""
    before = count_members(labels, n_clusters)
    while True:
        emptied = (count_members(chosen, n_clusters) == 0) & (before > 0)
        if not emptied.any():
            return chosen
        is_restored = (labels >= 0) & emptied[labels]
        chosen = np.where(is_restored, labels, chosen)  # which may empty the cluster that they had chosen


def count_members(labels: np.ndarray, n_clusters: int) -> np.ndarray:
    """Return the number of entities in each cluster; negative labels count for none."""
    return np.bincount(labels[labels >= 0], minlength=n_clusters)


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

    def find_whole_groups(self, mask: np.ndarray) -> np.ndarray:
        """Return a mask of the entities that are in a mask with all that stay together with them."""
        return (np.bincount(self.group, weights=~mask) == 0)[self.group]

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
    """Return labels in which entities that must-links connect share the cluster that most of them have.

    Negative labels neither count nor change.
    """
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
