"""Pages of reports in a real browser."""

import pytest

from waiting import PAGE_LIMIT


@pytest.fixture
def visit(browser):
    """Return a function that opens a page; afterwards check that it logged nothing and used no network."""
    contexts, messages, urls = [], [], []

    def open_page(path, fragment="", **options):
        context = browser.new_context(**options)
        context.set_default_timeout(PAGE_LIMIT)
        contexts.append(context)
        page = context.new_page()
        page.on("console", lambda message: messages.append(f"{message.type}: {message.text}"))
        page.on("pageerror", lambda error: messages.append(str(error)))
        page.on("request", lambda request: urls.append(request.url))
        page.goto(f"{path.as_uri()}#{fragment}" if fragment else path.as_uri())
        if options.get("java_script_enabled", True):
            page.wait_for_selector("html[data-ready]")
        return page

    yield open_page
    for context in contexts:
        context.close()
    assert messages == []
    assert [url for url in urls if not url.startswith(("file://", "data:", "blob:file://", "about:"))] == []
