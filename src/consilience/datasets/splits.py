"""Views made of a data set that has none: its columns divided at random, or its classes paired."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
import scipy.sparse as sp

from .._backend import generator
from ..data import Views, index_columns, to_block


def make_random_splits(X: Any, n_views: int = 2, *, random_state: Any = None) -> Views:
    """Put the columns of one block at random into views that share none.

    Parameters
    ----------
    X : array, sparse matrix or frame of shape (n_samples, n_columns)
        The block.
    n_views : int, default=2
        Number of views, all with the same number of columns, or one more.
    random_state : int, Generator, RandomState or None, default=None
        Seed.

    Returns
    -------
    Views
        Views ``view0``, ``view1``, ... Of a sparse block, a row without any value in a view is missing there; a row
        without any value at all is there in all of them.

    Examples
    --------
    >>> views = make_random_splits(np.arange(12).reshape(2, 6), n_views=3, random_state=0)
    >>> views.names, [block.shape for _, block in views.items()]
    (('view0', 'view1', 'view2'), [(2, 2), (2, 2), (2, 2)])
    """
    block = to_block("X", X).values
    d = block.shape[1]
    if not 1 <= n_views <= d:
        raise ValueError(f"n_views={n_views} must be from 1 to the {d} columns of X: each view needs one at least")
    parts = np.array_split(generator(random_state).permutation(d), n_views)
    cut = {f"view{v}": index_columns(block, np.sort(own).tolist()) for v, own in enumerate(parts)}
    if not sp.issparse(block):
        return Views(cut)
    filled = np.stack([own.count_nonzero(axis=1) > 0 for own in cut.values()], axis=1)
    return Views(cut, present=filled | ~filled.any(axis=1, keepdims=True))


def make_paired_views(
    X: Any, y: Any, pairs: Iterable[tuple[Any, Any]], *, n_samples: int = 200, random_state: Any = None
) -> tuple[Views, np.ndarray]:
    """Put rows of one class beside rows of another, at random: the construction of Nigam & Ghani 2000.

    An entity of the first pair (a, b) is a row of class a and a row of class b that have nothing to do with each other.
    So the two views are independent given the class, which is what co-training asks for.

    Parameters
    ----------
    X : array, sparse matrix or frame of shape (n_rows, n_columns)
        The rows to draw from.
    y : array-like of shape (n_rows,)
        The class of each.
    pairs : sequence of (class, class)
        For each new class the one that its first view is drawn from, and the one of its second.
    n_samples : int, default=200
        Entities of each new class; no row is drawn twice for a pair.
    random_state : int, Generator, RandomState or None, default=None
        Seed.

    Returns
    -------
    views : Views
        Views ``first`` and ``second``, both with the columns of `X`.
    y : ndarray of shape (len(pairs) * n_samples,)
        The pair that each entity is of, from 0.

    Examples
    --------
    >>> X, y = np.arange(24).reshape(12, 2), np.repeat(["a", "b", "c", "d"], 3)
    >>> views, pair = make_paired_views(X, y, [("a", "b"), ("c", "d")], n_samples=3, random_state=0)
    >>> views.shape, pair.tolist()
    ((6, 4), [0, 0, 0, 1, 1, 1])
    """
    block, y, pairs = to_block("X", X).values, np.asarray(y), list(pairs)
    if y.shape != (block.shape[0],):
        raise ValueError(f"y must give a class to each of the {block.shape[0]} rows of X, got shape {y.shape}")
    if not pairs or any(len(pair) != 2 for pair in pairs):
        raise ValueError(f"pairs must be pairs of classes, got {pairs}: [('a', 'b'), ('c', 'd')]")
    if n_samples < 1:
        raise ValueError(f"n_samples={n_samples} must be 1 or more")
    rng = generator(random_state)
    drawn = np.array([[_drawn(y, one, n_samples, rng) for one in pair] for pair in pairs])  # (pair, side, sample)
    first, second = (block[drawn[:, side].ravel()] for side in range(2))
    return Views({"first": first, "second": second}), np.repeat(np.arange(len(pairs)), n_samples)


def _drawn(y: np.ndarray, one: Any, n: int, rng: np.random.Generator) -> np.ndarray:
    """Rows of a class in random order, none of them twice."""
    own = np.flatnonzero(y == one)
    if not own.size:
        known = ", ".join(map(repr, np.unique(y).tolist()[:10]))
        raise ValueError(f"pairs names the class {one!r}, which y does not have; it has {known}")
    if len(own) < n:
        raise ValueError(f"class {one!r} has {len(own)} rows, n_samples={n} are wanted: draw fewer")
    return rng.permutation(own)[:n]
