"""Sizes of the clusters: what a mixture model expects of an entity before it looks (Bickel & Scheffer 2005, 4.4)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import reduce
from operator import add
from typing import Protocol

from ...arrays import Array, namespace
from .algorithm import Sums, Weights


class Prior(Protocol):
    """Where the priors of the views come from."""

    def first(self, names: Sequence[str], totals: Mapping[str, Array]) -> Weights:
        """Before the first round, from the sums of the responsibilities of the views that have a start."""

    def learned(self, weights: Weights, name: str, sums: Sums) -> Weights:
        """After an M-step in one view, on these sums."""

    def n_free(self, n_views: int, n_clusters: int) -> int:
        """How many numbers are free to choose."""


class GlobalPrior:
    """Eq 17: one prior for all views, the mean of all posteriors."""

    def first(self, names: Sequence[str], totals: Mapping[str, Array]) -> Weights:
        return dict.fromkeys(names, shares(reduce(add, totals.values())))

    def learned(self, weights: Weights, name: str, sums: Sums) -> Weights:  # noqa: ARG002
        return self.first(list(weights), sums.totals)

    def n_free(self, n_views: int, n_clusters: int) -> int:  # noqa: ARG002
        return n_clusters - 1


class ViewPrior:
    """Eq 12: each view its own, the mean of its blended posteriors."""

    def first(self, names: Sequence[str], totals: Mapping[str, Array]) -> Weights:
        everything = reduce(add, totals.values())
        return {name: shares(totals.get(name, everything)) for name in names}

    def learned(self, weights: Weights, name: str, sums: Sums) -> Weights:
        return {**weights, name: shares(sums.blended)}

    def n_free(self, n_views: int, n_clusters: int) -> int:
        return n_views * (n_clusters - 1)


class UniformPrior:
    """The same for every cluster, always."""

    def first(self, names: Sequence[str], totals: Mapping[str, Array]) -> Weights:
        some = next(iter(totals.values()))
        return dict.fromkeys(names, shares(some * 0 + 1))

    def learned(self, weights: Weights, name: str, sums: Sums) -> Weights:  # noqa: ARG002
        return weights

    def n_free(self, n_views: int, n_clusters: int) -> int:  # noqa: ARG002
        return 0


def shares(totals: Array) -> Array:
    """Totals of the clusters, as shares of their sum."""
    return totals / namespace(totals).sum(totals)


PRIORS: dict[str, Prior] = {"global": GlobalPrior(), "view": ViewPrior(), "uniform": UniformPrior()}
