"""Checks of the entries of a log, which may have been written by hand: what they must contain, and what they name."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from .decisions import NOT_DECISIONS
from .errors import abbreviate
from .knowledge import MAX_PAIRS

MAX_NAME = 120  # characters of the name of a group or version
LEAST_ITEMS = {"together": 2, "unknown": 2}  # 1 by other actions


@dataclass(frozen=True)
class EntryCheck:
    """What the entries of a run's log may name.

    Parameters
    ----------
    items : collection of str
        Ids of the items.
    views : collection of str
        Names of the views.
    n_groups : int
        Numbers of groups that the run uses: entry 1 may make group `n_groups` + 1, and so on.
    """

    items: Collection[str]
    views: Collection[str]
    n_groups: int

    def __call__(self, entry: Mapping[str, Any], earlier: Sequence[Mapping[str, Any]]) -> None:
        """Raise ValueError unless an entry is complete and names only what there is before it."""
        action = entry["action"]
        if action not in FIELDS:
            raise ValueError(f"it has the action {abbreviate(action)}: actions are {', '.join(FIELDS)}")
        for name, check in FIELDS[action].items():
            if name in entry:
                check(self, entry, name)
            elif (action, name) not in OPTIONAL:
                raise ValueError(f"{name} of {action!r} is missing")
        check_type(entry, "time", str, "a text")
        if type(entry.get("is_answer", False)) is not bool:
            raise ValueError(f"is_answer must be true or false, got {abbreviate(entry['is_answer'])}")
        check_list(entry.get("group_names", []), "group_names", str, "texts")
        if action == "keep":
            decisions = [other["number"] for other in earlier if other["action"] not in NOT_DECISIONS]
            lacking = [number for number in entry["decisions"] if number not in decisions]
            if lacking:
                raise ValueError(f"decisions of 'keep' has {abbreviate(lacking[0])}, which is no earlier decision")

    def check_items(self, entry: Mapping[str, Any], name: str) -> None:
        """Raise ValueError unless a field has different ids of items, as many as the action needs."""
        action, items = entry["action"], entry[name]
        self.check_known(items, name)
        least = LEAST_ITEMS.get(action, 2 if action == "apart" and "others" not in entry else 1)
        if len(items) < (least if name == "items" else 0 if action == "split" else 1):
            raise ValueError(f"{name} of {action!r} has too few items, {len(items)}")
        if action == "unknown" and len(items) > 2:
            raise ValueError(f"items of 'unknown' are two items, got {len(items)}")
        if name == "others":
            shared = set(items) & set(entry["items"])
            if shared:
                raise ValueError(f"item {abbreviate(min(shared))} is in both items and others of {action!r}")
            if len(items) * len(entry["items"]) > MAX_PAIRS and action == "apart":
                raise ValueError(f"items and others of 'apart' have more than {MAX_PAIRS:,} pairs")

    def check_known(self, items: Any, name: str) -> None:
        """Raise ValueError unless a list has ids of items, each once."""
        check_list(items, name, str, "ids of items")
        unknown = [item for item in items if item not in self.items]
        if unknown:
            raise ValueError(f"it names the item {abbreviate(unknown[0])}, which the run does not have")
        if len(set(items)) < len(items):
            raise ValueError(f"{name} has an item more than once")

    def check_exemplars(self, entry: Mapping[str, Any], name: str) -> None:
        """Raise ValueError unless a merger has typical items of each of its groups."""
        check_list(entry[name], name, list, "lists of ids")
        for items in entry[name]:
            self.check_known(items, name)
        if len(entry[name]) != len(entry["groups"]):
            raise ValueError(f"exemplars of 'merge' has {len(entry[name])} lists for {len(entry['groups'])} groups")

    def check_groups(self, entry: Mapping[str, Any], name: str) -> None:
        """Raise ValueError unless a merger names two or more groups that there may be, each once."""
        check_list(entry[name], name, int, "numbers of groups")
        for group in entry[name]:
            self.check_number(group, name, entry["number"])
        if len(set(entry[name])) < max(2, len(entry[name])):
            raise ValueError(f"groups of 'merge' must be two or more different groups, got {abbreviate(entry[name])}")

    def check_group(self, entry: Mapping[str, Any], name: str) -> None:
        """Raise ValueError unless a field is a group that there may be."""
        check_type(entry, name, int, "the number of a group")
        self.check_number(entry[name], name, entry["number"])

    def check_number(self, group: int, name: str, number: int) -> None:
        """Raise ValueError unless the run or an entry up to this one may have made a group."""
        if not 0 <= group <= self.n_groups + number:
            raise ValueError(f"{name} has the group {abbreviate(group)}, which cannot exist at that time")

    def check_new_group(self, entry: Mapping[str, Any], name: str) -> None:
        """Raise ValueError unless the number of a new group is that which belongs to the entry."""
        expected = self.n_groups + int(entry["number"])
        if type(entry[name]) is not int or entry[name] != expected:
            raise ValueError(f"new_group must be {expected} here, got {abbreviate(entry[name])}")

    def check_view(self, entry: Mapping[str, Any], name: str) -> None:
        """Raise ValueError unless a field is the name of a view."""
        check_type(entry, name, str, "the name of a view")
        if entry[name] not in self.views:
            raise ValueError(f"it names the view {abbreviate(entry[name])}: views are {', '.join(self.views)}")


def check_text(_: EntryCheck, entry: Mapping[str, Any], name: str) -> None:
    """Raise ValueError unless a field is a name."""
    check_type(entry, name, str, "a text")
    if not 1 <= len(entry[name]) <= MAX_NAME:
        raise ValueError(f"{name} must have 1 to {MAX_NAME} characters, got {len(entry[name])}")


def check_count(_: EntryCheck, entry: Mapping[str, Any], name: str) -> None:
    """Raise ValueError unless a field is a number of groups, which has at most six digits."""
    check_type(entry, name, int, "a number")
    if not 0 <= entry[name] < 1_000_000:
        raise ValueError(f"{name} must be a number of groups, got {abbreviate(entry[name])}")


def check_decisions(_: EntryCheck, entry: Mapping[str, Any], name: str) -> None:
    """Raise ValueError unless a field is a list of numbers."""
    check_list(entry[name], name, int, "numbers of decisions")


def check_type(entry: Mapping[str, Any], name: str, kind: type, description: str) -> None:
    """Raise ValueError unless a field has a type."""
    if type(entry.get(name)) is not kind:
        raise ValueError(f"{name} must be {description}, got {abbreviate(entry.get(name))}")


def check_list(values: Any, name: str, kind: type, description: str) -> None:
    """Raise ValueError unless a value is a list of values of a type."""
    if type(values) is not list or any(type(value) is not kind for value in values):
        raise ValueError(f"{name} must be a list of {description}, got {abbreviate(values)}")


FIELDS: dict[str, dict[str, Callable[[EntryCheck, Mapping[str, Any], str], None]]] = {  # by action, in this order
    "together": {"items": EntryCheck.check_items},
    "apart": {"items": EntryCheck.check_items, "others": EntryCheck.check_items},
    "merge": {"groups": EntryCheck.check_groups, "exemplars": EntryCheck.check_exemplars},
    "split": {
        "items": EntryCheck.check_items,
        "others": EntryCheck.check_items,
        "new_group": EntryCheck.check_new_group,
        "name": check_text,
    },
    "rename": {"group": EntryCheck.check_group, "name": check_text},
    "outlier": {"items": EntryCheck.check_items},
    "distrust": {"view": EntryCheck.check_view, "items": EntryCheck.check_items},
    "unknown": {"items": EntryCheck.check_items},
    "undo": {},
    "revert": {},
    "keep": {"name": check_text, "decisions": check_decisions, "n_groups": check_count},
}
OPTIONAL = {("apart", "others"), ("split", "name")}
