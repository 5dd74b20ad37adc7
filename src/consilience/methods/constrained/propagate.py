"""Constraints that a clustered view passes on to others: propagated to nearby rows, or otherwise.

Propagation is section 4.1 of Eaton, desJardins & Jacob 2010, the other ways are in section 5.

A link between rows u and v reaches two other rows with its weight times the heights there of two Gaussians, one around
u and one around v. Such a Gaussian has the shape of its row's cluster and is the narrower the farther its row is from
the cluster's center. Heights are computed once per linked row (source) and row to be reached (target), and only where
they can matter.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from ..._tuning import Tuning
from ...arrays import available_memory, map_chunks, split_slice
from ...data import Constraints
from ...data.links import PAIR_BYTES, Links, check_pairs_fit, compact_pairs, list_partners
from ...families.gaussian import compute_whitening
from .cluster_metrics import ClusterMetric
from .pairwise import ConstrainedState

GAMMA = 1e-6  # of the paper
tuning = Tuning(rows=64)  # sources or targets that a thread handles at a time


class ClusterShapes(NamedTuple):
    """The Gaussian of each cluster: its center, and a matrix W such that |(x - center) W| is the length it measures."""

    centers: np.ndarray
    whiteners: np.ndarray  # (k, d, d)


class SourceInfluence(NamedTuple):
    """Height of the Gaussian of each linked row (source) at the rows that it reaches, in CSR layout."""

    indptr: np.ndarray
    reached: np.ndarray  # positions among the targets, by descending height
    heights: np.ndarray


def estimate_shapes(
    X: np.ndarray, labels: np.ndarray, centers: np.ndarray, metric: ClusterMetric, gamma: float = GAMMA
) -> ClusterShapes:
    """Estimate the covariance of each cluster: that of its rows, or its inverted metric rescaled to the same size.

    `gamma` is added to the variances so that none is zero (Eq 2), in units of the mean variance of the view's columns,
    because the paper standardizes its data.
    """
    ridge = gamma * (float(X.var(axis=0, dtype=np.float64).mean()) or 1.0)
    learned = metric.covariances()
    whiteners = []
    for h, center in enumerate(centers):
        deviations = X[labels == h] - center
        covariance = deviations.T @ deviations / max(1, len(deviations))
        covariance += ridge * np.eye(X.shape[1])
        if learned is not None:
            scale = np.linalg.eigvalsh(covariance)[-1] / np.linalg.eigvalsh(learned[h])[-1]
            covariance = learned[h] * scale
        whiteners.append(compute_whitening(covariance))
    return ClusterShapes(centers, np.stack(whiteners))


def propagate_links(
    X: np.ndarray,
    labels: np.ndarray,
    shapes: ClusterShapes,
    must: Links,
    cannot: Links,
    targets: np.ndarray,
    threshold: float,
) -> tuple[Links, Links]:
    """Return must-links and cannot-links between targets, each with the largest weight that reaches it.

    Weights below the threshold are dropped. `targets` are sorted row indices, and so are the ends of the result.
    """
    both = Links(np.vstack([must.pairs, cannot.pairs]), np.concatenate([must.weights, cannot.weights]))
    strong = both.weights >= threshold
    if not strong.any() or not len(targets):
        return Links.empty(), Links.empty()
    sources, ends = compact_pairs(both.pairs[strong])
    weights = both.weights[strong]
    strongest = np.zeros(len(sources))
    np.maximum.at(strongest, ends.ravel(), np.repeat(weights, 2))
    influence = compute_influence(X, labels, shapes, sources, strongest / threshold, targets)
    is_must = np.arange(len(both.weights))[strong] < len(must.weights)
    propagated = []
    for kind in (is_must, ~is_must):
        links = combine_links(influence, Links(ends[kind], weights[kind]), len(sources), len(targets), threshold)
        propagated.append(Links(targets[links.pairs], links.weights))
    return propagated[0], propagated[1]


def compute_influence(
    X: np.ndarray, labels: np.ndarray, shapes: ClusterShapes, sources: np.ndarray, odds: np.ndarray, targets: np.ndarray
) -> SourceInfluence:
    """Compute the Gaussian of each source at the targets where its height is at least 1 / odds."""
    parts: list[tuple[np.ndarray, np.ndarray, np.ndarray]] = []  # source, position of the target, height
    for h, (center, matrix) in enumerate(zip(*shapes, strict=True)):
        members = np.flatnonzero(labels[sources] == h)
        if not len(members):
            continue
        # einsum rounds equal rows alike, so that a source finds itself among the targets
        target_points = np.einsum("ij,jk->ik", X[targets] - center, matrix)
        order = np.argsort(target_points[:, 0], kind="stable")
        target_points = np.ascontiguousarray(target_points[order])
        source_points = np.einsum("ij,jk->ik", X[sources[members]] - center, matrix)
        widths = np.exp(-0.5 * np.sum(source_points**2, axis=1))  # g, by Eq 4: 1 at the center
        radii = 2 * widths * np.log(odds[members]) * (1 + 1e-9)

        chunks = split_slice(slice(0, len(members)), -(-len(members) // tuning.rows))
        results = map_chunks(partial(find_targets, target_points, source_points, widths, radii), chunks)
        for rows, (counts, reached, heights) in zip(chunks, results, strict=True):
            parts.append((np.repeat(members[rows], counts), order[reached], heights))
    source, reached, heights = (np.concatenate(arrays) for arrays in zip(*parts, strict=True))
    by_height = np.lexsort((-heights, source))
    indptr = np.concatenate([[0], np.cumsum(np.bincount(source, minlength=len(sources)))])
    return SourceInfluence(indptr, reached[by_height], heights[by_height])


def find_targets(
    target_points: np.ndarray, source_points: np.ndarray, widths: np.ndarray, radii: np.ndarray, rows: slice
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """For a chunk of sources return the number of targets within their radii, these targets, and the heights there."""
    from . import kernels

    arguments = target_points, source_points[rows], widths[rows], radii[rows]
    indptr = np.zeros(rows.stop - rows.start + 1, np.int64)
    kernels.find_reached(*arguments, indptr, np.empty(0, np.int64), np.empty(0))  # count first
    counts = indptr[1:].copy()
    np.cumsum(indptr, out=indptr)
    reached, heights = np.empty(indptr[-1], np.int64), np.empty(indptr[-1])
    if len(reached):
        kernels.find_reached(*arguments, indptr, reached, heights)
    return counts, reached, heights


def combine_links(influence: SourceInfluence, links: Links, n_sources: int, n_targets: int, threshold: float) -> Links:
    """Compute the largest weight with which any link reaches each pair of targets: w G[u, i] G[v, j] (Eq 6)."""
    from . import kernels

    shape = n_sources, n_targets
    near = sp.csr_array((influence.heights, influence.reached, influence.indptr), shape=shape).T.tocsr()
    indptr, partners, link = list_partners(links.pairs, n_sources)
    link_lists = indptr, partners, links.weights[link]
    free = available_memory()
    max_pairs = 1 << 62 if free is None else free // PAIR_BYTES
    n_pairs, pairs, weights = 0, [], []

    def spread_chunk(rows: slice) -> tuple[int, np.ndarray, np.ndarray]:
        near_lists = near.indptr, near.indices, near.data
        return kernels.spread_links(
            rows.start, rows.stop, n_targets, *near_lists, *link_lists, *influence, threshold, max_pairs
        )

    for count, chunk_pairs, chunk_weights in map_chunks(
        spread_chunk, split_slice(slice(0, n_targets), -(-n_targets // tuning.rows))
    ):
        n_pairs += count
        if n_pairs > max_pairs:
            raise MemoryError(
                f"constraints propagate to more than {max_pairs:,} pairs of entities, which is all that fits in "
                "memory: raise threshold, or map fewer entities"
            )
        pairs.append(chunk_pairs)
        weights.append(chunk_weights)
    return Links(np.concatenate(pairs), np.concatenate(weights))


class ClusteredView(NamedTuple):
    """A view that has just been clustered."""

    X: Any
    state: ConstrainedState
    constraints: Constraints  # its own, and what follows from all
    targets: np.ndarray  # sorted indices of the rows that are mapped to other views
    threshold: float  # smallest weight of a constraint that is passed on
    gamma: float = GAMMA  # regularizer of the clusters' covariances


InferConstraints = Callable[[ClusteredView], Constraints]  # constraints between targets


def infer_by_propagation(view: ClusteredView) -> Constraints:
    """Propagate the view's constraints to targets near their ends (section 4.1)."""
    if not len(view.targets) or not view.constraints.size:
        return Constraints()
    state, links = view.state, view.constraints
    shapes = estimate_shapes(view.X, state.labels, state.centers, state.metric, view.gamma)
    propagated = propagate_links(view.X, state.labels, shapes, links.must, links.cannot, view.targets, view.threshold)
    return Constraints.from_links(*propagated)


def infer_directly(view: ClusteredView) -> Constraints:
    """Return the view's constraints between two targets."""
    is_target = np.zeros(view.X.shape[0], bool)
    is_target[view.targets] = True
    kinds = view.constraints.must, view.constraints.cannot
    return Constraints.from_links(*(links.select(is_target[links.pairs].all(axis=1)) for links in kinds))


def infer_from_membership(view: ClusteredView) -> Constraints:
    """Link all pairs of targets: must-links within the current clusters, cannot-links between them."""
    n = len(view.targets)
    check_pairs_fit(n * (n - 1) // 2, "all pairs of mapped entities (transfer='membership')")
    pairs = view.targets[np.column_stack(np.triu_indices(n, 1))]
    same = view.state.labels[pairs[:, 0]] == view.state.labels[pairs[:, 1]]
    weights = np.ones(len(pairs))
    return Constraints.from_links(Links(pairs[same], weights[same]), Links(pairs[~same], weights[~same]))


@dataclass(frozen=True)
class Transfer:
    """A way to pass constraints from view to view."""

    infer: InferConstraints
    across: bool = True  # whether views learn of each other's constraints at all
    propagates: bool = False  # whether distances matter, which takes a threshold and dense views


TRANSFERS = {
    "propagate": Transfer(infer_by_propagation, propagates=True),
    "direct": Transfer(infer_directly),
    "membership": Transfer(infer_from_membership),
    "none": Transfer(lambda _: Constraints(), across=False),
}
