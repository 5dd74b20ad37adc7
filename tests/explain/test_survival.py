"""Survival curves and the log-rank test, against literal loops and scipy."""

import numpy as np
import pytest
from scipy import stats

from consilience.explain import compare_survival, estimate_survival
from consilience.explain.survival import score_times

RNG = np.random.default_rng(0)
TIME = RNG.exponential(8, 120).round()  # with ties
EVENT = RNG.random(120) < 0.6
LABELS = np.repeat([0, 1, 2, 4], [50, 30, 25, 15])


def estimate_literally(time, event):
    """Multiply, time by time, the shares of the entities at risk that have no event."""
    share, shares = 1.0, []
    for t in sorted(set(time)):
        n_at_risk = sum(other >= t for other in time)
        n_events = sum(other == t and happened for other, happened in zip(time, event, strict=True))
        share *= 1 - n_events / n_at_risk
        shares.append(share)
    return shares


def compare_literally(time, event, labels):
    """Sum observed minus expected events and their covariances (Mantel and Haenszel), time by time."""
    clusters = sorted(set(labels))
    difference, covariance = np.zeros(len(clusters)), np.zeros((len(clusters), len(clusters)))
    for t in sorted({t for t, happened in zip(time, event, strict=True) if happened}):
        at_risk = np.array([sum((time >= t) & (labels == c)) for c in clusters], dtype=float)
        events = np.array([sum((time == t) & event & (labels == c)) for c in clusters], dtype=float)
        n, d = at_risk.sum(), events.sum()
        difference += events - d * at_risk / n
        if n > 1:
            for i in range(len(clusters)):
                for j in range(len(clusters)):
                    share = at_risk[i] / n * ((i == j) - at_risk[j] / n)
                    covariance[i, j] += d * (n - d) / (n - 1) * share
    reduced = difference[1:] @ np.linalg.solve(covariance[1:, 1:], difference[1:])
    return reduced, difference, np.diag(covariance)


def test_curve_is_the_product_of_the_shares_without_event():
    curve = estimate_survival(TIME, EVENT)
    start = 0 if curve.times[0] == min(TIME) else 1
    np.testing.assert_allclose(curve.survival[start:], estimate_literally(TIME, EVENT))
    assert curve.at_risk[start:].tolist() == [int((t <= TIME).sum()) for t in sorted(set(TIME))]
    assert (np.diff(curve.survival) <= 0).all()
    assert ((curve.low <= curve.survival) & (curve.survival <= curve.high)).all()
    assert not np.isnan(curve.low).any()
    assert not np.isnan(curve.high).any()


def test_interval_is_that_of_greenwood_on_the_scale_of_log_minus_log():
    curve = estimate_survival(TIME, EVENT)
    i = int(np.argmin(np.abs(curve.survival - 0.6)))
    terms = []
    for t in sorted(set(TIME[EVENT])):
        if t <= curve.times[i]:
            n, d = (t <= TIME).sum(), ((t == TIME) & EVENT).sum()
            terms.append(d / (n * (n - d)))
    share = curve.survival[i]
    width = stats.norm.isf(0.025) * np.sqrt(sum(terms)) / abs(np.log(share))
    np.testing.assert_allclose([curve.low[i], curve.high[i]], [share ** np.exp(width), share ** np.exp(-width)])


def test_all_events_and_none_and_numbers_at_risk_between_the_times():
    for event, last, median in (([True] * 4, 0.0, 2.0), ([False] * 4, 1.0, np.nan)):
        curve = estimate_survival([1, 2, 3, 4], event)
        assert curve.survival[-1] == last
        np.testing.assert_equal(curve.median, median)
        assert np.isfinite(np.concatenate([curve.low, curve.high])).all()
    curve = estimate_survival([2, 3, 3, 5], [True, True, False, False])
    assert curve.count_at_risk([0, 1, 2, 2.5, 3, 4, 5, 6]).tolist() == [4, 4, 4, 3, 3, 1, 1, 0]


def test_test_of_several_clusters_against_literal_sums():
    result = compare_survival(TIME, EVENT, LABELS)
    statistic, difference, variance = compare_literally(TIME, EVENT, LABELS)
    assert result.statistic == pytest.approx(statistic)
    assert result.pvalue == pytest.approx(stats.chi2.sf(statistic, 3))
    np.testing.assert_allclose(result.observed - result.expected, difference)
    np.testing.assert_allclose(result.variance, variance)
    assert result.clusters.tolist() == [0, 1, 2, 4]
    assert result.observed.sum() == pytest.approx(result.expected.sum())
    scores = score_times(TIME, EVENT)
    np.testing.assert_allclose([scores[cluster == LABELS].sum() for cluster in result.clusters], difference)
    first = LABELS == 1
    single = compare_survival(TIME, EVENT, first.astype(int))
    assert result.hazard_ratios[1] == pytest.approx(single.hazard_ratios[1]), "a cluster against the rest"
    samples = [stats.CensoredData(TIME[rows & EVENT], right=TIME[rows & ~EVENT]) for rows in (first, ~first)]
    expected = stats.logrank(*samples)
    assert (single.statistic, single.pvalue) == pytest.approx((expected.statistic**2, expected.pvalue))
    time, labels, rest = TIME.copy(), LABELS.copy(), np.delete(np.arange(120), [3, 7])
    time[3], labels[7] = np.nan, -1
    expected = compare_survival(TIME[rest], EVENT[rest], LABELS[rest])
    assert compare_survival(time, EVENT, labels).pvalue == pytest.approx(expected.pvalue)


def test_chunks_of_times_give_the_same_sums_and_nothing_to_compare_no_pvalue(tune):
    expected = compare_survival(TIME, EVENT, LABELS)
    tune("explain.survival", max_cells=7)
    assert compare_survival(TIME, EVENT, LABELS).statistic == pytest.approx(expected.statistic)
    assert np.isnan(compare_survival([1, 2], [False, False], [0, 1]).pvalue)
    assert np.isnan(compare_survival([1, 2], [True, True], [0, 0]).pvalue)


@pytest.mark.parametrize(
    ("time", "event", "error", "message"),
    [
        ([1, -2], [True, False], ValueError, "time has -2 in row 2 \\(1 in all\\): times are 0 or more"),
        ([1, np.inf], [True, False], ValueError, "time has inf in row 2"),
        ([1, 2], [1, 0], TypeError, "event must be True or False per entity, got int"),
        ([1, 2], [True], ValueError, "one value per entity, got shapes \\(2,\\) and \\(1,\\)"),
        ([np.nan], [True], ValueError, "no entity has a time"),
    ],
)
def test_refusals(time, event, error, message):
    with pytest.raises(error, match=message):
        estimate_survival(time, event)
