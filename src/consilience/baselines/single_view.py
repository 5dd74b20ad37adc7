"""One view alone."""

from __future__ import annotations

from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import clone
from sklearn.metrics import adjusted_rand_score, silhouette_score
from sklearn.utils.metaestimators import available_if

from .._saving import save_as
from ..data import Table, Views
from ..methods.common.docs import share_docs
from ..methods.common.input_checks import check_new_views, check_views, store_agreement, store_input_features
from ..methods.common.validation import HasMethods, check_all_parameters, share_constraints
from .wrapping import (
    NO_CLUSTER,
    BaseWrapper,
    Blocks,
    Matrix,
    average_known,
    check_delegate,
    label_by_nearest_mean,
    load_blocks,
)

SILHOUETTE_SAMPLE = 2000  # entities that a silhouette is computed from


@save_as("single-view")
@share_docs
class SingleView(BaseWrapper):
    """Any clusterer on one view, as if there were no others.

    Parameters
    ----------
    estimator : estimator
        A clusterer of scikit-learn, or one of ours. It is cloned, not changed.
    view : str, optional
        The view. If not given, every view is clustered, and the one is kept whose clusters agree most with those of
        the other views: largest mean adjusted Rand index over the entities that two views share. Ties, as with two
        views, are resolved by the silhouettes (of 2,000 entities, if there are more). True classes are not used.
    %(views)s

    Attributes
    ----------
    labels_ : ndarray of shape (n_entities,)
        The cluster of each entity; -1 where it lacks the view (or for noise, if the estimator has it). Scores that
        treat -1 as a cluster count these entities as one.
    view_ : str
        The view that was clustered.
    view_scores_ : Table
        For each view, if one had to be chosen: `agreement` with the others and `silhouette`; NaN if there is none.
    view_labels_ : dict of str to ndarray of shape (n_entities,)
        The cluster with the nearest mean in each view's columns; for `view_`, `labels_`. -1 where the entity lacks the
        view or is noise.
    %(agreement_)s
    estimator_ : estimator
        The fitted clusterer.
    %(n_features_in_)s

    Examples
    --------
    >>> from sklearn.cluster import KMeans
    >>> import consilience as cs
    >>> views, y = cs.datasets.make_gaussian_views(200, n_features=(5, 5, 1), separation=6, random_state=0)
    >>> model = cs.baselines.SingleView(KMeans(3, n_init=10, random_state=0)).fit(views)
    >>> model.view_ in ("view0", "view1")
    True
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **share_constraints("views"),
        "estimator": [HasMethods(["fit_predict"])],
        "view": [str, None],
    }

    def __init__(self, estimator: Any, view: str | None = None, *, views: dict[str, Any] | None = None) -> None:
        self.estimator = estimator
        self.view = view
        self.views = views

    @check_all_parameters
    def fit(self, X: Any, y: Any = None) -> Self:  # noqa: ARG002
        """Cluster the entities that have the view.

        %(fit_parameters)s

        %(returns_self)s
        """
        views = check_views(self, X, reset=True)
        if self.view is not None and self.view not in views:
            raise ValueError(f"no view {self.view!r}: choose from {', '.join(map(repr, views.names))}, or give none")
        blocks = load_blocks(views)
        names = blocks if self.view is None else [self.view]
        fits = {name: fit_view(self.estimator, name, *blocks[name]) for name in names}
        scores = score_views(blocks, {name: labels for name, (_, labels) in fits.items()})
        best = max(fits, key=lambda name: np.nan_to_num(scores[name], nan=-np.inf).tolist())
        store_input_features(self, X, views)
        self.view_ = best
        self.estimator_, self.labels_ = fits[best]
        self.view_scores_ = Table.from_rows(
            {"view": name, "agreement": agreement, "silhouette": silhouette}
            for name, (agreement, silhouette) in scores.items()
        )
        is_noise = blocks[best][1] & (self.labels_ < 0)
        view_labels = {name: label_by_nearest_mean(*block, self.labels_, ~is_noise) for name, block in blocks.items()}
        store_agreement(self, view_labels | {best: self.labels_})
        return self

    @available_if(check_delegate("predict"))
    def predict(self, X: Any) -> np.ndarray:
        """Assign entities to the clusters; available if the estimator has `predict`.

        %(predict_parameters)s

        Returns
        -------
        ndarray of shape (n_entities,)
            The cluster of each entity; -1 where it lacks the view that was clustered.
        """
        views = check_new_views(self, X)
        labels = np.full(len(views), NO_CLUSTER)
        if self.view_ in views and (has_view := views[[self.view_]].present[:, 0]).any():
            labels[has_view] = self.estimator_.predict(self._prepare(views))
        return labels

    def _prepare(self, views: Views) -> Matrix:
        """Return the rows of the clustered view, without the entities that lack it."""
        X, has_view = load_blocks(views[[self.view_]])[self.view_]
        return X if has_view.all() else X[has_view]


def fit_view(estimator: Any, name: str, X: Matrix, has_view: np.ndarray) -> tuple[Any, np.ndarray]:
    """Fit a clone of the estimator to the entities that have the view; also return the labels of all."""
    model = clone(estimator)
    labels = np.full(len(has_view), NO_CLUSTER)
    try:
        labels[has_view] = model.fit_predict(X if has_view.all() else X[has_view])
    except ValueError as error:
        raise ValueError(f"view {name!r} cannot be clustered alone: {error} Name another with view=") from error
    return model, labels


def score_views(blocks: Blocks, labels: dict[str, np.ndarray]) -> dict[str, tuple[float, float]]:
    """Measure how far each view's clusters agree with those of the others, and their silhouette."""
    if len(labels) == 1:
        return dict.fromkeys(labels, (np.nan, np.nan))
    scores = {}
    for name, view_labels in labels.items():
        others = [compare_view_labels(view_labels, other) for view, other in labels.items() if view != name]
        agreement = round(average_known(others), 12)  # rounding errors must not resolve ties
        scores[name] = agreement, compute_silhouette(blocks[name][0], view_labels)
    return scores


def compare_view_labels(first: np.ndarray, second: np.ndarray) -> float:
    """Return the adjusted Rand index over the entities that both label; NaN if there are none."""
    both = (first >= 0) & (second >= 0)
    return adjusted_rand_score(first[both], second[both]) if both.any() else np.nan


def compute_silhouette(X: Matrix, labels: np.ndarray) -> float:
    """Compute the silhouette of the labeled entities; -1 if there are too few clusters or entities."""
    rows = np.flatnonzero(labels >= 0)
    rows = np.sort(np.random.default_rng(0).permutation(rows)[:SILHOUETTE_SAMPLE])
    if not 1 < len(np.unique(labels[rows])) < len(rows):
        return -1.0
    return float(silhouette_score(X[rows], labels[rows]))
