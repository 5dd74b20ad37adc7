"""Eigenvectors of the similarities as a few columns in which similar entities lie together."""

from __future__ import annotations

import warnings
from numbers import Real
from typing import Any, ClassVar, Literal, Self

import numpy as np
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from ..._saving import save_as
from ...arrays import Seed, make_generator, use_threads
from ..common.input_checks import check_views, store_input_features
from ..common.similarities import resolve_affinities
from ..common.validation import POSITIVE_INTEGER, Interval, StrOptions, check_parameters, share_constraints
from .algorithm import embed_view
from .base import AFFINITY, share_spectral_docs
from .similarities import compute_cross_similarities, compute_similarities


@save_as("spectral-features")
@share_spectral_docs
class SpectralFeatures(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):
    """Standardized eigenvectors of the normalized Laplacian as columns (Eaton et al. 2010).

    The first eigenvector, which distinguishes nothing, is left out. Distances in a few such columns are meaningful,
    whereas in the many columns of text or images all entities are far from each other. The transformer takes one view;
    ``PerView(SpectralFeatures(5))`` transforms each of several views.

    Parameters
    ----------
    n_components : int, default=5
        Number of columns.
    affinity : str or affinity, default='gaussian'
        How similar entities are, as in `CoTrainedSpectral`: ``'gaussian'``, ``'nearest-neighbors'``, ``'cosine'``, ...
    bandwidth : float or 'median', optional
        Width of a Gaussian kernel, by default the median of all distances; the paper uses 1. An error with other
        affinities.
    random_state : int, Generator, RandomState or None, default=None
        Seed of the search for eigenvectors, which do not depend on it, and of approximate neighbors.
    %(n_jobs)s

    Attributes
    ----------
    eigenvalues_ : ndarray of shape (n_components,)
        Eigenvalues of the normalized similarities, descending: 1 minus those of the Laplacian.
    affinity_ : affinity
        The affinity, with nothing left open.
    %(n_features_in_)s

    Examples
    --------
    >>> import consilience as cs
    >>> views, y = cs.datasets.make_gaussian_views(100, separation=8, random_state=0)
    >>> reduced = cs.PerView(cs.SpectralFeatures(2)).fit_transform(views)
    >>> reduced["view0"].shape
    (100, 2)
    """

    views: ClassVar[None] = None  #: None, because a plain array is one view
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **share_constraints("random_state", "n_jobs"),
        "n_components": [POSITIVE_INTEGER],
        "affinity": AFFINITY,
        "bandwidth": [Interval(Real, 0, None, closed="neither"), StrOptions({"median"}), None],
    }

    def __init__(
        self,
        n_components: int = 5,
        *,
        affinity: Any = "gaussian",
        bandwidth: float | Literal["median"] | None = None,
        random_state: Seed = None,
        n_jobs: int | None = None,
    ) -> None:
        self.n_components = n_components
        self.affinity = affinity
        self.bandwidth = bandwidth
        self.random_state = random_state
        self.n_jobs = n_jobs

    @check_parameters
    def fit(self, X: Any, y: Any = None) -> Self:  # noqa: ARG002
        """Compute the eigenvectors.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_entities, n_columns)
            The data.
        %(y)s

        %(returns_self)s
        """
        views = check_views(self, X, reset=True)
        if views.n_views > 1:
            raise ValueError(
                f"SpectralFeatures takes one view, got {views.n_views} ({', '.join(map(repr, views.names))}): use "
                "PerView(SpectralFeatures()), which transforms each view"
            )
        if len(views) <= self.n_components:
            raise ValueError(
                f"n_components={self.n_components} needs more entities than the {len(views)} there are "
                f"(n_samples={len(views)}): lower n_components"
            )
        rng = make_generator(self.random_state)
        affinities = resolve_affinities("affinity", self.affinity, self.bandwidth, views.names)
        with use_threads(self.n_jobs):
            resolved, similarities = compute_similarities(views, affinities, rng)
            embedding = embed_view(similarities.operators[0], self.n_components + 1, rng)
        store_input_features(self, X, views)
        (self.affinity_,) = resolved.values()
        self.eigenvalues_ = embedding.values[1:]
        self._affinities, self._similarities, self._embedding = resolved, similarities, embedding
        U = embedding.U[:, 1:]
        largest = np.abs(U).argmax(axis=0)
        spread = U.std(axis=0)
        sign = np.sign(U[largest, np.arange(U.shape[1])])  # the sign of an eigenvector is arbitrary
        self._mean = U.mean(axis=0)
        self._scale = np.where(spread > 0, sign, 1.0) / np.where(spread > 0, spread, 1.0)
        n_null = int(np.sum(self.eigenvalues_ == 0))
        if n_null:
            warnings.warn(
                f"the similarities have {self.n_components - n_null} dimensions beside the first, fewer than "
                f"n_components={self.n_components}: the other columns are zeros. Lower n_components",
                UserWarning,
                stacklevel=3,
            )
        return self

    def transform(self, X: Any) -> np.ndarray:
        """Place entities among those of the fit by the Nyström extension, which keeps those of the fit in place.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_entities, n_columns)
            Entities, seen before or not.

        Returns
        -------
        ndarray of shape (n_entities, n_components)
            Their columns, which have mean 0 and variance 1 over the entities of the fit.
        """
        check_is_fitted(self)
        views = check_views(self, X, reset=False)
        consequence = "is similar to no other entity and is placed at the origin of the embedding"
        with use_threads(self.n_jobs):
            crosses, present = compute_cross_similarities(
                views, self._affinities, self._similarities.views, consequence
            )
            (cross,) = self._similarities.fill(crosses, present)
            U = self._embedding.place(cross, np.empty((len(views), 0)))[:, 1:]
        return (U - self._mean) * self._scale

    @property
    def _n_features_out(self) -> int:
        return self.n_components

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.transformer_tags.preserves_dtype = []
        return tags
