"""What spectral methods share that make one embedding of all views."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from .._saving import save_as
from ..affinities import CrossOperator, Operator
from ..methods.spectral.algorithm import Embedding, InitialEmbedding, embed_view
from ..methods.spectral.base import BaseSpectral, warn_embedding_problems


class KernelCombination(NamedTuple):
    """How the similarities of several views become one."""

    operators: Callable[[Sequence[Operator]], Operator]  # of the entities to each other
    crosses: Callable[[Sequence[CrossOperator]], CrossOperator]  # of others to them
    words: str  # what they are called in messages


class BaseCombinedKernel(BaseSpectral):
    """Everything but how the views' similarities become one."""

    @property
    @abstractmethod
    def _combination(self) -> KernelCombination:
        """How similarities of several views become one."""

    def _embed(
        self, _: tuple[str, ...], operators: Sequence[Operator], rng: np.random.Generator
    ) -> CombinedKernelEmbedding:
        joint = embed_view(self._combination.operators(operators), self.n_clusters, rng)
        nobody = np.empty((len(joint.U), 0))
        views = [replace(joint, U=joint.place(K, nobody)) for K in operators]
        return CombinedKernelEmbedding(joint, views, self._combination.crosses)

    def _store(self, found: Any, present: np.ndarray) -> None:
        super()._store(found, present)
        self.embedding_ = found.joint[0]

    def _warn(self, names: Sequence[str], present: np.ndarray, found: Any) -> None:  # noqa: ARG002
        comparable = np.any(present, axis=1)  # fit has warned of the others already
        warn_embedding_problems(self._combination.words, found.embedding, comparable, self.n_clusters)


@save_as("joint-embedding")
@dataclass(frozen=True, eq=False)
class CombinedKernelEmbedding:
    """One embedding by all views, and where in it each view alone puts the entities."""

    embedding: InitialEmbedding
    views: Sequence[Embedding]
    combine: Callable[[Sequence[CrossOperator]], CrossOperator]

    @property
    def joint(self) -> Sequence[np.ndarray]:
        return [self.embedding.U]

    def place(self, crosses: Sequence[CrossOperator]) -> Sequence[np.ndarray]:
        return [self.embedding.place(self.combine(crosses), np.empty((crosses[0].shape[0], 0)))]
