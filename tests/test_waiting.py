"""Tests wait for events: no test fails because the machine is busy."""

import ast
from pathlib import Path

SUBPROCESS_CALLS = {"call", "check_call", "check_output", "communicate", "run"}
WAITING_CALLS = SUBPROCESS_CALLS | {"Barrier", "join", "result", "wait", "wait_for_selector", "wait_for_workers"}


def find_time_limits(code):
    """Return the line of each call that waits at most a literal number of seconds."""
    lines = []
    for node in ast.walk(ast.parse(code)):
        if not isinstance(node, ast.Call):
            continue
        name = getattr(node.func, "attr", getattr(node.func, "id", None))
        limits = [keyword.value for keyword in node.keywords if keyword.arg == "timeout"]
        if name in WAITING_CALLS and any(isinstance(limit, ast.Constant) and limit.value for limit in limits):
            lines.append(node.lineno)
    return lines


def test_time_limits_are_recognised():
    calls = ["run(timeout=3)", "p.communicate(timeout=60)", "run(timeout=HANG_LIMIT)", "run()", "fetch(timeout=10)"]
    assert find_time_limits("\n".join(calls)) == [1, 2]


def test_no_test_waits_for_a_fixed_time():
    folder = Path(__file__).parent
    limits = [
        f"{path.relative_to(folder)}:{line}"
        for path in sorted(folder.rglob("*.py"))
        for line in find_time_limits(path.read_text(encoding="utf-8"))
    ]
    assert limits == [], "use HANG_LIMIT of tests/support/waiting.py"
