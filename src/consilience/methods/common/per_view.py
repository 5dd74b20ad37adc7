"""Preprocessing per view, as a step of a pipeline."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, TransformerMixin, clone
from sklearn.utils.validation import check_is_fitted

from ..._saving import save_as
from ...data import Views
from ...data.blocks import reindex_rows
from ...data.inputs import resolve_per_view
from .docs import share_docs
from .input_checks import check_new_views, check_views, store_input_features


@save_as("per-view")
@share_docs
class PerView(TransformerMixin, BaseEstimator, auto_wrap_output_keys=None):  # type: ignore[call-arg]
    """Apply scikit-learn transformers to each view, fitted on the entities that have the view.

    Parameters
    ----------
    transformer : transformer, or mapping of view name to transformer
        One for all views, cloned for each, or one per view; views that a mapping leaves out stay as they are.
    %(views)s

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
    >>> model[0].get_feature_names_out()[:2].tolist()
    ['view0__x0', 'view0__x1']
    """

    def __init__(self, transformer: Any, *, views: dict[str, Any] | None = None) -> None:
        self.transformer = transformer
        self.views = views

    def fit(self, X: Any, y: Any = None) -> Self:  # noqa: ARG002
        """Fit the transformer of each view.

        %(fit_parameters)s

        %(returns_self)s
        """
        views = check_views(self, X, reset=True)
        transformers = resolve_per_view("transformer", self.transformer, views.names, partial=True)
        self.transformers_ = {
            name: clone(transformer).fit(views[views.present[:, views.names.index(name)]][name])
            for name, transformer in transformers.items()
        }
        store_input_features(self, X, views)
        return self

    def transform(self, X: Any) -> Views:
        """Transform each view of the entities that have it.

        %(predict_parameters)s

        Returns
        -------
        Views
            The transformed entities; a view that an entity lacked is still missing.
        """
        views = check_new_views(self, X)
        blocks = {}
        for (name, block), present in zip(views.items(), views.present.T, strict=True):
            blocks[name] = block
            if name in self.transformers_ and present.any():
                transformed = Views({name: self.transformers_[name].transform(views[present][name])})[name]
                blocks[name] = reindex_rows(transformed, np.where(present, np.cumsum(present) - 1, -1))
        return Views(blocks, present=views.present, ids=views.ids)

    def get_feature_names_out(self, input_features: Any = None) -> np.ndarray:
        """Names of the columns of all transformed views, each after the name of its view and two underscores.

        Parameters
        ----------
        input_features : array-like of str, default=None
            Names of the columns of all views together, instead of those of the fit.

        Returns
        -------
        ndarray of str
            Such as ``'text__word'``; columns without names are ``x0``, ``x1`` and so on.
        """
        check_is_fitted(self)
        n_features = self.view_n_features_
        feature_names = self.view_feature_names_
        if input_features is not None:
            if len(input_features) != sum(n_features.values()):
                raise ValueError(
                    f"input_features has {len(input_features)} names for {sum(n_features.values())} columns: give one "
                    "per column of all views"
                )
            stops = np.cumsum(list(n_features.values()))[:-1]
            feature_names = dict(zip(n_features, np.split(np.asarray(input_features, object), stops), strict=True))
        names = []
        for view, number in n_features.items():
            columns = feature_names[view]
            if columns is None:
                columns = np.array([f"x{column}" for column in range(number)], dtype=object)
            if view in self.transformers_:
                columns = self.transformers_[view].get_feature_names_out(columns)
            names += [f"{view}__{column}" for column in columns]
        return np.asarray(names, dtype=object)
