"""Which tests are protocols, and which tests a change of files selects."""

import subprocess
from pathlib import Path

ROOT = Path(__file__).parents[2]
# Folders and files of tests that `make test-all` runs and `make test` leaves out, and what they check. Single tests of
# other files have the mark themselves.
PROTOCOLS = {
    "tests/reproduction": "reproduction",
    "tests/benchmarks": "benchmarks",
    "tests/test_examples.py": "examples",
    "tests/test_variants.py": "docs/variants.md",
}
PAGES = "tests/test_docs.py"
SOURCES = "src/consilience"


def is_protocol(nodeid):
    """Return whether a test belongs to a folder or file of protocols."""
    return any(nodeid.startswith(prefix) for prefix in PROTOCOLS)


def list_changes(base):
    """Return the files that differ from a commit, and those that git does not know, relative to the checkout."""
    commands = [
        ["diff", "--name-only", "HEAD" if base == "1" else base],
        ["ls-files", "--others", "--exclude-standard"],
    ]
    outputs = [
        subprocess.run(["git", "-C", ROOT, *command], capture_output=True, text=True, check=True).stdout
        for command in commands
    ]
    return sorted({line for output in outputs for line in output.splitlines()})


def select_tests(path):
    """Return the beginnings of the ids of the tests that a changed file selects.

    A test file selects itself, a module its doctests and the tests of its package, a page the tests of all pages (its
    code is run by the tests that have it as a parameter), and what a protocol checks the tests of the protocol.
    """
    selected = [tests for tests, checked in PROTOCOLS.items() if f"{path}/".startswith(f"{checked}/")]
    if path.startswith("tests/"):
        selected.append(path)
    if path.endswith(".md"):
        selected.append(PAGES)
    if path.startswith(SOURCES):
        folders = [ROOT / "tests" / folder for folder in Path(path).relative_to(SOURCES).parents if folder.name]
        selected += [path, *(f"{folder.relative_to(ROOT)}/" for folder in folders if folder.is_dir())][:2]
    return selected


def find_selected(items, changes):
    """Return the quick tests, and those that changed files select; of the code of pages, that of changed pages."""
    beginnings = tuple(beginning for path in changes for beginning in select_tests(path))
    pages = {path for path in changes if path.endswith(".md")}
    return [
        item
        for item in items
        if item.get_closest_marker("quick") or (item.nodeid.startswith(beginnings) and get_page(item) in {None, *pages})
    ]


def get_page(item):
    """Return the page whose code a test runs, None for other tests."""
    return item.callspec.params.get("page") if item.nodeid.startswith(PAGES) and hasattr(item, "callspec") else None
