"""Synthetic views that are independent given the cluster, as the theory assumes, and views made of other data."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.optimize import linear_sum_assignment
from scipy.spatial.distance import cdist

from .._numbers import is_integer, is_truth_value
from ..arrays import Seed, make_generator
from ..data import Views, align
from ..data.blocks import index_columns
from ..data.inputs import ViewInput, coerce_view
from ._docs import share_docs


@share_docs
def make_gaussian_views(
    n_samples: int = 300,
    *,
    n_clusters: int = 3,
    n_features: tuple[int, ...] = (5, 5),
    separation: float = 3.0,
    missing: float = 0.0,
    random_state: Seed = None,
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
    random_state: Seed = None,
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
    n_samples: int = 1000, *, variance: float = 1.0, random_state: Seed = None
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
    spread: float = 0.5,
    random_state: Seed = None,
) -> tuple[Views, np.ndarray]:
    """Make three clusters in several views that are each wrong for some entities: the data of Tzortzis & Likas 2010.

    Every view has the same points of the plane, shifted, with some of them replaced by points of another cluster. Noisy
    views have the points with much noise added. The paper shows the three Gaussians only in a figure; as there, the
    ones here can be separated without error.

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
    spread : float, default=0.5
        Standard deviation of the clusters. With more than about 0.6 they overlap.
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
    if n_views < 0 or n_noisy < 0 or n_views + n_noisy == 0 or noise < 0 or spread < 0:
        raise ValueError(
            f"n_views={n_views}, n_noisy={n_noisy}, noise={noise} and spread={spread} must be 0 or more, with at least "
            "one view"
        )
    if not 0 <= n_corrupted <= n_samples:
        raise ValueError(f"n_corrupted={n_corrupted} must be from 0 to the {n_samples} entities")
    rng = make_generator(random_state)
    y = rng.permutation(np.arange(n_samples) % 3)
    means = LINE if in_line else CORNERS
    points = means[y] + spread * rng.standard_normal((n_samples, 2))
    blocks = {}
    for v in range(n_views):
        wrong = rng.choice(n_samples, size=n_corrupted, replace=False)
        wrong_cluster = (y[wrong] + rng.integers(1, 3, size=n_corrupted)) % 3
        block = points.copy()
        block[wrong] = means[wrong_cluster] + spread * rng.standard_normal((n_corrupted, 2))
        blocks[f"view{v}"] = block + rng.uniform(-10, 10, size=2)
    for v in range(n_noisy):
        blocks[f"noisy{v}"] = points + noise * rng.standard_normal(points.shape)
    return Views(blocks), y


CORNERS = np.array([[0.0, 0.0], [4.0, 0.0], [2.0, 3.5]])  # means of the three clusters
LINE = np.array([[0.0, 0.0], [3.0, 0.0], [6.0, 0.0]])


QUADRANTS = np.array([[3.0, 3.0], [-3.0, 3.0], [-3.0, -3.0], [3.0, -3.0]])
CLUSTERS = np.array([1, 0, 0, 1])  # right and left; above and below would be just as plausible


@share_docs
def make_four_quadrants(
    n_samples: int = 200, *, mapped: float = 1.0, random_state: Seed = None
) -> tuple[Views, np.ndarray]:
    """Make two sets of points around the corners of a square, partly mapped to each other.

    Points on the right are one cluster, points on the left the other. Each quadrant's points are divided between the
    two views, and points of one view are mapped one to one to near points of the other in the same quadrant.

    Parameters
    ----------
    n_samples : int, default=200
        Points in both views together; a multiple of 8.
    mapped : float, default=1.0
        Share of the points that are mapped to a point of the other view.
    %(random_state)s

    Returns
    -------
    views : Views
        Views ``a`` and ``b``; a mapped pair is one entity with both.
    y : ndarray of shape (n_entities,)
        The true cluster of each entity.

    Examples
    --------
    >>> views, y = make_four_quadrants(mapped=0.5, random_state=0)
    >>> len(views), views.present.sum(axis=0).tolist(), int(views.present.all(axis=1).sum())
    (150, [100, 100], 50)
    """
    if n_samples < 8 or n_samples % 8:
        raise ValueError(f"n_samples={n_samples} must be a multiple of 8: four quadrants in two views")
    if not 0 <= mapped <= 1:
        raise ValueError(f"mapped={mapped} must be a share from 0 to 1")
    rng = make_generator(random_state)
    quadrant = np.repeat(np.arange(4), n_samples // 8)
    a, b = (QUADRANTS[quadrant] + rng.standard_normal((len(quadrant), 2)) for _ in range(2))
    pairs = []
    for q in range(4):
        rows = np.flatnonzero(quadrant == q)
        left, right = linear_sum_assignment(cdist(a[rows], b[rows]))
        pairs.append(np.column_stack([rows[left], rows[right]]))
    mapping = np.vstack(pairs)[rng.permutation(len(quadrant))[: round(mapped * len(quadrant))]]
    views = align({"a": a, "b": b}, mapping={("a", "b"): mapping})
    row = views.rows.max(axis=1)  # both rows of an entity lie in one quadrant
    return views, CLUSTERS[quadrant[row]]


PAIR_TYPES = list | tuple | np.ndarray


@share_docs
def make_random_splits(X: Any, n_views: int = 2, *, random_state: Seed = None) -> Views:
    """Divide the columns of a block at random into views that share none.

    Parameters
    ----------
    X : array, sparse matrix or frame of shape (n_samples, n_columns)
        The block.
    n_views : int, default=2
        Number of views, all with the same number of columns, or one more.
    %(random_state)s

    Returns
    -------
    Views
        Views ``view0``, ``view1``, ... with the names that a frame gives to rows and columns. In views of a sparse
        block, a row without values is missing; a row without values in all views is present in all of them.

    Examples
    --------
    >>> views = make_random_splits(np.arange(12).reshape(2, 6), n_views=3, random_state=0)
    >>> views.names, [block.shape for _, block in views.items()]
    (('view0', 'view1', 'view2'), [(2, 2), (2, 2), (2, 2)])
    """
    block = coerce_view("X", X)
    d = block.values.shape[1]
    _check_integer("n_views", n_views)
    if not 1 <= n_views <= d:
        raise ValueError(f"n_views={n_views} must be from 1 to the {d} columns of X: each view needs at least one")
    groups = np.array_split(make_generator(random_state).permutation(d), n_views)
    blocks = {}
    for v, columns in enumerate(map(np.sort, groups)):
        names = None if block.columns is None else block.columns[columns]
        values = index_columns(block.values, columns.tolist())
        blocks[f"view{v}"] = ViewInput(values, block.ids, names, block.default_ids)
    views = Views.from_inputs(blocks)
    if not sp.issparse(block.values):
        return views
    has_data = np.stack([view.count_nonzero(axis=1) > 0 for _, view in views.items()], axis=1)
    return Views(views, present=has_data | ~has_data.any(axis=1, keepdims=True))


def _check_integer(name: str, value: Any) -> None:
    if not is_integer(value) or is_truth_value(value):
        raise TypeError(f"{name}={value!r} must be an integer")


@share_docs
def make_paired_views(
    X: Any, y: Any, pairs: Iterable[tuple[Any, Any]], *, n_samples: int = 200, random_state: Seed = None
) -> tuple[Views, np.ndarray]:
    """Pair rows of one class with rows of another at random: the construction of Nigam & Ghani 2000.

    An entity of the pair (a, b) consists of a row of class a and an unrelated row of class b. So the two views are
    independent given the class, as co-training assumes.

    Parameters
    ----------
    X : array, sparse matrix or frame of shape (n_rows, n_columns)
        The rows to draw from.
    y : array-like of shape (n_rows,)
        The class of each row.
    pairs : sequence of (class, class)
        For each new class the class of its first view and the class of its second view.
    n_samples : int, default=200
        Number of entities of each new class; no row is drawn twice for a pair, even if its classes are the same.
    %(random_state)s

    Returns
    -------
    views : Views
        Views ``first`` and ``second``, both with the columns of `X` and their names.
    y : ndarray of shape (len(pairs) * n_samples,)
        The pair of each entity, from 0.

    Examples
    --------
    >>> X, y = np.arange(24).reshape(12, 2), np.repeat(["a", "b", "c", "d"], 3)
    >>> views, pair = make_paired_views(X, y, [("a", "b"), ("c", "d")], n_samples=3, random_state=0)
    >>> views.shape, pair.tolist()
    ((6, 4), [0, 0, 0, 1, 1, 1])
    """
    block, y = coerce_view("X", X), np.asarray(y)
    n_rows = block.values.shape[0]
    if y.shape != (n_rows,):
        raise ValueError(f"y must give a class to each of the {n_rows} rows of X, got shape {y.shape}")
    pairs = list(pairs) if np.iterable(pairs) else pairs
    are_pairs = isinstance(pairs, list) and all(isinstance(pair, PAIR_TYPES) and len(pair) == 2 for pair in pairs)
    if not pairs or not are_pairs:
        raise ValueError(f"pairs must be pairs of classes, got {pairs}: [('a', 'b'), ('c', 'd')]")
    _check_integer("n_samples", n_samples)
    if n_samples < 1:
        raise ValueError(f"n_samples={n_samples} must be 1 or more")
    rng = make_generator(random_state)
    rows = np.array([_draw_pair(y, pair, n_samples, rng) for pair in pairs])  # (pair, side, sample)
    first, second = (ViewInput(block.values[rows[:, side].ravel()], columns=block.columns) for side in range(2))
    return Views.from_inputs({"first": first, "second": second}), np.repeat(np.arange(len(pairs)), n_samples)


def _draw_pair(y: np.ndarray, pair: tuple[Any, Any], n: int, rng: np.random.Generator) -> list[np.ndarray]:
    """Draw rows of both classes; if the classes are the same, no row is on both sides."""
    first, second = pair
    if first == second:
        return np.split(_draw_rows(y, first, 2 * n, rng, f"for both sides 2 * n_samples={2 * n}"), 2)
    return [_draw_rows(y, label, n, rng, f"n_samples={n}") for label in (first, second)]


def _draw_rows(y: np.ndarray, label: Any, n: int, rng: np.random.Generator, request: str) -> np.ndarray:
    """Draw rows of a class without replacement."""
    rows = np.flatnonzero(y == label)
    if not rows.size:
        classes = ", ".join(map(repr, np.unique(y).tolist()[:10]))
        raise ValueError(f"pairs names the class {label!r}, which y does not have; it has {classes}")
    if len(rows) < n:
        raise ValueError(f"class {label!r} has {len(rows)} rows, {request} are requested: draw fewer")
    return rng.permutation(rows)[:n]
