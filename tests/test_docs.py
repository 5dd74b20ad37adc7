"""The code that people read first runs."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]


@pytest.mark.parametrize("page", ["README.md", "docs/index.md", "docs/add-a-family.md", "docs/add-an-affinity.md"])
def test_python_in_the_page_runs(page):
    blocks = re.findall(r"```python\n(.*?)```", (ROOT / page).read_text(encoding="utf-8"), flags=re.DOTALL)
    assert blocks
    names = {}
    for block in blocks:
        exec(compile(block, page, "exec"), names)
    assert names["cs"].Views is type(names["views"])


def test_readme_scores_are_the_demos(capsys):
    from consilience.cli import main

    assert main(["cluster", "--data", "digits"]) == 0
    printed = capsys.readouterr().out
    table = re.search(r"^clustering .*?```", (ROOT / "README.md").read_text(encoding="utf-8"), re.DOTALL | re.MULTILINE)
    quoted = table.group().removesuffix("```").strip().splitlines()[1:]
    assert len(quoted) == 4
    for line in quoted:
        name, numbers = scores(line)
        shown = next(other for other in printed.splitlines() if other.startswith(f"{name}  "))
        assert scores(shown)[1] == pytest.approx(numbers, abs=0.02)  # another machine may round a tie another way


def scores(line):
    """Name and numbers of a line of the table."""
    name, numbers = re.fullmatch(r"(.*?)\s+([\d. ]+)", line.rstrip()).groups()
    return name, [float(number) for number in numbers.split()]


def test_the_page_on_families_gives_a_family_that_keeps_the_contract():
    import numpy as np
    from scipy import stats

    page = (ROOT / "docs/add-a-family.md").read_text(encoding="utf-8")
    assert len(page.split("```python")) == 2
    names = {}
    exec(re.search(r"```python\n(.*?)```", page, flags=re.DOTALL).group(1), names)
    family, rng = names["Exponential"](), np.random.default_rng(0)
    X, R = rng.exponential(2.0, (40, 3)), rng.dirichlet(np.ones(2), 40)
    params = family.maximise(family.statistics(X, R))
    expected = stats.expon.logpdf(X[:, None, :], scale=1 / params["rates"]).sum(axis=2)
    np.testing.assert_allclose(family.log_prob(X, params), expected)
    np.testing.assert_allclose(params["rates"], R.sum(axis=0)[:, None] / (R.T @ X))
    with pytest.raises(ValueError, match=r"view 'waits': family 'Exponential' needs waiting times, .* got -1"):
        names["cs"].CoEM(2, families=family).fit({"waits": np.full((5, 2), -1.0)})
    assert len(page.splitlines()) < 70  # one screen
