"""Preprocessing view by view, so that it can stand in a pipeline."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, TransformerMixin, clone
from sklearn.utils.validation import check_is_fitted

from ..._saving import save_as
from ...data import Views, reindex_rows, resolve_per_view
from .input_checks import check_views, store_input_features


@save_as("per-view")
class PerView(TransformerMixin, BaseEstimator):
    """Apply scikit-learn transformers to each view, fitted on the entities that have the view.

    Parameters
    ----------
    transformer : transformer, or mapping of view name to transformer
        One for all views (each gets a clone of its own), or one a view; what a mapping leaves out stays as it is.
    views : dict of str to columns, optional
        If `fit` is given one array or frame: which of its columns make up which view.

    Attributes
    ----------
    transformers_ : dict of str to transformer
        The fitted transformer of each view.

    Examples
    --------
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import StandardScaler
    >>> import consilience as cs
    >>> views, y = cs.datasets.make_gaussian_views(200, missing=0.2, separation=8, random_state=0)
    >>> model = make_pipeline(cs.PerView(StandardScaler()), cs.MultiViewKMeans(3, random_state=0)).fit(views[:150])
    >>> model.predict(views[150:]).shape
    (50,)
    """

    def __init__(self, transformer: Any, *, views: dict[str, Any] | None = None) -> None:
        self.transformer = transformer
        self.views = views

    def fit(self, X: Any, y: Any = None) -> PerView:  # noqa: ARG002
        """Fit each view's transformer.

        Parameters
        ----------
        X : Views, mapping or sequence of blocks, or array-like
            The data.
        y : ignored
            Here for scikit-learn.

        Returns
        -------
        self
            The fitted transformer.
        """
        views = check_views(self, X, reset=True)
        chosen = resolve_per_view("transformer", self.transformer, views.names, some=True)
        self.transformers_ = {
            name: clone(own).fit(views[views.present[:, views.names.index(name)]][name]) for name, own in chosen.items()
        }
        store_input_features(self, X, views)
        return self

    def transform(self, X: Any) -> Views:
        """Transform each view of the entities that have it.

        Parameters
        ----------
        X : Views, mapping or sequence of blocks, or array-like
            Entities with any of the fitted views.

        Returns
        -------
        Views
            The same entities; a view that an entity lacked is still missing.
        """
        check_is_fitted(self)
        views = check_views(self, X, reset=False)
        blocks = {}
        for (name, block), present in zip(views.items(), views.present.T, strict=True):
            blocks[name] = block
            if name in self.transformers_ and present.any():
                changed = Views({name: self.transformers_[name].transform(views[present][name])})[name]
                blocks[name] = reindex_rows(changed, np.where(present, np.cumsum(present) - 1, -1))
        return Views(blocks, present=views.present, ids=views.ids)
