"""What spectral methods share that make one embedding of all views."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from ..affinities import Cross, Operator
from ..algorithms.spectral import Embedding, First, embed
from ..cluster._spectral import BaseSpectral, warn_of_embedding

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
        warn_of_joint(self._combination.words, found.values, found.U, self.n_clusters)


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


def warn_of_joint(what: str, values: np.ndarray, U: np.ndarray, n_clusters: int) -> None:
    """Say what makes an embedding of all views less than it should be; `values` has one more than is clustered."""
    too_many = len(values) > n_clusters and bool(values[n_clusters] > 1 - APART)
    warn_of_embedding(what, values, np.flatnonzero(~U[:, :n_clusters].any(axis=1)), too_many, n_clusters)
