"""The baselines computed with full matrices, without code of the library."""

import numpy as np
import scipy.linalg


def compute_gaussian_kernel(X):
    """exp(-d^2 / 2 width^2), the width being the median of all distances between the rows of X."""
    between = np.array([[np.linalg.norm(x - y) for y in X] for x in X])
    return np.exp(-(between**2) / (2 * np.median(between) ** 2))


def normalize_kernel(K):
    degree = K.sum(axis=1)
    return K / np.sqrt(np.outer(degree, degree))


def compute_leading_eigenvectors(A, k):
    _, vectors = np.linalg.eigh((A + A.T) / 2)
    return vectors[:, ::-1][:, :k]


def embed_minimum_disagreement(K1, K2, k):
    """de Sa 2005: the leading left and right singular vectors."""
    W = K1 @ K2
    u, s, vt = np.linalg.svd(W / np.sqrt(np.outer(W.sum(axis=1), W.sum(axis=0))))
    return u[:, :k], s[:k], vt[:k].T


def embed_all_pairs(kernels, k):
    """Embed the full graph over all pairs of views."""
    n, V = len(kernels[0]), len(kernels)
    W = np.zeros((n * V, n * V))
    for i in range(V):
        for j in range(V):
            if i != j:
                W[i * n : (i + 1) * n, j * n : (j + 1) * n] = kernels[i] @ kernels[j]
    return np.split(compute_leading_eigenvectors(normalize_kernel(W), k), V)


def co_regularize_pairwise(kernels, k, weight, n_rounds):
    """Kumar, Rai & Daumé 2011, pairwise; also the objective after every step."""
    L = [normalize_kernel(K) for K in kernels]
    U = [compute_leading_eigenvectors(laplacian, k) for laplacian in L]
    objectives = []
    for _ in range(n_rounds):
        for v in range(len(L)):
            U[v] = compute_leading_eigenvectors(L[v] + weight * sum(U[w] @ U[w].T for w in range(len(L)) if w != v), k)
            fit = sum(np.trace(U[w].T @ L[w] @ U[w]) for w in range(len(L)))
            pairs = sum(np.trace(U[a] @ U[a].T @ U[b] @ U[b].T) for a in range(len(L)) for b in range(a + 1, len(L)))
            objectives.append(fit + weight * pairs)
    return U, objectives


def co_regularize_centroid(kernels, k, weights, n_rounds):
    """Kumar, Rai & Daumé 2011, centroid-based; also the objective after every round."""
    L = [normalize_kernel(K) for K in kernels]
    U = [compute_leading_eigenvectors(laplacian, k) for laplacian in L]
    objectives = []
    for _ in range(n_rounds):
        middle = compute_leading_eigenvectors(sum(w * u @ u.T for w, u in zip(weights, U, strict=True)), k)
        U = [
            compute_leading_eigenvectors(laplacian + w * middle @ middle.T, k)
            for laplacian, w in zip(L, weights, strict=True)
        ]
        middle = compute_leading_eigenvectors(sum(w * u @ u.T for w, u in zip(weights, U, strict=True)), k)
        fit = sum(np.trace(u.T @ laplacian @ u) for u, laplacian in zip(U, L, strict=True))
        pulls = [w * np.trace(u @ u.T @ middle @ middle.T) for w, u in zip(weights, U, strict=True)]
        objectives.append(fit + sum(pulls))
    return U, middle, objectives


def compute_canonical_correlations(blocks, n_components, regularization):
    """Regularised canonical correlations of any number of views as a generalised eigenproblem of their columns."""
    centred = [X - X.mean(axis=0) for X in blocks]
    n, widths = len(blocks[0]), [X.shape[1] for X in blocks]
    C = np.hstack(centred).T @ np.hstack(centred) / n
    B = scipy.linalg.block_diag(*(X.T @ X / n for X in centred))
    between = C - B
    ridge = [np.full(X.shape[1], regularization * np.trace(X.T @ X / n) / X.shape[1]) for X in centred]
    values, vectors = scipy.linalg.eigh(between, B + np.diag(np.concatenate(ridge)))
    values, vectors = values[::-1][:n_components], vectors[:, ::-1][:, :n_components]
    parts = np.split(vectors, np.cumsum(widths)[:-1])
    features = sum(X @ A for X, A in zip(centred, parts, strict=True)) / len(blocks) * np.sqrt(len(blocks))
    return values / (len(blocks) - 1), features
