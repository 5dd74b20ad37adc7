"""Tests wait for events: no test fails because the machine is busy."""

import ast
from pathlib import Path

import pytest

pytestmark = pytest.mark.quick

# Functions that wait, with the positions at which they take a time limit beside the keyword `timeout`.
WAITING_CALLS = {
    "Barrier": [2],
    "call": [],
    "check_call": [],
    "check_output": [],
    "communicate": [1],
    "join": [0],
    "poll": [0],
    "result": [0],
    "run": [],
    "wait": [0, 1],
    "wait_for_selector": [],
    "wait_for_workers": [1],
}
CLOCKS = {"monotonic", "perf_counter"}


def is_number(node):
    """Whether the node is a literal number other than 0."""
    return isinstance(node, ast.Constant) and type(node.value) in (int, float) and node.value != 0


def get_called_name(node):
    """Return the name of the function that a node calls; None for other nodes."""
    return getattr(node.func, "attr", getattr(node.func, "id", None)) if isinstance(node, ast.Call) else None


def find_time_limits(code):
    """Return the line of each call that waits at most a literal number of seconds, or compares wall time with one."""
    lines = []
    for node in ast.walk(ast.parse(code)):
        if isinstance(node, ast.Compare):
            if CLOCKS & set(map(get_called_name, ast.walk(node))) and any(map(is_number, node.comparators)):
                lines.append(node.lineno)
            continue
        name = get_called_name(node)
        if name not in WAITING_CALLS:
            continue
        limits = [keyword.value for keyword in node.keywords if keyword.arg == "timeout"]
        limits += [node.args[i] for i in WAITING_CALLS[name] if i < len(node.args)]
        if any(map(is_number, limits)):
            lines.append(node.lineno)
    return lines


def test_time_limits_are_recognised():
    limited = ["run(timeout=3)", "p.communicate(timeout=60)", "p.join(10)", "event.wait(0.5)", "wait(connections, 2)"]
    limited += ["threading.Barrier(2, None, 5)", "client.wait_for_workers(2, 30)", "p.communicate(None, 7)"]
    limited += ["assert perf_counter() - start < 5", "ok = time.monotonic() - start <= 0.5"]
    others = ["run(timeout=HANG_LIMIT)", "run()", "fetch(timeout=10)", "' '.join(words)", "event.wait(HANG_LIMIT)"]
    others += ["threading.Barrier(2)", "client.wait_for_workers(2)", "p.wait(timeout=0)", "p.join(None)"]
    others += ["time.process_time() < 3", "time.monotonic() > end"]
    assert find_time_limits("\n".join(limited + others)) == list(range(1, len(limited) + 1))


def test_no_test_waits_for_a_fixed_time():
    folder = Path(__file__).parent
    limits = [
        f"{path.relative_to(folder)}:{line}"
        for path in sorted(folder.rglob("*.py"))
        for line in find_time_limits(path.read_text(encoding="utf-8"))
    ]
    assert limits == [], "use HANG_LIMIT of tests/support/waiting.py"
