"""Views made of a data set that has none: its columns divided at random, or its classes paired."""

from __future__ import annotations

from collections.abc import Iterable
from numbers import Integral
from typing import Any

import numpy as np
import scipy.sparse as sp

from ..arrays import make_generator
from ..data import Views, coerce_view, index_columns
from ..data.coerce import ViewInput


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
        Views ``view0``, ``view1``, ... with the names that a frame gives to rows and columns. Of a sparse block, a row
        without any value in a view is missing there; a row without any value at all is there in all of them.

    Examples
    --------
    >>> views = make_random_splits(np.arange(12).reshape(2, 6), n_views=3, random_state=0)
    >>> views.names, [block.shape for _, block in views.items()]
    (('view0', 'view1', 'view2'), [(2, 2), (2, 2), (2, 2)])
    """
    whole = coerce_view("X", X)
    block, d = whole.values, whole.values.shape[1]
    _check_whole("n_views", n_views)
    if not 1 <= n_views <= d:
        raise ValueError(f"n_views={n_views} must be from 1 to the {d} columns of X: each view needs one at least")
    parts = np.array_split(make_generator(random_state).permutation(d), n_views)
    views = Views._of({f"view{v}": _part(whole, np.sort(own)) for v, own in enumerate(parts)})
    if not sp.issparse(block):
        return views
    filled = np.stack([own.count_nonzero(axis=1) > 0 for _, own in views.items()], axis=1)
    return Views(views, present=filled | ~filled.any(axis=1, keepdims=True))


def _part(block: ViewInput, own: np.ndarray) -> ViewInput:
    """Some of the columns, by position."""
    names = None if block.columns is None else block.columns[own]
    return ViewInput(index_columns(block.values, own.tolist()), block.ids, names, block.default_ids)


def _check_whole(name: str, value: Any) -> None:
    if not isinstance(value, Integral) or isinstance(value, bool):
        raise TypeError(f"{name}={value!r} must be a whole number")


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
        Entities of each new class; no row is drawn twice for a pair, be its classes the same or not.
    random_state : int, Generator, RandomState or None, default=None
        Seed.

    Returns
    -------
    views : Views
        Views ``first`` and ``second``, both with the columns of `X` and their names.
    y : ndarray of shape (len(pairs) * n_samples,)
        The pair that each entity is of, from 0.

    Examples
    --------
    >>> X, y = np.arange(24).reshape(12, 2), np.repeat(["a", "b", "c", "d"], 3)
    >>> views, pair = make_paired_views(X, y, [("a", "b"), ("c", "d")], n_samples=3, random_state=0)
    >>> views.shape, pair.tolist()
    ((6, 4), [0, 0, 0, 1, 1, 1])
    """
    whole, y = coerce_view("X", X), np.asarray(y)
    block = whole.values
    if y.shape != (block.shape[0],):
        raise ValueError(f"y must give a class to each of the {block.shape[0]} rows of X, got shape {y.shape}")
    pairs = list(pairs) if isinstance(pairs, Iterable) else pairs
    if not pairs or not isinstance(pairs, list) or not all(map(_is_pair, pairs)):
        raise ValueError(f"pairs must be pairs of classes, got {pairs}: [('a', 'b'), ('c', 'd')]")
    _check_whole("n_samples", n_samples)
    if n_samples < 1:
        raise ValueError(f"n_samples={n_samples} must be 1 or more")
    rng = make_generator(random_state)
    drawn = np.array([_drawn_pair(y, one, other, n_samples, rng) for one, other in pairs])  # (pair, side, sample)
    first, second = (ViewInput(block[drawn[:, side].ravel()], columns=whole.columns) for side in range(2))
    return Views._of({"first": first, "second": second}), np.repeat(np.arange(len(pairs)), n_samples)


def _is_pair(pair: Any) -> bool:
    return isinstance(pair, list | tuple | np.ndarray) and len(pair) == 2


def _drawn_pair(y: np.ndarray, one: Any, other: Any, n: int, rng: np.random.Generator) -> list[np.ndarray]:
    """Rows of both classes; where they are the same, no row is on both sides."""
    if one == other:
        return np.split(_drawn(y, one, 2 * n, rng, f"for both sides 2 * n_samples={2 * n}"), 2)
    return [_drawn(y, own, n, rng, f"n_samples={n}") for own in (one, other)]


def _drawn(y: np.ndarray, one: Any, n: int, rng: np.random.Generator, wanted: str) -> np.ndarray:
    """Rows of a class in random order, none of them twice."""
    own = np.flatnonzero(y == one)
    if not own.size:
        known = ", ".join(map(repr, np.unique(y).tolist()[:10]))
        raise ValueError(f"pairs names the class {one!r}, which y does not have; it has {known}")
    if len(own) < n:
        raise ValueError(f"class {one!r} has {len(own)} rows, {wanted} are wanted: draw fewer")
    return rng.permutation(own)[:n]
