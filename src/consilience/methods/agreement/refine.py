"""Refinement: clusters follow the vote of the views' predictors, round by round."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from ...data import Constraints
from .constraints import KeptConstraints, unite_linked
from .ensemble import Ensemble, Vote


@dataclass(frozen=True, eq=False)
class Round:
    """The clusters after a round, and what the predictors say given these clusters."""

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
    ensemble: Ensemble, labels: np.ndarray, tol: float, constraints: Constraints | None = None
) -> Iterator[Round]:
    """Yield the clusters after each round; entities with a negative label get a cluster before the first.

    A cluster that no entity would choose keeps its members, so that no cluster is lost. Must-links by position
    are satisfied before the first round, and cannot-links are kept from then on if the clusters satisfy them.
    """
    if (labels < 0).any():
        labels = np.where(labels < 0, ensemble.choose(ensemble.vote(labels).total, labels), labels)
    kept = None
    if constraints is not None:
        labels = unite_linked(labels, constraints, ensemble.n_clusters)
        kept = KeptConstraints.of(constraints, labels)
    vote = ensemble.vote(labels)
    while True:
        votes = vote.total if kept is None else kept.pool(vote.total)
        chosen = keep_clusters(ensemble.choose(votes, labels), labels, ensemble.n_clusters)
        if kept is not None:
            chosen = keep_constraints(chosen, labels, kept, ensemble.n_clusters)
        changed = float(np.mean(chosen != labels))
        labels = chosen
        vote = ensemble.vote(labels)
        yield Round(labels, vote, changed, ensemble.score(vote), tol)


def keep_clusters(chosen: np.ndarray, labels: np.ndarray, n_clusters: int) -> np.ndarray:
    """Return the chosen clusters, with the members of clusters that would become empty put back."""
    before = np.bincount(labels, minlength=n_clusters)
    while True:
        emptied = (np.bincount(chosen, minlength=n_clusters) == 0) & (before > 0)
        if not emptied.any():
            return chosen
        chosen = np.where(emptied[labels], labels, chosen)  # which may empty the cluster that they had chosen


def keep_constraints(chosen: np.ndarray, labels: np.ndarray, kept: KeptConstraints, n_clusters: int) -> np.ndarray:
    """Return the chosen clusters, with entities put back so that no constraint is broken and no cluster is lost."""
    while True:
        restored = kept.restore(chosen, labels)
        chosen = keep_clusters(restored, labels, n_clusters)
        if np.array_equal(chosen, restored):
            return chosen
