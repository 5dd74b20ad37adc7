"""Agglomerative clustering over several views."""

from __future__ import annotations

from numbers import Integral
from typing import Any, ClassVar

import numpy as np
import scipy.sparse as sp
from sklearn.base import BaseEstimator, ClusterMixin
from sklearn.utils.validation import check_is_fitted

from ..._saving import save_as
from ...arrays import CSR, asarray_like, available_memory, to_numpy, use_threads
from ...data import Table, Views, resolve_per_view
from ..common.input_checks import (
    check_n_clusters,
    check_views,
    store_agreement,
    store_input_features,
    validate_blocks,
    warn_about_zero_rows,
)
from ..common.progress import progress
from ..common.validation import Interval, StrOptions, check_parameters
from .algorithm import (
    LINKAGES,
    METRICS,
    Dendrogram,
    PrecomputedDistances,
    ViewDistances,
    count_table_bytes,
    cut_dendrogram,
    find_nearest_clusters,
    iterate_merges,
)

ROUNDING = 1e-5  # errors in given distances, as a share of the largest, that are let pass


@save_as("agglomerative")
class MultiViewAgglomerative(ClusterMixin, BaseEstimator):
    """Agglomerative clustering over any number of views that take turns to merge (Bickel & Scheffer 2004, Table 2).

    Every entity starts as a cluster. The views take turns: each merges the two clusters that are closest by its own
    linkage distance, and all build one dendrogram.

    **Cluster the views side by side before you choose this.** The paper's own finding is negative, and so is ours: two
    clusters that overlap in one view are merged there, though another view would have told them apart. Average entropy
    of the true classes, against the same linkage of the views side by side: on the digits that ship (cosine, columns
    standardised) 1.13 against 0.98 bits with average linkage, 1.41 against 0.95 with complete; on `make_text_views`
    0.72 against 0.36 and 1.21 against 0.57, worse for each of ten seeds. Euclidean distances between the digits were
    an exception (1.54 against 1.84, 1.72 against 1.82).

    Parameters
    ----------
    n_clusters : int, default=8
        Number of clusters in `labels_`; `cut` gives any other from the same fit.
    linkage : {'single', 'complete', 'average'}, default='average'
        The distance between two clusters: the least, the largest or the mean distance between members of the one and
        members of the other.
    metric : {'cosine', 'euclidean', 'precomputed'}, or one a view in a dict or list, default='cosine'
        The distance between two entities. Cosine: a row of zeros has no direction, so that its entity lacks the view.
        Precomputed: the view is a square matrix of distances; those of a missing entity are not looked at.
    views : dict of str to columns, optional
        If `fit` is given one array or frame: which of its columns make up which view (slices, positions or names).
    n_jobs : int, default=None
        Threads that compute distances; None and -1 take all cores. The result does not depend on it.
    verbose : bool, default=False
        Show progress.

    Attributes
    ----------
    labels_ : ndarray of shape (n_entities,)
        The cluster of each entity, numbered in the order of their first entities.
    children_ : ndarray of shape (n_entities - 1, 2)
        The two nodes of each merge, the lower first. Entities are the nodes 0 to n_entities - 1, merge t makes node
        n_entities + t, as in scikit-learn and scipy.
    merge_views_ : ndarray of str, shape (n_entities - 1,)
        Name of the view that decided each merge; empty where no view could compare the clusters that were left.
    distances_ : ndarray of shape (n_entities - 1,)
        Distance of the two nodes in that view; NaN where there was none. Distances of different views are different
        things: these need not rise.
    merges_ : Table
        The merges in order: first, second, distance, view, size.
    n_leaves_ : int
        Number of entities.
    view_labels_ : dict of str to ndarray of shape (n_entities,)
        The cluster whose other members are nearest to the entity on average in each view; -1 where it lacks the view.
    agreement_ : ndarray of shape (n_views, n_views)
        Share of entities that two views put into the same cluster.
    n_features_in_, feature_names_in_ : int, ndarray
        Columns of all views together, and their names where all views came with names.

    Notes
    -----
    Merge t belongs to view t modulo the number of views. The distance of two clusters in a view is that of their
    members that have the view. A view in which no two clusters have one cedes its turn to the next; clusters that no
    view can compare are merged last, those of the lowest nodes first. Equal distances go to the clusters whose first
    entities come first. With one view it is ordinary agglomerative clustering, the same as scipy's.

    The distances of all pairs are held in memory, half of a square table a view (0.37 GiB for 10,000 entities in
    float64; float32 data take half of that), and time grows with the square of the entities. There is no `predict`:
    a dendrogram knows no others than its own entities.

    Examples
    --------
    >>> import consilience as cs
    >>> views, y = cs.datasets.make_gaussian_views(100, n_clusters=3, separation=15, random_state=0)
    >>> model = cs.MultiViewAgglomerative(n_clusters=3, metric="euclidean").fit(views)
    >>> cs.metrics.average_entropy(y, model.labels_)
    0.0
    >>> model.merge_views_[:4].tolist(), len(set(model.cut(7)))
    (['view0', 'view1', 'view0', 'view1'], 7)
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "n_clusters": [Interval(Integral, 1, None, closed="left")],
        "linkage": [StrOptions(set(LINKAGES))],
        "metric": [StrOptions(set(METRICS)), dict, list, tuple],
        "views": [dict, None],
        "n_jobs": [Integral, None],
        "verbose": ["verbose"],
    }

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        linkage: str = "average",
        metric: Any = "cosine",
        views: dict[str, Any] | None = None,
        n_jobs: int | None = None,
        verbose: bool = False,
    ) -> None:
        self.n_clusters = n_clusters
        self.linkage = linkage
        self.metric = metric
        self.views = views
        self.n_jobs = n_jobs
        self.verbose = verbose

    @check_parameters
    def fit(self, X: Any, y: Any = None) -> MultiViewAgglomerative:  # noqa: ARG002
        """Build the dendrogram.

        Parameters
        ----------
        X : Views, mapping or sequence of blocks, or array-like of shape (n_entities, n_columns)
            The data. A plain array is one view, or several if the argument `views` names groups of its columns.
        y : ignored
            Here for scikit-learn.

        Returns
        -------
        self
            The fitted estimator. Ctrl-C leaves it as it was.
        """
        views = check_views(self, X, reset=True)
        check_n_clusters(self.n_clusters, len(views))
        distances = prepare_distances(views, resolve_per_view("metric", self.metric, views.names))
        fate = "has no direction, is merged last, and may make up a cluster by itself"
        warn_about_zero_rows(views, {name: own.present for name, own in distances.items()}, fate)
        with use_threads(self.n_jobs):
            tree = self._grow(list(distances.values()))
            labels = cut_dendrogram(tree.children, self.n_clusters)
            view_labels = {name: find_nearest_clusters(own, labels) for name, own in distances.items()}
        store_input_features(self, X, views)
        self.labels_, self.n_leaves_ = labels, len(views)
        self.children_, self.distances_ = tree.children, tree.distances
        self.merge_views_ = np.array([*views.names, ""])[tree.deciders]  # the last name is that of no view, -1
        self.merges_ = Table(
            first=tree.children[:, 0],
            second=tree.children[:, 1],
            distance=tree.distances,
            view=self.merge_views_,
            size=tree.sizes,
        )
        store_agreement(self, view_labels)
        return self

    def _grow(self, distances: list[ViewDistances]) -> Dendrogram:
        """The whole dendrogram, if memory allows."""
        check_distance_memory(distances)
        try:
            with progress(type(self).__name__, 1, bool(self.verbose)) as show:
                for i, tree in enumerate(iterate_merges(distances, self.linkage), 1):
                    show(0, i, {"merges": len(tree.children), "of": distances[0].shape[0] - 1})
        except MemoryError as error:
            raise MemoryError(memory_message(distances, "more than the system gives")) from error
        return tree

    def cut(self, n_clusters: int) -> np.ndarray:
        """Labels for any number of clusters, by the order of the merges: as it was when so many were left.

        Parameters
        ----------
        n_clusters : int
            From 1 to the number of entities.

        Returns
        -------
        ndarray of shape (n_entities,)
            The cluster of each entity, numbered in the order of their first entities.
        """
        check_is_fitted(self)
        if not isinstance(n_clusters, Integral) or not 1 <= n_clusters <= self.n_leaves_:
            raise ValueError(
                f"n_clusters={n_clusters!r} must be a whole number from 1 to {self.n_leaves_}, the number of entities"
            )
        return cut_dendrogram(self.children_, int(n_clusters))

    def linkage_matrix(self) -> np.ndarray:
        """The dendrogram in scipy's form, for ``scipy.cluster.hierarchy.dendrogram`` and ``fcluster``.

        A merge's height is its place in the order (1, 2, ...), not its distance: distances of different views do not
        compare, and would let lines of the drawing cross.

        Returns
        -------
        ndarray of shape (n_entities - 1, 4)
            First node, second node, height, number of entities.
        """
        check_is_fitted(self)
        order = np.arange(1, self.n_leaves_)
        return np.column_stack([self.children_, order, self.merges_["size"]]).astype(np.float64)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags


def prepare_distances(views: Views, metrics: dict[str, str]) -> dict[str, ViewDistances]:
    """Each view's distances, checked but not yet computed."""
    for name, metric in metrics.items():
        if not isinstance(metric, str) or metric not in METRICS:
            raise ValueError(f"view {name!r}: no metric {metric!r}; choose from {', '.join(map(repr, METRICS))}")
    ready = {}
    for name, (X, present) in validate_blocks(align_precomputed(views, metrics)).items():
        X = X if isinstance(X, CSR) else to_numpy(X)
        own = METRICS[metrics[name]](X, to_numpy(present))
        if isinstance(own, PrecomputedDistances):
            check_distances(name, own)
        if not own.present.any():
            raise ValueError(f"view {name!r} is all zeros, which have no direction: leave the view out")
        ready[name] = own
    return ready


def align_precomputed(views: Views, metrics: dict[str, str]) -> Views:
    """The same views, those of distances with a column for each entity, and zeros in the columns of missing ones.

    When entities are chosen, ordered or joined, a view's rows move and its columns do not.
    """
    if "precomputed" not in metrics.values():
        return views
    blocks = dict(views.items())
    for v, name in enumerate(views.names):
        if metrics[name] != "precomputed":
            continue
        if sp.issparse(blocks[name]):
            raise ValueError(
                f"view {name!r}: metric='precomputed' needs all distances, got a sparse matrix: give toarray() of it"
            )
        present, at = views.present[:, v], views.rows[:, v]
        D = to_numpy(blocks[name])
        moved = not np.array_equal(at[present], np.flatnonzero(present))
        if D.shape[1] <= at.max() or (D.shape[1] != len(at) and not moved and D[present, at[present]].any()):
            raise ValueError(
                f"view {name!r}: metric='precomputed' needs a square matrix of distances, {len(at)} x {len(at)}, got "
                f"shape {D.shape}: give one, or metric='cosine' or 'euclidean' for features"
            )
        D = D[:, at] if moved or D.shape[1] != len(at) else D
        blocks[name] = asarray_like(D if present.all() else np.where(present, D, 0), blocks[name])
    return Views(blocks, present=views.present, ids=views.ids)


def check_distances(name: str, view: PrecomputedDistances) -> None:
    """Refuse a matrix that cannot hold distances; missing rows and columns are zeros by now."""
    D, problem = view.D, None
    slack = ROUNDING * np.abs(D).max()
    if D.min() < -slack:
        problem = f"has a negative distance, {D.min():.3g}"
    elif D.diagonal().max() > slack:
        problem = f"puts entity {D.diagonal().argmax()} at a distance from itself"
    else:
        a, b = find_worst_asymmetry(D)
        if abs(D[a, b] - D[b, a]) > slack:
            problem = f"is not symmetric: entities {a} and {b} have two distances"
    if problem:
        raise ValueError(
            f"view {name!r} {problem}: metric='precomputed' needs a symmetric matrix of distances with zeros on its "
            "diagonal. Turn similarities s into distances (such as 1 - s) first, or average the matrix with its "
            "transpose"
        )


def find_worst_asymmetry(D: np.ndarray) -> tuple[int, int]:
    """The pair whose two entries differ most, found a few rows at a time."""
    worst = []
    for start in range(0, len(D), 256):
        rows = slice(start, start + 256)
        apart = np.abs(D[rows] - D[:, rows].T)
        a, b = divmod(int(apart.argmax()), len(D))
        worst.append((apart[a, b], (start + a, b)))
    return max(worst)[1]


def check_distance_memory(distances: list[ViewDistances]) -> None:
    """Refuse what would not fit."""
    free = available_memory()
    if free is not None and count_table_bytes(distances) > free:
        raise MemoryError(memory_message(distances, f"but {free / 2**30:.1f} GiB are free"))


def memory_message(distances: list[ViewDistances], but: str) -> str:
    """The sentence that says so."""
    return (
        f"the distances of {distances[0].shape[0]:,} entities in {len(distances)} views take "
        f"{count_table_bytes(distances) / 2**30:.1f} GiB of memory, {but}: cluster fewer entities (views[rows]), give "
        "float32 data, or use MultiViewKMeans or MultiViewSphericalKMeans, which need no distances of all pairs"
    )
