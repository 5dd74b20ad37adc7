"""The cluster of each entity by all its views: probabilities, log-likelihoods and labels."""

from __future__ import annotations

from collections.abc import Mapping
from functools import reduce
from operator import add
from typing import Any

from ...arrays import Array, keep_where, namespace
from ...families.base import log_zero, safe_log
from ...rows import Shard, join_blocks
from ..common.known_classes import clamp_labels
from ..common.statistics import NO_LABEL
from .algorithm import Model, Sums, ViewPosterior, compute_posteriors, find_most_likely, iterate_posteriors, sum_span

ASSIGNMENTS = ("joint", "average")
Posteriors = Mapping[str, ViewPosterior]


def combine_views(posteriors: Posteriors, prior: Array, assignment: str) -> Array:
    """Compute the probability of each cluster by all views of an entity, (n, k).

    It is the joint posterior (Eq 19), or the average over the views (Eq 7 of the paper of 2004).
    """
    if assignment == "joint":
        return join_views(posteriors, prior)[0]
    total = reduce(add, (view.posterior for view in posteriors.values()))
    xp = namespace(total)
    n_views = reduce(add, (xp.astype(view.present, total.dtype) for view in posteriors.values()))
    mean = total / keep_where(n_views > 0, n_views, 1.0)[:, None]
    return xp.where((n_views > 0)[:, None], mean, xp.astype(prior, total.dtype)[None, :])


def join_views(posteriors: Posteriors, prior: Array, fixed_labels: Array | None = None) -> tuple[Array, Array]:
    """Compute the posterior given all views of an entity (Eq 19), and its log-density without the row terms."""
    first = next(iter(posteriors.values()))
    xp, total = namespace(first.log_prob), first.posterior * 0
    for view in posteriors.values():
        total = total + view.log_prob * xp.astype(view.present, view.log_prob.dtype)[:, None]
    total = xp.where(total < log_zero(total.dtype) / 2, xp.full_like(total, log_zero(total.dtype)), total)
    return compute_posteriors(total, safe_log(prior, total.dtype), fixed_labels)


def compute_shard_probabilities(shard: Shard, model: Model, prior: Array, assignment: str) -> Array:
    """Compute the probability of each cluster for a shard's entities, (n, k), and clear the shard's cache."""
    blocks = [combine_views(posteriors, prior, assignment) for _, _, posteriors in iterate_posteriors(shard, model)]
    shard.cache.clear()
    return join_blocks(blocks)


def compute_log_likelihoods(shard: Shard, model: Model, prior: Array) -> tuple[Array, Array]:
    """Compute the log-density of a shard's entities under the joint model, and which have a view."""
    log_likelihoods, present = [], []
    for rows, _, posteriors in iterate_posteriors(shard, model):
        _, evidence = join_views(posteriors, prior, shard.fixed(rows))
        for name, view in posteriors.items():
            row_term = shard.views[name].row_term
            evidence = evidence if row_term is None else evidence + keep_where(view.present, row_term[rows], 0.0)
        log_likelihoods.append(evidence)
        present.append(reduce(namespace(evidence).logical_or, (view.present for view in posteriors.values())))
    return join_blocks(log_likelihoods), join_blocks(present)


def sum_log_likelihoods(shard: Shard, model: Model, prior: Array) -> Array:
    """Sum the log-densities of a shard's entities."""
    log_likelihoods, _ = compute_log_likelihoods(shard, model, prior)
    return namespace(log_likelihoods).sum(log_likelihoods)


def conclude_posteriors(shard: Shard, model: Model, prior: Array, assignment: str, eta: float | None) -> dict[str, Any]:
    """Compute the final labels of a shard's entities, the labels and posteriors per view, and with `eta` the sums.

    The sums of each view are those of the E-step that a next round would make: `partial_fit` continues from them.
    """
    labels: list[Array] = []
    view_labels: dict[str, list[Array]] = {name: [] for name in shard.views}
    blocks: dict[str, list[Array]] = {name: [] for name in shard.views}
    sums: dict[str, Sums] = {}
    read = [] if eta is None else list(shard.views)
    for rows, X, posteriors in iterate_posteriors(shard, model, read):
        most_likely = namespace(prior).argmax(combine_views(posteriors, prior, assignment), axis=1)
        labels.append(clamp_labels(most_likely, shard.fixed(rows)))
        for name, view in posteriors.items():
            view_labels[name].append(keep_where(view.present, find_most_likely(view.posterior), NO_LABEL))
            blocks[name].append(view.posterior)
        for name in read:
            assert eta is not None
            span = sum_span(shard, model, X[name], name, eta, rows)
            sums[name] = sums[name] + span if name in sums else span
    return {
        "labels": join_blocks(labels),
        "view_labels": {name: join_blocks(view) for name, view in view_labels.items()},
        "posteriors": {name: join_blocks(view) for name, view in blocks.items()},
        "sums": sums,
    }
