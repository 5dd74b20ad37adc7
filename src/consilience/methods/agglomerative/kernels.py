"""Compiled loops over tables of distances between all entities. Importing this module imports numba.

A table has the distance of each pair of slots once, row by row: row a has those to the slots b > a. A slot is a
cluster; two that merge continue in the slot of the first. Infinity stands for an undefined distance, and for distances
to free slots. The lazy search relies on one fact: under single, complete and average linkage, a merged cluster is never
closer to a third one than the closer of its parts was. So the smallest distance of a row can only rise, an old value
remains a lower bound, and a row is searched again only when its bound becomes the smallest of all.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ...arrays.compile import compile_kernel

SINGLE, COMPLETE, AVERAGE = 0, 1, 2
STALE = -1  # nearest slot of a row whose bound may be too low
FREE = -1  # node of a slot without a cluster
NO_VIEW = -1  # decider of a merge of clusters that no view can compare
LANES = 64  # values compared side by side
COMPACT_BELOW = 0.7  # share of used slots below which the table is compacted


@compile_kernel
def merge_clusters(
    start: int,
    stop: int,
    n_slots: int,
    linkage: int,
    tables: np.ndarray,  # (views, pairs)
    bounds: np.ndarray,  # (views, slots) lower bound of the distances in the slot's row
    nearest: np.ndarray,  # (views, slots) the first slot at that distance, or STALE
    members: np.ndarray,  # (views, slots) members of the cluster that have the view
    sizes: np.ndarray,  # (slots,) all its members
    nodes: np.ndarray,  # (slots,) its number in the dendrogram, or FREE
    children: np.ndarray,  # results from here on, one row per merge
    distances: np.ndarray,
    deciders: np.ndarray,
    merged_sizes: np.ndarray,
) -> int:
    """Make merges `start` to `stop` of Table 2; return the number of slots that are left."""
    n_views, n = len(tables), len(children) + 1
    for t in range(start, stop):
        if n - t < COMPACT_BELOW * n_slots:
            n_slots = compact_slots(n_slots, tables, bounds, nearest, members, sizes, nodes)
        i, j, distances[t], deciders[t] = 0, 0, np.nan, NO_VIEW
        for turn in range(n_views):  # the view whose turn it is, or the next that can compare clusters
            v = (t + turn) % n_views
            row = find_closest(tables[v], n_slots, bounds[v], nearest[v])
            if bounds[v, row] < np.inf:
                i, j, distances[t], deciders[t] = row, nearest[v, row], bounds[v, row], v
                break
        if deciders[t] == NO_VIEW:
            i, j = find_oldest_two(nodes[:n_slots])
        children[t, 0], children[t, 1] = min(nodes[i], nodes[j]), max(nodes[i], nodes[j])
        for v in range(n_views):
            if members[v, j]:
                share = members[v, j] / (members[v, i] + members[v, j])
                merge_slots(tables[v], n_slots, i, j, share, linkage, bounds[v], nearest[v])
                members[v, i] += members[v, j]
        sizes[i] += sizes[j]
        merged_sizes[t] = sizes[i]
        nodes[i], nodes[j] = n + t, FREE
    return n_slots


@compile_kernel
def find_oldest_two(nodes: np.ndarray) -> tuple[int, int]:
    """Find the two slots, in order, whose clusters have the lowest numbers."""
    oldest, second = -1, -1
    for slot in range(len(nodes)):
        if nodes[slot] == FREE:
            continue
        if oldest < 0 or nodes[slot] < nodes[oldest]:
            oldest, second = slot, oldest
        elif second < 0 or nodes[slot] < nodes[second]:
            second = slot
    return min(oldest, second), max(oldest, second)


@compile_kernel
def row_start(a: int, n_slots: int) -> int:
    """Index at which row a of a table starts."""
    return a * (2 * n_slots - a - 1) // 2


@compile_kernel
def find_first_minimum(values: np.ndarray) -> int:
    """Find the first position of the smallest value; in lanes, because a running minimum is not vectorized."""
    n, whole = len(values), len(values) - len(values) % LANES
    low = np.full(LANES, np.inf, values.dtype)
    for start in range(0, whole, LANES):
        part = values[start : start + LANES]
        for m in range(LANES):
            low[m] = min(low[m], part[m])
    least = low.min()
    for m in range(whole, n):
        least = min(least, values[m])
    position = 0
    while position < whole:
        part, hits = values[position : position + LANES], 0
        for m in range(LANES):
            hits += part[m] == least
        if hits:
            break
        position += LANES
    while values[position] != least:
        position += 1
    return position


@compile_kernel
def search_row(table: np.ndarray, n_slots: int, a: int, bounds: np.ndarray, nearest: np.ndarray) -> None:
    """Find the smallest distance in row a, and the first slot at that distance."""
    bounds[a], nearest[a] = np.inf, STALE
    if a + 1 < n_slots:
        start = row_start(a, n_slots)
        row = table[start : start + n_slots - a - 1]
        position = find_first_minimum(row)
        bounds[a], nearest[a] = row[position], a + 1 + position


@compile_kernel
def find_closest(table: np.ndarray, n_slots: int, bounds: np.ndarray, nearest: np.ndarray) -> int:
    """Find the first row with the smallest distance; its bound and its nearest slot are exact then."""
    while True:
        a = find_first_minimum(bounds[:n_slots])
        if nearest[a] != STALE or bounds[a] == np.inf:
            return a
        search_row(table, n_slots, a, bounds, nearest)


@compile_kernel
def update_distance(current: float, other: float, share: float, linkage: int) -> float:
    """Compute the distance to a merged cluster from those to its parts (Lance & Williams)."""
    if linkage == SINGLE:
        return min(current, other)
    if linkage == COMPLETE or current == np.inf:
        return max(current, other)
    return current + share * (other - current)  # never below the smaller, on which the bounds rely


@compile_kernel
def merge_slots(
    table: np.ndarray,
    n_slots: int,
    i: int,
    j: int,
    share: float,  # of the members that have this view, those from slot j
    linkage: int,
    bounds: np.ndarray,
    nearest: np.ndarray,
) -> None:
    """Merge slot j into slot i < j in one view."""
    linkage = SINGLE if share == 1 else linkage  # no member of slot i has the view: its distances are infinite
    at_i, at_j = np.uint64(i - 1), np.uint64(j - 1)  # unsigned, or numba checks for negative indices
    for k in range(i):
        table[at_i] = update_distance(table[at_i], table[at_j], share, linkage)
        table[at_j] = np.inf
        as_near = table[at_i] == bounds[k]  # read from the table, which may have rounded
        neighbor = nearest[k]
        if neighbor in (i, j):
            nearest[k] = i if as_near else STALE
        elif i < neighbor and as_near:
            nearest[k] = i  # as close as the neighbor, and before it
        at_i += np.uint64(n_slots - k - 2)
        at_j += np.uint64(n_slots - k - 2)
    start = row_start(i, n_slots)
    current = table[start : start + n_slots - i - 1]
    between = j - i - 1
    current[between] = np.inf
    at_j += np.uint64(n_slots - i - 2)
    for m in range(between):
        current[m] = update_distance(current[m], table[at_j], share, linkage)
        table[at_j] = np.inf
        if nearest[i + 1 + m] == j:
            nearest[i + 1 + m] = STALE
        at_j += np.uint64(n_slots - i - m - 3)
    start = row_start(j, n_slots)
    others = table[start : start + n_slots - j - 1]
    rest = current[between + 1 :]
    for m in range(len(others)):
        rest[m] = update_distance(rest[m], others[m], share, linkage)
        others[m] = np.inf
    bounds[j], nearest[j] = np.inf, STALE
    search_row(table, n_slots, i, bounds, nearest)


@compile_kernel
def compact_slots(
    n_slots: int,
    tables: np.ndarray,
    bounds: np.ndarray,
    nearest: np.ndarray,
    members: np.ndarray,
    sizes: np.ndarray,
    nodes: np.ndarray,
) -> int:
    """Remove free slots, so that they take neither cache nor time."""
    used = np.flatnonzero(nodes[:n_slots] != FREE)
    new_slot = np.full(n_slots + 1, STALE)  # with one more for STALE itself
    for new, old in enumerate(used):
        new_slot[old] = new
    for v in range(len(tables)):
        end, table = 0, tables[v]
        for position, a in enumerate(used):
            start = row_start(a, n_slots) - a - 1
            for b in used[position + 1 :]:
                table[end] = table[start + b]
                end += 1
        for new, old in enumerate(used):
            bounds[v, new], members[v, new] = bounds[v, old], members[v, old]
            nearest[v, new] = new_slot[nearest[v, old]]
    for new, old in enumerate(used):
        sizes[new], nodes[new] = sizes[old], nodes[old]
    return len(used)


@compile_kernel
def enter_block(block: np.ndarray, first: int, table: np.ndarray, bounds: np.ndarray, nearest: np.ndarray) -> None:
    """Enter a block of distances, of entities from `first` on to all from `first` on, and search its rows."""
    n = first + block.shape[1]
    for r in range(block.shape[0]):
        start = row_start(first + r, n)
        for m in range(r + 1, block.shape[1]):
            table[start + m - r - 1] = block[r, m]
        search_row(table, n, first + r, bounds, nearest)


@compile_kernel
def add_to_clusters(block: np.ndarray, first: int, labels: np.ndarray, sums: np.ndarray) -> None:
    """Compute ``sums[labels[b], a] += distance`` for all pairs of a block, of entities from `first` on, in both orders.

    Negative labels are skipped.
    """
    n_rows, n_columns = block.shape
    for start in range(0, n_rows, 8):  # several rows at a time, so that sums do not wait for each other
        stop = min(start + 8, n_rows)
        for m in range(n_columns):
            if labels[first + m] >= 0:
                target = sums[labels[first + m], first:]
                for r in range(start, stop):
                    target[r] += block[r, m]
    for r in range(n_rows):
        if labels[first + r] >= 0:
            target, row = sums[labels[first + r], first + n_rows :], block[r, n_rows:]
            for m in range(len(row)):
                target[m] += row[m]


def build_measure_kernel(square: Callable[..., float]) -> Callable[..., None]:
    """Build a kernel that turns products of rows into distances, given a function for the distance of two rows."""

    @compile_kernel
    def measure(
        products: np.ndarray,  # (rows, columns) of entities r0 + r and c0 + c
        r0: int,
        c0: int,
        squares: np.ndarray,  # squared length of each row; infinite where it is missing
        rows: Any,
        near: float,
        is_euclidean: bool,
        out: np.ndarray,
    ) -> None:
        """Write Euclidean distances to `out`, or half their squares, which for unit rows is one minus the cosine.

        Pairs so close that digits cancel are computed again, in a second pass over rows with such pairs, so that the
        first pass is vectorized. `out` may be `products`.
        """
        column_squares = squares[c0 : c0 + products.shape[1]]
        for r in range(products.shape[0]):
            row, values, row_square, n_close = products[r], out[r], squares[r0 + r], 0
            for c in range(len(values)):
                distance = row_square + column_squares[c] - 2 * row[c]
                n_close += distance < near * (row_square + column_squares[c])
                distance = max(distance, 0.0)
                values[c] = np.sqrt(distance) if is_euclidean else distance / 2
            itself = r0 + r - c0
            if 0 <= itself < len(values):
                n_close -= row_square < np.inf
            for c in range(len(values) if n_close else 0):
                distance = values[c] ** 2 if is_euclidean else 2 * values[c]
                if distance < 2 * near * (row_square + column_squares[c]):
                    distance = square(rows, r0 + r, c0 + c)
                    values[c] = np.sqrt(distance) if is_euclidean else distance / 2
            if 0 <= itself < len(values) and row_square < np.inf:
                values[itself] = 0

    return measure


@compile_kernel
def square_dense(rows: Any, a: int, b: int) -> float:
    """Squared distance of two dense rows."""
    (X,) = rows
    total = 0.0
    for c in range(X.shape[1]):
        total += (X[a, c] - X[b, c]) ** 2
    return total


@compile_kernel
def square_sparse(rows: Any, a: int, b: int) -> float:
    """Squared distance of two sparse rows with sorted columns."""
    indptr, indices, data = rows
    p, p_end, q, q_end = indptr[a], indptr[a + 1], indptr[b], indptr[b + 1]
    total = 0.0
    while p < p_end or q < q_end:
        value = 0.0
        column = min(indices[p] if p < p_end else indices[q], indices[q] if q < q_end else indices[p])
        if p < p_end and indices[p] == column:
            value += data[p]
            p += 1
        if q < q_end and indices[q] == column:
            value -= data[q]
            q += 1
        total += value * value
    return total


measure_dense = build_measure_kernel(square_dense)
measure_sparse = build_measure_kernel(square_sparse)
