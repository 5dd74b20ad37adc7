"""How sure a model is of each entity, and whose views contradict each other."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from sklearn.metrics import euclidean_distances
from sklearn.preprocessing import normalize

from ..arrays import to_numpy
from ..data import Views


def contested(view_labels: Mapping[str, np.ndarray]) -> np.ndarray:
    """Which entities have two views that put them into different clusters.

    Examples
    --------
    >>> import numpy as np
    >>> contested({"text": np.array([0, 1, 1]), "links": np.array([0, 0, -1])}).tolist()
    [False, True, False]
    """
    said = np.stack([np.asarray(own) for own in view_labels.values()])
    most = said.max(axis=0)
    return ((said >= 0) & (said != most)).any(axis=0)


def confidence(model: Any, views: Views) -> np.ndarray:
    """How sure the model is of each entity's cluster, from 0 to 1.

    Where the model has a confidence of its own (`confidence_`, as `consilience.Consilience` has), that. Where it has
    probabilities (`predict_proba`, as mixtures, k-means and spectral estimators have), the probability of the entity's
    cluster. Where it knows distances (`transform`, or `embeddings_`, in which the means of the clusters have some), how
    much nearer the own cluster is than the next: 1 - own / next. Otherwise the share of the entity's views that say the
    same as the model.

    Parameters
    ----------
    model : estimator
        Fitted to these views.
    views : Views
        The entities that the model was fitted on, in the same order.

    Returns
    -------
    ndarray of shape (n_entities,)
        Comparable within a model, not between methods; 0 for an entity labelled -1.
    """
    labels = np.asarray(model.labels_)
    if hasattr(model, "confidence_"):
        sure = np.asarray(model.confidence_, dtype=np.float64)
    elif hasattr(model, "predict_proba"):
        sure = _of_label(np.asarray(model.predict_proba(views)), labels)
    elif hasattr(model, "transform"):
        sure = _nearer(np.asarray(model.transform(views), dtype=np.float64), labels)
    elif hasattr(model, "embeddings_"):
        sure = _nearer(_from_means(model.embeddings_, labels), labels)
    else:
        said = np.stack([np.asarray(own) for own in model.view_labels_.values()])
        sure = ((said == labels) & (said >= 0)).sum(axis=0) / np.maximum((said >= 0).sum(axis=0), 1)
    return np.where(labels < 0, 0.0, np.clip(np.nan_to_num(sure), 0.0, 1.0))


def _nearer(distance: np.ndarray, labels: np.ndarray) -> np.ndarray:
    """How much nearer the own cluster is than the next, as a share of the distance to that."""
    others = distance.copy()
    others[np.arange(len(labels)), labels] = np.inf
    second = others.min(axis=1, initial=np.inf)
    lead = np.where(second > 0, 1 - _of_label(distance, labels) / np.where(second > 0, second, 1), 0.0)
    return np.where(np.isfinite(second), lead, 1.0)  # one cluster alone has no rival


def _from_means(embeddings: Mapping[str, np.ndarray], labels: np.ndarray) -> np.ndarray:
    """Distances to the clusters' means where the embeddings, rows of unit length, lie side by side."""
    joint = normalize(np.hstack([normalize(np.nan_to_num(to_numpy(own))) for own in embeddings.values()]))
    member = labels == np.arange(labels.max() + 1)[:, None]
    return euclidean_distances(joint, member @ joint / np.maximum(member.sum(axis=1, keepdims=True), 1))


def _of_label(values: np.ndarray, labels: np.ndarray) -> np.ndarray:
    return values[np.arange(len(labels)), labels]
