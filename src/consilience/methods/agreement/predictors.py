"""Predictors of clusters that leave out the entity they predict.

A predictor is built once per view and geometry. Given the clusters of all entities as a matrix of zeros and ones, it
predicts the cluster of each from the other entities alone, so that agreement between predictions and clusters is not a
matter of fitting. Clusters change from round to round, the predictors do not.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp
from array_api_compat import device
from scipy.sparse.linalg import ArpackError, eigsh

from ..._saving import save_as
from ...arrays import Array, asarray_like, find_nearest, keep_where, namespace, normalize_rows, to_numpy

LEAST_REMAINDER = 0.01  # of one minus the leverage: predictions of entities with more leverage are damped
DENSE_UP_TO = 400  # entities up to which a dense eigensolver is faster than an iterative one
LEAST_EIGENVECTORS, MOST_EIGENVECTORS = 20, 300
LEAST_NEIGHBORS, MOST_NEIGHBORS = 5, 30  # of the graph


@dataclass(frozen=True, eq=False)
class LeaveOneOutRidge:
    """Ridge regression of cluster membership on features, with exact leave-one-out predictions.

    With the hat matrix H = F R F', where R = (F'F + penalty I)^-1, the prediction for an entity by a regression on all
    others is (H Y - h Y) / (1 - h), where h is the diagonal of H: two thin products instead of n regressions. Products
    are in single precision, which halves their time and memory. So that an entity's own label cancels although they
    are, H and h come from the same G = F R^1/2: H = G G'.
    """

    whitened: Array  # (n, q): G
    root: Array  # (q, q): R^1/2, up to a rotation
    leverage: Array  # (n, 1): h

    @classmethod
    def fit(cls, features: Array, penalty: float) -> LeaveOneOutRidge:
        """Prepare the regression; `penalty` is in units of the mean eigenvalue of F'F."""
        xp = namespace(features)
        features = append_constant(features)
        gram = xp.astype(features.T @ features, xp.float64)
        diagonal = xp.eye(gram.shape[0], dtype=xp.float64, device=device(features))
        size = penalty * xp.sum(gram * diagonal) / gram.shape[0]
        values, vectors = xp.linalg.eigh(gram)
        root = vectors / xp.sqrt(keep_where(values > 0, values, 0.0) + size)
        whitened = xp.astype(features @ xp.astype(root, features.dtype), xp.float32, copy=False)
        return cls(whitened, xp.astype(root, xp.float32), xp.sum(whitened**2, axis=1)[:, None])

    def predict_left_out(self, members: Array) -> Array:
        fitted = self.whitened @ (self.whitened.T @ members)
        remainder = 1 - self.leverage
        remainder = keep_where(remainder > LEAST_REMAINDER, remainder, LEAST_REMAINDER)
        return (fitted - self.leverage * members) / remainder

    def learn(self, members: Array) -> Array:
        """Return the coefficients of the features, (q, k), from which new entities are scored."""
        return self.root @ (self.whitened.T @ members)


@dataclass(frozen=True, eq=False)
class NeighborVote:
    """The share of each cluster among an entity's nearest neighbors."""

    neighbors: sp.csr_array  # (n, n): 1 / K where the column is among the K nearest of the row

    @classmethod
    def fit(cls, nearest: np.ndarray) -> NeighborVote:
        """Take the positions of each entity's neighbors, (n, K), the entity itself not among them; K may be 0."""
        n, number = nearest.shape
        starts = np.arange(n + 1) * number
        return cls(sp.csr_array((np.full(nearest.size, 1 / max(1, number)), nearest.ravel(), starts), shape=(n, n)))

    def predict_left_out(self, members: Array) -> Array:
        return asarray_like(self.neighbors @ to_numpy(members), members)


@save_as("neighbor-graph")
@dataclass(frozen=True, eq=False)
class NeighborGraph:
    """The graph that joins each point to its nearest points, and how new points join it."""

    points: np.ndarray
    number: int  # nearest points that each is joined to

    @classmethod
    def build(cls, points: Array) -> NeighborGraph:
        """Join each point to as many others as the square root of their number, between 5 and 30."""
        n = points.shape[0]
        number = int(np.clip(round(n**0.5), LEAST_NEIGHBORS, MOST_NEIGHBORS))
        return cls(to_numpy(points).astype(np.float32), min(number, n))

    def connect(self) -> tuple[sp.csr_array, np.ndarray]:
        """Return the matrix of the graph, and the mean distance of each point from its nearest others, (n,).

        An entry of the symmetric matrix is 1 if two points are nearest to each other, and 1/2 if only one of them is.
        """
        n = len(self.points)
        nearest, distances = find_nearest(self.points, min(self.number + 1, n))
        joined = build_neighbor_matrix(nearest, n)
        matrix = sp.csr_array((joined + joined.T) * 0.5)
        matrix.setdiag(1.0)  # also of a point with so many duplicates that it is not among its own nearest
        return matrix, distances.sum(axis=1) / max(1, distances.shape[1] - 1)  # each is at distance 0 from itself

    def join(self, points: np.ndarray) -> tuple[sp.csr_array, np.ndarray]:
        """Return the nearest points of new points as a matrix of ones, (new, n), and their mean distance, (new,)."""
        nearest, distances = find_nearest(self.points, self.number, points)
        return build_neighbor_matrix(nearest, len(self.points)), distances.mean(axis=1)


def build_neighbor_matrix(positions: np.ndarray, n: int) -> sp.csr_array:
    """Return a sparse matrix with ones in the columns that `positions` has for each row."""
    starts = np.arange(0, positions.size + 1, positions.shape[1])
    return sp.csr_array((np.ones(positions.size), positions.ravel(), starts), shape=(len(positions), n))


@dataclass(frozen=True, eq=False)
class GraphFeatures:
    """Leading eigenvectors of the normalized graph, which carry clusters of any shape.

    The graph is built without the clusters, so that a regression on the eigenvectors leaves an entity out exactly.
    """

    vectors: np.ndarray  # (n, q), of falling eigenvalues
    eigenvalues: np.ndarray  # (q,)
    degree: np.ndarray  # (n,)

    @classmethod
    def fit(cls, matrix: sp.csr_array, number: int, rng: np.random.Generator) -> GraphFeatures:
        """Compute the leading eigenvectors of D^-1/2 A D^-1/2; entities without neighbors lie at the origin."""
        degree = np.asarray(matrix.sum(axis=1)).ravel()
        root = invert_degree_root(degree)
        values, vectors = compute_leading_eigenvectors(
            sp.csr_array(matrix * root[:, None] * root[None, :]), number, rng
        )
        return cls(np.where(root[:, None] > 0, vectors, 0.0), np.maximum(values, 0.0), degree)

    @property
    def values(self) -> np.ndarray:
        """The features of the entities of the fit: eigenvectors times roots of eigenvalues, rows of unit length."""
        return normalize_rows(self.vectors * self.eigenvalues**0.5)

    @property
    def extension(self) -> np.ndarray:
        """What new entities' similarities to those of the fit are multiplied by to get their features.

        By the Nyström extension an eigenvector at a new entity is a sum over its neighbors j of
        d_j^-1/2 u_j / eigenvalue, times a number that scaling to unit length removes.
        """
        positive = self.eigenvalues > 1e-8
        scale = np.where(positive, np.where(positive, self.eigenvalues, 1.0) ** -0.5, 0.0)
        return (invert_degree_root(self.degree)[:, None] * self.vectors * scale).astype(np.float32)


def count_graph_features(n_entities: int, n_clusters: int) -> int:
    """Return the number of eigenvectors of a graph: twice the clusters, between 20 and 300."""
    return min(n_entities, max(LEAST_EIGENVECTORS, min(2 * n_clusters, MOST_EIGENVECTORS)))


def invert_degree_root(degree: np.ndarray) -> np.ndarray:
    """Return degree^-1/2, 0 for an entity without neighbors."""
    return np.where(degree > 0, np.where(degree > 0, degree, 1.0) ** -0.5, 0.0)


def compute_leading_eigenvectors(
    matrix: sp.csr_array, number: int, rng: np.random.Generator
) -> tuple[np.ndarray, np.ndarray]:
    """Return the largest eigenvalues of a symmetric matrix, in falling order, and their vectors."""
    n = matrix.shape[0]
    if n <= DENSE_UP_TO or number >= n - 1:
        values, vectors = np.linalg.eigh(matrix.toarray())
    else:
        start = rng.standard_normal(n)
        try:
            values, vectors = eigsh(matrix, number, which="LA", v0=start)
        except ArpackError:  # many eigenvalues are nearly equal: a larger subspace separates them
            values, vectors = eigsh(matrix, number, which="LA", v0=start, ncv=min(n, 4 * number + 100))
    order = np.argsort(-values, kind="stable")[:number]
    return values[order], vectors[:, order]


def append_constant(features: Array) -> Array:
    """Return features with a constant column after them."""
    xp = namespace(features)
    constant = xp.ones((features.shape[0], 1), dtype=features.dtype, device=device(features))
    return xp.concat([features, constant], axis=1)
