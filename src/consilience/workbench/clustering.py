"""The groups that follow from decisions, and how a further decision changes them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations

import numpy as np
from sklearn.cluster import KMeans

from ..arrays import get_thread_controller, to_numpy
from ..data import Constraints
from ..data.links import label_components
from ..explain import contested
from ..methods.agreement.ensemble import choose_clusters
from ..methods.agreement.refine import Round
from ..methods.agreement.warm import Knowledge, WarmRefinement
from ..methods.common.margins import find_runner_up, measure_vote_margins
from .knowledge import DecisionSet, Entry, is_about_pair
from .propagation import propagate_statements

CLEAR = 0.5  # clarity from which no other group has half as many votes: the item is typical of its group
LEAST_EVIDENCE = 2  # more answers for than against that typical items of two groups, or of two parts, show the same
CERTAIN_VOTES = 1e4  # those of the views add up to about their number
N_PARTS, LEAST_PART = 4, 5  # parts of a group that are compared with each other, and their least mean size


@dataclass(frozen=True, eq=False)
class Division:
    """A way to divide the items that the views put into a group.

    The group is cut into a few parts, and two of them divide it: each item is on the side of the nearer part.
    """

    group: int  # numbered from 0
    side: np.ndarray  # (n,): 0 or 1, -1 for items outside of the group
    central: tuple[np.ndarray, np.ndarray]  # items of the two parts, those nearest to the center first

    @cached_property
    def smaller(self) -> int:
        """The side with fewer items."""
        return int(np.sum(self.side == 1) <= np.sum(self.side == 0))

    @cached_property
    def size(self) -> int:
        """Number of items on the smaller side."""
        return int(np.sum(self.side == self.smaller))


@dataclass(frozen=True, eq=False)
class Clustering:
    """The group of each item, and the votes of the views that support it.

    `labels` have the numbers of the groups, which may have gaps; -1 is for outliers.
    """

    labels: np.ndarray
    numbers: np.ndarray  # (k,), of the groups, in rising order
    state: Round  # with labels numbered from 0
    view_votes: Mapping[str, np.ndarray]  # (n, k) by view; NaN where an item lacks the view
    balanced: np.ndarray  # (n, k), votes of all views, divided by the square root of the sizes
    effects: Sequence[str] = ()  # what the last decision did, in sentences
    without_effect: frozenset[int] = frozenset()  # mergers of groups that did not exist when they were applied
    confirmed: Sequence[str] | None = None  # views that another view confirms; None if the run was not assessed

    @property
    def n_groups(self) -> int:
        """Number of groups."""
        return len(self.numbers)

    @cached_property
    def compact(self) -> np.ndarray:
        """Labels numbered from 0, -1 for outliers."""
        return self.state.labels

    @cached_property
    def clarity(self) -> np.ndarray:
        """Margin of each item's group over the second, from 0 to 1; 0 for outliers."""
        margins = measure_vote_margins(self.balanced, np.maximum(self.compact, 0))
        return np.where(self.compact >= 0, margins, 0.0)

    @cached_property
    def leading_group(self) -> np.ndarray:
        """The group, numbered from 0, with most votes of the views, whatever was decided about the item."""
        return self.balanced.argmax(axis=1)

    @cached_property
    def is_clear(self) -> np.ndarray:
        """Mask of items whose vote is clear."""
        return measure_vote_margins(self.balanced, self.leading_group) >= CLEAR

    @cached_property
    def second(self) -> np.ndarray:
        """The best other group of each item, numbered from 0."""
        return find_runner_up(self.balanced, np.maximum(self.compact, 0))[1]

    @cached_property
    def sizes(self) -> np.ndarray:
        """Number of items per group."""
        return np.bincount(self.compact[self.compact >= 0], minlength=self.n_groups)

    @cached_property
    def view_labels(self) -> dict[str, np.ndarray]:
        """The group by each view alone, by number; -1 where an item lacks the view, or the view is distrusted."""
        shares = np.maximum(self.sizes, 1) / max(1, self.sizes.sum())
        labels = {}
        for name, votes in self.view_votes.items():
            rows = np.flatnonzero(np.isfinite(votes[:, 0]) & (votes != 0).any(axis=1))
            labels[name] = np.full(len(self.labels), -1)
            labels[name][rows] = self.numbers[choose_clusters(votes[rows], shares, 0.5)]
        return labels

    @cached_property
    def is_contested(self) -> np.ndarray:
        """Mask of items in groups that the confirmed views put into different groups."""
        return contested(self.view_labels, self.confirmed) & (self.labels >= 0)

    def find_typical(self, group: int, n: int, left_out: frozenset[int] = frozenset()) -> list[int]:
        """Return the members of a group, numbered from 0, that are most clearly in it."""
        members = np.flatnonzero(self.compact == group)
        ordered = members[np.argsort(-self.clarity[members], kind="stable")].tolist()
        return [row for row in ordered[: n + len(left_out)] if row not in left_out][:n]

    def find_group(self, number: int) -> int:
        """Return the position of a group among `numbers`; raise an error if it does not exist."""
        place = int(np.searchsorted(self.numbers, number))
        if place == len(self.numbers) or self.numbers[place] != number:
            raise ValueError(f"there is no group {number}: it was merged or its decision was undone")
        return place


class Reclustering:
    """Derives each clustering from the one before and a decision, by warm refinement.

    Parameters
    ----------
    warm : WarmRefinement
        The predictors of the views.
    first_labels : ndarray of shape (n_items,)
        The clusters of the run, -1 for outliers.
    confirmed : sequence of str, optional
        The views that another view confirms, by the assessment of the run; None if it was not assessed.
    """

    def __init__(self, warm: WarmRefinement, first_labels: np.ndarray, confirmed: Sequence[str] | None = None) -> None:
        self.warm, self.first_labels, self.confirmed = warm, np.asarray(first_labels), confirmed
        self.first_number = int(self.first_labels.max(initial=-1)) + 1  # from here on decisions number their groups
        blocks = []
        for view in warm.prepared:
            features = view.clearest.features.values
            block = np.zeros((warm.n_entities, features.shape[1]), np.float32)
            block[view.entities] = features - features.mean(axis=0)
            blocks.append(block)
        self.embedding = np.hstack(blocks)  # in which parts of groups are found

    def name_new_group(self, decision: int) -> int:
        """Return the number of the group that a decision makes, which no other decision uses."""
        return self.first_number + decision

    def restore(
        self,
        labels: np.ndarray,
        knowledge: Knowledge,
        effects: Sequence[str] = (),
        without_effect: frozenset[int] = frozenset(),
    ) -> Clustering:
        """Return the clustering with these labels, without refinement."""
        numbers = np.unique(labels[labels >= 0])
        compact = np.where(labels >= 0, np.searchsorted(numbers, labels), -1)
        ensemble = self.warm.build_ensemble(len(numbers), knowledge)
        vote = ensemble.vote(compact)
        return self._build(Round(compact, vote, 0.0, ensemble.score(vote), 0.0), numbers, effects, without_effect)

    def _build(
        self, state: Round, numbers: np.ndarray, effects: Sequence[str], without_effect: frozenset[int]
    ) -> Clustering:
        counts = np.bincount(state.labels[state.labels >= 0], minlength=len(numbers))
        shares = np.maximum(counts, 1) / max(1, counts.sum())
        view_votes = {}
        for view, votes in zip(self.warm.prepared, state.vote.by_view, strict=True):
            view_votes[view.name] = np.full((self.warm.n_entities, len(numbers)), np.nan)
            view_votes[view.name][view.entities] = to_numpy(votes)
        labels = np.append(numbers, -1)[state.labels]
        balanced = to_numpy(state.vote.total) / np.sqrt(shares)
        return Clustering(labels, numbers, state, view_votes, balanced, effects, without_effect, self.confirmed)

    def apply(
        self,
        before: Clustering,
        entry: Entry,
        decisions_before: DecisionSet,
        decisions: DecisionSet,
        *,
        check_stopped: Callable[[], None] = lambda: None,
        report: Callable[[float], None] = lambda _: None,
    ) -> Clustering:
        """Return the clustering after a decision.

        The decision is applied to the labels, which are then refined: items follow the votes of the views, as far as
        all decisions allow. Items that would have moved without the decision stay where they are. A merger of groups
        that do not all exist has no effect.
        """
        if entry["action"] == "merge" and not np.isin(entry["groups"], before.numbers).all():
            effects = ["It has no effect: a group that it merges does not exist any more."]
            without_effect = before.without_effect | {int(entry["number"])}
            return self.restore(before.labels, decisions_before.knowledge, effects, without_effect)
        labels, effects = before.labels.copy(), list[str]()
        drift = self.warm.find_drift(
            before.state,
            before.n_groups,
            decisions_before.knowledge,
            self._collect_votes(before.compact, before.numbers, decisions_before),
        )
        drift = np.where(drift >= 0, before.numbers[drift], -1)
        match entry["action"]:
            case "merge":
                self._merge(labels, drift, [int(group) for group in entry["groups"]])
            case "split":
                labels[decisions.find_rows(entry)] = int(entry["new_group"])
            case "outlier":
                labels[decisions.find_rows(entry)] = -1
            case "together" | "apart" if is_about_pair(entry):
                effects += self._apply_evidence(before, labels, drift, entry, decisions)
        is_outlier = decisions.knowledge.is_outlier
        is_restored = (labels < 0) & (True if is_outlier is None else ~is_outlier)
        labels[is_restored] = before.numbers[before.leading_group[is_restored]]
        labels = satisfy_constraints(labels, decisions.constraints, before)
        numbers = np.unique(labels[labels >= 0])
        compact = np.where(labels >= 0, np.searchsorted(numbers, labels), -1)
        drift = np.where(np.isin(drift, numbers) & (drift != labels), np.searchsorted(numbers, drift), -1)
        state = self.warm.refine(
            compact,
            len(numbers),
            decisions.knowledge,
            further_votes=self._collect_votes(compact, numbers, decisions),
            drift=drift,
            check_stopped=check_stopped,
            report=report,
        )
        return self._build(state, numbers, effects, before.without_effect)

    def _collect_votes(
        self, labels: np.ndarray, numbers: np.ndarray, decisions: DecisionSet
    ) -> Callable[[np.ndarray], np.ndarray]:
        """Return the votes that decisions add to those of the views, as a function of the labels, numbered from 0.

        Pairs vote on items near them, items that were made a group stay in it, and items whose views are all
        misleading keep their group.
        """
        ignored = decisions.knowledge.ignored
        propagate = propagate_statements(self.warm.prepared, decisions.statements, labels, len(numbers), ignored)
        members = {row: group for row, group in decisions.group_members.items() if group in numbers}
        rows = np.array(list(members), np.int64)
        groups = np.searchsorted(numbers, list(members.values()))
        is_silent = np.ones(self.warm.n_entities, bool)
        for view in self.warm.prepared:
            is_silent[view.entities[~ignored.get(view.name, np.zeros_like(is_silent))[view.entities]]] = False

        def collect_votes(labels: np.ndarray) -> np.ndarray:
            shape = len(labels), len(numbers)
            votes = np.zeros(shape) if propagate is None else propagate(labels)
            votes[rows, groups] += CERTAIN_VOTES
            silent = np.flatnonzero(is_silent & (labels >= 0))
            votes[silent, labels[silent]] += CERTAIN_VOTES
            return votes

        return collect_votes

    def _merge(self, labels: np.ndarray, drift: np.ndarray, groups: Sequence[int]) -> None:
        """Give all members of some groups the number of the largest, in place."""
        largest = max(groups, key=lambda group: (int(np.sum(labels == group)), -group))
        for group in groups:
            labels[labels == group] = largest
            drift[drift == group] = largest

    def _apply_evidence(
        self, before: Clustering, labels: np.ndarray, drift: np.ndarray, entry: Entry, decisions: DecisionSet
    ) -> list[str]:
        """Merge two groups, or divide a group, if the answers about typical items say so; return what was done.

        One pair may be an exception, so that at least `LEAST_EVIDENCE` more answers must speak for it than against it.
        """
        first, second = decisions.find_rows(entry)
        groups = int(before.leading_group[first]), int(before.leading_group[second])
        if entry["action"] == "together" and groups[0] != groups[1]:
            is_forbidden = any(
                {int(before.compact[link.first]), int(before.compact[link.second])} == set(groups)
                for link in decisions.cannot_links
            )
            evidence = count_merge_evidence(before, decisions, groups)
            if evidence >= LEAST_EVIDENCE and not is_forbidden:
                numbers = [int(before.numbers[group]) for group in groups]
                self._merge(labels, drift, numbers)
                return [
                    f"Two groups were merged, because {evidence} more answers say that their typical items belong "
                    "together than that they do not."
                ]
        if entry["action"] == "apart" and groups[0] == groups[1]:
            divisions = [
                (count_split_evidence(decisions, division.side), division.size, division)
                for division in self.find_divisions(before, groups[0])
                if division.side[first] != division.side[second]
            ]
            evidence, _, division = max(divisions, key=lambda candidate: candidate[:2], default=(0, 0, None))
            if division is not None and evidence >= LEAST_EVIDENCE:
                is_moved = (division.side == division.smaller) & (before.compact == groups[0])
                labels[is_moved] = self.name_new_group(int(entry["number"]))
                return [
                    f"A group was divided, because {evidence} more answers say that items of its two parts do not "
                    "belong together than that they do."
                ]
        return []

    def find_divisions(self, clustering: Clustering, group: int) -> list[Division]:
        """Return ways to divide a group, numbered from 0, into two; none if it is too small."""
        members = np.flatnonzero(clustering.leading_group == group)
        n_parts = min(N_PARTS, len(members) // LEAST_PART)
        if n_parts < 2:
            return []
        points = self.embedding[members]
        with get_thread_controller().limit(limits=1, user_api="openmp"):  # the result must not depend on threads
            parts = KMeans(n_parts, n_init=2, random_state=0).fit(points)
        distances = parts.transform(points)
        ordered = []
        for part in range(n_parts):
            in_part = np.flatnonzero(parts.labels_ == part)
            ordered.append(members[in_part[np.argsort(distances[in_part, part], kind="stable")]])
        divisions = []
        for i, j in combinations(range(n_parts), 2):
            side = np.full(len(clustering.labels), -1)
            side[members] = distances[:, i] >= distances[:, j]
            divisions.append(Division(group, side, (ordered[i], ordered[j])))
        return divisions


def count_merge_evidence(clustering: Clustering, decisions: DecisionSet, groups: Sequence[int]) -> int:
    """Return how many more decisions say that clear items of two groups, numbered from 0, belong together than not.

    Decisions about two items count, once each; those about more items say enough themselves.
    """
    leading_group, is_clear = clustering.leading_group, clustering.is_clear
    return sum(
        1 if statement.is_together else -1
        for statement in decisions.statements
        if {int(leading_group[statement.first]), int(leading_group[statement.second])} == set(groups)
        and is_clear[statement.first]
        and is_clear[statement.second]
    )


def count_split_evidence(decisions: DecisionSet, side: np.ndarray) -> int:
    """Return how many more decisions say that two items on two sides do not belong together than that they do."""
    return sum(
        -1 if statement.is_together else 1
        for statement in decisions.statements
        if {int(side[statement.first]), int(side[statement.second])} == {0, 1}
    )


def satisfy_constraints(labels: np.ndarray, constraints: Constraints, before: Clustering) -> np.ndarray:
    """Return labels that satisfy the constraints, as far as that is possible.

    Items that belong together get the group in which their clarity adds up to most. Of two items that do not, the one
    that is less clear, with all that belong to it, gets the group with most votes that contains no item from
    which it must be apart.
    """
    if not constraints.size:
        return labels
    labels = labels.copy()
    numbers = np.unique(labels[labels >= 0])
    component = label_components(constraints.must_link, len(labels))
    is_placed = labels >= 0
    weights = np.zeros((int(component.max()) + 1, len(numbers)))
    places = np.searchsorted(numbers, labels)
    # A new group counts fully: its members have no votes for it yet.
    is_unchanged = labels == before.labels
    strength = np.where(is_unchanged, 0.01 + before.clarity, 1.01)
    np.add.at(weights, (component[is_placed], places[is_placed]), strength[is_placed])
    labels = np.where(is_placed, numbers[weights.argmax(axis=1)][component], -1)
    cannot = constraints.cannot_link
    apart: dict[int, set[int]] = {}
    for first, second in component[cannot].tolist():
        apart.setdefault(first, set()).add(second)
        apart.setdefault(second, set()).add(first)
    for first, second in cannot[np.argsort(before.clarity[cannot].min(axis=1), kind="stable")].tolist():
        if labels[first] != labels[second] or component[first] == component[second]:
            continue
        for row in sorted((first, second), key=lambda row: (weights[component[row]].sum(), row)):
            members = np.flatnonzero(component == component[row])
            others = [np.flatnonzero(component == other) for other in apart[int(component[row])]]
            taken = {int(label) for rows in others for label in labels[rows]}
            votes = before.balanced[members].sum(axis=0)
            ordered = before.numbers[np.argsort(-votes, kind="stable")]
            free = [int(number) for number in ordered if number in numbers and int(number) not in taken]
            if free:
                labels[members] = free[0]
                break
    return labels
