"""Pages of reports in a real browser."""

from types import SimpleNamespace

import pytest

from waiting import PAGE_LIMIT


def open_tab(context):
    """Return a new page, with what it logs and what it asks for."""
    context.set_default_timeout(PAGE_LIMIT)
    page, messages, urls = context.new_page(), [], []
    page.on("console", lambda message: messages.append(f"{message.type}: {message.text}"))
    page.on("pageerror", lambda error: messages.append(str(error)))
    page.on("request", lambda request: urls.append(request.url))
    return SimpleNamespace(page=page, messages=messages, urls=urls)


@pytest.fixture(scope="module")
def tab(browser):
    """A page that tests use one after the other."""
    with browser.new_context(permissions=["clipboard-read", "clipboard-write"]) as context:
        yield open_tab(context)


@pytest.fixture
def visit(browser, tab):
    """Return a function that opens a page; afterwards check that it logged nothing and used no network.

    Sizes and preferences are those of the one page; other options need another context.
    """
    tabs = [tab]

    def open_page(path, *, width=1300, height=900, scheme="light", motion="reduce", **options):
        size = {"width": width, "height": height}
        if options:
            tabs.append(open_tab(browser.new_context(viewport=size, **options)))
        page = tabs[-1].page if options else tab.page
        page.mouse.move(0, 0)
        page.goto("about:blank")
        page.set_viewport_size(size)
        page.emulate_media(media="screen", color_scheme=scheme, reduced_motion=motion)
        page.goto(path if isinstance(path, str) else path.as_uri())
        if options.get("java_script_enabled", True):
            page.wait_for_selector("html[data-ready]")
        return page

    yield open_page
    tab.page.goto("about:blank")
    for other in tabs[1:]:
        other.page.context.close()
    messages = [message for opened in tabs for message in opened.messages]
    urls = [url for opened in tabs for url in opened.urls]
    tab.messages.clear()
    tab.urls.clear()
    assert messages == []
    assert [url for url in urls if not url.startswith(("file://", "data:", "blob:file://", "about:"))] == []
