"""Constraint propagation, as published: what the studies produce, and what their claims answer."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from sklearn.metrics import adjusted_rand_score, mutual_info_score

from reproduction import eaton_2010 as eaton
from reproduction.eaton_2010 import COUNTS, DIRECT, MEMBERSHIP, METHODS, PAPER, PROPAGATION, SHARES, SINGLE
from reproduction.engine import Panel, Untestable

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


def test_studies_give_finite_scores(produced):
    for name, scores in produced.items():
        assert scores, name
        assert np.isfinite([score.value for score in scores]).all(), name


def test_cells_are_unique(produced):
    for name, scores in produced.items():
        assert len({(score.row, score.column) for score in scores}) == len(scores), name


def test_learning_curves_are_complete(produced):
    assert [score[:2] for score in produced["figure-4"]] == [(m, n) for n in CURVE for m in METHODS]


def test_published_numbers_match_our_cells(produced):
    assert PAPER.published
    for name, panel, row, column in PAPER.published:
        assert panel in {settings["panel"] for settings in PAPER.study(name).settings}
        assert (row, column) in {score[:2] for score in produced[name]}


def test_full_run_has_all_available_panels():
    panels = {settings["panel"] for settings in PAPER.study("figure-4").settings}
    assert len(panels) == 3 * 2 * len(SHARES)
    assert all(settings.get("data") in (None, "letters", "newsgroups") for settings in PAPER.study("figure-4").settings)


def test_quick_settings_use_shipped_data():
    for study in PAPER.studies:
        assert {settings.get("data", "shipped-digits") for settings in study.quick} <= {"shipped-digits", "word-senses"}


@pytest.mark.parametrize(("data", "sizes"), [("shipped-digits", (228, 318)), ("word-senses", (100, 100))])
def test_sides_are_mapped_within_their_classes(data, sizes):
    sides = eaton.make_sides(data, trial=1)
    assert tuple(map(len, sides.rows)) == tuple(map(len, sides.classes)) == sizes
    assert all(X.shape[1] == 5 for X in sides.rows)
    a, b = sides.pairs.T
    np.testing.assert_array_equal(sides.classes[0][a], sides.classes[1][b])
    assert len(np.unique(a)) == len(np.unique(b)) == len(a) == min(sizes)


@pytest.mark.parametrize("mapped", SHARES)
def test_task_has_its_mapped_share_and_true_constraints(mapped):
    task = eaton.make_task(eaton.make_sides("", trial=0), mapped, 10, trial=0)
    assert task.views.present.all(axis=1).sum() == mapped
    assert task.views.present.sum(axis=0).tolist() == [100, 100]
    for v, constraints in enumerate(task.constraints.values()):
        class_of = dict(zip(task.views.rows[:, v].tolist(), task.y.tolist(), strict=True))
        assert [class_of[i] == class_of[j] for i, j in constraints.must_link.tolist()] == [True] * 5
        assert [class_of[i] == class_of[j] for i, j in constraints.cannot_link.tolist()] == [False] * 5


def test_informative_columns_have_largest_mutual_information():
    rng = np.random.default_rng(0)
    y = np.repeat([0, 1], 40)
    X = (rng.random((80, 30)) < np.where(y[:, None] == 1, rng.random(30), 0.3)).astype(float)
    X[:, 7] = 0  # a word that never occurs
    gain = [mutual_info_score(y, column) for column in X.T]
    assert set(eaton.select_informative_columns(X, y, 5).tolist()) == set(np.argsort(gain)[-5:].tolist())


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
    (first, *_) = PAPER.study("figure-4").quick
    curves = {score[:2]: score.value for score in produced["figure-4"]}
    ratios = [curves[PROPAGATION, n] / curves[DIRECT, n] for n in CURVE]
    gains = {score[:2]: score.value for score in scores_of(PAPER.study("figure-5"), {**first, "trials": 1})}
    column = f"{first['mapped']}%"
    assert gains["average gain", column] == pytest.approx(100 * (np.mean(ratios) - 1))
    assert gains["peak gain", column] == pytest.approx(100 * (max(ratios) - 1))


@pytest.mark.parametrize(("ours", "others", "holds"), [(0.9, 0.8, True), (0.8, 0.9, False)])
def test_claims_on_figure_4_compare_means(ours, others, holds):
    rows = {PROPAGATION: flat(ours), DIRECT: flat(others), MEMBERSHIP: flat(others), SINGLE: flat(others)}
    single, membership, significant, _ = get_study_checks("figure-4")
    for check in (single, membership, significant):
        assert check(panel_of(rows)).holds == holds


def test_one_number_of_constraints_refutes_the_claim():
    rows = {PROPAGATION: flat(0.9), SINGLE: [0.8, 0.8, 0.95, 0.8, 0.8]}
    holds, words = get_study_checks("figure-4")[0](panel_of(rows))
    assert not holds
    assert words.startswith("at 4 of 5 numbers of constraints: propagation .900")


def test_two_perfect_methods_count_as_above():
    rows = {PROPAGATION: [0.9, 0.9, 0.9, 0.996, 0.998], SINGLE: [0.8, 0.8, 0.8, 0.998, 0.998]}
    assert get_study_checks("figure-4")[0](panel_of(rows)).holds


@pytest.mark.parametrize(("name", "holds"), [("Letters/Digits, PCK-Means", True), ("Rec/Talk, PCK-Means", False)])
def test_few_constraints_are_ignored_on_letters_and_digits_only(name, holds):
    rows = {PROPAGATION: [0.5, 0.5, 0.8, 0.9, 0.9], MEMBERSHIP: flat(0.7)}
    assert get_study_checks("figure-4")[1](panel_of(rows, name=name)).holds == holds


@pytest.mark.parametrize(("values", "holds"), [((0.7, 0.8, 0.9), True), ((0.7, 0.9, 0.8), False)])
def test_curves_must_rise_with_the_mapping(values, holds):
    check = get_study_checks("figure-4")[3]
    of = dict(zip(SHARES, values, strict=True))
    panels = [
        panel_of({PROPAGATION: flat(value), DIRECT: flat(value - 0.1)}, name=setting["panel"])
        for setting in PAPER.study("figure-4").settings
        for value in [of[setting["mapped"]]]
    ]
    assert check(panels).holds == holds
    with pytest.raises(Untestable, match="data sets that were not run: Rec/Talk, MPCK-Means, 100% mapped"):
        check(panels[:-1])


@pytest.mark.parametrize(
    ("average", "peak", "expected"),
    [
        ([5.0, 22.0, 34.0, 20.3], 40.0, [True, True, True]),
        ([-1.0, 10.0, 15.0, 8.0], 20.0, [False, False, False]),
        ([25.0, 35.0, 45.0, 35.0], 29.0, [True, False, False]),
    ],
)
def test_gains_are_compared_with_the_printed_ones(average, peak, expected):
    columns = ("20%", "50%", "100%", "all")
    panel = panel_of({"average gain": average, "peak gain": [peak] * 4}, columns)
    assert [check(panel).holds for check in get_study_checks("four-quadrants-gain")] == expected


def test_gains_of_figure_5_with_complete_mapping():
    columns = ("20%", "50%", "100%")
    good, bad = (panel_of({"average gain": [3.0, 2.0, last]}, columns) for last in (1.0, -1.0))
    assert [check(good).holds for check in get_study_checks("figure-5")] == [True, True]
    assert [check(bad).holds for check in get_study_checks("figure-5")] == [False, False]


def test_amounts_must_be_linear_and_grow():
    counts = np.array(COUNTS, float)
    good = panel_of({f"{share}% mapped": counts * share for share in SHARES})
    bad = panel_of({"20% mapped": counts, "50% mapped": np.sqrt(np.sqrt(counts)), "100% mapped": counts})
    assert [check(good).holds for check in get_study_checks("figure-6")] == [True, True]
    assert [check(bad).holds for check in get_study_checks("figure-6")] == [False, False]


def test_precision_claims():
    good = panel_of({"must-links": flat(0.98), "cannot-links": flat(0.99)})
    bad = panel_of({"must-links": flat(0.97), "cannot-links": flat(0.93)})
    assert [check(good).holds for check in get_study_checks("figure-7")] == [True, True]
    assert [check(bad).holds for check in get_study_checks("figure-7")] == [False, False]


def test_perfect_precision_is_untestable():
    values = {(row, n): {0: 1.0} for row in ("must-links", "cannot-links") for n in CURVE}
    with pytest.raises(Untestable, match="all constraints of both kinds are right"):
        get_study_checks("figure-7")[1](Panel("", values))


def test_threshold_claims():
    columns = tuple(map(str, eaton.THRESHOLDS))
    chosen = f"{PROPAGATION}, cross-validated"

    def panel(low, high, auto):
        ours = [low, *[0.9] * (len(columns) - 2), high]
        return panel_of({PROPAGATION: ours, chosen: [auto] * len(columns), DIRECT: [0.7] * len(columns)}, columns)

    assert [check(panel(0.8, 0.7, 0.9)).holds for check in get_study_checks("threshold")] == [True, True, True]
    assert [check(panel(0.95, 0.8, 0.8)).holds for check in get_study_checks("threshold")] == [False, False, False]


@pytest.mark.parametrize(("from_farthest", "holds"), [(0.75, True), (0.88, False)])
def test_gain_must_not_depend_on_the_start(from_farthest, holds):
    rows = {
        f"{PROPAGATION}, largest neighbourhoods": flat(0.9),
        f"{DIRECT}, largest neighbourhoods": flat(0.75),
        f"{PROPAGATION}, farthest first": flat(0.9),
        f"{DIRECT}, farthest first": flat(from_farthest),
    }
    (check,) = get_study_checks("start")
    panels = [panel_of(rows, name=f"{share}% mapped") for share in SHARES]
    assert check(panels).holds == holds
    with pytest.raises(Untestable, match="data sets that were not run: 100% mapped"):
        check(panels[:2])


def test_three_trials_are_too_few_for_significance():
    rows = {PROPAGATION: flat(0.9), DIRECT: flat(0.7), MEMBERSHIP: flat(0.7)}
    with pytest.raises(Untestable, match="needs 5 runs, there are 3"):
        get_study_checks("figure-4")[2](panel_of(rows, runs=3))


@pytest.mark.parametrize(("exchanged", "holds"), [(0.62, True), (0.75, False)])
def test_curves_must_not_depend_on_the_order_of_views(exchanged, holds):
    for check, method in zip(get_study_checks("order-of-views"), (MEMBERSHIP, PROPAGATION), strict=True):
        rows = {f"{method}, letters first": [0.6] * 3, f"{method}, digits first": [exchanged] * 3}
        evidence = check(panel_of(rows, tuple(map(str, eaton.ORDER_COUNTS))))
        assert evidence.holds == holds
        assert evidence.words.startswith("letters first .600 .600 .600; digits first")


def test_reordered_views_keep_rows_and_constraints(produced):
    task = eaton.make_task(eaton.make_sides("shipped-digits", trial=0), 50, 10, trial=0)
    exchanged = task._replace(views=task.views[["b", "a"]])
    score = eaton.compute_pairwise_f(eaton.cluster_task(exchanged, "pck", 0, MEMBERSHIP), task.y)
    kept = {score[:2]: score.value for score in produced["order-of-views"]}
    assert kept[f"{MEMBERSHIP}, 3, 8 and 9 first", "10"] == score
    alone = [eaton.cluster_task(variant, "pck", 0, SINGLE).view_labels_ for variant in (task, exchanged)]
    for name in "ab":  # nothing is handed on, so that the order cannot matter
        assert adjusted_rand_score(alone[0][name], alone[1][name]) == 1
