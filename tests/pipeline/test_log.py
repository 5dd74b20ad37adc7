"""The log of a run."""

import io
import logging
import re
import warnings

import pytest
from rich.console import Console

from consilience._progress import open_task
from consilience.pipeline import log as log_module
from consilience.pipeline.bar import draw_progress
from consilience.pipeline.log import RunLog, RunningStep, Task, format_progress, format_seconds
from waiting import wait_until

pytestmark = pytest.mark.quick


def test_seconds_and_shares_are_rounded():
    times = {
        0.04: "0.0 s",
        9.94: "9.9 s",
        9.96: "10 s",
        99.4: "99 s",
        100: "2 min",
        3570: "1 h 0 min",
        7500: "2 h 5 min",
    }
    assert [format_seconds(seconds) for seconds in times] == list(times.values())
    shares = {0.0: "0%", 0.437: "44%", 0.999: "99%", 1.0: "99%"}  # unfinished work is never shown as complete
    assert [format_progress(share) for share in shares] == list(shares.values())


def test_steps_and_notes_are_recorded_and_logged(caplog):
    log = RunLog()
    with caplog.at_level(logging.INFO, logger="consilience"):
        with log.step("reading", "read the files"):
            log.note("a note")
            log.note("a note")
        with log.step("fitting", "fitted the model", about="view 'x'"):
            warnings.warn("it is odd", UserWarning, stacklevel=1)
            warnings.warn("view 'x' is empty", UserWarning, stacklevel=1)
            warnings.warn("not for users", DeprecationWarning, stacklevel=1)
    assert log.notes == ["a note", "view 'x': it is odd", "view 'x' is empty"]
    assert log.finished_steps == ["read the files", "fitted the model"]
    assert set(log.seconds) == {"reading", "fitting"}
    assert [re.sub(r"\(\d+\.\d s\)", "(0.0 s)", line) for line in caplog.messages] == [
        "note: a note",
        "read the files (0.0 s)",
        "note: view 'x': it is odd",
        "note: view 'x' is empty",
        "fitted the model (0.0 s)",
    ]
    assert {record.name for record in caplog.records} == {"consilience"}


def test_failed_step_keeps_its_warnings_but_is_not_finished_and_nothing_is_printed(capfd):
    log = RunLog()

    def fail():
        warnings.warn("it is odd", UserWarning, stacklevel=1)
        raise ValueError("broken")

    with pytest.raises(ValueError, match="broken"), log.step("reading", "read the files"):
        fail()
    assert (log.notes, log.finished_steps, log.steps) == (["it is odd"], [], [])
    assert capfd.readouterr() == ("", "")


def test_long_step_logs_its_progress(tune, caplog):
    tune("pipeline.log", polling=0.002, interval=0.02)
    log = RunLog()
    caplog.set_level(logging.INFO, logger="consilience")

    def wait_for_line(pattern):
        wait_until(lambda: any(re.fullmatch(pattern, line) for line in list(caplog.messages)))

    with log.step("fitting", "fitted the model"), open_task(10) as task:
        task.advance()
        wait_for_line("fitting: .* so far, 10% done.*")
        for _ in range(4):
            task.advance()
        wait_for_line("fitting: .* so far, 50% done, about .* left")
        with log.step("trying x", "tried x"):
            wait_for_line("trying x: .* so far.*")
    assert re.fullmatch(r"tried x \(.*\)", caplog.messages[-2])
    assert re.fullmatch(r"fitted the model \(.*\)", caplog.messages[-1])


def test_time_left_goes_by_the_speed_since_the_first_progress(monkeypatch):
    now = [0.0]
    monkeypatch.setattr(log_module.time, "perf_counter", lambda: now[0])
    step = RunningStep("fitting", Task(100))
    assert step.estimate_left() is None
    now[0] = 50.0  # compilation
    step.task.advance()
    assert step.estimate_left() is None  # this is the first progress
    now[0] = 52.0
    step.task.advance()
    assert step.estimate_left() is None  # too little to tell
    now[0] = 60.0
    step.task.set_done(21)
    assert step.estimate_left() == pytest.approx(10 * 79 / 20)
    step.task.set_done(100)
    assert step.estimate_left() is None


@pytest.mark.parametrize("width", [60, 80, 200])
def test_bar_keeps_share_and_times_on_a_narrow_terminal(width, monkeypatch):
    now = [0.0]
    monkeypatch.setattr(log_module.time, "perf_counter", lambda: now[0])
    step = RunningStep("clustering by cross-fitted agreement of the views", Task(10))
    step.task.detail = "start 3 of 14, round 5"
    console = Console(width=width, file=io.StringIO())
    for done in (1, 5):
        now[0] += 20.0
        step.task.set_done(done)
        console.print(draw_progress([step]))
    first, second = console.file.getvalue().splitlines()
    assert first.startswith("clustering by ")
    assert first.rstrip().endswith("10% 20 s")
    assert second.rstrip().endswith("50% 40 s, about 25 s left")
    assert ("round 5" in second) == (width == 200)
    console.print(draw_progress([RunningStep("reading the files", Task())]))
    console.print(draw_progress([]))
    assert "%" not in console.file.getvalue().splitlines()[2], "no share while nothing is known"
