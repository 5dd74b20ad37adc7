"""`align`, against the definition of its entities."""

from __future__ import annotations

from typing import Any

import numpy as np

import consilience as cs

from .case import ACCEPTED, Case, call, require


def check(case: Case) -> str:
    """Map rows of random views to each other; require the entities that the documentation defines."""
    names = ["a", "b", "c", "d"][: int(case.choose([1, 2, 2, 3, 3, 4]))]
    sizes = {name: int(case.choose([1, 2, 3, 6, 9])) if not case.chance(0.03) else 0 for name in names}
    blocks = {name: case.rng.normal(size=(n, 2)) for name, n in sizes.items()}
    mapping: dict[Any, Any] = {}
    for i, first in enumerate(names):
        for second in names[i + 1 :]:
            if case.chance(0.7) and sizes[first] and sizes[second]:
                ends = (second, first) if case.chance(0.3) else (first, second)
                mapping[ends] = random_pairs(case, sizes[ends[0]], sizes[ends[1]])
    if case.chance(0.1):
        mapping |= case.choose(
            [
                {("a", "a"): [(0, 0)]},
                {("a", "x"): [(0, 0)]},
                {"ab": [(0, 0)]},
                {("a", "b"): [(0, 99)]},
                {("a", "b"): [(-1, 0)]},
                {("a", "b"): [(0.5, 0)]},
                {("a", "b"): [(0, 1, 2), (1,)]},
                {("a", "b"): [0, 1]},
                {("a", "b"): "nonsense"},
                {("a", "b"): None},
                {("a", "b"): [("0", "1")]},
            ]
        )
    case.note(sizes=sizes, mapping=mapping)
    views = call(cs.align, blocks, mapping)
    rows = np.asarray(views.rows if views.rows is not None else np.tile(np.arange(len(views))[:, None], len(names)))
    expected = expected_entities(names, sizes, mapping)
    require({tuple(row) for row in rows.tolist()} == expected, f"the entities are {rows.tolist()}")
    require(len(rows) == len(expected), "an entity is listed twice")
    require(np.array_equal(views.present, rows >= 0), "present contradicts rows")
    return ACCEPTED


def random_pairs(case: Case, n_first: int, n_second: int) -> Any:
    """Draw pairs of rows: one to one, many to many, none, or with repetitions."""
    rng = case.rng
    if case.chance(0.5):
        length = int(rng.integers(min(n_first, n_second) + 1))
        pairs = np.column_stack([rng.permutation(n_first)[:length], rng.permutation(n_second)[:length]])
    else:
        length = int(rng.integers(8))
        pairs = np.column_stack([rng.integers(n_first, size=length), rng.integers(n_second, size=length)])
    return case.choose([pairs, pairs.tolist(), [tuple(pair) for pair in pairs.tolist()], pairs.astype("uint8")])


def expected_entities(names: list[str], sizes: dict[str, int], mapping: Any) -> set[tuple[int, ...]]:
    """Rows of each entity: connected rows, or each pair where a view would have two rows in one entity."""
    nodes = [(name, row) for name in names for row in range(sizes[name])]
    edges = []
    for (first, second), pairs in mapping.items():
        edges += [((first, int(i)), (second, int(j))) for i, j in np.asarray(pairs, dtype=int).reshape(-1, 2)]
    group = {node: node for node in nodes}
    for a, b in edges * len(nodes):  # spreads the smallest name as far as edges reach
        group[a] = group[b] = min(group[a], group[b])
    expected = set()
    for leader in set(group.values()):
        members = [node for node in nodes if group[node] == leader]
        if len({name for name, _ in members}) == len(members):
            groups = [members]
        else:
            groups = [[a, b] for a, b in edges if group[a] == leader]
        for part in groups:
            rows = dict(part)
            expected.add(tuple(rows.get(name, -1) for name in names))
    return expected
