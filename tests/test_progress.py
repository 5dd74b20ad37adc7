"""Shares of tasks, of rounds and of whole fits."""

import numpy as np
import pytest

import consilience as cs
from consilience._progress import Task, open_task
from consilience.assessment.assess import assess
from consilience.methods.common.run import progress


def test_share_counts_tasks_within_units():
    with open_task(4) as outer:
        assert outer.share == 0
        outer.advance(2)
        with open_task(2) as inner:
            inner.advance()
            assert outer.share == (2 + 1 / 2) / 4
            inner.advance()
        assert outer.share == 3 / 4  # the unit is done before it is counted, and counting it changes nothing
        outer.advance()
        assert outer.share == 3 / 4
    with open_task(10) as outer, open_task(4, span=8) as inner:
        inner.advance()
        assert outer.share == 8 / 4 / 10


def test_only_the_first_task_of_a_unit_counts():
    with open_task(2) as outer:
        first = Task(1)
        first.advance()
        second = Task(10)
        second.advance(5)
        assert outer.share == 1 / 2
        outer.advance()
        third = Task(10)
        third.advance(5)
        assert outer.share == 3 / 4


def test_share_never_exceeds_one_and_a_task_outside_others_is_left_alone():
    task = Task(2)
    task.advance(5)
    assert task.share == 1
    with open_task() as outer:
        pass
    Task(1).advance()
    assert outer.share == 0


def test_detail_of_the_outermost_task_that_has_one():
    with open_task() as outer, open_task() as middle:
        inner = Task()
        inner.detail = "inner"
        assert outer.describe() == "inner"
        middle.detail = "middle"
        assert outer.describe() == "middle"


def test_rounds_are_expected_from_the_runs_before_unless_known():
    with open_task() as outer, progress("title", 1, False, n_rounds=5) as show:
        show(0, 2, {})
        assert (outer.share, outer.describe()) == (pytest.approx(2 / 5), "round 2")
    with open_task() as outer, progress("title", 4, False) as show:
        show(0, 1, {})
        show(0, 9, {})
        assert outer.share == 0  # the number of rounds is not known yet
        show(0, 10, {})
        show.finish(0)
        assert outer.share == 1 / 4
        show(1, 5, {})
        assert outer.share == pytest.approx((1 + 5 / 10) / 4)
        show(1, 30, {})  # more rounds than expected: nearly done, but not done
        assert 1.9 / 4 < outer.share < 2 / 4
        assert outer.describe() == "start 2 of 4, round 30"
        show.finish(1)
        show(2, 10, {})
        assert outer.share == pytest.approx((2 + 10 / 20) / 4)


class Recorder(Task):
    """A task that records its share whenever a task within it changes."""

    def __init__(self, monkeypatch):
        super().__init__()
        self.shares = []
        set_state = Task.__setattr__

        def record(task, name, value):
            set_state(task, name, value)
            if name in ("state", "n_units") and hasattr(self, "shares") and hasattr(task, "state"):
                self.shares.append(self.share)

        monkeypatch.setattr(Task, "__setattr__", record)
        monkeypatch.setattr("consilience._progress._current", FixedVariable(self))


class FixedVariable:
    """Stands for the context variable, and starts with a task."""

    def __init__(self, task):
        self.tasks = [task]

    def get(self):
        return self.tasks[-1]

    def set(self, task):
        self.tasks.append(task)

    def reset(self, _):
        self.tasks.pop()


@pytest.mark.parametrize(
    "work",
    [
        lambda views: cs.Consilience(3, n_init=1, random_state=0).fit(views),
        lambda views: cs.Consilience(3, n_init=1, sample_size=60, random_state=0).fit(views),
        lambda views: cs.CoEM(3, n_init=4, random_state=0).fit(views),
        lambda views: cs.MultiViewAgglomerative(3).fit(views),
        lambda views: cs.CoTrainedSpectral(3, n_iter=3, random_state=0).fit(views),
        lambda views: cs.select_n_clusters(cs.Consilience(), views, n_splits=1),
    ],
    ids=["consilience", "sampled", "co-em", "agglomerative", "spectral", "select"],
)
def test_share_of_a_whole_fit_grows_to_one(work, monkeypatch, tune):
    views, _ = cs.datasets.make_gaussian_views(120, n_clusters=3, separation=3, random_state=0)
    tune("methods.agglomerative.algorithm", merges_per_state=10)
    recorder = Recorder(monkeypatch)
    work(views)
    shares = np.array(recorder.shares)
    assert (np.diff(shares) >= -1e-9).all()
    assert shares.max() > 0.7
    assert np.diff(shares).max() < 0.7


def test_assessment_that_fits_again_needs_more_units(monkeypatch):
    rng = np.random.default_rng(0)
    y = np.repeat([0, 1, 2], 60)
    blocks = {name: rng.normal(size=(180, 3)) + 6 * np.eye(3)[y] for name in "abc"}
    blocks["noise"] = rng.normal(size=(180, 3))
    model = cs.Consilience(3, n_init=1, random_state=0).fit(blocks)
    recorder = Recorder(monkeypatch)
    assessment = assess(model, blocks, refit=True)
    assert assessment.alternative is not None
    assert recorder.share > 0.9
    assert max(recorder.shares[:-1]) <= 1
