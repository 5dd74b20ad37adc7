"""Where constrained k-means starts: from the groups that must-links tie together."""

from __future__ import annotations

from functools import partial

import numpy as np

from ...arrays import Array, add_label_sums, take_dense_rows, take_rows
from ...data import Constraints, Links, compact_pairs, list_partners
from ...divergences import SquaredEuclidean, ViewRows
from ..common.distances import compute_divergences
from ..common.starts import draw_further_seeds, draw_plus_plus_seeds


def find_neighborhoods(given: Constraints, everything: Constraints) -> list[np.ndarray]:
    """Rows that must-links tie together, two or more, the largest group first and of equals that of the first row.

    Given must-links always tie. Others may err, and one alone would make one group of two: the heaviest tie
    first, and none ties groups that a cannot-link at least as heavy keeps apart.
    """
    from . import kernels as link_kernels

    must, cannot = everything.must, everything.cannot
    rows, ends = compact_pairs(np.vstack([must.pairs, cannot.pairs]))
    ties, apart = np.split(ends, [len(must.pairs)])
    sure = find_common_pairs(must.pairs, given.must.pairs)
    first = np.argsort(-np.where(sure, np.inf, must.weights), kind="stable")
    indptr, partners, link = list_partners(apart, len(rows))
    group = link_kernels.tie_groups(
        ties[first], must.weights[first], sure[first], indptr, partners, cannot.weights[link]
    )
    order = np.argsort(group, kind="stable")
    members = np.split(rows[order], np.flatnonzero(np.diff(group[order])) + 1) if len(rows) else []
    return sorted((own for own in members if len(own) > 1), key=lambda own: (-len(own), own[0]))


def find_common_pairs(pairs: np.ndarray, known: np.ndarray) -> np.ndarray:
    """Which pairs are among those known."""
    base = 1 + max(pairs.max(initial=0), known.max(initial=0))
    return np.isin(pairs @ [base, 1], known @ [base, 1])


def choose_first_centers(
    view: ViewRows,
    given: Constraints,
    everything: Constraints,
    n_clusters: int,
    strategy: str,
    rng: np.random.Generator,
) -> np.ndarray:
    """The means of groups of rows that are tied together; if these are too few, further rows.

    Of more groups than clusters the largest (Basu et al. 2004) or those that are large and far apart (Bilenko et al.
    2004). If there are fewer, a row that is kept apart from all of them comes next, and the rest as in k-means++.
    Constraints that are given and all of them, with those inferred, are told apart.
    """
    everyone = np.arange(view.X.shape[0])
    groups = find_neighborhoods(given, everything)
    if not groups:
        return take_dense_rows(
            view.X, draw_plus_plus_seeds(partial(measure_from_rows, view), everyone, n_clusters, rng)
        )
    centres = compute_group_means(view, groups)
    if len(groups) >= n_clusters:
        return centres[START_CHOICES[strategy](centres, np.array([len(own) for own in groups]), n_clusters)]
    taken = {int(own[0]) for own in groups}
    alone = find_separated_row(everything.cannot, groups)
    if alone is not None:
        centres = np.vstack([centres, take_dense_rows(view.X, np.array([alone]))])
        taken.add(alone)
    closest = compute_divergences(view, SquaredEuclidean(), centres).min(axis=1)
    more = draw_further_seeds(partial(measure_from_rows, view), everyone, n_clusters, rng, closest, taken)
    return np.vstack([centres, take_dense_rows(view.X, np.array(more, int))])


def compute_group_means(view: ViewRows, groups: list[np.ndarray]) -> np.ndarray:
    """The mean of each group of rows."""
    rows = np.concatenate(groups)
    sizes = np.array([len(own) for own in groups])
    sums = np.zeros((len(groups), view.X.shape[1]))
    sums = add_label_sums(take_rows(view.X, rows), np.repeat(np.arange(len(groups)), sizes), sums)
    return sums / sizes[:, None]


def measure_from_rows(view: ViewRows, seeds: np.ndarray) -> Array:
    """Squared distance of all rows from some."""
    return compute_divergences(view, SquaredEuclidean(), take_dense_rows(view.X, seeds))


def find_separated_row(cannot: Links, groups: list[np.ndarray]) -> int | None:
    """The first row that cannot-links keep apart from every group."""
    n = 1 + max(cannot.pairs.max(initial=0), max(own[-1] for own in groups))
    group = np.full(n, -1)
    for g, own in enumerate(groups):
        group[own] = g
    ends = np.vstack([cannot.pairs, cannot.pairs[:, ::-1]])
    met = ends[(group[ends[:, 0]] < 0) & (group[ends[:, 1]] >= 0)]
    pairs = np.unique(np.column_stack([met[:, 0], group[met[:, 1]]]), axis=0)
    rows, counts = np.unique(pairs[:, 0], return_counts=True)
    alone = rows[counts == len(groups)]
    return int(alone[0]) if len(alone) else None


def choose_largest(centres: np.ndarray, sizes: np.ndarray, n_clusters: int) -> np.ndarray:  # noqa: ARG001
    """The largest groups, which come first."""
    return np.arange(n_clusters)


def choose_farthest(centres: np.ndarray, sizes: np.ndarray, n_clusters: int) -> np.ndarray:
    """The largest group, then again and again the one whose size times distance from those chosen is largest."""
    chosen = [0]
    least = np.full(len(centres), np.inf)
    while len(chosen) < n_clusters:
        least = np.minimum(least, np.linalg.norm(centres - centres[chosen[-1]], axis=1))
        score = sizes * least
        score[chosen] = -1.0
        chosen.append(int(np.argmax(score)))
    return np.array(chosen)


START_CHOICES = {"largest": choose_largest, "farthest": choose_farthest}
