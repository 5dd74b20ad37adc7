"""Clusterings of the same entities into any number of clusters: by any estimator, or by a quick version of the default.

Each has `cluster`, the clusters of all entities; `cluster_permuted`, the clusters of permuted data, which show the
result of chance; `cluster_halves`, fits to disjoint halves, which show what is repeatable; `predictors` of the data;
and `permuted`, predictors of permuted data, None if there is none.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import Any

import numpy as np

from ..data import Views
from ..methods.common.halves import (
    HalfFit,
    ModelData,
    clone_quietly,
    last_step,
    reset_start,
    split_entities,
    try_divisions,
)
from .predictors import SharedPredictors
from .source import ViewSource, permute_columns, permute_rows


class AgreementClusterings:
    """Clusterings by a quick version of `Consilience`: views are prepared once, and few starts are refined."""

    def __init__(
        self,
        source: ViewSource,
        views: Views,
        precomputed: Mapping[str, bool],
        predictors: SharedPredictors,
        n_splits: int,
        rng: np.random.Generator,
    ) -> None:
        self.source, self.precomputed, self.n_splits, self.rng = source, precomputed, n_splits, rng
        self.predictors = predictors
        self.permuted = build_permuted(predictors, views, precomputed, rng)
        self._labels: dict[int, np.ndarray] = {}
        self._half_labels: list[dict[int, np.ndarray]] = [{} for _ in range(2 * n_splits)]

    def cluster(self, n_clusters: int) -> np.ndarray:
        state = self.predictors.cluster(n_clusters, self.rng, find_fewer(self._labels, n_clusters))
        self._labels[n_clusters] = state.labels
        return state.labels

    def cluster_permuted(self, n_clusters: int) -> np.ndarray:
        assert self.permuted is not None
        return self.permuted.cluster(n_clusters, self.rng).labels

    @cached_property
    def _halves(self) -> list[tuple[np.ndarray, np.ndarray, SharedPredictors, Any]]:
        """The entities of each half, the others, the predictors of the half, and the others placed among them."""
        entities = np.arange(self.source.n_entities)
        return [half for _ in range(self.n_splits) for half in try_divisions(entities, self.rng, self._build_half)]

    def _build_half(
        self,
        name: str,  # noqa: ARG002
        rows: np.ndarray,
        others: np.ndarray,
        seed: int,  # noqa: ARG002
    ) -> tuple[np.ndarray, np.ndarray, SharedPredictors, Any]:
        views, other_views = self.source.read_halves(rows, others)
        largest = min(self.predictors.most_clusters, len(rows))
        predictors = SharedPredictors.build(views, self.precomputed, largest)
        return rows, others, predictors, predictors.place(other_views)

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
        source: ViewSource,
        views: Views,
        precomputed: Mapping[str, bool],
        predictors: SharedPredictors,
        n_splits: int,
        rng: np.random.Generator,
    ) -> None:
        estimator = reset_start(source.estimator)
        if hasattr(estimator, "families_for"):  # chosen by all entities, not by those of a half
            estimator.set_params(families=estimator.families_for(views))
        self.estimator, self.data, self.rng = estimator, source.data, rng
        self.predictors = predictors
        self.permuted_data: ModelData | None = None
        if views.n_views > 1 and not any(precomputed.values()) and isinstance(source.data.X, Views):
            self.permuted_data = ModelData(permute_rows(source.data.X, rng))
            permuted_views = ViewSource(self.permuted_data, estimator, views.names).read()
            largest = predictors.most_clusters
            self.permuted: SharedPredictors | None = SharedPredictors.build(permuted_views, precomputed, largest)
        else:
            self.permuted = build_permuted(predictors, views, precomputed, rng)
        self.entities = np.arange(source.n_entities)
        self.divisions = [split_entities(self.entities, rng) for _ in range(n_splits)]
        self.seeds = rng.integers(2**31, size=2 + 2 * n_splits).tolist()

    def cluster(self, n_clusters: int) -> np.ndarray:
        return self._fit(self.data, n_clusters, self.entities, self.seeds[0])

    def cluster_permuted(self, n_clusters: int) -> np.ndarray:
        if self.permuted_data is not None:
            return self._fit(self.permuted_data, n_clusters, self.entities, self.seeds[1])
        assert self.permuted is not None
        return self.permuted.cluster(n_clusters, self.rng).labels

    def _fit(self, data: ModelData, n_clusters: int, rows: np.ndarray, seed: int) -> np.ndarray:
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


def build_permuted(
    predictors: SharedPredictors, views: Views, precomputed: Mapping[str, bool], rng: np.random.Generator
) -> SharedPredictors | None:
    """Return predictors of views whose rows are permuted, or of a single view whose columns are.

    A single view of one column, or of similarities, has no columns to permute.
    """
    if views.n_views > 1:
        return predictors.permute(rng)
    if any(precomputed.values()) or views[views.names[0]].shape[1] < 2:
        return None
    permuted = permute_columns(views, rng)
    return SharedPredictors.build(permuted, precomputed, min(predictors.most_clusters, len(permuted)))


Clusterings = AgreementClusterings | EstimatorClusterings
