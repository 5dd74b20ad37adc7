"""The code of README and docs runs, links are valid, and figures agree with the code."""

import csv
import os
import re
import shlex
import subprocess
import sys
from collections import Counter
from contextlib import chdir, redirect_stderr, redirect_stdout
from io import StringIO
from pathlib import Path
from typing import Any, NamedTuple

import dask
import pytest

from consilience.cli import main
from consilience.registry import list_estimators
from reproduction.engine.tables import SIGNS
from waiting import HANG_LIMIT

ROOT = Path(__file__).parents[1]
BLOCK = re.compile(r"^(`{3,})([^\n`]*)\n(.*?)^\1$", flags=re.DOTALL | re.MULTILINE)
RUN = {"python", "sh"}  # languages of code that the tests run
NOT_RUN = {"py", "bash"}  # languages of code that they cannot run
DIRECTIVE = r"\{(?:toctree|command|commands|exit-codes)\}.*"  # what Sphinx writes itself
OUTPUT = "text"  # what code prints, shortened
DOCS = sorted([*(ROOT / "docs").glob("*.md"), *(ROOT / "docs" / "papers").glob("*.md")])
PAGES = ["README.md", *(page.relative_to(ROOT).as_posix() for page in DOCS)]
TWO_MINUTES = "takes two minutes; output.md runs these commands"
# Code that is not run, and text that is not compared with the output of code, by the page and the first words.
UNTESTED = {
    ("README.md", "pip install '.[all]'"): "installs packages",
    ("README.md", "consilience datasets word-senses"): "opens the browser",
    ("docs/algorithm.md", "A_ij"): "a formula",
    ("docs/algorithm.md", "s   ="): "a formula",
    ("docs/algorithm.md", "b_p  ="): "a formula",
    ("docs/algorithm.md", "score ="): "a formula",
    ("docs/algorithm.md", "g ="): "a formula",
    ("docs/command-line.md", "consilience: papers.csv"): "messages of several commands",
    ("docs/command-line.md", "read the files (0.4 s)"): "durations",
    ("docs/command-line.md", "import logging"): "would configure the logging of the tests",
    ("docs/command-line.md", 'eval "$(consilience'): "lines for the startup files of shells",
    ("docs/data.md", "consilience datasets cora"): "downloads a data set",
    ("docs/index.md", "consilience datasets word-senses"): TWO_MINUTES,
    ("docs/install.md", "git clone"): "needs the network",
    ("docs/install.md", "pip wheel"): "needs the network",
    ("docs/jobs.md", "$ consilience cluster tickets.csv"): "takes two minutes, on a table that is not on the page",
    ("docs/large-data-dask.md", "from dask_jobqueue"): "needs a queue of jobs",
    ("docs/large-data-dask.md", "from dask_kubernetes"): "needs Kubernetes",
    ("docs/large-data-dask.md", "import coiled"): "needs an account",
    ("docs/large-data-storage.md", "import torch"): "needs a GPU",
    ("docs/start.md", "pip install '.[all]'"): "installs packages",
    ("docs/start.md", "consilience datasets word-senses"): TWO_MINUTES,
    ("docs/workbench.md", "consilience datasets word-senses"): "opens the browser",
}
# Pages with numbers that depend on the machine, because ties are rounded differently: by which share they may differ.
ROUNDED = {"docs/output.md": 0.1}
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


class PageRun(NamedTuple):
    """What the code of a page defines, and its text blocks with what the code between them prints."""

    names: dict[str, Any]
    outputs: list[tuple[str, str]]


def run_page(page, folder):
    """Run the code of a page in an empty folder."""
    run, printed = PageRun({}, []), StringIO()
    with chdir(folder):
        for language, block in list_blocks(page):
            if language == "python":
                with redirect_stdout(printed), redirect_stderr(printed):
                    exec(compile(block, page, "exec"), run.names)
            for line in block.splitlines() if language == "sh" else ():
                printed.write(run_command(line))
            if language == OUTPUT:
                run.outputs.append((block, printed.getvalue()))
                printed = StringIO()
    return run


def read_page(page):
    return (ROOT / page).read_text(encoding="utf-8")


def list_blocks(page):
    """Return the language and the content of each block of a page."""
    return [(language, block) for _, language, block in BLOCK.findall(read_page(page))]


def list_pages_with(languages):
    """Return the pages with blocks of some languages, apart from the blocks that are not tested."""
    return [
        page
        for page in PAGES
        if any(language in languages and find_exception(page, block) is None for language, block in list_blocks(page))
    ]


def find_exception(page, block):
    """Return the entry of `UNTESTED` for a block, None if there is none."""
    return next((key for key in UNTESTED if key[0] == page and block.startswith(key[1])), None)


@pytest.mark.protocol
@pytest.mark.parametrize("page", list_pages_with(RUN))
def test_code_of_page_runs_and_prints_what_the_page_shows(page, tmp_path):
    run = run_page(page, tmp_path)
    assert run.names, "no code"
    for block, printed in run.outputs:
        if find_exception(page, block) is None:
            assert find_unprinted(block, printed, ROUNDED.get(page, 0.0)) is None, printed
    CHECKS.get(page, lambda _: None)(run.names)


def find_unprinted(block, printed, tolerance=0.0):
    """Return the first line of a block that is not printed after the lines before it, None if all are.

    A block may leave out lines, and "..." in a line stands for any text. Numbers agree if they differ by at most the
    given share.
    """
    candidates = iter(printed.splitlines())
    lines = [line for line in block.splitlines() if line.strip() not in ("", "...")]
    if not lines:
        return block
    return next((line for line in lines if not any(agrees(line, each, tolerance) for each in candidates)), None)


def agrees(line, printed, tolerance):
    """Return whether a line of a page shows a printed line."""
    parts = re.split(r"(\.\.\.|\d[\d,]*(?:\.\d+)?)", line)
    groups = [".*" if part == "..." else r"(\d[\d,]*(?:\.\d+)?)" for part in parts[1::2]]
    pattern = "".join(re.escape(text) + group for text, group in zip(parts[::2], [*groups, ""], strict=True))
    match = re.fullmatch(pattern, printed)
    if match is None:
        return False
    shown = [part for part in parts[1::2] if part != "..."]
    numbers = [[float(number.replace(",", "")) for number in values] for values in (shown, match.groups())]
    return shown == list(match.groups()) or numbers[0] == pytest.approx(numbers[1], rel=tolerance, abs=0)


def test_unprinted_line_is_found():
    printed = "150 entities, 3 views\n  title: text\nnmi 0.759, ari 0.695\n"
    assert find_unprinted("150 entities, ...\n...\nnmi 0.759, ari 0.695\n", printed) is None
    assert find_unprinted("nmi 0.754, ari 0.695\n", printed, tolerance=0.01) is None
    assert find_unprinted("nmi 0.754, ari 0.695\n", printed, tolerance=0.001) == "nmi 0.754, ari 0.695"
    assert find_unprinted("nmi 0.754, ari 0.695\n", printed) == "nmi 0.754, ari 0.695"
    assert find_unprinted("  title: text\n150 entities, 3 views\n", printed) == "150 entities, 3 views"
    assert find_unprinted("...\n", printed) == "...\n"


def test_blocks_of_pages_are_tested_or_listed():
    for page in PAGES:
        blocks = list_blocks(page)
        assert len(re.findall(r"^\s*(?:```|~~~)", read_page(page), flags=re.MULTILINE)) == 2 * len(blocks), page
        languages = {language for language, _ in blocks if not re.fullmatch(DIRECTIVE, language)}
        assert languages <= {*RUN, *NOT_RUN, OUTPUT}, page
        not_run = [block for language, block in blocks if language in NOT_RUN]
        assert [block for block in not_run if find_exception(page, block) is None] == [], page


def test_untested_blocks_and_checked_pages_exist():
    assert set(CHECKS) <= set(list_pages_with(RUN))
    blocks = [(page, language, block) for page in PAGES for language, block in list_blocks(page)]
    used = Counter(find_exception(page, block) for page, language, block in blocks if language not in RUN)
    assert {key: used[key] for key in UNTESTED} == dict.fromkeys(UNTESTED, 1)


def test_pages_that_show_code_are_run():
    without_code = {
        "how-to",
        "reference",
        "explanation",
        "troubleshooting",
        "extend",
        "propagation",
        "formats",
        "commands",
    }
    assert {*PAGES} - {*list_pages_with(RUN)} == {f"docs/{name}.md" for name in without_code}


def run_command(line):
    """Run a line of the command line or of the reproduction, which must succeed, and return what it prints."""
    program, _, arguments = line.partition(" ")
    if program == "consilience" and not set(arguments) & set("|<>;&$`"):
        return run_in_process(shlex.split(arguments))
    python = shlex.quote(sys.executable)
    commands = {"consilience": f"{python} -m consilience {arguments}", "python": f"{python} {arguments}"}
    path = os.pathsep.join([str(ROOT), *filter(None, [os.environ.get("PYTHONPATH")])])
    result = subprocess.run(
        commands[program],
        shell=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=HANG_LIMIT,
        env={**os.environ, "PYTHONPATH": path, "PYTHONUNBUFFERED": "1"},  # lines in the order in which they are printed
    )
    assert result.returncode == 0, f"{line}\n{result.stdout}"
    return result.stdout


def run_in_process(arguments):
    """Run the command without loading the libraries again, and return what it prints."""
    printed = StringIO()
    with redirect_stdout(printed), redirect_stderr(printed):
        try:
            code = main(arguments)
        except SystemExit as end:
            code = end.code
    assert code == 0, f"{arguments}\n{printed.getvalue()}"
    return printed.getvalue()


def test_links_of_pages_are_valid():
    for page in PAGES:
        for target, _, heading in re.findall(r"\]\((?!https?:)([^)#]*)(#([^)]*))?\)", read_page(page)):
            to = (ROOT / page).parent / target if target else ROOT / page
            assert to.exists(), f"{page} links to {target}"
            if heading:
                assert heading in list_anchors(to.read_text(encoding="utf-8")), f"{page} links to {target}#{heading}"


def list_anchors(text):
    """Return the headings of a page in the form of links."""
    headings = re.findall(r"^#+ (.*)$", text, flags=re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def check_output_page(names):
    """Compare the quoted scores of word senses, and the keys of the summary that the page describes."""
    assert [key for key in names["facts"] if f"`{key}`" not in read_page("docs/output.md")] == []
    scores = names["nmi"]
    table = re.findall(r"^(\S.*?)  +\d+  +[\d.]+  ([\d.]+) .*$", read_page("docs/output.md"), flags=re.MULTILINE)
    assert {name for name, _ in table} == {"all views together", "views side by side", "gloss alone"}
    for name, nmi in table:
        assert scores[name] == pytest.approx(float(nmi), abs=0.02)  # ties may be rounded differently on another machine
    words = r"NMI (\.\d+) with all views, (\.\d+) by the best single view, (\.\d+) with all columns concatenated"
    quoted = re.search(words, read_page("README.md")).groups()
    expected = scores["all views together"], scores["gloss alone"], scores["views side by side"]
    assert [float(nmi) for nmi in quoted] == pytest.approx(expected, abs=0.02)


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


def check_plots_page(names):
    """Check that all displays are drawn, and all figures closed."""
    from consilience import plot

    assert set(re.findall(r"plot\.(\w+Display)\.", read_page("docs/plots.md"))) == set(plot.__all__)
    assert names["plt"].get_fignums() == []


CHECKS = {"docs/output.md": check_output_page, "docs/plots.md": check_plots_page}


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
