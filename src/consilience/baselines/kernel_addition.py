"""Spectral clustering of the sum of the views' similarities."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce
from operator import add
from typing import Any

import numpy as np

from .._saving import refer_as, save_as
from ._joint import BaseCombinedKernel, KernelCombination


@save_as("kernel-addition")
class KernelAddition(BaseCombinedKernel):
    """Spectral clustering of the sum of the views' similarities.

    Two entities are alike if they are alike in any view. Simple, and hard to beat: Kumar & Daumé 2011 publish an F
    of 0.707 for handwritten digits, and 0.726 for co-training. Similarities are added as they are: of views whose
    similarities differ in size (`"linear"`), the larger count more.

    Parameters
    ----------
    n_clusters : int, default=8
        Number of clusters.
    affinity : str, affinity, or one a view in a dict or list, default='auto'
        How alike two entities of a view are: ``'gaussian'``, ``'nearest-neighbors'``, ``'cosine'``, ``'precomputed'``
        and others of `consilience.affinities`, by name or as objects.
    bandwidth : float, 'median', 'local', or one a view, default='median'
        Bandwidth of Gaussian similarities.
    views : dict of str to columns, optional
        If `fit` is given one array or frame: which of its columns make up which view (slices, positions or names).
    assign_labels : {'kmeans', 'cluster-qr'}, default='kmeans'
        How the embedding falls into clusters.
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
    embedding_ : ndarray of shape (n_entities, n_clusters)
        Eigenvectors of the normalised sum, rows not yet of unit length.
    embeddings_ : dict of str to ndarray of shape (n_entities, n_clusters)
        Where in this embedding each view's similarities alone would put the entities.
    view_labels_ : dict of str to ndarray of shape (n_entities,)
        The cluster whose mean among the view's own places is nearest; -1 where the entity lacks the view.
    agreement_ : ndarray of shape (n_views, n_views)
        Share of entities that two views put into the same cluster.
    affinities_ : dict of str to affinity
        The affinity of each view.
    n_features_in_, feature_names_in_ : int, ndarray
        Columns of all views together, and their names where all views came with names.

    Notes
    -----
    With one view it is ordinary spectral clustering. Similarities that a view lacks are filled in with the mean of
    those that the other views have, all brought to the same size, as in `consilience.CoTrainedSpectral`.

    Examples
    --------
    >>> import consilience as cs
    >>> views, y = cs.datasets.make_gaussian_views(150, n_clusters=3, separation=8, random_state=0)
    >>> model = cs.baselines.KernelAddition(3, affinity="gaussian", random_state=0).fit(views)
    >>> cs.metrics.adjusted_rand_score(y, model.labels_)
    1.0
    """

    @property
    def _combination(self) -> KernelCombination:
        return KernelCombination(SimilaritySum, SimilaritySum, "the sum of the views' similarities")


@refer_as("sum-of-similarities")
@dataclass(frozen=True, eq=False)
class SimilaritySum:
    """Matrices added up: those of entities with themselves, or with others."""

    views: Sequence[Any]

    @property
    def shape(self) -> tuple[int, int]:
        return self.views[0].shape

    @property
    def dtype(self) -> np.dtype:
        return np.result_type(*(K.dtype for K in self.views))

    @property
    def exact(self) -> bool:
        return all(K.exact for K in self.views)

    def columns(self, entities: np.ndarray) -> np.ndarray:
        return reduce(add, (K.columns(entities) for K in self.views))

    def __matmul__(self, U: np.ndarray) -> np.ndarray:
        return reduce(add, (K @ U for K in self.views))
