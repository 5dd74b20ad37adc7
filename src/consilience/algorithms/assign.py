"""How the views of a mixture model speak with one voice: the probability of each cluster for each entity."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import reduce
from operator import add

from .._backend import Array, namespace, where, zeros
from ..families.base import never, safe_log
from .coem import Belief, Part, posteriors


def joint(parts: Mapping[str, Part], beliefs: Mapping[str, Belief], prior: Array) -> Array:
    """Eq 19: the posterior given all the views that an entity has."""
    return joint_posterior(parts, beliefs, prior)[0]


def average(parts: Mapping[str, Part], beliefs: Mapping[str, Belief], prior: Array) -> Array:  # noqa: ARG001
    """Eq 7 of the paper of 2004: the mean of the posteriors of the views an entity has."""
    total = reduce(add, (belief.posterior for belief in beliefs.values()))
    xp = namespace(total)
    count = reduce(add, (xp.astype(belief.known, total.dtype) for belief in beliefs.values()))
    mean = total / where(count > 0, count, 1.0)[:, None]
    return xp.where((count > 0)[:, None], mean, xp.astype(prior, total.dtype)[None, :])


ASSIGNMENTS: dict[str, Callable[[Mapping[str, Part], Mapping[str, Belief], Array], Array]] = {
    "joint": joint,
    "average": average,
}


def joint_posterior(parts: Mapping[str, Part], beliefs: Mapping[str, Belief], prior: Array) -> tuple[Array, Array]:
    """Eq 19 for each entity, and the log-density of the entity."""
    first = next(iter(beliefs.values()))
    xp = namespace(first.log_prob)
    total, own = first.posterior * 0, zeros(first.evidence.shape, first.evidence)
    for name, belief in beliefs.items():
        known = xp.astype(belief.known, belief.log_prob.dtype)
        total = total + belief.log_prob * known[:, None]
        own = own if parts[name].own is None else own + where(belief.known, parts[name].own, 0.0)
    total = xp.where(total < never(total.dtype) / 2, xp.full_like(total, never(total.dtype)), total)
    posterior, evidence = posteriors(total, safe_log(prior, total.dtype))
    return posterior, evidence + own
