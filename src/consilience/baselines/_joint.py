"""What spectral methods share that make one embedding of all views."""

from __future__ import annotations

import warnings
from abc import abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from ..affinities import Cross, Operator
from ..algorithms.spectral import Embedding, First, embed
from ..cluster._spectral import BaseSpectral

APART = 1e-6  # an eigenvalue this near to 1 belongs to a part of the graph that hardly anything connects to the rest


class Combination(NamedTuple):
    """How the similarities of several views become one."""

    operators: Callable[[Sequence[Operator]], Operator]  # of the entities to each other
    crosses: Callable[[Sequence[Cross]], Cross]  # of others to them
    words: str  # what they are called in messages


class BaseJoint(BaseSpectral):
    """Everything but how the views' similarities become one."""

    @property
    @abstractmethod
    def _combination(self) -> Combination:
        """How similarities of several views become one."""

    def _map(self, _: tuple[str, ...], operators: Sequence[Operator], rng: np.random.Generator) -> Joint:
        # one vector more than is clustered tells whether there are more parts than clusters
        joint = embed(self._combination.operators(operators), self.n_clusters + 1, rng)
        nobody = np.empty((len(joint.U), 0))
        views = [replace(joint, U=joint.place(K, nobody)) for K in operators]
        return Joint(joint, views, self._combination.crosses, self.n_clusters)

    def _store(self, found: Any, present: np.ndarray) -> None:
        super()._store(found, present)
        self.embedding_ = found.joint[0]

    def _warn(self, names: Any, similarities: Any, embeddings: Any) -> None:  # noqa: ARG002
        found: First = self._found.embedding  # type: ignore[attr-defined]
        warn_of_embedding(self._combination.words, found.values, found.U, self.n_clusters)


@dataclass(frozen=True, eq=False)
class Joint:
    """One embedding by all views, and where in it each view alone puts the entities."""

    embedding: First
    views: Sequence[Embedding]
    combine: Callable[[Sequence[Cross]], Cross]
    n_columns: int

    @property
    def joint(self) -> Sequence[np.ndarray]:
        return [self.embedding.U[:, : self.n_columns]]

    def place(self, crosses: Sequence[Cross]) -> Sequence[np.ndarray]:
        found = self.embedding.place(self.combine(crosses), np.empty((crosses[0].shape[0], 0)))
        return [found[:, : self.n_columns]]


def warn_of_embedding(what: str, values: np.ndarray, U: np.ndarray, n_clusters: int) -> None:
    """Say what makes an embedding of all views less than it should be; `values` has one more than is clustered."""
    rank = int(np.count_nonzero(values[:n_clusters]))
    lonely = np.flatnonzero(~U[:, :n_clusters].any(axis=1))
    problem = None
    if len(values) > n_clusters and values[n_clusters] > 1 - APART:
        problem = (
            f"fall into more parts that nothing connects than the {n_clusters} clusters: which of them count is "
            "arbitrary. Raise n_neighbors, or use affinity='gaussian'"
        )
    elif rank < n_clusters:
        problem = (
            f"have {rank} dimensions, fewer than the {n_clusters} clusters: they can tell no more than so many "
            "apart. Lower n_clusters, or use affinity='gaussian'"
        )
    elif len(lonely):
        problem = (
            f"find entity {lonely[0]} like no other ({len(lonely)} such): it has no place. Use "
            "affinity='nearest-neighbors', or drop such rows with views[keep]"
        )
    if problem:
        warnings.warn(f"{what} {problem}", UserWarning, stacklevel=4)


def chosen_views(embedding: str, names: Sequence[str]) -> list[int]:
    """The views whose embeddings are clustered."""
    if embedding == "concat":
        return list(range(len(names)))
    if embedding not in names:
        raise ValueError(f"embedding={embedding!r} is no view: give 'concat' or one of {', '.join(map(repr, names))}")
    return [names.index(embedding)]
