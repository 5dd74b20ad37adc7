"""The code that people read first runs."""

import re
import shlex
import subprocess
import sys
from contextlib import chdir
from functools import cache
from pathlib import Path

import pytest

from waiting import HANG_LIMIT

ROOT = Path(__file__).parents[1]
BLOCK = r"^```(python|sh)\n(.*?)^```$"
DOCS = sorted([*(ROOT / "docs").glob("*.md"), *(ROOT / "docs" / "papers").glob("*.md")])
PAGES = ["README.md", *(page.relative_to(ROOT).as_posix() for page in DOCS)]
RESULTS = ROOT / "docs" / "papers" / "results"


@pytest.fixture(scope="module")
def names_of(tmp_path_factory):
    """What the code of a page leaves: blocks run once, in the order of the page, all in one new folder."""

    @cache
    def ran(page):
        names = {}
        with chdir(tmp_path_factory.mktemp("page")):
            for language, block in re.findall(BLOCK, text_of(page), flags=re.DOTALL | re.MULTILINE):
                if language == "python":
                    exec(compile(block, page, "exec"), names)
                for line in block.splitlines() if language == "sh" else ():
                    run(line)
        return names

    return ran


@pytest.mark.parametrize("page", PAGES)
def test_code_in_the_page_runs(page, names_of):
    names = names_of(page)
    assert names, "no code"
    if "views" in names:
        assert names["cs"].Views is type(names["views"])


def run(line):
    """One line of the command line, which must end well."""
    assert line.startswith("consilience "), f"not a line of ours: {line}"
    done = subprocess.run(
        line.replace("consilience", f"{shlex.quote(sys.executable)} -m consilience", 1),
        shell=True,
        capture_output=True,
        text=True,
        timeout=HANG_LIMIT,
    )
    assert done.returncode == 0, f"{line}\n{done.stderr}"


def text_of(page):
    return (ROOT / page).read_text(encoding="utf-8")


@pytest.mark.parametrize("page", PAGES)
def test_links_in_the_page_lead_somewhere(page):
    for target, _, heading in re.findall(r"\]\((?!https?:)([^)#]*)(#([^)]*))?\)", text_of(page)):
        to = (ROOT / page).parent / target if target else ROOT / page
        assert to.exists(), f"{page} links to {target}"
        if heading:
            assert heading in anchors(to.read_text(encoding="utf-8")), f"{page} links to {target}#{heading}"


def anchors(text):
    """The headings of a page as links name them."""
    headings = re.findall(r"^#+ (.*)$", text, flags=re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def test_scores_of_the_word_senses_are_those_that_pages_quote(names_of):
    found = names_of("docs/files.md")["nmi"]
    table = re.findall(r"^(\S.*?)  +\d+  +[\d.]+  ([\d.]+) .*$", text_of("docs/files.md"), flags=re.MULTILINE)
    assert {name for name, _ in table} == {"all views together", "views side by side", "gloss alone"}
    for name, nmi in table:
        assert found[name] == pytest.approx(float(nmi), abs=0.02)  # another machine may round a tie another way
    words = r"NMI (\.\d+) with all views, (\.\d+) by the best single view, (\.\d+) with all columns side by side"
    quoted = re.search(words, text_of("README.md")).groups()
    shown = found["all views together"], found["gloss alone"], found["views side by side"]
    assert [float(nmi) for nmi in quoted] == pytest.approx(shown, abs=0.02)


def test_the_page_on_files_names_all_that_the_summary_holds(names_of):
    page, facts = text_of("docs/files.md"), names_of("docs/files.md")["facts"]
    assert [key for key in facts if f"`{key}`" not in page] == []


def test_readme_says_what_verdicts_were_worth():
    from consilience.assessment.reference import RECORDS

    page = text_of("README.md")
    for verdict, record in RECORDS.items():
        assert f"| {verdict} | {record.removesuffix(' on reference sets')}" in page
    for name in ("README.md", "docs/files.md"):
        assert f"With this verdict {RECORDS['do not rely']}." in text_of(name)


def test_the_page_on_files_names_all_endings_and_kinds():
    from consilience.files import KINDS
    from consilience.files.formats import FORMATS

    page = text_of("docs/files.md")
    assert [one for one in (*FORMATS, *KINDS) if f"`{one}`" not in page] == []


def test_the_page_on_figures_draws_every_display(names_of):
    from consilience import plot

    drawn = set(re.findall(r"plot\.(\w+Display)\.", text_of("docs/plots.md")))
    assert drawn == set(plot.__all__)
    assert names_of("docs/plots.md")["plt"].get_fignums() == []  # none is left open


def test_the_page_on_families_gives_a_family_that_keeps_the_contract():
    import numpy as np
    from scipy import stats

    page = text_of("docs/add-a-family.md")
    assert len(page.split("```python")) == 2
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
    assert len(page.splitlines()) < 70  # one screen


def test_every_table_of_the_papers_is_kept_in_the_docs():
    from reproduction import PAPERS

    asked = {f"{paper.name}/{study.name}.csv" for paper in PAPERS.values() for study in paper.studies}
    assert {path.relative_to(RESULTS).as_posix() for path in RESULTS.glob("*/*.csv")} == asked
    assert {f"docs/papers/{name}.md" for name in PAPERS} <= set(PAGES)
    assert {path.stem for path in RESULTS.glob("*.md")} == set(PAPERS)


def test_the_page_on_papers_counts_claims_as_the_results_do():
    found = {}
    counts = r"(\d+) studies in .*: (\d+) claims hold, (\d+) do not, (\d+) cannot .* of (\d+) checks of ours (\d+) hold"
    for path in sorted(RESULTS.glob("*.md")):
        studies, *claims, asked, held = map(int, re.search(counts, path.read_text(encoding="utf-8")).groups())
        found[path.stem] = [*claims, held, asked, studies]
        said = re.search(r"(\d+) (?:claims )?hold, (\d+) do not, (\d+) cannot", text_of(f"docs/papers/{path.stem}.md"))
        assert list(map(int, said.groups())) == claims, path.stem
    row = r"^\| \[[^]]*\]\(papers/([\w-]+)\.md\).*? \| (\d+) \| (\d+) \| (\d+) \| (\d+) of (\d+) \| \[(\d+)\]"
    rows = re.findall(row, text_of("docs/papers.md"), flags=re.MULTILINE)
    assert {name: list(map(int, own)) for name, *own in rows} == found
    total = [sum(own) for own in zip(*found.values(), strict=True)]
    last = r"^\| all \| (\d+) \| (\d+) \| (\d+) \| (\d+) of (\d+) \| (\d+) \|$"
    assert list(map(int, re.search(last, text_of("docs/papers.md"), flags=re.MULTILINE).groups())) == total
    quoted = r"Of (\d+) claims, .*?, (\d+) hold, (\d+) do not, and (\d+) cannot"
    claims = list(map(int, re.search(quoted, text_of("README.md"), flags=re.DOTALL).groups()))
    assert claims == [sum(total[:3]), *total[:3]]


def test_the_page_of_the_modern_comparison_shows_the_ranking_of_its_tables():
    tables = (ROOT / "docs" / "modern" / "tables.md").read_text(encoding="utf-8")
    page = text_of("docs/modern-comparison.md")
    ranking = re.search(r"^## Ranking\n\n((?:\|.*\n)+)", tables, flags=re.MULTILINE).group(1)
    assert ranking in page
    seeds = re.search(r"Of (\d+) pairs of a line and a set (\d+) have 10 seeds, (\d+) have 2 to 9 and (\d+)", tables)
    words = r"of (\d+) pairs of a line and a set (\d+) have ten seeds, (\d+) have 2\s+to 9 and (\d+)"
    assert re.search(words, page).groups() == seeds.groups()
