"""Runs for the page of the workbench, and pages in a real browser."""

import shutil
from contextlib import ExitStack
from types import SimpleNamespace

import pytest

import consilience as cs
from consilience.workbench.serve import RunningWorkbench
from page_runs import WIDE, cluster_things, write_things
from waiting import HANG_LIMIT, PAGE_LIMIT


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
        yield SimpleNamespace(workbench=running.workbench, folder=folder, address=address, state=state)


@pytest.fixture(scope="module")
def context(browser, served):
    """A context of the browser that has the key, for tests that need no other settings."""
    context = browser.new_context(viewport=WIDE, storage_state=served.state)
    context.set_default_timeout(PAGE_LIMIT)
    yield context
    context.close()


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

    def open_page(address, *, is_ready=True, **options):
        context = browser.new_context(**{"viewport": WIDE, **options})
        context.set_default_timeout(PAGE_LIMIT)
        contexts.append(context)
        return open_tab(context, address, is_ready=is_ready)

    def open_tab(context, address, *, is_ready=True):
        page = context.new_page()
        pages.append(page)
        hosts.append(address.partition("#")[0])
        page.on("console", lambda message: messages.append(f"{message.type}: {message.text}"))
        page.on("pageerror", lambda error: messages.append(str(error)))
        page.on("request", lambda request: urls.append(request.url))
        page.goto(address)
        if is_ready:
            page.wait_for_selector("html[data-clustering]")
        return page

    open_page.tab = open_tab
    open_page.expected = set()
    yield open_page
    for opened in (*pages, *contexts):
        opened.close()
    allowed = tuple(
        f"error: Failed to load resource: {reason}"
        for status in open_page.expected
        for reason in (f"the server responded with a status of {status} ", f"net::{status}")
    )
    assert [message for message in messages if not (allowed and message.startswith(allowed))] == []
    assert [url for url in urls if not url.startswith((*hosts, "data:", "blob:", "about:"))] == []


@pytest.fixture
def page(visit, workbench, served, context):
    """A page of the workbench without decisions that count."""
    return visit.tab(context, served.address)
