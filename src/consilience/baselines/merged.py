"""Some views joined into larger ones before a multi-view method sees them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import reduce
from operator import add
from typing import Any, ClassVar

import numpy as np
import scipy.sparse as sp
from sklearn.base import BaseEstimator, ClusterMixin, clone
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from .._saving import save_as
from ..data import Views
from ..methods.common.input_checks import check_views, store_agreement, store_input_features
from ..methods.common.validation import HasMethods, StrOptions, check_all_parameters
from ._side_by_side import Blocks, Matrix, MissingRowFiller, concatenate_columns, load_blocks
from ._wrapped import can_predict


@save_as("merged-views")
class MergedViews(ClusterMixin, BaseEstimator):
    """Any multi-view clusterer on views of which some are joined into one.

    Two views that tell the same thing twice (two languages of one text, inbound and outbound links) are not
    independent given the cluster. Merged they are one view, and the methods' assumption holds between it and the
    rest.

    Parameters
    ----------
    estimator : estimator
        A multi-view clusterer of ours, `ConcatenatedViews` included. It is cloned, not changed.
    groups : mapping of str to list of str
        For each new view the views that it is made of. Views that no group names stay as they are.
    join : {'concat', 'sum'}, default='concat'
        Columns side by side; or added up, where the same column means the same in all views of a group: texts with
        one vocabulary become one bag of words.
    views : dict of str to columns, optional
        If `fit` is given one array or frame: which of its columns make up which view (slices, positions or names).

    Attributes
    ----------
    labels_ : ndarray of shape (n_entities,)
        The cluster of each entity.
    view_labels_ : dict of str to ndarray of shape (n_entities,)
        What the estimator says of each view after merging; -1 where the entity lacks all parts of the view.
    agreement_ : ndarray of shape (n_views, n_views)
        Share of entities that two views, after merging, put into the same cluster.
    estimator_ : estimator
        The fitted clusterer, with all its own attributes.
    n_features_in_, feature_names_in_ : int, ndarray
        Columns of all views together, before merging, and their names where all views came with names.

    Notes
    -----
    An entity has a merged view if it has at least one of the parts. Side by side, a part that it lacks is filled in
    with the part's column means over the entities that have it, or with nothing where the part is sparse; in a sum it
    adds nothing. A merged view takes the place of its first part. There is `predict` if the estimator has it.

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
        "estimator": [HasMethods(["fit"])],
        "groups": [dict],
        "join": [StrOptions({"concat", "sum"})],
        "views": [dict, None],
    }

    def __init__(
        self,
        estimator: Any,
        groups: Mapping[str, Sequence[str]],
        *,
        join: str = "concat",
        views: dict[str, Any] | None = None,
    ) -> None:
        self.estimator = estimator
        self.groups = groups
        self.join = join
        self.views = views

    @check_all_parameters
    def fit(self, X: Any, y: Any = None) -> MergedViews:  # noqa: ARG002
        """Merge the views and cluster the entities.

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
        parts = check_groups(self.groups, views.names)
        blocks = load_blocks(views)
        if self.join == "sum":
            check_same_columns(parts, views)
        filler = MissingRowFiller.learn(blocks)
        model = clone(self.estimator).fit(merge_views(parts, blocks, views.ids, filler, self.join))
        check_multi_view(model)
        store_input_features(self, X, views)
        self.estimator_, self.labels_, self._filler, self._parts = model, model.labels_, filler, parts
        store_agreement(self, model.view_labels_)
        return self

    @available_if(can_predict)
    def predict(self, X: Any) -> np.ndarray:
        """Give entities, seen before or not, to the clusters; there if the estimator has it.

        Parameters
        ----------
        X : Views, mapping or sequence of blocks, or array-like
            Entities with any of the fitted views.

        Returns
        -------
        ndarray of shape (n_entities,)
            The cluster of each entity.
        """
        check_is_fitted(self)
        views = check_views(self, X, reset=False)
        known = {name: own for name, own in self._parts.items() if any(part in views for part in own)}
        return self.estimator_.predict(merge_views(known, load_blocks(views), views.ids, self._filler, self.join))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags


def check_groups(groups: Mapping[str, Sequence[str]], names: Sequence[str]) -> dict[str, list[str]]:
    """The views after merging, in order, and the parts of each."""
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
        raise ValueError(f"groups[{taken[0]!r}] is called like a view that stays: choose another name")
    found: dict[str, list[str]] = {}
    for name in names:
        new = group_of.get(name, name)
        found[new] = list(groups[new]) if name in group_of else [name]
    return found


def check_same_columns(parts: Mapping[str, Sequence[str]], views: Views) -> None:
    """Refuse to add up columns that do not mean the same."""
    for new, (first, *others) in parts.items():
        for name in others:
            wanted, width = views[first].shape[1], views[name].shape[1]
            labels, own = views.feature_names(first), views.feature_names(name)
            problem = f"has {width} columns, view {first!r} {wanted}" if width != wanted else None
            if problem is None and labels is not None and own is not None and not np.array_equal(labels, own):
                problem = f"names its columns otherwise than view {first!r}"
            if problem:
                raise ValueError(
                    f"view {name!r} {problem}, so that groups[{new!r}] cannot be added up: give both views the same "
                    "columns in the same order, or use join='concat'"
                )


def check_multi_view(model: Any) -> None:
    """Refuse an estimator that knows no views."""
    if not hasattr(model, "view_labels_"):
        raise TypeError(
            f"MergedViews needs a multi-view estimator, got {type(model).__name__}: wrap it in ConcatenatedViews"
        )


def merge_views(
    groups: Mapping[str, Sequence[str]],
    blocks: Blocks,
    ids: np.ndarray | None,
    filler: MissingRowFiller,
    how: str,
) -> Views:
    """The views after merging."""
    merged, present = {}, []
    for new, parts in groups.items():
        there = [blocks[name][1] for name in parts if name in blocks]
        merged[new] = JOINS[how](parts, blocks, filler, len(there[0]))
        present.append(np.any(there, axis=0))
    return Views(merged, present=np.column_stack(present), ids=ids)


def merge_side_by_side(parts: Sequence[str], blocks: Blocks, filler: MissingRowFiller, n_entities: int) -> Matrix:
    """Columns side by side; a view that is alone needs no filling in."""
    if len(parts) == 1:
        return blocks[parts[0]][0]
    return concatenate_columns({name: filler.whole(name, blocks, n_entities) for name in parts})


def add_views(parts: Sequence[str], blocks: Blocks, filler: MissingRowFiller, n_entities: int) -> Matrix:  # noqa: ARG001
    """Columns added up; missing rows are zeros already."""
    own = [blocks[name][0] for name in parts if name in blocks]
    own = own if all(sp.issparse(X) for X in own) else [X.toarray() if sp.issparse(X) else X for X in own]
    return reduce(add, own)


JOINS = {"concat": merge_side_by_side, "sum": add_views}
