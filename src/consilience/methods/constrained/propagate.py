"""Constraints carried over to the rows about them (Eaton, desJardins & Jacob 2010, section 4.1).

A link between u and v reaches two other rows with its weight times the heights, at these, of two bells: one about u,
one about v. A bell has the shape of its row's cluster, and is the narrower the farther its row is from the cluster's
centre. So heights are computed once for each linked row and each row to be reached, and those that cannot matter not at
all.
"""

from __future__ import annotations

from functools import partial
from typing import NamedTuple

import numpy as np
import scipy.sparse as sp

from ...arrays import available_memory, map_chunks, split_slice
from ...data import PAIR_BYTES, Links, compact_pairs, list_partners
from ...families.gaussian_full import compute_whitening
from .cluster_metrics import ClusterMetric

# Added to the variances of a cluster so that none is zero (Eq 2), in units of the mean variance of the view's columns:
# the paper standardises its data.
GAMMA = 1e-6
ROWS = 64  # rows whose pairs a thread looks for in one go


class ClusterShapes(NamedTuple):
    """The Gaussian of each cluster: centre, and a matrix W that makes lengths |(x - centre) W| its own."""

    centers: np.ndarray
    whiteners: np.ndarray  # (k, d, d)


class SourceInfluence(NamedTuple):
    """How high the bell of each linked row (source) is at the rows that it reaches, one source after the other."""

    indptr: np.ndarray
    reached: np.ndarray  # places among the targets, the highest first
    values: np.ndarray


def estimate_shapes(X: np.ndarray, labels: np.ndarray, centres: np.ndarray, metric: ClusterMetric) -> ClusterShapes:
    """Return the covariance of each cluster: that of its rows, or its inverted metric rescaled to the same size."""
    gamma = GAMMA * (float(X.var(axis=0, dtype=np.float64).mean()) or 1.0)
    learned = metric.covariances()
    whiteners = []
    for h, centre in enumerate(centres):
        deviations = X[labels == h] - centre
        covariance = deviations.T @ deviations / max(1, len(deviations))
        covariance += gamma * np.eye(X.shape[1])
        if learned is not None:
            scale = np.linalg.eigvalsh(covariance)[-1] / np.linalg.eigvalsh(learned[h])[-1]
            covariance = learned[h] * scale
        whiteners.append(compute_whitening(covariance))
    return ClusterShapes(centres, np.stack(whiteners))


def propagate_links(
    X: np.ndarray,
    labels: np.ndarray,
    shapes: ClusterShapes,
    must: Links,
    cannot: Links,
    targets: np.ndarray,
    threshold: float,
) -> tuple[Links, Links]:
    """Must-links and cannot-links between targets, with the best weight of any given one, if not below the threshold.

    Sources and targets are numbers of rows, the targets in order; so are the ends of what is found.
    """
    both = Links(np.vstack([must.pairs, cannot.pairs]), np.concatenate([must.weights, cannot.weights]))
    strong = both.weights >= threshold
    if not strong.any() or not len(targets):
        return Links.none(), Links.none()
    sources, ends = compact_pairs(both.pairs[strong])
    strongest = np.zeros(len(sources))
    np.maximum.at(strongest, ends.ravel(), np.repeat(both.weights[strong], 2))
    heights = compute_influence(X, labels, shapes, sources, strongest / threshold, targets)
    ties = np.arange(len(both.weights))[strong] < len(must.weights)
    kinds = []
    for kind in (ties, ~ties):
        own = Links(ends[kind], both.weights[strong][kind])
        found = combine_links(heights, own, len(sources), len(targets), threshold)
        kinds.append(Links(targets[found.pairs], found.weights))
    return kinds[0], kinds[1]


def compute_influence(
    X: np.ndarray, labels: np.ndarray, shapes: ClusterShapes, sources: np.ndarray, odds: np.ndarray, targets: np.ndarray
) -> SourceInfluence:
    """The bell of each source at the targets where it is not below one in its odds."""
    parts: list[tuple[np.ndarray, np.ndarray, np.ndarray]] = []  # source, place of the target, height
    for h in range(len(shapes.centers)):
        own = np.flatnonzero(labels[sources] == h)
        if not len(own):
            continue
        origin, turn = shapes.centers[h], shapes.whiteners[h]
        places = whiten_rows(X[targets] - origin, turn)
        order = np.argsort(places[:, 0], kind="stable")
        places = np.ascontiguousarray(places[order])
        starts = whiten_rows(X[sources[own]] - origin, turn)
        widths = np.exp(-0.5 * np.sum(starts**2, axis=1))  # g, by Eq 4: 1 at the centre
        radii = 2 * widths * np.log(odds[own]) * (1 + 1e-9)

        pieces = split_slice(slice(0, len(own)), -(-len(own) // ROWS))
        found = map_chunks(partial(find_targets, places, starts, widths, radii), pieces)
        for rows, (counts, at, values) in zip(pieces, found, strict=True):
            parts.append((np.repeat(own[rows], counts), order[at], values))
    source, reached, values = (np.concatenate(own) for own in zip(*parts, strict=True))
    by_height = np.lexsort((-values, source))
    indptr = np.concatenate([[0], np.cumsum(np.bincount(source, minlength=len(sources)))])
    return SourceInfluence(indptr, reached[by_height], values[by_height])


def find_targets(
    places: np.ndarray, starts: np.ndarray, widths: np.ndarray, radii: np.ndarray, rows: slice
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """For some sources the number of targets within their radii; these, one source's after the other's; the heights."""
    from . import kernels as link_kernels

    args = places, starts[rows], widths[rows], radii[rows]
    indptr = np.zeros(rows.stop - rows.start + 1, np.int64)
    link_kernels.find_reached(*args, indptr, np.empty(0, np.int64), np.empty(0))  # counted first
    counts = indptr[1:].copy()
    np.cumsum(indptr, out=indptr)
    found, values = np.empty(indptr[-1], np.int64), np.empty(indptr[-1])
    if len(found):
        link_kernels.find_reached(*args, indptr, found, values)
    return counts, found, values


def whiten_rows(rows: np.ndarray, turn: np.ndarray) -> np.ndarray:
    """Rows times a matrix, the same row always rounded the same way: a source must find itself among the targets."""
    return np.einsum("ij,jk->ik", rows, turn)


def combine_links(heights: SourceInfluence, links: Links, n_sources: int, n_targets: int, threshold: float) -> Links:
    """The best weight with which any link reaches each pair of targets: w G[u, i] G[v, j] (Eq 6)."""
    from . import kernels as link_kernels

    shape = n_sources, n_targets
    near = sp.csr_array((heights.values, heights.reached, heights.indptr), shape=shape).T.tocsr()
    indptr, partners, link = list_partners(links.pairs, n_sources)
    theirs = indptr, partners, links.weights[link]
    free = available_memory()
    most = 1 << 62 if free is None else free // PAIR_BYTES
    n_pairs, pairs, weights = 0, [], []

    def one_chunk(rows: slice) -> tuple[int, np.ndarray, np.ndarray]:
        return link_kernels.spread_links(
            rows.start, rows.stop, n_targets, near.indptr, near.indices, near.data, *theirs, *heights, threshold, most
        )

    for count, found, values in map_chunks(one_chunk, split_slice(slice(0, n_targets), -(-n_targets // ROWS))):
        n_pairs += count
        if n_pairs > most:
            raise MemoryError(
                f"constraints propagate to more than {most:,} pairs of entities, which is all that memory holds: raise "
                "threshold, or map fewer entities"
            )
        pairs.append(found)
        weights.append(values)
    return Links(np.concatenate(pairs), np.concatenate(weights))
