"""What spectral estimators share: check, compare, embed, cluster, store."""

from __future__ import annotations

import warnings
from abc import ABC, abstractmethod
from collections.abc import Sequence
from copy import copy
from numbers import Real
from typing import Any, ClassVar, Literal, Self

import numpy as np
from sklearn.base import BaseEstimator, ClusterMixin

from ..._docstrings import fill_docstrings
from ..._warnings import find_stack_level
from ...affinities import AFFINITIES, Auto, Operator
from ...affinities.base import compute_degrees
from ...affinities.gaussian import BANDWIDTHS
from ...arrays import (
    Array,
    Seed,
    explain_out_of_memory,
    make_generator,
    namespace,
    normalize_rows,
    to_numpy,
    use_threads,
)
from ...data import Views
from ..common.docs import PARTS
from ..common.input_checks import (
    check_n_clusters,
    check_new_views,
    check_views,
    show_id,
    store_agreement,
    store_input_features,
    warn_about_empty_clusters,
    write_labels,
)
from ..common.membership import ClusterScores, MembershipMixin, floor_unit, score_distances
from ..common.run import announce
from ..common.similarities import find_precomputed_columns, resolve_affinities, restrict_columns
from ..common.starts import STRATEGIES
from ..common.validation import HasMethods, Interval, StrOptions, check_all_parameters, share_constraints
from ..kmeans.points import PointClusters, cluster_points
from .algorithm import EigenEmbedding, Rotation, assign_nearest_mean, first_columns, fit_rotation
from .similarities import Similarities, compute_cross_similarities, compute_similarities

DISCONNECTED = 1e-6  # an eigenvalue this near to 1 belongs to a component that hardly anything connects to the rest
REMEDY = "use affinity='landmarks', fewer entities at a time (views[rows]), or numbers in float32"

AFFINITY = [StrOptions(set(AFFINITIES)), HasMethods(["build_operator"])]
BANDWIDTH = [Interval(Real, 0, None, closed="neither"), StrOptions(set(BANDWIDTHS)), None]

SPECTRAL_PARTS = {
    "affinity": """
affinity : str or affinity, or one per view in a dict or list<default>
    How similar two entities of a view are: 'gaussian', 'nearest-neighbors', 'cosine', 'precomputed' and others of
    `consilience.affinities`, by name or as objects.
""",
    "bandwidth": """
bandwidth : float, 'median' or 'local', or one per view in a dict or list, optional
    Width of the Gaussian kernel of 'gaussian' and 'nystroem'; an error with other affinities. 'median', the default
    there: the median of all distances between entities. 'local': every entity has its own, the distance to its
    seventh neighbor.
""",
    "clustering_parameters": """
views : dict of str to columns, optional
    If `fit` is given one array or frame: the columns of each view, as slices, positions or names.
assign_labels : {'kmeans', 'cluster-qr'}, default='kmeans'
    How the embedding is clustered: by k-means, or by a rotation that gives each cluster an axis, which needs no start.
n_init : int, default=10
    Number of starts of k-means.
init : {'k-means++', 'random'}, labels or centers, default='k-means++'
    Where k-means starts from, in the embedding.
random_state : int, Generator, RandomState or None, default=None
    Seed of k-means, of the search for eigenvectors, and of approximate neighbors or landmarks if there are any.
n_jobs : int, default=None
    Number of threads; None and -1 use all cores. The result does not depend on it.
verbose : bool, default=False
    Show progress.
""",
    "common_attributes": """
view_labels_ : dict of str to ndarray of shape (n_entities,)
    The cluster with the nearest mean in the view's embedding; -1 where the entity lacks the view.
agreement_ : ndarray of shape (n_views, n_views)
    Share of entities that two views put into the same cluster.
cost_ : float
    Sum of the squared distances of the entities from their clusters in the embedding.
affinities_ : dict of str to affinity
    The affinity of each view, with nothing left open.
n_features_in_, feature_names_in_ : int, ndarray
    Number of columns of all views together, and their names if all views came with names.
view_n_features_, view_feature_names_ : dict of str to int, dict of str to ndarray or None
    Number of columns of each view, and their names if the view came with names.
""",
}

share_spectral_docs = fill_docstrings({**PARTS, **SPECTRAL_PARTS})


@share_spectral_docs
class BaseSpectral(MembershipMixin, ClusterMixin, BaseEstimator, ABC):
    """Base of spectral estimators, which differ in how similarities become an embedding."""

    _reference_temperature = 0.4
    _fits_neighbors_to_clusters: ClassVar[bool] = True  # whether small clusters lower the default number of neighbors
    _stays_on_device: ClassVar[bool] = False  # whether embeddings are computed where the data is, or by NumPy

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **share_constraints("n_clusters", "views", "n_init", "random_state", "n_jobs", "verbose"),
        "affinity": [*AFFINITY, dict, list, tuple],
        "bandwidth": [*BANDWIDTH, dict, list, tuple],
        "assign_labels": [StrOptions({"kmeans", "cluster-qr"})],
        "init": [StrOptions(set(STRATEGIES)), "array-like"],
    }

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        affinity: Any = "auto",
        bandwidth: float | Literal["median", "local"] | dict[str, Any] | list[Any] | None = None,
        views: dict[str, Any] | None = None,
        assign_labels: Literal["kmeans", "cluster-qr"] = "kmeans",
        n_init: int = 10,
        init: Any = "k-means++",
        random_state: Seed = None,
        n_jobs: int | None = None,
        verbose: bool = False,
    ) -> None:
        self.n_clusters = n_clusters
        self.affinity = affinity
        self.bandwidth = bandwidth
        self.views = views
        self.assign_labels = assign_labels
        self.n_init = n_init
        self.init = init
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    @abstractmethod
    def _embed(self, names: tuple[str, ...], operators: Sequence[Operator], rng: np.random.Generator) -> Any:
        """Embed the entities.

        The result has `views`, the embedding of each view; `joint`, the arrays that are clustered side by side; and
        ``place(crosses)``, which returns `joint` of new entities from their similarities in each view.
        """

    @check_all_parameters
    def fit(self, X: Any, y: Any = None) -> Self:  # noqa: ARG002
        """Cluster the entities.

        %(fit_parameters)s

        Returns
        -------
        self
            The fitted estimator. After Ctrl-C it is as it was before.
        """
        views = check_views(self, X, reset=True)
        check_n_clusters(self.n_clusters, len(views))
        rng = make_generator(self.random_state)
        affinities = resolve_affinities("affinity", self.affinity, self.bandwidth, views.names)
        columns = find_precomputed_columns(views, affinities, source=X)
        with use_threads(self.n_jobs), explain_out_of_memory(f"spectral clustering of {len(views):,} entities", REMEDY):
            resolved, similarities = compute_similarities(
                restrict_columns(views, columns),
                affinities,
                rng,
                n_clusters=self.n_clusters if self._fits_neighbors_to_clusters else None,
                on_device=self._stays_on_device,
            )
            embedding = self._embed(views.names, similarities.operators, rng)
            E = self._combine(embedding.joint, similarities.present)
            assigner = self._cluster(E)
            labels = assigner.predict(E)
        if self.assign_labels == "cluster-qr":
            remedy = "lower n_clusters, or use assign_labels='kmeans'"
            warn_about_empty_clusters(labels, self.n_clusters, remedy)
        store_input_features(self, X, views)
        self.affinities_ = resolved
        self.labels_ = labels
        self.embeddings_ = {
            name: first_columns(view.U, self.n_clusters)
            for name, view in zip(views.names, embedding.views, strict=True)
        }
        # copies leave out the cached tables of kernels
        self._similarities = Similarities([copy(view) for view in similarities.views], similarities.present)
        self._columns, self._joint_embedding, self._assigner = columns, embedding, assigner
        self._reset_probabilities()
        distances = np.asarray(assigner.measure_distances(E), dtype=np.float64)
        own_distances = distances[np.arange(len(labels)), labels]
        self.cost_ = float(np.sum(own_distances**2))
        self._embedding_unit = floor_unit(float(own_distances.mean()), float(distances.mean()))
        self._store(embedding, similarities.present)
        self._store_outliers(views, E)
        for name, affinity in resolved.items():
            announce(f"view {name!r}: {affinity}", bool(self.verbose))
        stored = [name for name in resolved if affinities[name] == Auto() and resolved[name].out_of_core(len(views))]
        if stored:
            warnings.warn(
                f"view {stored[0]!r} is not in memory: affinity='auto' leaves its {len(views):,} rows where they are "
                f"and uses {resolved[stored[0]]}, an approximation. Give affinity='landmarks' to use it without this "
                "warning, or 'nearest-neighbors' to read all rows into memory",
                UserWarning,
                stacklevel=2,
            )
        self._warn(views.names, similarities.present, embedding)
        return self

    def _combine(self, parts: Sequence[Array], present: np.ndarray) -> Array:  # noqa: ARG002
        """Combine embeddings into the one that is clustered; `present` says which entities have which view."""
        return normalize_and_concatenate(parts)

    def _cluster(self, E: Array) -> PointClusters | Rotation:
        """Cluster an embedding."""
        if self.assign_labels == "cluster-qr":
            return fit_rotation(E, self.n_clusters)
        options = {name: getattr(self, name) for name in ("n_init", "init", "n_jobs", "random_state")}
        return cluster_points(E, self.n_clusters, **options)

    def _store(self, embedding: Any, present: np.ndarray) -> None:  # noqa: ARG002
        """Store how far the views agree, and the attributes of a method."""
        view_labels = {
            name: np.where(has_view, assign_nearest_mean(normalize_rows(U), self.labels_, self.n_clusters), -1)
            for (name, U), has_view in zip(self.embeddings_.items(), present.T, strict=True)
        }
        store_agreement(self, view_labels)

    def _store_outliers(self, views: Views, E: Array) -> None:
        """Label outliers, in estimators that do; `E` is the embedding of the entities."""

    @abstractmethod
    def _warn(self, names: Sequence[str], present: np.ndarray, embedding: Any) -> None:
        """Warn about problems of the embedding."""

    def predict(self, X: Any, *, out: Any = None) -> np.ndarray:
        """Assign entities, seen before or not, to the clusters.

        A new entity is placed by the Nyström extension: its similarities to the entities of the fit give its place in
        the embedding. None of the papers has it; it puts entities of the fit where they were, except for ties among
        nearest neighbors.

        %(predict_parameters)s
        %(out)s

        %(returns_out)s
        """
        E, _ = self._place(check_new_views(self, X))
        return write_labels(self._assigner.predict(E), out)

    def score(self, X: Any, y: Any = None) -> float:  # noqa: ARG002
        """Return minus the cost of entities: higher is better.

        %(score_parameters)s

        Returns
        -------
        float
            Minus the sum of their squared distances from their clusters in the embedding.
        """
        E, _ = self._place(check_new_views(self, X))
        distances = np.asarray(self._assigner.measure_distances(E), dtype=np.float64)
        return -float(np.sum(distances[np.arange(len(distances)), self._assigner.predict(E)] ** 2))

    def _place(self, views: Views) -> tuple[Array, np.ndarray]:
        """Return the embedding of new entities, and a mask of those with a view."""
        views = restrict_columns(views, self._columns)
        with use_threads(self.n_jobs), explain_out_of_memory(f"placing {len(views):,} entities", REMEDY):
            crosses, present = compute_cross_similarities(views, self.affinities_, self._similarities.views)
            filled = self._similarities.fill(crosses, present)
            E = self._combine(self._joint_embedding.place(filled), present)
            similar = np.any([to_numpy(compute_degrees(cross) > 0) for cross in filled], axis=0)
        has_view = np.any(present, axis=1)
        similar &= to_numpy(namespace(E).any(E != 0, axis=1))
        isolated = np.flatnonzero(has_view & ~similar)
        if len(isolated):
            warnings.warn(
                f"entity {show_id(views, isolated[0])} is similar to none of the fit ({len(isolated)} such), and gets "
                "the cluster nearest to the origin of the embedding: use affinity='nearest-neighbors', or a larger "
                "bandwidth",
                UserWarning,
                stacklevel=find_stack_level(),
            )
        return E, has_view

    def _score_clusters(self, views: Views) -> ClusterScores:
        """Score clusters by minus the squared distance in the embedding, in units of the mean distance of the fit."""
        E, has_view = self._place(views)
        distances, labels = self._assigner.measure_distances(E), self._assigner.predict(E)
        return ClusterScores(score_distances(distances / self._embedding_unit), labels, has_view)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags


def normalize_and_concatenate(parts: Sequence[Array]) -> Array:
    """Scale the rows of embeddings to unit length and put them side by side."""
    return namespace(parts[0]).concat([normalize_rows(U) for U in parts], axis=1)


def warn_embedding_problems(name: str, embedding: EigenEmbedding, present: np.ndarray, n_clusters: int) -> None:
    """Warn about an embedding of the entities that are `present` in it if its clusters are unreliable."""
    eigenvalues = to_numpy(embedding.values)
    rank = int(np.count_nonzero(eigenvalues[:n_clusters]))
    isolated = np.flatnonzero(present & to_numpy(embedding.isolated))
    values = np.append(eigenvalues, embedding.next_eigenvalue)
    problems = []
    if len(isolated):
        problems.append(
            f"has entity {isolated[0]} similar to no other ({len(isolated)} such), which has no place in the "
            "embedding: use affinity='nearest-neighbors', or drop such rows with views[keep]"
        )
    if len(values) > n_clusters > 1 and values[n_clusters] > 1 - DISCONNECTED:
        problems.append(
            f"has a similarity graph of more connected components than n_clusters={n_clusters}, so the clustering is "
            "arbitrary: increase n_neighbors or bandwidth, or use affinity='gaussian'"
        )
    if rank < n_clusters:
        problems.append(
            f"has {rank} dimensions, fewer than n_clusters={n_clusters}, so it cannot distinguish more clusters: lower "
            "n_clusters, or use affinity='gaussian'"
        )
    if not embedding.converged:
        problems.append(
            "has eigenvectors that did not converge, because many eigenvalues are nearly equal: increase n_neighbors "
            "or bandwidth, or lower n_clusters"
        )
    for problem in problems:
        warnings.warn(f"{name} {problem}", UserWarning, stacklevel=4)


def select_embedding_views(embedding: str, names: Sequence[str], options: Sequence[str] = ("concat",)) -> list[int]:
    """Return the indices of the views whose embeddings are clustered: that of a name, or all for one of the options."""
    if embedding not in options and embedding not in names:
        choices = ", ".join(map(repr, options))
        raise ValueError(
            f"embedding={embedding!r} is not a view: give {choices} or one of {', '.join(map(repr, names))}"
        )
    if embedding in options and embedding in names and embedding != "concat":
        raise ValueError(f"embedding={embedding!r} could mean all views or the view {embedding!r}: rename the view")
    return list(range(len(names))) if embedding in options else [names.index(embedding)]
