"""What both multi-view k-means estimators share: everything but the divergence."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from functools import reduce
from operator import add
from typing import Any, ClassVar, Literal, Self, TypeVar

import numpy as np
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin

from ...arrays import Seed, asarray_like, explain_out_of_memory, to_numpy, use_threads
from ...data import Table, Views
from ...divergences import Cosine, Divergence
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
from ..common.known_classes import KnownClassesMixin, check_classes, clamp_labels
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
from ..common.shards import OUT_OF_MEMORY_ADVICE, prepare_kmeans
from ..common.starts import NAMED_STARTS
from ..common.statistics import NO_LABEL, ClusterSums
from ..common.stream import (
    POWER,
    append_batch,
    check_same_clusters,
    convert_arrays,
    join_view_labels,
    share_stream_docs,
)
from ..common.validation import StrOptions, check_parameters, share_constraints
from .algorithm import Centers
from .combine import (
    compute_consensus_centers,
    compute_distances,
    compute_relative_distances,
    conclude_partition,
    fit_shards,
    vote,
    vote_all,
)
from .stream import kmeans_step, remember_clusters

T = TypeVar("T")


@share_stream_docs
class BaseMultiViewKMeans(
    MembershipMixin,
    OutlierLabelsMixin,
    ClassNamePrefixFeaturesOutMixin,
    TransformerMixin,
    KnownClassesMixin,
    BaseEstimator,
    ABC,
):
    """Multi-view k-means with any divergence."""

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **share_constraints("n_clusters", "views", "n_init", "max_iter", "tol", "patience", "outliers"),
        **share_constraints("random_state", "n_jobs", "verbose"),
        "init": [StrOptions(NAMED_STARTS), dict, "array-like"],
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
        outliers: float | Literal["auto"] | None = None,
        random_state: Seed = None,
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
        """The divergence of rows from centers."""

    @check_parameters
    def fit(self, X: Any, y: Any = None) -> Self:
        """Cluster the entities.

        %(fit_parameters_classes)s

        %(returns_self_interruptible)s
        """
        views = check_views(self, X, reset=True)
        check_n_clusters(self.n_clusters, len(views))
        fixed_labels, seed_classes = check_classes(y, len(views), self.n_clusters)
        with use_threads(self.n_jobs), explain_out_of_memory(*OUT_OF_MEMORY_ADVICE):
            shards = prepare_kmeans(views, self._divergence)
            if fixed_labels is not None:
                shards = shards.with_labels(fixed_labels, "fixed_labels")
            best, interrupted = fit_shards(shards, self._divergence, self, fixed_labels)
            view_centers = best.run.state.centers
            labels, centers, agreed, started = best.result
            results = list(started.map(conclude_partition, view_centers, centers, True, each=shards.split(labels)))
            handed = reduce(add, (result["sums"] for result in results))
            memories = remember_clusters(shards, handed.by_view, agreed)
        store_input_features(self, X, views)
        self.labels_, self.seed_classes_ = labels, seed_classes
        self.cluster_centers_ = centers
        self.cost_ = best.cost
        self.n_iter_, self.converged_ = best.run.n_iter, best.run.converged
        self.history_ = Table.from_rows(best.run.history)
        self.view_centers_, self.statistics_, self.n_batches_ = view_centers.values, memories, 1
        self._reset_probabilities()
        self._store_results(results, views.names, 1.0, fixed_labels)
        if interrupted:
            raise KeyboardInterrupt("stopped early: the model holds the best result so far")
        warn_if_not_converged(self)
        warn_about_empty_clusters(labels, self.n_clusters)
        return self

    def _store_results(
        self, results: Sequence[dict[str, Any]], names: Sequence[str], weight: float, fixed_labels: np.ndarray | None
    ) -> None:
        """Store the labels per view, the usual distance from the clusters, and the outliers.

        `results` has those of each shard, with the named views; `weight` is the weight of these entities among all that
        the model has seen.
        """
        view_labels = [result["view_labels"] for result in results]
        store_agreement(self, join_view_labels(view_labels, self.view_n_features_, len(self.labels_)), fixed_labels)
        distances, present = (np.concatenate([result[key] for result in results]) for key in ("distances", "present"))
        units = dict(getattr(self, "_units", {})) if weight < 1 else {}
        for name, view_distances, has_view in zip(names, distances.T, present.T, strict=True):
            if has_view.any():
                centers = to_numpy(self.cluster_centers_[name]).astype(np.float64)
                between = np.linalg.norm(centers - centers.mean(axis=0), axis=1).mean()
                unit = floor_unit(float(view_distances[has_view].mean(dtype=np.float64)), float(between))
                units[name] = (1 - weight) * units.get(name, unit) + weight * unit
        self._units = units
        view_units = np.array([units.get(name, 0.0) for name in names])
        unit, labels = present @ view_units, np.asarray(self.labels_)
        distances = self._leave_out(distances.astype(np.float64), present, list(names), weight)
        relative = distances.sum(axis=1) / np.where(unit > 0, unit, 1)
        has_any = present.any(axis=1)
        self._spreads = measure_spreads(relative[has_any], labels[has_any], self.n_clusters)
        values = np.where(has_any, measure_log_ratio(relative, labels, self._spreads), np.inf)
        earlier = getattr(self, "_view_scales", {}) if weight < 1 else {}
        by_view = {}
        for name, view_distances, view_unit, has_view in zip(names, distances.T, view_units, present.T, strict=True):
            alone = measure_log_ratio(view_distances / (view_unit or 1), labels, self._spreads)
            by_view[name] = [alone[has_view]]
        self._mark_outliers(Misfit([values], present, list(names)), by_view, fixed_labels=fixed_labels)
        self._view_scales = {**earlier, **self._view_scales}  # the batch may lack views

    def _leave_out(self, distances: np.ndarray, present: np.ndarray, names: list[str], weight: float) -> np.ndarray:
        """Return the distance of each entity from its cluster's center without the entity, (n, n_views).

        An entity pulls the center of its cluster towards itself, which a new entity does not. It takes part in the
        center if all its views have this label. `weight` is the weight of these entities in the centers.
        """
        labels, n_clusters = np.asarray(self.labels_), int(self.n_clusters)
        by_view = np.stack([self.view_labels_[name] for name in names], axis=1)
        takes_part = present.any(axis=1) & ((by_view == labels[:, None]) | ~present).all(axis=1)
        result = distances.copy()
        for view, has_view in enumerate(present.T):
            rows = takes_part & has_view
            counts = np.bincount(labels[rows], minlength=n_clusters)
            rows &= (counts > 1)[labels]
            clusters, view_distances = labels[rows], distances[rows, view]
            if isinstance(self._divergence, Cosine):
                cosines = np.cos(view_distances)
                lengths = np.bincount(clusters, cosines, minlength=n_clusters) / weight
                result[rows, view] = leave_out_direction(view_distances, cosines, lengths[clusters])
            else:
                result[rows, view] = view_distances / (1 - weight / counts[clusters])
        return result

    @check_parameters
    def partial_fit(self, X: Any, y: Any = None) -> Self:
        """Continue with a batch of a stream: one round on its entities, averaged with the batches before.

        %(partial_fit)s

        Examples
        --------
        >>> import consilience as cs
        >>> views, y = cs.datasets.make_gaussian_views(600, n_clusters=3, separation=8, random_state=0)
        >>> model = cs.MultiViewKMeans(n_clusters=3, random_state=0)
        >>> for start in range(0, 600, 100):
        ...     model = model.partial_fit(views[start : start + 100])
        >>> model.n_batches_, bool(cs.metrics.normalized_mutual_info_score(y, model.predict(views)) > 0.9)
        (6, True)
        """
        if self.outliers is not None:
            raise ValueError(
                f"partial_fit cannot label outliers, which are defined by all entities: set outliers=None instead of "
                f"outliers={self.outliers!r}, and use score_outliers"
            )
        if not hasattr(self, "statistics_"):
            self.fit(X, y)
            self.history_ = append_batch(self.history_, 1)
            return self
        views = check_views(self, X, reset=False)
        views = views[[name for name in self.view_n_features_ if name in views]]
        check_same_clusters(self.n_clusters, next(iter(self.view_centers_.values())).shape[0])
        fixed_labels, _ = check_classes(y, len(views), self.n_clusters, self)
        with use_threads(self.n_jobs), explain_out_of_memory(*OUT_OF_MEMORY_ADVICE):
            shards = prepare_kmeans(views, self._divergence, self.cluster_centers_)
            if fixed_labels is not None:
                shards = shards.with_labels(fixed_labels, "fixed_labels")
            shards = shards.with_labels(clamp_labels(np.full(len(shards), NO_LABEL), fixed_labels))
            reference = next(iter(shards.views.values())).present
            values, memories = (convert_arrays(tree, reference) for tree in (self.view_centers_, self.statistics_))
            state, memories = kmeans_step(shards, Centers(self._divergence, values), memories)
            agreed = {name: ClusterSums(**memory["agreed"]) for name, memory in memories.items()}
            centers = compute_consensus_centers(agreed, self._divergence, state.centers.values)
            labels, cost = vote_all(shards, self._divergence, centers)
            results = list(shards.map(conclude_partition, state.centers, centers, False, each=shards.split(labels)))
        self.labels_, self.cost_ = labels, cost
        self.cluster_centers_, self.view_centers_, self.statistics_ = centers, state.centers.values, memories
        self.history_ = append_batch(self.history_, self.n_batches_, state.record)
        self.n_batches_ += 1
        self.n_iter_, self.converged_ = 1, False
        self._store_results(results, list(shards.views), self.n_batches_**-POWER, fixed_labels)
        return self

    def predict(self, X: Any, *, out: Any = None) -> np.ndarray:
        """Return the nearest cluster of each entity, by the views that it has.

        %(predict_parameters)s
        %(out)s

        %(returns_out)s
        """
        views = check_new_views(self, X)
        check_out(out, (len(views),), next(iter(self.cluster_centers_.values())).shape[0] - 1)
        with use_threads(self.n_jobs), explain_out_of_memory(*OUT_OF_MEMORY_ADVICE):
            return gather_results((labels for labels, _ in self._map_new(views, vote)), out)

    def transform(self, X: Any) -> np.ndarray:
        """Return the distance of each entity to each cluster, summed over the views that it has.

        %(predict_parameters)s

        Returns
        -------
        ndarray of shape (n_entities, n_clusters)
            The distances.
        """
        with use_threads(self.n_jobs), explain_out_of_memory(*OUT_OF_MEMORY_ADVICE):
            return gather_results(self._map_new(X, compute_distances))

    def score(self, X: Any, y: Any = None) -> float:  # noqa: ARG002
        """Return minus the cost of these entities, so that larger is better.

        %(score_parameters)s

        Returns
        -------
        float
            Minus the sum over entities and views of the divergence from the entity's cluster.
        """
        with use_threads(self.n_jobs), explain_out_of_memory(*OUT_OF_MEMORY_ADVICE):
            return -float(sum(cost for _, cost in self._map_new(X, vote)))

    def _score_clusters(self, views: Views) -> ClusterScores:
        """Score clusters by minus the squared distance, in units of the usual distance from its cluster."""
        relative, has_any = self._measure_relative(views)
        return ClusterScores(score_distances(relative), relative.argmin(axis=1), has_any)

    def _measure_misfit(self, views: Views) -> Misfit:
        """Measure the distance from the nearest cluster, beside that of the cluster's members."""
        relative, has_any = self._measure_relative(views)
        nearest, labels = relative.min(axis=1), relative.argmin(axis=1)
        values = np.where(has_any, measure_log_ratio(nearest, labels, self._spreads), np.inf)
        return Misfit([values], views.present, views.names)

    def _measure_relative(self, views: Views) -> tuple[np.ndarray, np.ndarray]:
        """Return relative distances to the clusters, (n, k), and which entities have a view."""
        with use_threads(self.n_jobs), explain_out_of_memory(*OUT_OF_MEMORY_ADVICE):
            relative = gather_results(self._map_new(views, compute_relative_distances, self._units))
        has_any = ~np.isnan(relative).any(axis=1)
        return np.where(has_any[:, None], relative, 0.0), has_any

    def _map_new(self, X: Any, task: Callable[..., T], *common: Any) -> Iterator[T]:
        """Map a task of new entities and the centers over the shards."""
        shards = prepare_kmeans(check_new_views(self, X), self._divergence, self.cluster_centers_)
        centers = {
            name: asarray_like(to_numpy(self.cluster_centers_[name]), view.present)
            for name, view in shards.views.items()
        }
        return shards.map(task, self._divergence, centers, *common)

    @property
    def _n_features_out(self) -> int:
        return self.n_clusters

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.transformer_tags.preserves_dtype = []
        return tags


def leave_out_direction(angles: np.ndarray, cosines: np.ndarray, lengths: np.ndarray) -> np.ndarray:
    """Return the angles of unit rows with the sums of the other rows, from the angles with the sum of all.

    `lengths` are those of the sums, in units of the weight of a row.
    """
    others = np.sqrt(np.maximum(lengths**2 - 2 * lengths * cosines + 1, np.finfo(float).tiny))
    return np.maximum(np.arccos(np.clip((lengths * cosines - 1) / others, -1, 1)), angles)
