"""Tables say both numbers, in every form, and nothing in them is taken for markup."""

import csv
import io
import re
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from made_up_outcomes import PIPED, SCRIPT, all_outcomes, hostile_outcomes, plain_outcomes
from reproduction.engine import CANNOT, FAILS, FAILS_ELSEWHERE, HOLDS, HOLDS_ELSEWHERE, Panel
from reproduction.engine import tables as rendering
from reproduction.engine.entries import CLOSE, FAR, NEAR, Entry, format_number, format_with_spread, iterate_entries

OUTCOMES = all_outcomes()
RENDERINGS = [rendering.render_text, rendering.render_markdown]


@pytest.mark.parametrize("render", RENDERINGS)
def test_tables_have_both_numbers_reasons_and_verdicts(render):
    marked = rendering._escape_markdown if render is rendering.render_markdown else rendering._to_plain_text
    for outcome in OUTCOMES:
        shown = render(outcome)
        for *_, entry in iterate_entries(outcome):
            assert rendering.format_cell(entry) in shown
            assert format_number(entry.ours) in rendering.format_cell(entry)
            if entry.published is not None:
                assert f"({format_number(entry.published)})" in rendering.format_cell(entry)
        shown = " ".join(shown.split())
        for verdict in outcome.verdicts:
            assert verdict.status in shown
            assert marked(verdict.claim) in shown
            assert marked(rendering.describe_verdict(outcome, verdict)) in shown
        for panel, reason in outcome.missing.items():
            assert marked(panel) in shown
            assert marked(reason) in shown


def test_spread_is_named_once_and_not_shown_for_a_single_run():
    errors, deviations, single = plain_outcomes()
    for render in RENDERINGS:
        assert "±" not in render(single)
        assert "± one standard error" in render(errors)
        assert (render(errors).count("standard error"), render(errors).count("deviation")) == (1, 0)
        assert (render(deviations).count("standard deviation"), render(deviations).count("error")) == (1, 0)
    assert {row["spread"] for row in rendering.make_csv_rows(single)} == {None}
    assert {row["runs"] for row in rendering.make_csv_rows(single)} == {1}


def test_texts_fit_the_terminal_and_have_no_control_characters():
    for outcome in OUTCOMES:
        for width in (80, 110):
            assert max(map(len, rendering.render_text(outcome, width).splitlines())) <= width
        assert all(letter == "\n" or letter.isprintable() for letter in rendering.render_text(outcome))


def test_wide_table_is_split_by_columns():
    wide = plain_outcomes()[2]
    lines = rendering.render_text(wide).splitlines()
    assert sum(line.startswith("Co-regularised") for line in lines) == 2
    heads = " ".join(line for line in lines if " links" in line and not line[:5].strip())
    assert re.findall(r"(\d+) links", heads) == [str(10 * k) for k in range(1, 13)]


def test_markdown_tables_are_rectangular():
    for outcome in OUTCOMES:
        tables = re.findall(r"(?:^\|.*\n)+", rendering.render_markdown(outcome), flags=re.MULTILINE)
        assert len(tables) == len(outcome.panels)
        for table, panel in zip(tables, outcome.panels, strict=True):
            bars = {len(re.findall(r"(?<!\\)\|", line)) for line in table.splitlines()}
            assert bars == {len(panel.columns) + 2}
            assert len(table.splitlines()) == len(panel.rows) + 2


def test_csv_rows_round_trip_and_missing_cells_stay_empty():
    for outcome in OUTCOMES:
        rows = rendering.make_csv_rows(outcome)
        writer = csv.DictWriter(file := io.StringIO(newline=""), rows[0])
        writer.writeheader()
        writer.writerows(rows)
        file.seek(0)
        for read, row in zip(csv.DictReader(file), rows, strict=True):
            assert all(read[name] == row[name] for name in ("panel", "row", "column"))
            for name in ("ours", "spread", "published", "difference"):
                assert (float(read[name]) if read[name] else None) == row[name]
    partial = Panel("part", {("a", "1"): {0: 0.5}, ("b", "2"): {0: 0.25}})
    holed = replace(plain_outcomes()[2], panels=(partial,), verdicts=(), missing={})
    assert "| a | .500 |  |\n| b |  | .250 |" in rendering.render_markdown(holed)
    assert len(rendering.make_csv_rows(holed)) == 2
    assert ".250" in rendering.render_text(holed)


def test_csv_rows_are_complete():
    outcome = plain_outcomes()[1]
    (panel,) = outcome.panels
    rows = rendering.make_csv_rows(outcome)
    assert list(rows[0]) == ["panel", "row", "column", "ours", "spread", "runs", "published", "difference"]
    assert [(row["row"], row["column"]) for row in rows] == [(a, b) for a in panel.rows for b in panel.columns]
    for row in rows:
        assert row["ours"] == panel.mean(row["row"], row["column"])
        assert row["spread"] == panel.spread(row["row"], row["column"], deviations=True)
        assert row["published"] == outcome.published("digits", row["row"], row["column"])
        assert row["difference"] == row["ours"] - row["published"]


def test_counts_of_verdicts():
    counts = rendering.count_verdicts(OUTCOMES)
    assert counts == {HOLDS: 3, FAILS: 1, HOLDS_ELSEWHERE: 1, FAILS_ELSEWHERE: 2, CANNOT: 6}
    assert set(rendering.count_verdicts([]).values()) == {0}
    lines = [line.split()[-9:] for line in rendering.render_claims_table(OUTCOMES).splitlines()[2:]]
    assert [" ".join(line) for line in lines] == ["1 1 1 2 4 0 of 0 3", "2 0 0 0 2 0 of 0 1", "3 1 1 2 6 0 of 0 4"]
    assert len(rendering.render_claims_table(plain_outcomes()).splitlines()) == 3  # one paper is all there is
    docs = rendering.render_claims_markdown(OUTCOMES).splitlines()
    assert docs[0].startswith("| paper | claims hold | do not | hold on other data | do not on other data | cannot be")
    assert docs[1:3] == ["| --- " * 8 + "|", "| Smith & Jones 2004 | 1 | 1 | 1 | 2 | 4 | 0 of 0 | 3 |"]
    assert docs[-1] == "| all | 3 | 1 | 1 | 2 | 6 | 0 of 0 | 4 |"
    rows = rendering.make_verdict_rows(OUTCOMES)
    assert len(rows) == sum(counts.values())
    assert rows[-3]["paper"] == "hostile-1999"
    assert {row["status"] for row in rows if row["other_data"]} == {HOLDS_ELSEWHERE, FAILS_ELSEWHERE}
    assert {row["ours"] for row in rows} == {"no"}


def test_reasons_for_other_data_are_listed_once():
    outcome = plain_outcomes()[2]
    for render in (rendering.render_text, rendering.render_markdown):
        shown = " ".join(render(outcome).split())
        assert shown.count("the paper's variances are not printed") == 1
        assert "quadrants: the paper's variances are not printed" in shown
        assert "(other data: drawn with replacement)" in shown
    lines = plain_outcomes()[0]
    assert list(rendering.list_other_data(lines)) == []
    sampled = type(lines)(lines.paper, replace(lines.study, other_data="a sample"), lines.panels, (), lines.missing, 1)
    assert list(rendering.list_other_data(sampled)) == [("", "a sample")], "a reason for all panels names none"


def test_panels_without_data_are_grouped():
    lines = plain_outcomes()[0]
    first, *_ = rendering.group_by_claim(lines).values()
    cannot, holds = rendering.group_verdicts(lines, first)
    assert cannot == (CANNOT, ["Protein", "half of the runs"], "missing data, see above")
    assert holds[:2] == (HOLDS, ["text and links"])
    twice = [verdict for verdict in first if verdict.status == HOLDS] * 2
    assert len(rendering.group_verdicts(lines, twice)) == 2
    assert (
        "  - ? **cannot be tested** Protein, half of the runs: missing data, see above\n"
        in rendering.render_markdown(lines)
    )


def test_paper_page_links_its_figures_and_escapes_foreign_text():
    outcomes = plain_outcomes()
    paper = outcomes[0].paper
    whole = rendering.render_paper_markdown(paper, outcomes, {"figure-1": "smith-2004/figure-1.svg"})
    assert whole.startswith("# Smith & Jones 2004\n\nS. Smith and A. Jones.")
    assert (
        "3 studies in 24 seconds of computing: 1 claim holds on the paper's own data, 1 does not; "
        "on other data 1 holds, 2 do not; 4 cannot be tested." in whole
    )
    assert re.findall(r"\]\((.*?)\)", whole) == ["smith-2004/figure-1.svg"]
    assert "](" not in rendering.render_paper_markdown(paper, outcomes, {})
    (hostile,) = outcomes = hostile_outcomes()
    escaped = rendering.render_paper_markdown(hostile.paper, outcomes, {"figure-9": "figure-9.svg"})
    assert "<" not in escaped
    assert rendering._escape_markdown(SCRIPT) in escaped
    assert PIPED.replace("|", r"\|").replace("*", r"\*") in escaped


def test_number_format():
    for value, shown in {
        0.7491: ".749",
        -0.0301: "−.030",
        0.99996: "1.000",
        1.8724: "1.872",
        -21.349: "−21.35",
        456.78: "456.8",
        12345.6: "12,346",
        0.0: ".000",
        -1e-17: ".000",
        2e-5: "2.0e−05",
        float("nan"): "–",
        float("-inf"): "−∞",
    }.items():
        assert format_number(value) == shown
    for value, spread, shown in (
        *((21.3, 0.0456, "21.30 ± .05"), (0.5, 12.3, ".500 ± 12.300")),  # the decimals of the number
        *((1.0, 1e-17, "1.000 ± .000"), (2e-5, 0.0, "2.0e−05 ± .000")),
    ):
        assert format_with_spread(Entry(value, spread, 5, None)) == shown
    durations = {0.2: "0 seconds", 600: "10 minutes", 9000: "2.5 hours"}
    assert [rendering.format_duration(seconds) for seconds in durations] == list(durations.values())


@given(st.floats(-1e9, 1e9))
def test_number_format_is_precise(value):
    read = float(format_number(value).replace("−", "-").replace(",", ""))
    assert read == pytest.approx(value, rel=0.06, abs=5.1e-4 if abs(value) < 10 else 0.0)


def test_closeness_of_two_numbers():
    for ours, spread, published, closeness in (
        (0.5, 0.05, 0.59, CLOSE),
        (0.5, float("nan"), 0.505, CLOSE),
        (0.5, 0.001, 0.54, NEAR),
        (0.5, 0.0, 0.7, FAR),
        (0.0, 0.0, 0.0, CLOSE),
        (0.5, 0.1, None, None),
        (float("nan"), float("nan"), 0.5, None),
    ):
        assert Entry(ours, spread, 3, published).closeness == closeness
