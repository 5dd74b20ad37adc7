"""One view alone."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from sklearn.base import BaseEstimator, ClusterMixin, clone
from sklearn.metrics import adjusted_rand_score, silhouette_score
from sklearn.utils import get_tags
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from .._saving import save_as
from ..data import Table
from ..methods.common.input_checks import check_views, store_agreement, store_input_features
from ..methods.common.validation import HasMethods, check_all_parameters
from ._averages import average_known, measure_common_entities
from ._labels import NO_CLUSTER, label_by_nearest_mean
from ._side_by_side import Blocks, Matrix, load_blocks
from ._wrapped import can_predict

SILHOUETTE_SAMPLE = 2000  # entities that a silhouette is computed from


@save_as("single-view")
class SingleView(ClusterMixin, BaseEstimator):
    """Any clusterer on one view, as if there were no others.

    Parameters
    ----------
    estimator : estimator
        A clusterer of scikit-learn, or one of ours. It is cloned, not changed.
    view : str, optional
        The view. If not given, every view is clustered, and the one is kept whose clusters agree most with those of
        the other views: largest mean adjusted Rand index over the entities that two views share. Equals, as two views
        always are, are told apart by their silhouettes (of 2,000 entities, if there are more). No true classes are
        looked at: the best view by those is something nobody can know beforehand.
    views : dict of str to columns, optional
        If `fit` is given one array or frame: which of its columns make up which view (slices, positions or names).

    Attributes
    ----------
    labels_ : ndarray of shape (n_entities,)
        The cluster of each entity; -1 where it lacks the view (or where the estimator says noise): one view says
        nothing of entities that it does not describe. Scores that take -1 for a cluster count these as one.
    view_ : str
        The view that was clustered.
    view_scores_ : Table
        Of each view, if one had to be chosen: `agreement` with the others and `silhouette`; NaN where there is none.
    view_labels_ : dict of str to ndarray of shape (n_entities,)
        How the other views see these clusters: the one whose mean in the view's columns is nearest. For `view_` it is
        `labels_`. -1 where the entity lacks the view or is noise.
    agreement_ : ndarray of shape (n_views, n_views)
        Share of entities that two views put into the same cluster.
    estimator_ : estimator
        The fitted clusterer.
    n_features_in_, feature_names_in_ : int, ndarray
        Columns of all views together, and their names where all views came with names.

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
        "estimator": [HasMethods(["fit_predict"])],
        "view": [str, None],
        "views": [dict, None],
    }

    def __init__(self, estimator: Any, view: str | None = None, *, views: dict[str, Any] | None = None) -> None:
        self.estimator = estimator
        self.view = view
        self.views = views

    @check_all_parameters
    def fit(self, X: Any, y: Any = None) -> SingleView:  # noqa: ARG002
        """Cluster the entities that have the view.

        Parameters
        ----------
        X : Views, mapping or sequence of blocks, or array-like of shape (n_entities, n_columns)
            The data. A plain array is one view, or several if the argument `views` names groups of its columns.
        y : ignored
            Here for scikit-learn.

        Returns
        -------
        self
            The fitted estimator.
        """
        views = check_views(self, X, reset=True)
        if self.view is not None and self.view not in views:
            raise ValueError(f"no view {self.view!r}: choose from {', '.join(map(repr, views.names))}, or give none")
        blocks = load_blocks(views)
        asked = blocks if self.view is None else {self.view: blocks[self.view]}
        tried = {name: fit_view(self.estimator, name, *block) for name, block in asked.items()}
        scores = score_views(blocks, {name: labels for name, (_, labels) in tried.items()})
        chosen = max(tried, key=lambda name: np.nan_to_num(scores[name], nan=-np.inf).tolist())
        store_input_features(self, X, views)
        self.view_ = chosen
        self.estimator_, self.labels_ = tried[chosen]
        self.view_scores_ = Table.from_rows(
            {"view": name, "agreement": agreement, "silhouette": silhouette}
            for name, (agreement, silhouette) in scores.items()
        )
        known = ~blocks[chosen][1] | (self.labels_ >= 0)
        own = {name: label_by_nearest_mean(*block, self.labels_, known) for name, block in blocks.items()}
        store_agreement(self, own | {chosen: self.labels_})
        return self

    @available_if(can_predict)
    def predict(self, X: Any) -> np.ndarray:
        """Give entities, seen before or not, to the clusters; there if the estimator has it.

        Parameters
        ----------
        X : Views, mapping or sequence of blocks, or array-like
            Entities with any of the fitted views.

        Returns
        -------
        ndarray of shape (n_entities,)
            The cluster of each entity; -1 where it lacks the view that was clustered.
        """
        check_is_fitted(self)
        views = check_views(self, X, reset=False)
        labels = np.full(len(views), NO_CLUSTER)
        if self.view_ in views:
            block, there = load_blocks(views[[self.view_]])[self.view_]
            if there.any():
                labels[there] = self.estimator_.predict(block if there.all() else block[there])
        return labels

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = get_tags(self.estimator).input_tags.sparse
        return tags


def fit_view(estimator: Any, name: str, X: Matrix, there: np.ndarray) -> tuple[Any, np.ndarray]:
    """A clone of the estimator fitted on the rows that are there, and the labels of all."""
    model = clone(estimator)
    labels = np.full(len(there), NO_CLUSTER)
    try:
        labels[there] = model.fit_predict(X if there.all() else X[there])
    except ValueError as error:
        raise ValueError(f"view {name!r} cannot be clustered alone: {error} Name another with view=") from error
    return model, labels


def score_views(blocks: Blocks, labels: dict[str, np.ndarray]) -> dict[str, tuple[float, float]]:
    """How far each view's clusters agree with those of the others, and their silhouette."""
    if len(labels) == 1:
        return dict.fromkeys(labels, (np.nan, np.nan))
    scores = {}
    for name, own in labels.items():
        others = (
            measure_common_entities(adjusted_rand_score, own, other) for view, other in labels.items() if view != name
        )
        scores[name] = (
            round(average_known(others), 12),
            compute_silhouette(blocks[name][0], own),
        )  # equals are not told by rounding
    return scores


def compute_silhouette(X: Matrix, labels: np.ndarray) -> float:
    """How much nearer entities are to their own cluster than to the next; -1 where there are none to compare."""
    rows = np.flatnonzero(labels >= 0)
    rows = np.sort(np.random.default_rng(0).permutation(rows)[:SILHOUETTE_SAMPLE])
    if not 1 < len(np.unique(labels[rows])) < len(rows):
        return -1.0
    return float(silhouette_score(X[rows], labels[rows]))
