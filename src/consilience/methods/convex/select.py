"""Rank views by their learned weights, and cluster again with the best."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from sklearn.base import clone

from ...data.inputs import resolve_per_view
from ..common.input_checks import check_views
from ..common.validation import POSITIVE_INTEGER, HasMethods, validate_params
from .estimator import ConvexMixture


class ViewSelection(NamedTuple):
    """Views by their weights, and a model of the best of them.

    Attributes
    ----------
    ranking : dict of str to float
        Weight of each view in a model of all views, the largest first.
    views : list of str
        The views that were kept, the one of largest weight first.
    model : estimator
        The estimator fitted to these views alone.
    """

    ranking: dict[str, float]
    views: list[str]
    model: Any


@validate_params(
    {"estimator": [HasMethods(["fit", "get_params", "set_params"])], "n_views": [POSITIVE_INTEGER]},
    prefer_skip_nested_validation=True,
)
def select_views(estimator: Any, X: Any, n_views: int) -> ViewSelection:
    """Rank views by their learned weights, keep the best, and cluster again (Tzortzis & Likas 2010, section VI).

    A large weight means that entities are close to exemplars in the view, not that the view tells classes apart: check
    the result, for example with `consilience.assess`.

    Parameters
    ----------
    estimator : estimator
        One that learns weights of views, such as ``ConvexMixture(n_clusters=3)``; it stays unfitted. Its parameters
        with one value per view are restricted to the views that are kept.
    X : Views, mapping or sequence of blocks, or array-like of shape (n_entities, n_columns)
        The data, as for `fit` of the estimator.
    n_views : int
        Number of views to keep. Views of equal weight are kept in the order of the data.

    Returns
    -------
    ViewSelection
        ``ranking`` (the weight of each view, the largest first), ``views`` (the names of those that were kept) and
        ``model`` (fitted to these; it predicts entities described by them).

    Examples
    --------
    >>> import consilience as cs
    >>> views, y = cs.datasets.make_corrupted_views(n_views=2, n_noisy=2, random_state=0)
    >>> selection = cs.select_views(cs.ConvexMixture(n_clusters=3), views, n_views=2)
    >>> sorted(selection.views)
    ['view0', 'view1']
    >>> selection.model.predict(views[selection.views]).shape
    (700,)
    """
    if getattr(estimator, "weights", None) == "uniform":
        raise ValueError("weights='uniform' gives all views the same weight: use weights='learned' to rank them")
    views = check_views(ConvexMixture(views=getattr(estimator, "views", None)), X, reset=True)
    if n_views > views.n_views:
        listed = ", ".join(map(repr, views.names))
        raise ValueError(f"n_views={n_views} is more than the {views.n_views} views ({listed}): ask for fewer")
    complete = clone(estimator).fit(views)
    if not hasattr(complete, "view_weights_"):
        raise TypeError(
            f"{type(estimator).__name__} learns no weights of views (view_weights_): use an estimator that does, such "
            "as ConvexMixture(n_clusters=3)"
        )
    weights: dict[str, float] = complete.view_weights_
    ranked = sorted(weights, key=lambda name: -weights[name])  # which keeps the order of equal ones
    best = ranked[:n_views]
    model = clone(estimator).set_params(**restrict_parameters(estimator, views.names, best)).fit(views[best])
    return ViewSelection({name: weights[name] for name in ranked}, best, model)


def restrict_parameters(estimator: Any, names: Sequence[str], chosen: Sequence[str]) -> dict[str, Any]:
    """Return the parameters that have one value per view, with those of some views only."""
    restricted = {}
    for parameter, value in estimator.get_params(deep=False).items():
        if isinstance(value, Mapping | list | tuple | np.ndarray):
            values = value.tolist() if hasattr(value, "tolist") else value
            by_view = resolve_per_view(parameter, values, names, partial=True)
            restricted[parameter] = {name: by_view[name] for name in chosen if name in by_view}
    return restricted
