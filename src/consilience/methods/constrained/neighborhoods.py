"""Starting centers of constrained k-means: means of the groups that must-links tie together."""

from __future__ import annotations

import numpy as np

from ...arrays import add_label_sums, take_dense_rows, take_rows
from ...data import Constraints
from ...data.links import Links, compact_pairs, list_partners
from ...divergences import SquaredEuclidean
from ...rows import ViewRows
from ..common.starts import SeedMeasure, SeedSearch
from ..common.statistics import compute_divergences

START_CHOICES = ("largest", "farthest")


def find_neighborhoods(trusted: Constraints, everything: Constraints) -> list[np.ndarray]:
    """Find groups of two or more rows that must-links tie together: largest first, equal sizes by their first row.

    Must-links in `trusted` always tie. Others may be wrong, and a single wrong one would merge two groups, so they are
    applied by descending weight and skipped where a cannot-link at least as heavy separates the groups.
    """
    from . import kernels

    must, cannot = everything.must, everything.cannot
    rows, ends = compact_pairs(np.vstack([must.pairs, cannot.pairs]))
    must_ends, cannot_ends = np.split(ends, [len(must.pairs)])
    base = 1 + max(must.pairs.max(initial=0), trusted.must.pairs.max(initial=0))
    certain = np.isin(must.pairs @ [base, 1], trusted.must.pairs @ [base, 1])
    by_weight = np.argsort(-np.where(certain, np.inf, must.weights), kind="stable")
    indptr, partners, link = list_partners(cannot_ends, len(rows))
    group = kernels.tie_groups(
        must_ends[by_weight], must.weights[by_weight], certain[by_weight], indptr, partners, cannot.weights[link]
    )
    order = np.argsort(group, kind="stable")
    groups = np.split(rows[order], np.flatnonzero(np.diff(group[order])) + 1) if len(rows) else []
    return sorted((members for members in groups if len(members) > 1), key=lambda members: (-len(members), members[0]))


def choose_first_centers(
    view: ViewRows,
    trusted: Constraints,
    everything: Constraints,
    n_clusters: int,
    strategy: str,
    rng: np.random.Generator,
) -> np.ndarray:
    """Choose the starting centers: means of groups that must-links tie together, and further rows if these are too few.

    Of more groups than clusters, take the largest (Basu et al. 2004) or those that are large and far apart (Bilenko et
    al. 2004). If there are fewer, a row that cannot-links separate from all of them comes next, and the rest as in
    k-means++. `trusted` constraints always tie; `everything` also has those that may be wrong (both are the
    same if all constraints are trusted).
    """
    measure = SeedMeasure({"rows": view}, {"rows": SquaredEuclidean()}, {"rows": 1.0})
    all_rows = np.ones(view.X.shape[0], bool)
    groups = find_neighborhoods(trusted, everything)
    if not groups:
        return take_dense_rows(view.X, np.array(SeedSearch(measure, all_rows).draw_seeds(n_clusters, rng)))
    sizes = np.array([len(members) for members in groups])
    sums = np.zeros((len(groups), view.X.shape[1]))
    sums = add_label_sums(take_rows(view.X, np.concatenate(groups)), np.repeat(np.arange(len(groups)), sizes), sums)
    centers = sums / sizes[:, None]
    if len(groups) >= n_clusters:
        return centers[:n_clusters] if strategy == "largest" else choose_farthest(centers, sizes, n_clusters)
    seeds = {int(members[0]) for members in groups}
    separated = find_separated_row(everything.cannot, groups)
    if separated is not None:
        centers = np.vstack([centers, take_dense_rows(view.X, np.array([separated]))])
        seeds.add(separated)
    divergences = compute_divergences(view, SquaredEuclidean(), centers)
    search = SeedSearch(measure, all_rows, divergences.argmin(axis=1), divergences.min(axis=1))
    more = search.draw_seeds(n_clusters - len(centers), rng, len(centers), seeds)
    return np.vstack([centers, take_dense_rows(view.X, np.array(more, int))])


def find_separated_row(cannot: Links, groups: list[np.ndarray]) -> int | None:
    """Find the first row that cannot-links separate from every group."""
    n = 1 + max(cannot.pairs.max(initial=0), max(members[-1] for members in groups))
    group = np.full(n, -1)
    for g, members in enumerate(groups):
        group[members] = g
    ends = np.vstack([cannot.pairs, cannot.pairs[:, ::-1]])
    ends = ends[(group[ends[:, 0]] < 0) & (group[ends[:, 1]] >= 0)]
    pairs = np.unique(np.column_stack([ends[:, 0], group[ends[:, 1]]]), axis=0)
    rows, counts = np.unique(pairs[:, 0], return_counts=True)
    separated = rows[counts == len(groups)]
    return int(separated[0]) if len(separated) else None


def choose_farthest(centers: np.ndarray, sizes: np.ndarray, n_clusters: int) -> np.ndarray:
    """Choose the center of the largest group, then repeatedly the one with the largest size times distance."""
    chosen = [0]
    distance = np.full(len(centers), np.inf)
    while len(chosen) < n_clusters:
        distance = np.minimum(distance, np.linalg.norm(centers - centers[chosen[-1]], axis=1))
        score = sizes * distance
        score[chosen] = -1.0
        chosen.append(int(np.argmax(score)))
    return centers[chosen]
