"""Probabilities of clusters, and entities that no cluster predicts well."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from numbers import Integral
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
from scipy.optimize import minimize_scalar
from scipy.special import softmax
from sklearn.utils import ClassifierTags
from sklearn.utils.validation import check_is_fitted

from ...arrays import Seed, make_generator
from ...data import Views
from .docs import share_docs
from .halves import (
    ModelData,
    check_entities_per_cluster,
    check_fitted_entities,
    clone_quietly,
    match_clusters,
    reset_start,
    try_divisions,
)
from .input_checks import check_new_views
from .validation import RANDOM_STATE, Interval, validate_params

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
UNLIKE = 0.01  # share of the fit's entities that are at least as unlike any cluster as an entity that fits none


@dataclass(frozen=True, eq=False)
class ClusterScores:
    """How well each cluster suits entities, in units that do not depend on the data's."""

    scores: np.ndarray  # (n, k), 0 for the best cluster of each row, below 0 for others
    labels: np.ndarray  # (n,), what `predict` returns
    is_known: np.ndarray  # (n,), whether the entity has a view
    shares: np.ndarray | None = None  # (k,), the probabilities of an entity that has no view, if not all alike


@dataclass(frozen=True, eq=False)
class Misfit:
    """How poorly their clusters predict entities: quantities that grow with it."""

    quantities: Sequence[np.ndarray]  # (n,) each
    present: np.ndarray  # (n, n_views), which views each entity has
    names: Sequence[str]  # of the views


class UnseenScores(NamedTuple):
    """Scores by two fits to halves of the entities that these have not seen."""

    scores: np.ndarray  # (n, k), of the clusters, in the numbering of the model
    targets: np.ndarray  # (n,), the labels of the model
    misfit: np.ndarray  # (m,), how poorly clusters predict the entities, outliers included; empty if not measured


@share_docs
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

    def _reset_probabilities(self) -> None:
        """Set the probabilities of a model that is not calibrated."""
        self.temperature_ = self._reference_temperature
        self._pseudo_share = 0.0

    def predict_proba(self, X: Any) -> np.ndarray:
        """Probability of each cluster for each entity.

        After `calibrate` it is the probability that a model fitted to other entities of the same kind puts the entity
        into this cluster; before, a guess with the temperature that suits typical data. It is not the probability that
        the cluster is right: a wrong division that every fit repeats has high probabilities.

        %(predict_parameters)s

        %(returns_probabilities)s
            The largest is that of the cluster that `predict` chooses.
        """
        views = check_new_views(self, X)
        return compute_probabilities(self._score_clusters(views), self.temperature_, self._pseudo_share)

    @validate_params(
        {"max_entities": [Interval(Integral, 10, None, closed="left")], "random_state": RANDOM_STATE},
        prefer_skip_nested_validation=True,
    )
    def calibrate(self, X: Any, *, max_entities: int = 5_000, random_state: Seed = 0) -> Self:
        """Set `temperature_` so that probabilities are those of entities that a fit has not seen.

        Two clones are fitted to disjoint random halves of the entities. Each scores the half that it has not seen, its
        clusters are matched one to one with those of `labels_` by the entities that it was fitted to, and the
        temperature is the one that makes `labels_` most likely. One error is added to those that the halves make, so
        that no probability is nearer to 1 than so many entities can show. From then on, `score_outliers` of
        `CoTrainedSpectral` compares new entities with the unseen ones.

        It takes about as long as one fit. `labels_` and `predict` do not change. Entities labeled -1 do not count for
        the temperature. Constraints and known classes of the fit, and labels or centers to start from, are not used.

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
        views = check_new_views(self, X)
        labels = np.asarray(self.labels_)  # type: ignore[attr-defined]
        check_fitted_entities(labels, len(views))
        n_clusters = int(self.n_clusters)  # type: ignore[attr-defined]
        if n_clusters == 1:
            return self
        unseen = score_halves(self, views, labels, n_clusters, max_entities, make_generator(random_state))
        self.temperature_ = find_temperature(unseen.scores, unseen.targets, self._reference_temperature)
        self._pseudo_share = 1 / (len(unseen.targets) + 1)
        if len(unseen.misfit):
            self._outlier_quantiles = summarize(unseen.misfit)
        return self


@share_docs
class OutlierLabelsMixin:
    """Adds labels of outliers, `assign_outliers`, `score_outliers` and `fits_no_cluster` to an estimator.

    A fit measures one or more quantities per entity that grow with how poorly its cluster predicts it. Each is
    standardized by its median and the distance from there to an upper quantile, and the largest is the entity's score:
    an entity may stand out in any of them. Quantities are means over views, which vary more if they are means over
    fewer views, so that they are standardized by the number of views that an entity has.
    """

    outliers: Any
    _scores_unseen: ClassVar[bool] = False  # whether `calibrate` replaces the scores of the fit by those of halves

    def _measure_misfit(self, views: Views) -> Misfit:
        """Measure how poorly their clusters predict entities."""
        raise NotImplementedError

    def _mark_outliers(
        self,
        misfit: Misfit,
        by_view: Mapping[str, Sequence[np.ndarray]],
        least: Sequence[float] = (LEAST_DEVIATION,),
        fixed_labels: np.ndarray | None = None,
    ) -> None:
        """Store the scores of the entities of the fit, and label outliers.

        `by_view` has the quantities of entities that are judged by a single view, and `least` the least deviation of
        each quantity. Entities that have a fixed label keep it.
        """
        n_views = misfit.present.sum(axis=1)
        self._usual_views = int(np.bincount(n_views[n_views > 0], minlength=2).argmax())
        usual = [values[n_views == self._usual_views] for values in misfit.quantities]
        self._misfit_scales = measure_scales(usual, least)
        self._view_scales = {name: measure_scales(quantities, least) for name, quantities in by_view.items()}
        scores = self._standardize(misfit)
        largest = scores.max(where=np.isfinite(scores), initial=FAR)
        self.outlier_scores_ = np.where(np.isfinite(scores), scores, largest + 1)  # entities that have no view
        self._outlier_quantiles = summarize(self.outlier_scores_)
        may_change = np.ones(len(scores), bool) if fixed_labels is None else fixed_labels < 0
        if self.outliers is None:
            rows = np.empty(0, np.intp)
        elif isinstance(self.outliers, str):
            rows = np.flatnonzero((self.outlier_scores_ > FAR) & may_change)
        else:
            order = np.argsort(-self.outlier_scores_, kind="stable")
            rows = np.sort(order[may_change[order]][: round(self.outliers * len(scores))])
        labels = np.asarray(self.labels_)  # type: ignore[has-type]
        self._unassigned = np.stack([rows, labels[rows]])
        if len(rows):
            self.labels_ = labels.copy()
            self.labels_[rows] = -1

    def _standardize(self, misfit: Misfit) -> np.ndarray:
        """Return the score of each entity: its largest quantity, in robust standard deviations from its median."""
        n_views = misfit.present.sum(axis=1)
        names = [name for name in misfit.names if name in self._view_scales]
        present = misfit.present[:, [list(misfit.names).index(name) for name in names]]
        usual_views = self._usual_views
        standardized = []
        for number, (values, scale) in enumerate(zip(misfit.quantities, self._misfit_scales, strict=True)):
            medians, deviations = np.full(len(values), scale[0]), np.full(len(values), scale[1])
            if names and usual_views > 1 and (n_views < usual_views).any():
                by_view = np.array([self._view_scales[name][number] for name in names])
                alone = present @ np.column_stack([by_view[:, 0], by_view[:, 1] ** 2])
                alone = alone / np.maximum(present.sum(axis=1), 1)[:, None]
                # The variance of a mean falls with the number of views, down to what the views have in common.
                weight = (1 / np.maximum(n_views, 1) - 1 / usual_views) / (1 - 1 / usual_views)
                weight = np.where(present.any(axis=1), np.clip(weight, 0, 1), 0.0)
                medians += weight * (alone[:, 0] - medians)
                deviations = np.sqrt(deviations**2 + weight * (alone[:, 1] - deviations**2))
            standardized.append((values - medians) / deviations)
        return np.max(standardized, axis=0)

    def assign_outliers(self) -> Any:
        """Put the outliers into the clusters that predict them best: `labels_` no longer contains -1.

        Returns
        -------
        self
            The estimator.
        """
        check_is_fitted(self)
        rows, labels = self._unassigned
        self.labels_ = np.array(self.labels_)
        self.labels_[rows] = labels
        self._unassigned = np.empty((2, 0), np.int64)
        return self

    def score_outliers(self, X: Any) -> np.ndarray:
        """Share of the entities of the fit that their cluster predicts at least as poorly as each of these.

        Each entity of the fit is scored by the cluster of the other entities, as if it had not taken part. The
        embedding of `CoTrainedSpectral` still depends on every entity, which `calibrate` corrects.

        %(predict_parameters)s

        Returns
        -------
        ndarray of shape (n_entities,)
            From 1, typical, to 0, predicted worse than every entity of the fit. Entities below `outlier_limit_` fit no
            cluster; `fits_no_cluster` says which.
        """
        views = check_new_views(self, X)
        n_smaller = np.searchsorted(
            self._outlier_quantiles, self._standardize(self._measure_misfit(views)), side="left"
        )
        return 1 - n_smaller / len(self._outlier_quantiles)

    @property
    def outlier_limit_(self) -> float:
        """Score of `score_outliers` below which an entity fits no cluster: 0.01, or 1 / n if the fit had n < 100."""
        check_is_fitted(self)
        return max(UNLIKE, 1 / len(self._outlier_quantiles))

    def fits_no_cluster(self, X: Any) -> np.ndarray:
        """Whether each entity fits no cluster: its score by `score_outliers` is below `outlier_limit_`.

        The limit is 0.01, or 1 / n if the fit had n < 100 entities, because no smaller share exists. It is about the
        share of new entities of the same kind that fit no cluster by this rule.

        %(predict_parameters)s

        Returns
        -------
        ndarray of bool of shape (n_entities,)
            True for entities that no cluster predicts well.
        """
        return np.asarray(self.score_outliers(X)) < self.outlier_limit_


def compute_probabilities(scored: ClusterScores, temperature: float, pseudo_share: float = 0.0) -> np.ndarray:
    """Return the probability of each cluster, of which the largest is that of the chosen cluster.

    A share of `pseudo_share` is divided evenly among the clusters.
    """
    probabilities = mix_in(softmax(scored.scores / temperature, axis=1), pseudo_share)
    if scored.shares is not None:
        probabilities[~scored.is_known] = scored.shares
    rows = np.flatnonzero(probabilities.argmax(axis=1) != scored.labels)  # nearly a tie, lost in rounding
    probabilities[rows, scored.labels[rows]] = np.nextafter(probabilities[rows].max(axis=1), 2)
    return probabilities


def score_distances(relative: np.ndarray) -> np.ndarray:
    """Return scores by squared distances in units of the usual distance from its cluster."""
    relative = np.asarray(relative, dtype=np.float64)
    nearest = relative.min(axis=1, keepdims=True)
    with np.errstate(over="ignore"):
        return score_gaps((relative - nearest) * (relative + nearest), DISTANCE_LIMIT)


def score_gaps(gaps: np.ndarray, limit: float) -> np.ndarray:
    """Return scores by how much worse than the best cluster each is, from 0 for the best down to `-limit`.

    Without the limit, single entities that are far from all others would determine the temperature.
    """
    with np.errstate(divide="ignore"):
        return -limit / (1 + limit / gaps)


def score_halves(
    model: Any, views: Views, labels: np.ndarray, n_clusters: int, max_entities: int, rng: np.random.Generator
) -> UnseenScores:
    """Fit clones to halves of the entities, and return how they score entities that they have not seen."""
    sample = np.arange(len(labels))
    if len(sample) > max_entities:
        sample = np.sort(rng.choice(sample, max_entities, replace=False))
    outliers, sample = sample[labels[sample] < 0], sample[labels[sample] >= 0]
    check_entities_per_cluster(len(sample), n_clusters, "calibration")
    fresh = reset_start(model)

    def score_half(name: str, rows: np.ndarray, others: np.ndarray, seed: int) -> UnseenScores:
        half = ModelData(views).fit(clone_quietly(fresh, random_state=seed, outliers=None), rows)
        scored = half._score_clusters(views[others])
        counterparts = match_clusters(half.labels_, labels[rows], scored.scores.shape[1])
        matched = np.empty_like(scored.scores)
        matched[:, counterparts] = scored.scores
        misfit = np.empty(0)
        if getattr(half, "_scores_unseen", False):
            scored_outliers = outliers[0::2] if name.endswith("half 0") else outliers[1::2]
            misfit = half._standardize(half._measure_misfit(views[np.sort(np.concatenate([others, scored_outliers]))]))
        return UnseenScores(matched[scored.is_known], labels[others][scored.is_known], misfit[np.isfinite(misfit)])

    halves = try_divisions(sample, rng, score_half)
    return UnseenScores(*map(np.concatenate, zip(*halves, strict=True)))


def find_temperature(scores: np.ndarray, targets: np.ndarray, reference: float) -> float:
    """Return the temperature at which the targets are most likely; the reference if none is better."""

    def loss(log_temperature: float) -> float:
        return measure_loss(scores, targets, np.exp(log_temperature))

    middle, width = np.log(reference), np.log(TEMPERATURE_RANGE)
    best = minimize_scalar(loss, bounds=(middle - width, middle + width), method="bounded", options={"xatol": 1e-3})
    return float(np.exp(best.x)) if best.fun < loss(middle) else float(reference)


def measure_loss(scores: np.ndarray, targets: np.ndarray, temperature: float) -> float:
    """Return the mean negative log-likelihood of the targets, with one error added.

    The error is spread over all entities and clusters. Without it, the likelihood of targets that are all right would
    grow as long as the temperature falls.
    """
    n, k = scores.shape
    error = 1 / (n + 1)
    logs = np.log(mix_in(softmax(scores / temperature, axis=1), error))
    right = logs[np.arange(n), targets]
    wrong = (logs.sum(axis=1) - right) / max(1, k - 1)
    return -float(np.mean((1 - error) * right + error * wrong))


def mix_in(probabilities: np.ndarray, share: float) -> np.ndarray:
    """Return probabilities of which a share is divided evenly among the clusters."""
    return (1 - share) * probabilities + share / probabilities.shape[1]


def measure_scales(quantities: Sequence[np.ndarray], least: Sequence[float]) -> np.ndarray:
    """Return the median and the deviation of each quantity, (n_quantities, 2).

    The deviation is a robust standard deviation of the values above the median, at least the `least` of the quantity.
    """
    scales = []
    for values, least_deviation in zip(quantities, least, strict=False):
        finite = values[np.isfinite(values)]
        if not len(finite):
            scales.append((0.0, 1.0))
            continue
        median, upper = compute_quantiles(finite, np.array([0.5, UPPER]))
        scales.append((float(median), max(least_deviation, float(upper - median) / UPPER_DEVIATIONS)))
    return np.array(scales)


def compute_quantiles(values: np.ndarray, shares: np.ndarray) -> np.ndarray:
    """Return quantiles of finite numbers, interpolated as by np.quantile, which is slow on few numbers."""
    positions = shares * (len(values) - 1)
    below, above = np.floor(positions).astype(np.intp), np.ceil(positions).astype(np.intp)
    ordered = np.partition(values, [*below, *above])
    return ordered[below] + (positions - below) * (ordered[above] - ordered[below])


def summarize(scores: np.ndarray) -> np.ndarray:
    """Return the scores in rising order, or quantiles if there are many."""
    if len(scores) <= N_QUANTILES:
        return np.sort(scores)
    positions = np.linspace(0, 1, N_QUANTILES) * (len(scores) - 1)
    return np.sort(scores)[np.floor(positions).astype(np.intp)]


def floor_unit(unit: float, mean_distance: float) -> float:
    """Return the unit of distances, at least a small part of the mean distance so that it is above rounding errors."""
    unit = max(unit, LEAST_UNIT * mean_distance)
    return unit if unit > 0 else 1.0


def measure_spreads(relative: np.ndarray, labels: np.ndarray, n_clusters: int) -> np.ndarray:
    """Return the typical distance of each cluster's members from it, (k,); that of small clusters is near 1.

    Without it, all members of a wide cluster would look like outliers beside those of narrow clusters.
    """
    counts = np.bincount(labels, minlength=n_clusters)
    medians = np.ones(n_clusters)
    for cluster in np.flatnonzero(counts):
        ordered = np.sort(relative[labels == cluster])  # much faster than np.median
        medians[cluster] = (ordered[(counts[cluster] - 1) // 2] + ordered[counts[cluster] // 2]) / 2
    spreads = (counts * medians + FEW_MEMBERS) / (counts + FEW_MEMBERS)
    return np.maximum(spreads, LEAST_UNIT)


def measure_log_ratio(relative: np.ndarray, labels: np.ndarray, spreads: np.ndarray) -> np.ndarray:
    """Return the logarithm of each entity's distance from its cluster over the typical one."""
    return np.log(np.maximum(relative / spreads[labels], LEAST_RATIO))
