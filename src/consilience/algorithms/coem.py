"""Generalised co-EM (Bickel & Scheffer 2005, Table 1): mixture models over any number of views, a family each."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import reduce
from math import inf, log
from operator import add
from typing import TYPE_CHECKING

import numpy as np
from array_api_compat import device

from .._backend import Array, chunks, cut, map_chunks, namespace, stored, to_numpy, where, zeros
from ..families import Family
from ..families.base import Params, Statistics, never, possible, safe_log
from ..metrics import agreement_rate
from .kmeans import NOWHERE

if TYPE_CHECKING:
    from .priors import Prior

WORKSPACE = 1 << 16  # numbers of a block: they stay in the cache from one step to the next
PIECE = 1 << 17  # posteriors that a thread takes at a time
Weights = dict[str, Array]  # the prior of each cluster, view by view
Blend = Callable[[slice], Array]
Share = float | Array  # of a posterior in a blend: of everybody's, or (n,)


@dataclass(frozen=True, eq=False)
class Part:
    """One view's rows and the family that explains them."""

    X: Array
    present: Array  # (n,) which rows count
    family: Family
    own: Array | None  # (n,) the part of a row's log-density that no cluster changes

    def chunks(self, n_clusters: int, *, with_sums: bool = False) -> list[slice]:
        """Rows for threads."""
        return chunks(self.X, with_sums=with_sums, work=self.family.work(self.X, n_clusters))

    def blocks(self, rows: slice, n_clusters: int, *, with_sums: bool = False) -> list[slice]:
        """Rows of a chunk that are worked on at a time; where each sums up rows of its own, enough to be worth it."""
        n = rows.stop - rows.start
        n_blocks = -(-n * self.family.width(self.X, n_clusters) // WORKSPACE)
        if with_sums:
            n_blocks = min(n_blocks, stored(self.X[rows, ...]) // (16 * self.X.shape[1]))
        return cut(rows, max(1, min(n, n_blocks)))


@dataclass(eq=False)
class Belief:
    """What a view thinks of its entities under its newest parameters.

    Arrays of n x k lie cluster by cluster in memory, so that sums over the clusters run along the rows.
    """

    log_prob: Array  # (n, k), less the rows' own terms
    posterior: Array  # (n, k) Eq 14; zeros where the entity lacks the view, or the view has no parameters yet
    evidence: Array  # (n,) log of the density of each row, less its own term; 0 where it is missing
    known: Array  # (n,) which rows have a posterior
    totals: Array  # (k,) sum of the posteriors

    @classmethod
    def none(cls, part: Part, n_clusters: int) -> Belief:
        """Of a view that has no parameters yet."""
        xp = namespace(part.present)
        n = part.present.shape[0]
        wide = xp.astype(zeros((n_clusters, n), part.present), part.X.dtype).T
        return cls(wide, wide + 0, zeros((n,), part.present), part.present & False, zeros((n_clusters,), part.present))


@dataclass(frozen=True, eq=False)
class CoEMState:
    """After a round: the parameters and priors of every view, and how good they are."""

    params: dict[str, Params]
    weights: Weights
    eta: float
    comparable: bool  # whether the next round has the same criterion
    log_likelihoods: dict[str, float]
    q: float
    delta: float
    agreement: float
    settled: bool = False

    @property
    def costs(self) -> dict[str, float]:
        return {name: -value for name, value in self.log_likelihoods.items()}

    @property
    def record(self) -> dict[str, float]:
        by_view = {f"log_likelihood_{name}": value for name, value in self.log_likelihoods.items()}
        return {"q": self.q, "delta": self.delta, **by_view, "agreement": self.agreement, "eta": self.eta}


def co_em(
    parts: Mapping[str, Part],
    params: Mapping[str, Params],
    weights: Weights,
    etas: Iterable[tuple[float, bool]],
    prior: Prior,
) -> Iterator[CoEMState]:
    """One state a round: in each view in turn an E-step with the newest parameters of all views, and an M-step.

    A view may start without parameters: others speak for it until its first M-step. `etas` gives for each round the
    weight of the consensus, and whether it will stay.
    """
    params, weights = dict(params), dict(weights)
    n_clusters = next(iter(weights.values())).shape[0]
    beliefs = {name: believe(part, params.get(name), weights[name]) for name, part in parts.items()}
    for eta, stays in etas:
        for name, part in parts.items():
            blend = blending(parts, beliefs, name, eta)  # E-step, Eq 13
            params[name] = part.family.maximise(collect(part, blend, n_clusters))  # M-step, Eq 12
            before, weights = weights, prior.learned(weights, name, blend, beliefs)  # Eqs 12 and 17
            measure(part, params[name], beliefs[name])
            update(beliefs[name], weights[name])  # Eq 14
            for other in parts:
                if other != name and weights[other] is not before[other]:
                    reweigh(beliefs[other], before[other], weights[other])
        yield CoEMState(dict(params), weights, eta, stays, *quality(parts, beliefs, weights, eta))


def believe(part: Part, params: Params | None, weights: Array) -> Belief:
    """What a view thinks under given parameters."""
    belief = Belief.none(part, weights.shape[0])
    if params is not None:
        measure(part, params, belief)
        update(belief, weights)
    return belief


def blending(parts: Mapping[str, Part], beliefs: Mapping[str, Belief], name: str, eta: float) -> Blend:
    """Eq 13: a function that gives, for some rows, the posteriors of a view blended with those of the others.

    Only the views that an entity has take part; the entity's only view speaks for itself.
    """
    own, others = beliefs[name], [belief for other, belief in beliefs.items() if other != name]
    kept, shared = shares(parts[name], own, others, eta)
    speakers = [(own, kept), *((belief, shared) for belief in others)]
    terms = [(belief, share) for belief, share in speakers if any_of(share)] or speakers[:1]
    kind = own.posterior.dtype
    xp = namespace(own.posterior)

    def term(belief: Belief, share: Share, rows: slice) -> Array:
        posterior = xp.astype(belief.posterior[rows, :], kind, copy=False)
        if isinstance(share, float):
            return posterior if share == 1 else posterior * share
        return posterior * share[rows][:, None]

    return lambda rows: reduce(add, (term(belief, share, rows) for belief, share in terms))


def shares(part: Part, own: Belief, others: list[Belief], eta: float) -> tuple[Share, Share]:
    """How much of a view's own posterior counts, and how much of each other's: numbers if nobody lacks anything."""
    xp = namespace(own.known)
    if not others:
        return 1.0, 0.0
    if all(bool(xp.all(belief.known)) for belief in (own, *others)):
        return 1.0 - eta, eta / len(others)
    kind = own.posterior.dtype
    n_others = reduce(add, (xp.astype(belief.known, kind) for belief in others), xp.astype(own.known & False, kind))
    known, present = xp.astype(own.known, kind), xp.astype(part.present, kind)
    alone = xp.astype(n_others == 0, kind)
    kept = present * known * ((1 - eta) + eta * alone)
    # a view without parameters leaves it all to the others
    return kept, present * (1 - alone) * (1 - known * (1 - eta)) / (n_others + alone)


def any_of(share: Share) -> bool:
    """Whether it counts for anybody."""
    return share != 0 if isinstance(share, float) else bool(namespace(share).any(share != 0))


def collect(part: Part, blend: Blend, n_clusters: int) -> Statistics:
    """The statistics of a view under blended posteriors."""

    def one_block(rows: slice) -> Statistics:
        return part.family.statistics(part.X[rows, ...], blend(rows))

    def one_chunk(rows: slice) -> Statistics:
        return reduce(added, map(one_block, part.blocks(rows, n_clusters, with_sums=True)))

    return reduce(added, map_chunks(one_chunk, part.chunks(n_clusters, with_sums=True)))


def added(a: Statistics, b: Statistics) -> Statistics:
    """Statistics of the rows of both."""
    return {name: value + b[name] for name, value in a.items()}


def measure(part: Part, params: Params, belief: Belief) -> None:
    """Log-densities of all rows of a view under its parameters."""
    density = part.family.density(part.X, params)
    n_clusters = belief.log_prob.shape[1]

    def one_chunk(rows: slice) -> None:
        with np.errstate(over="ignore", invalid="ignore"):  # a row too far out to be measured is as good as impossible
            for block in part.blocks(rows, n_clusters):
                belief.log_prob[block, :] = density(part.X[block, ...])
        log_prob = belief.log_prob[rows, :]
        if log_prob.shape[0] and not bool(possible(namespace(log_prob).min(log_prob))):
            belief.log_prob[rows, :] = where(possible(log_prob), log_prob, never(log_prob.dtype))

    for _ in map_chunks(one_chunk, part.chunks(n_clusters)):
        pass
    belief.known = part.present


def update(belief: Belief, weights: Array) -> None:
    """Posteriors of all rows of a view under its log-densities and the prior."""
    log_prior = safe_log(weights, belief.log_prob.dtype)
    xp = namespace(weights)
    complete = bool(xp.all(belief.known))

    def one_piece(rows: slice) -> Array:
        posterior, evidence = posteriors(belief.log_prob[rows, :], log_prior)
        if not complete:
            known = belief.known[rows]
            posterior *= xp.astype(known, posterior.dtype)[:, None]
            evidence = where(known, evidence, 0.0)
        belief.posterior[rows, :], belief.evidence[rows] = posterior, evidence
        return xp.astype(xp.sum(posterior, axis=0), xp.float64)

    belief.totals = reduce(add, map_chunks(one_piece, pieces(belief)))


def reweigh(belief: Belief, before: Array, weights: Array) -> None:
    """Posteriors of all rows of a view whose prior alone has changed: the same as `update`, for less."""
    xp = namespace(weights)
    ratio = xp.astype(where(before > 0, weights / where(before > 0, before, 1.0), 0.0), belief.posterior.dtype)

    def one_piece(rows: slice) -> Array:
        posterior = belief.posterior[rows, :] * ratio[None, :]
        total = xp.sum(posterior, axis=1)
        known = total > 0
        total = where(known, total, 1.0)
        posterior /= total[:, None]
        belief.posterior[rows, :] = posterior
        belief.evidence[rows] += xp.astype(xp.log(total), xp.float64)
        return xp.astype(xp.sum(posterior, axis=0), xp.float64)

    belief.totals = reduce(add, map_chunks(one_piece, pieces(belief)))


def pieces(belief: Belief) -> list[slice]:
    """All rows, cut so that their n x k arrays stay in the cache, and threads have something to share."""
    n, k = belief.posterior.shape
    return cut(slice(0, n), max(1, min(n, n * k // PIECE)))


def posteriors(log_prob: Array, log_prior: Array) -> tuple[Array, Array]:
    """Eq 14 for some rows, and the logarithm of its denominator.

    A row that no cluster can have made is evidence of nothing: its posterior is the prior. Numbers too small to be
    normal are zero, for arithmetic with them is slow and changes nothing.
    """
    xp = namespace(log_prob)
    log_prior = xp.astype(log_prior, log_prob.dtype, copy=False)[None, :]
    joint = log_prob + log_prior
    top = xp.max(joint, axis=1)
    impossible = top <= never(joint.dtype) / 2
    any_impossible = bool(xp.any(impossible))
    if any_impossible:
        joint = xp.where(impossible[:, None], log_prior, joint)
        top = xp.max(joint, axis=1)
    joint -= top[:, None]
    posterior = xp.exp(joint)
    total = xp.sum(posterior, axis=1)
    posterior /= total[:, None]
    smallest = xp.finfo(joint.dtype).smallest_normal
    if joint.shape[0] and float(xp.min(joint)) < log(smallest) + log(log_prob.shape[1]):
        posterior *= xp.astype(posterior >= smallest, posterior.dtype)
    evidence = xp.astype(top, xp.float64) + xp.astype(xp.log(total), xp.float64)
    return posterior, where(~impossible, evidence, -inf) if any_impossible else evidence


def quality(
    parts: Mapping[str, Part], beliefs: Mapping[str, Belief], weights: Weights, eta: float
) -> tuple[dict[str, float], float, float, float]:
    """The views' log-likelihoods, Q^MV (Eq 7, at the current parameters), its disagreement term, and agreement."""
    likelihoods = {name: log_likelihood(part, beliefs[name]) for name, part in parts.items()}
    certainty, delta = certainty_and_disagreement(beliefs, weights)
    q = sum(likelihoods.values()) + certainty - (eta * delta if eta else 0.0)
    return likelihoods, q, delta, agreement_rate(*view_labels(beliefs).values())


def certainty_and_disagreement(beliefs: Mapping[str, Belief], weights: Weights) -> tuple[float, float]:
    """What Q^MV has beyond likelihoods: minus the entropy of all posteriors, and Delta (Eq 10).

    With P the posteriors and L their logarithms, the first is the sum over entities and views v of ``<P_v, L_v>``. The
    disagreement of an entity's views S is the sum over v of ``|S| <P_v, L_v> - <P_v, sum of all L>``, over ``|S| - 1``.
    """
    first = next(iter(beliefs.values()))
    xp = namespace(first.known)
    n_known = reduce(add, (xp.astype(belief.known, xp.float64) for belief in beliefs.values()))
    several = where(n_known > 1, 1 / where(n_known > 1, n_known - 1, 1.0), 0.0)
    log_priors = {name: safe_log(own, beliefs[name].log_prob.dtype) for name, own in weights.items()}

    def one_piece(rows: slice) -> tuple[float, float]:
        posteriors = [belief.posterior[rows, :] for belief in beliefs.values()]
        logs = [log_posteriors(belief, log_priors[name], rows) for name, belief in beliefs.items()]
        own = reduce(add, (xp.sum(p * log_p, axis=1) for p, log_p in zip(posteriors, logs, strict=True)))
        own = xp.astype(own, xp.float64)
        all_posteriors, all_logs = reduce(add, posteriors), reduce(add, logs)
        bottom = never(all_logs.dtype) / 2
        if float(xp.min(all_logs)) <= bottom:
            ruled_out = all_logs <= bottom
            if bool(xp.any(xp.logical_and(ruled_out, all_posteriors > 0))):
                return float(xp.sum(own)), inf  # a view holds possible what another rules out
            all_logs = where(~ruled_out, all_logs, 0.0)
        crossed = xp.astype(xp.sum(all_posteriors * all_logs, axis=1), xp.float64)
        return float(xp.sum(own)), float(xp.sum(several[rows] * (n_known[rows] * own - crossed)))

    certainty, delta = np.sum(list(map_chunks(one_piece, pieces(first))), axis=0).tolist()
    return certainty, delta


def log_posteriors(belief: Belief, log_prior: Array, rows: slice) -> Array:
    """Logarithms of some posteriors, which may be too small to be told from zero themselves; 0 in missing rows."""
    log_prob, evidence = belief.log_prob[rows, :], belief.evidence[rows]
    xp = namespace(log_prob)
    log_prior = xp.astype(log_prior, log_prob.dtype, copy=False)[None, :]
    impossible = evidence == -inf
    logs = log_prob + log_prior
    if bool(xp.any(impossible)):
        logs = xp.where(impossible[:, None], log_prior, logs)
        evidence = where(~impossible, evidence, 0.0)
    logs -= xp.astype(evidence, log_prob.dtype)[:, None]
    if not bool(xp.all(belief.known[rows])):
        logs *= xp.astype(belief.known[rows], logs.dtype)[:, None]
    return logs


def log_likelihood(part: Part, belief: Belief) -> float:
    """Of all rows of a view."""
    xp = namespace(belief.evidence)
    own = 0.0 if part.own is None else float(xp.sum(where(part.present, part.own, 0.0)))
    return float(xp.sum(belief.evidence)) + own


def view_labels(beliefs: Mapping[str, Belief]) -> dict[str, np.ndarray]:
    """The cluster that each view finds most likely; NOWHERE where an entity lacks it."""
    return {name: labels_of(belief) for name, belief in beliefs.items()}


def labels_of(belief: Belief) -> np.ndarray:
    """The cluster of the largest posterior."""
    xp = namespace(belief.posterior)
    clusters = xp.arange(belief.posterior.shape[1], dtype=belief.posterior.dtype, device=device(belief.posterior))
    both = xp.stack([clusters, clusters * 0 + 1], axis=1)

    def one_piece(rows: slice) -> Array:
        posterior = belief.posterior[rows, :]
        found = xp.astype(posterior == xp.max(posterior, axis=1)[:, None], posterior.dtype) @ both
        if float(xp.sum(found[:, 1])) > posterior.shape[0]:  # ties: the first wins
            return xp.argmax(posterior, axis=1)
        return xp.astype(found[:, 0], xp.int64)  # argmax, along the memory

    labels = xp.concat(list(map_chunks(one_piece, pieces(belief))))
    return to_numpy(where(belief.known, labels, NOWHERE))
