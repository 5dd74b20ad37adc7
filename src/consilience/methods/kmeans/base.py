"""The shell of both multi-view k-means estimators: check, start, run, store."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from numbers import Integral, Real
from typing import Any, ClassVar, TypeVar

import numpy as np
from sklearn.base import (
    BaseEstimator,
    ClassNamePrefixFeaturesOutMixin,
    ClusterMixin,
    TransformerMixin,
)

from ...arrays import asarray_like, explain_out_of_memory, make_generator, to_numpy, use_threads
from ...data import Table, Views
from ...divergences import Cosine, Divergence
from ...rows.shards import Shards, started
from ..common.input_checks import (
    check_n_clusters,
    check_new_views,
    check_out,
    check_views,
    gather_results,
    store_agreement,
    store_input_features,
    warn_about_empty_clusters,
    warn_if_not_converged,
)
from ..common.membership import (
    ClusterScores,
    MembershipMixin,
    Misfit,
    OutlierLabelsMixin,
    floor_unit,
    measure_log_ratio,
    measure_spreads,
    score_distances,
)
from ..common.progress import progress
from ..common.run import Attempt, choose_best_attempt, run
from ..common.shards import TOO_LARGE, prepare_kmeans
from ..common.starts import STRATEGIES, expand_labels, make_seeder, partition_from_init, sample_seed_entities
from ..common.stepwise import (
    POWER,
    batch_history,
    brought,
    check_same_clusters,
    joined_labels,
    kmeans_memories,
    kmeans_step,
    remembered_centres,
    unlabelled,
)
from ..common.validation import OUTLIERS, RANDOM_STATE, Interval, StrOptions, check_parameters
from .algorithm import label_views, multi_view_kmeans
from .combine import (
    collect_consensus,
    compute_consensus_centers,
    distances_from_cluster,
    distances_to,
    relative_distances,
    vote,
)

T = TypeVar("T")


class BaseMultiViewKMeans(
    MembershipMixin,
    OutlierLabelsMixin,
    ClassNamePrefixFeaturesOutMixin,
    TransformerMixin,
    ClusterMixin,
    BaseEstimator,
    ABC,
):
    """Everything but the divergence."""

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "n_clusters": [Interval(Integral, 1, None, closed="left")],
        "views": [dict, None],
        "n_init": [Interval(Integral, 1, None, closed="left")],
        "max_iter": [Interval(Integral, 1, None, closed="left")],
        "tol": [Interval(Real, 0, None, closed="left")],
        "patience": [Interval(Integral, 1, None, closed="left")],
        "init": [StrOptions(set(STRATEGIES)), dict, "array-like"],
        "outliers": OUTLIERS,
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
        outliers: Any = None,
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
        self.outliers = outliers
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    @property
    @abstractmethod
    def _divergence(self) -> Divergence:
        """How far a row is from a centre."""

    @check_parameters
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
        with use_threads(self.n_jobs), explain_out_of_memory(*TOO_LARGE):
            shards = prepare_kmeans(views, self._divergence)
            best, interrupted = choose_best_attempt(self._attempts(shards))
            view_centres = best.run.state.centers
            labels, centres, agreed = best.result
            by_view = list(shards.map(label_views, self._divergence, view_centres, views.names))
            memories = kmeans_memories(shards, self._divergence, view_centres, agreed, views.names)
            misfit = list(shards.map(distances_from_cluster, self._divergence, centres))
        store_input_features(self, X, views)
        self.labels_ = labels
        self.cluster_centers_ = centres
        self.cost_ = best.cost
        self.n_iter_, self.converged_ = best.run.n_iter, best.run.converged
        self.history_ = Table.from_rows(best.run.history)
        self.view_centers_, self.statistics_, self.n_batches_ = view_centres.values, memories, 1
        store_agreement(self, joined_labels(by_view, views.names, len(labels)))
        self._reset_probabilities()
        self._store_misfit(misfit, views.names, 1.0)
        if interrupted:
            raise KeyboardInterrupt("stopped early: the model holds the best result so far")
        warn_if_not_converged(self)
        warn_about_empty_clusters(labels, self.n_clusters)
        return self

    def _store_misfit(self, measured: list[tuple[np.ndarray, np.ndarray]], names: Iterable[str], weight: float) -> None:
        """Store the usual distance from the clusters, and the outliers.

        `measured` has the distance of each entity from its cluster in each view and which views it has, shard by shard;
        `weight` is the weight of these entities among all that the model has seen.
        """
        distances, present = (np.concatenate(parts) for parts in zip(*measured, strict=True))
        units = dict(getattr(self, "_units", {})) if weight < 1 else {}
        for name, view_distances, has_view in zip(names, distances.T, present.T, strict=True):
            if has_view.any():
                centres = to_numpy(self.cluster_centers_[name]).astype(np.float64)
                between = np.linalg.norm(centres - centres.mean(axis=0), axis=1).mean()
                unit = floor_unit(float(view_distances[has_view].mean(dtype=np.float64)), float(between))
                units[name] = (1 - weight) * units.get(name, unit) + weight * unit
        self._units = units
        view_units = np.array([units.get(name, 0.0) for name in names])
        unit, labels = present @ view_units, np.asarray(self.labels_)
        distances = self._leave_out(distances.astype(np.float64), present, list(names), weight)
        relative = distances.sum(axis=1) / np.where(unit > 0, unit, 1)
        is_known = present.any(axis=1)
        self._spreads = measure_spreads(relative[is_known], labels[is_known], self.n_clusters)
        values = np.where(is_known, measure_log_ratio(relative, labels, self._spreads), np.inf)
        earlier = getattr(self, "_view_scales", {}) if weight < 1 else {}
        by_view = {}
        for name, view_distances, view_unit, has_view in zip(names, distances.T, view_units, present.T, strict=True):
            alone = measure_log_ratio(view_distances / (view_unit or 1), labels, self._spreads)
            by_view[name] = [alone[has_view]]
        self._mark_outliers(Misfit([values], present, list(names)), by_view)
        self._view_scales = {**earlier, **self._view_scales}  # the batch may lack views

    def _leave_out(self, distances: np.ndarray, present: np.ndarray, names: list[str], weight: float) -> np.ndarray:
        """Return the distance of each entity from its cluster's centre without the entity, (n, n_views).

        An entity draws the centre of its cluster towards itself, which a new entity does not. It takes part in the
        centre if all its views say this cluster. `weight` is the weight of these entities in the centres.
        """
        labels = np.asarray(self.labels_)
        by_view = np.stack([self.view_labels_[name] for name in names], axis=1)
        takes_part = present.any(axis=1) & ((by_view == labels[:, None]) | ~present).all(axis=1)
        result = distances.copy()
        for view, has_view in enumerate(present.T):
            for cluster in range(int(self.n_clusters)):
                rows = np.flatnonzero(takes_part & has_view & (labels == cluster))
                if len(rows) > 1:
                    leave_out = leave_out_direction if isinstance(self._divergence, Cosine) else leave_out_row
                    result[rows, view] = leave_out(distances[rows, view], weight)
        return result

    @check_parameters
    def partial_fit(self, X: Any, y: Any = None) -> Any:  # noqa: ARG002
        """Go on with a batch of a stream: one round on its entities, averaged with what was seen before.

        The first batch is fitted as `fit` does it, and later ones move the centres (stepwise EM: Cappé & Moulines 2009,
        Liang & Klein 2009): of batches of one size the t-th counts ``t ** -0.7``, so that newer ones count more and
        the model settles. After `fit` it goes on from the fitted model, whose data count as one batch. The attributes
        of entities, such as `labels_`, are those of the batch. A batch that is refused changes nothing.

        Parameters
        ----------
        X : Views, mapping or sequence of blocks, or array-like of shape (n_entities, n_columns)
            The batch: as in `fit` at first, with at least `n_clusters` entities; then any number with any of the views.
        y : ignored
            Here for scikit-learn.

        Returns
        -------
        self
            The estimator.

        Examples
        --------
        >>> import consilience as cs
        >>> views, y = cs.datasets.make_gaussian_views(600, n_clusters=3, separation=8, random_state=0)
        >>> model = cs.MultiViewKMeans(n_clusters=3, random_state=0)
        >>> for start in range(0, 600, 100):
        ...     model = model.partial_fit(views[start : start + 100])
        >>> model.n_batches_, cs.metrics.normalized_mutual_info_score(y, model.predict(views)) > 0.9
        (6, True)
        """
        if self.outliers is not None:
            raise ValueError(
                f"partial_fit cannot label outliers, which are defined by all entities: set outliers=None instead of "
                f"outliers={self.outliers!r}, and use score_outliers"
            )
        if not hasattr(self, "statistics_"):
            self.fit(X)
            self.history_ = batch_history(self.history_, 1)
            return self
        views = check_views(self, X, reset=False)
        views = views[[name for name in self.view_n_features_ if name in views]]
        check_same_clusters(self.n_clusters, next(iter(self.view_centers_.values())).shape[0])
        with use_threads(self.n_jobs), explain_out_of_memory(*TOO_LARGE):
            self._step(unlabelled(prepare_kmeans(views, self._divergence, self.cluster_centers_)))
        return self

    def _step(self, shards: Shards) -> None:
        """One round on a batch; nothing is stored before all is done."""
        kind = next(iter(shards.views.values())).present
        own, memories = brought(self.view_centers_, kind), brought(self.statistics_, kind)
        state, memories = kmeans_step(shards, self._divergence, own, memories)
        centres = remembered_centres(memories, self._divergence, state.centers.values)
        by_view = list(shards.map(label_views, self._divergence, state.centers, list(shards.views)))
        voted = list(shards.map(vote, self._divergence, centres))
        misfit = list(shards.map(distances_from_cluster, self._divergence, centres))
        self.labels_ = np.concatenate([to_numpy(labels) for labels, _ in voted])
        self.cost_ = float(sum(cost for _, cost in voted))
        self.cluster_centers_, self.view_centers_, self.statistics_ = centres, state.centers.values, memories
        self.history_ = batch_history(self.history_, self.n_batches_, state.record)
        self.n_batches_ += 1
        self.n_iter_, self.converged_ = 1, False
        store_agreement(self, joined_labels(by_view, self.view_n_features_, len(self.labels_)))
        self._store_misfit(misfit, list(shards.views), self.n_batches_**-POWER)

    def _starts(self, shards: Shards) -> tuple[int, Iterator[np.ndarray]]:
        """How many restarts, and the labels of each, from a child generator of its own."""
        if not isinstance(self.init, str):
            return 1, iter([partition_from_init(self.init, shards, self._divergence, self.n_clusters)])
        rng = make_generator(self.random_state)
        children, (own,) = rng.spawn(self.n_init), rng.spawn(1)
        rows, chosen = sample_seed_entities(shards, self.n_clusters, own)
        partition = make_seeder(rows, dict.fromkeys(rows, self._divergence), self.n_clusters, self.init)
        n = sum(shards.sizes)
        return self.n_init, (expand_labels(to_numpy(partition(child)), chosen, n) for child in children)

    def _attempts(self, shards: Shards) -> Iterator[Attempt]:
        """One restart after the other."""
        n_runs, starts = self._starts(shards)
        names = list(shards.views)
        with progress(type(self).__name__, n_runs, bool(self.verbose)) as show:
            for i, labels in enumerate(starts):
                done = run(
                    multi_view_kmeans(started(shards, labels), names, self._divergence, self.n_clusters),
                    max_iter=self.max_iter,
                    tol=self.tol,
                    patience=self.patience,
                    report=partial(show, i),
                )
                agreed = shards.total(collect_consensus, self._divergence, done.state.centers, names)
                centres = compute_consensus_centers(agreed, self._divergence, done.state.centers)
                votes = list(shards.map(vote, self._divergence, centres))
                labels = np.concatenate([to_numpy(shard_labels) for shard_labels, _ in votes])
                yield Attempt(done, (labels, centres, agreed), float(sum(cost for _, cost in votes)))

    def predict(self, X: Any, *, out: Any = None) -> np.ndarray:
        """Give each entity to the nearest cluster, by the views that it has.

        Parameters
        ----------
        X : Views, mapping or sequence of blocks, or array-like
            Entities, seen before or not, with any of the fitted views.
        out : array of shape (n_entities,), optional
            Where to write the labels, some after the other: anything with slices, such as a ``np.memmap`` or a dataset
            of an HDF5 file.

        Returns
        -------
        ndarray of shape (n_entities,)
            The cluster of each entity; `out` where it is given.
        """
        views = check_new_views(self, X)
        check_out(out, (len(views),), next(iter(self.cluster_centers_.values())).shape[0] - 1)
        with use_threads(self.n_jobs), explain_out_of_memory(*TOO_LARGE):
            return gather_results((labels for labels, _ in self._over(views, vote)), out)

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
        with use_threads(self.n_jobs), explain_out_of_memory(*TOO_LARGE):
            return gather_results(self._over(X, distances_to))

    def _score_clusters(self, views: Views) -> ClusterScores:
        """Score clusters by minus the squared distance, in units of the usual distance from its cluster."""
        relative, is_known = self._measure_relative(views)
        return ClusterScores(score_distances(relative), relative.argmin(axis=1), is_known)

    def _measure_misfit(self, views: Views) -> Misfit:
        """Measure the distance from the nearest cluster, beside that of the cluster's members."""
        relative, is_known = self._measure_relative(views)
        nearest, labels = relative.min(axis=1), relative.argmin(axis=1)
        values = np.where(is_known, measure_log_ratio(nearest, labels, self._spreads), np.inf)
        return Misfit([values], views.present, views.names)

    def _measure_relative(self, views: Views) -> tuple[np.ndarray, np.ndarray]:
        """Return relative distances to the clusters, (n, k), and which entities have a view."""
        units = getattr(self, "_units", None) or self._estimate_units()
        with use_threads(self.n_jobs), explain_out_of_memory(*TOO_LARGE):
            relative = gather_results(self._over(views, relative_distances, units))
        is_known = ~np.isnan(relative).any(axis=1)
        return np.where(is_known[:, None], relative, 0.0), is_known

    def _estimate_units(self) -> dict[str, float]:
        """Return the usual distance from the clusters, for a model that was saved without it."""
        n_rows = sum(int((labels >= 0).sum()) for labels in self.view_labels_.values())
        unit = float(self._divergence.distance(np.asarray(self.cost_ / max(1, n_rows))))
        return dict.fromkeys(self.cluster_centers_, unit if unit > 0 else 1.0)

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
        with use_threads(self.n_jobs), explain_out_of_memory(*TOO_LARGE):
            return -float(sum(cost for _, cost in self._over(X, vote)))

    def _over(self, X: Any, task: Callable[..., T], *common: Any) -> Iterator[T]:
        """A task of new entities and the centres that they are measured against, shard by shard."""
        views = check_new_views(self, X)
        shards = prepare_kmeans(views, self._divergence, self.cluster_centers_)
        known = {
            name: asarray_like(to_numpy(self.cluster_centers_[name]), part.present)
            for name, part in shards.views.items()
        }
        return shards.map(task, self._divergence, known, *common)

    @property
    def _n_features_out(self) -> int:
        return self.n_clusters

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.transformer_tags.preserves_dtype = []
        return tags


def leave_out_row(distances: np.ndarray, weight: float) -> np.ndarray:
    """Return the distances of rows from the means of the other rows, from the distances from the mean of all."""
    return distances / (1 - weight / len(distances))


def leave_out_direction(angles: np.ndarray, weight: float) -> np.ndarray:
    """Return the angles of unit rows with the sums of the other rows, from the angles with the sum of all."""
    cosines = np.cos(angles)
    length = cosines.sum() / weight  # of the sum, in units of the weight of a row
    others = np.sqrt(np.maximum(length**2 - 2 * length * cosines + 1, np.finfo(float).tiny))
    return np.maximum(np.arccos(np.clip((length * cosines - 1) / others, -1, 1)), angles)
