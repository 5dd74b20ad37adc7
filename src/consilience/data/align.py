"""Views from collections of which only some rows are mapped to each other."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from .inputs import coerce_view
from .links import label_components
from .views import Views, name_blocks


def align(blocks: Mapping[str, Any], mapping: Mapping[tuple[str, str], Any]) -> Views:
    """Join collections when only some of their rows are known to describe the same entity.

    Parameters
    ----------
    blocks : mapping of str to block
        The views, each with its own rows.
    mapping : mapping of (str, str) to sequence of (int, int)
        For a pair of views, the pairs of rows that are the same entity. Rows are also mapped through a third view. If a
        row is mapped to several rows of a view, directly or through other rows, each pair is a separate entity: a row
        may then belong to several entities.

    Returns
    -------
    Views
        One entity for each group of mapped rows (or each pair, see above) and each unmapped row; ``views.rows`` has
        their rows.

    Examples
    --------
    >>> import numpy as np
    >>> views = align({"a": np.eye(3), "b": np.eye(4)}, mapping={("a", "b"): [(0, 3), (2, 1)]})
    >>> views.rows.tolist()
    [[0, 3], [1, -1], [2, 1], [-1, 0], [-1, 2]]
    >>> align({"page": np.eye(2), "image": np.eye(3)}, {("page", "image"): [(0, 0), (0, 1)]}).rows.tolist()
    [[0, 0], [0, 1], [1, -1], [-1, 2]]
    """
    inputs = {name: coerce_view(name, block) for name, block in name_blocks(blocks)}
    sizes = {name: view.values.shape[0] for name, view in inputs.items()}
    return Views.from_inputs(inputs, align_rows(sizes, mapping))


def align_rows(sizes: Mapping[str, int], mapping: Mapping[tuple[str, str], Any]) -> np.ndarray:
    """Row of each entity in each view, -1 where it is missing, from the number of rows per view and `align`'s mapping.

    Examples
    --------
    >>> align_rows({"a": 2, "b": 2}, {("a", "b"): [(0, 1)]}).tolist()
    [[0, 1], [1, -1], [-1, 0]]
    """
    n_rows = list(sizes.values())
    first_row = dict(zip(sizes, np.concatenate([[0], np.cumsum(n_rows)]), strict=False))
    ends = [_check_pairs(pair, pairs, sizes, first_row) for pair, pairs in mapping.items()]
    pairs = np.sort(np.concatenate([np.zeros((2, 0), np.intp), *ends], axis=1), axis=0).T
    view = np.repeat(np.arange(len(n_rows)), n_rows)
    row = np.concatenate([np.arange(n) for n in n_rows])
    members, entity = _number_entities(pairs, view)
    rows = np.full((entity.max(initial=-1) + 1, len(n_rows)), -1)
    rows[entity, view[members]] = row[members]
    return rows


def _check_pairs(pair: Any, pairs: Any, sizes: Mapping[str, int], first_row: Mapping[str, int]) -> np.ndarray:
    """The mapped rows of two views, counted over all views: (2, n_pairs)."""
    if not (isinstance(pair, tuple) and len(pair) == 2 and all(name in sizes for name in pair) and pair[0] != pair[1]):
        raise ValueError(f"a mapping is between two of the views {', '.join(map(repr, sizes))}, got {pair!r}")
    rows = _as_pairs(pair, pairs)
    for name, column in zip(pair, rows.T, strict=True):
        n = sizes[name]
        invalid = column[(column < 0) | (column >= n)]
        if len(invalid):
            raise ValueError(
                f"the mapping {pair!r} names row {invalid[0]} of view {name!r}, which has {n} rows (0 to {n - 1})"
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


def _number_entities(pairs: np.ndarray, view: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Rows, counted over all views, and the entity of each; entities are in the order of their rows.

    Rows that the mapping connects are one entity. If it would have two rows of one view, each pair is an entity.
    """
    n, n_views = len(view), view.max(initial=0) + 1
    group = label_components(pairs, n)
    cells, counts = np.unique(group * n_views + view, return_counts=True)
    is_split = np.isin(group, cells[counts > 1] // n_views)
    whole = np.flatnonzero(~is_split)
    split_pairs = np.unique(pairs[is_split[pairs[:, 0]]], axis=0)
    members = np.concatenate([whole, split_pairs.ravel()])
    entity = np.concatenate([group[whole], n + np.repeat(np.arange(len(split_pairs)), 2)])
    _, first, inverse = np.unique(entity, return_index=True, return_inverse=True)
    # by the first row, then the second; groups need only the first, because a row is in one group only
    second = members[np.minimum(first + 1, len(members) - 1)]
    rank = np.empty(len(first), np.intp)
    rank[np.lexsort((second, members[first]))] = np.arange(len(first))
    return members, rank[inverse]
