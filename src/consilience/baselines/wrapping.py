"""What estimators that prepare the views for another estimator share."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.base import BaseEstimator, ClusterMixin
from sklearn.metrics import pairwise_distances_argmin
from sklearn.utils import get_tags
from sklearn.utils.metaestimators import available_if

from .._saving import save_as
from ..arrays import available_memory, to_host, to_numpy
from ..data import Views
from ..methods.common.docs import share_docs
from ..methods.common.input_checks import check_new_views, validate_blocks

Matrix = Any  # numpy array or scipy sparse array
Blocks = Mapping[str, tuple[Matrix, np.ndarray]]  # a view's rows, and a mask of the entities that have it

NO_CLUSTER = -1


def check_delegate(method: str) -> Callable[[Any], bool]:
    """Return a check, for `available_if`, that the wrapped estimator has a method."""

    def check(wrapper: Any) -> bool:
        estimator = getattr(wrapper, "estimator_", wrapper.estimator)
        if not hasattr(estimator, method):
            raise AttributeError(
                f"{type(estimator).__name__} has no {method}, so {type(wrapper).__name__} has none: use labels_, or an "
                f"estimator that has {method}"
            )
        return True

    return check


@share_docs
class BaseWrapper(ClusterMixin, BaseEstimator):
    """Base of clusterers that prepare the views for another estimator."""

    estimator: Any
    estimator_: Any

    @abstractmethod
    def _prepare(self, views: Views) -> Any:
        """Return new entities in the form that the fitted estimator takes."""

    @available_if(check_delegate("predict"))
    def predict(self, X: Any) -> np.ndarray:
        """Assign entities to the clusters; available if the estimator has `predict`.

        %(predict_parameters)s

        %(returns_labels)s
        """
        prepared = self._prepare(check_new_views(self, X))
        return self.estimator_.predict(prepared)

    @available_if(check_delegate("score"))
    def score(self, X: Any, y: Any = None) -> float:  # noqa: ARG002
        """Return the estimator's score of entities; available if the estimator has `score`.

        %(score_parameters)s

        Returns
        -------
        float
            The score: higher is better.
        """
        prepared = self._prepare(check_new_views(self, X))
        return self.estimator_.score(prepared)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = get_tags(self.estimator).input_tags.sparse
        return tags


def load_blocks(views: Views) -> dict[str, tuple[Matrix, np.ndarray]]:
    """Load each view as a numpy or scipy array, and a mask of the entities that have it; missing rows are zeros."""
    return {name: (to_host(X), to_numpy(has_view)) for name, (X, has_view) in validate_blocks(views).items()}


@save_as("missing-view-filler")
@dataclass(frozen=True, eq=False)
class MissingRowFiller:
    """Rows for the entities that lack a view.

    The view's column means over the entities that have it; in a sparse view zeros, which keep it sparse.
    """

    rows: Mapping[str, Matrix]  # (1, columns) of each view

    @classmethod
    def learn(cls, blocks: Blocks) -> MissingRowFiller:
        """Compute the rows from the entities that have the views."""
        rows = {}
        for name, (X, has_view) in blocks.items():
            if sp.issparse(X):
                rows[name] = sp.csr_array((1, X.shape[1]), dtype=X.dtype)
            else:
                rows[name] = np.mean(X[has_view], axis=0, keepdims=True, dtype=np.float64).astype(X.dtype)
        return cls(rows)

    def fill(self, name: str, blocks: Blocks, n_entities: int) -> Matrix:
        """Return the rows of one view for all entities."""
        row = self.rows[name]
        if name not in blocks:
            return row[np.zeros(n_entities, int)]
        X, has_view = blocks[name]
        if sp.issparse(row) or has_view.all():  # missing rows are zeros already
            return X
        return np.where(has_view[:, None], to_dense(X), row.astype(X.dtype))

    def concatenate(self, names: Iterable[str], blocks: Blocks, n_entities: int) -> Matrix:
        """Put the filled views side by side."""
        return concatenate_columns({name: self.fill(name, blocks, n_entities) for name in names})


def to_dense(X: Matrix) -> np.ndarray:
    """Convert a sparse matrix to a dense one."""
    return X.toarray() if sp.issparse(X) else X


def concatenate_columns(parts: Mapping[str, Matrix]) -> Matrix:
    """Put columns side by side: sparse if all parts are, dense otherwise."""
    sparse = [name for name, X in parts.items() if sp.issparse(X)]
    if len(sparse) == len(parts):
        return sp.csr_array(sp.hstack(list(parts.values()), format="csr"))
    if sparse:
        check_dense_memory(parts, sparse)
    return np.hstack([to_dense(X) for X in parts.values()])


def check_dense_memory(parts: Mapping[str, Matrix], sparse: Sequence[str]) -> None:
    """Refuse to create a dense table that does not fit into memory."""
    needed = sum(X.shape[0] * X.shape[1] * X.dtype.itemsize for X in parts.values())
    free = available_memory()
    if free is not None and needed > free:
        dense = next(name for name in parts if name not in sparse)
        raise ValueError(
            f"view {sparse[0]!r} is sparse and view {dense!r} dense: side by side they are a dense table of "
            f"{needed / 2**30:.1f} GiB, and {free / 2**30:.1f} GiB are free. Make {dense!r} sparse too, or reduce "
            f"{sparse[0]!r} first (scikit-learn's TruncatedSVD in consilience.PerView)"
        )


def label_by_nearest_mean(X: Matrix, has_view: np.ndarray, labels: np.ndarray, wanted: np.ndarray) -> np.ndarray:
    """Label the wanted entities by the nearest mean of a cluster in these columns; the others get -1.

    A cluster's mean is that of its members that have the view; a cluster without any is never the nearest.
    """
    view_labels = np.full(len(labels), NO_CLUSTER)
    wanted = wanted & has_view
    members = np.flatnonzero(has_view & (labels >= 0))
    if not len(members) or not wanted.any():
        return view_labels
    clusters, at = np.unique(labels[members], return_inverse=True)
    indicator = sp.csr_array((np.ones(len(members)), (at, members)), shape=(len(clusters), len(labels)))
    means = to_dense(indicator @ X) / np.bincount(at)[:, None]
    view_labels[wanted] = clusters[pairwise_distances_argmin(X[wanted], means)]
    return view_labels


def average_known(values: Iterable[float]) -> float:
    """Return the mean of the values that are not NaN; NaN if there are none."""
    numbers = [value for value in values if not np.isnan(value)]
    return float(np.mean(numbers)) if numbers else np.nan
