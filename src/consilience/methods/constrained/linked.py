"""One view with links between its rows, and the penalties for violating them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import scipy.sparse as sp

from ...arrays import CSR, take_rows
from ...data.links import Links, compact_pairs, list_partners
from ...divergences import SquaredEuclidean
from ...rows import ViewRows
from ..common.starts import compute_mean_divergence
from .cluster_metrics import ClusterMetric
from .farthest import FarthestPair

VisitOrder = Callable[[int], np.ndarray]  # number of linked rows -> the order in which they are visited


@dataclass(frozen=True, eq=False)
class LinkedView:
    """A view and the links between its rows; must-links are numbered before cannot-links."""

    view: ViewRows
    must: Links
    cannot: Links
    uses_length: bool  # whether a penalty depends on the length of the link (MPCK-Means) or not (PCK-Means)

    @property
    def n_rows(self) -> int:
        return self.view.X.shape[0]

    @cached_property
    def variance(self) -> float:
        """Mean variance of the columns, the unit of squared distances; 1 if all rows are equal."""
        variance = compute_mean_divergence(self.view, SquaredEuclidean()) / self.view.X.shape[1]
        return variance if variance > 0 else 1.0

    @cached_property
    def _numbered(self) -> tuple[np.ndarray, np.ndarray]:
        return compact_pairs(np.vstack([self.must.pairs, self.cannot.pairs]))

    @property
    def rows(self) -> np.ndarray:
        """Indices of the rows that have links."""
        return self._numbered[0]

    @property
    def pairs(self) -> np.ndarray:
        """The links as positions among the rows that have links."""
        return self._numbered[1]

    @cached_property
    def has_links(self) -> np.ndarray:
        mask = np.zeros(self.n_rows, bool)
        mask[self.rows] = True
        return mask

    @cached_property
    def linked_rows(self) -> ViewRows:
        """The rows that have links."""
        return self.view.take(self.rows)

    @cached_property
    def weights(self) -> np.ndarray:
        return np.concatenate([self.must.weights, self.cannot.weights])

    @cached_property
    def link_lists(self) -> tuple[np.ndarray, ...]:
        """The links of each linked row in CSR layout: indptr, partners, weights, whether must-link, and index."""
        indptr, partners, link = list_partners(self.pairs, len(self.rows))
        return indptr, partners, self.weights[link], link < len(self.must.weights), link

    @cached_property
    def differences(self) -> Any:
        """Difference of the two ends of each link; sparse if the rows are."""
        X = to_scipy(self.linked_rows.X)
        return X[self.pairs[:, 0]] - X[self.pairs[:, 1]]

    def penalize(self, metric: ClusterMetric, before: Penalties | None) -> Penalties:
        """Compute the penalties for violating the links under these metrics."""
        if not self.uses_length:
            return before or Penalties(self, np.ones((1, 1)), None)
        lengths = metric.lengths(self.differences)
        farthest = None
        if len(self.cannot.weights):
            # the longest cannot-link is a hint, so that no violated link has a negative penalty
            longest = self.cannot.pairs[np.argmax(lengths[len(self.must.weights) :], axis=0)]
            hints = [[(int(i), int(j))] for i, j in longest]
            if before is not None and before.farthest is not None:
                for cluster_hints, last in zip(hints, before.farthest, strict=True):
                    cluster_hints.append((last.first, last.second))
            farthest = metric.farthest(to_scipy(self.view.X), hints)
        return Penalties(self, lengths, farthest)


@dataclass(frozen=True, eq=False)
class Penalties:
    """Penalty of a violated link: its weight, times a factor that depends on its length under the clusters' metrics."""

    problem: LinkedView
    lengths: np.ndarray  # (links, k) squared length of each link under each cluster's metric
    farthest: list[FarthestPair] | None  # the two rows farthest apart under each metric

    @property
    def largest(self) -> np.ndarray:
        """Largest squared distance under each metric: (k,)."""
        if self.farthest is None:
            return np.zeros(self.lengths.shape[1])
        return np.array([pair.square for pair in self.farthest])

    def find_violated(self, labels: np.ndarray) -> tuple[np.ndarray, float]:
        """Return which links are violated by these labels (of the linked rows), and the sum of their penalties."""
        problem = self.problem
        first, second = labels[problem.pairs].T
        n_must = len(problem.must.weights)
        violated = np.concatenate([(first != second)[:n_must], (first == second)[n_must:]])
        if not problem.uses_length:
            return violated, float(problem.weights[violated].sum())
        links = np.arange(len(violated))
        must, cannot = violated & (links < n_must), violated & (links >= n_must)
        must_factors = (self.lengths[must, first[must]] + self.lengths[must, second[must]]) / 2
        cannot_factors = self.largest[first[cannot]] - self.lengths[cannot, first[cannot]]
        return violated, float(problem.weights[must] @ must_factors + problem.weights[cannot] @ cannot_factors)

    def compute_scatter(self, metric: ClusterMetric, labels: np.ndarray) -> np.ndarray | float:
        """Compute what violated links add to the scatters of the clusters (Bilenko et al. 2004, update of A_h)."""
        problem = self.problem
        if not problem.uses_length:
            return 0.0
        links = np.flatnonzero(self.find_violated(labels)[0])
        first, second = labels[problem.pairs[links]].T
        k, w = self.lengths.shape[1], problem.weights[links]
        must = links < len(problem.must.weights)
        factors = np.zeros((k, len(links)))
        column = np.arange(len(links))
        factors[first[must], column[must]] = w[must] / 2
        factors[second[must], column[must]] = w[must] / 2
        factors[first[~must], column[~must]] = -w[~must]
        total = metric.products(problem.differences[links], factors)
        if self.farthest is not None:
            cannot_weights = np.bincount(first[~must], w[~must], minlength=k)
            ends = to_scipy(take_rows(problem.view.X, np.array([(p.first, p.second) for p in self.farthest]).ravel()))
            ends = ends.toarray() if sp.issparse(ends) else ends
            total = total + metric.products(ends[::2] - ends[1::2], np.diag(cannot_weights))
        return total


def to_scipy(X: Any) -> Any:
    """Return CSR rows as a scipy matrix, and numpy rows unchanged."""
    return X.to_scipy() if isinstance(X, CSR) else X
