"""Priors of the clusters (Bickel & Scheffer 2005, section 4.4)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import reduce
from operator import add

from ...arrays import Array, namespace
from .algorithm import Sums, Weights


class Prior:
    """One prior for all views: the mean of all posteriors (Eq 17)."""

    def initialize(self, names: Sequence[str], totals: Mapping[str, Array]) -> Weights:
        """Estimate priors before the first round, from the summed responsibilities of the views that have a start."""
        return dict.fromkeys(names, normalize(reduce(add, totals.values())))

    def update(self, weights: Weights, name: str, sums: Sums) -> Weights:  # noqa: ARG002
        """Estimate priors after an M-step in one view on these sums."""
        return dict.fromkeys(weights, normalize(reduce(add, sums.totals.values())))

    def count_parameters(self, n_views: int, n_clusters: int) -> int:  # noqa: ARG002
        return n_clusters - 1


class ViewPrior(Prior):
    """One prior per view: the mean of its blended posteriors (Eq 12)."""

    def initialize(self, names: Sequence[str], totals: Mapping[str, Array]) -> Weights:
        overall = reduce(add, totals.values())
        return {name: normalize(totals.get(name, overall)) for name in names}

    def update(self, weights: Weights, name: str, sums: Sums) -> Weights:
        return {**weights, name: normalize(sums.blended)}

    def count_parameters(self, n_views: int, n_clusters: int) -> int:
        return n_views * (n_clusters - 1)


class UniformPrior(Prior):
    """Clusters that are always equally likely."""

    def initialize(self, names: Sequence[str], totals: Mapping[str, Array]) -> Weights:
        return dict.fromkeys(names, normalize(next(iter(totals.values())) * 0 + 1))

    def update(self, weights: Weights, name: str, sums: Sums) -> Weights:  # noqa: ARG002
        return weights

    def count_parameters(self, n_views: int, n_clusters: int) -> int:  # noqa: ARG002
        return 0


def normalize(totals: Array) -> Array:
    """Divide totals by their sum."""
    return totals / namespace(totals).sum(totals)


PRIORS: dict[str, Prior] = {"global": Prior(), "view": ViewPrior(), "uniform": UniformPrior()}
