"""Clusters merged into fewer groups."""

from __future__ import annotations

import html
from dataclasses import dataclass

import numpy as np

from ..data import Table
from .log import count_noun

MAX_SHOWN = 20  # groups in the representation


@dataclass(frozen=True, eq=False)
class Level:
    """A level of the hierarchy of clusters, with as many groups as `Result.at` was asked for.

    Attributes
    ----------
    labels : ndarray of shape (n_entities,)
        Group of each entity, in the order of the data; -1 for outliers and for rows without any data.
    names : list of str
        A name for each group, from what marks it.
    merged : list of list of int
        The clusters of each group.
    """

    labels: np.ndarray
    names: list[str]
    merged: list[list[int]]

    @property
    def sizes(self) -> list[int]:
        """Number of entities in each group."""
        return np.bincount(self.labels[self.labels >= 0], minlength=len(self.names)).tolist()

    @property
    def clusters(self) -> Table:
        """One row per group: number, name, size and the clusters that it consists of."""
        merged = [", ".join(map(str, clusters)) for clusters in self.merged]
        return Table({"group": list(range(len(merged))), "name": self.names, "size": self.sizes, "clusters": merged})

    def _describe(self) -> str:
        """Say how many groups there are, and of how many clusters."""
        n_clusters = sum(map(len, self.merged))
        n_groups = sum(map(bool, self.merged))  # clusters may be empty
        return f"{count_noun(n_clusters, 'cluster')} merged into {count_noun(n_groups, 'group')}"

    def __repr__(self) -> str:
        table = Table({name: column[:MAX_SHOWN] for name, column in self.clusters.items()})
        n_more = len(self.merged) - MAX_SHOWN
        more = [f"... and {n_more} more"] if n_more > 0 else []
        return "\n".join([self._describe(), "", repr(table), *more])

    def _repr_html_(self) -> str:
        return f"<div><p>{html.escape(self._describe())}</p>{self.clusters._repr_html_()}</div>"
