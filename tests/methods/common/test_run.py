"""When rounds end, and which restart is kept."""

from dataclasses import dataclass, field
from types import SimpleNamespace

import numpy as np
import pytest

from consilience.methods.common.run import Attempt, Run, StartRace, choose_best_attempt, run, run_starts

pytestmark = pytest.mark.quick


@dataclass
class Scripted:
    costs: dict
    settled: bool = False
    comparable: bool = True
    record: dict = field(default_factory=dict)


def script(*rounds):
    return iter([Scripted({"a": a, "b": b}) for a, b in rounds])


def ignore_report(*_):
    return None


@pytest.mark.parametrize(
    ("rounds", "options", "n_iter"),
    [
        # no view improves within patience: the last minimum of the second is in round 3
        ([(10, 10), (9, 11), (9, 9), (9.5, 9.5), (9, 9), (9, 9), (1, 1)], {"patience": 3}, 6),
        # one view improves
        ([(10, 10), *((10, 10 - i) for i in range(1, 9)), (10, 2), (10, 2)], {"patience": 2}, 11),
        # round 2 is no new minimum by 1%, round 3 is, rounds 4 and 5 are not
        ([(100, 100), (99.5, 99.5), (98.9, 98.9), (98.5, 98.5), (98.4, 98.4)], {"tol": 0.01, "patience": 2}, 5),
        # negative and infinite costs
        ([(-1, -1), (-2, -2), (-2, -2)], {"tol": 1e-3, "patience": 1}, 3),
        ([(np.inf, np.inf), (5, 5), (5, 5)], {"tol": 0.1, "patience": 1}, 3),
        # the end by max_iter is no convergence
        ([(3, 3), (2, 2), (1, 1)], {"max_iter": 2, "patience": 9}, 2),
    ],
)
def test_run_ends_when_no_view_improves_by_tol_within_patience(rounds, options, n_iter):
    done = run(script(*rounds), report=ignore_report, **{"max_iter": 99, "tol": 0, **options})
    assert (done.n_iter, done.converged) == (n_iter, "max_iter" not in options)


def test_settled_ends_at_once():
    states = iter([Scripted({"a": 3}), Scripted({"a": 2}, settled=True), Scripted({"a": 1})])
    done = run(states, max_iter=99, tol=0, patience=99, report=ignore_report)
    assert (done.n_iter, done.converged, done.state.costs) == (2, True, {"a": 2})


def test_history_and_report_have_one_record_per_round():
    states = (Scripted({"a": cost}, record={"cost": cost}) for cost in (3, 2, 2))
    seen = []
    done = run(states, max_iter=9, tol=0, patience=1, report=lambda *line: seen.append(line))
    assert done.history == [{"round": 1, "cost": 3}, {"round": 2, "cost": 2}, {"round": 3, "cost": 2}]
    assert seen == [(1, {"cost": 3}), (2, {"cost": 2}), (3, {"cost": 2})]


def interrupt_after(n):
    for cost in range(n):
        yield Scripted({"a": -cost})
    raise KeyboardInterrupt("by hand")


def test_interrupt_keeps_the_last_round():
    done = run(interrupt_after(2), max_iter=9, tol=0, patience=9, report=ignore_report)
    assert (done.interrupted, done.converged, done.state.costs) == (True, False, {"a": -1})


def test_interrupt_before_first_round_raises():
    with pytest.raises(KeyboardInterrupt, match="by hand"):
        run(interrupt_after(0), max_iter=9, tol=0, patience=9, report=ignore_report)


def attempt(cost, *, interrupted=False):
    return Attempt(Run(None, [], 1, True, interrupted), f"result at {cost}", cost)


@pytest.mark.parametrize(("costs", "best"), [((3.0, 1.0, 2.0, 1.0), 1), ((np.nan, 5.0, np.nan), 1)])
def test_best_attempt_is_first_of_lowest_cost(costs, best):
    attempts = [attempt(cost) for cost in costs]
    kept, interrupted = choose_best_attempt(iter(attempts))
    assert kept is attempts[best]
    assert not interrupted


def test_best_attempt_stops_at_interrupt():
    drawn = []

    def attempts():
        for cost, interrupted in ((2.0, False), (3.0, True), (1.0, False)):
            drawn.append(cost)
            yield attempt(cost, interrupted=interrupted)

    best, interrupted = choose_best_attempt(attempts())
    assert best.cost == 2.0
    assert interrupted  # though the attempt that is kept was not
    assert drawn == [2.0, 3.0]


@pytest.mark.parametrize("n", [0, 2])
def test_interrupt_between_attempts_keeps_earlier_ones(n):
    def attempts():
        yield from (attempt(float(cost)) for cost in range(n))
        raise KeyboardInterrupt("by hand")

    if n:
        best, interrupted = choose_best_attempt(attempts())
        assert (best.cost, interrupted) == (0.0, True)
    else:
        with pytest.raises(KeyboardInterrupt, match="by hand"):
            choose_best_attempt(attempts())


def test_patience_restarts_when_costs_are_not_comparable():
    moving = [Scripted({"a": 5}, comparable=False) for _ in range(6)]
    fixed = [Scripted({"a": cost}) for cost in (9, 8, 8, 8, 8)]
    done = run(iter(moving + fixed), max_iter=99, tol=0, patience=2, report=ignore_report)
    assert (done.n_iter, done.converged) == (10, True)  # 8 is new in round 8, though 5 was lower under another aim
    cut_short = run(iter(moving), max_iter=6, tol=0, patience=1, report=ignore_report)
    assert not cut_short.converged


def race_starts(costs_of_starts, *, max_iter=99):
    """Return how many rounds each start ran, and which start was chosen."""
    options = SimpleNamespace(max_iter=max_iter, tol=0, patience=99, verbose=False)
    rounds = [0] * len(costs_of_starts)

    def iterate(start):
        for cost in costs_of_starts[start]:
            rounds[start] += 1
            yield Scripted({"a": cost}, settled=cost == costs_of_starts[start][-1])

    best, _ = run_starts(
        options, range(len(costs_of_starts)), len(costs_of_starts), iterate, lambda i, s: (i, s.costs["a"]), StartRace()
    )
    return rounds, best.result


def test_race_ends_starts_in_the_worse_half():
    falling = [9, 8, 7, 6, 5, 4, 3, 2, 1.5, 1]
    worse, better = [cost + 0.5 for cost in falling], [cost - 0.5 for cost in falling]
    assert race_starts([falling, worse]) == ([10, 2], 0)
    assert race_starts([falling, better]) == ([10, 10], 1)
    assert race_starts([falling, better, falling, worse]) == ([10, 10, 10, 2], 1)  # the third is the second of three
    late = [*falling[:3], 6.5, *falling[4:]]
    assert race_starts([falling, late]) == ([10, 4], 0)


def test_race_compares_costs_of_equal_rounds():
    """Costs under another criterion, as while eta is annealed, must not end a run."""
    rising = [1, 2, 3, 4, 5, 6]
    assert race_starts([rising, rising, rising])[0] == [6, 6, 6]


def test_race_ends_no_run_in_its_last_round():
    assert race_starts([[5, 4, 3], [6, 5, 2.5]], max_iter=2)[0] == [2, 2]
    assert race_starts([[5, 4], [6, 3.9]]) == ([2, 2], 1)


def test_start_does_not_depend_on_later_ones_in_a_race():
    rng = np.random.default_rng(0)
    starts = [np.cumsum(-rng.random(20))[: rng.integers(1, 20)].tolist() for _ in range(30)]
    rounds = race_starts(starts)[0]
    assert 20 < sum(rounds) < sum(map(len, starts))
    assert all(race_starts(starts[:n])[0] == rounds[:n] for n in (1, 2, 5, 29))
