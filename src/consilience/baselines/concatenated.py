"""All views side by side, clustered as one table."""

from __future__ import annotations

from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import clone

from .._saving import save_as
from ..data import Views
from ..methods.common.docs import share_docs
from ..methods.common.input_checks import check_views, store_agreement, store_input_features
from ..methods.common.validation import HasMethods, check_all_parameters, share_constraints
from .wrapping import BaseWrapper, MissingRowFiller, label_by_nearest_mean, load_blocks


@save_as("concatenated-views")
@share_docs
class ConcatenatedViews(BaseWrapper):
    """Any clusterer of one table on the columns of all views side by side: the simplest baseline.

    Columns are not scaled, so a view with more columns, or larger numbers, outweighs the others: scale the views first,
    with `consilience.PerView` and scikit-learn's StandardScaler or Normalizer.

    Parameters
    ----------
    estimator : estimator
        A clusterer of scikit-learn, or one of ours, which then sees one view. It is cloned, not changed.
    %(views)s

    Attributes
    ----------
    labels_ : ndarray of shape (n_entities,)
        The cluster of each entity; -1 for noise, if the estimator has it.
    view_labels_ : dict of str to ndarray of shape (n_entities,)
        The cluster with the nearest mean in each view's columns; -1 where the entity lacks the view or is noise.
    %(agreement_)s
    estimator_ : estimator
        The fitted clusterer.
    %(n_features_in_)s

    Notes
    -----
    A missing view is filled in with the view's column means over the entities that have it, so that it pulls towards
    no cluster; in a sparse view with zeros, like an empty bag of words. The table is sparse if all views are, dense
    otherwise. `predict` and `score` are available if the estimator has them.

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
        **share_constraints("views"),
        "estimator": [HasMethods(["fit_predict"])],
    }

    def __init__(self, estimator: Any, *, views: dict[str, Any] | None = None) -> None:
        self.estimator = estimator
        self.views = views

    @check_all_parameters
    def fit(self, X: Any, y: Any = None) -> Self:  # noqa: ARG002
        """Cluster the entities.

        %(fit_parameters)s

        %(returns_self)s
        """
        views = check_views(self, X, reset=True)
        blocks = load_blocks(views)
        filler = MissingRowFiller.learn(blocks)
        model = clone(self.estimator)
        labels = np.asarray(model.fit_predict(filler.concatenate(blocks, blocks, len(views))))
        store_input_features(self, X, views)
        self.estimator_, self.labels_, self._filler = model, labels, filler
        view_labels = {name: label_by_nearest_mean(*block, labels, labels >= 0) for name, block in blocks.items()}
        store_agreement(self, view_labels)
        return self

    def _prepare(self, views: Views) -> Any:
        """Return the table of all fitted views, in the order of the fit."""
        return self._filler.concatenate(self.view_n_features_, load_blocks(views), len(views))
