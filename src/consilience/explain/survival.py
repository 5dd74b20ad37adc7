"""Survival: the share of entities without an event after a time, and whether it differs between clusters."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from scipy.special import chdtrc
from scipy.stats import CensoredData, ecdf

from .._tuning import Tuning

CONFIDENCE = 0.95  # of the bands
tuning = Tuning(max_cells=4_000_000)  # of the numbers at risk by time and cluster that are in memory at once


@dataclass(frozen=True, eq=False)
class SurvivalCurve:
    """The Kaplan-Meier estimate of the share of entities without an event.

    Attributes
    ----------
    times : ndarray of shape (n_times,)
        0, and the times at which an event happened or an entity was last observed, ascending.
    survival : ndarray of shape (n_times,)
        Share of entities without an event after each time.
    low, high : ndarray of shape (n_times,)
        The 95% confidence interval of the share, on the scale of log(-log(share)).
    at_risk : ndarray of int, shape (n_times,)
        Number of entities without an event that are observed up to each time, or longer.

    Examples
    --------
    >>> import consilience as cs
    >>> curve = cs.explain.estimate_survival([2, 3, 3, 5], [True, True, False, False])
    >>> curve.median, curve.count_at_risk([0, 3, 4]).tolist()
    (3.0, [4, 3, 1])
    """

    times: np.ndarray
    survival: np.ndarray
    low: np.ndarray
    high: np.ndarray
    at_risk: np.ndarray

    @property
    def median(self) -> float:
        """Time after which half of the entities have had the event; NaN if more than half never had it."""
        below = np.flatnonzero(self.survival <= 0.5 + 1e-12)
        return float(self.times[below[0]]) if len(below) else float("nan")

    def count_at_risk(self, times: Any) -> np.ndarray:
        """Return the number of entities at risk at any times, 0 after the last one.

        Parameters
        ----------
        times : array-like of float
            The times, in the unit of `times` of the curve.
        """
        positions = np.searchsorted(self.times, times)
        return np.append(self.at_risk, 0)[positions]


@dataclass(frozen=True, eq=False)
class SurvivalTest:
    """The log-rank test of whether survival is equal in all clusters.

    Attributes
    ----------
    statistic : float
        Follows a chi-squared distribution with `degrees` degrees of freedom if survival is equal.
    degrees : int
        Number of clusters with entities at risk, minus one.
    pvalue : float
        Probability of a statistic that large if survival is equal; NaN without events or with a single cluster.
    clusters : ndarray of int
        Numbers of the clusters.
    observed, expected, variance : ndarray of shape (n_clusters,)
        Number of events in each cluster, the number expected if survival is equal, and its variance.

    Examples
    --------
    >>> import consilience as cs
    >>> test = cs.explain.compare_survival([1, 2, 3, 7, 8, 9], [True] * 6, [0, 0, 0, 1, 1, 1])
    >>> test.degrees, round(test.statistic, 2), test.hazard_ratios.round(1).tolist()
    (1, 5.05, [4.2, 0.2])
    """

    statistic: float
    degrees: int
    pvalue: float
    clusters: np.ndarray
    observed: np.ndarray
    expected: np.ndarray
    variance: np.ndarray

    @property
    def hazard_ratios(self) -> np.ndarray:
        """Rate of events in each cluster divided by the rate in all others, relative to the expected numbers."""
        total = self.observed.sum()
        with np.errstate(divide="ignore", invalid="ignore"):
            return (self.observed / self.expected) / ((total - self.observed) / (total - self.expected))


class CheckedTimes(NamedTuple):
    """Times and events of the entities that have both."""

    rows: np.ndarray
    time: np.ndarray
    event: np.ndarray


def estimate_survival(time: Any, event: Any) -> SurvivalCurve:
    """Estimate the share of entities without an event after each time, by Kaplan and Meier's method.

    Parameters
    ----------
    time : array-like of shape (n_entities,)
        Time until the event or until the entity was last observed, 0 or more; NaN where it is not known.
    event : array-like of bool, shape (n_entities,)
        Whether the event has happened; otherwise the time is censored.

    Returns
    -------
    SurvivalCurve

    Examples
    --------
    >>> import consilience as cs
    >>> curve = cs.explain.estimate_survival([2, 3, 3, 5], [True, True, False, False])
    >>> curve.times.tolist(), curve.survival.tolist(), curve.at_risk.tolist()
    ([0.0, 2.0, 3.0, 5.0], [1.0, 0.75, 0.5, 0.5], [4, 4, 3, 1])
    """
    _, time, event = check_times(time, event)
    if not len(time):
        raise ValueError("no entity has a time: there is no survival to estimate")
    share = ecdf(CensoredData(uncensored=time[event], right=time[~event])).sf
    with warnings.catch_warnings(), np.errstate(divide="ignore", invalid="ignore"):
        warnings.simplefilter("ignore", RuntimeWarning)  # where the interval is not defined
        interval = share.confidence_interval(CONFIDENCE, method="log-log")
    times, survival = share.quantiles, share.probabilities
    # it is not defined before the first event, nor after the last entity has had one
    is_sure = survival >= 1
    low = np.where(is_sure, 1.0, np.nan_to_num(interval.low.probabilities, nan=0.0))
    high = np.where(is_sure, 1.0, interval.high.probabilities)
    for i in np.flatnonzero(np.isnan(high)).tolist():
        high[i] = high[i - 1] if i else 1.0
    at_risk = len(time) - np.searchsorted(np.sort(time), times)
    if times[0] > 0:
        times, at_risk = np.append(0.0, times), np.append(len(time), at_risk)
        survival, low, high = (np.append(1.0, shares) for shares in (survival, low, high))
    return SurvivalCurve(times.astype(np.float64), survival, low, high, at_risk)


def compare_survival(time: Any, event: Any, labels: Any) -> SurvivalTest:
    """Test whether survival is equal in all clusters, by the log-rank test for any number of clusters.

    Parameters
    ----------
    time : array-like of shape (n_entities,)
        Time until the event or until the entity was last observed, 0 or more; NaN where it is not known.
    event : array-like of bool, shape (n_entities,)
        Whether the event has happened; otherwise the time is censored.
    labels : array-like of int, shape (n_entities,)
        Clusters; entities with -1 are left out.

    Returns
    -------
    SurvivalTest

    Examples
    --------
    >>> import consilience as cs
    >>> test = cs.explain.compare_survival([1, 2, 3, 7, 8, 9], [True] * 6, [0, 0, 0, 1, 1, 1])
    >>> round(test.pvalue, 3), test.observed.tolist(), test.expected.round(2).tolist()
    (0.025, [3.0, 3.0], [1.15, 4.85])
    """
    labels = np.asarray(labels)
    if labels.shape != np.shape(time):
        raise ValueError(f"labels must have one cluster per time, shape {np.shape(time)}, got {labels.shape}")
    rows, time, event = check_times(time, event)
    is_placed = labels[rows] >= 0
    time, event = time[is_placed], event[is_placed]
    clusters, group = np.unique(labels[rows][is_placed], return_inverse=True)
    n_groups = len(clusters)
    event_times = np.unique(time[event])
    observed = np.bincount(group[event], minlength=n_groups).astype(np.float64)
    expected, covariance = np.zeros(n_groups), np.zeros((n_groups, n_groups))
    sorted_times = [np.sort(time[group == g]) for g in range(n_groups)]
    all_times, all_events = np.sort(time), np.sort(time[event])
    step = max(1, tuning.max_cells // max(n_groups, 1))
    for start in range(0, len(event_times), step):
        part = event_times[start : start + step]
        at_risk = np.stack([len(times) - np.searchsorted(times, part) for times in sorted_times], axis=1)
        n = (len(all_times) - np.searchsorted(all_times, part)).astype(np.float64)
        d = np.searchsorted(all_events, part, side="right") - np.searchsorted(all_events, part)
        share = at_risk / n[:, None]
        expected += d @ share
        weight = d * (n - d) / np.maximum(n - 1, 1)
        covariance += np.diag(weight @ share) - (share * weight[:, None]).T @ share
    difference = observed - expected
    degrees = int(np.count_nonzero(expected > 0)) - 1
    statistic, pvalue = float("nan"), float("nan")
    if degrees > 0 and covariance.any():
        statistic = float(difference @ np.linalg.pinv(covariance, hermitian=True) @ difference)
        pvalue = float(chdtrc(degrees, statistic))
    return SurvivalTest(statistic, degrees, pvalue, clusters, observed, expected, np.diag(covariance).copy())


def score_times(time: np.ndarray, event: np.ndarray) -> np.ndarray:
    """Return the log-rank score of each entity: its event minus the events expected up to its time.

    The sum over a cluster is the observed minus the expected number of events.
    """
    event_times, n_events = np.unique(time[event], return_counts=True)
    at_risk = len(time) - np.searchsorted(np.sort(time), event_times)
    hazard = np.append(0.0, np.cumsum(n_events / np.maximum(at_risk, 1)))
    return event - hazard[np.searchsorted(event_times, time, side="right")]


def check_times(time: Any, event: Any) -> CheckedTimes:
    """Return times and events of the entities with a time; refuse negative and infinite times."""
    time, event = np.asarray(time, dtype=np.float64), np.asarray(event)
    if time.ndim != 1 or event.shape != time.shape:
        raise ValueError(f"time and event must have one value per entity, got shapes {time.shape} and {event.shape}")
    if event.dtype != bool:
        raise TypeError(f"event must be True or False per entity, got {event.dtype}: compare it with a value first")
    rows = np.flatnonzero(~np.isnan(time))
    wrong = rows[(time[rows] < 0) | np.isinf(time[rows])]
    if len(wrong):
        raise ValueError(
            f"time has {time[wrong[0]]:g} in row {wrong[0] + 1} ({len(wrong)} in all): times are 0 or more"
        )
    return CheckedTimes(rows, time[rows], event[rows])
