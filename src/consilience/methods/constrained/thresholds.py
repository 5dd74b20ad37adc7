"""Which threshold propagated constraints should have, by cross-validation (Eaton et al. 2010, section 5.4)."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

import numpy as np

from ...data import Constraints, Links
from .co_constrained import ClosedConstraints, MappedViews

CANDIDATES = (0.2, 0.35, 0.5, 0.65, 0.8, 0.95)
N_FOLDS = 5
USUAL = 0.5  # of thresholds that do equally well the one nearest to this


Cluster = Callable[
    [Mapping[str, ClosedConstraints], float], Mapping[str, np.ndarray]
]  # constraints, threshold -> view labels


def choose_threshold(
    mapped: MappedViews, given: Mapping[str, Constraints], cluster: Cluster, rng: np.random.Generator
) -> float:
    """The threshold under which constraints that were left out of the clustering are kept best."""
    if sum(own.size for own in given.values()) < 2:
        raise ValueError("threshold='auto' needs at least two constraints within views to choose by: give a number")
    scores = np.zeros((len(CANDIDATES), 2, 2))  # threshold, kind, (weight kept, weight of all)
    for train, test in split_folds(mapped, given, rng):
        closed = mapped.closed(train, Constraints())
        for place, threshold in enumerate(CANDIDATES):
            labels = cluster(closed, threshold)
            for name, own in test.items():
                scores[place] += score_constraints(labels[name], own)
    shares = scores[..., 0] / np.where(scores[..., 1] > 0, scores[..., 1], 1)
    there = scores[0, :, 1] > 0  # kinds of constraints that there are
    found = shares[:, there].mean(axis=1)
    best = [t for t, score in zip(CANDIDATES, found, strict=True) if score >= found.max() - 1e-12]
    return min(best, key=lambda t: abs(t - USUAL))


def split_folds(
    mapped: MappedViews, given: Mapping[str, Constraints], rng: np.random.Generator
) -> Iterator[tuple[dict[str, Constraints], dict[str, Constraints]]]:
    """Constraints to cluster by, and those left out; what several views were told of a pair is left out in all."""
    must = assign_folds({name: mapped.nodes[name][own.must.pairs] for name, own in given.items()}, rng)
    cannot = assign_folds({name: mapped.nodes[name][own.cannot.pairs] for name, own in given.items()}, rng)
    for f in range(N_FOLDS):
        train, test = {}, {}
        for name, own in given.items():
            train[name] = Constraints.from_links(own.must.where(must[name] != f), own.cannot.where(cannot[name] != f))
            test[name] = Constraints.from_links(own.must.where(must[name] == f), own.cannot.where(cannot[name] == f))
        yield train, test


def assign_folds(pairs: Mapping[str, np.ndarray], rng: np.random.Generator) -> dict[str, np.ndarray]:
    """The fold of each pair, the same for the same pair; folds are of about the same size."""
    stacked = np.sort(np.vstack(list(pairs.values())), axis=1)
    different, which = np.unique(stacked, axis=0, return_inverse=True)
    fold = rng.permutation(np.arange(len(different)) % N_FOLDS)[which.reshape(-1)]
    ends = np.cumsum([len(own) for own in pairs.values()])
    return dict(zip(pairs, np.split(fold, ends[:-1]), strict=True))


def score_constraints(labels: np.ndarray, constraints: Constraints) -> np.ndarray:
    """For must-links and cannot-links the weight of those that the labels keep, and of all: (2, 2)."""
    return np.array([score_links(labels, constraints.must, True), score_links(labels, constraints.cannot, False)])


def score_links(labels: np.ndarray, links: Links, together: bool) -> tuple[float, float]:
    """The weight of the links whose ends are together, or not, and that of all."""
    right = (labels[links.pairs[:, 0]] == labels[links.pairs[:, 1]]) == together
    return float(links.weights[right].sum()), float(links.weights.sum())
