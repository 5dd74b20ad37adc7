"""Views that are prepared once and refined from any clusters, as knowledge about the entities grows."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace

import numpy as np

from ...data import Constraints, Views
from ..common.similarities import restrict_columns
from .ensemble import Ensemble
from .inputs import PreparedView, build_ensemble, find_similarity_columns, prepare_views
from .refine import Round, find_drift, refine_labels

MAX_ROUNDS = 15
TOLERANCE = 1e-3  # share of the entities that may still change when refinement ends
PREDICTORS = ("components", "graph")  # they do not depend on the number of clusters
PENALTY, BALANCE = 0.05, 0.5  # as in `Consilience`


@dataclass(frozen=True, eq=False)
class Knowledge:
    """What is known of the entities besides their views."""

    constraints: Constraints = field(default_factory=Constraints)  # by position, without outliers
    is_outlier: np.ndarray | None = None  # (n,)
    ignored: Mapping[str, np.ndarray] = field(default_factory=dict)  # by view: (n,) mask of entities it misleads about


class WarmRefinement:
    """The predictors of all views, which are built once and serve any number of clusters.

    Parameters
    ----------
    views : Views
        The data.
    precomputed : mapping of str to bool
        For each view, whether it is a matrix of similarities.
    n_clusters : int
        Number of clusters that the number of eigenvectors of the graphs is chosen for.
    """

    def __init__(self, views: Views, precomputed: Mapping[str, bool], n_clusters: int) -> None:
        self.n_entities = len(views)
        columns = find_similarity_columns(views, precomputed, source=views)
        self.prepared: list[PreparedView] = prepare_views(restrict_columns(views, columns), precomputed, n_clusters)
        self._ensemble = build_ensemble(self.prepared, self.n_entities, n_clusters, PREDICTORS, PENALTY, BALANCE)

    def build_ensemble(self, n_clusters: int, knowledge: Knowledge) -> Ensemble:
        """Return the predictors for a number of clusters, without what is known to mislead."""
        views = []
        for view in self._ensemble.views:
            mask = knowledge.ignored.get(view.name)
            ignored = None if mask is None or not mask[view.entities].any() else mask[view.entities]
            views.append(replace(view, ignored=ignored))
        return replace(self._ensemble, views=views, n_clusters=n_clusters)

    def refine(
        self,
        labels: np.ndarray,
        n_clusters: int,
        knowledge: Knowledge,
        *,
        drift: np.ndarray | None = None,
        further_votes: Callable[[np.ndarray], np.ndarray] | None = None,
        check_stopped: Callable[[], None] = lambda: None,
        report: Callable[[float], None] = lambda _: None,
    ) -> Round:
        """Refine clusters, numbered from 0, until few entities change; negative labels are left open.

        Entities that only do what `find_drift` said keep their labels. `further_votes` of the labels, (n, n_clusters),
        are added to those of the views. `check_stopped` is called before each round and may raise an exception;
        `report` gets the share of the rounds that are done.
        """
        rounds = refine_labels(
            self.build_ensemble(n_clusters, knowledge),
            labels,
            TOLERANCE,
            knowledge.constraints,
            is_outlier=knowledge.is_outlier,
            drift=drift,
            further_votes=further_votes,
        )
        for number in range(1, MAX_ROUNDS + 1):
            check_stopped()
            state = next(rounds)
            report(number / MAX_ROUNDS)
            if state.settled:
                break
        return state

    def find_drift(
        self,
        state: Round,
        n_clusters: int,
        knowledge: Knowledge,
        further_votes: Callable[[np.ndarray], np.ndarray] | None = None,
    ) -> np.ndarray:
        """Return the cluster that each entity would move to without new knowledge, -1 for those that would stay.

        Refinement ends after a number of rounds, also if some entities would still change. `further_votes` are those
        that the refinement had.
        """
        return find_drift(self.build_ensemble(n_clusters, knowledge), state, knowledge.constraints, further_votes)
