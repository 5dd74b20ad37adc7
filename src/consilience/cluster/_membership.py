"""Probabilities of clusters, and entities that no cluster predicts well."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
from scipy.optimize import minimize_scalar
from scipy.special import logsumexp, softmax
from sklearn.utils import ClassifierTags
from sklearn.utils._param_validation import Interval, StrOptions, validate_params
from sklearn.utils.validation import check_is_fitted

from .._backend import generator
from ..data import Views
from ._halves import Data, clone_quietly, match_clusters, split_entities
from ._shared import RANDOM_STATE, known_views

OUTLIERS = [Interval(Real, 0, 0.5, closed="neither"), StrOptions({"auto"}), None]  # what the parameter takes
LEAST_PER_CLUSTER = 4  # entities per cluster without which halves cannot be clustered
ATTEMPTS = 3  # divisions that are tried if a half cannot be clustered
TEMPERATURE_RANGE = 100.0  # a calibrated temperature is at most this many times the reference, or smaller
FAR = 3.5  # robust standard deviations beyond which an entity counts as an outlier
UPPER = 0.85  # quantile whose distance from the median measures the spread of the poorly predicted half
UPPER_DEVIATIONS = 1.0364  # standard deviations from the median to that quantile, of normal numbers
LEAST_DEVIATION = 0.01  # of a logarithm of distances that hardly varies, such as one of many duplicates
LEAST_RATIO = 1e-6  # of a distance to its usual size, below which logarithms are cut off
DISTANCE_LIMIT = 3.0  # of the gap between squared distances, in units of the usual squared distance
LEAST_UNIT = 1e-3  # of the mean distance to all clusters: entities that lie this near to their cluster lie in it
FEW_MEMBERS = 10  # entities of the average cluster that are added to each cluster when its spread is estimated
N_QUANTILES = 1_001  # of the scores of the fit


@dataclass(frozen=True, eq=False)
class ClusterScores:
    """How well each cluster suits entities, in units that do not depend on the data's."""

    scores: np.ndarray  # (n, k), 0 for the best cluster of each row, below 0 for others
    labels: np.ndarray  # (n,), what `predict` says
    is_known: np.ndarray  # (n,), whether the entity has a view
    shares: np.ndarray | None = None  # (k,), the probabilities of an entity that has no view, if not all alike


class MembershipMixin:
    """Adds `predict_proba` and `calibrate` to an estimator that can score clusters."""

    _reference_temperature: ClassVar[float]

    def _score_clusters(self, views: Views) -> ClusterScores:
        """Score the clusters of entities."""
        raise NotImplementedError

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()  # type: ignore[misc]
        tags.classifier_tags = ClassifierTags()  # required by scikit-learn's checks of predict_proba on sparse rows
        return tags

    def predict_proba(self, X: Any) -> np.ndarray:
        """Probability of each cluster for each entity.

        It is the probability that a model that was fitted to other entities of the same kind puts the entity into this
        cluster, after `calibrate`; before, a guess with the temperature that suits typical data. It is not the
        probability that the cluster is right: a wrong division that every fit repeats has high probabilities.

        Parameters
        ----------
        X : Views, mapping or sequence of blocks, or array-like
            Entities with any of the fitted views.

        Returns
        -------
        ndarray of shape (n_entities, n_clusters)
            Probabilities that add up to 1 per entity. The largest is that of the cluster that `predict` chooses.
        """
        views = known_views(self, X)
        return compute_probabilities(
            self._score_clusters(views), getattr(self, "temperature_", self._reference_temperature)
        )

    @validate_params(
        {
            "max_entities": [Interval(Integral, 10, None, closed="left")],
            "random_state": RANDOM_STATE,
        },
        prefer_skip_nested_validation=True,
    )
    def calibrate(self, X: Any, *, max_entities: int = 5_000, random_state: Any = 0) -> Any:
        """Set `temperature_` so that probabilities are those of entities that a fit has not seen.

        Two clones are fitted to disjoint random halves of the entities. Each scores the half that it has not seen, its
        clusters are matched one to one with those of `labels_` by the entities that it was fitted to, and the
        temperature is the one that makes `labels_` most likely. It takes about as long as one fit. `labels_` and
        `predict` do not change. Entities labelled -1 do not count, and constraints of the fit are not used.

        Parameters
        ----------
        X : Views, mapping or sequence of blocks, or array-like
            The data of the fit, in the same order.
        max_entities : int, default=5000
            If there are more entities, a random sample of this size is used, which bounds the cost.
        random_state : int, Generator, RandomState or None, default=0
            Seed of the sample, the halves and the fits.

        Returns
        -------
        self
            The estimator.
        """
        check_is_fitted(self)
        views = known_views(self, X)
        labels = np.asarray(self.labels_)  # type: ignore[attr-defined]
        check_calibration(labels, len(views))
        n_clusters = int(self.n_clusters)  # type: ignore[attr-defined]
        if n_clusters == 1:
            return self
        scores, targets = score_halves(self, views, labels, n_clusters, max_entities, generator(random_state))
        self.temperature_ = find_temperature(scores, targets, self._reference_temperature)
        return self


class OutlierLabelsMixin:
    """Adds labels of outliers, `assign_outliers` and `score_outliers` to an estimator.

    A fit measures one or more quantities per entity that grow with how poorly its cluster predicts it. Each is
    standardised by its median and the distance from there to an upper quantile, and the largest is the entity's score:
    an entity may stand out in any of them.
    """

    outliers: Any

    def _measure_misfit(self, views: Views) -> list[np.ndarray]:
        """Measure how poorly their clusters predict entities, (n,) each."""
        raise NotImplementedError

    def _mark_outliers(self, quantities: Sequence[np.ndarray], least: Sequence[float] = (LEAST_DEVIATION,)) -> None:
        """Store the scores of the entities of the fit, and label outliers; `least` has the least deviation of each."""
        scales = [measure_scale(values, deviation) for values, deviation in zip(quantities, least, strict=False)]
        self._misfit_scales = np.array(scales)
        self.outlier_scores_ = standardize(quantities, self._misfit_scales)
        self._outlier_quantiles = summarize(self.outlier_scores_)
        rows = choose_outliers(self.outlier_scores_, self.outliers)
        labels = np.asarray(self.labels_)  # type: ignore[has-type]
        self._unassigned = np.stack([rows, labels[rows]])
        if len(rows):
            self.labels_ = labels.copy()
            self.labels_[rows] = -1

    def assign_outliers(self) -> Any:
        """Put the outliers into the clusters that predict them best: `labels_` no longer contains -1.

        Returns
        -------
        self
            The estimator.
        """
        check_is_fitted(self)
        rows, labels = getattr(self, "_unassigned", np.empty((2, 0), np.int64))
        self.labels_ = np.array(self.labels_)
        self.labels_[rows] = labels
        self._unassigned = np.empty((2, 0), np.int64)
        return self

    def score_outliers(self, X: Any) -> np.ndarray:
        """Share of the entities of the fit that their cluster predicts at least as poorly as each of these.

        Parameters
        ----------
        X : Views, mapping or sequence of blocks, or array-like
            Entities with any of the fitted views.

        Returns
        -------
        ndarray of shape (n_entities,)
            From 1, typical, to 0, predicted worse than every entity of the fit. Entities up to 0.01 fit no cluster.
        """
        views = known_views(self, X)
        if not hasattr(self, "_outlier_quantiles"):
            raise ValueError("this model was saved before it could score outliers: fit it again")
        scores = standardize(self._measure_misfit(views), self._misfit_scales)
        n_smaller = np.searchsorted(self._outlier_quantiles, scores, side="left")
        return 1 - n_smaller / len(self._outlier_quantiles)


def compute_probabilities(scored: ClusterScores, temperature: float) -> np.ndarray:
    """Return the probability of each cluster, of which the largest is that of the chosen cluster."""
    probabilities = softmax(scored.scores / temperature, axis=1)
    if scored.shares is not None:
        probabilities[~scored.is_known] = scored.shares
    rows = np.flatnonzero(probabilities.argmax(axis=1) != scored.labels)  # nearly a tie, lost in rounding
    probabilities[rows, scored.labels[rows]] = np.nextafter(probabilities[rows].max(axis=1), 2)
    return probabilities


def score_distances(relative: np.ndarray) -> np.ndarray:
    """Return scores by squared distances in units of the usual distance from the own cluster."""
    relative = np.asarray(relative, dtype=np.float64)
    nearest = relative.min(axis=1, keepdims=True)
    with np.errstate(over="ignore"):
        return score_gaps((relative - nearest) * (relative + nearest), DISTANCE_LIMIT)


def score_gaps(gaps: np.ndarray, limit: float) -> np.ndarray:
    """Return scores by how much worse than the best cluster each is, 0 for the best and above `-limit` for all.

    The limit keeps single entities that are far from all others from deciding on the temperature.
    """
    with np.errstate(divide="ignore"):
        return -limit / (1 + limit / gaps)


def check_calibration(labels: np.ndarray, n_entities: int) -> None:
    """Refuse data of other entities."""
    if len(labels) != n_entities:
        raise ValueError(
            f"X has {n_entities:,} entities, but the model was fitted to {len(labels):,}: give the data of the fit"
        )


def score_halves(
    model: Any, views: Views, labels: np.ndarray, n_clusters: int, max_entities: int, rng: np.random.Generator
) -> tuple[np.ndarray, np.ndarray]:
    """Return scores of entities by models that have not seen them, clusters matched with `labels`, and their labels."""
    sample = np.flatnonzero(labels >= 0)
    if len(sample) > max_entities:
        sample = np.sort(rng.choice(sample, max_entities, replace=False))
    least = LEAST_PER_CLUSTER * n_clusters
    if len(sample) < least:
        raise ValueError(
            f"{len(sample)} entities are too few to fit {n_clusters} clusters to each half of them: calibration needs "
            f"at least {LEAST_PER_CLUSTER} entities per cluster, {least}"
        )
    refusal: ValueError | None = None
    for _ in range(ATTEMPTS):
        rows, others = split_entities(sample, rng)
        seeds = rng.integers(2**31, size=2).tolist()
        try:
            parts = [
                score_half(model, views, labels, rows, others, seeds[0]),
                score_half(model, views, labels, others, rows, seeds[1]),
            ]
        except ValueError as error:
            refusal = error
            continue
        scores, targets = (np.concatenate(values) for values in zip(*parts, strict=True))
        return scores, targets
    raise ValueError(
        f"no half of the {len(sample):,} entities could be clustered on its own, so that none can be scored by a model "
        f"that has not seen it: {refusal}"
    ) from refusal


def score_half(
    model: Any, views: Views, labels: np.ndarray, rows: np.ndarray, others: np.ndarray, seed: int
) -> tuple[np.ndarray, np.ndarray]:
    """Fit a clone to some entities, and return its scores of others and their labels; only entities with a view."""
    settings = {"random_state": seed, "outliers": None, "init": restrict_start(model.init, rows, len(labels))}
    half = Data(views).fit(clone_quietly(model, **settings), rows)
    scored = half._score_clusters(views[others])
    counterparts = match_clusters(half.labels_, labels[rows], scored.scores.shape[1])
    matched = np.empty_like(scored.scores)
    matched[:, counterparts] = scored.scores
    return matched[scored.is_known], labels[others][scored.is_known]


def restrict_start(init: Any, rows: np.ndarray, n_entities: int) -> Any:
    """Return what a fit to some entities starts from: labels and responsibilities are those of these entities."""
    if init is None or isinstance(init, str):
        return init
    if isinstance(init, dict):
        return {name: restrict_start(values, rows, n_entities) for name, values in init.items()}
    values = np.asarray(init)
    return values[rows] if len(values) == n_entities else init


def find_temperature(scores: np.ndarray, targets: np.ndarray, reference: float) -> float:
    """Return the temperature at which the targets are most likely, near the reference if anything will do."""

    def loss(log_temperature: float) -> float:
        return measure_loss(scores, targets, np.exp(log_temperature))

    middle, width = np.log(reference), np.log(TEMPERATURE_RANGE)
    best = minimize_scalar(loss, bounds=(middle - width, middle + width), method="bounded", options={"xatol": 1e-3})
    return float(np.exp(best.x)) if best.fun < loss(middle) else float(reference)


def measure_loss(scores: np.ndarray, targets: np.ndarray, temperature: float) -> float:
    """Return the mean negative log-likelihood of the targets."""
    scaled = scores / temperature
    return float(np.mean(logsumexp(scaled, axis=1) - scaled[np.arange(len(targets)), targets]))


def choose_outliers(scores: np.ndarray, outliers: Any) -> np.ndarray:
    """Return the positions of the outliers, sorted."""
    if outliers is None:
        return np.empty(0, np.int64)
    if isinstance(outliers, str):
        return np.flatnonzero(scores > FAR)
    order = np.argsort(-scores, kind="stable")
    return np.sort(order[: round(float(outliers) * len(scores))])


def measure_scale(values: np.ndarray, least: float) -> tuple[float, float]:
    """Return the median, and a robust standard deviation of the values above it, at least `least`."""
    finite = values[np.isfinite(values)]
    if not len(finite):
        return 0.0, 1.0
    median, upper = np.quantile(finite, [0.5, UPPER])
    return float(median), max(least, float(upper - median) / UPPER_DEVIATIONS)


def standardize(quantities: Sequence[np.ndarray], scales: np.ndarray) -> np.ndarray:
    """Return the largest of the quantities, each in robust standard deviations from its median, (n,)."""
    return np.max(
        [(values - median) / deviation for values, (median, deviation) in zip(quantities, scales, strict=True)], axis=0
    )


def summarize(scores: np.ndarray) -> np.ndarray:
    """Return the scores in rising order, or quantiles if there are many."""
    if len(scores) <= N_QUANTILES:
        return np.sort(scores)
    return np.quantile(scores, np.linspace(0, 1, N_QUANTILES), method="lower")


def floor_unit(unit: float, mean_distance: float) -> float:
    """Return the unit of distances, which is not left to rounding if all entities lie in the centres."""
    unit = max(unit, LEAST_UNIT * mean_distance)
    return unit if unit > 0 else 1.0


def measure_spreads(relative: np.ndarray, labels: np.ndarray, n_clusters: int) -> np.ndarray:
    """Return the typical distance of each cluster's members from it, (k,); that of small clusters is near 1.

    Without it, all members of a wide cluster would look like outliers beside those of narrow clusters.
    """
    counts = np.bincount(labels, minlength=n_clusters)
    medians = np.ones(n_clusters)
    for cluster in np.flatnonzero(counts):
        medians[cluster] = np.median(relative[labels == cluster])
    spreads = (counts * medians + FEW_MEMBERS) / (counts + FEW_MEMBERS)
    return np.maximum(spreads, LEAST_UNIT)


def measure_log_ratio(relative: np.ndarray, labels: np.ndarray, spreads: np.ndarray) -> np.ndarray:
    """Return the logarithm of each entity's distance from its cluster over the typical one."""
    return np.log(np.maximum(relative / spreads[labels], LEAST_RATIO))
