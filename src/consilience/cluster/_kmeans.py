"""The shell of both multi-view k-means estimators: check, start, run, store."""

from __future__ import annotations

from abc import ABC, abstractmethod
from functools import partial
from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
from sklearn.base import (
    BaseEstimator,
    ClassNamePrefixFeaturesOutMixin,
    ClusterMixin,
    TransformerMixin,
    _fit_context,
)
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.validation import check_is_fitted

from .._backend import generator, like, threads, to_numpy
from ..algorithms.combine import consensus_centres, distances_to, vote
from ..algorithms.kmeans import multi_view_kmeans
from ..algorithms.progress import progress
from ..algorithms.run import Attempt, best_of, run
from ..algorithms.start import STRATEGIES, given_partition, seeding
from ..data import Table
from ..divergences import Divergence, Rows
from ._shared import (
    RANDOM_STATE,
    check_n_clusters,
    check_views,
    prepare,
    remember,
    store_agreement,
    warn_of_empty,
    warn_of_rounds,
)


class BaseMultiViewKMeans(ClassNamePrefixFeaturesOutMixin, TransformerMixin, ClusterMixin, BaseEstimator, ABC):
    """Everything but the divergence."""

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "n_clusters": [Interval(Integral, 1, None, closed="left")],
        "views": [dict, None],
        "n_init": [Interval(Integral, 1, None, closed="left")],
        "max_iter": [Interval(Integral, 1, None, closed="left")],
        "tol": [Interval(Real, 0, None, closed="left")],
        "patience": [Interval(Integral, 1, None, closed="left")],
        "init": [StrOptions(set(STRATEGIES)), dict, "array-like"],
        "random_state": RANDOM_STATE,
        "n_jobs": [Integral, None],
        "verbose": ["verbose"],
    }

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        views: dict[str, Any] | None = None,
        n_init: int = 10,
        max_iter: int = 300,
        tol: float = 1e-6,
        patience: int = 5,
        init: Any = "k-means++",
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: bool = False,
    ) -> None:
        self.n_clusters = n_clusters
        self.views = views
        self.n_init = n_init
        self.max_iter = max_iter
        self.tol = tol
        self.patience = patience
        self.init = init
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    @property
    @abstractmethod
    def _divergence(self) -> Divergence:
        """How far a row is from a centre."""

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Any, y: Any = None) -> Any:  # noqa: ARG002
        """Cluster the entities.

        Parameters
        ----------
        X : Views, mapping or sequence of blocks, or array-like of shape (n_entities, n_columns)
            The data. A plain array is one view, or several if the argument `views` names groups of its columns.
        y : ignored
            Here for scikit-learn.

        Returns
        -------
        self
            The fitted estimator. After Ctrl-C it holds the best result so far.
        """
        views = check_views(self, X, reset=True)
        check_n_clusters(self.n_clusters, len(views))
        ready = prepare(views, self._divergence)
        with threads(self.n_jobs):
            best, interrupted = best_of(self._attempts(ready))
        remember(self, X, views)
        labels, centres = best.result
        self.labels_ = to_numpy(labels)
        self.cluster_centers_ = centres
        self.cost_ = best.cost
        self.n_iter_, self.converged_ = best.run.n_iter, best.run.converged
        self.history_ = Table.from_rows(best.run.history)
        store_agreement(self, {name: to_numpy(own) for name, own in best.run.state.labels.items()})
        if interrupted:
            raise KeyboardInterrupt("stopped early: the model holds the best result so far")
        self._warn()
        return self

    def _attempts(self, ready: dict[str, Rows]) -> Any:
        """One restart after the other, each from a partition and a child generator of its own."""
        if isinstance(self.init, str):
            n_runs, start = (
                self.n_init,
                seeding(ready, dict.fromkeys(ready, self._divergence), self.n_clusters, self.init),
            )
        else:
            given = given_partition(self.init, ready, self._divergence, self.n_clusters)
            n_runs, start = 1, lambda _: given
        with progress(type(self).__name__, n_runs, bool(self.verbose)) as show:
            for i, rng in enumerate(generator(self.random_state).spawn(n_runs)):
                done = run(
                    multi_view_kmeans(ready, self._divergence, start(rng), self.n_clusters),
                    max_iter=self.max_iter,
                    tol=self.tol,
                    patience=self.patience,
                    report=partial(show, i),
                )
                centres = consensus_centres(ready, self._divergence, done.state)
                labels, cost = vote(ready, self._divergence, centres)
                yield Attempt(done, (labels, centres), cost)

    def _warn(self) -> None:
        warn_of_rounds(self)
        warn_of_empty(self.labels_, self.n_clusters)

    def predict(self, X: Any) -> np.ndarray:
        """Give each entity to the nearest cluster, by the views that it has.

        Parameters
        ----------
        X : Views, mapping or sequence of blocks, or array-like
            Entities, seen before or not, with any of the fitted views.

        Returns
        -------
        ndarray of shape (n_entities,)
            The cluster of each entity.
        """
        with threads(self.n_jobs):
            return to_numpy(vote(*self._against(X))[0])

    def transform(self, X: Any) -> np.ndarray:
        """Distance of each entity to each cluster, summed over the views that it has.

        Parameters
        ----------
        X : Views, mapping or sequence of blocks, or array-like
            Entities with any of the fitted views.

        Returns
        -------
        ndarray of shape (n_entities, n_clusters)
            The distances.
        """
        with threads(self.n_jobs):
            return to_numpy(distances_to(*self._against(X)))

    def score(self, X: Any, y: Any = None) -> float:  # noqa: ARG002
        """How well the clusters fit: minus the cost of these entities, so that more is better.

        Parameters
        ----------
        X : Views, mapping or sequence of blocks, or array-like
            Entities with any of the fitted views.
        y : ignored
            Here for scikit-learn.

        Returns
        -------
        float
            Minus the sum over entities and views of the divergence from the entity's cluster.
        """
        with threads(self.n_jobs):
            return -vote(*self._against(X))[1]

    def _against(self, X: Any) -> tuple[dict[str, Rows], Divergence, dict[str, Any]]:
        """New entities made ready, and what they are measured against."""
        check_is_fitted(self)
        views = check_views(self, X, reset=False)
        ready = prepare(views, self._divergence, self.cluster_centers_)
        centres = {name: like(to_numpy(self.cluster_centers_[name]), rows.own) for name, rows in ready.items()}
        return ready, self._divergence, centres

    @property
    def _n_features_out(self) -> int:
        return self.n_clusters

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.transformer_tags.preserves_dtype = []
        return tags
