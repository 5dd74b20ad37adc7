"""Co-trained spectral clustering."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from numbers import Integral
from typing import Any, ClassVar

import numpy as np
from sklearn.utils._param_validation import Interval, StrOptions

from ..affinities import Cross, Operator
from ..algorithms.progress import progress
from ..algorithms.spectral import Embedding, alignment, co_trained_spectral, place
from ..data import Table
from ._spectral import BaseSpectral

STRANGERS = 0.2  # alignment below which views have next to nothing in common


class CoTrainedSpectral(BaseSpectral):
    """Co-trained spectral clustering for any number of views (Kumar & Daumé 2011)."""

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **BaseSpectral._parameter_constraints,
        "n_iter": [Interval(Integral, 0, None, closed="left"), StrOptions({"auto"})],
        "n_projections": [Interval(Integral, 1, None, closed="left"), None],
        "embedding": [str],
    }

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        affinity: Any = "auto",
        bandwidth: Any = "median",
        n_iter: Any = "auto",
        n_projections: int | None = None,
        embedding: str = "concat",
        views: dict[str, Any] | None = None,
        assign_labels: str = "kmeans",
        n_init: int = 10,
        init: Any = "k-means++",
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: bool = False,
    ) -> None:
        super().__init__(
            n_clusters,
            affinity=affinity,
            bandwidth=bandwidth,
            views=views,
            assign_labels=assign_labels,
            n_init=n_init,
            init=init,
            random_state=random_state,
            n_jobs=n_jobs,
            verbose=verbose,
        )
        self.n_iter = n_iter
        self.n_projections = n_projections
        self.embedding = embedding

    def _map(self, names: tuple[str, ...], operators: Sequence[Operator], rng: np.random.Generator) -> CoTrained:
        if self.embedding != "concat" and self.embedding not in names:
            raise ValueError(
                f"embedding={self.embedding!r} is no view: give 'concat' or one of {', '.join(map(repr, names))}"
            )
        n_vectors = max(self.n_clusters, self.n_projections or 0)
        rounds: list[list[Embedding]] = []
        history: list[dict[str, Any]] = []
        with progress(type(self).__name__, 1, bool(self.verbose)) as show:
            for i, views in enumerate(co_trained_spectral(operators, n_vectors, rng)):
                rounds.append(views)
                history.append({"round": i, "alignment": alignment(views, self.n_clusters)})
                show(0, i, history[-1])
                if i == self._n_rounds(len(operators), history[0]["alignment"]):
                    break
        chosen = range(len(names)) if self.embedding == "concat" else [names.index(self.embedding)]
        return CoTrained(rounds, list(chosen), self.n_clusters, history)

    def _n_rounds(self, n_views: int, alignment: float) -> int:
        """How many rounds: none for one view, which has nobody to learn from."""
        if n_views == 1:
            return 0
        if self.n_iter == "auto":
            return int(alignment < STRANGERS)
        return self.n_iter

    def _store(self, found: Any, present: np.ndarray) -> None:
        super()._store(found, present)
        self.history_ = Table.from_rows(found.history)
        self.n_iter_ = len(found.rounds) - 1


@dataclass(frozen=True, eq=False)
class CoTrained:
    """All rounds: others go through the same."""

    rounds: list[list[Embedding]]
    chosen: list[int]  # the views whose embeddings are clustered
    n_columns: int
    history: list[dict[str, Any]]

    @property
    def views(self) -> Sequence[Embedding]:
        return self.rounds[-1]

    @property
    def joint(self) -> Sequence[np.ndarray]:
        return [self.views[v].U[:, : self.n_columns] for v in self.chosen]

    def place(self, crosses: Sequence[Cross]) -> Sequence[np.ndarray]:
        found = place(self.rounds, crosses)
        return [found[v][:, : self.n_columns] for v in self.chosen]
