"""Few columns in which entities that are alike lie together."""

from __future__ import annotations

import warnings
from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from ..._saving import save_as
from ...affinities import AFFINITIES
from ...arrays import make_generator, use_threads
from ..common.input_checks import check_views, store_input_features
from ..common.similarities import compute_cross_similarities, compute_similarities, resolve_affinities
from ..common.validation import RANDOM_STATE, HasMethods, Interval, StrOptions, check_parameters
from .algorithm import embed_view


@save_as("spectral-features")
class SpectralFeatures(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):
    """Eigenvectors of the normalised Laplacian as columns, standardised: what Eaton et al. (2010) cluster.

    The first eigenvector, which tells nothing apart, is left out. In a few such columns distances mean something, where
    in the many columns of text or images everything is far from everything. One view; ``PerView(SpectralFeatures(5))``
    does it view by view.

    Parameters
    ----------
    n_components : int, default=5
        Number of columns.
    affinity : str or affinity, default='gaussian'
        How alike entities are, as in `CoTrainedSpectral`: ``'gaussian'``, ``'nearest-neighbors'``, ``'cosine'``, ...
    bandwidth : float or 'median', default='median'
        Width of a Gaussian kernel; the paper takes 1.
    random_state : int, Generator, RandomState or None, default=None
        Seed of the search for eigenvectors, on which they do not depend, and of landmarks.
    n_jobs : int, default=None
        Threads; None and -1 take all cores.

    Attributes
    ----------
    eigenvalues_ : ndarray of shape (n_components,)
        Of the normalised similarities, falling: 1 minus those of the Laplacian.
    affinity_ : affinity
        How entities were compared, with nothing left open.
    n_features_in_, feature_names_in_ : int, ndarray
        Columns, and their names where they had any.

    Examples
    --------
    >>> import consilience as cs
    >>> views, y = cs.datasets.make_gaussian_views(100, separation=8, random_state=0)
    >>> reduced = cs.PerView(cs.SpectralFeatures(2)).fit_transform(views)
    >>> reduced["view0"].shape
    (100, 2)
    """

    views: ClassVar[None] = None  # there is one
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "n_components": [Interval(Integral, 1, None, closed="left")],
        "affinity": [StrOptions(set(AFFINITIES)), HasMethods(["build_operator"])],
        "bandwidth": [Interval(Real, 0, None, closed="neither"), StrOptions({"median"})],
        "random_state": RANDOM_STATE,
        "n_jobs": [Integral, None],
    }

    def __init__(
        self,
        n_components: int = 5,
        *,
        affinity: Any = "gaussian",
        bandwidth: Any = "median",
        random_state: Any = None,
        n_jobs: int | None = None,
    ) -> None:
        self.n_components = n_components
        self.affinity = affinity
        self.bandwidth = bandwidth
        self.random_state = random_state
        self.n_jobs = n_jobs

    @check_parameters
    def fit(self, X: Any, y: Any = None) -> SpectralFeatures:  # noqa: ARG002
        """Find the eigenvectors.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_entities, n_columns)
            The data.
        y : ignored
            Here for scikit-learn.

        Returns
        -------
        self
            The fitted transformer.
        """
        views = check_views(self, X, reset=True)
        if views.n_views > 1:
            raise ValueError(
                f"SpectralFeatures takes one view, got {views.n_views} ({', '.join(map(repr, views.names))}): use "
                "PerView(SpectralFeatures()), which does each by itself"
            )
        if len(views) <= self.n_components:
            raise ValueError(
                f"n_components={self.n_components} needs more entities than the {len(views)} there are "
                f"(n_samples={len(views)}): ask for fewer"
            )
        rng = make_generator(self.random_state)
        asked = resolve_affinities("affinity", self.affinity, self.bandwidth, views.names)
        with use_threads(self.n_jobs):
            affinities, similarities = compute_similarities(views, asked, rng)
            found = embed_view(similarities.operators[0], self.n_components + 1, rng)
        store_input_features(self, X, views)
        (self.affinity_,) = affinities.values()
        self.eigenvalues_ = found.values[1:]
        self._affinities, self._similarities, self._found = affinities, similarities, found
        U = found.U[:, 1:]
        places = np.abs(U).argmax(axis=0)
        spread = U.std(axis=0)
        sign = np.sign(U[places, np.arange(U.shape[1])])  # an eigenvector may as well point the other way
        self._mean = U.mean(axis=0)
        self._scale = np.where(spread > 0, sign, 1.0) / np.where(spread > 0, spread, 1.0)
        lost = int(np.sum(self.eigenvalues_ == 0))
        if lost:
            warnings.warn(
                f"the similarities have {self.n_components - lost} dimensions beside the first, fewer than "
                f"n_components={self.n_components}: the other columns are zeros. Ask for fewer",
                UserWarning,
                stacklevel=3,
            )
        return self

    def transform(self, X: Any) -> np.ndarray:
        """Place entities among those of the fit, by the Nyström extension; these stay where they were.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_entities, n_columns)
            Entities, seen before or not.

        Returns
        -------
        ndarray of shape (n_entities, n_components)
            Their columns; of the entities of the fit they have mean 0 and variance 1.
        """
        check_is_fitted(self)
        views = check_views(self, X, reset=False)
        fate = "is like nobody and gets the place of nothing"
        with use_threads(self.n_jobs):
            crosses, present = compute_cross_similarities(views, self._affinities, self._similarities.own, fate)
            (cross,) = self._similarities.compare_with(crosses, present)
            U = self._found.place(cross, np.empty((len(views), 0)))[:, 1:]
        return (U - self._mean) * self._scale

    @property
    def _n_features_out(self) -> int:
        return self.n_components

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.transformer_tags.preserves_dtype = []
        return tags
