"""Changed files select the tests that check them."""

import pytest

from tiers import ROOT, is_protocol, list_changes, select_tests


@pytest.mark.parametrize(
    ("path", "selected"),
    [
        ("tests/files/test_dates.py", {"tests/files/test_dates.py"}),
        ("tests/cli/conftest.py", {"tests/cli/"}),
        ("tests/conftest.py", {"tests/"}),
        ("tests/fuzz/fits.py", {"tests/fuzz/"}),
        ("src/consilience/files/dates.py", {"src/consilience/files/dates.py", "tests/files/"}),
        ("src/consilience/methods/coem/start.py", {"src/consilience/methods/coem/start.py", "tests/methods/coem/"}),
        ("src/consilience/_numbers.py", {"src/consilience/_numbers.py", "tests/test_numbers.py"}),
        ("docs/jobs.md", {"tests/test_docs.py"}),
        ("docs/variants.md", {"tests/test_docs.py", "tests/test_variants.py"}),
        ("benchmarks/bench.py", {"tests/benchmarks/"}),
        ("examples/table.py", {"tests/test_examples.py"}),
        ("pyproject.toml", {"tests/test_packaging.py"}),
        (".gitignore", set()),
    ],
)
def test_changed_file_selects_what_checks_it(path, selected):
    assert set(select_tests(path)) == selected


def test_shared_module_selects_what_imports_it_also_indirectly():
    assert "tests/test_tiers.py" in select_tests("tests/support/tiers.py")
    assert "tests/" in select_tests("tests/support/waiting.py")  # tests/conftest.py imports it
    selected = select_tests("tests/support/pairs.py")
    assert "tests/methods/kmeans/test_algorithm.py" in selected
    assert "tests/test_numbers.py" not in selected


def test_folders_of_protocols_exist():
    assert is_protocol("tests/reproduction/test_page.py::test_x")
    assert not is_protocol("tests/cli/test_cluster.py::test_x")
    assert [tests for tests in select_tests("reproduction/x.py") if not (ROOT / tests).exists()] == []


def test_unknown_commit_is_refused():
    if not (ROOT / ".git").exists():
        pytest.skip("no checkout")
    with pytest.raises(pytest.UsageError, match=r"--changed no-such-commit: .*no-such-commit"):
        list_changes("no-such-commit")
