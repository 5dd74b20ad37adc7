"""Clustering of what the views have in common, by canonical correlation analysis.

A view, or its kernel, is first reduced to its principal components: scores F_v with orthogonal columns. What the
views' scores have in common are the leading eigenvectors of the matrix of blocks ``B_v^-1/2 F_v' F_w B_w^-1/2``, with
zeros on the diagonal; ``B_v`` holds the view's variances with the ridge added. For two views the eigenvalues are the
canonical correlations; for more it is the generalization that maximizes the sum of all correlations.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from copy import copy
from dataclasses import dataclass
from typing import Any, ClassVar, Literal, Self

import numpy as np
import scipy.linalg
import scipy.sparse as sp
from sklearn.base import BaseEstimator, ClusterMixin

from .._docstrings import fill_docstrings
from .._saving import save_as
from .._tuning import Tuning
from ..affinities import AFFINITIES, Affinity, CrossOperator, ViewOperator
from ..arrays import Seed, make_generator, use_threads
from ..data import Views
from ..methods import MultiViewKMeans
from ..methods.common.docs import PARTS
from ..methods.common.input_checks import (
    check_n_clusters,
    check_new_views,
    check_views,
    store_agreement,
    store_input_features,
)
from ..methods.common.similarities import find_precomputed_columns, resolve_affinities, restrict_columns
from ..methods.common.validation import (
    NON_NEGATIVE,
    POSITIVE_INTEGER,
    HasMethods,
    StrOptions,
    check_all_parameters,
    share_constraints,
)
from ..methods.spectral.base import AFFINITY, BANDWIDTH, SPECTRAL_PARTS, BaseSpectral
from ..methods.spectral.eigen import N_GUARD_VECTORS, top_eigenvectors
from ..methods.spectral.similarities import compute_cross_similarities, compute_similarities
from .combined_kernels import KernelAddition
from .wrappers import Matrix, load_blocks

tuning = Tuning(all_columns=1000)  # all components of a view with up to this many columns are used
DEFAULT_RANK = 100  # number of components of wider views, and of kernels
NULL_VARIANCE = 1e-10  # a variance below this share of the largest is a rounding error
FEATURES = "canonical features"  # name of the view that is clustered
CLUSTERING = ("n_init", "init", "random_state", "n_jobs", "verbose")  # parameters of the estimator of the features

Scores = Mapping[str, tuple[np.ndarray, np.ndarray]]  # of the entities that have the view, and a mask of these


CCA_PARTS = {
    "cca_parameters": """
kind : {'linear', 'kernel'}, default='linear'
    Directions of the views' columns, or of their kernels.
n_components : int, optional
    Number of directions; if not given, `n_clusters`.
regularization : float, default=0.1
    What is added to the variance of every dimension of a view, as a share of their mean: units do not matter.
    With 0 it is classical canonical correlation analysis, which finds perfect correlations if there are as many
    columns as entities.
kernel : str or affinity, or one per view in a dict or list, default='gaussian'
    With ``kind='kernel'``: the kernel, any affinity of `consilience.affinities` by name or as an object, such as
    ``Gaussian(2.0)`` or ``Polynomial()``.
rank : int, optional
    Number of principal components of each view, or of its kernel, that are used. If not given, all of a view with
    up to 1,000 columns; 100 of one with more, and of kernels.
""",
    "correlations_": """
correlations_ : ndarray of shape (n_components,)
    For two views the (regularized) canonical correlations; for more, those of a view with the others on average.
    NaN with one view.
""",
}

share_cca_docs = fill_docstrings({**PARTS, **SPECTRAL_PARTS, **CCA_PARTS})


@share_cca_docs
class BaseCCA(ClusterMixin, BaseEstimator, ABC):
    """Base of estimators that cluster canonical correlation features, which differ in how these are clustered."""

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **share_constraints("n_clusters", "views", "n_init", "random_state", "n_jobs", "verbose"),
        "kind": [StrOptions({"linear", "kernel"})],
        "n_components": [POSITIVE_INTEGER, None],
        "regularization": [NON_NEGATIVE],
        "kernel": [*AFFINITY, dict, list, tuple],
        "rank": [POSITIVE_INTEGER, None],
        "init": BaseSpectral._parameter_constraints["init"],
    }

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        kind: Literal["linear", "kernel"] = "linear",
        n_components: int | None = None,
        regularization: float = 0.1,
        kernel: Any = "gaussian",
        rank: int | None = None,
        views: dict[str, Any] | None = None,
        n_init: int = 10,
        init: Any = "k-means++",
        random_state: Seed = None,
        n_jobs: int | None = None,
        verbose: bool = False,
    ) -> None:
        self.n_clusters = n_clusters
        self.kind = kind
        self.n_components = n_components
        self.regularization = regularization
        self.kernel = kernel
        self.rank = rank
        self.views = views
        self.n_init = n_init
        self.init = init
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    @abstractmethod
    def _fit_clustering(self, features: dict[str, np.ndarray]) -> Any:
        """Return an estimator that is fitted to the features."""

    def _choose_views(self, names: Sequence[str], present: np.ndarray) -> np.ndarray:  # noqa: ARG002
        """Return a mask (entities, views) of the views whose positions are averaged for each entity."""
        return present

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
        if len(views) == 1:
            raise ValueError("one entity (n_samples=1) cannot be compared with another: give at least two")
        rng = make_generator(self.random_state)
        analysis: LinearAnalysis | KernelAnalysis
        with use_threads(self.n_jobs):
            if self.kind == "linear":
                analysis, view_scores = LinearAnalysis.fit(views, self.rank, rng)
            else:
                analysis, view_scores = KernelAnalysis.fit(views, self.kernel, self.rank, rng, source=X)
            scores, present = scatter_scores(view_scores, len(views))
            for v, w in np.argwhere(present.T.astype(int) @ present == 0):
                raise ValueError(
                    f"no entity has both view {views.names[v]!r} and view {views.names[w]!r}, so that nothing can be "
                    "correlated: leave one of them out, or use CoTrainedSpectral"
                )
            canonical = fit_canonical(scores, present, self.n_components or self.n_clusters, self.regularization)
            features = canonical.compute_features(scores, self._choose_views(views.names, present))
            clustering = self._fit_clustering({FEATURES: features})
        store_input_features(self, X, views)
        self.labels_, self.cost_ = clustering.labels_, clustering.cost_
        self.correlations_, self.features_ = canonical.correlations, features
        self._analysis, self._canonical, self._clustering = analysis, canonical, clustering
        view_labels = {}
        for v, (name, has_view) in enumerate(zip(views.names, present.T, strict=True)):
            alone = present & (np.arange(len(views.names)) == v)
            labels = clustering.predict({FEATURES: canonical.compute_features(scores, alone)})
            view_labels[name] = np.where(has_view, labels, -1)
        store_agreement(self, view_labels)
        return self

    def predict(self, X: Any, *, out: Any = None) -> np.ndarray:
        """Assign entities, seen before or not, to the clusters.

        The views of a new entity give its positions along the directions of the fit.

        %(predict_parameters)s
        %(out)s

        %(returns_out)s
        """
        with use_threads(self.n_jobs):
            features = self._compute_features(X)
            return self._clustering.predict(features, out=out)

    def score(self, X: Any, y: Any = None) -> float:  # noqa: ARG002
        """Return minus the cost of entities: higher is better.

        %(score_parameters)s

        Returns
        -------
        float
            Minus the sum of their squared distances from their clusters, as in `cost_`.
        """
        with use_threads(self.n_jobs):
            features = self._compute_features(X)
            return self._clustering.score(features)

    def _compute_features(self, X: Any) -> dict[str, np.ndarray]:
        views = check_new_views(self, X)
        scores, present = scatter_scores(self._analysis.compute_scores(views), len(views))
        chosen = self._choose_views(list(self._analysis.components), present)
        return {FEATURES: self._canonical.compute_features(scores, chosen)}

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags


@save_as("cca-spectral")
@share_cca_docs
class CCASpectral(BaseCCA):
    """Spectral clustering of canonical correlation features (Blaschko & Lampert 2008).

    Two views that are independent given the cluster only have the cluster in common. Canonical correlation analysis
    finds the directions of the views that are most correlated; the entities are clustered by their positions along
    these, averaged over their views.

    Parameters
    ----------
    %(n_clusters)s
    %(cca_parameters)s
    affinity : str or affinity, default='gaussian'
        How similar two entities are by their features.
    bandwidth : float, 'median' or 'local', optional
        Width of the Gaussian kernel of the features, by default 'median'; an error with other affinities.
    %(clustering_parameters)s

    Attributes
    ----------
    %(labels_)s
    %(correlations_)s
    features_ : ndarray of shape (n_entities, n_components)
        What is clustered: the entities' positions along each direction, averaged over the views that they have.
    %(view_labels_)s
    %(agreement_)s
    cost_ : float
        Sum of the squared distances of the entities from their clusters in the embedding.
    %(n_features_in_)s

    Notes
    -----
    With more than two views the directions maximize the sum of the correlations of all pairs of views: the leading
    eigenvectors of the views' covariances with each other, relative to their own. Covariances of two views are those
    of the entities that have both. With one view, the features are its principal components. New entities are placed
    among those of the fit by the Nyström extension.

    References
    ----------
    M. B. Blaschko, C. H. Lampert: Correlational spectral clustering. CVPR 2008.

    Examples
    --------
    >>> import consilience as cs
    >>> views, y = cs.datasets.make_gaussian_views(150, n_clusters=3, separation=8, random_state=0)
    >>> model = cs.baselines.CCASpectral(3, random_state=0).fit(views)
    >>> bool(cs.metrics.adjusted_rand_score(y, model.labels_) > 0.9), bool(model.correlations_[0] > 0.8)
    (True, True)
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **BaseCCA._parameter_constraints,
        "assign_labels": BaseSpectral._parameter_constraints["assign_labels"],
        "affinity": [StrOptions(set(AFFINITIES) - {"precomputed"}), HasMethods(["build_operator"])],
        "bandwidth": BANDWIDTH,
    }

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        kind: Literal["linear", "kernel"] = "linear",
        n_components: int | None = None,
        regularization: float = 0.1,
        kernel: Any = "gaussian",
        rank: int | None = None,
        affinity: Any = "gaussian",
        bandwidth: float | Literal["median", "local"] | dict[str, Any] | list[Any] | None = None,
        views: dict[str, Any] | None = None,
        assign_labels: Literal["kmeans", "cluster-qr"] = "kmeans",
        n_init: int = 10,
        init: Any = "k-means++",
        random_state: Seed = None,
        n_jobs: int | None = None,
        verbose: bool = False,
    ) -> None:
        super().__init__(
            n_clusters,
            kind=kind,
            n_components=n_components,
            regularization=regularization,
            kernel=kernel,
            rank=rank,
            views=views,
            n_init=n_init,
            init=init,
            random_state=random_state,
            n_jobs=n_jobs,
            verbose=verbose,
        )
        self.affinity = affinity
        self.bandwidth = bandwidth
        self.assign_labels = assign_labels

    def _fit_clustering(self, features: dict[str, np.ndarray]) -> KernelAddition:
        spectral = ("affinity", "bandwidth", "assign_labels", *CLUSTERING)
        return KernelAddition(self.n_clusters, **{name: getattr(self, name) for name in spectral}).fit(features)


@save_as("cca-k-means")
@share_cca_docs
class CCAKMeans(BaseCCA):
    """k-means of canonical correlation features (Blaschko & Lampert 2008; Chaudhuri et al. 2009).

    Canonical correlation analysis finds the directions of the views that are most correlated, and k-means clusters the
    entities by their positions along these directions in one view. With ``kind='kernel'`` it is the kernel CCA that
    Tzortzis & Likas (2010) compare with.

    Parameters
    ----------
    %(n_clusters)s
    %(cca_parameters)s
    view : str, optional
        Name of the view whose positions are clustered; an entity that lacks it takes the average of the views that it
        has. If not given, all entities take this average.
    %(views)s
    n_init : int, default=10
        Number of starts of k-means.
    init : {'k-means++', 'random'}, labels or centers, default='k-means++'
        Where k-means starts from, in the space of the features.
    random_state : int, Generator, RandomState or None, default=None
        Seed of k-means, and of the search for components of kernels and wide views.
    %(n_jobs)s
    %(verbose)s

    Attributes
    ----------
    %(labels_)s
    %(correlations_)s
    features_ : ndarray of shape (n_entities, n_components)
        What is clustered: the entities' positions along each direction.
    %(view_labels_)s
    %(agreement_)s
    cost_ : float
        Sum of the squared distances of the entities from the centers of their clusters.
    %(n_features_in_)s

    Notes
    -----
    The directions, also those of more than two views or of one, are those of `CCASpectral`.

    References
    ----------
    M. B. Blaschko, C. H. Lampert: Correlational spectral clustering. CVPR 2008.

    K. Chaudhuri, S. M. Kakade, K. Livescu, K. Sridharan: Multi-view clustering via canonical correlation analysis.
    ICML 2009.

    Examples
    --------
    >>> import consilience as cs
    >>> views, y = cs.datasets.make_gaussian_views(150, n_clusters=3, separation=8, random_state=0)
    >>> model = cs.baselines.CCAKMeans(3, kind="kernel", view="view0", random_state=0).fit(views)
    >>> bool(cs.metrics.adjusted_rand_score(y, model.labels_) > 0.9), model.features_.shape
    (True, (150, 3))
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {**BaseCCA._parameter_constraints, "view": [str, None]}

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        kind: Literal["linear", "kernel"] = "linear",
        n_components: int | None = None,
        regularization: float = 0.1,
        kernel: Any = "gaussian",
        rank: int | None = None,
        view: str | None = None,
        views: dict[str, Any] | None = None,
        n_init: int = 10,
        init: Any = "k-means++",
        random_state: Seed = None,
        n_jobs: int | None = None,
        verbose: bool = False,
    ) -> None:
        super().__init__(
            n_clusters,
            kind=kind,
            n_components=n_components,
            regularization=regularization,
            kernel=kernel,
            rank=rank,
            views=views,
            n_init=n_init,
            init=init,
            random_state=random_state,
            n_jobs=n_jobs,
            verbose=verbose,
        )
        self.view = view

    def _choose_views(self, names: Sequence[str], present: np.ndarray) -> np.ndarray:
        if self.view is None:
            return present
        if self.view not in names:
            raise ValueError(f"view={self.view!r} is not a view: give one of {', '.join(map(repr, names))}, or None")
        v = names.index(self.view)
        return np.where(present[:, [v]], np.arange(len(names)) == v, present)

    def _fit_clustering(self, features: dict[str, np.ndarray]) -> MultiViewKMeans:
        return MultiViewKMeans(self.n_clusters, **{name: getattr(self, name) for name in CLUSTERING}).fit(features)


@save_as("linear-cca")
@dataclass(frozen=True, eq=False)
class LinearAnalysis:
    """Principal components of the views' columns."""

    components: Mapping[str, PrincipalComponents]

    @classmethod
    def fit(cls, views: Views, rank: int | None, rng: np.random.Generator) -> tuple[LinearAnalysis, Scores]:
        """Compute the principal components, and the entities' scores."""
        components, scores = {}, {}
        for name, (X, has_view) in load_blocks(views).items():
            components[name], view_scores = fit_principal_components(X[has_view], rank, rng)
            scores[name] = view_scores, has_view
            if not view_scores.shape[1]:
                raise ValueError(f"view {name!r} is the same for every entity: leave the view out")
        return cls(components), scores

    def compute_scores(self, views: Views) -> Scores:
        """Return the scores of new entities in each view of the fit."""
        blocks = load_blocks(views)
        scores = {}
        for name, components in self.components.items():
            missing = np.zeros((len(views), len(components.mean))), np.zeros(len(views), bool)
            X, has_view = blocks.get(name, missing)
            scores[name] = components.place(X[has_view]), has_view
        return scores


@save_as("kernel-cca")
@dataclass(frozen=True, eq=False)
class KernelAnalysis:
    """Principal components of the views' kernels."""

    components: Mapping[str, KernelPrincipalComponents]
    kernels: Mapping[str, Affinity]
    operators: Mapping[str, ViewOperator]  # of the entities of the fit
    columns: Mapping[str, np.ndarray]

    @classmethod
    def fit(
        cls, views: Views, kernel: Any, rank: int | None, rng: np.random.Generator, *, source: Any
    ) -> tuple[KernelAnalysis, Scores]:
        """Compute the principal components, and the entities' scores."""
        affinities = resolve_affinities("kernel", kernel, None, views.names)
        columns = find_precomputed_columns(views, affinities, source=source)
        kernels, similarities = compute_similarities(restrict_columns(views, columns), affinities, rng)
        components, scores, operators = {}, {}, {}
        for name, operator, has_view in zip(views.names, similarities.views, similarities.present.T, strict=True):
            components[name], view_scores = fit_kernel_components(operator, rank, rng)
            scores[name], operators[name] = (view_scores, has_view), copy(operator)  # without its cached table
            if not view_scores.shape[1]:
                raise ValueError(f"view {name!r} is the same for every entity under its kernel: leave the view out")
        return cls(components, kernels, operators, columns), scores

    def compute_scores(self, views: Views) -> Scores:
        """Return the scores of new entities in each view of the fit."""
        crosses, present = compute_cross_similarities(
            restrict_columns(views, self.columns),
            self.kernels,
            list(self.operators.values()),
            "is placed at the center of all entities",
        )
        return {
            name: (components.weights[:0] if cross is None else components.place(cross), has_view)
            for (name, components), cross, has_view in zip(self.components.items(), crosses, present.T, strict=True)
        }


def scatter_scores(view_scores: Scores, n_entities: int) -> tuple[list[np.ndarray], np.ndarray]:
    """Return the scores of all entities in each view, zeros where they lack it, and which have which."""
    scores = []
    for values, has_view in view_scores.values():
        whole = np.zeros((n_entities, values.shape[1]))
        whole[has_view] = values
        scores.append(whole)
    return scores, np.column_stack([has_view for _, has_view in view_scores.values()])


@save_as("cca-linear-components")
@dataclass(frozen=True, eq=False)
class PrincipalComponents:
    """Principal components of columns."""

    mean: np.ndarray  # (columns,)
    directions: np.ndarray  # (columns, components)

    def place(self, X: Matrix) -> np.ndarray:
        """Return the scores of rows."""
        return X @ self.directions - self.mean @ self.directions


@save_as("cca-kernel-components")
@dataclass(frozen=True, eq=False)
class KernelPrincipalComponents:
    """Principal components of a kernel."""

    mean: np.ndarray  # (n,) of each column of the kernel
    weights: np.ndarray  # (n, components)

    def place(self, X: CrossOperator) -> np.ndarray:
        """Return the scores of new entities from their similarities to the entities of the fit."""
        # the row means that centering subtracts cancel out, because the weights sum to zero
        return X @ self.weights - self.mean @ self.weights


def fit_principal_components(
    X: Matrix, rank: int | None, rng: np.random.Generator
) -> tuple[PrincipalComponents, np.ndarray]:
    """Compute all or the leading principal components of the columns, and the scores of the rows."""
    n, d = X.shape
    mean = np.asarray(X.mean(axis=0), np.float64).ravel()

    def multiply(U: np.ndarray) -> np.ndarray:  # the covariance matrix of many columns is not formed
        scores = X @ U - mean @ U
        return (X.T @ scores - np.outer(mean, scores.sum(axis=0))) / n

    if d <= tuning.all_columns:
        if sp.issparse(X):
            covariance = (X.T @ X).toarray().astype(np.float64) / n - np.outer(mean, mean)
        else:
            centered = X - mean
            covariance = centered.T @ centered / n
        variances, directions = scipy.linalg.eigh(covariance)
        kept = slice(None) if rank is None else slice(-min(rank, len(variances)), None)
        variances, directions = variances[kept][::-1], directions[:, kept][:, ::-1]
    else:
        rank = min(rank or DEFAULT_RANK, n, d)
        variances, directions, _, _ = top_eigenvectors(
            multiply, rng.standard_normal((d, min(d, rank + N_GUARD_VECTORS))), rank
        )
    directions = directions[:, variances > NULL_VARIANCE * max(variances[0], np.finfo(np.float64).tiny)]
    components = PrincipalComponents(mean, directions)
    return components, components.place(X)


def fit_kernel_components(
    K: ViewOperator, rank: int | None, rng: np.random.Generator
) -> tuple[KernelPrincipalComponents, np.ndarray]:
    """Compute the leading principal components of a kernel, and the scores of the entities."""
    n = K.shape[0]
    rank = min(rank or DEFAULT_RANK, n)
    mean = (K @ np.full((n, 1), 1 / n))[:, 0].astype(np.float64)

    def center(U: np.ndarray) -> np.ndarray:
        return U - U.mean(axis=0, keepdims=True)

    start = rng.standard_normal((n, min(n, rank + N_GUARD_VECTORS))).astype(K.dtype)
    values, U, _, _ = top_eigenvectors(lambda X: center(K @ center(X)), start, rank)
    nonzero = values > np.sqrt(np.finfo(K.dtype).eps) * max(values[0], np.finfo(K.dtype).tiny)
    values, U = values[nonzero].astype(np.float64), center(U[:, nonzero].astype(np.float64))
    return KernelPrincipalComponents(mean, U / np.sqrt(values)), U * np.sqrt(values)


@save_as("cca-directions")
@dataclass(frozen=True, eq=False)
class CanonicalCorrelations:
    """The directions in which the views are correlated."""

    correlations: np.ndarray  # (components,), descending
    weights: Sequence[np.ndarray]  # one (dimensions, components) per view

    def compute_features(self, scores: Sequence[np.ndarray], present: np.ndarray) -> np.ndarray:
        """Average each entity's canonical variates over the views that are `present`."""
        parts = zip(scores, self.weights, present.T, strict=True)
        total = sum((F @ W) * has_view[:, None] for F, W, has_view in parts)
        return total / np.maximum(present.sum(axis=1, keepdims=True), 1)


def fit_canonical(
    scores: Sequence[np.ndarray], present: np.ndarray, n_components: int, regularization: float
) -> CanonicalCorrelations:
    """Find the most correlated directions of the views' scores, which are zeros where an entity lacks the view.

    Covariances of two views are those of the entities that have both.
    """
    if len(scores) == 1:  # one view has no correlations: the principal components themselves
        width = scores[0].shape[1]
        return CanonicalCorrelations(np.full(min(width, n_components), np.nan), [np.eye(width)[:, :n_components]])
    variances = [np.sum(F**2, axis=0) / has_view.sum() for F, has_view in zip(scores, present.T, strict=True)]
    # A view may be zero for all entities that are in two views; it has no correlations.
    ridged = [variance + regularization * variance.mean() for variance in variances]
    scales = [np.where(variance > 0, variance, np.inf) ** -0.5 for variance in ridged]
    G = np.hstack([F * scale for F, scale in zip(scores, scales, strict=True)])
    widths = [len(scale) for scale in scales]
    view_of = np.repeat(np.arange(len(scores)), widths)
    shared = np.maximum(present.T.astype(float) @ present, 1)
    M = np.where(view_of[:, None] == view_of, 0.0, (G.T @ G) / shared[np.ix_(view_of, view_of)])
    n_components = min(n_components, max(widths))
    try:
        values, vectors = scipy.linalg.eigh(M, subset_by_index=[len(M) - n_components, len(M) - 1])
    except np.linalg.LinAlgError:  # LAPACK's subset driver fails on some matrices that are nearly zero
        values, vectors = (part[..., -n_components:] for part in scipy.linalg.eigh(M, driver="evd"))
    values, vectors = values[::-1], vectors[:, ::-1] * np.sqrt(len(scores))
    parts = np.split(vectors, np.cumsum(widths)[:-1])
    weights = [scale[:, None] * part for scale, part in zip(scales, parts, strict=True)]
    return CanonicalCorrelations(values / (len(scores) - 1), weights)
