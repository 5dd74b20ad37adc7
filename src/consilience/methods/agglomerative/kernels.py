"""Compiled loops over tables of distances between all entities. Importing this file imports numba.

A table holds the distance of each pair of slots once, row after row: row a has those to the slots b > a. A slot is a
cluster; two that merge live on in the first one's slot. Infinity stands for a distance that is not defined, and for
those to slots that are free. The lazy search rests on one fact: under single, complete and average linkage a merged
cluster is never nearer to a third than the nearer of its parts was. So the least distance of a row can only rise, what
was known of it stays a lower bound, and a row is searched again only when its bound comes up as the least of all.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ...arrays.compile import compile_kernel

SINGLE, COMPLETE, AVERAGE = 0, 1, 2
STALE = -1  # the neighbour of a row whose bound may be too low
FREE = -1  # the node of a slot that holds no cluster
NO_VIEW = -1  # what decided a merge of clusters that no view can compare
LANES = 64  # values looked at side by side
CROWDED = 0.7  # share of the slots: when fewer are in use, the table is moved together


@compile_kernel
def merge_clusters(
    start: int,
    stop: int,
    n_slots: int,
    linkage: int,
    tables: np.ndarray,  # (views, pairs)
    bounds: np.ndarray,  # (views, slots) at most the least distance in the slot's row
    nearest: np.ndarray,  # (views, slots) the first slot at that distance, or STALE
    members: np.ndarray,  # (views, slots) members of the cluster that have the view
    sizes: np.ndarray,  # (slots,) all its members
    nodes: np.ndarray,  # (slots,) its number in the dendrogram, or FREE
    children: np.ndarray,  # from here on what is found, one row a merge
    distances: np.ndarray,
    deciders: np.ndarray,
    merged_sizes: np.ndarray,
) -> int:
    """Merges `start` to `stop` of Table 2; returns the number of slots that are left."""
    n_views, n = len(tables), len(children) + 1
    for t in range(start, stop):
        if n - t < CROWDED * n_slots:
            n_slots = compact_slots(n_slots, tables, bounds, nearest, members, sizes, nodes)
        i, j, distances[t], deciders[t] = 0, 0, np.nan, NO_VIEW
        for turn in range(n_views):  # the view whose turn it is, or the next that has something to say
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
    """The two slots, in order, whose clusters have the lowest numbers."""
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
    """Where row a of a table starts."""
    return a * (2 * n_slots - a - 1) // 2


@compile_kernel
def find_first_minimum(values: np.ndarray) -> int:
    """The first place of the least value; there is no NaN. In lanes, for a running minimum is not found in vectors."""
    n, whole = len(values), len(values) - len(values) % LANES
    low = np.full(LANES, np.inf, values.dtype)
    for start in range(0, whole, LANES):
        part = values[start : start + LANES]
        for m in range(LANES):
            low[m] = min(low[m], part[m])
    least = low.min()
    for m in range(whole, n):
        least = min(least, values[m])
    place = 0
    while place < whole:
        part, hits = values[place : place + LANES], 0
        for m in range(LANES):
            hits += part[m] == least
        if hits:
            break
        place += LANES
    while values[place] != least:
        place += 1
    return place


@compile_kernel
def search_row(table: np.ndarray, n_slots: int, a: int, bounds: np.ndarray, nearest: np.ndarray) -> None:
    """Find the least distance in row a, and the first slot at it."""
    bounds[a], nearest[a] = np.inf, STALE
    if a + 1 < n_slots:
        start = row_start(a, n_slots)
        row = table[start : start + n_slots - a - 1]
        at = find_first_minimum(row)
        bounds[a], nearest[a] = row[at], a + 1 + at


@compile_kernel
def find_closest(table: np.ndarray, n_slots: int, bounds: np.ndarray, nearest: np.ndarray) -> int:
    """The first row that holds the least distance; its bound and its neighbour are true then."""
    while True:
        a = find_first_minimum(bounds[:n_slots])
        if nearest[a] != STALE or bounds[a] == np.inf:
            return a
        search_row(table, n_slots, a, bounds, nearest)


@compile_kernel
def update_distance(mine: float, other: float, share: float, linkage: int) -> float:
    """Distance to the merger of two clusters, from those to its parts (Lance & Williams)."""
    if linkage == SINGLE:
        return min(mine, other)
    if linkage == COMPLETE or mine == np.inf:
        return max(mine, other)
    return mine + share * (other - mine)  # in this form never below the lesser, which the lower bounds rest on


@compile_kernel
def merge_slots(
    table: np.ndarray,
    n_slots: int,
    i: int,
    j: int,
    share: float,  # of the members that have this view, how many come from slot j
    linkage: int,
    bounds: np.ndarray,
    nearest: np.ndarray,
) -> None:
    """Merge slot j into slot i < j in one view."""
    linkage = SINGLE if share == 1 else linkage  # nobody in slot i has the view: its distances are infinite
    at_i, at_j = np.uint64(i - 1), np.uint64(j - 1)  # unsigned, or numba asks each whether it counts from the end
    for k in range(i):
        table[at_i] = update_distance(table[at_i], table[at_j], share, linkage)
        table[at_j] = np.inf
        as_near = table[at_i] == bounds[k]  # asked of the table, which may have rounded
        neighbour = nearest[k]
        if neighbour in (i, j):
            nearest[k] = i if as_near else STALE
        elif i < neighbour and as_near:
            nearest[k] = i  # as near as the neighbour, and before it
        at_i += np.uint64(n_slots - k - 2)
        at_j += np.uint64(n_slots - k - 2)
    start = row_start(i, n_slots)
    mine = table[start : start + n_slots - i - 1]
    between = j - i - 1
    mine[between] = np.inf
    at_j += np.uint64(n_slots - i - 2)
    for m in range(between):
        mine[m] = update_distance(mine[m], table[at_j], share, linkage)
        table[at_j] = np.inf
        if nearest[i + 1 + m] == j:
            nearest[i + 1 + m] = STALE
        at_j += np.uint64(n_slots - i - m - 3)
    start = row_start(j, n_slots)
    others = table[start : start + n_slots - j - 1]
    rest = mine[between + 1 :]
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
    """Give up the slots that are free, so that neither caches nor searches are spent on them."""
    kept = np.flatnonzero(nodes[:n_slots] != FREE)
    place = np.full(n_slots + 1, STALE)  # with one more for STALE itself
    for new, old in enumerate(kept):
        place[old] = new
    for v in range(len(tables)):
        end, table = 0, tables[v]
        for position, a in enumerate(kept):
            start = row_start(a, n_slots) - a - 1
            for b in kept[position + 1 :]:
                table[end] = table[start + b]
                end += 1
        for new, old in enumerate(kept):
            bounds[v, new], members[v, new] = bounds[v, old], members[v, old]
            nearest[v, new] = place[nearest[v, old]]
    for new, old in enumerate(kept):
        sizes[new], nodes[new] = sizes[old], nodes[old]
    return len(kept)


@compile_kernel
def enter_block(block: np.ndarray, first: int, table: np.ndarray, bounds: np.ndarray, nearest: np.ndarray) -> None:
    """Enter the distances of some entities, from `first` on, to all others from `first` on; search their rows."""
    n = first + block.shape[1]
    for r in range(block.shape[0]):
        start = row_start(first + r, n)
        for m in range(r + 1, block.shape[1]):
            table[start + m - r - 1] = block[r, m]
        search_row(table, n, first + r, bounds, nearest)


@compile_kernel
def add_to_clusters(block: np.ndarray, labels: np.ndarray, sums: np.ndarray) -> None:
    """sums[r, labels[m]] += block[r, m]; a negative label belongs nowhere."""
    for start in range(0, block.shape[0], 8):  # a few rows at a time: one sum need not wait for the one before
        stop = min(start + 8, block.shape[0])
        for m in range(block.shape[1]):
            if labels[m] >= 0:
                for r in range(start, stop):
                    sums[r, labels[m]] += block[r, m]


def build_measure_kernel(squared: Callable[..., float]) -> Callable[..., None]:
    """A kernel that turns products of rows into distances, with a way to measure two rows one by one."""

    @compile_kernel
    def measure(
        products: np.ndarray,  # (rows, columns) of entities r0 + r and c0 + c
        r0: int,
        c0: int,
        own: np.ndarray,  # squared length of each row; infinite for those that are missing
        rows: Any,
        near: float,
        rooted: bool,
        out: np.ndarray,
    ) -> None:
        """Out = the distances, or half their squares: of rows of unit length that is one minus the cosine.

        Pairs so close that few of the product's digits are left are measured again, in a second pass over rows that
        have any: the first one runs in vectors. `out` may be `products`.
        """
        theirs = own[c0 : c0 + products.shape[1]]
        for r in range(products.shape[0]):
            row, values, mine, close = products[r], out[r], own[r0 + r], 0
            for c in range(len(values)):
                distance = mine + theirs[c] - 2 * row[c]
                close += distance < near * (mine + theirs[c])
                distance = max(distance, 0.0)
                values[c] = np.sqrt(distance) if rooted else distance / 2
            itself = r0 + r - c0
            if 0 <= itself < len(values):
                close -= mine < np.inf
            for c in range(len(values) if close else 0):
                distance = values[c] ** 2 if rooted else 2 * values[c]
                if distance < 2 * near * (mine + theirs[c]):
                    distance = squared(rows, r0 + r, c0 + c)
                    values[c] = np.sqrt(distance) if rooted else distance / 2
            if 0 <= itself < len(values) and mine < np.inf:
                values[itself] = 0

    return measure


@compile_kernel
def square_dense(rows: Any, a: int, b: int) -> float:
    """Squared distance of two rows."""
    (X,) = rows
    total = 0.0
    for c in range(X.shape[1]):
        total += (X[a, c] - X[b, c]) ** 2
    return total


@compile_kernel
def square_sparse(rows: Any, a: int, b: int) -> float:
    """Squared distance of two sparse rows, whose columns are in order."""
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
