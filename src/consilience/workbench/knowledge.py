"""The knowledge that follows from decisions: constraints, outliers, misleading views, and names of groups."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import chain, combinations, islice, product
from typing import Any

import numpy as np

from ..data import Constraints
from ..data.links import Links, label_components
from ..methods.agreement.warm import Knowledge
from ..pipeline.changes import join_words
from .errors import Contradiction
from .propagation import PairStatement

MAX_PAIRS = 20_000  # of one decision that keeps items apart
MAX_PARTS = 1000  # that lack several new groups; a contradiction of ten new groups has as many
RUN = 0  # number that stands for the constraints of the run among those of decisions

Entry = Mapping[str, Any]  # a decision as `decisions.jsonl` has it


@dataclass(frozen=True)
class Link:
    """A constraint between two items, and the decision that it follows from."""

    first: int
    second: int
    decision: int  # `RUN` for a constraint of the run
    is_together: bool


@dataclass(frozen=True)
class Conflict:
    """Constraints that contradict each other, so that one of the decisions that they follow from must be withdrawn.

    If constraints of the run are withdrawn, all that are among these links are.
    """

    links: Sequence[Link]
    decisions: Sequence[int]  # in rising order, without the new one; `RUN` stands for constraints of the run
    withdrawn: int  # the decision of these that is withdrawn


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
    without_effect : set of int
        Numbers of the mergers of groups that did not exist when they were applied.
    """

    entries: Sequence[Entry]
    rows: Mapping[str, int]
    n_rows: int
    base: Constraints = field(default_factory=Constraints)
    base_outliers: Sequence[int] = ()
    without_effect: frozenset[int] = frozenset()

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
        return list(self._list_links(list_together, True))

    @cached_property
    def cannot_links(self) -> list[Link]:
        """Pairs that do not belong together, without outliers."""
        return list(self._list_links(list_apart, False))

    def _list_links(self, list_pairs: Any, is_together: bool) -> Iterator[Link]:
        for entry in self.entries:
            for first, second in list_pairs(self, entry):
                if first not in self.outliers and second not in self.outliers:
                    yield Link(first, second, int(entry["number"]), is_together)

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
            case "merge" if number not in self.without_effect:
                exemplars = [self.rows[item] for items in entry["exemplars"] for item in items]
                rows = [row for row in exemplars if self.last_splits.get(row, 0) < number]
        return [row for row in rows if row not in self.outliers]

    @cached_property
    def run_links(self) -> list[Link]:
        """The constraints of the run, without outliers."""
        links = [
            Link(first, second, RUN, is_together)
            for pairs, is_together in ((self.base.must.pairs, True), (self.base.cannot.pairs, False))
            for first, second in pairs.tolist()
        ]
        return [link for link in links if link.first not in self.outliers and link.second not in self.outliers]

    @cached_property
    def withdrawn_run_links(self) -> dict[Link, list[int]]:
        """The constraints of the run that decisions contradict, and these decisions."""
        withdrawn: dict[Link, list[int]] = {}
        links = [*self.must_links, *self.cannot_links, *self.run_links]
        while self.base.size:
            contradiction = find_contradiction(links, self.n_rows)
            decisions = sorted({link.decision for link in contradiction} - {RUN})
            new = {link: decisions for link in contradiction if link.decision == RUN}
            if not new:
                break
            withdrawn |= new
            links = [link for link in links if link not in new]
        return withdrawn

    @cached_property
    def constraints(self) -> Constraints:
        """All constraints by position, also those of the run, except where decisions contradict them."""
        must = np.array([(link.first, link.second) for link in self.must_links], np.int64).reshape(-1, 2)
        cannot = np.array([(link.first, link.second) for link in self.cannot_links], np.int64).reshape(-1, 2)
        decided = Constraints(must, cannot, by="position")
        if not self.base.size:
            return decided
        valid = {(link.first, link.second, link.is_together) for link in self.run_links}
        valid -= {(link.first, link.second, link.is_together) for link in self.withdrawn_run_links}

        def select_valid(links: Links, is_together: bool) -> Links:
            is_valid = [(first, second, is_together) in valid for first, second in links.pairs.tolist()]
            return links.select(np.array(is_valid, bool))

        kept = select_valid(self.base.must, True), select_valid(self.base.cannot, False)
        return Constraints.from_links(*kept) | decided

    @cached_property
    def statements(self) -> list[PairStatement]:
        """The decisions about two items, which propagate to others; those about more items say enough themselves."""
        statements = []
        for entry in self.entries:
            rows = self.find_rows(entry)
            if is_about_pair(entry) and not any(row in self.outliers for row in rows):
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
        """What refinement needs to know: constraints, outliers, and items for which views are misleading."""
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

    def find_conflicts(self, entry: Entry, withdrawn: Collection[int] = ()) -> list[Conflict]:
        """Return the contradictions of a new decision with earlier ones and with constraints of the run.

        Each is minimal, as `find_contradiction` says, and is resolved by withdrawing one of its decisions before the
        next is searched for: one of those in `withdrawn`, otherwise the last. The list ends when no contradiction is
        left.
        """
        new, entries = int(entry["number"]), list(self.entries)
        run_links = [link for link in self.run_links if link not in self.withdrawn_run_links]
        conflicts: list[Conflict] = []
        while True:
            contradiction = replace(self, entries=[*entries, entry]).find_contradiction(run_links)
            if not contradiction:
                return conflicts
            earlier = sorted({link.decision for link in contradiction} - {new})
            if not earlier:
                raise ValueError("the decision contradicts itself: the same items are to be together and apart")
            chosen = next((number for number in earlier if number in withdrawn), earlier[-1])
            conflicts.append(Conflict(contradiction, earlier, chosen))
            if chosen == RUN:
                run_links = [link for link in run_links if link not in contradiction]
            entries = [kept for kept in entries if int(kept["number"]) != chosen]

    def find_contradictory_decisions(self) -> list[int]:
        """Return the numbers of a minimal set of decisions that contradict each other, in rising order, if any do."""
        return sorted({link.decision for link in self.find_contradiction()})

    def find_contradiction(self, run_links: Sequence[Link] = ()) -> list[Link]:
        """Return the links of a minimal set of decisions that contradict each other; none if there are none.

        A set is minimal if its decisions contradict each other when no other decision counts, and no part of it does.
        There may be several. The search begins with the first pair that a decision keeps apart and the shortest chain
        of links that puts it together, and leaves out decisions that are not needed, the last ones first.

        Parameters
        ----------
        run_links : sequence of Link
            Constraints of the run that count. All of them together are like one decision, the first.
        """
        links = self._find_contradicting_links(run_links)
        if not links:
            return []
        parts = self._list_parts({link.decision for link in links}, run_links)
        in_parts = (part.find_contradiction(kept_run_links) for part, kept_run_links in parts)
        return next(filter(None, in_parts), links)

    def _find_contradicting_links(self, run_links: Sequence[Link]) -> list[Link]:
        """Return links that contradict each other if all these decisions and constraints of the run count."""
        kept_run_links = [link for link in run_links if not {link.first, link.second} & self.outliers.keys()]
        return find_contradiction([*self.must_links, *self.cannot_links, *kept_run_links], self.n_rows)

    def _list_parts(
        self, numbers: Collection[int], run_links: Sequence[Link]
    ) -> Iterator[tuple[DecisionSet, Sequence[Link]]]:
        """Yield parts of the decisions, and the constraints of the run that count with them.

        If none of them is contradictory, none of all parts is. The first has the decisions with these numbers; each of
        the others lacks one decision. That is not enough for decisions that make groups: each takes its items out of
        earlier groups, so that these may contradict something only if several later ones are missing.
        """
        present = [int(entry["number"]) for entry in self.entries]
        if run_links:
            present.insert(0, RUN)
        splits = [int(entry["number"]) for entry in self.entries if entry["action"] == "split"]
        several = chain.from_iterable(combinations(splits[::-1], n) for n in range(2, len(splits) + 1))
        kept = [
            set(numbers),
            *(set(present) - {number} for number in present[::-1]),
            *(set(present) - set(missing) for missing in islice(several, MAX_PARTS)),
        ]
        for part in kept:
            if len(part) < len(present):
                entries = [entry for entry in self.entries if int(entry["number"]) in part]
                yield replace(self, entries=entries), run_links if RUN in part else ()


def is_about_pair(entry: Entry) -> bool:
    """Whether a decision is about two items, so that it propagates to others."""
    is_of_kind = entry["action"] in ("together", "apart")
    return is_of_kind and len(entry["items"]) == 2 and "others" not in entry


def find_contradiction(links: Sequence[Link], n_rows: int) -> list[Link]:
    """Return links that contradict each other: two items that are apart, and the links that put them together.

    Two items belong together if links connect them, also through others. So a chain of links may contradict a pair
    that must stay apart.
    """
    must_links = [link for link in links if link.is_together]
    pairs = np.array([(link.first, link.second) for link in must_links], np.int64).reshape(-1, 2)
    component = label_components(pairs, n_rows)
    broken_links = (link for link in links if not link.is_together and component[link.first] == component[link.second])
    apart = next(broken_links, None)
    if apart is None:
        return []
    neighbors: dict[int, list[tuple[int, Link]]] = {}
    for link in must_links:
        neighbors.setdefault(link.first, []).append((link.second, link))
        neighbors.setdefault(link.second, []).append((link.first, link))
    return [*find_path(neighbors, apart.first, apart.second), apart]


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


def find_path(neighbors: Mapping[int, Sequence[tuple[int, Link]]], start: int, end: int) -> list[Link]:
    """Return the links of the shortest path between two items, which links connect."""
    came_from: dict[int, tuple[int, Link]] = {}
    queue = deque([start])
    while end != start and end not in came_from:
        row = queue.popleft()
        for other, link in neighbors.get(row, ()):
            if other != start and other not in came_from:
                came_from[other] = row, link
                queue.append(other)
    path, row = [], end
    while row != start:
        row, link = came_from[row]
        path.append(link)
    return path


def check_consistent(
    decisions: DecisionSet,
    entry: Entry,
    describe: Callable[[int, Conflict], str],
    withdrawn: Collection[int] | None,
    blocking: Sequence[int] = (),
) -> list[int]:
    """Return the earlier decisions that a new one replaces; raise `Contradiction` if the person must choose.

    Parameters
    ----------
    decisions : DecisionSet
        The earlier decisions.
    entry : mapping
        The new decision, with its number.
    describe : callable
        Describes a decision, or `RUN`, that is part of a conflict.
    withdrawn : collection of int or None
        The decisions that the person has chosen to withdraw; if it is empty, the last of each conflict is withdrawn.
        None if the person has not been asked.
    blocking : sequence of int
        Decisions that must be withdrawn in any case.
    """
    kept = [other for other in decisions.entries if int(other["number"]) not in blocking]
    conflicts = [
        *(Conflict((), [number], number) for number in blocking),
        *replace(decisions, entries=kept).find_conflicts(entry, withdrawn or ()),
    ]
    replaced = sorted({conflict.withdrawn for conflict in conflicts})
    is_resolved = withdrawn is not None and (not withdrawn or set(replaced) <= set(withdrawn))
    if not conflicts or is_resolved:
        return [number for number in replaced if number != RUN]
    by_run = [link for conflict in conflicts if conflict.decisions == [RUN] for link in conflict.links]
    described = [conflict for conflict in conflicts if conflict.decisions != [RUN]]
    described += [Conflict(by_run, [RUN], RUN)] if by_run else []
    choices = [[(number, describe(number, conflict)) for number in conflict.decisions] for conflict in described]
    names = ["constraints of the run" if number == RUN else f"decision {number}" for number in replaced]
    has_choice = any(len(choice) > 1 for choice in choices)
    withdrawal = "one of the decisions that it contradicts" if has_choice else join_words(names)
    raise Contradiction(
        f"This contradicts what was decided before. If it is to count, {withdrawal} must be withdrawn.",
        replaced,
        choices,
    )
