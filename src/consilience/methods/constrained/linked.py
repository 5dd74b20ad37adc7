"""Rows of one view with links between some of them, and what it costs to violate these."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from ...arrays import CSR, take_rows
from ...data import Links, compact_pairs, list_partners
from ...divergences import ViewRows
from .cluster_metrics import ClusterMetric, compute_mean_variance
from .farthest import FarthestPair

Order = Callable[[int], np.ndarray]  # number of linked rows -> the order in which they are visited


class LinkLists(NamedTuple):
    """The links of each linked row, one row's after the other's."""

    indptr: np.ndarray
    partners: np.ndarray
    weights: np.ndarray
    must: np.ndarray  # whether the link ties or keeps apart
    link: np.ndarray  # its number


@dataclass(frozen=True, eq=False)
class LinkedView:
    """A view and the links between its rows; must-links are numbered before cannot-links."""

    view: ViewRows
    must: Links
    cannot: Links
    uses_length: bool  # whether the price of a link depends on its length (MPCK-Means) or is its weight (PCK-Means)

    @property
    def n_rows(self) -> int:
        return self.view.X.shape[0]

    @cached_property
    def variance(self) -> float:
        """Mean variance of the columns: the unit of squared distances."""
        return compute_mean_variance(self.view)

    @cached_property
    def _numbered(self) -> tuple[np.ndarray, np.ndarray]:
        return compact_pairs(np.vstack([self.must.pairs, self.cannot.pairs]))

    @property
    def rows(self) -> np.ndarray:
        """The rows that have links."""
        return self._numbered[0]

    @cached_property
    def has_links(self) -> np.ndarray:
        mask = np.zeros(self.n_rows, bool)
        mask[self.rows] = True
        return mask

    @cached_property
    def own(self) -> ViewRows:
        """The rows that have links, by themselves."""
        return self.view.some(self.rows)

    @property
    def pairs(self) -> np.ndarray:
        """The links, as places among the rows that have some."""
        return self._numbered[1]

    @cached_property
    def weights(self) -> np.ndarray:
        return np.concatenate([self.must.weights, self.cannot.weights])

    @cached_property
    def link_lists(self) -> LinkLists:
        indptr, partners, link = list_partners(self.pairs, len(self.rows))
        return LinkLists(indptr, partners, self.weights[link], link < len(self.must.weights), link)

    @cached_property
    def differences(self) -> Any:
        """What lies between the two ends of each link; sparse if the rows are."""
        X = self.own.X.to_scipy() if isinstance(self.own.X, CSR) else self.own.X
        return X[self.pairs[:, 0]] - X[self.pairs[:, 1]]

    def prices(self, metric: ClusterMetric, before: Penalties | None) -> Penalties:
        """What violating the links costs under these metrics."""
        if not self.uses_length:
            return before or Penalties(self, np.ones((1, 1)), None)
        between = metric.lengths(self.differences)
        farthest = None
        if len(self.cannot.weights):
            X = self.view.X.to_scipy() if isinstance(self.view.X, CSR) else self.view.X
            n_must = len(self.must.weights)
            longest = self.cannot.pairs[np.argmax(between[n_must:], axis=0)]  # no violated link may cost less than 0
            known = [[(int(i), int(j))] for i, j in longest]
            if before is not None and before.farthest is not None:
                known = [[*own, (last.first, last.second)] for own, last in zip(known, before.farthest, strict=True)]
            farthest = metric.farthest(X, known)
        return Penalties(self, between, farthest)


@dataclass(frozen=True, eq=False)
class Penalties:
    """What a violated link costs: its weight, times a factor that depends on its length under the clusters' metrics."""

    problem: LinkedView
    lengths: np.ndarray  # (links, k) squared length of each link under each cluster's metric
    farthest: list[FarthestPair] | None  # the two rows farthest apart under each metric

    @property
    def largest(self) -> np.ndarray:
        """(k,) the largest squared distance under each metric."""
        if self.farthest is None:
            return np.zeros(self.lengths.shape[1])
        return np.array([own.square for own in self.farthest])

    def violated(self, labels: np.ndarray) -> tuple[np.ndarray, float]:
        """Which links these labels (of the linked rows) violate, and the price of all of them."""
        problem = self.problem
        one, other = labels[problem.pairs].T
        n_must = len(problem.must.weights)
        wrong = np.concatenate([(one != other)[:n_must], (one == other)[n_must:]])
        if not problem.uses_length:
            return wrong, float(problem.weights[wrong].sum())
        links = np.arange(len(wrong))
        must, cannot = wrong & (links < n_must), wrong & (links >= n_must)
        ties = (self.lengths[must, one[must]] + self.lengths[must, other[must]]) / 2
        gaps = self.largest[one[cannot]] - self.lengths[cannot, one[cannot]]
        return wrong, float(problem.weights[must] @ ties + problem.weights[cannot] @ gaps)

    def scatter(self, metric: ClusterMetric, labels: np.ndarray) -> np.ndarray | float:
        """What violated links add to the scatters of the clusters (Bilenko et al. 2004, the update of A_h)."""
        problem = self.problem
        if not problem.uses_length:
            return 0.0
        wrong, _ = self.violated(labels)
        links = np.flatnonzero(wrong)
        one, other = labels[problem.pairs[links]].T
        k, w = self.lengths.shape[1], problem.weights[links]
        must = links < len(problem.must.weights)
        factors = np.zeros((k, len(links)))
        place = np.arange(len(links))
        factors[one[must], place[must]] = w[must] / 2
        factors[other[must], place[must]] = w[must] / 2
        factors[one[~must], place[~must]] = -w[~must]
        total = metric.products(problem.differences[links], factors)
        if self.farthest is not None:
            apart = np.bincount(one[~must], w[~must], minlength=k)
            ends = subtract_pairs(problem.view.X, self.farthest)
            total = total + metric.products(ends, np.diag(apart))
        return total


def subtract_pairs(X: Any, farthest: list[FarthestPair]) -> np.ndarray:
    """What lies between the two rows of each pair: (pairs, d)."""
    ends = np.array([(own.first, own.second) for own in farthest])
    rows = take_rows(X, ends.ravel())
    dense = rows.to_scipy().toarray() if isinstance(rows, CSR) else rows
    return dense[::2] - dense[1::2]
