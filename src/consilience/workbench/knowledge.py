"""What a person's decisions say of the items: constraints, outliers, misleading views and names."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import combinations, product
from typing import Any

import numpy as np

from ..data import Constraints
from ..data.links import label_components
from ..methods.agreement.warm import Knowledge
from .errors import Contradiction
from .propagation import PairStatement

MAX_PAIRS = 20_000  # of one decision that keeps items apart

Entry = Mapping[str, Any]  # a decision as `decisions.jsonl` has it


@dataclass(frozen=True)
class Link:
    """A constraint between two items, and the decision that it follows from."""

    first: int
    second: int
    decision: int


@dataclass(frozen=True, eq=False)
class DecisionSet:
    """What the active decisions say.

    Parameters
    ----------
    entries : sequence of mappings
        The active decisions, the earliest first.
    rows : mapping of item id to int
        Position of each item.
    n_rows : int
        Number of items.
    base : Constraints
        Constraints of the run, by position.
    base_outliers : sequence of int
        Outliers of the run, by position.
    """

    entries: Sequence[Entry]
    rows: Mapping[str, int]
    n_rows: int
    base: Constraints = field(default_factory=Constraints)
    base_outliers: Sequence[int] = ()

    @cached_property
    def outliers(self) -> dict[int, int]:
        """The decision that made each outlier, 0 for those of the run; the last decision about an item counts."""
        outliers = dict.fromkeys(self.base_outliers, 0)
        for entry in self.entries:
            if entry["action"] == "outlier":
                outliers |= dict.fromkeys(self.find_rows(entry), int(entry["number"]))
            elif entry["action"] in ("together", "apart", "split"):
                for row in [*self.find_rows(entry), *self.find_rows(entry, "others")]:
                    outliers.pop(row, None)
        return outliers

    @cached_property
    def must_links(self) -> list[Link]:
        """Pairs that belong together, without outliers."""
        return list(self._list_links(list_together))

    @cached_property
    def cannot_links(self) -> list[Link]:
        """Pairs that do not belong together, without outliers."""
        return list(self._list_links(list_apart))

    def _list_links(self, list_pairs: Any) -> Iterator[Link]:
        for entry in self.entries:
            for first, second in list_pairs(self, entry):
                if first not in self.outliers and second not in self.outliers:
                    yield Link(first, second, int(entry["number"]))

    def find_rows(self, entry: Entry, key: str = "items") -> list[int]:
        """Return the positions of the items that a decision names."""
        return [self.rows[item] for item in entry.get(key, ())]

    @cached_property
    def last_splits(self) -> dict[int, int]:
        """The number of the last decision that made an item a group, alone or with others."""
        splits: dict[int, int] = {}
        for entry in self.entries:
            if entry["action"] == "split":
                splits |= dict.fromkeys(self.find_rows(entry), int(entry["number"]))
        return splits

    def find_united(self, entry: Entry) -> list[int]:
        """Return the items that a decision puts together, without outliers.

        Items that a later decision has made a group are not among those of an earlier group or merger: a part of a
        group can become a group.
        """
        number, rows = int(entry["number"]), list[int]()
        match entry["action"]:
            case "together":
                rows = self.find_rows(entry)
            case "split":
                rows = [row for row in self.find_rows(entry) if self.last_splits[row] == number]
            case "merge":
                exemplars = [self.rows[item] for items in entry["exemplars"] for item in items]
                rows = [row for row in exemplars if self.last_splits.get(row, 0) < number]
        return [row for row in rows if row not in self.outliers]

    @cached_property
    def constraints(self) -> Constraints:
        """All constraints by position, also those of the run, except where decisions contradict them."""
        must = np.array([(link.first, link.second) for link in self.must_links], np.int64).reshape(-1, 2)
        cannot = np.array([(link.first, link.second) for link in self.cannot_links], np.int64).reshape(-1, 2)
        decided = Constraints(must, cannot, by="position")
        if not self.base.size:
            return decided
        outliers = np.array(list(self.outliers), np.int64)
        kept = [
            links.select(~np.any(np.isin(links.pairs, outliers), axis=1))
            for links in (self.base.must, self.base.cannot)
        ]
        both = Constraints.from_links(*kept) | decided
        if not len(both.conflicts):
            return both
        component = label_components(both.must_link, self.n_rows)
        is_contradicted = np.isin(component, component[both.conflicts[:, 0]])
        return Constraints.from_links(*(links.select(~is_contradicted[links.pairs].any(axis=1)) for links in kept)) | (
            decided
        )

    @cached_property
    def statements(self) -> list[PairStatement]:
        """The decisions about two items, which propagate to others; those about more items say enough themselves."""
        statements = []
        for entry in self.entries:
            rows = self.find_rows(entry)
            is_pair = entry["action"] in ("together", "apart") and len(rows) == 2 and "others" not in entry
            if is_pair and not any(row in self.outliers for row in rows):
                statements.append(PairStatement(rows[0], rows[1], entry["action"] == "together"))
        return statements

    @cached_property
    def group_members(self) -> dict[int, int]:
        """The number of the group that a decision made of an item, without outliers; the last decision counts."""
        members: dict[int, int] = {}
        for entry in self.entries:
            if entry["action"] == "split":
                members |= dict.fromkeys(self.find_rows(entry), int(entry["new_group"]))
        return {row: group for row, group in members.items() if row not in self.outliers}

    @cached_property
    def knowledge(self) -> Knowledge:
        """What refinement takes."""
        is_outlier = None
        if self.outliers:
            is_outlier = np.zeros(self.n_rows, bool)
            is_outlier[list(self.outliers)] = True
        ignored: dict[str, np.ndarray] = {}
        for entry in self.entries:
            if entry["action"] == "distrust":
                mask = ignored.setdefault(entry["view"], np.zeros(self.n_rows, bool))
                mask[self.find_rows(entry)] = True
        return Knowledge(self.constraints, is_outlier, ignored)

    @cached_property
    def names(self) -> dict[int, str]:
        """The names that a person gave to groups, by number; the last counts."""
        names: dict[int, str] = {}
        for entry in self.entries:
            if entry["action"] == "rename":
                names[int(entry["group"])] = entry["name"]
            elif entry["action"] == "split" and entry.get("name"):
                names[int(entry["new_group"])] = entry["name"]
        return names

    def find_conflicts(self, entry: Entry) -> list[list[int]]:
        """Return for each contradiction the earlier decisions that together contradict a new one, the latest last.

        A contradiction is resolved by withdrawing its last decision. The list ends when no contradiction is left.
        """
        entries = list(self.entries)
        conflicts: list[list[int]] = []
        while conflict := replace(self, entries=[*entries, entry]).find_conflict():
            earlier = [number for number in conflict if number != int(entry["number"])]
            if not earlier:
                raise ValueError("the decision contradicts itself: the same items are to be together and apart")
            conflicts.append(earlier)
            entries = [kept for kept in entries if int(kept["number"]) != earlier[-1]]
        return conflicts

    def find_conflict(self) -> list[int]:
        """Return the numbers of decisions that contradict each other, in rising order; none if there are none.

        Two items belong together if decisions connect them, also through others. So a chain of decisions may
        contradict a pair that must stay apart.
        """
        pairs = np.array([(link.first, link.second) for link in self.must_links], np.int64).reshape(-1, 2)
        component = label_components(pairs, self.n_rows)
        apart = next((link for link in self.cannot_links if component[link.first] == component[link.second]), None)
        if apart is None:
            return []
        neighbors: dict[int, list[tuple[int, int]]] = {}
        for link in self.must_links:
            neighbors.setdefault(link.first, []).append((link.second, link.decision))
            neighbors.setdefault(link.second, []).append((link.first, link.decision))
        return sorted({*find_path(neighbors, apart.first, apart.second), apart.decision})


def list_together(decisions: DecisionSet, entry: Entry) -> list[tuple[int, int]]:
    """Return pairs that connect the items which a decision puts together."""
    rows = decisions.find_united(entry)
    return [(rows[0], row) for row in rows[1:]]


def list_apart(decisions: DecisionSet, entry: Entry) -> list[tuple[int, int]]:
    """Return the pairs that a decision keeps apart."""
    others = decisions.find_rows(entry, "others")
    match entry["action"]:
        case "split":
            return list(product(decisions.find_united(entry)[:1], others))
        case "apart":
            rows = decisions.find_rows(entry)
            return list(product(rows, others)) if others else list(combinations(rows, 2))
    return []


def find_path(neighbors: Mapping[int, Sequence[tuple[int, int]]], start: int, end: int) -> list[int]:
    """Return the decisions on the shortest path of links between two items, which links connect."""
    came_from: dict[int, tuple[int, int]] = {start: (start, -1)}
    queue = deque([start])
    while end not in came_from:
        row = queue.popleft()
        for other, decision in neighbors.get(row, ()):
            if other not in came_from:
                came_from[other] = row, decision
                queue.append(other)
    path, row = [], end
    while row != start:
        row, decision = came_from[row]
        path.append(decision)
    return path


def check_consistent(
    decisions: DecisionSet, entry: Entry, sentences: Mapping[int, str], resolve: str, blocking: Sequence[int] = ()
) -> list[int]:
    """Return the earlier decisions that a new one replaces; raise `Contradiction` if the person must choose.

    `sentences` describe the decisions by number. With ``resolve="newer"`` the new decision wins. `blocking` are
    decisions that must be withdrawn in any case.
    """
    kept = [other for other in decisions.entries if int(other["number"]) not in blocking]
    conflicts = [*([number] for number in blocking), *replace(decisions, entries=kept).find_conflicts(entry)]
    replaced = sorted({conflict[-1] for conflict in conflicts})
    if conflicts and resolve != "newer":
        involved = sorted({number for conflict in conflicts for number in conflict})
        withdrawn = " and ".join(f"decision {number}" for number in replaced)
        raise Contradiction(
            f"This contradicts what was decided before. If it is to count, {withdrawn} must be withdrawn.",
            decisions=involved,
            sentences=[f"Decision {number}: {sentences[number]}" for number in involved],
        )
    return replaced
