"""Studies are cut into cells, cells are kept, and what they hold is judged as the claims say."""

import json

import numpy as np
import pytest

from reproduction.engine import (
    CANNOT,
    FAILS,
    FAILS_ELSEWHERE,
    HOLDS,
    HOLDS_ELSEWHERE,
    Claim,
    Evidence,
    Panel,
    Paper,
    Score,
    Study,
)
from reproduction.engine.cells import Cells
from reproduction.engine.evidence import round_as_printed
from reproduction.engine.plan import Plan, choose_studies, list_datasets
from reproduction.engine.run import run_units


def double(run, data, factor=2):
    if data == "broken":
        raise ValueError("no such luck")
    yield Score("ours", "double", factor * run)
    yield Score("theirs", "double", run)


def ahead(panel):
    ours, theirs = panel.mean("ours", "double"), panel.mean("theirs", "double")
    return Evidence(ours > theirs, f"{ours} against {theirs}")


def study(**changes):
    defaults = {
        "name": "table-1",
        "title": "Twice as much",
        "measure": "points",
        "work": double,
        "settings": ({"panel": "A", "data": "a"}, {"panel": "B", "data": "b", "factor": 0.5, "runs": 3}),
        "runs": 4,
        "quick": ({"panel": "little", "data": "a"},),
        "quick_runs": 2,
        "claims": (Claim("ours is ahead", ahead),),
    }
    return Study(**{**defaults, **changes})


def paper(*studies):
    printed = {("table-1", "A", "ours", "double"): 3.0}
    return Paper("smith-2000", "Smith 2000", "Smith: Something. 2000.", "An idea.", studies, printed)


def run_plan(plan, cells, missing=None):
    done = list(run_units([(plan.paper, unit) for unit in plan.left], cells, n_jobs=1))
    return done, plan.outcome(cells, missing or {})


def test_study_has_one_unit_per_setting_and_run():
    units = study().units("smith-2000")
    assert [(unit.panel, unit.run) for unit in units] == [*(("A", i) for i in range(4)), *(("B", i) for i in range(3))]
    assert len({unit.key for unit in units}) == 7
    quick = study().units("smith-2000", quick=True)
    assert [(unit.panel, unit.run) for unit in quick] == [("little", 0), ("little", 1)]
    assert list_datasets(units) == ["a", "b"]
    unit, _ = study(settings=({"panel": "A", "data": "b+a"}, {"panel": "B"}), runs=1).units("smith-2000")
    assert (unit.datasets, list_datasets([unit])) == (("b", "a"), ["b", "a"])


def test_scores_are_stored_by_panel_row_column_and_run(tmp_path):
    cells = Cells(tmp_path)
    _, outcome = run_plan(Plan.of(paper(study()), study(), cells, False), cells)
    first, second = outcome.panels
    assert first["ours", "double"].tolist() == [0, 2, 4, 6]
    assert second["ours", "double"].tolist() == [0, 0.5, 1]
    assert first.mean("ours", "double") == 3
    assert first.spread("ours", "double", deviations=True) == pytest.approx(np.std([0, 2, 4, 6], ddof=1))
    assert first.spread("ours", "double") == pytest.approx(np.std([0, 2, 4, 6], ddof=1) / 2)
    assert outcome.published("A", "ours", "double") == 3.0
    assert outcome.published("B", "ours", "double") is None
    assert [(verdict.panel, verdict.status) for verdict in outcome.verdicts] == [("A", HOLDS), ("B", FAILS)]
    assert outcome.verdicts[1].words == "0.5 against 1.0"


def test_tables_have_the_order_of_complete_runs(tmp_path):
    def work(run):
        yield from (Score("ours", column, 1.0) for column in ("4", "10", "20")[1 if run == 0 else 0 :])

    incomplete = Study("t", "T", "m", work, ({},), 3, ({},), 1)
    _, outcome = run_plan(Plan.of(paper(incomplete), incomplete, Cells(tmp_path), False), Cells(tmp_path))
    assert outcome.panels[0].columns == ("4", "10", "20")


def test_stored_cells_are_not_computed_again(tmp_path):
    cells, whole = Cells(tmp_path), paper(study())
    plan = Plan.of(whole, study(), cells, False)
    for unit in plan.left[:3]:
        list(run_units([(whole, unit)], cells, n_jobs=1))
    again = Plan.of(whole, study(), cells, False)
    assert len(again.done) == 3
    assert len(again.left) == 4
    done, outcome = run_plan(again, cells)
    assert {result.unit.key for result in done} == {unit.key for unit in again.left}
    assert outcome.panels[0]["ours", "double"].tolist() == [0, 2, 4, 6]
    assert Plan.of(whole, study(), cells, False).left == []


def test_invalid_lines_and_cells_and_those_of_other_versions_are_computed_again(tmp_path):
    cells, whole = Cells(tmp_path), paper(study())
    run_plan(Plan.of(whole, study(), cells, False), cells)
    (path,) = tmp_path.rglob("*.jsonl")
    kept = path.read_text()
    for line in ("[]", "null", "{}", "not json", '{"key": 1}', "\x00\x00", "[" * 100_000):
        path.write_text(kept + line + "\n")
        assert Plan.of(whole, study(), cells, False).left == []
    first, *others = kept.splitlines(keepends=True)
    scores = ("abc", None, [], [["a", "b"]], [[1, "b", 0.5]])
    scores += tuple([["a", "b", value]] for value in ("0.5", None, True, 10**400))
    changes = {"scores": scores, "seconds": ("1", None), "key": (["a"],), "version": (1, "0.0.0")}
    damaged = [json.dumps({**json.loads(first), name: value}) for name in changes for value in changes[name]]
    for line in (*damaged, first[:-20]):  # the last is incomplete
        path.write_text(line + "\n" + "".join(others))
        again = Plan.of(whole, study(), cells, False)
        assert len(again.left) == 1, line
        assert run_plan(again, cells)[1].panels[0]["ours", "double"].tolist() == [0, 2, 4, 6]


def test_failing_checks_and_missing_numbers_are_untestable_and_nan_does_not_hold(tmp_path):
    def compare_missing(panel):
        return Evidence(panel.mean("ours", "triple") > 0, "")

    checks = [lambda panel: 1 / 0, lambda panel: None, lambda panel: [][0], compare_missing]
    checks += [lambda panel: Evidence(float("nan"), ""), ahead]
    wrong = study(claims=[Claim(str(i), check) for i, check in enumerate(checks)])
    cells = Cells(tmp_path)
    _, outcome = run_plan(Plan.of(paper(wrong), wrong, cells, False), cells)
    of_first = [verdict for verdict in outcome.verdicts if verdict.panel == "A"]
    assert [verdict.status for verdict in of_first] == [CANNOT] * 4 + [FAILS, HOLDS]
    assert all("Error: " in verdict.words for verdict in of_first[:3])
    assert of_first[3].words == "A has no number for 'ours', 'triple'"


def test_our_checks_are_counted_separately(tmp_path):
    from reproduction.engine.tables import count_verdicts, summarize_verdicts

    both, cells = study(claims=(Claim("theirs", ahead), Claim("a guess", ahead, ours=True))), Cells(tmp_path)
    _, outcome = run_plan(Plan.of(paper(both), both, cells, False), cells)
    assert count_verdicts([outcome]) == {HOLDS: 1, FAILS: 1, HOLDS_ELSEWHERE: 0, FAILS_ELSEWHERE: 0, CANNOT: 0}
    assert count_verdicts([outcome], ours=True) == count_verdicts([outcome])
    assert summarize_verdicts([outcome]) == (
        "1 claim holds on the paper's own data, 1 does not; on other data 0 hold, 0 do not; 0 cannot be tested; "
        "of 2 checks of ours 1 holds"
    )
    assert {verdict.claim for verdict in outcome.verdicts} == {"theirs", "a guess (ours)"}


def test_failing_unit_and_one_without_scores_are_not_stored(tmp_path):
    cells = Cells(tmp_path)
    broken = study(settings=({"panel": "A", "data": "broken"},), runs=1)
    nothing = study(work=lambda run, data, factor=1: [], settings=({"panel": "A", "data": "a"},), runs=1)
    for failing, reason in ((broken, "ValueError: no such luck"), (nothing, "no scores were returned")):
        done, outcome = run_plan(Plan.of(paper(failing), failing, cells, False), cells, {"A": reason})
        assert [result.error for result in done] == [reason]
        assert [(verdict.status, verdict.words) for verdict in outcome.verdicts] == [(CANNOT, reason)]
        assert Plan.of(paper(failing), failing, cells, False).done == frozenset()


def test_parallel_run_equals_sequential_run(tmp_path):
    first, second = Cells(tmp_path / "one"), Cells(tmp_path / "two")
    whole = paper(study())
    _, alone = run_plan(Plan.of(whole, study(), first, False), first)
    plan = Plan.of(whole, study(), second, False)
    list(run_units([(whole, unit) for unit in plan.left], second, n_jobs=2))
    together = plan.outcome(second, {})
    for mine, other in zip(alone.panels, together.panels, strict=True):
        assert (mine.name, mine.rows, mine.columns) == (other.name, other.rows, other.columns)
        assert all(np.array_equal(mine[row, c], other[row, c]) for row in mine.rows for c in mine.columns)


def test_claim_across_panels_needs_all_panels(tmp_path):
    everywhere = Claim("everywhere", lambda panels: Evidence(len(panels) == 2, f"{len(panels)} sets"), across=True)
    whole, cells = study(claims=(everywhere, Claim("unknown", cannot="the data are lost"))), Cells(tmp_path)
    plan = Plan.of(paper(whole), whole, cells, False)
    run_plan(plan, cells)
    for missing, first in (({}, (HOLDS, "2 sets")), ({"B": "no network"}, (CANNOT, "B: no network"))):
        verdicts = [(verdict.status, verdict.words) for verdict in plan.outcome(cells, missing).verdicts]
        assert verdicts == [first, (CANNOT, "the data are lost")]


def judge(tmp_path, claims, missing=None, quick=False, **changes):
    """Return panel, status and reason of each verdict on a study of two panels: the check holds on A and fails on B."""
    judged, cells = study(claims=claims, **changes), Cells(tmp_path)
    _, outcome = run_plan(Plan.of(paper(judged), judged, cells, quick), cells, missing)
    return [(verdict.panel, verdict.status, verdict.other_data) for verdict in outcome.verdicts]


def test_claim_overrides_the_data_of_its_study(tmp_path):
    claims = (
        Claim("on own data", ahead, other_data=""),
        Claim("on other data", ahead, other_data="drawn anew"),
        Claim("lost", cannot="the data are lost", other_data="drawn anew"),
    )
    verdicts, other = [("A", HOLDS, ""), ("B", FAILS, "")], "drawn anew"
    others = [("A", HOLDS_ELSEWHERE, other), ("B", FAILS_ELSEWHERE, other)]
    assert judge(tmp_path, claims, other_data="a sample") == [*verdicts, *others, ("", CANNOT, "")]


def test_panels_with_other_data_have_other_verdicts(tmp_path):
    claims, elsewhere = (Claim("ours is ahead", ahead),), ("A", HOLDS_ELSEWHERE, "a sample")
    assert judge(tmp_path, claims, other_data="a sample") == [elsewhere, ("B", FAILS_ELSEWHERE, "a sample")]
    verdicts = [("A", HOLDS, ""), ("B", FAILS_ELSEWHERE, "another set")]
    assert judge(tmp_path, claims, other_data={"B": "another set"}) == verdicts
    claims = (Claim("two sets", lambda panels: Evidence(len(panels) == 2, ""), across=True),)
    for other_data, verdict in (
        *((None, ("", HOLDS, "")), ({"B": "a sample"}, ("", HOLDS_ELSEWHERE, "B: a sample"))),
        ("a sample", ("", HOLDS_ELSEWHERE, "A, B: a sample")),
    ):  # across panels, if any panel has other data
        assert judge(tmp_path, claims, **({} if other_data is None else {"other_data": other_data})) == [verdict]


def test_claim_that_is_stated_once_has_one_verdict(tmp_path):
    claims = (Claim("ours is ahead everywhere", ahead, once=True),)
    assert judge(tmp_path, claims) == [("", FAILS, "")]
    assert judge(tmp_path, (Claim("always", lambda panel: Evidence(True, ""), once=True),)) == [("", HOLDS, "")]
    assert judge(tmp_path, claims, other_data={"B": "a sample"}) == [
        ("A", HOLDS, ""),
        ("B", FAILS_ELSEWHERE, "a sample"),
    ]
    assert judge(tmp_path, claims, missing={"A": "no network"}) == [("", FAILS, "")], "one panel refutes it"
    assert judge(tmp_path, claims, missing={"B": "no network"}) == [("", CANNOT, "")], "it needs all"


def test_quick_run_is_on_other_data(tmp_path):
    claims = (Claim("ours is ahead", ahead), Claim("always", lambda panel: Evidence(True, ""), other_data=""))
    verdicts = judge(tmp_path, claims, quick=True)
    assert [status for _, status, _ in verdicts] == [HOLDS_ELSEWHERE, HOLDS_ELSEWHERE]
    assert all("quick run" in reason for *_, reason in verdicts)


def test_wrong_declarations_are_refused():
    with pytest.raises(ValueError, match=r"table-1: other_data names \['C'\], but the panels are \['A', 'B'\]"):
        study(other_data={"A": "a sample", "C": "a sample"})
    with pytest.raises(ValueError, match="claim 'x' has once=True and across=True"):
        Claim("x", ahead, once=True, across=True)
    with pytest.raises(ValueError, match="claim 'x' needs either a check or the reason why it cannot be tested"):
        Claim("x")
    with pytest.raises(ValueError, match="claim 'x' needs either a check or the reason"):
        Claim("x", ahead, cannot="but why")


def test_numbers_are_rounded_as_printed():
    for value, digits, printed in (
        *((0.145, 2, 0.15), (0.14499, 2, 0.14), (-0.145, 2, -0.15)),
        *((2.5, 0, 3.0), (0.9996, 3, 1.0), (1.005, 2, 1.01)),
    ):
        assert round_as_printed(value, digits) == pytest.approx(printed, abs=1e-12)
        assert np.allclose(round_as_printed(np.array([value, 0.0]), digits), [printed, 0.0])
    assert np.isnan(round_as_printed(float("nan"), 2))
    assert np.isnan(Panel("", {("a", "b"): {0: 1.0}}).spread("a", "b"))


def test_studies_are_chosen_by_name():
    papers = {"smith-2000": paper(study(), study(name="figure-2"))}
    assert [study.name for _, study in choose_studies(papers, None, None)] == ["table-1", "figure-2"]
    assert [study.name for _, study in choose_studies(papers, "smith-2000", "figure-2")] == ["figure-2"]
    with pytest.raises(ValueError, match="no paper 'x'; there are smith-2000"):
        choose_studies(papers, "x", None)
    with pytest.raises(ValueError, match="smith-2000 has no 'table-9'; it has table-1, figure-2"):
        choose_studies(papers, "smith-2000", "table-9")
