"""A fitted model whose clusters have other numbers."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import clone

from ..._saving import save_as

# attributes that are ordered by the clusters of the model
BY_CLUSTER = (
    *("cluster_centers_", "cluster_weights_", "metrics_", "responsibilities_", "params_", "statistics_", "exemplars_"),
    *("labels_per_round_", "view_labels_per_round_"),
)


@save_as("renumbered-model")
@dataclass(frozen=True, eq=False)
class RenumberedModel:
    """A fitted model whose clusters have other numbers, such as those that an earlier model gave them.

    `labels_`, `view_labels_`, `predict`, `predict_proba` and `transform` have the new numbers. Columns of numbers that
    no cluster has are 0 in `predict_proba`, and infinite distances in `transform`. Attributes that are ordered by
    cluster, such as `cluster_centers_`, are those of `model`. Everything else is as in the model.

    Attributes
    ----------
    model : estimator
        The fitted model.
    numbers : ndarray of int, shape (n_clusters,)
        The number of each of its clusters.
    """

    model: Any
    numbers: np.ndarray

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__") or "model" not in vars(self):
            raise AttributeError(f"{type(self).__name__} has no attribute {name!r}")
        if name in BY_CLUSTER:
            raise AttributeError(
                f"{name} is ordered by the clusters of the model, whose numbers are `numbers`: model.{name}"
            )
        value = getattr(self.model, name)
        return TRANSLATIONS[name](self.numbers, value) if name in TRANSLATIONS else value

    def __sklearn_clone__(self) -> Any:
        """Return an unfitted clone of the model, whose clusters will be numbered from 0."""
        return clone(self.model)


def translate_labels(numbers: np.ndarray, labels: Any) -> np.ndarray:
    """Return labels with other numbers; -1 stays."""
    return np.append(numbers, -1)[np.asarray(labels)]


def spread_by_number(numbers: np.ndarray, values: Any, fill: float) -> np.ndarray:
    """Return columns by the numbers of the clusters, with a value in the columns of other numbers."""
    by_cluster = np.asarray(values)
    spread = np.full((len(by_cluster), int(numbers.max(initial=-1)) + 1), fill, dtype=by_cluster.dtype)
    spread[:, numbers] = by_cluster
    return spread


# by the name of the attribute: what the renumbered model has in place of the value
TRANSLATIONS: dict[str, Callable[[np.ndarray, Any], Any]] = {
    "labels_": translate_labels,
    "view_labels_": lambda numbers, by_view: {view: translate_labels(numbers, by_view[view]) for view in by_view},
    "predict": lambda numbers, predict: lambda X: translate_labels(numbers, predict(X)),
    "predict_proba": lambda numbers, predict: lambda X: spread_by_number(numbers, predict(X), 0.0),
    "transform": lambda numbers, transform: lambda X: spread_by_number(numbers, transform(X), np.inf),
}
