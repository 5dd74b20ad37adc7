"""Clusterings of the same entities into any number of clusters: by any estimator, or by a quick version of the default.

Each offers clusters of all entities, clusters of views whose entities were permuted, which show what chance gives, and
two fits to disjoint halves, which show what comes out again.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from functools import cached_property
from typing import Any, Protocol

import numpy as np

from ..cluster._halves import Data, HalfFit, clone_quietly, last_step, split_entities
from ..data import Views
from .predictors import SharedPredictors


class Clusterings(Protocol):
    """Clusters of the same entities for any number of clusters."""

    predictors: SharedPredictors
    permuted: SharedPredictors

    def cluster(self, n_clusters: int) -> np.ndarray:
        """Return the clusters of all entities."""

    def cluster_permuted(self, n_clusters: int) -> np.ndarray:
        """Return the clusters of views whose entities were permuted."""

    def cluster_halves(self, n_clusters: int) -> list[HalfFit]:
        """Return the fits to the halves of each division: first and second, first and second, ..."""


class AgreementClusterings:
    """Clusterings by a quick version of `Consilience`: views are prepared once, and few starts are refined."""

    def __init__(
        self, views: Views, precomputed: Mapping[str, bool], largest: int, n_splits: int, rng: np.random.Generator
    ) -> None:
        self.views, self.precomputed, self.largest, self.n_splits, self.rng = views, precomputed, largest, n_splits, rng
        self.predictors = SharedPredictors.build(views, precomputed, largest)
        self.permuted = self.predictors.permute(rng)
        self._labels: dict[int, np.ndarray] = {}
        self._half_labels: list[dict[int, np.ndarray]] = [{} for _ in range(2 * n_splits)]

    def cluster(self, n_clusters: int) -> np.ndarray:
        state = self.predictors.cluster(n_clusters, self.rng, find_fewer(self._labels, n_clusters))
        self._labels[n_clusters] = state.labels
        return state.labels

    def cluster_permuted(self, n_clusters: int) -> np.ndarray:
        return self.permuted.cluster(n_clusters, self.rng).labels

    @cached_property
    def _halves(self) -> list[tuple[np.ndarray, np.ndarray, SharedPredictors, Any]]:
        """The entities of each half, the others, the predictors of the half, and the others placed among them."""
        halves = []
        for _ in range(self.n_splits):
            first, second = split_entities(np.arange(len(self.views)), self.rng)
            for rows, others in ((first, second), (second, first)):
                predictors = SharedPredictors.build(self.views[rows], self.precomputed, min(self.largest, len(rows)))
                halves.append((rows, others, predictors, predictors.place(self.views[others])))
        return halves

    def cluster_halves(self, n_clusters: int) -> list[HalfFit]:
        fits = []
        for (rows, others, predictors, placed), earlier in zip(self._halves, self._half_labels, strict=True):
            state = predictors.cluster(n_clusters, self.rng, find_fewer(earlier, n_clusters))
            earlier[n_clusters] = state.labels
            predicted = predictors.predict(state, placed, len(others))
            fits.append(HalfFit(rows, others, state.labels, predicted))
        return fits


def find_fewer(labels: Mapping[int, np.ndarray], n_clusters: int) -> np.ndarray | None:
    """Return the labels with the most clusters among those with fewer than so many; None if there are none."""
    fewer = [number for number in labels if number < n_clusters]
    return labels[max(fewer)] if fewer else None


class EstimatorClusterings:
    """Clusterings by an estimator that is fitted anew for each number of clusters."""

    def __init__(
        self,
        estimator: Any,
        X: Any,
        views: Views,
        precomputed: Mapping[str, bool],
        largest: int,
        n_splits: int,
        rng: np.random.Generator,
    ) -> None:
        if hasattr(estimator, "families_for"):  # chosen by all entities, not by those of a half
            estimator = clone_quietly(estimator, families=estimator.families_for(views))
        self.estimator, self.data, self.views = estimator, Data(X), views
        self.predictors = SharedPredictors.build(views, precomputed, largest)
        self.rng = rng
        self.permuted_views = None
        if any(precomputed.values()):  # permuted rows would no longer fit the columns
            self.permuted = self.predictors.permute(rng)
        else:
            self.permuted_views = permute_views(views, [permute_present(has_view, rng) for has_view in views.present.T])
            self.permuted = SharedPredictors.build(self.permuted_views, precomputed, largest)
        self.divisions = [split_entities(np.arange(len(views)), rng) for _ in range(n_splits)]
        self.seeds = rng.integers(2**31, size=2 + 2 * n_splits).tolist()

    def cluster(self, n_clusters: int) -> np.ndarray:
        return self._fit(self.data, n_clusters, np.arange(len(self.views)), self.seeds[0])

    def cluster_permuted(self, n_clusters: int) -> np.ndarray:
        if self.permuted_views is None:
            return self.permuted.cluster(n_clusters, self.rng).labels
        return self._fit(Data(self.permuted_views), n_clusters, np.arange(len(self.views)), self.seeds[1])

    def _fit(self, data: Data, n_clusters: int, rows: np.ndarray, seed: int) -> np.ndarray:
        model = clone_quietly(self.estimator, n_clusters=n_clusters, random_state=seed)
        return np.asarray(last_step(data.fit(model, rows)).labels_)

    def cluster_halves(self, n_clusters: int) -> list[HalfFit]:
        halves = [half for first, second in self.divisions for half in ((first, second), (second, first))]
        fits = []
        for (rows, others), seed in zip(halves, self.seeds[2:], strict=True):
            if hasattr(self.estimator, "predict"):
                model = clone_quietly(self.estimator, n_clusters=n_clusters)
                fits.append(self.data.fit_half(model, rows, others, seed))
            else:
                labels = self._fit(self.data, n_clusters, rows, seed)
                fits.append(HalfFit(rows, others, labels, np.full(len(others), -1)))
        return fits


def permute_present(has_view: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Return an order of the entities in which those that have a view are permuted among each other."""
    order = np.arange(len(has_view))
    order[has_view] = rng.permutation(order[has_view])
    return order


def permute_views(views: Views, orders: list[np.ndarray]) -> Views:
    """Return views in which each block's rows are in an order of its own."""
    blocks = {name: views[order][name] for name, order in zip(views.names, orders, strict=True)}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return Views(blocks, present=views.present)
