"""The code that people read first runs."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]


@pytest.mark.parametrize("page", ["README.md", "docs/index.md"])
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
