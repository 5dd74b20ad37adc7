"""Ports of two published methods that no package on PyPI offers in this form, written from the papers' equations.

These are not the authors' programs, no code was translated from them, and results may differ. Settings are the defaults
of the authors' published programs, the same for all data sets, and neither port sees the classes.

- `cluster_gmc`: H. Wang, Y. Yang, B. Liu: GMC: Graph-Based Multi-View Clustering. IEEE Transactions on Knowledge and
  Data Engineering 32(6), 2020, doi 10.1109/TKDE.2019.2903810. From the authors' program
  (https://github.com/cshaowang/gmc): 15 neighbors, 20 rounds, lambda = 1 at the start, the threshold below which
  eigenvalues count as zero, and rows of zero mean and unit variance.
- `cluster_sgla`: Y. Lin, R. Yang, J. Shi and others: Efficient Integration of Multi-View Attributed Graphs for
  Clustering and Embedding. ICDE 2025, arXiv 2508.09452. The fusion of spectra was first described as SMGF, 2023. From
  the authors' program (https://github.com/CyanideCentral/SGLA): 10 neighbors, gamma = 0.5, at most 50 evaluations of
  the objective, the tolerance 0.001 and the first step 0.05 of COBYLA, and the tolerance 0.01 of the eigenvalues.
  There a view that is a graph is used as it is; the port makes a graph of nearest neighbors from the rows of its
  adjacency matrix, as from any other view.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import scipy.sparse as sp
from scipy.linalg import eigh
from scipy.optimize import minimize
from scipy.sparse.csgraph import connected_components
from scipy.sparse.linalg import eigsh
from sklearn.cluster._spectral import discretize
from sklearn.metrics.pairwise import euclidean_distances
from sklearn.preprocessing import normalize

GMC_NEIGHBORS, GMC_ROUNDS, GMC_ZERO = 15, 20, 1e-10  # the last: below it, eigenvalues add up to zero
SGLA_NEIGHBORS, SGLA_GAMMA, SGLA_EVALUATIONS = 10, 0.5, 50
SGLA_FIRST_STEP, SGLA_TOLERANCE, SGLA_SPECTRUM_TOLERANCE = 0.05, 1e-3, 1e-2
TINY = np.finfo(float).eps


def cluster_gmc(views: Sequence[np.ndarray], n_clusters: int) -> np.ndarray:
    """Cluster by GMC: a graph per view and a unified graph learn from each other, until it has n_clusters components.

    The number of components may still differ after 20 rounds, and then so does the number of clusters. The result is
    deterministic.
    """
    nearest, distances = zip(*(find_neighbors(standardize_rows(X), GMC_NEIGHBORS + 1) for X in views), strict=True)
    unified = np.mean([induce_graph(*view, 0.0, None) for view in zip(nearest, distances, strict=True)], axis=0)
    weights, strength = np.full(len(views), 1 / len(views)), 1.0  # `strength` is lambda
    _, embedding = embed_graph(unified, n_clusters)
    for _ in range(GMC_ROUNDS):
        graphs = [induce_graph(*view, unified) for view in zip(nearest, distances, weights, strict=True)]
        weights = np.array([0.5 / max(np.linalg.norm(unified - graph), TINY) for graph in graphs])
        unified = unify_graphs(graphs, weights, strength, euclidean_distances(embedding, squared=True))
        eigenvalues, new_embedding = embed_graph(unified, n_clusters)
        if eigenvalues[:n_clusters].sum() > GMC_ZERO:  # too few components
            strength, embedding = 2 * strength, new_embedding
        elif eigenvalues.sum() < GMC_ZERO:  # too many components: the embedding is kept
            strength /= 2
        else:
            break
    return connected_components(sp.csr_array(unified), directed=False)[1]


def standardize_rows(X: np.ndarray) -> np.ndarray:
    """Give each entity zero mean and unit variance over its columns, as in the experiments of the paper on GMC."""
    centered = X - X.mean(axis=1, keepdims=True)
    deviation = X.std(axis=1, ddof=min(1, X.shape[1] - 1), keepdims=True)
    return centered / np.where(deviation > 0, deviation, 1)


def find_neighbors(X: np.ndarray, n_neighbors: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the positions of the nearest other entities, nearest first, and their squared distances."""
    squared = euclidean_distances(X, squared=True)
    np.fill_diagonal(squared, -1)
    nearest = np.argsort(squared, axis=1, kind="stable")[:, 1 : n_neighbors + 1]
    return nearest, np.take_along_axis(squared, nearest, axis=1)


def induce_graph(nearest: np.ndarray, distances: np.ndarray, weight: float, unified: np.ndarray | None) -> np.ndarray:
    """Return the graph of a view, which is the closed form of its update; the last neighbor is the one beyond the k.

    Without a unified graph it is the similarity-induced graph at the start.
    """
    gains = -distances
    if unified is not None:
        gains = gains + 2 * weight * np.take_along_axis(unified, nearest, axis=1)
    above = gains - gains[:, -1:]  # over the neighbor beyond the k
    graph = np.zeros((len(nearest), len(nearest)))
    values = np.maximum(above / (above.sum(axis=1, keepdims=True) + TINY), 0)
    np.put_along_axis(graph, nearest, values, axis=1)
    return graph


def unify_graphs(
    graphs: Sequence[np.ndarray], weights: np.ndarray, strength: float, distances: np.ndarray
) -> np.ndarray:
    """Return the unified graph: each row is projected to the simplex, on the neighbors in any view."""
    target = np.mean(graphs, axis=0) - strength / (2 * len(graphs)) * np.mean(1 / weights) * distances
    is_neighbor = np.any([graph > 0 for graph in graphs], axis=0)
    return project_to_simplex(np.where(is_neighbor, target, -np.inf))


def project_to_simplex(rows: np.ndarray) -> np.ndarray:
    """Project each row to the probability simplex; entries of minus infinity become 0, as do rows of nothing else."""
    order = -np.sort(-rows, axis=1)
    is_finite = np.isfinite(order)
    excess = np.cumsum(np.where(is_finite, order, 0), axis=1) - 1
    counts = np.arange(1, rows.shape[1] + 1)
    n_positive = np.maximum((is_finite & (order * counts > excess)).sum(axis=1), 1)
    shift = excess[np.arange(len(rows)), n_positive - 1] / n_positive
    return np.maximum(rows - shift[:, None], 0)


def embed_graph(graph: np.ndarray, n_clusters: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the n_clusters + 1 smallest eigenvalues of the graph's Laplacian, and n_clusters eigenvectors."""
    similarities = (graph + graph.T) / 2
    laplacian = np.diag(similarities.sum(axis=1)) - similarities
    eigenvalues, vectors = eigh(laplacian, subset_by_index=[0, min(n_clusters, len(graph) - 1)])
    return np.maximum(eigenvalues, 0), vectors[:, :n_clusters]


def cluster_sgla(views: Sequence[np.ndarray], n_clusters: int, seed: int = 0) -> np.ndarray:
    """Cluster by SGLA: discretize the smallest eigenvectors of a weighted sum of the views' graph Laplacians."""
    graphs = [build_cosine_graph(X) for X in views]
    _, vectors = compute_spectrum(combine_laplacians(graphs, choose_weights(graphs, n_clusters)), n_clusters)
    vectors = vectors[:, :n_clusters]
    is_zero = ~vectors.any(axis=1, keepdims=True)  # rows that `discretize` could not scale to unit length
    return discretize(np.where(is_zero, TINY, vectors), random_state=seed)


def build_cosine_graph(X: np.ndarray) -> sp.csr_array:
    """Return the normalized graph of the ten nearest neighbors by cosine; its Laplacian is the identity minus it.

    An edge has the sum of the weights of both directions. A row of zeros, as of a missing view, has cosine 0 with all
    rows, and so its entity is isolated.
    """
    unit = normalize(X)
    cosines = unit @ unit.T
    np.fill_diagonal(cosines, -np.inf)
    nearest = np.argsort(-cosines, axis=1, kind="stable")[:, :SGLA_NEIGHBORS]
    nearest = nearest[:, : len(X) - 1]  # of fewer entities, all others
    rows = np.repeat(np.arange(len(X)), nearest.shape[1])
    values = np.take_along_axis(cosines, nearest, axis=1).ravel()
    directed = sp.csr_array((values, (rows, nearest.ravel())), shape=cosines.shape)
    graph = directed + directed.T
    degrees = graph.sum(axis=1)
    scale = sp.dia_array((1 / np.sqrt(np.where(degrees > 0, degrees, 1))[None], [0]), shape=graph.shape)
    graph = sp.csr_array(scale @ graph @ scale)
    graph.eliminate_zeros()
    return graph


def combine_laplacians(graphs: Sequence[sp.csr_array], weights: np.ndarray) -> sp.csr_array:
    """Return the weighted sum of the normalized Laplacians; the weights add up to one."""
    similarities = sum(weight * graph for weight, graph in zip(weights, graphs, strict=True))
    return sp.csr_array(sp.eye_array(similarities.shape[0]) - similarities)


def compute_spectrum(laplacian: sp.csr_array, n_clusters: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the n_clusters + 1 smallest eigenvalues in ascending order, and their eigenvectors."""
    start = np.random.default_rng(0).normal(size=laplacian.shape[0])
    n_values = min(n_clusters + 1, laplacian.shape[0] - 1)
    values, vectors = eigsh(laplacian, n_values, which="SA", tol=SGLA_SPECTRUM_TOLERANCE, v0=start)
    order = np.argsort(values)
    return np.maximum(values[order], 0), vectors[:, order]


def choose_weights(graphs: Sequence[sp.csr_array], n_clusters: int) -> np.ndarray:
    """Return the weights of the views, which minimize `measure_fusion` on the simplex."""
    n_views = len(graphs)
    result = minimize(
        lambda free: measure_fusion(graphs, np.append(free, 1 - free.sum()), n_clusters),
        np.full(n_views - 1, 1 / n_views),
        method="COBYLA",
        constraints=[{"type": "ineq", "fun": lambda free: free}, {"type": "ineq", "fun": lambda free: 1 - free.sum()}],
        tol=SGLA_TOLERANCE,
        options={"maxiter": SGLA_EVALUATIONS, "rhobeg": SGLA_FIRST_STEP},
    )
    weights = np.maximum(np.append(result.x, 1 - result.x.sum()), 0)
    return weights / weights.sum()


def measure_fusion(graphs: Sequence[sp.csr_array], weights: np.ndarray, n_clusters: int) -> float:
    """Return the objective: the eigengap after n_clusters, minus the connectivity, plus a penalty of uneven weights.

    With the eigenvalues of the weighted Laplacian in ascending order these are the k-th divided by the next, the
    second, and half of the sum of squares of the weights.
    """
    eigenvalues, _ = compute_spectrum(combine_laplacians(graphs, weights), n_clusters)
    eigengap = eigenvalues[n_clusters - 1] / max(eigenvalues[-1], TINY)
    return float(eigengap - eigenvalues[1] + SGLA_GAMMA * np.sum(weights**2))
