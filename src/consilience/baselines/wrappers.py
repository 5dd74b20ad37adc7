"""Estimators that prepare the views for another estimator: one view, views side by side, and merged views."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from operator import add
from typing import Any, ClassVar, Literal, Self

import numpy as np
import scipy.sparse as sp
from sklearn.base import BaseEstimator, ClusterMixin, clone
from sklearn.metrics import adjusted_rand_score, pairwise_distances_argmin, silhouette_score
from sklearn.utils import get_tags
from sklearn.utils.metaestimators import available_if

from .._saving import save_as
from ..arrays import available_memory, to_host, to_numpy
from ..data import Table, Views
from ..methods.common.docs import share_docs
from ..methods.common.input_checks import (
    check_new_views,
    check_views,
    store_agreement,
    store_input_features,
    validate_blocks,
    write_labels,
)
from ..methods.common.validation import HasMethods, StrOptions, check_all_parameters, share_constraints

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
    def predict(self, X: Any, *, out: Any = None) -> np.ndarray:
        """Assign entities to the clusters; available if the estimator has `predict`.

        %(predict_parameters)s
        %(out)s

        %(returns_out)s
        """
        prepared = self._prepare(check_new_views(self, X))
        return write_labels(np.asarray(self.estimator_.predict(prepared)), out)

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

    @property
    def cost_(self) -> float:
        """Cost of the fitted estimator, which scikit-learn's k-means call ``inertia_``: lower is better."""
        return self.estimator_.cost_ if hasattr(self.estimator_, "cost_") else self.estimator_.inertia_

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
    needed = sum(X.shape[0] * X.shape[1] * X.dtype.itemsize for X in parts.values())
    free = available_memory() if sparse else None
    if free is not None and needed > free:
        dense = next(name for name in parts if name not in sparse)
        raise ValueError(
            f"view {sparse[0]!r} is sparse and view {dense!r} dense: side by side they are a dense table of "
            f"{needed / 2**30:.1f} GiB, and {free / 2**30:.1f} GiB are free. Make {dense!r} sparse too, or reduce "
            f"{sparse[0]!r} first (scikit-learn's TruncatedSVD in consilience.PerView)"
        )
    return np.hstack([to_dense(X) for X in parts.values()])


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
    cost_ : float
        `cost_` (or ``inertia_``) of `estimator_`, if it has one: lower is better.
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


SILHOUETTE_SAMPLE = 2000  # entities that a silhouette is computed from


@save_as("single-view")
@share_docs
class SingleView(BaseWrapper):
    """Any clusterer on one view, as if there were no others.

    Parameters
    ----------
    estimator : estimator
        A clusterer of scikit-learn, or one of ours. It is cloned, not changed.
    view : str, optional
        The view. If not given, every view is clustered, and the one is kept whose clusters agree most with those of
        the other views: largest mean adjusted Rand index over the entities that two views share. Ties, as with two
        views, are resolved by the silhouettes (of 2,000 entities, if there are more). True classes are not used.
    %(views)s

    Attributes
    ----------
    labels_ : ndarray of shape (n_entities,)
        The cluster of each entity; -1 where it lacks the view (or for noise, if the estimator has it). Scores that
        treat -1 as a cluster count these entities as one.
    view_ : str
        The view that was clustered.
    view_scores_ : Table
        For each view, if one had to be chosen: ``agreement`` with the others and ``silhouette``; NaN if there is none.
    view_labels_ : dict of str to ndarray of shape (n_entities,)
        The cluster with the nearest mean in each view's columns; for `view_`, `labels_`. -1 where the entity lacks the
        view or is noise.
    %(agreement_)s
    estimator_ : estimator
        The fitted clusterer.
    cost_ : float
        `cost_` (or ``inertia_``) of `estimator_`, if it has one: lower is better.
    %(n_features_in_)s

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
        **share_constraints("views"),
        "estimator": [HasMethods(["fit_predict"])],
        "view": [str, None],
    }

    def __init__(self, estimator: Any, view: str | None = None, *, views: dict[str, Any] | None = None) -> None:
        self.estimator = estimator
        self.view = view
        self.views = views

    @check_all_parameters
    def fit(self, X: Any, y: Any = None) -> Self:  # noqa: ARG002
        """Cluster the entities that have the view.

        %(fit_parameters)s

        %(returns_self)s
        """
        views = check_views(self, X, reset=True)
        if self.view is not None and self.view not in views:
            raise ValueError(f"no view {self.view!r}: choose from {', '.join(map(repr, views.names))}, or give none")
        blocks = load_blocks(views)
        names = blocks if self.view is None else [self.view]
        fits = {name: fit_view(self.estimator, name, *blocks[name]) for name in names}
        scores = score_views(blocks, {name: labels for name, (_, labels) in fits.items()})
        best = max(fits, key=lambda name: np.nan_to_num(scores[name], nan=-np.inf).tolist())
        store_input_features(self, X, views)
        self.view_ = best
        self.estimator_, self.labels_ = fits[best]
        self.view_scores_ = Table.from_rows(
            {"view": name, "agreement": agreement, "silhouette": silhouette}
            for name, (agreement, silhouette) in scores.items()
        )
        is_noise = blocks[best][1] & (self.labels_ < 0)
        view_labels = {name: label_by_nearest_mean(*block, self.labels_, ~is_noise) for name, block in blocks.items()}
        store_agreement(self, view_labels | {best: self.labels_})
        return self

    @available_if(check_delegate("predict"))
    def predict(self, X: Any, *, out: Any = None) -> np.ndarray:
        """Assign entities to the clusters; available if the estimator has `predict`.

        %(predict_parameters)s
        %(out)s

        Returns
        -------
        ndarray of shape (n_entities,)
            The cluster of each entity; -1 where it lacks the view that was clustered. `out` if it was given.
        """
        views = check_new_views(self, X)
        labels = np.full(len(views), NO_CLUSTER)
        if self.view_ in views and (has_view := views[[self.view_]].present[:, 0]).any():
            labels[has_view] = self.estimator_.predict(self._prepare(views))
        return write_labels(labels, out)

    def _prepare(self, views: Views) -> Matrix:
        """Return the rows of the clustered view, without the entities that lack it."""
        X, has_view = load_blocks(views[[self.view_]])[self.view_]
        return X if has_view.all() else X[has_view]


def fit_view(estimator: Any, name: str, X: Matrix, has_view: np.ndarray) -> tuple[Any, np.ndarray]:
    """Fit a clone of the estimator to the entities that have the view; also return the labels of all."""
    model = clone(estimator)
    labels = np.full(len(has_view), NO_CLUSTER)
    try:
        labels[has_view] = model.fit_predict(X if has_view.all() else X[has_view])
    except ValueError as error:
        raise ValueError(f"view {name!r} cannot be clustered alone: {error} Name another with view=") from error
    return model, labels


def score_views(blocks: Blocks, labels: dict[str, np.ndarray]) -> dict[str, tuple[float, float]]:
    """Measure how far each view's clusters agree with those of the others, and their silhouette."""
    if len(labels) == 1:
        return dict.fromkeys(labels, (np.nan, np.nan))
    scores = {}
    for name, view_labels in labels.items():
        agreements = []
        for other in (view for view in labels if view != name):
            both = (view_labels >= 0) & (labels[other] >= 0)
            agreements.append(adjusted_rand_score(view_labels[both], labels[other][both]) if both.any() else np.nan)
        rows = np.flatnonzero(view_labels >= 0)
        rows = np.sort(np.random.default_rng(0).permutation(rows)[:SILHOUETTE_SAMPLE])
        silhouette = -1.0  # if there are too few clusters or entities
        if 1 < len(np.unique(view_labels[rows])) < len(rows):
            silhouette = float(silhouette_score(blocks[name][0][rows], view_labels[rows]))
        scores[name] = round(average_known(agreements), 12), silhouette  # rounding errors must not resolve ties
    return scores


@save_as("merged-views")
@share_docs
class MergedViews(BaseWrapper):
    """Any multi-view clusterer on views of which some are joined into one.

    Two views with the same information (two languages of one text, inbound and outbound links) are not independent
    given the cluster. Merged they are one view, and the methods' assumption holds between it and the rest.

    Parameters
    ----------
    estimator : estimator
        A multi-view clusterer of ours, `ConcatenatedViews` included. It is cloned, not changed.
    groups : mapping of str to list of str
        For each new view the views that it is made of. Views that are in no group stay as they are.
    join : {'concat', 'sum'}, default='concat'
        Columns side by side; or added up, if a column means the same in all views of a group: texts with one vocabulary
        become one bag of words.
    %(views)s

    Attributes
    ----------
    %(labels_)s
    view_labels_ : dict of str to ndarray of shape (n_entities,)
        The estimator's labels of each view after merging; -1 where the entity lacks all parts of the view.
    agreement_ : ndarray of shape (n_views, n_views)
        Share of entities that two views, after merging, put into the same cluster.
    estimator_ : estimator
        The fitted clusterer, with all its attributes.
    cost_ : float
        `cost_` (or ``inertia_``) of `estimator_`, if it has one: lower is better.
    n_features_in_, feature_names_in_ : int, ndarray
        Number of columns of all views together, before merging, and their names if all views came with names.

    Notes
    -----
    An entity has a merged view if it has at least one of the parts. Side by side, a missing part is filled in with the
    part's column means over the entities that have it, or with zeros if the part is sparse; in a sum it adds nothing. A
    merged view takes the place of its first part. `predict` and `score` are available if the estimator has them.

    The second baseline of Bickel & Scheffer 2005 ("merged views") adds all views of words into one bag, all links
    likewise, and puts the results side by side: ``MergedViews(ConcatenatedViews(CoEM(k, families="multinomial")),
    {"words": ["text", "anchors"], "links": ["inbound", "outbound"]}, join="sum")``.

    Examples
    --------
    >>> import consilience as cs
    >>> views, y = cs.datasets.make_gaussian_views(200, n_features=(4, 2, 3), separation=8, random_state=0)
    >>> groups = {"both": ["view0", "view2"]}
    >>> model = cs.baselines.MergedViews(cs.MultiViewKMeans(3, random_state=0), groups).fit(views)
    >>> model.agreement_.shape, list(model.view_labels_)
    ((2, 2), ['both', 'view1'])
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **share_constraints("views"),
        "estimator": [HasMethods(["fit"])],
        "groups": [dict],
        "join": [StrOptions({"concat", "sum"})],
    }

    def __init__(
        self,
        estimator: Any,
        groups: Mapping[str, Sequence[str]],
        *,
        join: Literal["concat", "sum"] = "concat",
        views: dict[str, Any] | None = None,
    ) -> None:
        self.estimator = estimator
        self.groups = groups
        self.join = join
        self.views = views

    @check_all_parameters
    def fit(self, X: Any, y: Any = None) -> Self:  # noqa: ARG002
        """Merge the views and cluster the entities.

        %(fit_parameters)s

        %(returns_self)s
        """
        views = check_views(self, X, reset=True)
        parts = check_groups(self.groups, views.names)
        blocks = load_blocks(views)
        if self.join == "sum":
            check_same_columns(parts, views)
        filler = MissingRowFiller.learn(blocks)
        model = clone(self.estimator).fit(self._merge(parts, blocks, views.ids, filler))
        if not hasattr(model, "view_labels_"):
            raise TypeError(
                f"MergedViews needs a multi-view estimator, got {type(model).__name__}: wrap it in ConcatenatedViews"
            )
        store_input_features(self, X, views)
        self.estimator_, self.labels_, self._filler, self._parts = model, model.labels_, filler, parts
        store_agreement(self, model.view_labels_)
        return self

    def _prepare(self, views: Views) -> Views:
        """Return the merged views of which new entities have a part."""
        parts = {name: group for name, group in self._parts.items() if any(part in views for part in group)}
        return self._merge(parts, load_blocks(views), views.ids, self._filler)

    def _merge(
        self, parts: Mapping[str, Sequence[str]], blocks: Blocks, ids: np.ndarray | None, filler: MissingRowFiller
    ) -> Views:
        merged, present = {}, []
        for new, names in parts.items():
            masks = [blocks[name][1] for name in names if name in blocks]
            if self.join == "sum":
                parts_X = [blocks[name][0] for name in names if name in blocks]
                all_sparse = all(sp.issparse(X) for X in parts_X)
                merged[new] = reduce(add, parts_X if all_sparse else [to_dense(X) for X in parts_X])
            elif len(names) == 1:
                merged[new] = blocks[names[0]][0]
            else:
                merged[new] = filler.concatenate(names, blocks, len(masks[0]))
            present.append(np.any(masks, axis=0))
        return Views(merged, present=np.column_stack(present), ids=ids)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags


def check_groups(groups: Mapping[str, Sequence[str]], names: Sequence[str]) -> dict[str, list[str]]:
    """Return the views after merging, in order, and the parts of each."""
    group_of: dict[str, str] = {}
    listed = ", ".join(map(repr, names))
    for new, parts in groups.items():
        if isinstance(parts, str) or not len(parts):
            raise ValueError(f"groups[{new!r}] is {parts!r}: give a list of views; the views are {listed}")
        for part in parts:
            if part not in names:
                raise ValueError(f"groups[{new!r}] names view {part!r}; the views are {listed}")
            if part in group_of:
                raise ValueError(f"view {part!r} is named twice, in {group_of[part]!r} and {new!r}: name it once")
            group_of[part] = new
    taken = [new for new in groups if new in names and new not in group_of]
    if taken:
        raise ValueError(f"groups[{taken[0]!r}] has the name of a view that stays: choose another name")
    merged: dict[str, list[str]] = {}
    for name in names:
        new = group_of.get(name, name)
        merged[new] = list(groups[new]) if name in group_of else [name]
    return merged


def check_same_columns(parts: Mapping[str, Sequence[str]], views: Views) -> None:
    """Refuse to add up columns that do not mean the same."""
    for new, (first, *others) in parts.items():
        for name in others:
            n_expected, n_columns = views[first].shape[1], views[name].shape[1]
            expected, columns = views.feature_names(first), views.feature_names(name)
            problem = f"has {n_columns} columns, view {first!r} {n_expected}" if n_columns != n_expected else None
            if (
                problem is None
                and expected is not None
                and columns is not None
                and not np.array_equal(expected, columns)
            ):
                problem = f"has other column names than view {first!r}"
            if problem:
                raise ValueError(
                    f"view {name!r} {problem}, so that groups[{new!r}] cannot be added up: give both views the same "
                    "columns in the same order, or use join='concat'"
                )
