"""How clearly a model decides for each entity's cluster, and which entities the views disagree on."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from typing import Any, NamedTuple

import numpy as np
from sklearn.metrics import euclidean_distances
from sklearn.preprocessing import normalize

from ..arrays import to_numpy
from ..data import Views
from ..methods.common.margins import find_runner_up, measure_distance_margins


def contested(view_labels: Mapping[str, np.ndarray], confirmed: Collection[str] | None = None) -> np.ndarray:
    """Return which entities have two views that put them into different clusters.

    Parameters
    ----------
    view_labels : mapping of str to array-like of int, shape (n_entities,)
        Cluster of each entity by each view, -1 where the entity lacks the view; a model's ``view_labels_``.
    confirmed : collection of str, optional
        The views that another view confirms, an assessment's ``confirmed``. Only they count: a view that no other
        confirms contradicts the others on nearly all entities, which tells nothing about an entity. By default all
        views count.

    Examples
    --------
    >>> import numpy as np
    >>> contested({"text": np.array([0, 1, 1]), "links": np.array([0, 0, -1])}).tolist()
    [False, True, False]
    """
    labels = np.stack([np.asarray(labels) for labels in view_labels.values()])
    if confirmed is not None:
        is_counted = np.array([name in confirmed for name in view_labels], dtype=bool)
        labels = np.where(is_counted[:, None], labels, -1)
    return ((labels >= 0) & (labels != labels.max(axis=0))).any(axis=0)


def describe_counted_views(n_views: int, confirmed: Collection[str] | None) -> str:
    """Return what follows "are contested": which views `contested` counts; empty if all views count.

    Examples
    --------
    >>> describe_counted_views(9, ["text", "links"]), describe_counted_views(9, None)
    (' by the 2 of 9 views that are confirmed', '')
    """
    if confirmed is None or len(confirmed) == n_views or n_views < 2:
        return ""
    if len(confirmed) < 2:
        return ", because no two views confirm each other"
    return f" by the {len(confirmed)} of {n_views} views that are confirmed"


def clarity(model: Any, views: Views) -> np.ndarray:
    """Return how clearly the model decides for each entity's cluster, from 0 to 1.

    It orders the entities of a cluster from typical to borderline ones, and is no probability of being right: that is
    `Assessment.confidence`.

    It is the model's `confidence_` if it has one, as `consilience.Consilience` has. Otherwise it is the probability of
    the entity's cluster if the model has `predict_proba`, as mixtures, k-means and spectral estimators have. Otherwise
    it is how much nearer the entity's cluster is than the next, 1 - own / next, if the model knows distances
    (`transform`, or the means of the clusters among `embeddings_`). Otherwise it is the share of the entity's views
    that give it the model's cluster.

    Parameters
    ----------
    model : estimator
        Fitted to these views.
    views : Views
        The entities that the model was fitted on, in the same order.

    Returns
    -------
    ndarray of shape (n_entities,)
        Comparable within a model, not between methods; 0 for an entity labeled -1.

    Examples
    --------
    >>> import consilience as cs
    >>> views = cs.Views([[[0.0], [1.0], [4.0], [9.0], [10.0]]])
    >>> model = cs.MultiViewKMeans(n_clusters=2, random_state=0).fit(views)
    >>> int(cs.explain.clarity(model, views).argmin())  # the row between the clusters
    2
    """
    labels = np.asarray(model.labels_)
    measure = next(measure for measure in MEASURES if measure.applies(model))
    values = measure.measure(model, views, labels)
    return np.where(labels < 0, 0.0, np.clip(np.nan_to_num(values), 0.0, 1.0))


def order_by_confidence(confidence: np.ndarray, clarity: np.ndarray) -> np.ndarray:
    """Return numbers that order entities by confidence; clarity orders those whose confidence is equal or unknown."""
    step = 0.005  # less than that of confidence, which is in whole percents
    return np.where(np.isfinite(confidence), confidence, clarity) + step * clarity


class ClarityMeasure(NamedTuple):
    """A way to measure how clearly a model decides for each entity's cluster."""

    applies: Callable[[Any], bool]  # to a model
    measure: Callable[[Any, Views, np.ndarray], np.ndarray]  # of a model, its views and its labels


def measure_probability(model: Any, views: Views, labels: np.ndarray) -> np.ndarray:
    """Return the probability of each entity's cluster."""
    return find_runner_up(np.asarray(model.predict_proba(views)), labels)[0]


def measure_nearness(model: Any, views: Views, labels: np.ndarray) -> np.ndarray:
    """Return the margin by distances from the clusters, or from their means where the embeddings lie side by side."""
    if hasattr(model, "transform"):
        return measure_distance_margins(np.asarray(model.transform(views), dtype=np.float64), labels)
    blocks = [normalize(np.nan_to_num(to_numpy(embedding))) for embedding in model.embeddings_.values()]
    rows = normalize(np.hstack(blocks))
    members = labels == np.arange(labels.max() + 1)[:, None]
    means = members @ rows / np.maximum(members.sum(axis=1, keepdims=True), 1)
    distances = np.where(
        members.any(axis=1), euclidean_distances(rows, means), np.inf
    )  # from clusters that have a mean
    return measure_distance_margins(distances, labels)


def measure_view_share(model: Any, views: Views, labels: np.ndarray) -> np.ndarray:  # noqa: ARG001
    """Return the share of each entity's views that give it the model's cluster."""
    view_labels = np.stack([np.asarray(labels) for labels in model.view_labels_.values()])
    has_view = view_labels >= 0
    return ((view_labels == labels) & has_view).sum(axis=0) / np.maximum(has_view.sum(axis=0), 1)


MEASURES = (
    ClarityMeasure(
        lambda model: hasattr(model, "confidence_"),
        lambda model, views, labels: np.asarray(model.confidence_, dtype=np.float64),  # noqa: ARG005
    ),
    ClarityMeasure(lambda model: hasattr(model, "predict_proba"), measure_probability),
    ClarityMeasure(lambda model: hasattr(model, "transform") or hasattr(model, "embeddings_"), measure_nearness),
    ClarityMeasure(lambda model: True, measure_view_share),  # noqa: ARG005
)
