"""The code of README and docs runs, links are valid, and figures agree with the code."""

import csv
import os
import re
import shlex
import subprocess
import sys
from collections import Counter
from contextlib import chdir
from functools import cache
from pathlib import Path

import dask
import pytest

from consilience.registry import list_estimators
from reproduction.engine.tables import SIGNS
from waiting import HANG_LIMIT

ROOT = Path(__file__).parents[1]
BLOCK = r"^```(python|sh)\n(.*?)^```$"
DOCS = sorted([*(ROOT / "docs").glob("*.md"), *(ROOT / "docs" / "papers").glob("*.md")])
PAGES = ["README.md", *(page.relative_to(ROOT).as_posix() for page in DOCS)]
CODE_PAGES = [
    page for page in PAGES if re.search(BLOCK, (ROOT / page).read_text(encoding="utf-8"), re.DOTALL | re.MULTILINE)
]
RESULTS = ROOT / "docs" / "papers" / "results"


@pytest.fixture(autouse=True)
def restore_estimators(monkeypatch):
    """Forget the estimators that a page declares."""
    monkeypatch.setattr("consilience.registry._DECLARATIONS", list_estimators())


@pytest.fixture(scope="module", autouse=True)
def wait_for_workers():
    """Let dask wait for workers as long as the tests do, on a busy machine."""
    limits = {f"distributed.comm.timeouts.{name}": f"{HANG_LIMIT}s" for name in ("connect", "tcp")}
    with pytest.MonkeyPatch.context() as patch, dask.config.set(limits):
        for name, limit in limits.items():  # for the processes of the workers
            patch.setenv(f"DASK_{name.replace('.', '__').upper()}", limit)
        yield


@pytest.fixture(scope="module")
def run_page(tmp_path_factory):
    """A function that runs the code of a page once in a new folder, and returns the defined names."""

    @cache
    def run_once(page):
        names = {}
        with chdir(tmp_path_factory.mktemp("page")):
            for language, block in re.findall(BLOCK, read_page(page), flags=re.DOTALL | re.MULTILINE):
                if language == "python":
                    exec(compile(block, page, "exec"), names)
                for line in block.splitlines() if language == "sh" else ():
                    run_command(line)
        return names

    return run_once


# the tests of one page share one run of it, so they belong to one process of pytest-xdist
@pytest.mark.parametrize("page", [pytest.param(page, marks=pytest.mark.xdist_group(page)) for page in CODE_PAGES])
def test_code_of_page_runs(page, run_page):
    names = run_page(page)
    assert names, "no code"
    if "views" in names:
        assert names["cs"].Views is type(names["views"])


@pytest.mark.parametrize("page", PAGES)
def test_blocks_of_page_are_found(page):
    text = read_page(page)
    assert len(re.findall(BLOCK, text, re.DOTALL | re.MULTILINE)) == len(re.findall(r"```(?:python|sh)\b", text))
    assert text.count("```") % 2 == 0


def test_pages_that_show_code_are_run():
    without_code = {
        "how-to",
        "reference",
        "explanation",
        "extend",
        "propagation",
        "formats",
        "commands",
        "changelog",
        "leaderboard",
    }
    expected = {f"docs/{path.name}" for path in DOCS if path.parent.name == "docs" and path.stem not in without_code}
    assert expected <= set(CODE_PAGES)


def run_command(line):
    """Run a line of the command line or of the reproduction, which must succeed."""
    program, _, arguments = line.partition(" ")
    python = shlex.quote(sys.executable)
    commands = {"consilience": f"{python} -m consilience {arguments}", "python": f"{python} {arguments}"}
    result = subprocess.run(
        commands[program],
        shell=True,
        capture_output=True,
        text=True,
        timeout=HANG_LIMIT,
        env={**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT), *filter(None, [os.environ.get("PYTHONPATH")])])},
    )
    assert result.returncode == 0, f"{line}\n{result.stderr}"


def read_page(page):
    return (ROOT / page).read_text(encoding="utf-8")


@pytest.mark.parametrize("page", PAGES)
def test_links_of_page_are_valid(page):
    for target, _, heading in re.findall(r"\]\((?!https?:)([^)#]*)(#([^)]*))?\)", read_page(page)):
        to = (ROOT / page).parent / target if target else ROOT / page
        assert to.exists(), f"{page} links to {target}"
        if heading:
            assert heading in list_anchors(to.read_text(encoding="utf-8")), f"{page} links to {target}#{heading}"


def list_anchors(text):
    """Return the headings of a page in the form of links."""
    headings = re.findall(r"^#+ (.*)$", text, flags=re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


@pytest.mark.parametrize("page", sorted({*PAGES} - {"docs/default-method.md"}))
def test_headings_of_page_are_no_questions(page):
    text = re.sub(r"^```.*?^```$", "", read_page(page), flags=re.DOTALL | re.MULTILINE)
    assert re.findall(r"^#+ .*\?\s*$", text, flags=re.MULTILINE) == []


@pytest.mark.xdist_group("docs/output.md")
def test_quoted_scores_of_word_senses(run_page):
    scores = run_page("docs/output.md")["nmi"]
    table = re.findall(r"^(\S.*?)  +\d+  +[\d.]+  ([\d.]+) .*$", read_page("docs/output.md"), flags=re.MULTILINE)
    assert {name for name, _ in table} == {"all views together", "views side by side", "gloss alone"}
    for name, nmi in table:
        assert scores[name] == pytest.approx(float(nmi), abs=0.02)  # ties may be rounded differently on another machine
    words = r"NMI (\.\d+) with all views, (\.\d+) by the best single view, (\.\d+) with all columns concatenated"
    quoted = re.search(words, read_page("README.md")).groups()
    expected = scores["all views together"], scores["gloss alone"], scores["views side by side"]
    assert [float(nmi) for nmi in quoted] == pytest.approx(expected, abs=0.02)


@pytest.mark.xdist_group("docs/output.md")
def test_output_page_describes_the_summary(run_page):
    page, facts = read_page("docs/output.md"), run_page("docs/output.md")["facts"]
    assert [key for key in facts if f"`{key}`" not in page] == []


def test_readme_quotes_the_records_of_verdicts():
    from consilience.assessment.reference import RECORDS

    page = read_page("README.md")
    for verdict, record in RECORDS.items():
        assert re.search(rf"\*{verdict}\*[^|;]*, {re.escape(record.removesuffix(' on reference sets'))}", page)
    assert f"With this verdict {RECORDS['mixed']}." in read_page("docs/output.md")


def test_formats_page_lists_all_extensions_and_kinds():
    from consilience.files import KINDS
    from consilience.files.formats import FORMATS

    page = read_page("docs/formats.md")
    assert [name for name in (*FORMATS, *KINDS) if f"`{name}`" not in page] == []


@pytest.mark.xdist_group("docs/plots.md")
def test_plots_page_draws_all_displays(run_page):
    from consilience import plot

    drawn = set(re.findall(r"plot\.(\w+Display)\.", read_page("docs/plots.md")))
    assert drawn == set(plot.__all__)
    assert run_page("docs/plots.md")["plt"].get_fignums() == []  # all figures are closed


def test_family_of_the_page_is_valid():
    import numpy as np
    from scipy import stats

    page = read_page("docs/add-a-family.md")
    assert page.count("```python") == 2  # dense, and sparse
    names = {}
    exec(re.search(r"```python\n(.*?)```", page, flags=re.DOTALL).group(1), names)
    family, rng = names["Exponential"](), np.random.default_rng(0)
    X, R = rng.exponential(2.0, (40, 3)), rng.dirichlet(np.ones(2), 40)
    params = family.maximize(family.statistics(X, R))
    expected = stats.expon.logpdf(X[:, None, :], scale=1 / params["rates"]).sum(axis=2)
    np.testing.assert_allclose(family.log_prob(X, params), expected)
    np.testing.assert_allclose(params["rates"], R.sum(axis=0)[:, None] / (R.T @ X))
    with pytest.raises(ValueError, match=r"view 'waits': family 'Exponential' needs waiting times, .* got -1"):
        names["cs"].CoEM(2, families=family).fit({"waits": np.full((5, 2), -1.0)})
    assert len(page.partition("## Sparse views")[0].splitlines()) < 70  # one screen


def test_docs_contain_all_tables_of_the_papers():
    from reproduction import PAPERS

    expected = {f"{paper.name}/{study.name}.csv" for paper in PAPERS.values() for study in paper.studies}
    assert {path.relative_to(RESULTS).as_posix() for path in RESULTS.glob("*/*.csv")} == expected
    assert {f"docs/papers/{name}.md" for name in PAPERS} <= set(PAGES)
    assert {path.stem for path in RESULTS.glob("*.md")} == {*PAPERS, "summary"}


def read_words(page):
    """Return the text of a page on one line, without bold marks."""
    return " ".join(read_page(page).replace("**", "").split())


def test_papers_page_counts_the_verdicts():
    from reproduction import PAPERS

    summary = read_page("docs/papers/results/summary.md")
    assert summary in read_page("docs/papers.md")
    sentence = r"\d+ claims? holds? on the paper's own data, .*? cannot be tested"
    for name in PAPERS:
        assert re.search(sentence, read_page(f"docs/papers/results/{name}.md")).group() in read_words(
            f"docs/papers/{name}.md"
        ), name
    with (RESULTS / "verdicts.csv").open(newline="", encoding="utf-8") as file:
        statuses = Counter(row["status"] for row in csv.DictReader(file) if row["ours"] == "no")
    total = re.search(r"^\| all \|(.*)", summary, flags=re.MULTILINE).group(1).split(" | ")[:5]
    holds, fails, holds_elsewhere, fails_elsewhere, cannot = counts = list(map(int, total))
    assert counts == [statuses[status] for status in SIGNS]
    readme = read_words("README.md")
    assert f"On the papers' own data {holds} of {holds + fails} claims hold" in readme
    assert f"not available, {holds_elsewhere} of {holds_elsewhere + fails_elsewhere} claims hold" in readme
    assert f"; {cannot} cannot be tested." in readme
