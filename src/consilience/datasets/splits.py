"""Make views of data that has one: divide its columns at random, or pair its classes."""

from __future__ import annotations

from collections.abc import Iterable
from numbers import Integral
from typing import Any

import numpy as np
import scipy.sparse as sp

from ..arrays import make_generator
from ..data import Views
from ..data.blocks import index_columns
from ..data.inputs import ViewInput, coerce_view
from ._docs import share_docs

PAIR_TYPES = list | tuple | np.ndarray


@share_docs
def make_random_splits(X: Any, n_views: int = 2, *, random_state: Any = None) -> Views:
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
    views = Views.from_inputs(
        {f"view{v}": _select_columns(block, np.sort(columns)) for v, columns in enumerate(groups)}
    )
    if not sp.issparse(block.values):
        return views
    has_data = np.stack([view.count_nonzero(axis=1) > 0 for _, view in views.items()], axis=1)
    return Views(views, present=has_data | ~has_data.any(axis=1, keepdims=True))


def _select_columns(block: ViewInput, columns: np.ndarray) -> ViewInput:
    names = None if block.columns is None else block.columns[columns]
    return ViewInput(index_columns(block.values, columns.tolist()), block.ids, names, block.default_ids)


def _check_integer(name: str, value: Any) -> None:
    if not isinstance(value, Integral) or isinstance(value, bool):
        raise TypeError(f"{name}={value!r} must be an integer")


@share_docs
def make_paired_views(
    X: Any, y: Any, pairs: Iterable[tuple[Any, Any]], *, n_samples: int = 200, random_state: Any = None
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
    pairs = list(pairs) if isinstance(pairs, Iterable) else pairs
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
