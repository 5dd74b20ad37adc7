"""Weighted pairs of integers: what must-links and cannot-links are made of."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import scipy.sparse as sp
from scipy.sparse.csgraph import breadth_first_order, connected_components

from .._saving import save_as
from ..arrays import available_memory

SMALL_TABLE = 10_000_000  # a table of this many entries is always small
PAIR_BYTES = 128  # memory per pair while pairs are sorted


@save_as("constraint-links")
class Links(NamedTuple):
    """Unordered pairs, each once and with the smaller number first, and their weights."""

    pairs: np.ndarray  # (m, 2)
    weights: np.ndarray  # (m,)

    @classmethod
    def from_pairs(cls, pairs: np.ndarray, weights: np.ndarray) -> Links:
        """Sort pairs; a repeated pair gets its largest weight, and pairs of equal numbers are left out."""
        low, high = np.minimum(pairs[:, 0], pairs[:, 1]), np.maximum(pairs[:, 0], pairs[:, 1])
        differ = low != high
        low, high, weights = low[differ], high[differ], weights[differ]
        key = low * (high.max(initial=0) + 1) + high
        if not (key[1:] > key[:-1]).all():
            order = np.argsort(key, kind="stable")
            first = np.flatnonzero(np.diff(key[order], prepend=-1))
            unique = order[first]
            low, high, weights = low[unique], high[unique], np.maximum.reduceat(weights[order], first)
        return cls(np.column_stack([low, high]), weights)

    @classmethod
    def empty(cls) -> Links:
        return cls(np.zeros((0, 2), np.int64), np.zeros(0))

    def __or__(self, other: Links) -> Links:
        """All pairs of both, each with its larger weight."""
        if not len(other.weights):
            return self
        if not len(self.weights):
            return other
        return Links.from_pairs(np.vstack([self.pairs, other.pairs]), np.concatenate([self.weights, other.weights]))

    def select(self, kept: np.ndarray) -> Links:
        return Links(self.pairs[kept], self.weights[kept])

    def renumbered(self, numbers: np.ndarray) -> Links:
        """Replace number i by ``numbers[i]``."""
        return Links.from_pairs(numbers[self.pairs], self.weights)

    def transfer(self, mapping: np.ndarray) -> Links:
        """Pairs between the numbers that each end is mapped to by rows (source, target); a source may have several."""
        targets = mapping[np.argsort(mapping[:, 0], kind="stable"), 1]
        n_sources = 1 + max(mapping[:, 0].max(initial=-1), self.pairs.max(initial=-1))
        counts = np.bincount(mapping[:, 0], minlength=n_sources)
        start, count = (np.cumsum(counts) - counts)[self.pairs], counts[self.pairs]
        if counts.max(initial=0) <= 1:
            mapped = count.all(axis=1)
            return Links.from_pairs(targets[start[mapped]], self.weights[mapped])
        sizes = count[:, 0] * count[:, 1]
        check_pairs_fit(int(sizes.sum()), "the constraints that the mapping transfers")
        link = np.repeat(np.arange(len(sizes)), sizes)
        position = np.arange(len(link)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
        n_second = count[link, 1]
        ends = start[link] + np.column_stack([position // n_second, position % n_second])
        return Links.from_pairs(targets[ends], self.weights[link])


def compact_pairs(pairs: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The distinct ends of pairs, sorted, and the pairs as positions among them."""
    n = int(pairs.max(initial=-1)) + 1
    if n > SMALL_TABLE + 8 * len(pairs):  # a table of all numbers would be larger than the pairs
        ends, positions = np.unique(pairs, return_inverse=True)
        return ends, positions.reshape(-1, 2)
    occurs = np.zeros(n, bool)
    occurs[pairs] = True
    return np.flatnonzero(occurs), (np.cumsum(occurs) - 1)[pairs]


def label_components(pairs: np.ndarray, n: int) -> np.ndarray:
    """Connected component of each of n nodes in the graph whose edges are the pairs: (n,)."""
    graph = sp.coo_array((np.ones(len(pairs), bool), (pairs[:, 0], pairs[:, 1])), shape=(n, n))
    return connected_components(graph, directed=False)[1]


def trace_path(pairs: np.ndarray, start: int, end: int) -> list[int]:
    """Return the numbers on a shortest path along pairs, none if there is no path."""
    ends, numbers = compact_pairs(pairs)
    if not {start, end} <= set(ends.tolist()):
        return []
    first, place = np.searchsorted(ends, [start, end]).tolist()
    graph = sp.csr_array((np.ones(len(pairs), bool), (numbers[:, 0], numbers[:, 1])), shape=(len(ends), len(ends)))
    previous = breadth_first_order(graph, first, directed=False)[1]
    path = [place]
    while path[-1] != first:
        if previous[path[-1]] < 0:
            return []
        path.append(int(previous[path[-1]]))
    return ends[path[::-1]].tolist()


def list_partners(pairs: np.ndarray, n: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Partners of each of n nodes, node by node: where each node's begin, the partners, and the pair of each."""
    ends, others = pairs.T.ravel(), pairs[:, ::-1].T.ravel()
    order = np.argsort(ends, kind="stable")
    indptr = np.concatenate([[0], np.cumsum(np.bincount(ends, minlength=n))])
    return indptr, others[order], order % max(1, len(pairs))


def check_pairs_fit(n_pairs: int, what: str) -> None:
    """Refuse more pairs than there is memory for."""
    wanted, free = n_pairs * PAIR_BYTES, available_memory()
    if free is not None and wanted > free:
        raise MemoryError(
            f"{what} are {n_pairs:,} pairs and need {wanted / 2**30:.1f} GiB, but {free / 2**30:.1f} GiB are free: "
            "give fewer constraints"
        )


def compute_closure(must: Links, cannot: Links) -> tuple[Links, Links]:
    """Transitive closure: entities linked to the same entity are linked, and share its cannot-links.

    A pair's weight is that of the weakest link on the best path. Links are processed from the heaviest to the lightest,
    so that each implied pair appears once, with its weight, when two groups are first joined or separated. Cannot-links
    within a group stay as they are and imply nothing.
    """
    ends, numbers = compact_pairs(np.vstack([must.pairs, cannot.pairs]))
    tied, apart = np.split(numbers, [len(must.pairs)])
    group = label_components(tied, len(ends))
    consistent = group[apart[:, 0]] != group[apart[:, 1]]
    sizes, between = np.bincount(group), np.unique(np.sort(group[apart[consistent]], axis=1), axis=0)
    n_pairs = np.sum(sizes * (sizes - 1) // 2) + np.sum(sizes[between[:, 0]] * sizes[between[:, 1]])
    check_pairs_fit(int(n_pairs), "all constraints that follow from the given ones")
    groups = LinkGroups(len(ends))
    pairs = np.vstack([tied, apart[consistent]])
    weights = np.concatenate([must.weights, cannot.weights[consistent]])
    for link in np.argsort(-weights, kind="stable"):
        i, j = pairs[link]
        if link < len(tied):
            groups.join(i, j, weights[link])
        else:
            groups.separate(i, j, weights[link])
    return groups.tied.links(ends), groups.apart.links(ends) | cannot.select(~consistent)


class GroupPairs:
    """Pairs of each member of one group with each member of another."""

    def __init__(self) -> None:
        self.left: list[np.ndarray] = []
        self.right: list[np.ndarray] = []
        self.weights: list[float] = []

    def add(self, members: np.ndarray, others: np.ndarray, weight: float) -> None:
        self.left.append(np.repeat(members, len(others)))
        self.right.append(np.tile(others, len(members)))
        self.weights.append(weight)

    def links(self, ends: np.ndarray) -> Links:
        if not self.left:
            return Links.empty()
        pairs = ends[np.column_stack([np.concatenate(self.left), np.concatenate(self.right)])]
        return Links.from_pairs(pairs, np.repeat(self.weights, [len(left) for left in self.left]))


class LinkGroups:
    """Groups of linked entities, and which groups are separated, while links are processed one by one."""

    def __init__(self, n: int) -> None:
        self.group = np.arange(n)
        self.members = {i: np.array([i]) for i in range(n)}
        self.others: dict[int, set[int]] = {i: set() for i in range(n)}  # groups that each is separated from
        self.tied, self.apart = GroupPairs(), GroupPairs()

    def join(self, i: int, j: int, weight: float) -> None:
        large, small = int(self.group[i]), int(self.group[j])
        if large == small:
            return
        if len(self.members[large]) + len(self.others[large]) < len(self.members[small]) + len(self.others[small]):
            large, small = small, large
        self.tied.add(self.members[large], self.members[small], weight)
        for group, partner in ((large, small), (small, large)):
            for other in self.others[partner] - self.others[group]:
                self.apart.add(self.members[group], self.members[other], weight)
        self.group[self.members[small]] = large
        self.members[large] = np.concatenate([self.members[large], self.members.pop(small)])
        for other in self.others.pop(small):
            self.others[other].discard(small)
            self.others[other].add(large)
            self.others[large].add(other)

    def separate(self, i: int, j: int, weight: float) -> None:
        first, second = int(self.group[i]), int(self.group[j])
        if second not in self.others[first]:
            self.apart.add(self.members[first], self.members[second], weight)
            self.others[first].add(second)
            self.others[second].add(first)
