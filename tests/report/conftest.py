"""A real browser for the tests of the page."""

import shutil

import pytest

from waiting import HANG_LIMIT

BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")


@pytest.fixture(scope="module")
def browser():
    sync_api = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    path = next(filter(None, map(shutil.which, BROWSERS)), None)
    if path is None:
        pytest.skip("there is no Chromium on this machine")
    with sync_api.sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=["--no-sandbox"])
        yield browser
        browser.close()


@pytest.fixture
def visit(browser):
    """Return a function that opens a page; afterwards check that it logged nothing and used no network."""
    contexts, messages, urls = [], [], []

    def open_page(path, **options):
        context = browser.new_context(**options)
        context.set_default_timeout(1000 * HANG_LIMIT)
        contexts.append(context)
        page = context.new_page()
        page.on("console", lambda message: messages.append(f"{message.type}: {message.text}"))
        page.on("pageerror", lambda error: messages.append(str(error)))
        page.on("request", lambda request: urls.append(request.url))
        page.goto(path.as_uri())
        if options.get("java_script_enabled", True):
            page.wait_for_selector("html[data-ready]")
        return page

    yield open_page
    for context in contexts:
        context.close()
    assert messages == []
    assert [url for url in urls if not url.startswith(("file://", "data:", "blob:file://", "about:"))] == []
