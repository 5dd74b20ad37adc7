"""Tiers of tests, array kinds that every test of arrays runs on, a real browser, and settings of all property tests."""

import os
import shutil
import signal
from contextlib import ExitStack
from importlib import import_module

import array_api_strict
import numpy as np
import pytest
from hypothesis import HealthCheck, settings

from tiers import find_selected, is_protocol, list_changes, select_tests
from waiting import HANG_LIMIT, PAGE_LIMIT

# How long an example takes depends on how busy the machine is, so that neither a deadline nor slow examples are errors.
UNTIMED = {"deadline": None, "suppress_health_check": [HealthCheck.too_slow]}
settings.register_profile("repeated", **UNTIMED, derandomize=True, database=None)
settings.register_profile("fresh", **UNTIMED, derandomize=False, print_blob=True)  # for `make fuzz`
settings.load_profile("repeated")

# Dask, which reads these variables in this process and in its workers, waits for workers as long as the tests wait.
for name in ("COMM__TIMEOUTS__CONNECT", "COMM__TIMEOUTS__TCP", "SCHEDULER__WORKER_TTL"):
    os.environ[f"DASK_DISTRIBUTED__{name}"] = f"{HANG_LIMIT}s"

# Shells start background jobs with SIGINT ignored, and the processes that tests interrupt would inherit that.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_addoption(parser):
    parser.addoption(
        "--changed", metavar="COMMIT", help="run quick tests and those of files that differ from a commit (1: the last)"
    )


def pytest_configure(config):
    config.changes = list_changes(config.getoption("--changed")) if config.getoption("--changed") else None


def pytest_report_header(config):
    unused = [path for path in config.changes or () if not select_tests(path)]
    return f"changed files that select no tests: {', '.join(unused)}" if unused else None


def pytest_ignore_collect(collection_path, config):
    """With ``-m quick`` leave out files without this mark, which saves half of the time."""
    if config.option.markexpr == "quick" and collection_path.suffix == ".py" and collection_path.name != "conftest.py":
        return "mark.quick" not in collection_path.read_text(encoding="utf-8") or None
    return None


def pytest_itemcollected(item):
    if is_protocol(item.nodeid):
        item.add_marker(pytest.mark.protocol)


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config, items):
    if config.changes is not None:
        selected = find_selected(items, config.changes)
        kept = set(selected)
        config.hook.pytest_deselected(items=[item for item in items if item not in kept])
        items[:] = selected
    # add the groups of tests to their ids, which pytest-xdist 3.8 does in a way that pytest 9.2 ignores
    for item in items if getattr(config.option, "loadgroup", False) else ():
        mark = item.get_closest_marker("xdist_group")
        if mark is not None and "@" not in item.nodeid.rpartition("]")[2]:
            item._id = type(item._id).parse(f"{item.nodeid}@{mark.args[0]}")


def _torch(values):
    return pytest.importorskip("torch").asarray(np.ascontiguousarray(values))


KINDS = {"numpy": np.asarray, "array_api_strict": array_api_strict.asarray, "torch": _torch}


@pytest.fixture
def tune():
    """A function that changes sizes and limits of a module until the test ends."""
    with ExitStack() as changes:
        yield lambda module, **values: changes.enter_context(
            import_module(f"consilience.{module}").tuning.set(**values)
        )


@pytest.fixture(params=KINDS)
def to_kind(request):
    """A function that makes a numpy array an array of another library."""
    return KINDS[request.param]


BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")


@pytest.fixture(scope="module")
def browser():
    """A browser that lacks WebGL and a graphics processor; tests that use it are skipped if there is none."""
    sync_api = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    path = next(filter(None, map(shutil.which, BROWSERS)), None)
    if path is None:
        pytest.skip("there is no Chromium on this machine")
    flags = ["--no-sandbox", "--disable-gpu", "--disable-webgl", "--disable-accelerated-2d-canvas"]
    with (
        sync_api.sync_playwright() as playwright,
        playwright.chromium.launch(executable_path=path, args=flags, timeout=PAGE_LIMIT) as browser,
    ):
        yield browser
