"""Where constrained k-means starts: from the groups that must-links tie together."""

from __future__ import annotations

from functools import partial

import numpy as np

from .._backend import Array, add_label_sums, dense_rows, take_rows
from ..data import Links, components
from ..divergences import Rows, SquaredEuclidean
from .kmeans import divergences_to
from .start import further_seeds, plus_plus_seeds


def neighbourhoods(must: Links) -> list[np.ndarray]:
    """Rows that must-links tie together, two or more, the largest group first and of equals that of the first row."""
    rows, ends = np.unique(must.pairs, return_inverse=True)
    group = components(ends.reshape(-1, 2), len(rows))
    sizes = np.bincount(group)
    members = np.split(rows[np.argsort(group, kind="stable")], np.cumsum(sizes)[:-1]) if len(rows) else []
    return sorted(members, key=lambda own: (-len(own), own[0]))


def first_centres(
    view: Rows, must: Links, cannot: Links, n_clusters: int, strategy: str, rng: np.random.Generator
) -> np.ndarray:
    """The means of groups of rows that are tied together; if these are too few, further rows.

    Of more groups than clusters the largest (Basu et al. 2004) or those that are large and far apart (Bilenko et al.
    2004). If there are fewer, a row that is kept apart from all of them comes next, and the rest as in k-means++.
    """
    groups = neighbourhoods(must)
    if not groups:
        seeds = plus_plus_seeds(partial(away_from, view), np.arange(view.X.shape[0]), n_clusters, rng)
        return dense_rows(view.X, seeds)
    centres = means_of(view, groups)
    if len(groups) >= n_clusters:
        return centres[CHOICES[strategy](centres, np.array([len(own) for own in groups]), n_clusters)]
    taken: set[int] = {int(own[0]) for own in groups}
    alone = kept_apart(cannot, groups)
    if alone is not None:
        centres = np.vstack([centres, dense_rows(view.X, np.array([alone]))])
        taken.add(alone)
    closest = divergences_to(view, SquaredEuclidean(), centres).min(axis=1)
    entities = np.arange(view.X.shape[0])
    more = further_seeds(partial(away_from, view), entities, n_clusters, rng, closest, taken)
    return np.vstack([centres, dense_rows(view.X, np.array(more, int))])


def means_of(view: Rows, groups: list[np.ndarray]) -> np.ndarray:
    """The mean of each group of rows."""
    rows = np.concatenate(groups)
    sizes = np.array([len(own) for own in groups])
    sums = np.zeros((len(groups), view.X.shape[1]))
    sums = add_label_sums(take_rows(view.X, rows), np.repeat(np.arange(len(groups)), sizes), sums)
    return sums / sizes[:, None]


def away_from(view: Rows, seeds: np.ndarray) -> Array:
    """Squared distance of all rows from some."""
    return divergences_to(view, SquaredEuclidean(), dense_rows(view.X, seeds))


def kept_apart(cannot: Links, groups: list[np.ndarray]) -> int | None:
    """The first row that cannot-links keep apart from every group."""
    group_of = {int(row): g for g, own in enumerate(groups) for row in own}
    met: dict[int, set[int]] = {}
    for one, other in cannot.pairs.tolist():
        for row, partner in ((one, other), (other, one)):
            if partner in group_of and row not in group_of:
                met.setdefault(row, set()).add(group_of[partner])
    return min((row for row, own in met.items() if len(own) == len(groups)), default=None)


def largest(centres: np.ndarray, sizes: np.ndarray, n_clusters: int) -> np.ndarray:  # noqa: ARG001
    """The largest groups, which come first."""
    return np.arange(n_clusters)


def farthest(centres: np.ndarray, sizes: np.ndarray, n_clusters: int) -> np.ndarray:
    """The largest group, then again and again the one whose size times distance from those chosen is largest."""
    chosen = [0]
    least = np.full(len(centres), np.inf)
    while len(chosen) < n_clusters:
        least = np.minimum(least, np.linalg.norm(centres - centres[chosen[-1]], axis=1))
        score = sizes * least
        score[chosen] = -1.0
        chosen.append(int(np.argmax(score)))
    return np.array(chosen)


CHOICES = {"largest": largest, "farthest": farthest}
