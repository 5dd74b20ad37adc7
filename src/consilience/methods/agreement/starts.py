"""Partitions that refinement starts from."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from scipy.optimize import linear_sum_assignment
from sklearn.cluster import KMeans

from ...arrays import get_thread_controller, normalize_rows, to_numpy
from ...data import Constraints, Views
from ..kmeans.estimator import MultiViewKMeans, MultiViewSphericalKMeans
from .inputs import PreparedView
from .predictors import GraphFeatures

CONSTRAINED_FEATURES = 5  # eigenvectors per view that constrained k-means clusters


class Restarts(NamedTuple):
    """Number of restarts of k-means within one start."""

    views: int = 5  # over several views
    embedding: int = 10  # among eigenvectors


def propose_starts(
    prepared: Sequence[PreparedView],
    n_entities: int,
    n_clusters: int,
    n_init: int,
    rng: np.random.Generator,
    restarts: Restarts,
) -> Iterator[tuple[str, np.ndarray]]:
    """Yield partitions of different origins, each with its name; a negative label is left to the first round."""
    if n_clusters == 1 or n_clusters == n_entities:
        yield "trivial", np.arange(n_entities) % n_clusters
        return
    present = np.zeros((n_entities, len(prepared)), bool)
    for v, view in enumerate(prepared):
        present[view.entities, v] = True
    has_any = present.any(axis=1)
    if has_any.sum() <= n_clusters:
        yield "trivial", np.where(has_any, np.cumsum(has_any) - 1, -1)
        return

    def cluster_views(method: Any, position: int, seed: int) -> np.ndarray:
        points = {view.name: expand_rows(to_numpy(view.spaces[position].points), view, n_entities) for view in prepared}
        model = method(n_clusters, n_init=restarts.views, random_state=seed, n_jobs=1)
        labels = np.full(n_entities, -1)
        labels[has_any] = model.fit(Views(points, present=present)[has_any]).labels_
        return labels

    def cluster_rows(rows: np.ndarray, entities: np.ndarray, seed: int) -> np.ndarray:
        labels = np.full(n_entities, -1)
        labels[entities] = run_kmeans(rows, n_clusters, restarts.embedding, seed)
        return labels

    kinds = [("spherical k-means", partial(cluster_views, MultiViewSphericalKMeans, 0))]
    if all(view.dense for view in prepared):
        kinds.append(("k-means", partial(cluster_views, MultiViewKMeans, -1)))
    if len(prepared) > 1:
        all_entities = np.arange(n_entities)
        side_by_side = concatenate_embeddings(prepared, n_entities, n_clusters)
        together = normalize_rows(GraphFeatures.fit(add_graphs(prepared, n_entities), n_clusters, rng).vectors)
        kinds.append(("graphs side by side", partial(cluster_rows, side_by_side, all_entities)))
        kinds.append(("sum of the graphs", partial(cluster_rows, together, all_entities)))
    for view in prepared:
        if len(view.entities) >= n_clusters:
            kinds.append((f"view {view.name!r}", partial(cluster_rows, view.embed(n_clusters), view.entities)))
    for name, compute in kinds:
        for seed in rng.integers(2**31, size=n_init).tolist():
            yield name, compute(seed)


def run_kmeans(rows: np.ndarray, n_clusters: int, n_init: int, seed: int) -> np.ndarray:
    """Cluster rows by k-means, on one thread so that the result does not depend on the number of threads."""
    # one thread, because scikit-learn's k-means adds in the order in which threads end
    with get_thread_controller().limit(limits=1, user_api="openmp"):
        return KMeans(n_clusters, n_init=n_init, random_state=seed).fit_predict(rows)


def expand_rows(rows: np.ndarray, view: PreparedView, n_entities: int) -> np.ndarray:
    """Return rows of the entities that have a view as rows of all entities, zeros for the others."""
    expanded = np.zeros((n_entities, rows.shape[1]))
    expanded[view.entities] = rows
    return expanded


def concatenate_embeddings(prepared: Sequence[PreparedView], n_entities: int, n_clusters: int) -> np.ndarray:
    """Return the spectral embeddings of all views side by side."""
    return np.concatenate([expand_rows(view.embed(n_clusters), view, n_entities) for view in prepared], axis=1)


def agree_on_labels(partitions: Sequence[np.ndarray], n_clusters: int) -> np.ndarray:
    """Return the cluster that most partitions give each entity, -1 where no more than half of them agree.

    Clusters are numbered as in the first partition: the others are matched to it so that most entities agree.
    """
    matched = [partitions[0]]
    for labels in partitions[1:]:
        counts = np.bincount(labels * n_clusters + partitions[0], minlength=n_clusters**2)
        _, numbers = linear_sum_assignment(-counts.reshape(n_clusters, n_clusters))
        matched.append(numbers[labels])
    votes = np.zeros((len(matched[0]), n_clusters))
    for labels in matched:
        votes[np.arange(len(labels)), labels] += 1
    return np.where(votes.max(axis=1) > len(matched) / 2, votes.argmax(axis=1), -1)


def add_graphs(prepared: Sequence[PreparedView], n_entities: int) -> sp.csr_array:
    """Add up the clearest graph of each view, scaled to mean degree 1."""
    total = sp.csr_array((n_entities, n_entities))
    for view in prepared:
        graph = view.clearest.matrix.tocoo()
        rows, columns = view.entities[graph.row], view.entities[graph.col]
        scale = len(view.entities) / graph.data.sum()
        total = total + sp.csr_array((graph.data * scale, (rows, columns)), shape=total.shape)
    return sp.csr_array(total)


def propose_constrained_start(
    prepared: Sequence[PreparedView],
    n_entities: int,
    n_clusters: int,
    constraints: Constraints,
    rng: np.random.Generator,
) -> Iterator[tuple[str, np.ndarray]]:
    """Yield the clusters of constrained k-means of the leading eigenvectors of the views' graphs.

    It uses views with at least as many entities as clusters, if there are any. Other entities get the label -1.
    """
    from ..constrained.multiview import MultiViewConstrainedKMeans

    large = [view for view in prepared if len(view.entities) >= n_clusters]
    if not large:
        return
    blocks = {}
    for view in large:
        U = view.clearest.features.vectors[:, 1 : CONSTRAINED_FEATURES + 1]
        blocks[view.name] = np.full((n_entities, max(1, U.shape[1])), np.nan)
        scale = np.sqrt(np.mean(U**2, axis=0))
        blocks[view.name][view.entities, : U.shape[1]] = U / np.where(scale > 0, scale, 1)
    model = MultiViewConstrainedKMeans(n_clusters, init="farthest", random_state=int(rng.integers(2**31)), n_jobs=1)
    used = np.unique(np.concatenate([view.entities for view in large]))
    numbers = np.column_stack([used, np.arange(len(used))])
    links = Constraints.from_links(constraints.must.transfer(numbers), constraints.cannot.transfer(numbers))
    labels = np.full(n_entities, -1)
    labels[used] = model.fit(Views(blocks)[used], constraints=links).labels_
    yield "constrained k-means", labels
