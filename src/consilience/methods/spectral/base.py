"""The shell of all spectral estimators: check, compare, embed, cluster, store."""

from __future__ import annotations

import warnings
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from copy import copy
from numbers import Integral, Real
from typing import Any, ClassVar, Protocol

import numpy as np
from sklearn.base import BaseEstimator, ClusterMixin

from ..._saving import save_as
from ...affinities import AFFINITIES, CrossOperator, Operator, compute_degrees
from ...arrays import Array, explain_out_of_memory, make_generator, namespace, to_numpy, use_threads
from ...data import Views
from ..common.input_checks import (
    check_n_clusters,
    check_new_views,
    check_views,
    store_agreement,
    store_input_features,
    warn_about_empty_clusters,
)
from ..common.membership import ClusterScores, MembershipMixin, floor_unit, score_distances
from ..common.progress import announce
from ..common.similarities import (
    compute_cross_similarities,
    compute_similarities,
    find_precomputed_columns,
    resolve_affinities,
    restrict_columns,
    warn_approximation,
    warn_isolated_entities,
)
from ..common.starts import STRATEGIES
from ..common.validation import RANDOM_STATE, HasMethods, Interval, StrOptions, check_all_parameters
from ..kmeans.estimator import MultiViewKMeans
from .algorithm import Embedding, first_columns, normalize_embedding
from .ending import assign_nearest_mean, fit_rotation
from .missing import Similarities

DISCONNECTED = (
    1e-6  # an eigenvalue this near to 1 belongs to a part of the graph that hardly anything connects to the rest
)

REMEDY = "use affinity='landmarks', fewer entities at a time (views[rows]), or numbers in float32"


class JointEmbedding(Protocol):
    """Where a method puts the entities."""

    @property
    def views(self) -> Sequence[Embedding]:
        """Each view's own embedding."""

    @property
    def joint(self) -> Sequence[Array]:
        """What is clustered, side by side, each part (n, columns)."""

    def place(self, crosses: Sequence[CrossOperator]) -> Sequence[Array]:
        """The same of other entities, from their similarities in each view."""


class BaseSpectral(MembershipMixin, ClusterMixin, BaseEstimator, ABC):
    """Everything but how similarities become an embedding."""

    _reference_temperature = 0.4
    _stays_on_device: ClassVar[bool] = False  # whether embeddings are made where the data is, or by numpy

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "n_clusters": [Interval(Integral, 1, None, closed="left")],
        "affinity": [StrOptions(set(AFFINITIES)), HasMethods(["build_operator"]), dict, list, tuple],
        "bandwidth": [Interval(Real, 0, None, closed="neither"), str, dict, list, tuple],
        "views": [dict, None],
        "assign_labels": [StrOptions({"kmeans", "cluster_qr"})],
        "n_init": [Interval(Integral, 1, None, closed="left")],
        "init": [StrOptions(set(STRATEGIES)), "array-like"],
        "random_state": RANDOM_STATE,
        "n_jobs": [Integral, None],
        "verbose": ["verbose"],
    }

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        affinity: Any = "auto",
        bandwidth: Any = "median",
        views: dict[str, Any] | None = None,
        assign_labels: str = "kmeans",
        n_init: int = 10,
        init: Any = "k-means++",
        random_state: Any = None,
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
    def _map(self, names: tuple[str, ...], operators: Sequence[Operator], rng: np.random.Generator) -> JointEmbedding:
        """Embed the entities."""

    @check_all_parameters
    def fit(self, X: Any, y: Any = None) -> Any:  # noqa: ARG002
        """Cluster the entities.

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
        rng = make_generator(self.random_state)
        asked = resolve_affinities("affinity", self.affinity, self.bandwidth, views.names)
        columns = find_precomputed_columns(views, asked, chosen=isinstance(X, Views))
        with (
            use_threads(self.n_jobs),
            explain_out_of_memory(f"what spectral clustering makes of {len(views):,} entities", REMEDY),
        ):
            affinities, similarities = compute_similarities(
                restrict_columns(views, columns), asked, rng, stay=self._stays_on_device
            )
            found = self._map(views.names, similarities.operators, rng)
            E = concatenate_embeddings(found.joint)
            ending = ASSIGNERS[self.assign_labels](E, self)
            labels = ending.predict(E)
        store_input_features(self, X, views)
        self.affinities_ = affinities
        self.labels_ = labels
        self.embeddings_ = {
            name: first_columns(view.U, self.n_clusters) for name, view in zip(views.names, found.views, strict=True)
        }
        self._similarities = Similarities([copy(own) for own in similarities.own], similarities.present)
        self._columns, self._found, self._ending = columns, found, ending
        self._reset_probabilities()
        self._embedding_unit = measure_embedding_unit(ending.measure_distances(E), labels)
        self._store(found, similarities.present)
        self._store_outliers(views, E)
        for name, own in affinities.items():
            announce(f"view {name!r}: {own}", bool(self.verbose))
        warn_approximation(asked, affinities, similarities)
        self._warn(views.names, similarities.present, found)
        return self

    def _store(self, found: Any, present: np.ndarray) -> None:  # noqa: ARG002
        """Set the attributes that say how far the views agree, and what a method has of its own."""
        own = {
            name: np.where(there, assign_nearest_mean(normalize_embedding(U), self.labels_, self.n_clusters), -1)
            for (name, U), there in zip(self.embeddings_.items(), present.T, strict=True)
        }
        store_agreement(self, own)

    def _store_outliers(self, views: Views, E: Array) -> None:
        """Label outliers, in estimators that have any; `E` is the embedding of the entities."""

    @abstractmethod
    def _warn(self, names: Sequence[str], present: np.ndarray, found: Any) -> None:
        """Say what makes the embeddings less than they should be."""

    def predict(self, X: Any) -> np.ndarray:
        """Give entities, seen before or not, to the clusters.

        A new entity is placed by the Nyström extension: its similarities to the entities of the fit say where in the
        embedding it belongs. None of the papers has it; it puts entities of the fit where they were, but for ties
        among nearest neighbours.

        Parameters
        ----------
        X : Views, mapping or sequence of blocks, or array-like
            Entities with any of the fitted views.

        Returns
        -------
        ndarray of shape (n_entities,)
            The cluster of each entity.
        """
        views = check_new_views(self, X)
        with use_threads(self.n_jobs), explain_out_of_memory(f"to place {len(views):,} entities", REMEDY):
            return self._ending.predict(self._place(views)[0])

    def _place(self, views: Views) -> tuple[Array, np.ndarray]:
        """Return where the embedding has entities, and which have a view."""
        views = restrict_columns(views, self._columns)
        own, present = compute_cross_similarities(views, self.affinities_, self._similarities.own)
        crosses = self._similarities.compare_with(own, present)
        E = concatenate_embeddings(self._found.place(crosses))
        has_view = np.any(present, axis=1)
        alike = np.any([to_numpy(compute_degrees(cross) > 0) for cross in crosses], axis=0)
        alike &= to_numpy(namespace(E).any(E != 0, axis=1))
        warn_isolated_entities(views, has_view & ~alike)
        return E, has_view

    def _score_clusters(self, views: Views) -> ClusterScores:
        """Score clusters by minus the squared distance in the embedding, in units of that from its cluster."""
        with use_threads(self.n_jobs), explain_out_of_memory(f"to place {len(views):,} entities", REMEDY):
            E, has_view = self._place(views)
            distances, labels = self._ending.measure_distances(E), self._ending.predict(E)
            unit = self._embedding_unit if hasattr(self, "_embedding_unit") else self._measure_unit()
        return ClusterScores(score_distances(distances / unit), labels, has_view)

    def _measure_unit(self) -> float:
        """Return the usual distance from its cluster in the embedding, for a model that was saved without it."""
        E = concatenate_embeddings(self._found.joint)
        return measure_embedding_unit(self._ending.measure_distances(E), self._ending.predict(E))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags


class Spectrum(Protocol):
    """What is known of an embedding by eigenvectors."""

    @property
    def values(self) -> Array:
        """The eigenvalues."""

    @property
    def isolated(self) -> Array:
        """Who is like nobody, and has no place."""

    @property
    def next_eigenvalue(self) -> float:
        """The eigenvalue after these."""

    @property
    def settled(self) -> bool:
        """Whether they are as exact as they can be."""


class LabelAssigner(Protocol):
    """How an embedding falls into clusters."""

    def predict(self, E: Array) -> np.ndarray:
        """The cluster of each row."""

    def measure_distances(self, E: Array) -> np.ndarray:
        """Return the distance of each row to each cluster, (n, k)."""


@save_as("nearest-center")
class KMeansAssigner:
    """Clusters by the nearest centre."""

    def __init__(self, kmeans: MultiViewKMeans, E: Array) -> None:
        self.kmeans = kmeans.fit({"embedding": E})

    def predict(self, E: Array) -> np.ndarray:
        return self.kmeans.predict({"embedding": E})

    def measure_distances(self, E: Array) -> np.ndarray:
        """Return the distance of each row to each centre, (n, k)."""
        return self.kmeans.transform({"embedding": E})


def fit_kmeans_assigner(E: Array, estimator: BaseSpectral) -> LabelAssigner:
    """Centres in the embedding."""
    options = {"n_init": estimator.n_init, "init": estimator.init, "n_jobs": estimator.n_jobs}
    return KMeansAssigner(MultiViewKMeans(estimator.n_clusters, random_state=estimator.random_state, **options), E)


def fit_rotation_assigner(E: Array, estimator: BaseSpectral) -> LabelAssigner:
    """An axis of the embedding for each cluster."""
    ending = fit_rotation(E, estimator.n_clusters)
    warn_about_empty_clusters(
        ending.predict(E), estimator.n_clusters, "lower n_clusters, or use assign_labels='kmeans'"
    )
    return ending


ASSIGNERS: dict[str, Callable[[Array, BaseSpectral], LabelAssigner]] = {
    "kmeans": fit_kmeans_assigner,
    "cluster_qr": fit_rotation_assigner,
}


def measure_embedding_unit(distances: np.ndarray, labels: np.ndarray) -> float:
    """Return the usual distance from its cluster."""
    distances = np.asarray(distances, dtype=np.float64)
    return floor_unit(float(distances[np.arange(len(labels)), labels].mean()), float(distances.mean()))


def concatenate_embeddings(parts: Sequence[Array]) -> Array:
    """Embeddings with rows of unit length, in one matrix."""
    return namespace(parts[0]).concat([normalize_embedding(U) for U in parts], axis=1)


def warn_embedding_problems(what: str, found: Spectrum, present: np.ndarray, n_clusters: int) -> None:
    """Say what makes an embedding less than it should be, of the entities that are `present` in it."""
    known = to_numpy(found.values)
    rank = int(np.count_nonzero(known[:n_clusters]))
    lonely = np.flatnonzero(present & to_numpy(found.isolated))
    values = np.append(known, found.next_eigenvalue)
    problems = []
    if len(lonely):
        problems.append(
            f"finds entity {lonely[0]} like no other ({len(lonely)} such), which has no place in it: use "
            "affinity='nearest-neighbors', or drop such rows with views[keep]"
        )
    if len(values) > n_clusters > 1 and values[n_clusters] > 1 - DISCONNECTED:
        problems.append(
            f"falls into more parts that nothing connects than the {n_clusters} clusters, and which of them count is "
            "arbitrary: raise n_neighbors or bandwidth, or use affinity='gaussian'"
        )
    if rank < n_clusters:
        problems.append(
            f"has {rank} dimensions, fewer than the {n_clusters} clusters, and can tell no more than so many apart: "
            "lower n_clusters, or use affinity='gaussian'"
        )
    if not found.settled:
        problems.append(
            "has eigenvectors that did not settle, for many have nearly the same eigenvalue: raise n_neighbors or "
            "bandwidth, or lower n_clusters"
        )
    for problem in problems:
        warnings.warn(f"{what} {problem}", UserWarning, stacklevel=4)


def select_embedding_views(embedding: str, names: Sequence[str]) -> list[int]:
    """The views whose embeddings are clustered."""
    if embedding == "concat":
        return list(range(len(names)))
    if embedding not in names:
        raise ValueError(f"embedding={embedding!r} is no view: give 'concat' or one of {', '.join(map(repr, names))}")
    return [names.index(embedding)]
