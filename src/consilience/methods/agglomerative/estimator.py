"""Agglomerative clustering over several views."""

from __future__ import annotations

from typing import Any, ClassVar, Literal, Self

import numpy as np
import scipy.sparse as sp
from sklearn.base import BaseEstimator, ClusterMixin
from sklearn.utils.validation import check_is_fitted

from ..._numbers import is_integer
from ..._saving import save_as
from ...arrays import asarray_like, available_memory, is_sparse, to_numpy, use_threads
from ...data import Table, Views
from ...data.inputs import resolve_per_view
from ..common.docs import share_docs
from ..common.input_checks import (
    check_n_clusters,
    check_views,
    store_agreement,
    store_input_features,
    validate_blocks,
    warn_about_zero_rows,
)
from ..common.run import progress
from ..common.validation import StrOptions, check_parameters, share_constraints
from . import algorithm
from .algorithm import (
    LINKAGES,
    METRICS,
    Dendrogram,
    ViewDistances,
    count_table_bytes,
    cut_dendrogram,
    find_nearest_clusters,
    iterate_merges,
)

ROUNDING = 1e-5  # errors in precomputed distances, relative to the largest, that are tolerated


@share_docs
@save_as("agglomerative")
class MultiViewAgglomerative(ClusterMixin, BaseEstimator):
    """Agglomerative clustering over any number of views that take turns to merge (Bickel & Scheffer 2004, Table 2).

    Every entity starts as a cluster. The views take turns: each merges the two clusters that are closest by its linkage
    distance, and all build one dendrogram.

    **Cluster the concatenated views before you choose this.** The paper's finding is negative, and so is ours: two
    clusters that overlap in one view are merged there, although another view would have distinguished them. Average
    entropy of the true classes, compared with the same linkage on the concatenated views: on the digits that ship
    (cosine, standardized columns) 1.13 against 0.98 bits with average linkage, 1.41 against 0.95 with complete; on
    `datasets.make_text_views` 0.72 against 0.36 and 1.21 against 0.57, worse for each of ten seeds. Euclidean distances
    between the digits were an exception (1.54 against 1.84, 1.72 against 1.82).

    Parameters
    ----------
    %(n_clusters)s
        `cut` gives the labels for any other number from the same fit.
    linkage : {'single', 'complete', 'average'}, default='average'
        The distance between two clusters: the smallest, the largest or the mean distance between their members.
    metric : {'cosine', 'euclidean', 'precomputed'}, or one per view in a dict or list, default='cosine'
        The distance between two entities. Cosine: a row of zeros has no direction, so its entity lacks the view.
        Precomputed: the view is a square matrix of distances; those of a missing entity are ignored.
    %(views)s
    %(n_jobs)s
    %(verbose)s

    Attributes
    ----------
    labels_ : ndarray of shape (n_entities,)
        The cluster of each entity, numbered in the order of their first entities.
    children_ : ndarray of shape (n_entities - 1, 2)
        The two nodes of each merge, the lower first. Entities are the nodes 0 to n_entities - 1, merge t makes node
        n_entities + t, as in scikit-learn and scipy.
    merge_views_ : ndarray of str, shape (n_entities - 1,)
        Name of the view that decided each merge; empty if no view could compare the remaining clusters.
    distances_ : ndarray of shape (n_entities - 1,)
        Distance of the two nodes in that view; NaN if there is none. Distances of different views are not comparable,
        so these need not rise.
    merges_ : Table
        The merges in order: first, second, distance, view, size.
    n_leaves_ : int
        Number of entities.
    view_labels_ : dict of str to ndarray of shape (n_entities,)
        The cluster whose other members are nearest to the entity on average in each view; -1 where it lacks the view.
    %(agreement_)s
    %(n_features_in_)s

    Notes
    -----
    Merge t belongs to view t modulo the number of views. The distance of two clusters in a view is that of their
    members that have the view. A view in which no two clusters can be compared cedes its turn to the next; clusters
    that no view can compare are merged last, those of the lowest nodes first. Ties go to the clusters whose first
    entities come first. With one view this is ordinary agglomerative clustering, the same as scipy's.

    The distances of all pairs are in memory, half of a square table per view (0.37 GiB for 10,000 entities in float64;
    half of that for float32 data), and time grows with the square of the number of entities. There is no `predict`: a
    dendrogram only has the entities it was built from.

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
        **share_constraints("n_clusters", "views", "n_jobs", "verbose"),
        "linkage": [StrOptions(set(LINKAGES))],
        "metric": [StrOptions(set(METRICS)), dict, list, tuple],
    }

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        linkage: Literal["single", "complete", "average"] = "average",
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
    def fit(self, X: Any, y: Any = None) -> Self:  # noqa: ARG002
        """Build the dendrogram.

        %(fit_parameters)s

        Returns
        -------
        self
            The fitted estimator. Ctrl-C leaves it unchanged.
        """
        views = check_views(self, X, reset=True)
        check_n_clusters(self.n_clusters, len(views))
        distances = prepare_distances(views, resolve_per_view("metric", self.metric, views.names))
        consequence = "has no direction, is merged last, and may make up a cluster by itself"
        warn_about_zero_rows(views, {name: view.present for name, view in distances.items()}, consequence)
        with use_threads(self.n_jobs):
            tree = self._build_dendrogram(list(distances.values()))
            labels = cut_dendrogram(tree.children, self.n_clusters)
            view_labels = {name: find_nearest_clusters(view, labels) for name, view in distances.items()}
        store_input_features(self, X, views)
        self.labels_, self.n_leaves_ = labels, len(views)
        self.children_, self.distances_ = tree.children, tree.distances
        self.merge_views_ = np.array([*views.names, ""])[tree.deciders]  # a decider of -1 is no view
        self.merges_ = Table(
            first=tree.children[:, 0],
            second=tree.children[:, 1],
            distance=tree.distances,
            view=self.merge_views_,
            size=tree.sizes,
        )
        store_agreement(self, view_labels)
        return self

    def _build_dendrogram(self, distances: list[ViewDistances]) -> Dendrogram:
        """Build the complete dendrogram; refuse if memory does not suffice."""
        needed, free = count_table_bytes(distances), available_memory()
        n = distances[0].matrix.shape[0]

        def explain(limit: str) -> str:
            return (
                f"the distances of {n:,} entities in {len(distances)} views take {needed / 2**30:.1f} GiB of memory, "
                f"{limit}: cluster fewer entities (views[rows]), give float32 data, or use MultiViewKMeans or "
                "MultiViewSphericalKMeans, which need no distances of all pairs"
            )

        if free is not None and needed > free:
            raise MemoryError(explain(f"but {free / 2**30:.1f} GiB are free"))
        try:
            n_rounds = n // algorithm.tuning.merges_per_state + 2
            with progress(type(self).__name__, 1, bool(self.verbose), n_rounds) as show:
                for i, tree in enumerate(iterate_merges(distances, self.linkage), 1):
                    show(0, i, {"merges": len(tree.children), "of": n - 1})
        except MemoryError as error:
            raise MemoryError(explain("more than the system gives")) from error
        return tree

    def cut(self, n_clusters: int) -> np.ndarray:
        """Return the labels for any number of clusters, as of the merge that leaves so many.

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
        if not is_integer(n_clusters, 1, self.n_leaves_):
            raise ValueError(
                f"n_clusters={n_clusters!r} must be a whole number from 1 to {self.n_leaves_}, the number of entities"
            )
        return cut_dendrogram(self.children_, int(n_clusters))

    def linkage_matrix(self) -> np.ndarray:
        """Return the dendrogram in scipy's form, for ``scipy.cluster.hierarchy.dendrogram`` and ``fcluster``.

        The height of a merge is its position in the order (1, 2, ...), not its distance: distances of different views
        are not comparable, and lines of the drawing would cross.

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
    """Prepare each view's distances: checked, but not computed yet."""
    for name, metric in metrics.items():
        if not isinstance(metric, str) or metric not in METRICS:
            raise ValueError(f"view {name!r}: no metric {metric!r}; choose from {', '.join(map(repr, METRICS))}")
    distances = {}
    for name, (block, has_view) in validate_blocks(align_precomputed(views, metrics)).items():
        X = block if is_sparse(block) else to_numpy(block)
        if metrics[name] == "precomputed":
            check_distances(name, X)
        distances[name] = METRICS[metrics[name]](X, to_numpy(has_view))
        if not distances[name].present.any():
            raise ValueError(f"view {name!r} is all zeros, which have no direction: leave the view out")
    return distances


def align_precomputed(views: Views, metrics: dict[str, str]) -> Views:
    """Give views of distances one column per entity, with zeros in the columns of missing ones.

    When entities are selected, ordered or joined, a view's rows move and its columns do not.
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
        present, rows = views.present[:, v], views.rows[:, v]
        D = to_numpy(blocks[name])
        moved = not np.array_equal(rows[present], np.flatnonzero(present))
        if D.shape[1] <= rows.max() or (D.shape[1] != len(rows) and not moved and D[present, rows[present]].any()):
            raise ValueError(
                f"view {name!r}: metric='precomputed' needs a square matrix of distances, {len(rows)} x {len(rows)}, "
                f"got shape {D.shape}: give one, or metric='cosine' or 'euclidean' for features"
            )
        D = D[:, rows] if moved or D.shape[1] != len(rows) else D
        blocks[name] = asarray_like(D if present.all() else np.where(present, D, 0), blocks[name])
    return Views(blocks, present=views.present, ids=views.ids)


def check_distances(name: str, D: Any) -> None:
    """Refuse a matrix that is not one of distances; missing rows and columns are zeros by now."""
    problem = None
    slack = ROUNDING * np.abs(D).max()
    if D.min() < -slack:
        problem = f"has a negative distance, {D.min():.3g}"
    elif D.diagonal().max() > slack:
        problem = f"puts entity {D.diagonal().argmax()} at a distance from itself"
    else:
        for start in range(0, len(D), 256):
            rows = slice(start, start + 256)
            differences = np.abs(D[rows] - D[:, rows].T)
            a, b = divmod(int(differences.argmax()), len(D))
            if differences[a, b] > slack:
                problem = f"is not symmetric: entities {start + a} and {b} have two distances"
                break
    if problem:
        raise ValueError(
            f"view {name!r} {problem}: metric='precomputed' needs a symmetric matrix of distances with zeros on its "
            "diagonal. Turn similarities s into distances (such as 1 - s) first, or average the matrix with its "
            "transpose"
        )
