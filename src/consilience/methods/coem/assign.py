"""How the views of a mixture model speak with one voice: the probability of each cluster for each entity."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import reduce
from operator import add

from ...arrays import Array, keep_where, namespace
from ...families.base import log_zero, safe_log
from ...rows.shards import Shard, join_blocks
from ..common.statistics import NO_LABEL
from .algorithm import Model, ViewPosterior, compute_posteriors, e_step, most_likely

Beliefs = Mapping[str, ViewPosterior]


def joint(beliefs: Beliefs, prior: Array) -> Array:
    """Eq 19: the posterior given all the views that an entity has."""
    return joint_posterior(beliefs, prior)[0]


def average(beliefs: Beliefs, prior: Array) -> Array:
    """Eq 7 of the paper of 2004: the mean of the posteriors of the views an entity has."""
    total = reduce(add, (belief.posterior for belief in beliefs.values()))
    xp = namespace(total)
    count = reduce(add, (xp.astype(belief.known, total.dtype) for belief in beliefs.values()))
    mean = total / keep_where(count > 0, count, 1.0)[:, None]
    return xp.where((count > 0)[:, None], mean, xp.astype(prior, total.dtype)[None, :])


ASSIGNMENTS: dict[str, Callable[[Beliefs, Array], Array]] = {"joint": joint, "average": average}


def joint_posterior(beliefs: Beliefs, prior: Array) -> tuple[Array, Array]:
    """Eq 19 for some entities, and the log-density of each, less the rows' own terms."""
    first = next(iter(beliefs.values()))
    xp, total = namespace(first.log_prob), first.posterior * 0
    for belief in beliefs.values():
        known = xp.astype(belief.known, belief.log_prob.dtype)
        total = total + belief.log_prob * known[:, None]
    total = xp.where(total < log_zero(total.dtype) / 2, xp.full_like(total, log_zero(total.dtype)), total)
    return compute_posteriors(total, safe_log(prior, total.dtype))


def compute_probabilities(shard: Shard, model: Model, prior: Array, assignment: str) -> Array:
    """A shard's entities: the probability of each cluster (n, k). What the shard keeps is of no more use."""
    found = join_blocks([ASSIGNMENTS[assignment](beliefs, prior) for _, _, beliefs in e_step(shard, model)])
    shard.kept.clear()
    return found


def log_likelihoods(shard: Shard, model: Model, prior: Array) -> tuple[Array, Array]:
    """A shard's entities: log-density under the joint model, and whether some view says something of it."""
    found, known = [], []
    for rows, _, beliefs in e_step(shard, model):
        _, evidence = joint_posterior(beliefs, prior)
        for name, belief in beliefs.items():
            own = shard.views[name].row_term
            evidence = evidence if own is None else evidence + keep_where(belief.known, own[rows], 0.0)
        found.append(evidence)
        known.append(reduce(namespace(evidence).logical_or, (belief.known for belief in beliefs.values())))
    return join_blocks(found), join_blocks(known)


def total_likelihood(shard: Shard, model: Model, prior: Array) -> Array:
    """The sum of these."""
    evidence, _ = log_likelihoods(shard, model, prior)
    return namespace(evidence).sum(evidence)


def conclusion(shard: Shard, model: Model, prior: Array, assignment: str) -> dict[str, dict[str, Array] | Array]:
    """A shard's entities in the end: their labels, those that each view gives, and each view's posteriors."""
    labels: list[Array] = []
    by_view: dict[str, list[Array]] = {}
    found: dict[str, list[Array]] = {}
    for _, _, beliefs in e_step(shard, model):
        labels.append(namespace(prior).argmax(ASSIGNMENTS[assignment](beliefs, prior), axis=1))
        for name, belief in beliefs.items():
            by_view.setdefault(name, []).append(keep_where(belief.known, most_likely(belief.posterior), NO_LABEL))
            found.setdefault(name, []).append(belief.posterior)
    return {
        "labels": join_blocks(labels),
        "view_labels": {name: join_blocks(own) for name, own in by_view.items()},
        "posteriors": {name: join_blocks(own) for name, own in found.items()},
    }
