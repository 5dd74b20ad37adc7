"""The predictors of all views, and their vote."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from array_api_compat import device

from ...arrays import Array, asarray_like, namespace, take_rows, to_numpy
from .predictors import LeaveOneOutRidge, NeighborVote

TRUST = 0.25  # power of a predictor's information that its vote is weighted by
LEAST_INFORMATION = 1e-4  # share of the best predictor's information that every predictor is credited with


@dataclass(frozen=True, eq=False)
class ViewPredictors:
    """The predictors of one view, over the entities that have it."""

    name: str
    entities: np.ndarray  # positions of the entities that have the view
    predictors: Sequence[LeaveOneOutRidge | NeighborVote]
    weight: float  # of each predictor: views count alike, however many predictors they have
    ignored: np.ndarray | None = None  # (entities,): mask of those that the view neither learns from nor votes on

    @property
    def is_used(self) -> np.ndarray:
        """Mask of the entities that the view learns from and votes on."""
        return np.ones(len(self.entities), bool) if self.ignored is None else ~self.ignored

    def predict_left_out(self, members: Array) -> list[Array]:
        """Return each predictor's votes on the entities of the view, zeros where the view is ignored."""
        if self.ignored is None:
            return [predictor.predict_left_out(members) for predictor in self.predictors]
        is_used = asarray_like(self.is_used.astype(np.float32)[:, None], members)
        return [is_used * predictor.predict_left_out(is_used * members) for predictor in self.predictors]


@dataclass(frozen=True, eq=False)
class Vote:
    """What the predictors say of all entities, each without using the entity's own cluster."""

    total: Array  # (n, k)
    by_view: Sequence[Array]  # (entities of the view, k) each
    bits: Sequence[np.ndarray]  # information of each view's predictors about the clusters
    weights: Sequence[np.ndarray]  # of each view's predictors in the vote


@dataclass(frozen=True, eq=False)
class Ensemble:
    """The predictors of all views."""

    views: Sequence[ViewPredictors]
    n_entities: int
    n_clusters: int
    balance: float  # power of the cluster sizes that votes are divided by
    like: Array  # an array of the library, type and device to compute with

    def vote(self, labels: np.ndarray) -> Vote:
        """Add up the predictions of all views; no predictor learns from entities with a negative label.

        A predictor's vote is weighted by the fourth root of its information about the clusters, so that a useless view
        has little to say while views of different quality still count nearly alike.
        """
        members = encode_labels(labels, self.n_clusters, self.like)
        xp = namespace(members)
        predictions, bits = [], []
        for view in self.views:
            is_partial = len(view.entities) < self.n_entities
            view_members = take_rows(members, asarray_like(view.entities, members)) if is_partial else members
            predictions.append(view.predict_left_out(view_members))
            view_labels = labels[view.entities]
            labeled = view.is_used & (view_labels >= 0)
            guesses = [to_numpy(xp.argmax(prediction, axis=1))[labeled] for prediction in predictions[-1]]
            bits.append(np.array([mutual_information(view_labels[labeled], g, self.n_clusters) for g in guesses]))
        weights = self._weigh(bits)
        total, by_view = xp.zeros(members.shape, dtype=members.dtype, device=device(members)), []
        for view, view_predictions, view_weights in zip(self.views, predictions, weights, strict=True):
            weighted = [weight * votes for weight, votes in zip(view_weights.tolist(), view_predictions, strict=True)]
            votes = sum(weighted[1:], weighted[0])
            by_view.append(votes)
            n_rows = len(view.entities)
            if n_rows < self.n_entities:  # entities that lack the view take the row of zeros after the others
                rows = np.full(self.n_entities, n_rows)
                rows[view.entities] = np.arange(n_rows)
                votes = take_rows(xp.concat([votes, total[:1, :] * 0], axis=0), asarray_like(rows, total))
            total = total + votes
        return Vote(total, by_view, bits, weights)

    def choose(self, votes: Array, labels: np.ndarray) -> np.ndarray:
        """Return the cluster with most votes for each row, in balance."""
        return choose_clusters(votes, self.sizes(labels), self.balance)

    def sizes(self, labels: np.ndarray) -> np.ndarray:
        """Return the share of each cluster among labeled entities; an empty cluster counts as one entity.

        Ridge predictions favor large clusters, so that votes are divided by a power of these shares.
        """
        labeled = labels[labels >= 0]
        counts = np.bincount(labeled, minlength=self.n_clusters)
        return np.maximum(counts, 1) / max(1, len(labeled))

    def score(self, vote: Vote) -> float:
        """Return the mean information of the predictors about the clusters, in bits; views count by their entities."""
        n_used = [int(view.is_used.sum()) for view in self.views]
        return float(np.average([np.mean(bits) for bits in vote.bits], weights=n_used)) if any(n_used) else 0.0

    def _weigh(self, bits: Sequence[np.ndarray]) -> list[np.ndarray]:
        """Return the weight of each view's predictors, the most informative of all views having its full weight."""
        beyond = [
            np.maximum(view_bits - compute_chance_bits(max(1, int(view.is_used.sum())), self.n_clusters), 0)
            for view, view_bits in zip(self.views, bits, strict=True)
        ]
        most = max(float(view_bits.max()) for view_bits in beyond)
        if most <= 0:
            return [np.full(len(view.predictors), view.weight) for view in self.views]
        return [
            view.weight * np.maximum(view_bits / most, LEAST_INFORMATION) ** TRUST
            for view, view_bits in zip(self.views, beyond, strict=True)
        ]


def balance_votes(votes: Array, sizes: np.ndarray, balance: float) -> Array:
    """Return votes divided by a power of the cluster sizes."""
    return votes / asarray_like((sizes**balance).astype(np.float32), votes)


def choose_clusters(votes: Array, sizes: np.ndarray, balance: float) -> np.ndarray:
    """Return the cluster with most votes for each row, votes divided by a power of the cluster sizes.

    A row without any vote gets the largest cluster.
    """
    balanced = balance_votes(votes, sizes, balance)
    chosen = to_numpy(namespace(balanced).argmax(balanced, axis=1))
    without_vote = ~to_numpy(namespace(votes).any(votes != 0, axis=1))
    return np.where(without_vote, int(np.argmax(sizes)), chosen)


def encode_labels(labels: np.ndarray, n_clusters: int, array: Array) -> Array:
    """Return clusters as a matrix of zeros and ones like `array`, (n, k); a negative label is a row of zeros."""
    members = np.zeros((len(labels), n_clusters))
    labeled = np.flatnonzero(labels >= 0)
    members[labeled, labels[labeled]] = 1
    return namespace(array).astype(asarray_like(members, array), array.dtype, copy=False)


def mutual_information(first: np.ndarray, second: np.ndarray, n_clusters: int) -> float:
    """Return the mutual information of two labellings with labels below `n_clusters`, in bits."""
    if not len(first):
        return 0.0
    counts = np.bincount(first * n_clusters + second, minlength=n_clusters**2)
    joint = counts.reshape(n_clusters, n_clusters) / len(first)
    product = joint.sum(axis=1, keepdims=True) * joint.sum(axis=0, keepdims=True)
    positive = joint > 0
    return float(max(0.0, np.sum(joint[positive] * np.log2(joint[positive] / product[positive]))))


def compute_chance_bits(n_entities: int, n_clusters: int) -> float:
    """Return the information that unrelated labellings of this many entities seem to share, to first order.

    Twice the sample size times their mutual information in nats is about chi-squared with (k - 1)^2 degrees of freedom.
    """
    return (n_clusters - 1) ** 2 / (2 * n_entities * math.log(2))
