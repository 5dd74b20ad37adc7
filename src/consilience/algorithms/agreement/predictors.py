"""Predictors of clusters that leave out the entity they predict.

A predictor is built once per view and geometry. Given the clusters of all entities as a matrix of zeros and ones, it
predicts the cluster of each from the other entities alone, so that agreement between predictions and clusters is not a
matter of fitting. Clusters change from round to round, the predictors do not.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
import scipy.sparse as sp
from array_api_compat import device
from scipy.sparse.linalg import eigsh

from ..._backend import Array, like, namespace, to_numpy, where
from ...affinities import Cross, degrees
from ..spectral import First, embed, inverse_root, nobody, unit_rows, without_nothing

LEAST_REMAINDER = 0.01  # of one minus the leverage: predictions of entities with more leverage are damped
DENSE_UP_TO = 400  # entities up to which a dense eigensolver is faster than an iterative one
SPARE_VECTORS = 10  # the fewest eigenvectors of a graph beyond which more are computed per cluster


class Predictor(Protocol):
    """Predicts the clusters of entities from the clusters of others."""

    def predict_left_out(self, members: Array) -> Array:
        """Return scores (n, k) of each entity for each cluster, computed without the entity's own row of `members`."""

    def learn(self, members: Array) -> Array:
        """Return what `predict` needs to score new entities."""

    def predict(self, learned: Array, inputs: Any) -> Array:
        """Return scores of new entities for each cluster."""


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
        features = append_ones(features)
        gram = xp.astype(features.T @ features, xp.float64)
        diagonal = xp.eye(gram.shape[0], dtype=xp.float64, device=device(features))
        size = penalty * xp.sum(gram * diagonal) / gram.shape[0]
        values, vectors = xp.linalg.eigh(gram)
        root = vectors / xp.sqrt(where(values > 0, values, 0.0) + size)
        whitened = xp.astype(features @ xp.astype(root, features.dtype), xp.float32, copy=False)
        return cls(whitened, xp.astype(root, xp.float32), xp.sum(whitened**2, axis=1)[:, None])

    def predict_left_out(self, members: Array) -> Array:
        fitted = self.whitened @ (self.whitened.T @ members)
        remainder = 1 - self.leverage
        remainder = where(remainder > LEAST_REMAINDER, remainder, LEAST_REMAINDER)
        return (fitted - self.leverage * members) / remainder

    def learn(self, members: Array) -> Array:
        return self.root @ (self.whitened.T @ members)

    def predict(self, learned: Array, inputs: Array) -> Array:
        return append_ones(inputs) @ learned


@dataclass(frozen=True, eq=False)
class NeighborVote:
    """The share of each cluster among an entity's nearest neighbours."""

    neighbors: sp.csr_array  # (n, n): 1 / K where the column is among the K nearest of the row

    @classmethod
    def fit(cls, nearest: np.ndarray) -> NeighborVote:
        """Take the positions of each entity's neighbours, (n, K), the entity itself not among them; K may be 0."""
        n, number = nearest.shape
        starts = np.arange(n + 1) * number
        return cls(sp.csr_array((np.full(nearest.size, 1 / max(1, number)), nearest.ravel(), starts), shape=(n, n)))

    def predict_left_out(self, members: Array) -> Array:
        return like(self.neighbors @ to_numpy(members), members)

    def learn(self, members: Array) -> Array:
        return members

    def predict(self, learned: Array, inputs: sp.csr_array) -> Array:
        return like(inputs @ to_numpy(learned), learned)


@dataclass(frozen=True, eq=False)
class GraphFeatures:
    """Where entities lie in a graph: its leading eigenvectors, which carry clusters of any shape.

    The graph is built without the clusters, so that a regression on the eigenvectors leaves an entity out exactly.
    """

    embedding: First
    power: float = 0.5  # of the eigenvalues, by which eigenvectors are scaled

    @classmethod
    def fit(cls, graph: Any, number: int, rng: np.random.Generator) -> GraphFeatures:
        """Compute the eigenvectors of the normalised graph."""
        return cls(embed_graph(graph, number, rng))

    @property
    def values(self) -> Array:
        """The features of the entities of the fit, rows of unit length."""
        return self._scale(self.embedding.U)

    def place(self, cross: Cross) -> Array:
        """Return the features of other entities, from their similarities to the entities of the fit."""
        return self._scale(self.embedding.place(cross, np.empty((cross.shape[0], 0))))

    def _scale(self, U: Array) -> Array:
        values = self.embedding.values
        return unit_rows(U * where(values > 0, values, 0.0) ** self.power)


def count_graph_features(n_entities: int, n_clusters: int) -> int:
    """Return the number of eigenvectors of a graph: enough for twice the clusters, at least 20."""
    return min(n_entities, max(2 * SPARE_VECTORS, 2 * n_clusters))


def embed_graph(graph: Any, number: int, rng: np.random.Generator) -> First:
    """Return leading eigenvectors of the normalised graph, by the fastest solver for its size and storage."""
    matrix = getattr(graph, "matrix", None)
    if not sp.issparse(matrix) or getattr(graph, "home", None) is not None:
        return embed(graph, number, rng)
    degree = degrees(graph)
    least = nobody(degree)
    root = inverse_root(degree, least)
    normalized = sp.csr_array(matrix * root[:, None] * root[None, :])
    values, vectors = leading_eigenvectors(normalized, number, rng)
    root = root[:, None]
    values, vectors = without_nothing(values, np.where(root > 0, vectors, 0.0))
    return First(vectors, values, root * vectors, least, root[:, 0] == 0, -np.inf, settled=True)


def leading_eigenvectors(matrix: sp.csr_array, number: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Return the largest eigenvalues of a symmetric matrix, in falling order, and their vectors."""
    n = matrix.shape[0]
    if n <= DENSE_UP_TO or number >= n - 1:
        values, vectors = np.linalg.eigh(matrix.toarray())
    else:
        values, vectors = eigsh(matrix, number, which="LA", v0=rng.standard_normal(n))
    order = np.argsort(-values, kind="stable")[:number]
    return values[order], vectors[:, order]


def append_ones(features: Array) -> Array:
    """Return features with a constant column after them."""
    xp = namespace(features)
    constant = xp.ones((features.shape[0], 1), dtype=features.dtype, device=device(features))
    return xp.concat([features, constant], axis=1)
