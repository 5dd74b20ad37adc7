"""Tests of descriptions, against scipy, permutations and invariants."""

import numpy as np
import pytest
from scipy import stats

from consilience.explain import OriginalColumn, compare_clusters, compare_each_cluster, compare_survival
from consilience.explain.comparisons import adjust_holm, describe_test, format_p

pytestmark = pytest.mark.quick

RNG = np.random.default_rng(1)
LABELS = np.repeat([0, 1, 2, -1], [40, 30, 20, 5])
NUMBERS = RNG.integers(0, 12, len(LABELS)) + LABELS * 1.0
WORDS = np.array(["red", "green", "blue"], dtype=object)[np.minimum(RNG.integers(0, 3, len(LABELS)) + (LABELS > 1), 2)]


def describe(name, values, kind="number", **options):
    return OriginalColumn(name, np.asarray(values), kind, is_description=True, **options)


def test_numbers_and_categories_are_compared_as_scipy_does():
    number, category = compare_clusters(LABELS, [describe("x", NUMBERS), describe("color", WORDS, "category")]).rows()
    expected = stats.kruskal(*(NUMBERS[cluster == LABELS] for cluster in range(3)))
    assert (number["statistic"], number["p"]) == pytest.approx((expected.statistic, expected.pvalue))
    assert number["effect"] == pytest.approx(expected.statistic / 89)
    assert (number["test"], number["measure"], number["n"]) == ("Kruskal-Wallis", "epsilon squared", 90)
    placed = LABELS >= 0
    counts = stats.contingency.crosstab(LABELS[placed], WORDS[placed].astype(str)).count
    expected = stats.chi2_contingency(counts, correction=False)
    assert (category["statistic"], category["p"]) == pytest.approx((expected.statistic, expected.pvalue))
    assert category["effect"] == pytest.approx(stats.contingency.association(counts, method="cramer"))


def test_empty_cells_are_left_out():
    numbers, words = NUMBERS.copy(), WORDS.copy()
    numbers[::4], words[::4] = np.nan, None
    rest = np.arange(len(LABELS)) % 4 > 0
    partly = compare_clusters(LABELS, [describe("x", numbers), describe("c", words, "category")])
    without = compare_clusters(LABELS[rest], [describe("x", NUMBERS[rest]), describe("c", WORDS[rest], "category")])
    np.testing.assert_allclose(partly["p"], without["p"])


def test_each_cluster_is_compared_with_the_rest_as_scipy_does():
    rows = compare_each_cluster(LABELS, [describe("x", NUMBERS), describe("c", WORDS, "category")]).rows()
    placed = LABELS >= 0
    for cluster in range(3):
        inside, outside = NUMBERS[cluster == LABELS], NUMBERS[placed & (cluster != LABELS)]
        expected = stats.mannwhitneyu(inside, outside, use_continuity=False, method="asymptotic")
        assert rows[cluster]["p"] == pytest.approx(expected.pvalue)
        delta = np.mean(np.sign(inside[:, None] - outside))
        assert rows[cluster]["effect"] == pytest.approx(delta)
        counts = stats.contingency.crosstab(LABELS[placed] == cluster, WORDS[placed].astype(str)).count
        assert rows[3 + cluster]["p"] == pytest.approx(stats.chi2_contingency(counts, correction=False).pvalue)


def test_survival_is_compared_by_the_log_rank_test():
    time, event = RNG.exponential(5, len(LABELS)) * (1 + np.maximum(LABELS, 0)), RNG.random(len(LABELS)) < 0.8
    column = describe("months/event", time, event=event)
    expected = compare_survival(time, event, LABELS)
    (row,) = compare_clusters(LABELS, [column]).rows()
    assert (row["test"], row["p"]) == ("log-rank", pytest.approx(expected.pvalue))
    rows = compare_each_cluster(LABELS, [column]).rows()
    apart = [compare_survival(time, event, np.where(LABELS < 0, -1, cluster == LABELS)) for cluster in range(3)]
    assert [row["p"] for row in rows] == pytest.approx([result.pvalue for result in apart])
    assert [row["effect"] for row in rows] == pytest.approx(expected.hazard_ratios.tolist())


def test_few_entities_counts_and_events_are_compared_by_permutation():
    labels = np.repeat([0, 1], [4, 9])
    column = describe("x", RNG.permutation(13).astype(float))
    (row,) = compare_clusters(labels, [column]).rows()
    exact = stats.mannwhitneyu(column.values[:4], column.values[4:], method="exact").pvalue
    assert row["test"] == "Kruskal-Wallis (permutation)"
    assert row["p"] == pytest.approx(exact, abs=0.02)
    assert compare_each_cluster(labels, [column])["p"] == pytest.approx([exact, exact], abs=0.02)
    words = np.array(["a"] * 5 + ["b"] + ["a"] * 2 + ["b"] * 6, dtype=object)
    (row,) = compare_clusters(np.repeat([0, 1], [6, 8]), [describe("c", words, "category")]).rows()
    assert row["test"] == "chi-squared (permutation)"
    assert row["p"] == pytest.approx(stats.fisher_exact([[5, 1], [2, 6]]).pvalue, abs=0.02)
    column = describe("t/e", np.arange(20.0), event=np.arange(20) % 4 == 0)
    (row,) = compare_clusters(np.repeat([0, 1], 10), [column]).rows()
    assert row["test"] == "log-rank (permutation)"
    assert 0 < row["p"] <= 1


def test_rare_events_of_many_entities_are_compared_by_permutation():
    labels = np.repeat([0, 1, 2], [2, 1500, 1498])
    event = np.zeros(3000, dtype=bool)
    event[[0, *range(2, 3000, 100)]] = True  # one of the two entities of cluster 0: of 31 events in 3000
    column = describe("t/e", np.full(3000, 5.0), event=event)
    exact = 1 - 2969 * 2968 / (3000 * 2999)  # either of two entities has an event by chance
    apart, (row,) = compare_each_cluster(labels, [column]), compare_clusters(labels, [column]).rows()
    assert compare_survival(column.values, event, labels == 0).pvalue < 1e-8  # the chi-squared distribution is wrong
    assert apart["p"][0] == pytest.approx(exact, abs=0.015)
    assert (row["test"], row["p"]) == ("log-rank (permutation)", pytest.approx(exact, abs=0.015))


def test_pvalues_of_noise_are_uniform():
    labels = np.repeat([0, 1, 2], 12)
    rng = np.random.default_rng(3)
    columns = [describe(f"x{i}", rng.normal(size=36)) for i in range(400)]
    assert stats.kstest(compare_clusters(labels, columns)["p"], "uniform").pvalue > 0.01
    assert compare_clusters(labels, columns)["p_adjusted"].min() > 0.05


def test_columns_that_cannot_be_tested_and_sentences():
    n = len(LABELS)
    columns = [
        describe("constant", np.ones(n)),
        describe("empty", np.full(n, np.nan)),
        describe("single", np.array(["a"] * n, dtype=object), "category"),
        describe("notes", np.array(["a b"] * n, dtype=object), "text"),
        describe("t/e", np.ones(n), event=np.zeros(n, dtype=bool)),
        describe("x", NUMBERS),
    ]
    rows = compare_clusters(LABELS, columns).rows()
    assert [row["test"] for row in rows] == ["none"] * 5 + ["Kruskal-Wallis"]
    assert rows[-1]["p"] == rows[-1]["p_adjusted"]  # the others are no tests
    sentences = [describe_test(column, row) for column, row in zip(columns, rows, strict=True)]
    assert sentences[:5] == [
        *("the same value for all", "empty", "the same value for all", "texts are not tested"),
        "nothing to compare",
    ]
    row = {"n": 9, "test": "log-rank", "p": 0.002, "p_adjusted": 0.006}
    assert describe_test(columns[4], row) == "groups differ in survival (log-rank p = .002, adjusted .006)"
    row |= {"test": "chi-squared", "p": 0.5, "p_adjusted": 1.0}
    sentence = "no clear difference between groups (chi-squared p = .50, adjusted > .99)"
    assert describe_test(describe("sex", np.array(["f", "m"], dtype=object), "category"), row) == sentence
    assert format_p(float("nan")) == "not tested"
    assert compare_each_cluster(LABELS, columns)["p"].shape == (3 * 5,)  # none of the empty column
    assert compare_clusters(np.zeros(n, dtype=int), columns[-1:])["test"].tolist() == ["none"]
    clustered = OriginalColumn("price", NUMBERS, "number")  # is no description
    assert compare_clusters(LABELS, [clustered, columns[-1]])["column"].tolist() == ["x"]
    assert compare_clusters(LABELS, [clustered]).n_rows == compare_each_cluster(LABELS, [clustered]).n_rows == 0
    with pytest.raises(ValueError, match="column 'x' must have one cell per entity, shape \\(95,\\), got \\(3,\\)"):
        compare_clusters(LABELS, [describe("x", [1.0, 2.0, 3.0])])


def test_holm_adjustment_against_its_definition():
    p = RNG.random(20) ** 3
    ordered = np.sort(p)
    expected = [min(1.0, max((20 - j) * ordered[j] for j in range(i + 1))) for i in range(20)]
    np.testing.assert_allclose(np.sort(adjust_holm(p)), expected)
    assert (np.argsort(adjust_holm(p), kind="stable") != np.argsort(p, kind="stable")).mean() < 1
    np.testing.assert_equal(adjust_holm([0.02, np.nan]), [0.02, np.nan])
