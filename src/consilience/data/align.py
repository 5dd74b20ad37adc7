"""A partial mapping between collections becomes a question of who is present where."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import scipy.sparse as sp

from .coerce import Block, to_block
from .views import Views, _named


def align(blocks: Mapping[str, Any], mapping: Mapping[tuple[str, str], Any]) -> Views:
    """Join collections of which only some rows are known to describe the same entity.

    Parameters
    ----------
    blocks : mapping of str to block
        The views, each with its own rows.
    mapping : mapping of (str, str) to sequence of (int, int)
        For a pair of views the pairs of rows that are the same entity. Through a third view counts too.

    Returns
    -------
    Views
        One entity for each group of mapped rows and each unmapped row; ``views.rows`` says which row it was.

    Examples
    --------
    >>> import numpy as np
    >>> views = align({"a": np.eye(3), "b": np.eye(4)}, mapping={("a", "b"): [(0, 3), (2, 1)]})
    >>> views.rows.tolist()
    [[0, 3], [1, -1], [2, 1], [-1, 0], [-1, 2]]
    """
    read = {name: to_block(name, block) for name, block in _named(blocks)}
    sizes = [block.values.shape[0] for block in read.values()]
    first_row = dict(zip(read, np.concatenate([[0], np.cumsum(sizes)]), strict=False))
    ends = [_check_pairs(pair, pairs, read, first_row) for pair, pairs in mapping.items()]
    left, right = np.concatenate(ends, axis=1) if ends else np.zeros((2, 0), int)
    graph = sp.coo_array((np.ones(len(left), bool), (left, right)), shape=(sum(sizes), sum(sizes)))
    entity = _in_order_of_appearance(sp.csgraph.connected_components(graph, directed=False)[1])
    rows = np.full((entity.max(initial=-1) + 1, len(read)), -1)
    for v, (name, n) in enumerate(zip(read, sizes, strict=True)):
        own = entity[first_row[name] : first_row[name] + n]
        rows[own, v] = np.arange(n)
        if len(np.unique(own)) < n:
            twice = np.flatnonzero(np.bincount(own) > 1)[0]
            a, b = np.flatnonzero(own == twice)[:2]
            raise ValueError(
                f"the mapping makes rows {a} and {b} of view {name!r} one entity: an entity has one row a view. "
                "Merge these rows, or leave one of the pairs out"
            )
    return Views._of({name: Block(block.values, columns=block.columns) for name, block in read.items()}, rows)


def _check_pairs(pair: Any, pairs: Any, read: Mapping[str, Any], first_row: Mapping[str, int]) -> np.ndarray:
    """The mapped rows of two views, numbered through all views: (2, n_pairs)."""
    if not (isinstance(pair, tuple) and len(pair) == 2 and all(name in read for name in pair) and pair[0] != pair[1]):
        raise ValueError(f"a mapping is between two of the views {', '.join(map(repr, read))}, got {pair!r}")
    rows = _as_pairs(pair, pairs)
    for name, column in zip(pair, rows.T, strict=True):
        n = read[name].values.shape[0]
        wrong = column[(column < 0) | (column >= n)]
        if len(wrong):
            raise ValueError(
                f"the mapping {pair!r} names row {wrong[0]} of view {name!r}, which has {n} rows (0 to {n - 1})"
            )
    return rows.T + np.array([[first_row[pair[0]]], [first_row[pair[1]]]])


def _as_pairs(pair: tuple[str, str], pairs: Any) -> np.ndarray:
    try:
        rows = np.asarray(pairs)
    except ValueError:  # ragged
        rows = np.empty(0, dtype=object)
    if rows.shape == (0,) and rows.dtype != object:
        return np.zeros((0, 2), np.intp)
    if rows.ndim != 2 or rows.shape[1] != 2 or rows.dtype.kind not in "iu":
        raise ValueError(
            f"the mapping {pair!r} must list pairs of row numbers, [(row of {pair[0]!r}, row of {pair[1]!r}), ...]"
        )
    return rows.astype(np.intp)


def _in_order_of_appearance(groups: np.ndarray) -> np.ndarray:
    _, first, inverse = np.unique(groups, return_index=True, return_inverse=True)
    rank = np.empty(len(first), int)
    rank[np.argsort(first)] = np.arange(len(first))
    return rank[inverse]
