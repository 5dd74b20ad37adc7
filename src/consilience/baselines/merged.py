"""Some views joined into larger ones before a multi-view method sees them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import reduce
from operator import add
from typing import Any, ClassVar, Self

import numpy as np
import scipy.sparse as sp
from sklearn.base import clone

from .._saving import save_as
from ..data import Views
from ..methods.common.docs import share_docs
from ..methods.common.input_checks import check_views, store_agreement, store_input_features
from ..methods.common.validation import HasMethods, StrOptions, check_all_parameters, share_constraints
from .wrapping import BaseWrapper, Blocks, Matrix, MissingRowFiller, load_blocks, to_dense


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
        join: str = "concat",
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
                merged[new] = add_views([blocks[name][0] for name in names if name in blocks])
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


def add_views(blocks: Sequence[Matrix]) -> Matrix:
    """Add up columns; missing rows are zeros already."""
    return reduce(add, blocks if all(sp.issparse(X) for X in blocks) else [to_dense(X) for X in blocks])


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
