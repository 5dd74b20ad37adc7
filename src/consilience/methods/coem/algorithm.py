"""Generalised co-EM (Bickel & Scheffer 2005, Table 1): mixture models over any number of views, a family each."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields
from functools import reduce
from itertools import pairwise, starmap
from math import inf, log
from operator import add
from typing import TYPE_CHECKING, Any

import numpy as np
from array_api_compat import device

from ...arrays import (
    Array,
    asarray_like,
    choose_block_size,
    count_stored,
    create_scratch_array,
    is_on_host,
    keep_where,
    namespace,
    split_slice,
    take_rows,
    to_numpy,
    true_unless_known_false,
)
from ...families import Family
from ...families.base import Density, Params, Statistics, is_possible, log_zero, safe_log
from ...rows import Source
from ...rows.shards import Shard, Shards, new_version
from ...rows.source import iterate_rows
from ..common.statistics import NO_LABEL

if TYPE_CHECKING:
    from .priors import Prior

WORKSPACE = 1 << 16  # numbers of a block: they stay in the cache from one step to the next
PIECE = 1 << 17  # posteriors that a thread takes at a time
LOAD = 1 << 22  # stored numbers that are read at a time
ROOMY = 4  # times as many of both, in shards so large that many threads are at work
Weights = dict[str, Array]  # the prior of each cluster, view by view
Share = float | Array  # of a posterior in a blend: of everybody's, or (n,)


@dataclass(frozen=True, eq=False)
class Part:
    """One view's rows and the family that explains them."""

    X: Array
    present: Array  # (n,) which rows count
    family: Family
    row_term: Array | None  # (n,) the part of a row's log-density that no cluster changes
    complete: bool = False  # whether all rows count

    def at(self, rows: slice) -> Part:
        """Some of the rows."""
        X = self.X.slice_rows(rows.start, rows.stop) if isinstance(self.X, Source) else self.X[rows, ...]
        present = self.present[rows]
        complete = bool(namespace(present).all(present))
        return Part(X, present, self.family, None if self.row_term is None else self.row_term[rows], complete)

    def some(self, rows: np.ndarray) -> Part:
        """A few of the rows by position, in memory."""
        at = asarray_like(rows, self.present)
        present, own = (None if x is None else namespace(x).take(x, at) for x in (self.present, self.row_term))
        return Part(take_rows(self.X, asarray_like(rows, self.X)), present, self.family, own)

    def blocks(self, X: Array, n_clusters: int, *, with_sums: bool = False) -> list[slice]:
        """Rows that are worked on at a time; where each sums up rows of its own, enough to be worth it."""
        n = X.shape[0]
        width = self.family.values_per_row(X, n_clusters)
        n_blocks = -(-n * width // choose_block_size(X, roomier(WORKSPACE, n * width)))
        if with_sums:
            n_blocks = min(n_blocks, count_stored(X) // (16 * X.shape[1]))
        return split_slice(slice(0, n), max(1, min(n, n_blocks)))


@dataclass(frozen=True, eq=False)
class Model:
    """The parameters and priors of all views at some time; a view may have no parameters yet."""

    params: dict[str, Params]
    weights: Weights
    ages: dict[str, int]  # of the parameters: what was worked out with others is of no use
    _densities: dict[str, Density] = field(default_factory=dict)

    @classmethod
    def of(cls, params: Mapping[str, Params], weights: Weights) -> Model:
        """New parameters."""
        return cls(dict(params), dict(weights), {name: new_version() for name in params})

    def learned(self, name: str, params: Params, weights: Weights) -> Model:
        """The same but for a view's parameters, and the priors."""
        return Model({**self.params, name: params}, weights, {**self.ages, name: new_version()})

    def build_density(self, part: Part, name: str) -> Density:
        """A view's log-densities as a function of rows like those of the part, laid out once."""
        if name not in self._densities:
            self._densities[name] = part.family.build_density(part.X, self.params[name])
        return self._densities[name]

    def __getstate__(self) -> dict[str, Any]:
        """What travels: parameters are laid out again where they arrive."""
        return {**self.__dict__, "_densities": {}}


@dataclass(frozen=True, eq=False)
class ViewPosterior:
    """What a view that has parameters thinks of some of its entities."""

    log_prob: Array  # (n, k), less the rows' own terms
    posterior: Array  # (n, k) Eq 14; zeros where the entity lacks the view
    evidence: Array  # (n,) log of the density of each row, less its own term; 0 where it is missing
    known: Array  # (n,) which entities have the view
    complete: bool  # whether all have


@dataclass(frozen=True, eq=False)
class Sums:
    """What a round has to know of some entities; those of two sets add up."""

    statistics: Statistics  # of one view, under the blended posteriors
    blended: Array  # (k,) sum of these
    totals: dict[str, Array]  # (k,) sum of each view's posteriors
    quality: dict[str, Array]  # log-likelihoods and the other terms of the criterion, agreement; or nothing

    def __add__(self, other: Sums) -> Sums:
        return Sums(*(add_statistics(getattr(self, own.name), getattr(other, own.name)) for own in fields(self)))


def add_statistics(a: Any, b: Any) -> Any:
    """Numbers, or mappings of numbers, key by key."""
    return {name: value + b[name] for name, value in a.items()} if isinstance(a, dict) else a + b


@dataclass(frozen=True, eq=False)
class CoEMState:
    """After a round: the parameters and priors of every view, and how good they are."""

    model: Model
    eta: float
    comparable: bool  # whether the next round has the same criterion
    log_likelihoods: dict[str, float]
    q: float
    delta: float
    agreement: float
    settled: bool = False

    @property
    def params(self) -> dict[str, Params]:
        return self.model.params

    @property
    def weights(self) -> Weights:
        return self.model.weights

    @property
    def costs(self) -> dict[str, float]:
        return {name: -value for name, value in self.log_likelihoods.items()}

    @property
    def record(self) -> dict[str, float]:
        by_view = {f"log_likelihood_{name}": value for name, value in self.log_likelihoods.items()}
        return {"q": self.q, "delta": self.delta, **by_view, "agreement": self.agreement, "eta": self.eta}


def co_em(
    shards: Shards,
    families: Mapping[str, Family],
    model: Model,
    etas: Iterable[tuple[float, bool]],
    prior: Prior,
) -> Iterator[CoEMState]:
    """One state a round: in each view in turn an M-step, and an E-step with the newest parameters of all views.

    A view may start without parameters: others speak for it until its first M-step. `etas` gives for each round the
    weight of the consensus, and whether it will stay. An E-step and the next view's M-step share a pass over the rows.
    """
    names = list(families)
    sums = None
    for (eta, stays), (next_eta, _) in pairwise(etas):
        sums = sums or run_e_step(shards, model, names[0], eta)  # E-step, Eqs 13 and 14
        for name, following in zip(names, [*names[1:], None], strict=True):
            params = families[name].maximize(sums.statistics)  # M-step, Eq 12
            model = model.learned(name, params, prior.learned(model.weights, name, sums))  # Eqs 12 and 17
            if following is not None:
                sums = run_e_step(shards, model, following, eta)
        sums = run_e_step(shards, model, names[0], next_eta, judged=True)  # and how good the round was
        yield state_of(model, sums.quality, eta, stays)


def run_e_step(shards: Shards, model: Model, target: str, eta: float, *, judged: bool = False) -> Sums:
    """E-step in all views, and what the M-step of one needs: one pass over the rows."""
    return shards.total(expect, model, target, eta, judged)


def expect(shard: Shard, model: Model, target: str, eta: float, judged: bool) -> Sums:
    """The same for the entities of a shard."""
    part = shard.views[target]

    def some(rows: slice, X: Mapping[str, Array], beliefs: Mapping[str, ViewPosterior]) -> Sums:
        blend = blend_posteriors(shard, beliefs, target, eta, rows)  # Eq 13
        return Sums(
            collect(part, X[target], blend),
            summed(blend),
            {name: summed(own.posterior) for name, own in beliefs.items()},
            quality(shard, beliefs, model.weights, rows) if judged else {},
        )

    return reduce(add, starmap(some, e_step(shard, model, target)))


def summed(posteriors: Array) -> Array:
    """The total of each cluster."""
    xp = namespace(posteriors)
    return xp.astype(xp.sum(posteriors, axis=0), xp.float64)


def e_step(
    shard: Shard, model: Model, *read: str
) -> Iterator[tuple[slice, Mapping[str, Array], Mapping[str, ViewPosterior]]]:
    """Some entities after the other, their rows in the views that are to be read, and what each view thinks of them."""
    stale = [name for name in model.params if shard.age(name) != model.ages[name] and name in shard.views]
    known = [name for name in shard.views if name in model.params]
    n_clusters = next(iter(model.weights.values())).shape[0]
    asked = {name: shard.views[name].X for name in (*stale, *read)}
    for name in stale:
        shard.outdate(name)
    for rows, X in iterate_rows(asked, shard.n, rows_at_a_time(shard, n_clusters)):
        for name in stale:
            part, kept = shard.views[name], room(shard, name, n_clusters)
            measure(part, X[name], model.build_density(part, name), kept[rows, :])
        yield rows, X, {name: believe(shard, model, name, rows) for name in known}
    for name in stale:
        shard.kept[name] = model.ages[name], shard.kept[name][1]


def rows_at_a_time(shard: Shard, n_clusters: int) -> int:
    """So many that their posteriors stay in the cache and they are soon read, but sums of their own are worth it."""
    wanted, worth = roomier(PIECE, shard.n * n_clusters) // n_clusters, 1
    for part in shard.views.values():
        if not is_on_host(part.X):
            return shard.n
        per_row = max(1, count_stored(part.X) // max(1, shard.n))
        wanted = min(wanted, LOAD // per_row)
        worth = max(worth, 16 * part.X.shape[1] // per_row)
    return max(wanted, worth)


def roomier(numbers: int, total: int) -> int:
    """More numbers at a time where there are many: with small blocks many threads would wait for the interpreter."""
    return max(numbers, min(ROOMY * numbers, total // 8))


def room(shard: Shard, name: str, n_clusters: int) -> Array:
    """Where a shard keeps the log-densities of a view: (n, k), cluster by cluster in memory.

    So sums over the clusters run along the rows.
    """
    if name not in shard.kept:
        part, shape = shard.views[name], (n_clusters, shard.n)
        if shard.spills:
            wide = create_scratch_array(shape, part.X.dtype)
        else:
            xp = namespace(part.present)
            wide = xp.empty(shape, dtype=part.X.dtype, device=device(part.present))
        shard.kept[name] = 0, wide.T
    return shard.kept[name][1]


def measure(part: Part, X: Array, density: Density, log_prob: Array) -> None:
    """Log-densities of some rows of a view under its parameters."""
    with np.errstate(over="ignore", invalid="ignore"):  # a row too far out to be measured is as good as impossible
        for block in part.blocks(X, log_prob.shape[1]):
            log_prob[block, :] = density(X[block, ...])
    xp = namespace(log_prob)
    if log_prob.shape[0] and true_unless_known_false(~is_possible(xp.min(log_prob))):
        log_prob[...] = keep_where(is_possible(log_prob), log_prob, log_zero(log_prob.dtype))


def believe(shard: Shard, model: Model, name: str, rows: slice) -> ViewPosterior:
    """What a view thinks of some of its entities, by the log-densities that are kept."""
    part, log_prob = shard.views[name], shard.kept[name][1][rows, :]
    posterior, evidence = compute_posteriors(log_prob, safe_log(model.weights[name], log_prob.dtype))
    known = part.present[rows]
    if not part.complete:
        posterior *= namespace(known).astype(known, posterior.dtype)[:, None]
        evidence = keep_where(known, evidence, 0.0)
    return ViewPosterior(log_prob, posterior, evidence, known, part.complete)


def compute_posteriors(log_prob: Array, log_prior: Array) -> tuple[Array, Array]:
    """Eq 14 for some rows, and the logarithm of its denominator.

    A row that no cluster can have made is evidence of nothing: its posterior is the prior. Numbers too small to be
    normal are zero, for arithmetic with them is slow and changes nothing.
    """
    xp = namespace(log_prob)
    log_prior = xp.astype(log_prior, log_prob.dtype, copy=False)[None, :]
    joint = log_prob + log_prior
    top = xp.max(joint, axis=1)
    impossible = top <= log_zero(joint.dtype) / 2
    any_impossible = true_unless_known_false(xp.any(impossible))
    if any_impossible:
        joint = xp.where(impossible[:, None], log_prior, joint)
        top = xp.max(joint, axis=1)
    joint -= top[:, None]
    posterior = xp.exp(joint)
    total = xp.sum(posterior, axis=1)
    posterior /= total[:, None]
    smallest = xp.finfo(joint.dtype).smallest_normal
    if joint.shape[0] and true_unless_known_false(xp.min(joint) < log(smallest) + log(log_prob.shape[1])):
        posterior *= xp.astype(posterior >= smallest, posterior.dtype)
    evidence = xp.astype(top, xp.float64) + xp.astype(xp.log(total), xp.float64)
    return posterior, keep_where(~impossible, evidence, -inf) if any_impossible else evidence


def blend_posteriors(shard: Shard, beliefs: Mapping[str, ViewPosterior], target: str, eta: float, rows: slice) -> Array:
    """Eq 13: the posteriors of a view blended with those of the others.

    Only the views that an entity has take part; the entity's only view speaks for itself.
    """
    part = shard.views[target]
    terms = []
    for name, share in shares(shard.views, beliefs, target, eta, rows).items():
        posterior = namespace(part.present).astype(beliefs[name].posterior, part.X.dtype, copy=False)
        if not isinstance(share, float):
            terms.append(posterior * share[:, None])
        elif share:
            terms.append(posterior if share == 1 else posterior * share)
    return reduce(add, terms)


def shares(
    parts: Mapping[str, Part], beliefs: Mapping[str, ViewPosterior], target: str, eta: float, rows: slice
) -> dict[str, Share]:
    """How much of each view's posterior counts in one of them: numbers if nobody lacks anything."""
    others = [name for name in beliefs if name != target]
    if target in beliefs and not others:
        return {target: 1.0}
    if len(beliefs) == len(parts) and all(belief.complete for belief in beliefs.values()):
        return {target: 1.0 - eta, **dict.fromkeys(others, eta / len(others))}
    part = parts[target]
    xp, kind = namespace(part.present), part.X.dtype
    present = xp.astype(part.present[rows], kind)
    n_others = reduce(add, (xp.astype(beliefs[name].known, kind) for name in others), present * 0)
    known = present if target in beliefs else present * 0
    alone = xp.astype(n_others == 0, kind)
    # a view without parameters leaves it all to the others
    shared = present * (1 - alone) * (1 - known * (1 - eta)) / (n_others + alone)
    own = {target: known * ((1 - eta) + eta * alone)} if target in beliefs else {}
    return own | dict.fromkeys(others, shared)


def collect(part: Part, X: Array, responsibilities: Array) -> Statistics:
    """The statistics of some rows of a view."""
    parts = part.blocks(X, responsibilities.shape[1], with_sums=True)
    found = (part.family.statistics(X[block, ...], responsibilities[block, :]) for block in parts)
    return reduce(add_statistics, found)


def quality(shard: Shard, beliefs: Mapping[str, ViewPosterior], weights: Weights, rows: slice) -> dict[str, Array]:
    """The views' log-likelihoods, the other terms of Q^MV (Eq 7, at the current parameters), and agreement."""
    found = {}
    for name, belief in beliefs.items():
        xp, own = namespace(belief.evidence), shard.views[name].row_term
        found[f"log_likelihood_{name}"] = xp.sum(belief.evidence)
        if own is not None:
            found[f"log_likelihood_{name}"] += xp.sum(keep_where(belief.known, own[rows], 0.0))
    return found | certainty_and_disagreement(beliefs, weights) | agreement(list(beliefs.values()))


def certainty_and_disagreement(beliefs: Mapping[str, ViewPosterior], weights: Weights) -> dict[str, Array]:
    """What Q^MV has beyond likelihoods: minus the entropy of all posteriors, and Delta (Eq 10).

    With P the posteriors and L their logarithms, the first is the sum over entities and views v of ``<P_v, L_v>``. The
    disagreement of an entity's views S is the sum over v of ``|S| <P_v, L_v> - <P_v, sum of all L>``, over ``|S| - 1``.
    """
    xp = namespace(next(iter(beliefs.values())).posterior)
    n_known = reduce(add, (xp.astype(belief.known, xp.float64) for belief in beliefs.values()))
    several = keep_where(n_known > 1, 1 / keep_where(n_known > 1, n_known - 1, 1.0), 0.0)
    posteriors = [belief.posterior for belief in beliefs.values()]
    logs = [log_posteriors(belief, safe_log(weights[n], belief.log_prob.dtype)) for n, belief in beliefs.items()]
    own = reduce(add, (xp.sum(p * log_p, axis=1) for p, log_p in zip(posteriors, logs, strict=True)))
    own = xp.astype(own, xp.float64)
    all_posteriors, all_logs = reduce(add, posteriors), reduce(add, logs)
    bottom = log_zero(all_logs.dtype) / 2
    contradiction = own[0] * 0
    if true_unless_known_false(xp.min(all_logs) <= bottom):
        ruled_out = all_logs <= bottom
        against = xp.any(xp.logical_and(ruled_out, all_posteriors > 0))  # a view holds possible what another rules out
        contradiction = xp.where(against, contradiction + inf, contradiction)
        all_logs = keep_where(~ruled_out, all_logs, 0.0)
    crossed = xp.astype(xp.sum(all_posteriors * all_logs, axis=1), xp.float64)
    return {"certainty": xp.sum(own), "delta": xp.sum(several * (n_known * own - crossed)) + contradiction}


def log_posteriors(belief: ViewPosterior, log_prior: Array) -> Array:
    """Logarithms of some posteriors, which may be too small to be told from zero themselves; 0 in missing rows."""
    log_prob, evidence = belief.log_prob, belief.evidence
    xp = namespace(log_prob)
    log_prior = xp.astype(log_prior, log_prob.dtype, copy=False)[None, :]
    impossible = evidence == -inf
    logs = log_prob + log_prior
    if true_unless_known_false(xp.any(impossible)):
        logs = xp.where(impossible[:, None], log_prior, logs)
        evidence = keep_where(~impossible, evidence, 0.0)
    logs -= xp.astype(evidence, log_prob.dtype)[:, None]
    if not belief.complete:
        logs *= xp.astype(belief.known, logs.dtype)[:, None]
    return logs


def agreement(beliefs: Sequence[ViewPosterior]) -> dict[str, Array]:
    """How many entities have two views or more, and of how many all views find the same cluster most likely."""
    xp = namespace(beliefs[0].posterior)
    most = beliefs[0].posterior.shape[1]
    labels = [most_likely(belief.posterior) for belief in beliefs]
    lowest, highest = labels[0] * 0 + most, labels[0] * 0 + NO_LABEL
    n_known = labels[0] * 0
    for own, belief in zip(labels, beliefs, strict=True):
        lowest = xp.where(belief.known, xp.minimum(lowest, own), lowest)
        highest = xp.where(belief.known, xp.maximum(highest, own), highest)
        n_known = n_known + xp.astype(belief.known, n_known.dtype)
    counted = n_known >= 2
    agreed = xp.logical_and(counted, lowest == highest)
    return {"counted": xp.sum(xp.astype(counted, xp.float64)), "agreed": xp.sum(xp.astype(agreed, xp.float64))}


def most_likely(posterior: Array) -> Array:
    """The cluster of the largest posterior, the first on ties."""
    xp = namespace(posterior)
    if is_on_host(posterior):  # argmax would run across the memory
        clusters = np.arange(posterior.shape[1], dtype=posterior.dtype)
        winners = (posterior == posterior.max(axis=1)[:, None]).astype(posterior.dtype)
        found = winners @ np.stack([clusters, clusters * 0 + 1], axis=1)
        if found[:, 1].sum() <= len(posterior):
            return found[:, 0].astype(np.int64)
    return xp.argmax(posterior, axis=1)


def state_of(model: Model, found: Mapping[str, Array], eta: float, stays: bool) -> CoEMState:
    """A round and how good it was: the only numbers that leave a device in a round."""
    xp = namespace(next(iter(found.values())))
    numbers = dict(zip(found, to_numpy(xp.stack(list(found.values()))).tolist(), strict=True))
    likelihoods = {name: numbers[f"log_likelihood_{name}"] for name in model.params}
    delta = numbers["delta"]
    q = sum(likelihoods.values()) + numbers["certainty"] - (eta * delta if eta else 0.0)
    agreed = numbers["agreed"] / numbers["counted"] if numbers["counted"] else 1.0
    return CoEMState(model, eta, stays, likelihoods, q, delta, agreed)
