"""Compiled loops over pairs of rows that are linked. Importing this file imports numba."""

from __future__ import annotations

import numpy as np

from ...arrays.compile import compile_kernel


@compile_kernel
def assign_linked_rows(
    order: np.ndarray,  # (n,) in which order the rows are visited
    costs: np.ndarray,  # (n, k) of each row in each cluster, by itself
    labels: np.ndarray,  # (n,) -1: nowhere yet. Written to
    indptr: np.ndarray,  # from here on the links of each row
    partners: np.ndarray,
    weights: np.ndarray,
    must: np.ndarray,  # whether a link ties or keeps apart
    link: np.ndarray,  # its number
    between: np.ndarray,  # (links, k) squared length of each link under each cluster's metric
    farthest: np.ndarray,  # (k,) the largest there is
    unit: bool,  # all links cost their weights, whatever their lengths
) -> int:
    """Each row in turn moves to the cluster that is cheapest, given where the others are. Returns how many moved."""
    k, moved = costs.shape[1], 0
    total = np.empty(k)
    for i in order:
        total[:] = costs[i]
        for e in range(indptr[i], indptr[i + 1]):
            at = labels[partners[e]]
            if at < 0:
                continue
            w = weights[e]
            if unit:
                total[at] += -w if must[e] else w
            elif must[e]:
                own = between[link[e]]
                for h in range(k):
                    if h != at:
                        total[h] += w * 0.5 * (own[h] + own[at])
            else:
                total[at] += w * (farthest[at] - between[link[e], at])
        best = 0
        for h in range(1, k):
            if total[h] < total[best]:
                best = h
        moved += best != labels[i]
        labels[i] = best
    return moved


@compile_kernel
def find_reached(
    targets: np.ndarray,  # (m, d), the first column rising
    sources: np.ndarray,  # (s, d)
    widths: np.ndarray,  # (s,) variance of the bell around each source
    radii: np.ndarray,  # (s,) squared distance beyond which it counts as nothing; negative: it reaches nobody
    indptr: np.ndarray,  # (s + 1,) where each source's targets are written; to count them: counts to write to
    found: np.ndarray,  # empty: count only
    heights: np.ndarray,
) -> None:
    """Which targets each source reaches, and how high its bell is there: 1 at its own place, however narrow it is."""
    d = targets.shape[1]
    first = targets[:, 0]
    for s in range(len(sources)):
        count = 0
        if radii[s] >= 0:
            low = np.searchsorted(first, sources[s, 0] - np.sqrt(radii[s]))
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
                    if len(found):
                        found[indptr[s] + count] = t
                        heights[indptr[s] + count] = np.exp(-0.5 * square / widths[s]) if square > 0 else 1.0
                    count += 1
        if not len(found):
            indptr[s + 1] = count


@compile_kernel
def spread_links(
    start: int,
    stop: int,
    n_targets: int,
    near_indptr: np.ndarray,  # the sources that reach each target, and how high they are there
    near: np.ndarray,
    near_heights: np.ndarray,
    link_indptr: np.ndarray,  # the links of each source
    partners: np.ndarray,
    weights: np.ndarray,
    reach_indptr: np.ndarray,  # the targets that each source reaches, the highest first
    reached: np.ndarray,
    heights: np.ndarray,
    threshold: float,
    most: int,  # pairs to write; more are counted, not written
) -> tuple[int, np.ndarray, np.ndarray]:
    """Pairs of targets (the first from `start` to `stop`, the second after it) with the best weight of any link.

    A link between two sources reaches two targets with its weight times both heights, if that is not below the
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
        for place in range(n_touched):
            j = touched[place]
            if n_pairs < most:
                if n_pairs == len(values):
                    pairs = np.concatenate((pairs, np.empty_like(pairs)))
                    values = np.concatenate((values, np.empty_like(values)))
                pairs[n_pairs, 0], pairs[n_pairs, 1], values[n_pairs] = i, j, best[j]
            n_pairs += 1
            best[j] = 0
    kept = min(n_pairs, most)
    return n_pairs, pairs[:kept], values[:kept]


@compile_kernel
def tie_groups(
    pairs: np.ndarray,  # (ties, 2) the first to be tied first
    weights: np.ndarray,
    sure: np.ndarray,  # ties that nothing can refuse
    indptr: np.ndarray,  # from here on who each is kept apart from
    partners: np.ndarray,
    apart: np.ndarray,  # and how strongly
) -> np.ndarray:
    """(n,) a member of the group that each ends up in, when groups are tied one after the other.

    A tie is refused if members of the two groups are kept apart at least as strongly.
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
                if group[partners[e]] == large and apart[e] >= weights[t] and not sure[t]:
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
