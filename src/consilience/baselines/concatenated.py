"""All views side by side, clustered as if they were one."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from sklearn.base import BaseEstimator, ClusterMixin, clone
from sklearn.utils import get_tags
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from .._saving import save_as
from ..data import Views
from ..methods.common.input_checks import check_views, store_agreement, store_input_features
from ..methods.common.validation import HasMethods, check_all_parameters
from ._labels import label_by_nearest_mean
from ._side_by_side import MissingRowFiller, concatenate_columns, load_blocks
from ._wrapped import can_predict


@save_as("concatenated-views")
class ConcatenatedViews(ClusterMixin, BaseEstimator):
    """Any clusterer of one table on the columns of all views side by side: the simplest thing one can do.

    Columns count as they are. A view with more columns, or larger numbers, outweighs the others: scale the views
    first, with `consilience.PerView` and scikit-learn's StandardScaler or Normalizer.

    Parameters
    ----------
    estimator : estimator
        A clusterer of scikit-learn, or one of ours, which then sees one view. It is cloned, not changed.
    views : dict of str to columns, optional
        If `fit` is given one array or frame: which of its columns make up which view (slices, positions or names).

    Attributes
    ----------
    labels_ : ndarray of shape (n_entities,)
        The cluster of each entity; -1 where the estimator says noise.
    view_labels_ : dict of str to ndarray of shape (n_entities,)
        The estimator gives one answer for all views. A view's own is the cluster whose mean in the view's columns is
        nearest; -1 where the entity lacks the view or is noise.
    agreement_ : ndarray of shape (n_views, n_views)
        Share of entities that two views put into the same cluster.
    estimator_ : estimator
        The fitted clusterer.
    n_features_in_, feature_names_in_ : int, ndarray
        Columns of all views together, and their names where all views came with names.

    Notes
    -----
    A view that an entity lacks is filled in: with the view's column means over the entities that have it, so that it
    pulls to no cluster but the average; in a sparse view with nothing, as an empty bag of words has it. The table is
    sparse if all views are, dense otherwise. There is `predict` if the estimator has it.

    Examples
    --------
    >>> from sklearn.cluster import KMeans
    >>> import consilience as cs
    >>> views, y = cs.datasets.make_gaussian_views(200, missing=0.2, separation=8, random_state=0)
    >>> model = cs.baselines.ConcatenatedViews(KMeans(3, n_init=10, random_state=0)).fit(views)
    >>> model.predict(views[:5]).tolist() == model.labels_[:5].tolist()
    True
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "estimator": [HasMethods(["fit_predict"])],
        "views": [dict, None],
    }

    def __init__(self, estimator: Any, *, views: dict[str, Any] | None = None) -> None:
        self.estimator = estimator
        self.views = views

    @check_all_parameters
    def fit(self, X: Any, y: Any = None) -> ConcatenatedViews:  # noqa: ARG002
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
            The fitted estimator.
        """
        views = check_views(self, X, reset=True)
        blocks = load_blocks(views)
        filler = MissingRowFiller.learn(blocks)
        model = clone(self.estimator)
        labels = np.asarray(
            model.fit_predict(concatenate_columns({name: filler.whole(name, blocks, len(views)) for name in blocks}))
        )
        store_input_features(self, X, views)
        self.estimator_, self.labels_, self._filler = model, labels, filler
        own = {name: label_by_nearest_mean(*block, labels, labels >= 0) for name, block in blocks.items()}
        store_agreement(self, own)
        return self

    @available_if(can_predict)
    def predict(self, X: Any) -> np.ndarray:
        """Give entities, seen before or not, to the clusters; there if the estimator has it.

        Parameters
        ----------
        X : Views, mapping or sequence of blocks, or array-like
            Entities with any of the fitted views; what is missing is filled in with the means of the fit.

        Returns
        -------
        ndarray of shape (n_entities,)
            The cluster of each entity.
        """
        check_is_fitted(self)
        return self.estimator_.predict(self._table(check_views(self, X, reset=False)))

    def _table(self, views: Views) -> Any:
        """All fitted views of new entities, in the order of the fit."""
        blocks = load_blocks(views)
        return concatenate_columns(
            {name: self._filler.whole(name, blocks, len(views)) for name in self.view_n_features_}
        )

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = get_tags(self.estimator).input_tags.sparse
        return tags
