"""Synthetic views that are independent given the cluster, as the theory assumes."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

from ..arrays import make_generator
from ..data import Views
from ._docs import share_docs


@share_docs
def make_gaussian_views(
    n_samples: int = 300,
    *,
    n_clusters: int = 3,
    n_features: tuple[int, ...] = (5, 5),
    separation: float = 3.0,
    missing: float = 0.0,
    random_state: Any = None,
) -> tuple[Views, np.ndarray]:
    """Make Gaussian clusters in several views that are independent given the cluster.

    Parameters
    ----------
    %(n_samples)s
    %(n_clusters)s
    n_features : tuple of int, default=(5, 5)
        Columns of each view.
    separation : float, default=3.0
        Average distance between two centers of a view, in standard deviations within a cluster.
    missing : float, default=0.0
        Share of the views that are missing at random; every entity keeps at least one.
    %(random_state)s

    Returns
    -------
    views : Views
        Views ``view0``, ``view1``, ...
    %(y)s

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
        # the difference of two centers has expected squared length separation ** 2
        centers = rng.standard_normal((n_clusters, d)) * separation / np.sqrt(2 * d)
        blocks.append(centers[y] + rng.standard_normal((n_samples, d)))
    present = _draw_mask(n_samples, len(blocks), missing, rng)
    for block, is_present in zip(blocks, present.T, strict=True):
        block[~is_present] = np.nan
    return Views(blocks, present=present), y


@share_docs
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
    """Make bags of words in several views that are independent given the cluster.

    A view's words come from a background that all clusters share, mixed with words typical of the cluster.

    Parameters
    ----------
    n_samples : int, default=300
        Number of documents.
    %(n_clusters)s
    n_words : tuple of int, default=(500, 500)
        Size of each view's vocabulary.
    length : float, default=50
        Mean number of words per document and view.
    topic_share : float, default=0.3
        Share of words that are drawn from the cluster's distribution: the smaller, the harder.
    missing : float, default=0.0
        Share of the views that are left empty (all-zero rows, marked absent); every document keeps at least one.
    %(random_state)s

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
    present = _draw_mask(n_samples, len(n_words), missing, rng)
    blocks = []
    for is_present, d in zip(present.T, n_words, strict=True):
        background = rng.dirichlet(np.full(d, 0.5))
        topics = rng.dirichlet(np.full(d, 0.1), size=n_clusters)
        words = (1 - topic_share) * background + topic_share * topics
        lengths = np.where(is_present, np.maximum(1, rng.poisson(length, n_samples)), 0)
        documents = [rng.choice(d, size=n, p=words[j]) for n, j in zip(lengths, y, strict=True)]
        columns, indptr = np.concatenate(documents), np.concatenate([[0], np.cumsum(lengths)])
        counts = sp.csr_array((np.ones(len(columns), np.int64), columns, indptr), shape=(n_samples, d))
        counts.sum_duplicates()
        blocks.append(counts)
    return Views(blocks, present=present), y


def _draw_mask(n: int, n_views: int, missing: float, rng: np.random.Generator) -> np.ndarray:
    """Draw a presence mask with a share of missing entries, but none of its rows empty."""
    if not 0 <= missing < 1:
        raise ValueError(f"missing must be a share from 0 to below 1, got {missing}")
    present = rng.random((n, n_views)) >= missing
    kept = rng.integers(n_views, size=n)
    present[np.arange(n), kept] |= ~present.any(axis=1)
    return present


@share_docs
def make_overlapping_views(
    n_samples: int = 1000, *, variance: float = 1.0, random_state: Any = None
) -> tuple[Views, np.ndarray]:
    """Make two clusters that overlap in three views of two columns: the synthetic data of Kumar & Daumé 2011.

    Their Table 1 cannot be reproduced with the printed parameters: a classifier that uses the true distributions has a
    pairwise F of 0.92 in the first view and 0.975 in all three, but 0.971 and 0.998 are reported. With half the
    covariances (``variance=0.5``) the row of the best single view is reproduced.

    Parameters
    ----------
    %(n_samples)s
    variance : float, default=1.0
        Factor of the printed covariances.
    %(random_state)s

    Returns
    -------
    views : Views
        Views ``view0``, ``view1`` and ``view2``.
    %(y)s

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
        samples = [
            rng.multivariate_normal(mean, variance * np.array(covariance), size=n_samples)
            for mean, covariance in zip(means, covariances, strict=True)
        ]
        blocks.append(np.where((y == 0)[:, None], *samples))
    return Views(blocks), y


OVERLAPPING = (  # means and covariances of both clusters in each view, as printed
    (((1, 1), (3, 4)), (((1, 0.5), (0.5, 1.5)), ((0.3, 0.2), (0.2, 0.6)))),
    (((1, 2), (2, 2)), (((1, -0.2), (-0.2, 1)), ((0.6, 0.1), (0.1, 0.5)))),
    (((1, 1), (3, 3)), (((1.2, 0.2), (0.2, 1)), ((1, 0.4), (0.4, 0.7)))),
)


@share_docs
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
    """Make three clusters in several views that are each wrong for some entities: the data of Tzortzis & Likas 2010.

    Every view has the same points of the plane, shifted, with some of them replaced by points of another cluster. Noisy
    views have the points with much noise added. The paper shows the three Gaussians only in a figure; the ones here can
    be separated without error, too.

    Parameters
    ----------
    %(n_samples)s
    n_views : int, default=2
        Number of views with wrong points.
    n_noisy : int, default=0
        Number of noisy views.
    n_corrupted : int, default=50
        Number of wrong points in each view, drawn separately for each view.
    noise : float, default=2.5
        Standard deviation of the noise in noisy views.
    in_line : bool, default=False
        Whether the clusters lie in a line instead of a triangle. This is a guess that almost reproduces Tables I and
        III (see docs/papers/tzortzis-likas-2010.md).
    %(random_state)s

    Returns
    -------
    views : Views
        Views ``view0``, ``view1``, ... and ``noisy0``, ``noisy1``, ...
    %(y)s

    Examples
    --------
    >>> views, y = make_corrupted_views(n_views=2, n_noisy=1, random_state=0)
    >>> views.names, views.shape
    (('view0', 'view1', 'noisy0'), (700, 6))
    """
    if n_views < 0 or n_noisy < 0 or n_views + n_noisy == 0 or noise < 0:
        raise ValueError(
            f"n_views={n_views}, n_noisy={n_noisy} and noise={noise} must be 0 or more, with at least one view"
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
        wrong_cluster = (y[wrong] + rng.integers(1, 3, size=n_corrupted)) % 3
        block = points.copy()
        block[wrong] = means[wrong_cluster] + SPREAD * rng.standard_normal((n_corrupted, 2))
        blocks[f"view{v}"] = block + rng.uniform(-10, 10, size=2)
    for v in range(n_noisy):
        blocks[f"noisy{v}"] = points + noise * rng.standard_normal(points.shape)
    return Views(blocks), y


CORNERS = np.array([[0.0, 0.0], [4.0, 0.0], [2.0, 3.5]])  # means of the three clusters
LINE = np.array([[0.0, 0.0], [3.0, 0.0], [6.0, 0.0]])
SPREAD = 0.5  # standard deviation of the clusters
