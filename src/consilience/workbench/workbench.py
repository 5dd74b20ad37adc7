"""The workbench: decisions of a person about the groups of a run, and the groups that follow from them.

A request adds a decision to the log, which is on disk before the request is answered. A thread in the background then
clusters the items again, unless the decision only names a group. The groups are a function of the run and the active
decisions: each decision is applied to the groups after the decisions before it. So undoing a decision, reverting to a
version and opening the run again give the same groups every time.
"""

from __future__ import annotations

import logging
import operator
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from ..pipeline.changes import compare_labels, join_words
from ..pipeline.log import count_noun
from ..pipeline.result import Result
from ..report.markup import clean_text
from ..report.pack import pack_numbers
from . import describe
from .cache import ClusteringCache, StoredClustering, compute_key
from .clustering import Clustering
from .decisions import NOT_DECISIONS, DecisionLog, ReadOnlyError, find_active, find_undone, list_grouping
from .entry_checks import MAX_NAME, EntryCheck
from .errors import NotReadyError, OutdatedError
from .knowledge import MAX_PAIRS, RUN, Conflict, DecisionSet, Entry, Link, check_consistent, is_about_pair
from .opening import OpenedRun, check_size, compute_run_key, open_result
from .propagation import Bell, combine_bells, measure_bells
from .questions import Question, rank_questions, summarize_end
from .saving import choose_folder, save_as_run, write_constraints

logger = logging.getLogger("consilience")

N_EXEMPLARS = 3  # typical members that stand for a group in decisions
RECLUSTERING = "clustering the items again"
POLLING = 1.0  # seconds between two looks at the decisions of another workbench
MAX_FOUND = 20_000  # items that a search returns
MAX_MOVED = 500  # moved items that a comparison lists
MAX_LINKS = 3  # constraints of the run that a sentence lists


class CancelledError(Exception):
    """Re-clustering was cancelled."""


@dataclass(frozen=True)
class Work:
    """The work in the background: its name, the share that is done, and what it is for."""

    name: str
    share: float | None = None
    entry: int | None = None  # last entry of the log when re-clustering began; None for other work


@dataclass(frozen=True, eq=False)
class Snapshot:
    """The groups that are shown, and the decisions that they follow from; requests read one snapshot at a time."""

    clustering: Clustering
    decisions: DecisionSet
    key: str
    found_names: dict[int, str]  # of groups, without decisions
    names: dict[int, str]
    number: int  # changes with the labels
    moved: np.ndarray  # rows whose group changed
    after: int | None  # the last decision
    sentences: Sequence[str]
    groups: Sequence[Mapping[str, Any]]  # number, name, size, ... of each
    scores: Mapping[str, float] | None  # with known classes
    seconds: float  # from the beginning of the work until the page can show it


class Workbench:
    """The groups of a run, which a person's decisions change.

    Parameters
    ----------
    result : Result
        The run, with its data.
    folder : Path
        Folder of the run, in which `decisions.jsonl` is kept.
    """

    def __init__(self, result: Result, folder: Path) -> None:
        check_size(result)
        self.result, self.folder = result, folder
        self.run_key = compute_run_key(result)
        data = result._run.data
        items = frozenset(map(str, data.prepared.names.tolist()))
        n_groups = int(np.asarray(result.model.labels_).max(initial=-1)) + 1
        self.log = DecisionLog.open(folder, self.run_key, EntryCheck(items, data.views.names, n_groups))
        self.cache = ClusteringCache(None if self.log.read_only else folder)
        self._opened: OpenedRun | None = None
        self._snapshot: Snapshot | None = None
        self._work: Work | None = Work("opening the run", 0.0)
        self._error: str | None = None
        self._opening_error: str | None = None
        self._saved: str | None = None
        self._revision = 1
        self._changed = threading.Condition()
        self._wake = threading.Event()
        self._cancelled = threading.Event()
        self._is_closed = False
        self._is_following = True  # whether the thread in the background looks at the decisions
        self._deciding = threading.Lock()  # one decision at a time is checked and written
        self._save_requests: list[Path] = []
        self._questions: tuple[int, list[Question]] = 0, []  # of the clustering with this number
        self._thread = threading.Thread(target=self._run_worker, name="workbench", daemon=True)

    # the thread in the background

    def start(self) -> None:
        """Open the run in the background."""
        self._thread.start()

    def close(self) -> None:
        """Stop the work and release the decisions."""
        self._is_closed = True
        self._cancelled.set()
        self._wake.set()
        self._notify()
        if self._thread.is_alive():
            self._thread.join(timeout=None if self._save_requests else 30)
        self.log.close()

    def wait_until_ready(self, seconds: float = 600.0) -> None:
        """Wait until the run is open and the groups follow from all decisions; raise an error if that fails."""
        with self._changed:
            is_over = self._changed.wait_for(lambda: self._opening_error is not None or self.is_settled, seconds)
        if self._opening_error is not None:
            raise ValueError(self._opening_error)
        if not is_over:
            raise NotReadyError("the groups are still being computed")

    @property
    def is_settled(self) -> bool:
        """Whether the groups follow from all decisions, or cannot be computed."""
        return self._snapshot is not None and not self._wake.is_set() and not self._is_following

    def _run_worker(self) -> None:
        try:
            self._opened = open_result(self.result, self._report_opening)
            self._follow_first_decisions()
        except CancelledError:
            return
        except Exception as error:
            self._work, self._opening_error = None, report_error(error)
            self._notify()
            return
        while not self._is_closed:
            self._is_following = self._wake.is_set()
            self._set_work(None)
            is_awake = self._wake.wait(POLLING if self.log.read_only else None)
            if self._is_closed:
                break
            self._is_following = True
            self._wake.clear()
            try:
                if is_awake or self._reload():
                    self._error = None
                    self._follow_decisions()
            except CancelledError:  # by an entry that has not been followed yet
                self._wake.set()
            except Exception as error:
                self._error = describe_failure(error)
            if not self._wake.is_set():
                self._save_requested()
        with suppress(Exception):  # that cannot be shown any more
            self._save_requested()

    def _report_opening(self, name: str, share: float) -> None:
        if self._is_closed:
            raise CancelledError
        self._set_work(Work(name, share))

    def _reload(self) -> bool:
        """Read what another workbench has decided; return whether there is anything new."""
        is_changed = self.log.reload()
        if self.log.read_only is None:  # the other workbench has been closed
            self.cache.folder = ClusteringCache(self.folder).folder
        return is_changed

    def _set_work(self, work: Work | None) -> None:
        self._work = work
        self._notify()

    def _notify(self) -> None:
        with self._changed:
            self._revision += 1
            self._changed.notify_all()

    def _follow_decisions(self) -> None:
        """Cluster until the groups follow from all active decisions."""
        while not self._is_closed:
            logged = list(self.log.entries)
            entries = find_active(logged)
            shown = self._snapshot
            if shown is not None and shown.key == compute_key(self.run_key, entries):
                return
            if shown is not None and list_grouping(shown.decisions.entries) == list_grouping(entries):
                self._publish_names(shown, entries)
                continue
            self._cancelled.clear()
            self._set_work(Work(RECLUSTERING, entry=len(logged)))
            started = time.perf_counter()
            clustering, decisions = self._compute(entries, self._report_progress, self._check_cancelled)
            self._publish(clustering, decisions, started)

    def _follow_first_decisions(self) -> None:
        """Cluster for the first time; if that fails, show the groups before the decision that cannot be followed."""
        entries, first_error = find_active(list(self.log.entries)), None
        for n_followed in range(len(entries), -1, -1):
            started = time.perf_counter()
            try:
                clustering, decisions = self._compute(
                    entries[:n_followed], self._report_progress, self._check_cancelled
                )
            except Exception as error:
                if n_followed == 0 or type(error) is CancelledError:
                    raise
                first_error = first_error or error
                continue
            self._publish(clustering, decisions, started)
            break
        if first_error is not None:
            self._error = describe_failure(first_error)

    def _report_progress(self, share: float) -> None:
        self._set_work(Work(RECLUSTERING, share, None if self._work is None else self._work.entry))

    def _check_cancelled(self) -> None:
        if self._cancelled.is_set():
            raise CancelledError

    def _build_decision_set(
        self, entries: Sequence[Entry], without_effect: frozenset[int] | None = None
    ) -> DecisionSet:
        """Return decisions, of which those `without_effect` give no constraints.

        By default these are the mergers without effect on what is shown, unless the decisions before them differ.
        """
        opened, shown = self.opened, self._snapshot
        if without_effect is None:
            is_equal = [] if shown is None else list(map(operator.eq, entries, shown.decisions.entries))
            first_difference = [*is_equal, False].index(False)
            numbers = {int(entry["number"]) for entry in entries[:first_difference]}
            without_effect = frozenset() if shown is None else shown.clustering.without_effect & numbers
        return DecisionSet(
            list(entries), opened.rows, opened.n_items, opened.base, opened.base_outliers, without_effect
        )

    def _compute(
        self,
        entries: Sequence[Entry],
        report: Callable[[float], None] = lambda _: None,
        check_stopped: Callable[[], None] = lambda: None,
    ) -> tuple[Clustering, DecisionSet]:
        """Return the groups after decisions, from the longest series of them that is stored."""
        opened, decided = self.opened, entries
        entries = list_grouping(decided)
        start, stored = 0, None
        for start in range(len(entries), 0, -1):
            stored = self.cache.get(compute_key(self.run_key, entries[:start]), opened.n_items)
            if stored is not None:
                break
        if stored is None:
            start, stored = 0, StoredClustering(opened.reclustering.first_labels, (), ())
        without_effect = frozenset(stored.without_effect)
        decisions = self._build_decision_set(entries[:start], without_effect)
        clustering = opened.reclustering.restore(stored.labels, decisions.knowledge, stored.effects, without_effect)
        for n_applied in range(start + 1, len(entries) + 1):
            check_stopped()
            decisions_before = decisions
            self._check_groups_remain(entries[:n_applied])
            decisions = self._build_decision_set(entries[:n_applied], clustering.without_effect)
            n_left, n_all = len(entries) - n_applied, len(entries) - start

            def report_round(share: float, n_done: int = n_all - n_left - 1, n_all: int = n_all) -> None:
                report((n_done + share) / n_all)

            clustering = opened.reclustering.apply(
                clustering,
                entries[n_applied - 1],
                decisions_before,
                decisions,
                check_stopped=check_stopped,
                report=report_round,
            )
            stored = StoredClustering(
                clustering.labels, tuple(clustering.effects), tuple(sorted(clustering.without_effect))
            )
            self.cache.put(compute_key(self.run_key, entries[:n_applied]), stored)
        return clustering, self._build_decision_set(decided, clustering.without_effect)

    def _publish(self, clustering: Clustering, decisions: DecisionSet, started: float) -> None:
        before = self._snapshot
        found_names = describe.name_groups(self.opened, clustering)
        names = describe.add_decided_names(found_names, decisions)
        moved, number = np.zeros(0, np.int64), 1
        sentences: list[str] = []
        if before is not None:
            moved = np.flatnonzero(clustering.labels != before.clustering.labels)
            number = before.number + 1
            sentences = describe_moves(before, clustering, names, moved)
        after = int(decisions.entries[-1]["number"]) if decisions.entries else None
        if before is not None and after not in {int(entry["number"]) for entry in before.decisions.entries}:
            sentences = [*clustering.effects, *sentences]  # after an undo, they would be those of an earlier decision
        key = compute_key(self.run_key, decisions.entries)
        groups = describe.describe_groups(self.opened, clustering, names)
        scores = describe.score_groups(self.opened, clustering)
        self._error = None
        seconds = time.perf_counter() - started
        self._snapshot = Snapshot(
            clustering, decisions, key, found_names, names, number, moved, after, sentences, groups, scores, seconds
        )
        self._notify()

    def _publish_names(self, shown: Snapshot, entries: Sequence[Entry]) -> None:
        """Show the groups that are shown with the names that decisions give them."""
        decisions = self._build_decision_set(entries, shown.clustering.without_effect)
        names = describe.add_decided_names(shown.found_names, decisions)
        groups = [{**group, "name": names[group["number"]]} for group in shown.groups]
        key = compute_key(self.run_key, entries)
        self._error = None
        self._snapshot = replace(shown, decisions=decisions, key=key, names=names, groups=groups)
        self._notify()

    def _save_requested(self) -> None:
        while self._save_requests:
            folder = self._save_requests[0]
            is_current = self.snapshot.key == compute_key(self.run_key, self.log.list_active())
            if is_current or self._is_closed:
                self._save(folder)
            else:  # clustering has failed
                self._error = f"The groups were not saved in {folder}. {self._error or ''}".strip()
            del self._save_requests[0]

    def _save(self, folder: Path) -> None:
        """Save the groups that are shown; an error is shown like one of the groups."""
        self._set_work(Work(f"saving {folder}"))
        shown = self.snapshot
        try:
            save_as_run(self.opened, shown.clustering, shown.decisions, shown.names, folder, str(self.folder))
        except Exception as error:
            self._error = f"The groups were not saved in {folder}: {report_error(error)}"
        else:
            self._saved = str(folder)

    # what requests read

    @property
    def opened(self) -> OpenedRun:
        """The run, if it is open."""
        if self._opened is None:
            raise NotReadyError(self._opening_error or "the run is still being opened")
        return self._opened

    @property
    def snapshot(self) -> Snapshot:
        """The groups that are shown."""
        if self._snapshot is None:
            raise NotReadyError(self._opening_error or "the run is still being opened")
        return self._snapshot

    def wait_for_change(self, after: int, seconds: float) -> None:
        """Wait until something has changed since a revision, or some seconds have passed."""
        with self._changed:
            self._changed.wait_for(lambda: self._revision != after or self._is_closed, seconds)

    def describe_items(self) -> dict[str, Any]:
        """Return what does not change: ids, texts and positions."""
        title = self.result.summary["inputs"].get("title") or self.folder.resolve().name
        return describe.describe_items(self.opened, str(title), str(self.folder))

    def describe_state(self, clustering: int = -1) -> dict[str, Any]:
        """Return everything that changes; labels only if they are not those of the clustering with this number."""
        revision = self._revision  # before what it describes, so that the page asks again if that changes meanwhile
        shown, work = self._snapshot, self._work
        state: dict[str, Any] = {
            "revision": revision,
            "is_ready": shown is not None,
            "opening_error": self._opening_error,
            "read_only": self.log.read_only,
            "work": None if work is None else self._describe_work(work),
            "error": self._error,
            "clustering": 0 if shown is None else shown.number,
            "saved": None if self._saved is None else {"folder": self._saved},
        }
        if shown is None:
            return state
        if shown.number != clustering:
            packed = {name: pack_numbers(labels, "i2") for name, labels in shown.clustering.view_labels.items()}
            state |= {
                "labels": pack_numbers(shown.clustering.labels, "i2"),
                "confidence": describe.pack_confidence(self.opened, shown.clustering),
                "contested": pack_numbers(shown.clustering.is_contested, "u1"),
                "view_labels": packed,
            }
        state |= self._describe_decisions(shown)
        state |= {
            "groups": shown.groups,
            "changes": None
            if shown.after is None
            else {
                "after": shown.after,
                "rows": pack_numbers(shown.moved, "i4"),
                "sentences": list(shown.sentences),
                "seconds": round(shown.seconds, 3),
            },
            "versions": self._list_versions(shown),
            "scores": shown.scores,
            "limits": {"max_rows_apart": shown.clustering.n_groups},
        }
        return state

    def _describe_work(self, work: Work) -> dict[str, Any]:
        can_cancel = work.entry is not None and self.log.read_only is None
        return {"doing": work.name, "share": work.share, "can_cancel": can_cancel}

    def _describe_decisions(self, shown: Snapshot) -> dict[str, Any]:
        entries = list(self.log.entries)
        active = {int(entry["number"]): entry for entry in find_active(entries)}
        replaced_by = {old: number for number, entry in active.items() for old in entry.get("replaces", ())}
        undone = find_undone(entries)
        reverts = [entry for entry in entries if entry["action"] == "revert" and int(entry["number"]) not in undone]
        last_revert, reverted = (int(reverts[-1]["number"]), reverts[-1]["decisions"]) if reverts else (0, [])
        applied = {int(other["number"]) for other in shown.decisions.entries}
        listed = []
        for entry in entries:
            if entry["action"] in NOT_DECISIONS:
                continue
            number = int(entry["number"])
            is_active = number in active
            status, reason = "", ""
            if is_active and number in applied:
                status, reason = describe.check_decision(entry, shown.clustering, shown.decisions)
                withdrawn = [link for link, causes in shown.decisions.withdrawn_run_links.items() if number in causes]
                if withdrawn:
                    reason = " ".join(filter(None, [reason, describe_withdrawn(withdrawn)]))
            elif is_active:
                has_failed = self._error is not None and self._work is None
                reason = (
                    "Clustering with this decision failed." if has_failed else "The items are being clustered again."
                )
            listed.append(
                {
                    "number": number,
                    "action": entry["action"],
                    "sentence": describe.describe_decision(entry),
                    "is_active": is_active,
                    "replaced_by": None if is_active else replaced_by.get(number),
                    "can_undo": is_active and self.log.read_only is None,
                    "can_redo": number in undone
                    and not is_active
                    and number not in replaced_by
                    and (number > last_revert or number in reverted)
                    and self.log.read_only is None,
                    "time": entry["time"],
                    "rows": shown.decisions.find_rows(entry)[: describe.MAX_LISTED_ROWS],
                    "is_pair": is_about_pair(entry),
                    "status": status,
                    "reason": reason,
                }
            )
        undo, redo = find_steps(entries)
        n_answers = sum(entry.get("is_answer", False) for entry in active.values())
        return {"decisions": listed, "undo": undo, "redo": redo, "n_answers": n_answers}

    def _list_versions(self, shown: Snapshot) -> list[dict[str, Any]]:
        """Return the named versions, the run itself first."""
        current = [int(entry["number"]) for entry in shown.decisions.entries]
        first = self.opened.reclustering.first_labels
        versions = [
            {
                "number": 0,
                "name": "the run as it was clustered",
                "n_groups": len(np.unique(first[first >= 0])),
                "n_decisions": 0,
                "time": self.result.summary.get("when"),
                "is_current": not current,
            }
        ]
        undone = find_undone(list(self.log.entries))
        versions += [
            {
                "number": int(entry["number"]),
                "name": entry["name"],
                "n_groups": entry["n_groups"],
                "n_decisions": len(entry["decisions"]),
                "time": entry["time"],
                "is_current": entry["decisions"] == current,
            }
            for entry in self.log.entries
            if entry["action"] == "keep" and int(entry["number"]) not in undone
        ]
        return versions

    def describe_item(self, row: int) -> dict[str, Any]:
        """Return an item in all its views."""
        shown = self.snapshot
        self._check_rows([row])
        return describe.describe_item(self.opened, shown.clustering, shown.decisions, row)

    def describe_group(self, number: int) -> dict[str, Any]:
        """Return what marks a group, and its members."""
        shown = self.snapshot
        return describe.describe_group(self.opened, shown.clustering, shown.names, number)

    def search(self, text: str) -> dict[str, Any]:
        """Return the items whose id or texts contain all words of a text."""
        opened, words = self.opened, text.casefold().split()
        rows: list[int] = []
        if words:
            texts = [opened.ids, *({id(values): values for values in opened.run.texts.values()}.values())]
            for row in range(opened.n_items):
                content = " ".join(str(values[row] or "") for values in texts).casefold()
                if all(word in content for word in words):
                    rows.append(row)
        return {"rows": pack_numbers(rows[:MAX_FOUND], "i4"), "n": len(rows)}

    def list_questions(self, n: int, skip: Sequence[tuple[int, int]] = ()) -> dict[str, Any]:
        """Return the questions whose answers are expected to change most."""
        shown = self.snapshot
        skipped = {frozenset(pair) for pair in skip} | {
            frozenset(shown.decisions.find_rows(entry))
            for entry in shown.decisions.entries
            if entry["action"] == "unknown"
        }
        number, questions = self._questions
        if number != shown.number:
            questions = rank_questions(self.opened.reclustering, shown.clustering, shown.decisions, skipped)
            self._questions = shown.number, questions
        left = [question for question in questions if frozenset(question.pair) not in skipped]
        listed = [
            {
                "pair": list(question.pair),
                "gain": round(question.gain, 2),
                "sentence": question.sentence,
                "reason": question.reason,
            }
            for question in left[: max(0, n)]
        ]
        return {"questions": listed, "message": summarize_end(left)}

    def describe_propagation(self, decision: int) -> dict[str, Any]:
        """Return how far a decision about pairs reaches in each view."""
        shown = self.snapshot
        entry = next((entry for entry in self.log.entries if entry["number"] == decision), None)
        if entry is None or entry["action"] not in ("together", "apart"):
            raise ValueError(f"decision {decision} is not about pairs of items: choose one that is")
        rows, others = shown.decisions.find_rows(entry), shown.decisions.find_rows(entry, "others")
        pair = (rows[0], others[0] if others else rows[1])
        clustering, opened = shown.clustering, self.opened
        prepared, ignored = opened.reclustering.warm.prepared, shown.decisions.knowledge.ignored
        combined = combine_bells(prepared, pair, clustering.compact, clustering.n_groups, ignored)
        packed, n_reached = pack_bells(combined, pair, opened.n_items)
        is_propagated = entry in shown.decisions.entries and is_about_pair(entry)
        if not is_propagated:
            sentence = "Decisions about more than two items, and those that are not in effect, are not propagated."
        else:
            reached = count_noun(n_reached, "other item") if n_reached else "no other item, because none is"
            sentence = f"It counts for {reached} near one of the two in most of the views that they share."
        joint = {**packed, "n_reached": n_reached, "sentence": sentence}
        with_votes = {row for bell in combined.values() for row in bell.rows.tolist()} if is_propagated else set()
        views = []
        for view in prepared:
            bells = measure_bells(view, pair, clustering.compact, clustering.n_groups, ignored)
            packed, n_reached = pack_bells(bells, pair, opened.n_items)
            n_with_votes = len(with_votes & {row for bell in bells.values() for row in bell.rows.tolist()} - {*pair})
            sentence = describe_reach(n_reached, n_with_votes, (pair[0] in bells, pair[1] in bells))
            views.append({"name": view.name, **packed, "n_reached": n_reached, "sentence": sentence})
        return {"decision": decision, "pairs": [list(pair)], "kind": entry["action"], "views": views, "joint": joint}

    def compare_versions(self, first: int, second: int) -> dict[str, Any]:
        """Return what changed between two versions; -1 is the present one."""
        labels, names = [], []
        for number in (first, second):
            if number == -1:
                clustering, decisions = self.snapshot.clustering, self.snapshot.decisions
            else:
                clustering, decisions = self._compute(self._find_version(number))
            labels.append(clustering.labels)
            named = describe.add_decided_names(describe.name_groups(self.opened, clustering), decisions)
            names.append([named.get(group, "") for group in range(max(named, default=-1) + 1)])
        ids = self.opened.ids
        changes = compare_labels(ids, labels[0], ids, labels[1], names1=names[0], names2=names[1], compared_by="ids")
        moved = [
            {"row": self.opened.rows[item["id"]], "id": item["id"], **name_move(item, names)}
            for item in list(changes.moved.rows())[:MAX_MOVED]
        ]
        return {
            "overview": changes.overview,
            "sentences": list(changes.sentences),
            "moved": moved,
            "n_moved": changes.n_moved,
        }

    def export_constraints(self) -> str:
        """Return the constraints that follow from all decisions as a table for ``consilience cluster``."""
        return write_constraints(self.opened, self._build_decision_set(self.log.list_active()).constraints)

    # what requests change

    def decide(self, body: Mapping[str, Any]) -> dict[str, Any]:
        """Check a decision, write it to the log, and cluster the items again in the background."""
        with self._deciding:
            shown = self.snapshot
            if body.get("groups") and body.get("clustering", shown.number) != shown.number:
                raise OutdatedError("the groups have just changed: look at them again, and repeat the decision")
            entry = self._build_entry(body, shown)
            blocking = self._find_blocking(shown, entry["groups"]) if entry["action"] == "merge" else []
            return self._append_decision(entry, body, blocking)

    def answer(self, body: Mapping[str, Any]) -> dict[str, Any]:
        """Write the answer to a question: same, different or unknown."""
        actions = {"same": "together", "different": "apart", "unknown": "unknown"}
        action = actions.get(str(body.get("answer")))
        if action is None:
            raise ValueError(f"an answer is 'same', 'different' or 'unknown', got {body.get('answer')!r}")
        pair = self._check_rows(body.get("pair"))
        if len(pair) != 2 or pair[0] == pair[1]:
            raise ValueError(f"a question is about two items, got {body.get('pair')!r}")
        with self._deciding:
            entry = {"action": action, "items": [self.opened.ids[row] for row in pair], "is_answer": True}
            return self._append_decision(entry, body)

    def undo(self, number: int) -> dict[str, Any]:
        """Undo a decision, a return to a version, or the name of a version."""
        with self._deciding:
            entries = list(self.log.entries)
            others = {int(entry["number"]) for entry in entries if entry["action"] in ("revert", "keep")}
            active = {int(entry["number"]) for entry in find_active(entries)}
            if number not in active | (others - find_undone(entries).keys()):
                raise ValueError(f"decision {number} is not in effect, so it cannot be undone")
            return self._append_undo(number)

    def redo(self, number: int) -> dict[str, Any]:
        """Make a decision count again that was undone; one that it contradicts must be undone first."""
        with self._deciding:
            entries = list(self.log.entries)
            undone, active = find_undone(entries), {int(entry["number"]) for entry in find_active(entries)}
            if number not in undone or number in active:
                raise ValueError(f"decision {number} was not undone")
            redo = {"action": "undo", "of": undone[number], "number": len(entries) + 1}
            restored = {int(entry["number"]) for entry in find_active([*entries, redo])}
            if entries[number - 1]["action"] not in NOT_DECISIONS and number not in restored:
                raise ValueError(
                    f"decision {number} would still not be in effect, because of a later return to a version or a "
                    "decision that replaced it: undo that first"
                )
            return self._append_undo(undone[number])

    def cancel(self) -> dict[str, Any]:
        """Stop clustering again, and undo what it was for: decisions, an undo, or a return to a version."""
        with self._deciding:
            work, shown = self._work, self._snapshot
            if work is None or work.entry is None or shown is None:
                return {}
            if self.log.read_only is not None:
                raise ReadOnlyError(self.log.read_only)
            entries = list(self.log.entries)
            last = max(int(entry["number"]) for entry in entries[: work.entry] if entry["action"] != "keep")
            answer: dict[str, Any] = {}
            is_outdated = last in find_undone(entries) or shown.key == compute_key(self.run_key, find_active(entries))
            if not is_outdated:
                answer = self._append({"action": "undo", "of": last})
            self._cancelled.set()
            return answer

    def _append_undo(self, number: int) -> dict[str, Any]:
        """Cancel an entry of the log; refuse it if decisions that count again contradict each other."""
        undo = {"action": "undo", "of": number}
        restored = find_active([*self.log.entries, {**undo, "number": len(self.log.entries) + 1}])
        contradictory = self._build_decision_set(restored).find_contradictory_decisions()
        if contradictory:
            numbers = join_words([f"decision {other}" for other in contradictory])
            sentences = " ".join(
                f"Decision {entry['number']}: {describe.describe_decision(entry)}"
                for entry in restored
                if entry["number"] in contradictory
            )
            raise ValueError(f"{numbers} would contradict each other: undo one of them first. {sentences}")
        self._check_groups_remain(restored)
        return self._append(undo)

    def keep_version(self, name: Any) -> dict[str, Any]:
        """Give the present groups a name."""
        with self._deciding:
            shown = self.snapshot
            numbers = [int(entry["number"]) for entry in shown.decisions.entries]
            text = check_short_name(name, "a version")
            return self._append(
                {"action": "keep", "name": text, "decisions": numbers, "n_groups": shown.clustering.n_groups}
            )

    def revert(self, version: int) -> dict[str, Any]:
        """Return to a version: only its decisions count."""
        with self._deciding:
            entries = self._find_version(version)
            numbers = [int(entry["number"]) for entry in entries]
            return self._append({"action": "revert", "version": version, "decisions": numbers})

    def save_as(self, name: Any) -> dict[str, Any]:
        """Save the present groups as a run in a folder beside this one, in the background."""
        folder = choose_folder(self.folder.resolve().parent, str(name or ""))
        self.snapshot  # noqa: B018 - raises an error while the run is being opened
        if folder in self._save_requests:
            raise ValueError(f"{folder} is being saved: choose another name")
        self._save_requests.append(folder)
        self._wake.set()
        return {"folder": str(folder)}

    def _append(self, entry: Mapping[str, Any]) -> dict[str, Any]:
        number = self.log.append(entry)["number"]
        self._wake.set()
        self._notify()
        return {"number": number}

    def _append_decision(
        self, entry: dict[str, Any], body: Mapping[str, Any], blocking: Sequence[int] = ()
    ) -> dict[str, Any]:
        """Write a decision that replaces those that it contradicts; raise an error if the person must choose."""
        resolve, withdrawn = body.get("resolve", "ask"), body.get("withdraw", [])
        if resolve not in ("ask", "newer"):
            raise ValueError(f"resolve is 'ask' or 'newer', got {resolve!r}")
        if type(withdrawn) is not list or any(type(number) is not int for number in withdrawn):
            raise ValueError(f"withdraw is a list of numbers of decisions, got {str(withdrawn)[:60]}")
        if self.log.read_only is not None:
            raise ReadOnlyError(self.log.read_only)
        entries = find_active(list(self.log.entries))

        def describe_part(number: int, conflict: Conflict) -> str:
            if number == RUN:
                return describe_run_links([link for link in conflict.links if link.decision == RUN], self.opened.ids)
            return describe.describe_decision(next(other for other in entries if int(other["number"]) == number))

        numbered = {**entry, "number": len(self.log.entries) + 1}
        chosen = withdrawn if resolve == "newer" else None
        replaced = check_consistent(self._build_decision_set(entries), numbered, describe_part, chosen, blocking)
        kept = [other for other in entries if int(other["number"]) not in replaced]
        self._check_groups_remain([*kept, numbered])
        return self._append({**entry, "replaces": replaced} if replaced else entry)

    def _check_groups_remain(self, entries: Sequence[Entry]) -> None:
        if len(self._build_decision_set(entries).outliers) >= self.opened.n_items:
            raise ValueError("not all items can be outliers: select fewer, or undo another decision first")

    def _build_entry(self, body: Mapping[str, Any], shown: Snapshot) -> dict[str, Any]:
        """Check the fields of a decision, and name items by their ids."""
        action, clustering, ids = body.get("action"), shown.clustering, self.opened.ids
        rows = self._check_rows(body.get("rows", []))
        groups = self._check_groups(body.get("groups", []), shown)
        names = [shown.names[group] for group in groups]
        members = {group: np.flatnonzero(clustering.labels == group).tolist() for group in groups}
        entry: dict[str, Any] = {"action": action}
        match action:
            case "together" if len(groups) == 1 and not rows and len(members[groups[0]]) >= 2:
                entry |= {"items": [ids[row] for row in members[groups[0]]], "group_names": names}
            case "together" if len(groups) == 1 and not rows:
                raise ValueError(f"group {names[0]!r} has one item only: select others to keep it together with")
            case "together" if len(rows) >= 2:
                entry |= {"items": [ids[row] for row in rows]}
            case "apart" if len(groups) == 2 and not rows:
                typical = [clustering.find_typical(clustering.find_group(group), N_EXEMPLARS) for group in groups]
                entry |= {"items": [ids[row] for row in typical[0]], "others": [ids[row] for row in typical[1]]}
                entry |= {"group_names": names}
            case "apart" if rows:
                entry |= self._build_apart(body, rows, clustering)
            case "merge" if len(groups) >= 2:
                typical = [clustering.find_typical(clustering.find_group(group), N_EXEMPLARS) for group in groups]
                exemplars = [[ids[row] for row in group_rows] for group_rows in typical]
                entry |= {"groups": groups, "exemplars": exemplars, "group_names": names}
            case "split" if rows:
                entry |= self._build_split(body, rows, clustering)
            case "rename" if len(groups) == 1:
                name = check_short_name(body.get("name"), "a group")
                if any(
                    name.casefold() == other.casefold() for number, other in shown.names.items() if number != groups[0]
                ):
                    raise ValueError(f"another group is called {name!r}: choose another name, or merge the groups")
                entry |= {"group": groups[0], "name": name, "group_names": names}
            case "outlier" if rows:
                entry |= {"items": [ids[row] for row in rows]}
            case "distrust" if rows or groups:
                view = body.get("view")
                if view not in self.opened.data.views.names:
                    raise ValueError(f"there is no view {view!r}: {', '.join(self.opened.data.views.names)}")
                rows = rows or [row for group in groups for row in members[group]]
                entry |= {"view": view, "items": [ids[row] for row in rows]}
            case "together" | "apart" | "merge" | "split" | "rename" | "outlier" | "distrust":
                raise ValueError(f"{action!r} needs items or groups: select them first")
            case _:
                raise ValueError(f"there is no action {action!r}")
        return entry

    def _build_apart(self, body: Mapping[str, Any], rows: list[int], clustering: Clustering) -> dict[str, Any]:
        others, ids = self._check_rows(body.get("other_rows", [])), self.opened.ids
        if set(rows) & set(others):
            raise ValueError("an item cannot be apart from itself: the two selections share items")
        if others and len(rows) * len(others) > MAX_PAIRS:
            raise ValueError(
                f"{len(rows):,} times {len(others):,} pairs are more than {MAX_PAIRS:,}: select fewer items"
            )
        if not others and not 2 <= len(rows) <= clustering.n_groups:
            there_are = "is 1 group" if clustering.n_groups == 1 else f"are {clustering.n_groups:,} groups"
            raise ValueError(
                f"{count_noun(len(rows), 'item')} cannot all be in different groups, because there {there_are}: select "
                "two items or more, up to the number of groups, or two selections"
            )
        entry: dict[str, Any] = {"items": [ids[row] for row in rows]}
        return entry | {"others": [ids[row] for row in others]} if others else entry

    def _build_split(self, body: Mapping[str, Any], rows: list[int], clustering: Clustering) -> dict[str, Any]:
        """Return a new group, with typical members of its former group that are not in it."""
        ids = self.opened.ids
        entry: dict[str, Any] = {"items": [ids[row] for row in rows]}
        if body.get("name"):
            entry["name"] = check_short_name(body["name"], "a group")
        if len(rows) >= int((clustering.labels >= 0).sum()):
            raise ValueError("all items together are not a new group: select fewer")
        former = np.bincount(clustering.compact[rows][clustering.compact[rows] >= 0], minlength=clustering.n_groups)
        left_out = frozenset(rows)
        typical = clustering.find_typical(int(former.argmax()), N_EXEMPLARS, left_out) if former.any() else []
        entry["others"] = [ids[row] for row in typical]
        entry["new_group"] = self.opened.reclustering.name_new_group(len(self.log.entries) + 1)
        return entry

    def _find_blocking(self, shown: Snapshot, groups: Sequence[int]) -> list[int]:
        """Return the decisions that keep some members of different groups apart, so that these cannot be one."""
        labels, active = shown.clustering.labels, {int(entry["number"]) for entry in self.log.list_active()}
        return sorted(
            {
                link.decision
                for link in shown.decisions.cannot_links
                if labels[link.first] != labels[link.second]
                and {labels[link.first], labels[link.second]} <= set(groups)
                and link.decision in active
            }
        )

    def _check_rows(self, rows: Any) -> list[int]:
        """Return positions of items without repetition; raise an error if they are none."""
        n_items = self.opened.n_items
        if type(rows) is not list or any(type(row) is not int or not 0 <= row < n_items for row in rows):
            raise ValueError(f"items are a list of whole numbers from 0 to {n_items - 1}, got {str(rows)[:60]}")
        return list(dict.fromkeys(rows))

    def _check_groups(self, groups: Any, shown: Snapshot) -> list[int]:
        """Return numbers of groups without repetition; raise an error if one does not exist."""
        if type(groups) is not list or any(type(group) is not int for group in groups):
            raise ValueError(f"groups are a list of whole numbers, got {str(groups)[:60]}")
        for group in groups:
            shown.clustering.find_group(group)
        return list(dict.fromkeys(groups))

    def _find_version(self, number: int) -> list[dict[str, Any]]:
        """Return the decisions of a version."""
        if number == 0:
            return []
        entries = list(self.log.entries)
        if not 1 <= number <= len(entries) or entries[number - 1]["action"] != "keep":
            raise ValueError(f"there is no version {number}")
        return [entries[decision - 1] for decision in entries[number - 1]["decisions"]]


def describe_moves(before: Snapshot, clustering: Clustering, names: Mapping[int, str], moved: np.ndarray) -> list[str]:
    """Return sentences about the items that changed their group: how many, and the largest moves."""
    if not len(moved):
        return ["No item changed its group."]
    labels = before.clustering.labels[moved], clustering.labels[moved]
    pairs, counts = np.unique(np.stack(labels), axis=1, return_counts=True)
    order = np.argsort(-counts, kind="stable")[:3]
    old_names = {**before.names, -1: "no group"}
    new_names = {**names, -1: "no group"}
    moves = [
        f"{int(counts[i]):,} from “{old_names[int(pairs[0, i])]}” to “{new_names[int(pairs[1, i])]}”" for i in order
    ]
    more = ", and others" if len(counts) > len(order) else ""
    subject = count_noun(len(moved), "item changed its group", "items changed their group")
    return [f"{subject}: {', '.join(moves)}{more}."]


def pack_bells(bells: Mapping[int, Bell], pair: Sequence[int], n_items: int) -> tuple[dict[str, Any], int]:
    """Return the height of the higher bell at each item and its side, 1 or 2, and how many other items are reached."""
    heights, side = np.zeros(n_items), np.zeros(n_items, np.int64)
    for number, row in enumerate(pair, 1):
        if row in bells:
            bell = bells[row]
            is_higher = bell.heights > heights[bell.rows]
            heights[bell.rows[is_higher]], side[bell.rows[is_higher]] = bell.heights[is_higher], number
    n_reached = int(np.count_nonzero(np.delete(heights, list(set(pair)))))
    return {"heights": pack_numbers(np.round(255 * heights), "u1"), "side": pack_numbers(side, "u1")}, n_reached


def describe_reach(n_reached: int, n_with_votes: int, is_present: tuple[bool, bool]) -> str:
    """Say how many items are near a pair in a view, and for how many of them the decision counts."""
    if not any(is_present):
        return "Neither of the two items has this view."
    lacking = "" if all(is_present) else " One of the two items lacks this view."
    if not n_reached:
        return f"No other item is near: the two lie at the edge of their groups in this view.{lacking}"
    return (
        f"{count_noun(n_reached, 'other item is', 'other items are')} near one of the two; the decision counts for "
        f"{n_with_votes or 'none'} of them.{lacking}"
    )


def name_move(item: Mapping[str, Any], names: Sequence[Sequence[str]]) -> dict[str, str | None]:
    """Return the names of the groups that a moved item left and joined."""
    groups = int(item["before"]), int(item["after"])
    return {
        key: None if group < 0 else listed[group]
        for key, group, listed in zip(("from", "to"), groups, names, strict=True)
    }


def check_short_name(name: Any, what: str) -> str:
    """Return a name on one line; refuse empty and very long ones."""
    text = clean_text(name) if type(name) is str else ""
    if not text or len(text) > MAX_NAME:
        raise ValueError(f"the name of {what} has 1 to {MAX_NAME} characters, got {str(name)[:40]!r}")
    return text


def describe_run_links(links: Sequence[Link], ids: Sequence[str]) -> str:
    """Return constraints of the run as a sentence."""
    parts = [
        f"{describe.quote_items([ids[link.first], ids[link.second]])} {'' if link.is_together else 'do not '}"
        "belong together"
        for link in links[:MAX_LINKS]
    ]
    n_more = len(links) - len(parts)
    more = f", and {n_more} more" if n_more else ""
    return f"{'A constraint' if len(links) == 1 else 'Constraints'} of the run: {'; '.join(parts)}{more}."


def describe_withdrawn(links: Sequence[Link]) -> str:
    """Say that constraints of the run are not in effect because of a decision."""
    subject = count_noun(len(links), "constraint of the run contradicts", "constraints of the run contradict")
    return f"{subject} it, and {'is' if len(links) == 1 else 'are'} not in effect."


def describe_failure(error: Exception) -> str:
    """Say that the groups could not be computed."""
    return f"Clustering after the last decision failed: {report_error(error)}"


def report_error(error: Exception) -> str:
    """Return an error of the background as a sentence; one that is not expected is logged with its origin."""
    match error:
        case OSError(strerror=str()):
            return f"{error.filename}: {error.strerror}" if error.filename else str(error.strerror)
        case ValueError() | OSError() | ImportError() | MemoryError():
            return str(error) or type(error).__name__
    logger.error("an unexpected error in the workbench", exc_info=error)
    return f"{type(error).__name__}: {error}"


def find_steps(entries: Sequence[Entry]) -> tuple[int | None, int | None]:
    """Return the entry that the next undo is about, and that which a redo would restore.

    Undoing goes back through decisions and reverts, the latest first. Redoing goes forward again, until there is a new
    decision.
    """
    done: list[int] = []
    undone: list[int] = []
    for entry in entries:
        number, n_undos = int(entry["number"]), 0
        while entries[number - 1]["action"] == "undo":  # an undo of an undo is a redo
            number, n_undos = int(entries[number - 1]["of"]), n_undos + 1
        if entries[number - 1]["action"] == "keep":
            continue
        if not n_undos:
            undone.clear()
        elif number in (done if n_undos % 2 else undone):
            (done if n_undos % 2 else undone).remove(number)
        (undone if n_undos % 2 else done).append(number)
    active = {int(entry["number"]) for entry in find_active(entries)}
    steps = [number for number in done if number in active or entries[number - 1]["action"] == "revert"]
    return steps[-1] if steps else None, undone[-1] if undone else None
