"""Classes that are known for some of the entities, which a fit keeps (semi-supervised clustering; Nigam & Ghani 2000).

Within a fit they are `fixed_labels`: the cluster that an entity keeps, or -1 where its class is unknown.
"""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from sklearn.base import ClusterMixin

from ..._numbers import is_real
from ..._warnings import find_stack_level
from ...arrays import Array, namespace, to_numpy
from .stream import share_stream_docs

UNKNOWN = -1
ADVICE = (
    "If it is meant for scoring (cross_validate, GridSearchCV and pipelines pass y on to fit), fit without y and let "
    "the scorer look up the classes; otherwise give -1 where a class is unknown"
)


@share_stream_docs
class KnownClassesMixin(ClusterMixin):
    """Makes `fit_predict` of a clusterer pass known classes on to `fit`, which that of scikit-learn does not."""

    labels_: np.ndarray

    def fit_predict(self, X: Any, y: Any = None) -> np.ndarray:
        """Fit, and return the cluster of each entity.

        %(fit_parameters_classes)s

        %(returns_labels)s
        """
        return self.fit(X, y).labels_


def check_classes(
    y: Any, n_entities: int, n_clusters: int, fitted: Any = None
) -> tuple[np.ndarray | None, np.ndarray | None]:
    """Return the cluster that each entity keeps (-1: none), and the classes in the order of their clusters.

    Both are None if no class is known. In a stream the classes are those of the `fitted` estimator's first batch.
    """
    if y is None:
        return None, None
    classes = check_class_numbers(to_numpy(y), n_entities)
    is_fixed = classes != UNKNOWN
    if not is_fixed.any():
        return None, None
    order = np.unique(classes[is_fixed])
    if fitted is not None:
        first = getattr(fitted, "seed_classes_", None)
        first = np.empty(0, np.int64) if first is None else to_numpy(first)
        others = np.setdiff1d(order, first)
        if len(others):
            earlier = (
                f"the classes of the first batch are {first.tolist()}" if len(first) else "the first batch had none"
            )
            raise ValueError(f"y has class {others[0]}, but {earlier}: give -1 instead, or start anew with fit")
        order = first
    elif is_fixed.all():
        is_used = len(order) <= n_clusters
        use = "the model describes the classes" if is_used else f"y is not used, as n_clusters={n_clusters} is less"
        warnings.warn(
            f"y gives one of {len(order)} classes to every entity, which leaves nothing to cluster: {use}. {ADVICE}",
            UserWarning,
            stacklevel=find_stack_level(),
        )
        if not is_used:
            return None, None
    elif len(order) > n_clusters:
        raise ValueError(
            f"y has {len(order)} classes, more than n_clusters={n_clusters}: raise n_clusters to {len(order)} or more"
        )
    return np.where(is_fixed, np.searchsorted(order, classes), UNKNOWN), order


def check_class_numbers(classes: np.ndarray, n_entities: int) -> np.ndarray:
    """Return the classes of y as whole numbers, checked."""
    if classes.shape != (n_entities,):
        raise ValueError(
            f"y has shape {classes.shape}, but there are {n_entities} entities (n_samples={n_entities}): give one "
            "class per entity, -1 where it is unknown"
        )
    if classes.dtype.kind not in "biuf":
        cells = classes.tolist()
        other = next((cell for cell in cells if not is_real(cell)), cells[0])
        raise TypeError(
            f"Unknown label type of y: it contains {other!r} ({classes.dtype}). Give whole numbers, as "
            "sklearn.preprocessing.LabelEncoder makes them, and -1 where the class is unknown"
        )
    invalid = ~np.isfinite(classes) | (classes != np.trunc(classes)) | (classes < UNKNOWN)
    if invalid.any():
        raise ValueError(
            f"y contains {classes[invalid][0]}: classes are whole numbers from 0 on, and -1 where the class is unknown"
        )
    return classes.astype(np.int64)


def clamp_labels(labels: Array, fixed_labels: Array | None) -> Array:
    """Return labels in which entities of a known class have its cluster."""
    if fixed_labels is None:
        return labels
    xp = namespace(labels)
    return xp.where(fixed_labels == UNKNOWN, labels, xp.astype(fixed_labels, labels.dtype))
