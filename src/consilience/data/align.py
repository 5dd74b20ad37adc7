"""A partial mapping between collections becomes a question of who is present where."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from .coerce import ViewInput, coerce_view
from .links import label_components
from .views import Views, name_blocks


def align(blocks: Mapping[str, Any], mapping: Mapping[tuple[str, str], Any]) -> Views:
    """Join collections of which only some rows are known to describe the same entity.

    Parameters
    ----------
    blocks : mapping of str to block
        The views, each with its own rows.
    mapping : mapping of (str, str) to sequence of (int, int)
        For a pair of views the pairs of rows that are the same entity. Through a third view counts too. Where a row is
        mapped to several rows of a view, or these meet through others, each pair is an entity of its own: a row may
        then belong to several entities.

    Returns
    -------
    Views
        One entity for each group of mapped rows (or each pair, see above) and each unmapped row; ``views.rows`` says
        which row it was.

    Examples
    --------
    >>> import numpy as np
    >>> views = align({"a": np.eye(3), "b": np.eye(4)}, mapping={("a", "b"): [(0, 3), (2, 1)]})
    >>> views.rows.tolist()
    [[0, 3], [1, -1], [2, 1], [-1, 0], [-1, 2]]
    >>> align({"page": np.eye(2), "image": np.eye(3)}, {("page", "image"): [(0, 0), (0, 1)]}).rows.tolist()
    [[0, 0], [0, 1], [1, -1], [-1, 2]]
    """
    read = {name: coerce_view(name, block) for name, block in name_blocks(blocks)}
    sizes = [block.values.shape[0] for block in read.values()]
    first_row = dict(zip(read, np.concatenate([[0], np.cumsum(sizes)]), strict=False))
    ends = [_check_pairs(pair, pairs, read, first_row) for pair, pairs in mapping.items()]
    pairs = np.sort(np.concatenate([np.zeros((2, 0), np.intp), *ends], axis=1), axis=0).T
    view = np.repeat(np.arange(len(sizes)), sizes)
    row = np.concatenate([np.arange(n) for n in sizes])
    members, entity = _entities(pairs, view)
    rows = np.full((entity.max(initial=-1) + 1, len(read)), -1)
    rows[entity, view[members]] = row[members]
    return Views.from_inputs(
        {name: ViewInput(block.values, columns=block.columns) for name, block in read.items()}, rows
    )


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


def _entities(pairs: np.ndarray, view: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Rows, numbered through all views, and the entity of each; entities are in the order of their rows.

    Rows that the mapping connects are one entity. If that were to have two rows of one view, each pair is an entity.
    """
    n, n_views = len(view), view.max(initial=0) + 1
    group = label_components(pairs, n)
    cells, counts = np.unique(group * n_views + view, return_counts=True)
    crowded = np.isin(group, cells[counts > 1] // n_views)
    alone = np.flatnonzero(~crowded)
    apart = np.unique(pairs[crowded[pairs[:, 0]]], axis=0)
    members = np.concatenate([alone, apart.ravel()])
    entity = np.concatenate([group[alone], n + np.repeat(np.arange(len(apart)), 2)])
    _, first, inverse = np.unique(entity, return_index=True, return_inverse=True)
    # an entity's first row, then its second: of groups the first is enough, for a row is in one only
    second = members[np.minimum(first + 1, len(members) - 1)]
    rank = np.empty(len(first), np.intp)
    rank[np.lexsort((second, members[first]))] = np.arange(len(first))
    return members, rank[inverse]
