"""Spectral clustering of what the views have in common: canonical correlation analysis."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from copy import copy
from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any, ClassVar, Protocol

import numpy as np
from sklearn.base import BaseEstimator, ClusterMixin
from sklearn.utils.validation import check_is_fitted

from .._saving import save_as
from ..affinities import AFFINITIES, Affinity, ViewOperator
from ..arrays import make_generator, use_threads
from ..data import Views
from ..methods.common.input_checks import check_n_clusters, check_views, store_agreement, store_input_features
from ..methods.common.similarities import find_precomputed_columns, resolve_affinities, restrict_columns
from ..methods.common.starts import STRATEGIES
from ..methods.common.validation import RANDOM_STATE, HasMethods, Interval, StrOptions, check_all_parameters
from ..methods.spectral.similarities import compute_cross_similarities, compute_similarities
from ._canonical import (
    KernelPrincipalComponents,
    PrincipalComponents,
    fit_canonical,
    fit_kernel_components,
    fit_principal_components,
)
from ._side_by_side import load_blocks
from .kernel_addition import KernelAddition

Scores = Mapping[str, tuple[np.ndarray, np.ndarray]]  # of the entities that have the view, and which have it


@save_as("cca-spectral")
class CCASpectral(ClusterMixin, BaseEstimator):
    """Spectral clustering of canonical correlation features (Blaschko & Lampert 2008).

    What two views that are independent given the cluster have in common is the cluster. Canonical correlation
    analysis finds the directions of the views that are most correlated; the entities are clustered by where they lie
    along these, on average over their views.

    Parameters
    ----------
    n_clusters : int, default=8
        Number of clusters.
    kind : {'linear', 'kernel'}, default='linear'
        Directions of the views' columns, or of their kernels.
    n_components : int, optional
        Number of directions; if not given, as many as clusters.
    regularization : float, default=0.1
        What is added to the variance of every dimension of a view, as a share of their mean: units do not matter.
        With 0 it is classical canonical correlation analysis, which finds perfect correlations wherever there are as
        many columns as entities.
    kernel : str, affinity, or one a view in a dict or list, default='gaussian'
        With ``kind='kernel'``: the kernel, any affinity of `consilience.affinities` by name or as an object, such as
        ``Gaussian(2.0)`` or ``Polynomial()``.
    rank : int, optional
        Dimensions of each view that are looked at: its leading principal components, or those of its kernel. If not
        given, all of a view with up to 1,000 columns; 100 of one with more, and of kernels.
    affinity : str or affinity, default='gaussian'
        How alike two entities are by their features.
    bandwidth : float, 'median' or 'local', default='median'
        Bandwidth of Gaussian similarities of the features.
    views : dict of str to columns, optional
        If `fit` is given one array or frame: which of its columns make up which view (slices, positions or names).
    assign_labels : {'kmeans', 'cluster-qr'}, default='kmeans'
        How the spectral embedding falls into clusters.
    n_init : int, default=10
        Number of starts of k-means.
    init : {'k-means++', 'random'}, labels or centres, default='k-means++'
        Where k-means starts.
    random_state : int, Generator, RandomState or None, default=None
        Seed.
    n_jobs : int, default=None
        Threads; None and -1 take all cores. The result does not depend on it.
    verbose : bool, default=False
        Show progress.

    Attributes
    ----------
    labels_ : ndarray of shape (n_entities,)
        The cluster of each entity.
    correlations_ : ndarray of shape (n_components,)
        Of two views the (regularised) canonical correlations; of more, those of a view with the others on average.
        NaN with one view.
    features_ : ndarray of shape (n_entities, n_components)
        What is clustered: the entities' places along each direction, averaged over the views that they have.
    view_labels_ : dict of str to ndarray of shape (n_entities,)
        The cluster that the entity would get by this view alone; -1 where it lacks the view.
    agreement_ : ndarray of shape (n_views, n_views)
        Share of entities that two views put into the same cluster.
    n_features_in_, feature_names_in_ : int, ndarray
        Columns of all views together, and their names where all views came with names.

    Notes
    -----
    With more than two views the directions maximise the sum of the correlations of all pairs of views: the leading
    eigenvectors of the views' covariances with each other, relative to their own. Covariances of two views are those
    of the entities that have both. With one view, which has nothing to be correlated with, the features are its
    principal components.

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
        "n_clusters": [Interval(Integral, 1, None, closed="left")],
        "kind": [StrOptions({"linear", "kernel"})],
        "n_components": [Interval(Integral, 1, None, closed="left"), None],
        "regularization": [Interval(Real, 0, None, closed="left")],
        "kernel": [StrOptions(set(AFFINITIES)), HasMethods(["build_operator"]), dict, list, tuple],
        "rank": [Interval(Integral, 1, None, closed="left"), None],
        "affinity": [StrOptions(set(AFFINITIES) - {"precomputed"}), HasMethods(["build_operator"])],
        "bandwidth": [Interval(Real, 0, None, closed="neither"), str, None],
        "views": [dict, None],
        "assign_labels": [StrOptions({"kmeans", "cluster-qr"})],
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
        kind: str = "linear",
        n_components: int | None = None,
        regularization: float = 0.1,
        kernel: Any = "gaussian",
        rank: int | None = None,
        affinity: Any = "gaussian",
        bandwidth: Any = None,
        views: dict[str, Any] | None = None,
        assign_labels: str = "kmeans",
        n_init: int = 10,
        init: Any = "k-means++",
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: bool = False,
    ) -> None:
        self.n_clusters = n_clusters
        self.kind = kind
        self.n_components = n_components
        self.regularization = regularization
        self.kernel = kernel
        self.rank = rank
        self.affinity = affinity
        self.bandwidth = bandwidth
        self.views = views
        self.assign_labels = assign_labels
        self.n_init = n_init
        self.init = init
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    @check_all_parameters
    def fit(self, X: Any, y: Any = None) -> CCASpectral:  # noqa: ARG002
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
        if len(views) == 1:
            raise ValueError("one entity (n_samples=1) has nothing to be compared with: give at least two")
        rng = make_generator(self.random_state)
        with use_threads(self.n_jobs):
            analysis, found = KINDS[self.kind](self, views, rng, isinstance(X, Views))
            scores, present = scatter_scores(found, len(views))
            check_common_entities(views.names, present)
            common = fit_canonical(scores, present, self.n_components or self.n_clusters, self.regularization)
            features = common.features(scores, present)
            spectral = self._spectral().fit({FEATURES: features})
        store_input_features(self, X, views)
        self.labels_, self.correlations_, self.features_ = spectral.labels_, common.correlations, features
        self._analysis, self._common, self._clusters = analysis, common, spectral
        own = {}
        for v, (name, here) in enumerate(zip(views.names, present.T, strict=True)):
            alone = [F if w == v else np.zeros_like(F) for w, F in enumerate(scores)]
            own[name] = np.where(here, spectral.predict({FEATURES: common.features(alone, here[:, None])}), -1)
        store_agreement(self, own)
        return self

    def _spectral(self) -> KernelAddition:
        """Ordinary spectral clustering of the features."""
        shared = ("affinity", "bandwidth", "assign_labels", "n_init", "init", "random_state", "n_jobs", "verbose")
        return KernelAddition(self.n_clusters, **{name: getattr(self, name) for name in shared})

    def predict(self, X: Any) -> np.ndarray:
        """Give entities, seen before or not, to the clusters.

        A new entity has its place along the directions of the fit by each view that it has, and is placed among the
        entities of the fit by the Nyström extension.

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
        with use_threads(self.n_jobs):
            scores, present = scatter_scores(self._analysis.scores(views), len(views))
            return self._clusters.predict({FEATURES: self._common.features(scores, present)})

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags


FEATURES = "canonical features"


class Analysis(Protocol):
    """How views become scores."""

    def scores(self, views: Views) -> Scores:
        """Of other entities in each view of the fit."""


@save_as("linear-cca")
@dataclass(frozen=True, eq=False)
class LinearAnalysis:
    """Principal components of the views' columns."""

    dimensions: Mapping[str, PrincipalComponents]

    def scores(self, views: Views) -> Scores:
        blocks = load_blocks(views)
        found = {}
        for name, own in self.dimensions.items():
            X, there = blocks.get(name, (np.zeros((len(views), len(own.mean))), np.zeros(len(views), bool)))
            found[name] = own.place(X[there]), there
        return found


@save_as("kernel-cca")
@dataclass(frozen=True, eq=False)
class KernelAnalysis:
    """Principal components of the views' kernels."""

    dimensions: Mapping[str, KernelPrincipalComponents]
    kernels: Mapping[str, Affinity]
    known: Mapping[str, ViewOperator]
    columns: Mapping[str, np.ndarray]

    def scores(self, views: Views) -> Scores:
        crosses, present = compute_cross_similarities(
            restrict_columns(views, self.columns), self.kernels, list(self.known.values()), "lies amid all others"
        )
        return {
            name: (own.weights[:0] if cross is None else own.place(cross), here)
            for (name, own), cross, here in zip(self.dimensions.items(), crosses, present.T, strict=True)
        }


def analyze_columns(
    estimator: CCASpectral,
    views: Views,
    rng: np.random.Generator,
    chosen: bool,  # noqa: ARG001
) -> tuple[Analysis, Scores]:
    """Principal components of the columns, and the entities' scores."""
    dimensions, scores = {}, {}
    for name, (X, there) in load_blocks(views).items():
        dimensions[name], features = fit_principal_components(X[there], estimator.rank, rng)
        scores[name] = features, there
        if not features.shape[1]:
            raise ValueError(f"view {name!r} is the same for every entity: leave the view out")
    return LinearAnalysis(dimensions), scores


def analyze_kernels(
    estimator: CCASpectral, views: Views, rng: np.random.Generator, chosen: bool
) -> tuple[Analysis, Scores]:
    """Principal components of the kernels, and the entities' scores."""
    asked = resolve_affinities("kernel", estimator.kernel, None, views.names)
    columns = find_precomputed_columns(views, asked, selected=chosen)
    kernels, similarities = compute_similarities(restrict_columns(views, columns), asked, rng)
    dimensions, scores, known = {}, {}, {}
    for name, operator, there in zip(views.names, similarities.views, similarities.present.T, strict=True):
        dimensions[name], features = fit_kernel_components(operator, estimator.rank, rng)
        scores[name], known[name] = (features, there), copy(operator)  # without the table that it may hold
        if not features.shape[1]:
            raise ValueError(f"view {name!r} is the same for every entity under its kernel: leave the view out")
    return KernelAnalysis(dimensions, kernels, known, columns), scores


KINDS = {"linear": analyze_columns, "kernel": analyze_kernels}


def check_common_entities(names: Sequence[str], present: np.ndarray) -> None:
    """Refuse two views that no entity has both of: nothing says how they hang together."""
    shared = present.T.astype(int) @ present
    for a, b in np.argwhere(shared == 0):
        raise ValueError(
            f"no entity has both view {names[a]!r} and view {names[b]!r}, so that nothing can be correlated: leave one "
            "of them out, or use CoTrainedSpectral"
        )


def scatter_scores(found: Scores, n_entities: int) -> tuple[list[np.ndarray], np.ndarray]:
    """The scores of all entities in each view, zeros where they lack it, and which have which."""
    scores = []
    for own, here in found.values():
        whole = np.zeros((n_entities, own.shape[1]))
        whole[here] = own
        scores.append(whole)
    return scores, np.column_stack([here for _, here in found.values()])
