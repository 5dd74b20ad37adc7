"""Synthetic views that are independent given the cluster, which is what the theory asks for."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

from ..arrays import make_generator
from ..data import Views


def make_gaussian_views(
    n_samples: int = 300,
    *,
    n_clusters: int = 3,
    n_features: tuple[int, ...] = (5, 5),
    separation: float = 3.0,
    missing: float = 0.0,
    random_state: Any = None,
) -> tuple[Views, np.ndarray]:
    """Gaussian clusters in several views, independent given the cluster.

    Parameters
    ----------
    n_samples : int, default=300
        Number of entities.
    n_clusters : int, default=3
        Number of clusters, all of about the same size.
    n_features : tuple of int, default=(5, 5)
        Columns of each view.
    separation : float, default=3.0
        Distance between two centres of a view, on average, in standard deviations within a cluster.
    missing : float, default=0.0
        Share of the views taken away at random; every entity keeps at least one.
    random_state : int, Generator, RandomState or None, default=None
        Seed.

    Returns
    -------
    views : Views
        Views ``view0``, ``view1``, ...
    y : ndarray of shape (n_samples,)
        The true cluster of each entity.

    Examples
    --------
    >>> views, y = make_gaussian_views(100, n_features=(4, 2, 3), random_state=0)
    >>> views.shape, len(y)
    ((100, 9), 100)
    """
    rng = make_generator(random_state)
    y = rng.permutation(np.arange(n_samples) % n_clusters)
    blocks = []
    for d in n_features:
        # the difference of two such centres has expected squared length separation ** 2
        centres = rng.standard_normal((n_clusters, d)) * separation / np.sqrt(2 * d)
        blocks.append(centres[y] + rng.standard_normal((n_samples, d)))
    present = _present(n_samples, len(blocks), missing, rng)
    for block, here in zip(blocks, present.T, strict=True):
        block[~here] = np.nan
    return Views(blocks, present=present), y


def make_text_views(
    n_samples: int = 300,
    *,
    n_clusters: int = 3,
    n_words: tuple[int, ...] = (500, 500),
    length: float = 50,
    topic_share: float = 0.3,
    missing: float = 0.0,
    random_state: Any = None,
) -> tuple[Views, np.ndarray]:
    """Bags of words in several views, independent given the cluster.

    A view's words come from a background that all clusters share, mixed with words typical of the cluster.

    Parameters
    ----------
    n_samples : int, default=300
        Number of documents.
    n_clusters : int, default=3
        Number of clusters, all of about the same size.
    n_words : tuple of int, default=(500, 500)
        Size of each view's vocabulary.
    length : float, default=50
        Mean number of words of a document in a view.
    topic_share : float, default=0.3
        Share of words that are drawn from the cluster's own distribution: the smaller, the harder.
    missing : float, default=0.0
        Share of the views that are left empty (all-zero rows, marked absent); every document keeps at least one.
    random_state : int, Generator, RandomState or None, default=None
        Seed.

    Returns
    -------
    views : Views
        Sparse counts, views ``view0``, ``view1``, ...
    y : ndarray of shape (n_samples,)
        The true cluster of each document.

    Examples
    --------
    >>> views, y = make_text_views(100, n_words=(50, 80), random_state=0)
    >>> views["view1"].shape, int(views["view1"].min())
    ((100, 80), 0)
    """
    rng = make_generator(random_state)
    y = rng.permutation(np.arange(n_samples) % n_clusters)
    present = _present(n_samples, len(n_words), missing, rng)
    blocks = []
    for here, d in zip(present.T, n_words, strict=True):
        background = rng.dirichlet(np.full(d, 0.5))
        topics = rng.dirichlet(np.full(d, 0.1), size=n_clusters)
        words = (1 - topic_share) * background + topic_share * topics
        lengths = np.where(here, np.maximum(1, rng.poisson(length, n_samples)), 0)
        documents = [rng.choice(d, size=n, p=words[j]) for n, j in zip(lengths, y, strict=True)]
        drawn = np.concatenate(documents), np.concatenate([[0], np.cumsum(lengths)])
        counts = sp.csr_array((np.ones(len(drawn[0]), np.int64), *drawn), shape=(n_samples, d))
        counts.sum_duplicates()
        blocks.append(counts)
    return Views(blocks, present=present), y


def _present(n: int, n_views: int, missing: float, rng: np.random.Generator) -> np.ndarray:
    """A presence mask with a share of its entries taken away, none of its rows emptied."""
    if not 0 <= missing < 1:
        raise ValueError(f"missing must be a share from 0 to below 1, got {missing}")
    present = rng.random((n, n_views)) >= missing
    kept = rng.integers(n_views, size=n)
    present[np.arange(n), kept] |= ~present.any(axis=1)
    return present


def make_overlapping_views(
    n_samples: int = 1000, *, variance: float = 1.0, random_state: Any = None
) -> tuple[Views, np.ndarray]:
    """Two clusters that overlap in three views of two columns: the synthetic data of Kumar & Daumé 2011.

    As printed, their Table 1 cannot be reached: a classifier that knows the distributions has a pairwise F of 0.92 in
    the first view and 0.975 in all three, and 0.971 and 0.998 are reported. With the covariances halved
    (``variance=0.5``) the row of the best single view comes out.

    Parameters
    ----------
    n_samples : int, default=1000
        Number of entities.
    variance : float, default=1.0
        Factor on the covariances that are printed.
    random_state : int, Generator, RandomState or None, default=None
        Seed.

    Returns
    -------
    views : Views
        Views ``view0``, ``view1`` and ``view2``.
    y : ndarray of shape (n_samples,)
        The true cluster of each entity.

    Examples
    --------
    >>> views, y = make_overlapping_views(100, random_state=0)
    >>> views.shape, np.bincount(y).tolist()
    ((100, 6), [50, 50])
    """
    rng = make_generator(random_state)
    y = rng.permutation(np.arange(n_samples) % 2)
    blocks = []
    for means, covariances in OVERLAPPING:
        drawn = [
            rng.multivariate_normal(mean, variance * np.array(covariance), size=n_samples)
            for mean, covariance in zip(means, covariances, strict=True)
        ]
        blocks.append(np.where((y == 0)[:, None], *drawn))
    return Views(blocks), y


OVERLAPPING = (  # of each view the means and covariances of both clusters, as printed
    (((1, 1), (3, 4)), (((1, 0.5), (0.5, 1.5)), ((0.3, 0.2), (0.2, 0.6)))),
    (((1, 2), (2, 2)), (((1, -0.2), (-0.2, 1)), ((0.6, 0.1), (0.1, 0.5)))),
    (((1, 1), (3, 3)), (((1.2, 0.2), (0.2, 1)), ((1, 0.4), (0.4, 0.7)))),
)


def make_corrupted_views(
    n_samples: int = 700,
    *,
    n_views: int = 2,
    n_noisy: int = 0,
    n_corrupted: int = 50,
    noise: float = 2.5,
    in_line: bool = False,
    random_state: Any = None,
) -> tuple[Views, np.ndarray]:
    """Three clusters seen in several views, each wrong about some entities: the data of Tzortzis & Likas 2010.

    Every view shows the same points in the plane, moved somewhere else, with some of them replaced by points of another
    cluster. Noisy views show the points with much noise added. The paper gives the three Gaussians as a picture only:
    these are such that it, too, tells them apart without error.

    Parameters
    ----------
    n_samples : int, default=700
        Number of entities.
    n_views : int, default=2
        Number of views with wrong points.
    n_noisy : int, default=0
        Number of noisy views.
    n_corrupted : int, default=50
        Points that are wrong in each view, drawn anew for each.
    noise : float, default=2.5
        Standard deviation of the noise in noisy views.
    in_line : bool, default=False
        Whether the clusters lie in a line instead of a triangle. This is a guess: with it, Tables I and III come out
        nearly as printed (see docs/papers/tzortzis-likas-2010.md).
    random_state : int, Generator, RandomState or None, default=None
        Seed.

    Returns
    -------
    views : Views
        Views ``view0``, ``view1``, ... and ``noisy0``, ``noisy1``, ...
    y : ndarray of shape (n_samples,)
        The true cluster of each entity.

    Examples
    --------
    >>> views, y = make_corrupted_views(n_views=2, n_noisy=1, random_state=0)
    >>> views.names, views.shape
    (('view0', 'view1', 'noisy0'), (700, 6))
    """
    if n_views < 0 or n_noisy < 0 or n_views + n_noisy == 0 or noise < 0:
        raise ValueError(
            f"n_views={n_views}, n_noisy={n_noisy} and noise={noise} must be 0 or more, with a view at least"
        )
    if not 0 <= n_corrupted <= n_samples:
        raise ValueError(f"n_corrupted={n_corrupted} must be from 0 to the {n_samples} entities")
    rng = make_generator(random_state)
    y = rng.permutation(np.arange(n_samples) % 3)
    means = LINE if in_line else CORNERS
    points = means[y] + SPREAD * rng.standard_normal((n_samples, 2))
    blocks = {}
    for v in range(n_views):
        wrong = rng.choice(n_samples, size=n_corrupted, replace=False)
        elsewhere = (y[wrong] + rng.integers(1, 3, size=n_corrupted)) % 3
        block = points.copy()
        block[wrong] = means[elsewhere] + SPREAD * rng.standard_normal((n_corrupted, 2))
        blocks[f"view{v}"] = block + rng.uniform(-10, 10, size=2)
    for v in range(n_noisy):
        blocks[f"noisy{v}"] = points + noise * rng.standard_normal(points.shape)
    return Views(blocks), y


CORNERS = np.array([[0.0, 0.0], [4.0, 0.0], [2.0, 3.5]])  # the means of the three clusters
LINE = np.array([[0.0, 0.0], [3.0, 0.0], [6.0, 0.0]])
SPREAD = 0.5  # their standard deviation
