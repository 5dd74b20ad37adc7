"""What displays read from a fitted model, and the errors if the model does not have it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sklearn.utils.validation import check_is_fitted

from ..data import Views
from ..methods.common.input_checks import holds_views

HOLDERS = {
    "labels_": "all estimators have it",
    "view_labels_": "all multi-view estimators have it, PCKMeans, MPCKMeans and COPKMeans do not",
    "agreement_": "all multi-view estimators have it, PCKMeans, MPCKMeans and COPKMeans do not",
    "history_": (
        "Consilience, CoEM, MultiViewKMeans, MultiViewSphericalKMeans, ConvexMixture, CoTrainedSpectral, PCKMeans, "
        "MPCKMeans, COPKMeans, MultiViewConstrainedKMeans and CoRegularizedSpectral have it"
    ),
    "view_weights_": "ConvexMixture has it",
    "embeddings_": "CoTrainedSpectral and the spectral baselines have it",
    "propagated_": "MultiViewConstrainedKMeans has it",
    "input_constraints_": "PCKMeans, MPCKMeans, COPKMeans and MultiViewConstrainedKMeans have it",
    "labels_per_round_": "CoTrainedSpectral has it",
    "merge_views_": "MultiViewAgglomerative has it",
}


def get_fitted_attribute(model: Any, name: str) -> Any:
    """Return an attribute of a fitted model, or raise an error that names the estimators that have it."""
    check_is_fitted(model)
    if not hasattr(model, name):
        raise ValueError(f"{type(model).__name__} has no {name}: {HOLDERS[name]}")
    return getattr(model, name)


def check_fitted_views(model: Any, X: Any) -> Views:
    """Return the data that a model was fitted to as Views, and check the number of entities."""
    n = len(get_fitted_attribute(model, "labels_"))
    groups = getattr(model, "views", None)
    if not holds_views(X):
        X = [X] if groups is None else Views.from_columns(X, groups)
    views = Views(X)
    if len(views) != n:
        raise ValueError(
            f"{type(model).__name__} was fitted to {n} entities, got {len(views)}: give the views that it was fitted to"
        )
    return views


def check_names(names: Sequence[str] | None, n_clusters: int) -> list[str] | None:
    """Return the names of clusters; refuse fewer names than clusters."""
    if names is not None and len(names) < n_clusters:
        raise ValueError(f"names: {len(names)} names for {n_clusters} clusters; give one per cluster")
    return None if names is None else list(names)
