"""Compiled loops over pairs of linked rows. Importing this module imports numba."""

from __future__ import annotations

import numpy as np

from ...arrays.compile import compile_kernel


@compile_kernel
def assign_linked_rows(
    order: np.ndarray,  # (n,) order in which the rows are visited
    costs: np.ndarray,  # (n, k) cost of each row in each cluster, without links
    labels: np.ndarray,  # (n,) -1: not assigned yet. Updated in place
    indptr: np.ndarray,  # the links of each row in CSR layout, with the next four arrays
    partners: np.ndarray,
    weights: np.ndarray,
    must: np.ndarray,  # True for must-links, False for cannot-links
    link: np.ndarray,  # index of the link
    lengths: np.ndarray,  # (links, k) squared length of each link under each cluster's metric
    farthest: np.ndarray,  # (k,) largest squared distance under each metric
    unit: bool,  # every violated link costs its weight, whatever its length
) -> int:
    """Move each row in turn to the cheapest cluster given the labels of the others; return how many moved."""
    k, n_moved = costs.shape[1], 0
    total = np.empty(k)
    for i in order:
        total[:] = costs[i]
        for e in range(indptr[i], indptr[i + 1]):
            partner_label = labels[partners[e]]
            if partner_label < 0:
                continue
            w = weights[e]
            if unit:
                total[partner_label] += -w if must[e] else w
            elif must[e]:
                length = lengths[link[e]]
                for h in range(k):
                    if h != partner_label:
                        total[h] += w * 0.5 * (length[h] + length[partner_label])
            else:
                total[partner_label] += w * (farthest[partner_label] - lengths[link[e], partner_label])
        best = 0
        for h in range(1, k):
            if total[h] < total[best]:
                best = h
        n_moved += best != labels[i]
        labels[i] = best
    return n_moved


@compile_kernel
def assign_groups(
    visits: np.ndarray,  # (n,) order in which the groups are visited
    costs: np.ndarray,  # (n, k) cost of each group in each cluster
    indptr: np.ndarray,  # the groups that each is separated from, with the next array
    partners: np.ndarray,
    constrained_first: bool,  # visit next the group that has the fewest clusters left, not the next in order
) -> tuple[np.ndarray, int]:
    """Assign each group in turn to its cheapest cluster without groups that it is separated from.

    Return the labels, -1 for groups not visited yet, and the group for which no cluster is left; -1 if all have one.
    """
    n, k = costs.shape
    labels = np.full(n, -1)
    closed = np.zeros((n, k), np.bool_)  # clusters that contain a group from which it is separated
    n_closed = np.zeros(n, np.int64)
    for step in range(n):
        group = visits[step]
        if constrained_first:
            most = -1
            for candidate in visits:
                if labels[candidate] < 0 and n_closed[candidate] > most:
                    group, most = candidate, n_closed[candidate]
        best = -1
        for h in range(k):
            if not closed[group, h] and (best < 0 or costs[group, h] < costs[group, best]):
                best = h
        if best < 0:
            return labels, group
        labels[group] = best
        for e in range(indptr[group], indptr[group + 1]):
            if not closed[partners[e], best]:
                closed[partners[e], best] = True
                n_closed[partners[e]] += 1
    return labels, -1


@compile_kernel
def find_reached(
    targets: np.ndarray,  # (m, d) sorted by the first column
    sources: np.ndarray,  # (s, d)
    widths: np.ndarray,  # (s,) variance of the Gaussian around each source
    radii: np.ndarray,  # (s,) squared distance beyond which it is ignored; negative: it reaches no target
    indptr: np.ndarray,  # (s + 1,) where the targets of each source are written; when counting, receives the counts
    reached: np.ndarray,  # empty: count only
    heights: np.ndarray,
) -> None:
    """Find the targets within each source's radius and the height of its Gaussian there (1 at the source itself)."""
    d = targets.shape[1]
    first_column = targets[:, 0]
    for s in range(len(sources)):
        count = 0
        if radii[s] >= 0:
            low = np.searchsorted(first_column, sources[s, 0] - np.sqrt(radii[s]))
            for t in range(low, len(targets)):
                along = targets[t, 0] - sources[s, 0]
                square = along * along
                if along > 0 and square > radii[s]:
                    break
                for c in range(1, d):
                    if square > radii[s]:
                        break
                    square += (targets[t, c] - sources[s, c]) ** 2
                if square <= radii[s]:
                    if len(reached):
                        reached[indptr[s] + count] = t
                        heights[indptr[s] + count] = np.exp(-0.5 * square / widths[s]) if square > 0 else 1.0
                    count += 1
        if not len(reached):
            indptr[s + 1] = count


@compile_kernel
def spread_links(
    start: int,
    stop: int,
    n_targets: int,
    near_indptr: np.ndarray,  # the sources that reach each target, with their heights there
    near: np.ndarray,
    near_heights: np.ndarray,
    link_indptr: np.ndarray,  # the links of each source
    partners: np.ndarray,
    weights: np.ndarray,
    reach_indptr: np.ndarray,  # the targets that each source reaches, by descending height
    reached: np.ndarray,
    heights: np.ndarray,
    threshold: float,
    max_pairs: int,  # further pairs are counted but not written
) -> tuple[int, np.ndarray, np.ndarray]:
    """Return pairs of targets (first from `start` to `stop`, second after it) with the largest weight of any link.

    A link between two sources reaches a pair of targets with its weight times both heights, unless that is below the
    threshold.
    """
    best = np.zeros(n_targets)
    touched = np.empty(n_targets, np.int64)
    pairs, values = np.empty((1024, 2), np.int64), np.empty(1024)
    n_pairs = 0
    for i in range(start, stop):
        n_touched = 0
        for a in range(near_indptr[i], near_indptr[i + 1]):
            u = near[a]
            for e in range(link_indptr[u], link_indptr[u + 1]):
                w = weights[e] * near_heights[a]
                if w < threshold:
                    continue
                v = partners[e]
                for b in range(reach_indptr[v], reach_indptr[v + 1]):
                    value = w * heights[b]
                    if value < threshold:
                        break
                    j = reached[b]
                    if j > i:
                        if best[j] == 0:
                            touched[n_touched] = j
                            n_touched += 1
                        best[j] = max(best[j], value)
        for position in range(n_touched):
            j = touched[position]
            if n_pairs < max_pairs:
                if n_pairs == len(values):
                    pairs = np.concatenate((pairs, np.empty_like(pairs)))
                    values = np.concatenate((values, np.empty_like(values)))
                pairs[n_pairs, 0], pairs[n_pairs, 1], values[n_pairs] = i, j, best[j]
            n_pairs += 1
            best[j] = 0
    n_written = min(n_pairs, max_pairs)
    return n_pairs, pairs[:n_written], values[:n_written]


@compile_kernel
def tie_groups(
    pairs: np.ndarray,  # (ties, 2) in the order in which they are applied
    weights: np.ndarray,
    certain: np.ndarray,  # ties that are never refused
    indptr: np.ndarray,  # the cannot-links of each row in CSR layout, with the next two arrays
    partners: np.ndarray,
    cannot_weights: np.ndarray,
) -> np.ndarray:
    """Tie groups one after the other; return for each row a member of its group that represents it: (n,).

    A tie is refused if a cannot-link at least as strong separates members of the two groups.
    """
    n = len(indptr) - 1
    group, size, following = np.arange(n), np.ones(n, np.int64), np.arange(n)  # members of a group form a ring
    for t in range(len(pairs)):
        large, small = group[pairs[t, 0]], group[pairs[t, 1]]
        if large == small:
            continue
        if size[large] < size[small]:
            large, small = small, large
        refused = False
        member = small
        for _ in range(size[small]):
            for e in range(indptr[member], indptr[member + 1]):
                if group[partners[e]] == large and cannot_weights[e] >= weights[t] and not certain[t]:
                    refused = True
            if refused:
                break
            member = following[member]
        if refused:
            continue
        member = small
        for _ in range(size[small]):
            group[member] = large
            member = following[member]
        following[large], following[small] = following[small], following[large]
        size[large] += size[small]
    return group
