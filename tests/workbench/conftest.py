"""Runs for the page of the workbench, and pages in a real browser."""

import shutil
from contextlib import ExitStack
from types import SimpleNamespace

import pytest

import consilience as cs
from consilience.methods.agreement.warm import WarmRefinement
from consilience.workbench.serve import RunningWorkbench
from four_groups import N_CLASSES, VIEWS
from page_runs import WIDE, cluster_things, write_things
from small_runs import cluster_items
from waiting import HANG_LIMIT, PAGE_LIMIT


@pytest.fixture(scope="session")
def result(tmp_path_factory):
    """A run of 90 items in three views; not to be changed."""
    return cluster_items(tmp_path_factory.mktemp("data") / "items.csv")


@pytest.fixture(scope="session")
def warm():
    """What clusters the items of four groups again after decisions; not to be changed."""
    return WarmRefinement(VIEWS, dict.fromkeys(VIEWS.names, False), N_CLASSES)


@pytest.fixture(scope="module")
def run_folder(tmp_path_factory):
    """A folder with a small run; not to be written to."""
    folder = tmp_path_factory.mktemp("things")
    return cluster_things(write_things(folder / "things.csv")).save(folder / "run")


@pytest.fixture
def copy_run(run_folder, tmp_path):
    """Return a function that copies the small run and loads it."""

    def copy(name="run"):
        return cs.load_run(shutil.copytree(run_folder, tmp_path / name))

    return copy


@pytest.fixture(scope="module")
def served(run_folder, tmp_path_factory):
    """A workbench that most tests use, and the addresses of pages of a browser that has its key."""
    folder = tmp_path_factory.mktemp("served") / "run"
    shutil.copytree(run_folder, folder)
    with RunningWorkbench(cs.load_run(folder)) as running:
        key = running._server.exchange_token(running.url.partition("token=")[2])["key"]
        running.workbench.wait_until_ready(HANG_LIMIT)
        address = running._server.address
        storage = [{"name": "consilience-key", "value": key}]
        state = {"cookies": [], "origins": [{"origin": address.rstrip("/"), "localStorage": storage}]}
        yield SimpleNamespace(running=running, workbench=running.workbench, folder=folder, address=address, state=state)


@pytest.fixture(scope="module")
def tab(browser, served):
    """A page of a browser that has the key, which most tests use one after the other."""
    with browser.new_context(viewport=WIDE, storage_state=served.state) as context:
        context.set_default_timeout(PAGE_LIMIT)
        yield context.new_page()


@pytest.fixture
def workbench(served):
    """The workbench of the small run, without decisions that count."""
    served.workbench.revert(0)
    served.workbench.wait_until_ready(HANG_LIMIT)
    return served.workbench


@pytest.fixture
def start():
    """Return a function that starts a workbench of its own, which ends after all pages."""
    with ExitStack() as stack:
        yield lambda result: stack.enter_context(RunningWorkbench(result))


@pytest.fixture
def visit(browser, start):
    """Return a function that opens a page; afterwards check that it logged nothing and asked no other host.

    Refused requests are logged by the browser itself; a test that provokes some adds their status to `expected`.
    """
    contexts, pages, messages, urls, hosts = [], [], [], [], []
    handlers = {
        "console": lambda message: messages.append(f"{message.type}: {message.text}"),
        "pageerror": lambda error: messages.append(str(error)),
        "request": lambda request: urls.append(request.url),
    }

    def open_page(address, *, is_ready=True, **options):
        contexts.append(browser.new_context(**{"viewport": WIDE, **options}))
        contexts[-1].set_default_timeout(PAGE_LIMIT)
        return open_tab(contexts[-1].new_page(), address, is_ready=is_ready)

    def open_tab(page, address, *, is_ready=True):
        pages.append(page)
        hosts.append(address.partition("#")[0])
        for name, handle in handlers.items():
            page.on(name, handle)
        page.goto(address)
        if is_ready:
            page.wait_for_selector("html[data-clustering]")
        return page

    open_page.tab = open_tab
    open_page.expected = set()
    yield open_page
    for page in pages:
        for name, handle in handlers.items():
            page.remove_listener(name, handle)
    for context in contexts:
        context.close()
    allowed = tuple(
        f"error: Failed to load resource: {reason}"
        for status in open_page.expected
        for reason in (f"the server responded with a status of {status} ", f"net::{status}")
    )
    assert [message for message in messages if not (allowed and message.startswith(allowed))] == []
    assert [url for url in urls if not url.startswith((*hosts, "data:", "blob:", "about:"))] == []


@pytest.fixture
def page(visit, workbench, served, tab):
    """A page of the workbench without decisions that count."""
    tab.set_viewport_size(WIDE)
    tab.emulate_media(color_scheme="light", reduced_motion="no-preference")
    yield visit.tab(tab, served.address)
    tab.unroute_all()
    tab.mouse.move(0, 0)
    tab.goto("about:blank")
