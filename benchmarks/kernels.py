"""Kernels on sparse text: seconds per round of k-means, and of the products for soft clusters.

The documents are generated with a common shape: Zipf word frequencies, columns in random order, tf-idf, rows of unit
length, documents between two topics. All contestants get the same matrix and start.

One round of k-means is timed as (time of many rounds - time of few) / (many - few), which cancels scikit-learn's checks
and copies and our preparation. Peak memory is that of the whole run. `cost` shows that all contestants compute the
same. consilience and scikit-learn use all cores; the products of scipy use one.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial, reduce
from itertools import islice
from operator import add

import numpy as np
import scipy.sparse as sp
from sklearn.cluster import KMeans
from sklearn.feature_extraction.text import TfidfTransformer

from consilience import Table
from consilience.arrays import (
    CSR,
    build_scorer,
    compute_scores,
    map_chunks,
    split_into_chunks,
    use_threads,
    weighted_sums,
)
from consilience.divergences import SquaredEuclidean
from consilience.methods.common.starts import partition_from_init
from consilience.methods.kmeans.algorithm import multi_view_kmeans
from consilience.rows import LocalShards

from .harness import Contestant, compare

N_CLUSTERS = 20
FEW, MANY = 2, 12  # numbers of rounds; k-means needs more to converge


def run(small: bool, repeats: int) -> Iterator[tuple[str, Table]]:
    size = (20_000, 5_000) if small else (100_000, 30_000)
    rng = np.random.default_rng(0)
    text = sp.csr_array(TfidfTransformer(sublinear_tf=True).fit_transform(make_documents(*size, N_CLUSTERS, rng)))
    start = rng.choice(size[0], N_CLUSTERS, replace=False)
    soft = rng.dirichlet(np.ones(N_CLUSTERS), size[0])
    hard = np.where(rng.random((size[0], 1)) < 0.9, soft == soft.max(axis=1, keepdims=True), soft)
    for dtype in (np.float32, np.float64):
        X = text.astype(dtype)
        centers = X[start].toarray()
        what = f"{size[0]:,} x {size[1]:,}, {X.nnz / 1e6:.1f} M non-zeros, {N_CLUSTERS} clusters, {dtype.__name__}"
        yield f"k-means, one round: {what}", time_kmeans_rounds(X, centers, repeats)
        yield f"scores and sums, soft clusters: {what}", time_soft_products(X, centers, soft.astype(dtype), repeats)
        yield (
            f"scores and sums, 90% of rows one-hot: {what}",
            time_soft_products(X, centers, hard.astype(dtype), repeats),
        )


def make_documents(n: int, n_words: int, n_topics: int, rng: np.random.Generator, length: float = 150) -> sp.csr_array:
    """Generate word counts by Zipf's law, with a different order of words per topic.

    Half of the words of a document come from a common distribution, the others from a random mix of two topics.
    """
    law = np.cumsum(1 / np.arange(1, n_words + 1))
    document = np.repeat(np.arange(n, dtype=np.int32), np.maximum(1, rng.poisson(length, n)))
    first, second = rng.integers(n_topics, size=(2, n))
    topic = np.where(rng.random(len(document)) < rng.random(n)[document], first[document], second[document])
    topic[rng.random(len(document)) < 0.5] = n_topics  # the common distribution
    words = np.arange(n_words, dtype=np.int32)  # scikit-learn takes no 64-bit indices
    vocabularies = np.stack([rng.permutation(words) for _ in range(n_topics + 1)])
    rank = np.searchsorted(law, rng.random(len(document)) * law[-1])
    cells = np.ones(len(document)), (document, vocabularies[topic, rank])
    return sp.csr_array(sp.coo_array(cells, shape=(n, n_words)))


def time_kmeans_rounds(X: sp.csr_array, centers: np.ndarray, repeats: int) -> Table:
    contestants = {
        "consilience": partial(run_consilience_kmeans, X, compute_start(X, centers)),
        "scikit-learn lloyd": partial(run_sklearn_kmeans, X, centers, "lloyd"),
        "scikit-learn elkan": partial(run_sklearn_kmeans, X, centers, "elkan"),
        "scipy products": partial(run_scipy_kmeans, X, centers),
    }
    per_round = [Contestant.per_round(name, run, FEW, MANY) for name, run in contestants.items()]
    return compare(per_round, repeats, lambda cost: {"cost": f"{cost:.2f}"})


def compute_start(X: sp.csr_array, centers: np.ndarray) -> np.ndarray:
    """Assign each row to the nearest of the centers that the other contestants start from."""
    divergence = SquaredEuclidean()
    rows = divergence.prepare(CSR.from_scipy(X), np.ones(X.shape[0], bool))
    return partition_from_init(centers, LocalShards({"text": rows}).cut(), divergence, len(centers))


def run_consilience_kmeans(X: sp.csr_array, partition: np.ndarray, n_rounds: int) -> float:
    divergence = SquaredEuclidean()
    rows = divergence.prepare(CSR.from_scipy(X), np.ones(X.shape[0], bool))
    with use_threads(None):
        shards = LocalShards({"text": rows}).cut().with_labels(partition)
        states = multi_view_kmeans(shards, divergence, N_CLUSTERS)
        return next(islice(states, n_rounds - 1, None)).costs["text"]


def run_sklearn_kmeans(X: sp.csr_array, centers: np.ndarray, algorithm: str, n_rounds: int) -> float:
    model = KMeans(len(centers), init=centers, n_init=1, max_iter=n_rounds, tol=0, algorithm=algorithm).fit(X)
    if model.n_iter_ < n_rounds:
        raise RuntimeError(f"k-means converged after {model.n_iter_} of {n_rounds} rounds: make the documents harder")
    return model.inertia_


def run_scipy_kmeans(X: sp.csr_array, centers: np.ndarray, n_rounds: int) -> float:
    n, k = X.shape[0], len(centers)

    def nearest(centers: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        scores = X @ centers.T - (centers**2).sum(axis=1) / 2
        return scores.argmax(axis=1), scores.max(axis=1)

    labels, _ = nearest(centers)
    for _ in range(n_rounds):
        counts = np.bincount(labels, minlength=k)
        members = np.ones(n, X.dtype), np.argsort(labels, kind="stable"), np.concatenate([[0], np.cumsum(counts)])
        sums = (sp.csr_array(members, shape=(k, n)) @ X).toarray()
        labels, best = nearest(sums / counts[:, None].astype(X.dtype))
    return float((X.data.astype(np.float64) ** 2).sum() - 2 * best.sum(dtype=np.float64))


def time_soft_products(X: sp.csr_array, centers: np.ndarray, weights: np.ndarray, repeats: int) -> Table:
    """Time the products of a round of EM: scores per row and cluster, and weighted sums of rows per cluster."""
    contestants = {
        "consilience": partial(compute_consilience_products, X, centers, weights),
        "scipy products": partial(compute_scipy_products, X, centers, weights),
    }
    whole = [Contestant(name, run) for name, run in contestants.items()]
    return compare(
        whole, repeats, lambda products: {"scores": format_norm(products[0]), "sums": format_norm(products[1])}
    )


def format_norm(values: np.ndarray) -> str:
    return f"{np.linalg.norm(values):.2f}"


def compute_consilience_products(
    X: sp.csr_array, centers: np.ndarray, weights: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    rows = CSR(X.indptr, X.indices, X.data, X.shape[1])
    score = build_scorer(rows, centers, np.zeros(len(centers)))
    with use_threads(None):
        scores = np.concatenate(
            list(map_chunks(lambda part: compute_scores(rows[part], score), split_into_chunks(rows)))
        )
        parts = split_into_chunks(rows, with_sums=True)
        sums = reduce(add, map_chunks(lambda part: weighted_sums(rows[part], weights[part]), parts))
    return scores, sums


def compute_scipy_products(X: sp.csr_array, centers: np.ndarray, weights: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    return X @ centers.T, (X.T @ weights).T
