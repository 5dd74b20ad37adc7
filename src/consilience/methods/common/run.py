"""Rounds, and when to stop, for every algorithm that yields one state per round."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from itertools import islice
from math import inf, isinf, isnan
from typing import Any, Protocol, TypeVar

from ..._progress import Task

T = TypeVar("T")


class State(Protocol):
    """The state of an algorithm after a round."""

    @property
    def costs(self) -> Mapping[str, float]:
        """The cost of each view, lower is better, by which `patience` counts rounds."""

    @property
    def comparable(self) -> bool:
        """Whether costs can be compared with those of the next round; if not, patience starts anew."""

    @property
    def settled(self) -> bool:
        """Whether the next round would change nothing."""

    @property
    def record(self) -> Mapping[str, Any]:
        """The row of the round in the history."""


S = TypeVar("S", bound=State)
Report = Callable[[int, Mapping[str, Any]], None]


@dataclass(frozen=True)
class Run:
    """The outcome of a run."""

    state: Any
    history: list[Mapping[str, Any]]
    n_iter: int
    converged: bool
    interrupted: bool


def run(states: Iterator[S], *, max_iter: int, tol: float, patience: int, report: Report) -> Run:
    """Draw states until one is settled, or no view's cost has reached a new minimum for `patience` rounds.

    A new minimum is one lower than the old by more than `tol` times its size. Ctrl-C ends the run with the state of
    the last whole round, if there is one.
    """
    best: dict[str, float] = {}
    n_waited: dict[str, int] = {}
    history: list[Mapping[str, Any]] = []
    state, converged, interrupted = None, False, False
    try:
        for n_iter, state in enumerate(islice(states, max_iter), 1):
            record = state.record
            history.append({"round": n_iter, **record})
            report(n_iter, record)
            for view, cost in state.costs.items():
                if is_improvement(cost, best.get(view), tol):
                    best[view], n_waited[view] = cost, 0
                else:
                    n_waited[view] += 1
            converged = state.settled or min(n_waited.values()) >= patience
            if not state.comparable:
                best, n_waited, converged = {}, {}, False
            if converged:
                break
    except KeyboardInterrupt:
        if not history:
            raise
        interrupted = True
    return Run(state, history, len(history), converged, interrupted)


class LowestCostTracker(Iterator[S]):
    """Passes states on and keeps the one of lowest total cost, not counting the first `skip`."""

    best: S

    def __init__(self, states: Iterator[S], skip: int = 0) -> None:
        self.states, self.n_left = states, skip

    def __next__(self) -> S:
        state = next(self.states)
        self.n_left -= 1
        if self.n_left < 0 and (not hasattr(self, "best") or compute_total_cost(state) < compute_total_cost(self.best)):
            self.best = state
        return state


def compute_total_cost(state: State) -> float:
    """Return the sum of the costs of all views."""
    return sum(state.costs.values())


def is_improvement(cost: float, previous: float | None, tol: float) -> bool:
    """Return whether a cost is lower than the previous minimum by more than `tol` times its size, if that is finite."""
    if previous is None:
        return True
    return cost < previous and (isinf(previous) or previous - cost > tol * abs(previous))


@dataclass(frozen=True)
class Attempt:
    """One start: its run, its result, and the cost of the result (lower is better)."""

    run: Run
    result: Any
    cost: float


def choose_best_attempt(attempts: Iterable[Attempt]) -> tuple[Attempt, bool]:
    """Return the attempt of lowest cost, the first among equals, and whether Ctrl-C ended the attempts early."""
    best: Attempt | None = None
    try:
        for attempt in attempts:
            if best is None or attempt.cost < best.cost or isnan(best.cost):
                best = attempt
            if attempt.run.interrupted:
                return best, True
    except KeyboardInterrupt:
        if best is None:
            raise
        return best, True
    assert best is not None, "there is at least one start"
    return best, False


def draws_starts(init: Any) -> bool:
    """Whether the parameter `init` names how starts are drawn; otherwise it describes one start."""
    return isinstance(init, str)


class StartRace:
    """Ends runs from starts that are behind: successive halving, with the starts one after the other.

    After rounds 2, 4, 8, ... a run goes on only if its cost is in the better half of the costs that it and the runs
    before it had after as many rounds. So the first run is never ended early, a run does not depend on those after it,
    and costs of different rounds, which may have different criteria, are never compared.
    """

    def __init__(self) -> None:
        self.is_behind = False  # whether the last run was ended
        self._costs: dict[int, list[float]] = {}  # by the number of rounds

    def follow(self, states: Iterator[S]) -> Iterator[S]:
        """Pass the states of a run on, until the run is behind."""
        self.is_behind = False
        for n_rounds, state in enumerate(states, 1):
            yield state
            if n_rounds > 1 and n_rounds.bit_count() == 1:  # a power of two
                costs, cost = self._costs.setdefault(n_rounds, []), compute_total_cost(state)
                costs.append(cost)
                self.is_behind = sum(other < cost for other in costs) >= (len(costs) + 1) // 2
                if self.is_behind:
                    return


def run_starts(
    estimator: Any,
    starts: Iterable[T],
    n_starts: int,
    iterate: Callable[[T], Iterator[State]],
    finish: Callable[[T, Any], tuple[Any, float]],
    race: StartRace | None = None,
) -> tuple[Attempt, bool]:
    """Run an estimator from each of `n_starts` starts, and choose the best attempt.

    ``iterate(start)`` yields the states of a run, and ``finish(start, state)`` returns its result and cost. A `race`
    ends runs early, which then cannot be chosen.
    """

    def attempt_all() -> Iterator[Attempt]:
        options = {name: getattr(estimator, name) for name in ("max_iter", "tol", "patience")}
        with progress(type(estimator).__name__, n_starts, bool(estimator.verbose)) as show:
            for i, start in enumerate(starts):
                states = iterate(start) if race is None else race.follow(iterate(start))
                finished = run(states, **options, report=partial(show, i))
                show.finish(i)
                if race is None or not race.is_behind:
                    yield Attempt(finished, *finish(start, finished.state))

    return choose_best_attempt(attempt_all())


class RoundCounter:
    """Counts rounds of several runs as parts of a task; a run is expected to take as many rounds as those before it.

    Calling it with the number of a run, from 0 on, the number of its round, and its record counts a round.
    """

    def __init__(self, title: str, n_runs: int, n_rounds: int | None, print_line: Callable[[str], None] | None) -> None:
        self.title, self.n_rounds, self.print_line = title, n_rounds, print_line
        self.task = Task(n_runs)
        self.rounds = [0] * n_runs
        self.is_finished = [False] * n_runs

    def __call__(self, run: int, round_: int, record: Mapping[str, Any]) -> None:
        self.rounds[run] = round_
        start = f"start {run + 1} of {len(self.rounds)}, "
        self.task.detail = f"{start if len(self.rounds) > 1 else ''}round {round_}"
        self._count()
        if self.print_line is not None:
            values = ", ".join(f"{name} {value:.6g}" for name, value in record.items())
            self.print_line(f"{self.title}: {start}round {round_}: {values}")

    def finish(self, run: int) -> None:
        """Count a run as done, which shows how many rounds others may take."""
        self.is_finished[run] = True
        self._count()

    def _count(self) -> None:
        lengths = [n for n, is_finished in zip(self.rounds, self.is_finished, strict=True) if is_finished]
        expected = self.n_rounds or (sum(lengths) / len(lengths) if lengths else inf)
        n_done = float(len(lengths))
        for n, is_finished in zip(self.rounds, self.is_finished, strict=True):
            if n and not is_finished:
                n_done += n / max(expected, n + 1)
        self.task.set_done(n_done)


@contextmanager
def progress(title: str, n_runs: int, verbose: bool, n_rounds: int | None = None) -> Iterator[RoundCounter]:
    """Yield a function ``show(run, round, record)``, which counts rounds and prints a line if `verbose`.

    `n_rounds` is the number of rounds of each run, if it is known in advance.
    """
    if not verbose:
        yield RoundCounter(title, n_runs, n_rounds, None)
        return
    from rich.console import Console
    from rich.text import Text

    console = Console(stderr=True)
    if not console.is_terminal:
        print_line = partial(console.print, soft_wrap=True, highlight=False, markup=False)
        yield RoundCounter(title, n_runs, n_rounds, print_line)
        return
    with console.status(title) as status:

        def show_line(line: str) -> None:
            status.update(Text(line, overflow="ellipsis", no_wrap=True))

        yield RoundCounter(title, n_runs, n_rounds, show_line)


def announce(text: str, verbose: bool) -> None:
    """Print a line to the standard error stream if `verbose`."""
    if verbose:
        from rich.console import Console

        Console(stderr=True).print(text, soft_wrap=True, highlight=False, markup=False)
