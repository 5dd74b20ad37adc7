"""Which tests are protocols, and which tests a change of files selects."""

import re
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
# Folders and files of tests that `make test-all` runs and `make test` leaves out, and what they check. Single tests of
# other files have the mark themselves.
PROTOCOLS = {
    "tests/reproduction/": "reproduction/",
    "tests/benchmarks/": "benchmarks/",
    "tests/test_examples.py": "examples/",
    "tests/test_variants.py": "docs/variants.md",
}
PAGES = "tests/test_docs.py"
SOURCES = "src/consilience"
OTHERS = {  # further files, and the tests that read them
    "docs/troubleshooting.md": "tests/test_troubleshooting.py",
    "docs/commands.md": "tests/test_site.py",
    "docs/api/": "tests/test_site.py",
    "pyproject.toml": "tests/test_packaging.py",
    "tools/oldest_versions.py": "tests/test_packaging.py",
    "tools/check_names.py": "tests/test_names.py",
}


def is_protocol(nodeid):
    """Return whether a test belongs to a folder or file of protocols."""
    return nodeid.startswith(tuple(PROTOCOLS))


def list_changes(commit):
    """Return the files that were changed since a commit (since it parted from a branch), and new files."""
    since = ["diff", "-z", "--name-only", "--no-renames", "--merge-base", "HEAD" if commit == "1" else commit, "--"]
    names = set()
    for command in (since, ["ls-files", "-z", "--others", "--exclude-standard"]):
        done = subprocess.run(["git", "-C", ROOT, *command], capture_output=True, text=True)
        if done.returncode:
            raise pytest.UsageError(f"--changed {commit}: {done.stderr.strip()}")
        names |= {name for name in done.stdout.split("\0") if name}
    return sorted(names)


def select_tests(path):
    """Return the beginnings of the ids of the tests that a changed file selects.

    A test file selects itself, what tests share the files that import it, a module its doctests and the tests of its
    package, a page the tests of pages, and what a protocol checks the tests of the protocol.
    """
    selected = [tests for tests, checked in PROTOCOLS.items() if path.startswith(checked)]
    selected += [tests for beginning, tests in OTHERS.items() if path.startswith(beginning)]
    name, folder = Path(path), Path(path).parent.as_posix()
    if path.startswith("tests/support/"):
        selected += list_importers(name.stem)
    elif path.startswith("tests/"):
        selected.append(path if name.name.startswith("test_") else f"{folder}/")
    elif path.endswith(".md"):
        selected.append(PAGES)
    elif path.startswith(f"{SOURCES}/"):
        folders = [f"tests/{parent}/" for parent in name.relative_to(SOURCES).parents if parent.name]
        by_name = f"tests/test_{name.stem.strip('_')}.py"
        selected += [path, *[tests for tests in [*folders, by_name] if (ROOT / tests).exists()][:1]]
    return selected


def list_importers(module):
    """Return the tests that a module of tests/support selects: those of the files that import it, also indirectly."""
    imports = re.compile(rf"^(?:from|import) {module}\b", flags=re.MULTILINE)
    files = [
        file for file in sorted((ROOT / "tests").rglob("*.py")) if imports.search(file.read_text(encoding="utf-8"))
    ]
    return [tests for file in files for tests in select_tests(file.relative_to(ROOT).as_posix())]


def find_selected(items, changes):
    """Return the quick tests, and those that changed files select; of the code of pages, that of changed pages."""
    beginnings = tuple(beginning for path in changes for beginning in select_tests(path))
    pages = {path for path in changes if path.endswith(".md")}
    runs_all_pages = PAGES in changes
    return [
        item
        for item in items
        if item.get_closest_marker("quick")
        or (item.nodeid.startswith(beginnings) and (runs_all_pages or get_page(item) in {None, *pages}))
    ]


def get_page(item):
    """Return the page whose code a test runs, None for other tests."""
    return item.callspec.params.get("page") if item.nodeid.startswith(PAGES) and hasattr(item, "callspec") else None
