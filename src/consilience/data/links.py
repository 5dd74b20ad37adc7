"""Weighted pairs of numbered things, kept sparse: what must-links and cannot-links are made of."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import scipy.sparse as sp
from scipy.sparse.csgraph import connected_components

from .._saving import save_as
from ..arrays import available_memory

FEW = 10_000_000  # numbers of which a table is always small
PAIR_BYTES = 128  # of memory that a pair takes while pairs are put in order


@save_as("constraint-links")
class Links(NamedTuple):
    """Unordered pairs, each once and the smaller number first, and their weights."""

    pairs: np.ndarray  # (m, 2)
    weights: np.ndarray  # (m,)

    @classmethod
    def from_pairs(cls, pairs: np.ndarray, weights: np.ndarray) -> Links:
        """In order; of a pair that comes twice the largest weight counts. A pair of one and the same is left out."""
        low, high = np.minimum(pairs[:, 0], pairs[:, 1]), np.maximum(pairs[:, 0], pairs[:, 1])
        real = low != high
        low, high, weights = low[real], high[real], weights[real]
        key = low * (high.max(initial=0) + 1) + high
        if not (key[1:] > key[:-1]).all():
            order = np.argsort(key, kind="stable")
            first = np.flatnonzero(np.diff(key[order], prepend=-1))
            kept = order[first]
            low, high, weights = low[kept], high[kept], np.maximum.reduceat(weights[order], first)
        return cls(np.column_stack([low, high]), weights)

    @classmethod
    def empty(cls) -> Links:
        return cls(np.zeros((0, 2), np.int64), np.zeros(0))

    def __or__(self, other: Links) -> Links:
        """All pairs of both, with the larger weight."""
        if not len(other.weights):
            return self
        if not len(self.weights):
            return other
        return Links.from_pairs(np.vstack([self.pairs, other.pairs]), np.concatenate([self.weights, other.weights]))

    def select(self, kept: np.ndarray) -> Links:
        return Links(self.pairs[kept], self.weights[kept])

    def renumber(self, numbers: np.ndarray) -> Links:
        """With other numbers for the same things."""
        return Links.from_pairs(numbers[self.pairs], self.weights)

    def transfer(self, mapping: np.ndarray) -> Links:
        """The pairs between what each end is mapped to, (here, there) row by row; an end may be mapped to several."""
        there = mapping[np.argsort(mapping[:, 0], kind="stable"), 1]
        most = 1 + max(mapping[:, 0].max(initial=-1), self.pairs.max(initial=-1))
        counts = np.bincount(mapping[:, 0], minlength=most)
        start, count = (np.cumsum(counts) - counts)[self.pairs], counts[self.pairs]
        if counts.max(initial=0) <= 1:
            known = count.all(axis=1)
            return Links.from_pairs(there[start[known]], self.weights[known])
        sizes = count[:, 0] * count[:, 1]
        check_pairs_fit(int(sizes.sum()), "the constraints that the mapping transfers")
        which = np.repeat(np.arange(len(sizes)), sizes)
        place = np.arange(len(which)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
        inner = count[which, 1]
        ends = start[which] + np.column_stack([place // inner, place % inner])
        return Links.from_pairs(there[ends], self.weights[which])


def compact_pairs(pairs: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The different ends of some pairs, in order, and the pairs as places among them."""
    most = int(pairs.max(initial=-1)) + 1
    if most > FEW + 8 * len(pairs):  # far apart: a table of all numbers would be larger than the pairs
        ends, places = np.unique(pairs, return_inverse=True)
        return ends, places.reshape(-1, 2)
    there = np.zeros(most, bool)
    there[pairs] = True
    return np.flatnonzero(there), (np.cumsum(there) - 1)[pairs]


def label_components(pairs: np.ndarray, n: int) -> np.ndarray:
    """(n,) the connected component of each of n things, by pairs that connect them."""
    graph = sp.coo_array((np.ones(len(pairs), bool), (pairs[:, 0], pairs[:, 1])), shape=(n, n))
    return connected_components(graph, directed=False)[1]


def list_partners(pairs: np.ndarray, n: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Each of n things' partners, one thing's after the other's: where they start, who they are, and by which pair."""
    ends, others = pairs.T.ravel(), pairs[:, ::-1].T.ravel()
    order = np.argsort(ends, kind="stable")
    indptr = np.concatenate([[0], np.cumsum(np.bincount(ends, minlength=n))])
    return indptr, others[order], order % max(1, len(pairs))


def check_pairs_fit(n_pairs: int, what: str) -> None:
    """Refuse to hold more pairs than there is memory for."""
    wanted, free = n_pairs * PAIR_BYTES, available_memory()
    if free is not None and wanted > free:
        raise MemoryError(
            f"{what} are {n_pairs:,} pairs and need {wanted / 2**30:.1f} GiB, but {free / 2**30:.1f} GiB are free: "
            "give fewer constraints"
        )


def compute_closure(must: Links, cannot: Links) -> tuple[Links, Links]:
    """All pairs that follow: who is tied to the same is tied, and is kept apart from the same.

    A pair's weight is that of the weakest link on the best path. Pairs are met from the heaviest to the lightest, so
    that each follows once, with its weight, when two groups are tied or kept apart that were not before. Cannot-links
    within a group stay as they are, and nothing follows from them.
    """
    ends, numbers = compact_pairs(np.vstack([must.pairs, cannot.pairs]))
    tied, apart = np.split(numbers, [len(must.pairs)])
    group = label_components(tied, len(ends))
    sound = group[apart[:, 0]] != group[apart[:, 1]]
    _check_closure_fits(group, apart[sound])
    groups = LinkGroups(len(ends))
    pairs = np.vstack([tied, apart[sound]])
    weights = np.concatenate([must.weights, cannot.weights[sound]])
    for place in np.argsort(-weights, kind="stable"):
        i, j = pairs[place]
        if place < len(tied):
            groups.tie(i, j, weights[place])
        else:
            groups.keep_apart(i, j, weights[place])
    conflicting = cannot.select(~sound)
    return groups.tied.links(ends), groups.apart.links(ends) | conflicting


def _check_closure_fits(group: np.ndarray, apart: np.ndarray) -> None:
    sizes = np.bincount(group)
    between = np.unique(np.sort(group[apart], axis=1), axis=0)
    n_pairs = np.sum(sizes * (sizes - 1) // 2) + np.sum(sizes[between[:, 0]] * sizes[between[:, 1]])
    check_pairs_fit(int(n_pairs), "all constraints that follow from those given")


class GroupPairs:
    """Pairs of each member of one group with each of another."""

    def __init__(self) -> None:
        self.left: list[np.ndarray] = []
        self.right: list[np.ndarray] = []
        self.weights: list[float] = []

    def add(self, one: np.ndarray, other: np.ndarray, weight: float) -> None:
        self.left.append(np.repeat(one, len(other)))
        self.right.append(np.tile(other, len(one)))
        self.weights.append(weight)

    def links(self, ends: np.ndarray) -> Links:
        if not self.left:
            return Links.empty()
        pairs = ends[np.column_stack([np.concatenate(self.left), np.concatenate(self.right)])]
        return Links.from_pairs(pairs, np.repeat(self.weights, [len(own) for own in self.left]))


class LinkGroups:
    """Who is tied to whom, and which groups are kept apart, as links are met one by one."""

    def __init__(self, n: int) -> None:
        self.group = np.arange(n)
        self.members = {i: np.array([i]) for i in range(n)}
        self.others: dict[int, set[int]] = {i: set() for i in range(n)}  # groups that each is kept apart from
        self.tied, self.apart = GroupPairs(), GroupPairs()

    def tie(self, i: int, j: int, weight: float) -> None:
        large, small = int(self.group[i]), int(self.group[j])
        if large == small:
            return
        if len(self.members[large]) + len(self.others[large]) < len(self.members[small]) + len(self.others[small]):
            large, small = small, large
        self.tied.add(self.members[large], self.members[small], weight)
        for new, known in ((large, small), (small, large)):
            for other in self.others[known] - self.others[new]:
                self.apart.add(self.members[new], self.members[other], weight)
        self.group[self.members[small]] = large
        self.members[large] = np.concatenate([self.members[large], self.members.pop(small)])
        for other in self.others.pop(small):
            self.others[other].discard(small)
            self.others[other].add(large)
            self.others[large].add(other)

    def keep_apart(self, i: int, j: int, weight: float) -> None:
        one, other = int(self.group[i]), int(self.group[j])
        if other not in self.others[one]:
            self.apart.add(self.members[one], self.members[other], weight)
            self.others[one].add(other)
            self.others[other].add(one)
