"""Choose the threshold of propagated constraints by cross-validation (Eaton et al. 2010, section 5.4)."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

import numpy as np

from ...data import Constraints
from ...data.links import Links
from .co_constrained import ClosedConstraints, MappedViews

CANDIDATES = (0.2, 0.35, 0.5, 0.65, 0.8, 0.95)
N_FOLDS = 5
DEFAULT_THRESHOLD = 0.5  # among thresholds that do equally well, the one nearest to this is chosen

# constraints, threshold -> labels per view
ClusterViews = Callable[[Mapping[str, ClosedConstraints], float], Mapping[str, np.ndarray]]


def choose_threshold(
    mapped: MappedViews, constraints: Mapping[str, Constraints], cluster: ClusterViews, rng: np.random.Generator
) -> float:
    """Choose the threshold under which held-out constraints are satisfied best."""
    if sum(links.size for links in constraints.values()) < 2:
        raise ValueError("threshold='auto' needs at least two constraints within views to choose by: give a number")
    scores = np.zeros((len(CANDIDATES), 2, 2))  # threshold, kind, (satisfied weight, total weight)
    for train, test in split_folds(mapped, constraints, rng):
        closed = mapped.close_constraints(train, Constraints())
        for i, threshold in enumerate(CANDIDATES):
            labels = cluster(closed, threshold)
            for name, links in test.items():
                scores[i] += [
                    score_links(labels[name], links.must, True),
                    score_links(labels[name], links.cannot, False),
                ]
    shares = scores[..., 0] / np.where(scores[..., 1] > 0, scores[..., 1], 1)
    has_kind = scores[0, :, 1] > 0
    mean_shares = shares[:, has_kind].mean(axis=1)
    best = [t for t, score in zip(CANDIDATES, mean_shares, strict=True) if score >= mean_shares.max() - 1e-12]
    return min(best, key=lambda t: abs(t - DEFAULT_THRESHOLD))


def split_folds(
    mapped: MappedViews, constraints: Mapping[str, Constraints], rng: np.random.Generator
) -> Iterator[tuple[dict[str, Constraints], dict[str, Constraints]]]:
    """Yield training and held-out constraints; a pair that several views constrain is held out in all of them."""
    must = assign_folds({name: mapped.nodes[name][links.must.pairs] for name, links in constraints.items()}, rng)
    cannot = assign_folds({name: mapped.nodes[name][links.cannot.pairs] for name, links in constraints.items()}, rng)
    for fold in range(N_FOLDS):
        train, test = {}, {}
        for name, links in constraints.items():
            in_must, in_cannot = must[name] == fold, cannot[name] == fold
            train[name] = Constraints.from_links(links.must.select(~in_must), links.cannot.select(~in_cannot))
            test[name] = Constraints.from_links(links.must.select(in_must), links.cannot.select(in_cannot))
        yield train, test


def assign_folds(pairs: Mapping[str, np.ndarray], rng: np.random.Generator) -> dict[str, np.ndarray]:
    """Assign each pair to a fold, equal pairs to the same one; folds have about the same size."""
    stacked = np.sort(np.vstack(list(pairs.values())), axis=1)
    distinct, which = np.unique(stacked, axis=0, return_inverse=True)
    fold = rng.permutation(np.arange(len(distinct)) % N_FOLDS)[which.reshape(-1)]
    ends = np.cumsum([len(view_pairs) for view_pairs in pairs.values()])
    return dict(zip(pairs, np.split(fold, ends[:-1]), strict=True))


def score_links(labels: np.ndarray, links: Links, together: bool) -> tuple[float, float]:
    """Return the weight of the links whose ends are together (or apart), and the weight of all links."""
    satisfied = (labels[links.pairs[:, 0]] == labels[links.pairs[:, 1]]) == together
    return float(links.weights[satisfied].sum()), float(links.weights.sum())
