"""Any constrained clusterer as the base of constrained clustering in several views.

A base has ``fit(X, constraints=...)`` and then `labels_`. Propagation also needs centers and covariances: they are the
base's `cluster_centers_` and the inverses of its `metrics_`, or follow from the labels.
"""

from __future__ import annotations

import inspect
import warnings
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import clone

from ...arrays import to_host, to_numpy
from ...data import Constraints
from ...data.links import Links
from ...rows import ViewRows
from .cluster_metrics import ClusterMetric, DiagonalMetric, FullMetric
from .cop import show_pair
from .neighborhoods import find_neighborhoods
from .pairwise import ConstrainedState, InfeasibleConstraintsError, LinkedView
from .pck import compute_costs, parse_start


def check_base(base: Any) -> None:
    """Refuse an object that cannot cluster a view under constraints."""
    if inspect.isclass(base):
        raise TypeError(f"base={base.__name__} is a class: give an object, {base.__name__}()")
    parameters = inspect.signature(base.fit).parameters.values()
    if not any(p.name == "constraints" or p.kind is p.VAR_KEYWORD for p in parameters):
        raise TypeError(
            f"base={type(base).__name__} clusters without constraints: its fit must take `constraints`, "
            "fit(X, constraints=Constraints(...)), as that of PCKMeans"
        )


@dataclass(frozen=True, eq=False)
class EstimatorState(ConstrainedState):
    """The clusters that an estimator has found in a view."""

    model: Any = None

    def repeats(self, previous: ConstrainedState, tol: float) -> bool:
        if hasattr(self.model, "cost_"):
            return super().repeats(previous, tol)
        both = np.column_stack([self.labels, previous.labels])
        return len(np.unique(both, axis=0)) == len(np.unique(both[:, 0])) == len(np.unique(both[:, 1]))


@dataclass(frozen=True, eq=False)
class BaseClusterer:
    """Clusters each view by a clone of an estimator, with the same seed in every view and round."""

    base: Any
    n_clusters: int
    seed: int
    centers: Mapping[str, np.ndarray]  # starting centers from the user
    entities: Mapping[str, np.ndarray]  # the entity of each row of a view, and the ids of entities, for messages
    ids: np.ndarray | None

    def cluster(self, name: str, view: ViewRows, trusted: Constraints, links: Constraints) -> EstimatorState:
        """Cluster one view under `links`, or as many of them as the base can satisfy; `trusted` are never left out."""
        for attempt in select_feasible(trusted, links):
            try:
                return self.read_state(name, view, links, self.fit(name, view, attempt))
            except InfeasibleConstraintsError as error:
                failure = error
        pairs = np.sort(self.entities[name][failure.pairs], axis=1)
        listed = ", ".join(show_pair(pair, self.ids) for pair in pairs)
        detail = f", such as the cannot-links {listed}" if listed else f" ({failure})"
        raise InfeasibleConstraintsError(
            f"view {name!r}: {type(self.base).__name__} satisfies all constraints, but cannot satisfy those of this "
            f"view and those that follow from other views{detail}. Check them, increase n_clusters, or use base='pck', "
            "which may violate constraints"
        ) from failure

    def fit(self, name: str, view: ViewRows, links: Constraints) -> Any:
        """Fit a clone of the base to the rows of a view."""
        model = clone(self.base, safe=False)
        settings: dict[str, Any] = {"n_clusters": self.n_clusters, "random_state": self.seed}
        for option, value in settings.items():
            if hasattr(model, option):
                setattr(model, option, value)
        if name in self.centers:
            model.init = self.centers[name]
        try:
            with warnings.catch_warnings():  # of constraints that were received, some contradict others
                warnings.filterwarnings("ignore", "cannot-links contradict must-links")
                model.fit(to_host(view.X), constraints=links)
        except InfeasibleConstraintsError:
            raise
        except ValueError as error:
            raise ValueError(
                f"view {name!r} cannot be clustered by the base {type(model).__name__}: {error}"
            ) from error
        return model

    def read_state(self, name: str, view: ViewRows, links: Constraints, model: Any) -> EstimatorState:
        """Read the clusters of a fitted base, and compute what it does not have."""
        title, (n, d) = f"base {type(model).__name__}", view.X.shape
        if not hasattr(model, "labels_"):
            raise TypeError(f"{title} has no labels_ after fit: it must store the cluster of each row there")
        labels = check_base_labels(model.labels_, n, self.n_clusters, f"{title}: labels_ of view {name!r}")
        if hasattr(model, "cluster_centers_"):
            centers = to_numpy(model.cluster_centers_).astype(np.float64)
            if centers.shape != (self.n_clusters, d):
                raise ValueError(
                    f"{title}: cluster_centers_ of view {name!r} must have shape {(self.n_clusters, d)}, got "
                    f"{centers.shape}"
                )
        else:
            centers, _ = parse_start(labels, view, self.n_clusters, name)
        metric = self.read_metric(name, d, model)
        problem = LinkedView(view, links.must, links.cannot, uses_length=False)
        penalties = problem.penalize(metric, None)
        violated, penalty = penalties.find_violated(labels[problem.rows])
        if hasattr(model, "cost_"):
            cost = float(model.cost_)
        else:
            cost = float(compute_costs(view, metric, centers)[np.arange(n), labels].sum()) + penalty
        return EstimatorState(labels, centers, metric, cost, int(violated.sum()), True, penalties, model=model)

    def read_metric(self, name: str, n_columns: int, model: Any) -> ClusterMetric:
        """Return the learned metrics of a fitted base; the identity if it has none."""
        if not hasattr(model, "metrics_"):
            return ClusterMetric.first(self.n_clusters, n_columns)
        values = np.array(model.metrics_, dtype=np.float64)
        kinds = {(self.n_clusters, n_columns): DiagonalMetric, (self.n_clusters, n_columns, n_columns): FullMetric}
        if values.shape not in kinds:
            raise ValueError(
                f"base {type(model).__name__}: metrics_ of view {name!r} must have shape "
                f"{' or '.join(map(str, kinds))}, got {values.shape}"
            )
        if values.ndim == 2 and (values == 1).all():  # nothing was learned
            return ClusterMetric(values)
        return kinds[values.shape](values)


def check_base_labels(labels: Any, n: int, n_clusters: int, what: str) -> np.ndarray:
    """Return labels of a base as integers; refuse others than one cluster per row."""
    values = to_numpy(labels)
    if values.shape != (n,) or values.dtype.kind not in "iu" or not ((values >= 0) & (values < n_clusters)).all():
        shown = f"values from {values.min()} to {values.max()}" if values.shape == (n,) else f"shape {values.shape}"
        raise ValueError(f"{what} must be {n} whole numbers from 0 to {n_clusters - 1}, got {shown}")
    return values.astype(np.int64)


def select_feasible(trusted: Constraints, links: Constraints) -> Iterator[Constraints]:
    """Yield ever fewer constraints, for bases that must satisfy all of them: all, consistent ones, only `trusted` ones.

    `links` are the trusted ones and others with weights, which may be wrong. First all are tried; then those that
    contradict neither trusted nor stronger ones; then of the others, the stronger half, a quarter and so on; then the
    trusted ones.
    """
    yield links
    certain = Constraints.from_links(
        *(Links(kind.pairs, kind.weights + np.inf) for kind in (trusted.must, trusted.cannot))
    )
    ranked = certain | links  # trusted ones have infinite weight
    group = np.arange(1 + max(kind.pairs.max(initial=0) for kind in (ranked.must, ranked.cannot)))
    for members in find_neighborhoods(certain, ranked):
        group[members] = members[0]
    together = [group[kind.pairs[:, 0]] == group[kind.pairs[:, 1]] for kind in (ranked.must, ranked.cannot)]
    consistent = np.concatenate([together[0], ~together[1]])
    weights = np.where(consistent, np.concatenate([ranked.must.weights, ranked.cannot.weights]), -1.0)
    order = np.argsort(-weights, kind="stable")
    n_certain, n_received = int(np.isinf(weights).sum()), int((consistent & np.isfinite(weights)).sum())
    while n_received:
        kept = np.zeros(len(order), bool)
        kept[order[: n_certain + n_received]] = True
        must, cannot = np.split(kept, [len(together[0])])
        yield Constraints.from_links(links.must.select(must), links.cannot.select(cannot))
        n_received //= 2
    yield trusted
