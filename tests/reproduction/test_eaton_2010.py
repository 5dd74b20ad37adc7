"""Constraint propagation, as published: what the studies produce, and what their claims answer."""

from __future__ import annotations

import warnings
from string import ascii_uppercase
from types import SimpleNamespace

import numpy as np
import pytest
from sklearn.metrics import adjusted_rand_score

from reproduction import eaton_2010 as eaton
from reproduction.eaton_2010 import COUNTS, DIRECT, MEMBERSHIP, METHODS, PAPER, PROPAGATION, SHARES, SINGLE
from reproduction.engine import Panel, Untestable
from reproduction.engine.plan import list_datasets

CURVE = tuple(map(str, COUNTS))


def scores_of(study, settings):
    arguments = {name: value for name, value in settings.items() if name not in ("panel", "runs")}
    if "trials" in arguments:
        arguments["trials"] = 1
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # some trials never settle
        return list(study.work(run=0, **arguments))


@pytest.fixture(scope="module")
def produced():
    """One quick unit of every study, by the study's name."""
    return {study.name: scores_of(study, study.quick[0]) for study in PAPER.studies}


def panel_of(rows, columns=CURVE, name="Four Quadrants, PCK-Means, 50% mapped", runs=5):
    """A table whose runs differ a little around the values of each row."""
    noise = np.random.default_rng(0).normal(scale=1e-4, size=(len(rows), len(columns), runs))
    values = {
        (row, column): {run: curve[c] + noise[r, c, run] for run in range(runs)}
        for r, (row, curve) in enumerate(rows.items())
        for c, column in enumerate(columns)
    }
    return Panel(name, values)


def flat(value):
    return [value] * len(COUNTS)


def get_study_checks(study):
    return [claim.check for claim in PAPER.study(study).claims if claim.check]


def test_studies_give_finite_scores_for_all_cells(produced):
    for name, scores in produced.items():
        assert scores, name
        assert np.isfinite([score.value for score in scores]).all(), name
        assert len({(score.row, score.column) for score in scores}) == len(scores), name
    assert [score[:2] for score in produced["figure-4"]] == [(m, n) for n in CURVE for m in METHODS]
    assert PAPER.published
    for name, panel, row, column in PAPER.published:
        assert panel in {settings["panel"] for settings in PAPER.study(name).settings}
        assert (row, column) in {score[:2] for score in produced[name]}


def test_full_run_has_all_panels_with_the_papers_own_data_and_a_quick_one_shipped_data():
    panels = {settings["panel"] for settings in PAPER.study("figure-4").settings}
    assert len(panels) == 3 * 2 * len(SHARES)
    units = [unit for study in PAPER.studies for unit in study.units(PAPER.name)]
    assert list_datasets(units) == ["letters", "pendigits", "newsgroups"]
    for study in PAPER.studies:
        assert not study.other_data
        several = len({settings["panel"] for settings in study.settings}) > 1
        assert all(claim.once or claim.across or not claim.check for claim in study.claims) or not several, study.name
        assert {settings.get("data", "shipped-digits") for settings in study.quick} <= {"shipped-digits", "word-senses"}


def test_sides_are_mapped_within_their_classes():
    for data, sizes in (("shipped-digits", (228, 318)), ("word-senses", (100, 100))):
        sides = eaton.make_sides(data, trial=1)
        assert tuple(map(len, sides.rows)) == tuple(map(len, sides.classes)) == sizes
        assert all(X.shape[1] == 5 for X in sides.rows)
        assert all(X.shape[1] > 5 for X in eaton.make_sides(data, trial=1, embed=False).rows)
        a, b = sides.pairs.T
        np.testing.assert_array_equal(sides.classes[0][a], sides.classes[1][b])
        assert len(np.unique(a)) == len(np.unique(b)) == len(a) == min(sizes)


def test_task_has_its_mapped_share_and_true_constraints():
    for mapped in SHARES:
        task = eaton.make_task(eaton.make_sides("", trial=0), mapped, 10, trial=0)
        assert task.views.present.all(axis=1).sum() == mapped
        assert task.views.present.sum(axis=0).tolist() == [100, 100]
        for v, constraints in enumerate(task.constraints.values()):
            class_of = dict(zip(task.views.rows[:, v].tolist(), task.y.tolist(), strict=True))
            assert [class_of[i] == class_of[j] for i, j in constraints.must_link.tolist()] == [True] * 5
            assert [class_of[i] == class_of[j] for i, j in constraints.cannot_link.tolist()] == [False] * 5


def test_frequent_words_follow_rule_of_weka():
    rng = np.random.default_rng(0)
    counts, y = rng.poisson(rng.gamma(0.5, size=40), (30, 40)).astype(float), np.repeat([0, 1], 15)
    counts[:, 7] = 0  # a word that never occurs
    kept = set()
    for class_code in (0, 1):
        occurrences = {}
        for document in counts[y == class_code]:
            for word, n in enumerate(document):
                occurrences[word] = occurrences.get(word, 0) + n
        least = sorted(occurrences.values())[-6]
        kept |= {word for word, n in occurrences.items() if n >= max(least, 1)}
    assert eaton.select_frequent_words(counts, y, 6).tolist() == sorted(kept)
    assert 6 <= len(kept) <= 14  # of two classes, with ties
    assert 7 not in eaton.select_frequent_words(counts, y, 40)


def test_letters_and_digits_are_tenths_of_their_classes(monkeypatch):
    rng = np.random.default_rng(0)
    sets = {
        "letters": SimpleNamespace(
            views={"features": rng.normal(size=(2600, 16))},
            target=np.repeat(np.arange(26), 100),
            target_names=tuple(ascii_uppercase),
        ),
        "pendigits": SimpleNamespace(
            views={"strokes": rng.normal(size=(1500, 16))}, target=np.repeat(np.arange(10), 150)
        ),
    }
    monkeypatch.setattr(eaton, "load_dataset", sets.get)
    sides = eaton.make_sides(eaton.LETTERS_DIGITS, trial=0, embed=False)
    for X, y, source, view, classes in zip(
        sides.rows, sides.classes, sets.values(), ("features", "strokes"), ((8, 9, 11), (3, 8, 9)), strict=True
    ):
        rows = [np.flatnonzero((source.views[view] == row).all(axis=1))[0] for row in X]
        assert len(set(rows)) == len(rows)
        assert [classes[i] for i in y] == source.target[rows].tolist()
    assert [np.bincount(y).tolist() for y in sides.classes] == [[76] * 3, [106] * 3]


def test_figure_4_is_the_mean_pairwise_f_of_both_views(produced):
    sides = eaton.make_sides("", trial=0)
    settings = PAPER.study("figure-4").quick[0]
    task = eaton.make_task(sides, settings["mapped"], 20, trial=0)
    labels = eaton.cluster_task(task, settings["base"], 0).view_labels_
    scores = []
    for view_labels in labels.values():
        y, label = task.y[view_labels >= 0], view_labels[view_labels >= 0]
        i, j = np.triu_indices(len(y), 1)
        same, together = y[i] == y[j], label[i] == label[j]
        precision, recall = (same & together).sum() / together.sum(), (same & together).sum() / same.sum()
        scores.append(2 * precision * recall / (precision + recall))
    kept = {score[:2]: score.value for score in produced["figure-4"]}
    assert kept[PROPAGATION, "20"] == pytest.approx(np.mean(scores))


def test_gains_match_the_curves_of_figure_4(produced):
    curves = {score[:2]: score.value for score in produced["figure-4"]}
    mapped = PAPER.study("figure-4").quick[0]["mapped"]
    gains = {score[:2]: score.value for score in produced["four-quadrants-gain"]}
    ratios = [curves[PROPAGATION, n] / curves[DIRECT, n] for n in CURVE]
    assert [gains[f"{mapped}% mapped", n] for n in CURVE] == pytest.approx([100 * (ratio - 1) for ratio in ratios])
    assert gains[f"{mapped}% mapped", "average"] == pytest.approx(100 * (np.mean(ratios) - 1))
    averages = [gains[f"{share}% mapped", "average"] for share in SHARES]
    assert gains["all", "average"] == pytest.approx(np.mean(averages))


def test_rounds_are_those_of_the_model_and_precision_of_nothing_is_left_out(produced, monkeypatch):
    task = eaton.make_task(eaton.make_sides("", trial=0), 100, 4, trial=0)
    model = eaton.cluster_task(task, "pck", 0)
    scores = {score[:2]: score.value for score in produced["iterations"]}
    assert scores["rounds", "4"] == model.n_iter_ == len(model.history_["round"])
    assert scores["converged in 10 rounds", "4"] == (model.converged_ and model.n_iter_ <= 10)
    pairs = iter([(1.0, np.nan), (0.5, np.nan)] * len(COUNTS))
    monkeypatch.setattr(eaton.Constraints, "precision", lambda *_: next(pairs))
    assert list(eaton.score_precision(0, "pck", 20)) == [("must-links, 20% mapped", n, 0.75) for n in CURVE]


def test_claims_on_figure_4_compare_means():
    for ours, others, holds in ((0.9, 0.8, True), (0.8, 0.9, False)):
        rows = {PROPAGATION: flat(ours), DIRECT: flat(others), MEMBERSHIP: flat(others), SINGLE: flat(others)}
        for check in get_study_checks("figure-4")[:4]:
            assert check(panel_of(rows)).holds == holds
    check = get_study_checks("figure-4")[0]
    holds, words = check(panel_of({PROPAGATION: flat(0.9), SINGLE: [0.8, 0.8, 0.95, 0.8, 0.8]}))
    assert not holds
    assert words == "+0.070, lower at 1 of 5"
    # curves may touch, but must differ on average
    assert check(panel_of({PROPAGATION: [0.501, 0.9, 0.9, 1.0, 1.0], SINGLE: [0.503, 0.8, 0.8, 1.0, 1.0]})).holds
    assert not check(panel_of({PROPAGATION: flat(0.901), SINGLE: flat(0.903)})).holds


def test_curves_must_rise_with_the_mapping():
    check = get_study_checks("figure-4")[5]
    for values, holds in (((0.7, 0.8, 0.9), True), ((0.7, 0.9, 0.8), False)):
        of = dict(zip(SHARES, values, strict=True))
        panels = [
            panel_of({PROPAGATION: flat(value), DIRECT: flat(value - 0.1)}, name=setting["panel"])
            for setting in PAPER.study("figure-4").settings
            for value in [of[setting["mapped"]]]
        ]
        assert check(panels).holds == holds
    with pytest.raises(Untestable, match="data sets that were not run: Rec/Talk, MPCK-Means, 100% mapped"):
        check(panels[:-1])


def precisions(must, cannot, /, **half):
    """Precisions of both kinds, which may be others with half of the entities mapped."""
    rows = {f"must-links, {share}% mapped": flat(must) for share in SHARES}
    rows |= {f"cannot-links, {share}% mapped": flat(cannot) for share in SHARES}
    return panel_of(rows | {f"{kind}-links, 50% mapped": flat(value) for kind, value in half.items()})


def thresholds(low, high, auto):
    columns = tuple(map(str, eaton.THRESHOLDS))
    rows = {PROPAGATION: [low, *[0.9] * (len(columns) - 2), high], DIRECT: [0.7] * len(columns)}
    return panel_of(rows | {f"{PROPAGATION}, cross-validated": [auto] * len(columns)}, columns)


def gains(gain):
    rows = {f"{share}% mapped": [gain] * 5 + [99.0] for share in SHARES}
    return panel_of({**rows, "all": [gain] * 6}, (*CURVE, "average"))


def starts(from_farthest):
    rows = {f"{PROPAGATION}, largest neighbourhoods": flat(0.9), f"{DIRECT}, largest neighbourhoods": flat(0.75)}
    rows |= {f"{PROPAGATION}, farthest first": flat(0.9), f"{DIRECT}, farthest first": flat(from_farthest)}
    return [panel_of(rows, name=f"{share}% mapped") for share in SHARES]


def orders(exchanged):
    rows = {f"{method}, letters first": [0.6] * 3 for method in (MEMBERSHIP, PROPAGATION)}
    rows |= {f"{method}, digits first": [exchanged] * 3 for method in (MEMBERSHIP, PROPAGATION)}
    return panel_of(rows, tuple(map(str, eaton.ORDER_COUNTS)))


LINEAR = {f"{share}% mapped": np.array(COUNTS, float) * share for share in SHARES}
SUBLINEAR = {"20% mapped": np.array(COUNTS, float), "50% mapped": np.array(COUNTS) ** 0.25}


@pytest.mark.parametrize(
    ("study", "table", "expected"),
    [
        ("four-quadrants-gain", gains(21.3), [True, False]),
        ("four-quadrants-gain", gains(15.0), [False, False]),
        ("four-quadrants-gain", gains(30.4), [False, False]),
        ("four-quadrants-gain", gains(31.0), [False, True]),
        ("figure-6", panel_of(LINEAR), [True, True]),
        ("figure-6", panel_of(SUBLINEAR | {"100% mapped": np.array(COUNTS, float)}), [False, False]),
        ("figure-7", precisions(0.976, 0.99, must=0.97, cannot=0.99), [True, True, True]),  # rounds to 98%
        ("figure-7", precisions(0.97, 0.93, must=0.94, cannot=0.93), [False, False, False]),
        ("figure-7", precisions(0.99, 1.0, must=1.0, cannot=0.96), [True, False, True]),
        ("figure-7", precisions(0.999, 0.998), [True, True, True]),  # perfect kinds are not compared
        ("figure-7", precisions(0.99, 0.98), [True, True, False]),
        ("iterations", panel_of({"rounds": flat(4.0), "converged in 10 rounds": flat(0.96)}), [True]),
        ("iterations", panel_of({"rounds": flat(4.0), "converged in 10 rounds": flat(0.8)}), [False]),
        ("embedding", panel_of({"spectral features": flat(0.7), "original features": flat(0.6)}), [True]),
        ("embedding", panel_of({"spectral features": flat(0.7), "original features": flat(0.8)}), [False]),
        ("threshold", thresholds(0.8, 0.7, 0.9), [True, True, True]),
        ("threshold", thresholds(0.95, 0.8, 0.8), [False, False, False]),
        ("start", starts(0.75), [True]),
        ("start", starts(0.88), [False]),
        ("order-of-views", orders(0.62), [True, True]),
        ("order-of-views", orders(0.75), [False, False]),
    ],
)
def test_claims_hold_and_fail(study, table, expected):
    assert [check(table).holds for check in get_study_checks(study)] == expected


def test_words_of_claims_and_what_cannot_be_tested():
    for check in get_study_checks("order-of-views"):
        assert check(orders(0.62)).words.startswith("letters first .600 .600 .600; digits first")
    with pytest.raises(Untestable, match="there is no number for 'must-links, 20% mapped'"):
        get_study_checks("figure-7")[1](panel_of({"cannot-links, 20% mapped": flat(1.0)}))
    with pytest.raises(Untestable, match="data sets that were not run: 100% mapped"):
        get_study_checks("start")[0](starts(0.75)[:2])
    rows = {PROPAGATION: flat(0.9), DIRECT: flat(0.7), MEMBERSHIP: flat(0.7)}
    with pytest.raises(Untestable, match="needs 5 runs, there are 3"):
        get_study_checks("figure-4")[2](panel_of(rows, runs=3))
    rows = {PROPAGATION: [0.5, 0.5, 0.8, 0.9, 0.9], MEMBERSHIP: flat(0.7)}  # few constraints do not count on letters
    for name, holds in (("Letters/Digits, PCK-Means", True), ("Rec/Talk, PCK-Means", False)):
        assert get_study_checks("figure-4")[1](panel_of(rows, name=name)).holds == holds


def test_gain_with_complete_mapping_is_needed_on_all_data_sets():
    names = [settings["panel"] for settings in PAPER.study("figure-4").settings]
    panels = [panel_of({PROPAGATION: flat(0.9), DIRECT: flat(0.8)}, name=name) for name in names[:-1]]
    for direct, holds in ((0.8, True), (0.92, False)):
        last = panel_of({PROPAGATION: flat(0.9), DIRECT: flat(direct)}, name=names[-1])
        evidence = get_study_checks("figure-4")[4]([*panels, last])
        assert evidence.holds == holds
        assert evidence.words.startswith("Four Quadrants, PCK-Means +12.5% on average, +12.5% at most; ")
        assert evidence.words.count(";") == 5


def test_reordered_views_keep_rows_and_constraints(produced):
    task = eaton.make_task(eaton.make_sides("shipped-digits", trial=0), 50, 10, trial=0)
    exchanged = task._replace(views=task.views[["b", "a"]])
    score = eaton.compute_pairwise_f(eaton.cluster_task(exchanged, "pck", 0, MEMBERSHIP), task.y)
    kept = {score[:2]: score.value for score in produced["order-of-views"]}
    assert kept[f"{MEMBERSHIP}, 3, 8 and 9 first", "10"] == score
    alone = [eaton.cluster_task(variant, "pck", 0, SINGLE).view_labels_ for variant in (task, exchanged)]
    for name in "ab":  # nothing is handed on, so that the order cannot matter
        assert adjusted_rand_score(alone[0][name], alone[1][name]) == 1
