"""Generalized co-EM (Bickel & Scheffer 2005, Table 1): mixture models over any number of views, one family per view."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields
from functools import reduce
from itertools import count
from math import inf, log
from operator import add
from typing import TYPE_CHECKING, Any

import numpy as np
from array_api_compat import device

from ..._tuning import Tuning
from ...arrays import (
    Array,
    add_arrays,
    choose_block_size,
    count_stored,
    find_fused_loops,
    is_in_memory,
    is_on_host,
    keep_where,
    namespace,
    split_slice,
    to_numpy,
    true_unless_known_false,
)
from ...arrays.fused import WORTH_COMPILED, WORTH_SCORES
from ...families import Family
from ...families.base import Density, Params, Statistics, is_possible, log_zero, safe_log, sum_responsibilities
from ...rows import Shard, Shards, ViewRows, new_version
from ..common.statistics import NO_LABEL

if TYPE_CHECKING:
    from .priors import Prior

tuning = Tuning(
    workspace=1 << 16,  # numbers per block: they stay in the cache from one step to the next
    piece=1 << 17,  # posteriors that a thread computes at a time
)
LOAD = 1 << 22  # stored numbers that are read at a time
ROOMY = 4  # factor on both in large shards
LOG_PROB = "log_prob"  # under which a shard caches log-densities
QUALITY = ("certainty", "delta", "counted", "agreed")  # terms of a round's quality beside log-likelihoods
Weights = dict[str, Array]  # the prior of each cluster, per view


@dataclass(frozen=True, eq=False)
class Model:
    """Families, parameters and priors of all views; a view may have no parameters yet."""

    families: Mapping[str, Family]
    params: dict[str, Params]
    weights: Weights
    versions: dict[str, int] = field(default_factory=dict)  # of the parameters, which cached log-densities belong to
    _densities: dict[str, Density] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for name in self.params:
            self.versions.setdefault(name, new_version())

    def update(self, name: str, params: Params, weights: Weights) -> Model:
        """Return the model with new parameters of one view, and new priors."""
        versions = {**self.versions, name: new_version()}
        densities = {other: density for other, density in self._densities.items() if other != name}
        return Model(self.families, {**self.params, name: params}, weights, versions, densities)

    def density(self, name: str, X: Array) -> Density:
        """Return a view's log-densities as a function of rows of the kind of X, built once."""
        if name not in self._densities:
            self._densities[name] = self.families[name].build_density(X, self.params[name])
        return self._densities[name]

    def __getstate__(self) -> dict[str, Any]:
        """Leave out the densities, which are built again from the parameters."""
        return {**self.__dict__, "_densities": {}}


@dataclass(frozen=True, eq=False)
class ViewPosterior:
    """The posteriors of some entities in one view that has parameters."""

    log_prob: Array  # (n, k), without the row terms
    posterior: Array  # (n, k) Eq 14; zeros where the entity lacks the view
    evidence: Array  # (n,) log-density of each row, without its row term; 0 where it is missing
    present: Array  # (n,) which entities have the view
    complete: bool  # whether all have it


@dataclass(frozen=True, eq=False)
class Sums:
    """Results of an E-step on some entities; those of two sets add up."""

    statistics: Statistics  # of one view, under the blended posteriors
    blended: Array  # (k,) sum of the blended posteriors
    totals: dict[str, Array]  # (k,) sum of each view's posteriors
    quality: dict[str, Array] = field(default_factory=dict)  # terms of the criterion, and agreement

    @classmethod
    def add_up(cls, parts: Sequence[Sums]) -> Sums:
        """Return the sums of several sets of entities, added in their order."""
        if len(parts) == 1:
            return parts[0]
        return cls(*(add_statistics([getattr(part, term.name) for part in parts]) for term in fields(cls)))

    def __add__(self, other: Sums) -> Sums:
        return self.add_up([self, other])


def add_statistics(parts: Sequence[Any]) -> Any:
    """Add arrays, or mappings of arrays key by key."""
    if len(parts) == 1:
        return parts[0]
    if isinstance(parts[0], dict):
        return {name: add_statistics([part[name] for part in parts]) for name in parts[0]}
    return add_arrays(parts)


@dataclass(frozen=True, eq=False)
class CoEMState:
    """The model after a round, and its quality."""

    model: Model
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


def co_em(shards: Shards, model: Model, etas: Sequence[float], prior: Prior) -> Iterator[CoEMState]:
    """Yield one state per round. `etas` has the weight of the consensus per round; the last one stays.

    A view may start without parameters: the other views determine its posteriors until its first M-step.
    """
    names, last, sums = list(shards.views), len(etas) - 1, None
    for t in count():
        eta, next_eta = etas[min(t, last)], etas[min(t + 1, last)]
        model, sums = run_em_round(shards, model, names, prior, eta, next_eta, sums)
        yield make_state(model, sums.quality, eta, comparable=t >= last)


def run_em_round(
    shards: Shards,
    model: Model,
    names: Sequence[str],
    prior: Prior,
    eta: float,
    next_eta: float,
    sums: Sums | None = None,
    average: Callable[[str, Sums], Sums] | None = None,
) -> tuple[Model, Sums]:
    """Run an M-step in each view in turn, each on an E-step with the newest parameters of all views.

    Return the model, and the sums of the E-step that the next round starts from, with the quality of this round.
    `average` replaces the sums of a view by averages over the batches of a stream.
    """
    for name in names:
        sums = sums or run_e_step(shards, model, name, eta)  # Eqs 13 and 14
        sums = sums if average is None else average(name, sums)
        params = model.families[name].maximize(sums.statistics)  # M-step, Eq 12
        model = model.update(name, params, prior.update(model.weights, name, sums))  # Eqs 12 and 17
        sums = None
    return model, run_e_step(shards, model, names[0], next_eta, with_quality=True)


def run_e_step(shards: Shards, model: Model, target: str, eta: float, *, with_quality: bool = False) -> Sums:
    """Compute the posteriors of all views and the sums for the M-step of one, in one pass over the rows."""
    for name, view in shards.views.items():
        if name in model.params and is_in_memory(view.X):
            model.density(name, view.X)  # built here once, not by each of the threads
    return Sums.add_up(list(shards.map(sum_shard, model, target, eta, with_quality)))


def sum_shard(shard: Shard, model: Model, target: str, eta: float, with_quality: bool) -> Sums:
    """Run the E-step on the entities of a shard."""
    spans = iterate_log_probs(shard, model, [target])
    return Sums.add_up([sum_span(shard, model, X[target], target, eta, rows, with_quality) for rows, X in spans])


def sum_span(
    shard: Shard, model: Model, X: Array, target: str, eta: float, rows: slice, with_quality: bool = False
) -> Sums:
    """Compute the sums of some entities, whose log-densities the shard has cached; X has their rows in one view."""
    names = list_fitted_views(shard, model)
    blended, sums, quality = blend_span(shard, model, target, eta, rows, with_quality)
    statistics = collect_statistics(model.families[target], X, blended)
    totals = {name: sums[i, :] for i, name in enumerate(names)}
    if not with_quality:
        return Sums(statistics, sums[-1, :], totals)
    # log-likelihoods, the other terms of Q^MV (Eq 7, at the current parameters), and agreement
    likelihoods = [f"log_likelihood_{name}" for name in names]
    terms = dict(zip([*likelihoods, *QUALITY], quality, strict=True))
    for name, key in zip(names, likelihoods, strict=True):
        view = shard.views[name]
        if view.row_term is not None:
            row_terms = keep_where(view.present[rows], view.row_term[rows], 0.0)
            terms[key] = terms[key] + namespace(row_terms).sum(row_terms)
    return Sums(statistics, sums[-1, :], totals, terms)


def blend_span(
    shard: Shard, model: Model, target: str, eta: float, rows: slice, with_quality: bool
) -> tuple[Array, Array, Sequence[Array]]:
    """Compute the posteriors of some entities in each view, and blend them for one view (Eqs 13 and 14).

    Returns
    -------
    blended : array of shape (n_rows, n_clusters)
    sums : array of shape (n_views + 1, n_clusters)
        The sums of the posteriors of each view that has parameters, and of the blended ones.
    quality : sequence of n_views + 4 numbers
        The log-likelihood of each view without row terms, and the numbers that `QUALITY` names.
    """
    names, log_probs, view = list_fitted_views(shard, model), shard.cache.arrays[LOG_PROB], shard.views[target]
    worth = 0 if count_stored(view.X) >= WORTH_COMPILED else WORTH_SCORES  # numba is loaded for large views anyway
    loops = find_fused_loops(log_probs[0, :, rows], log_probs.shape[1], worth=worth)
    if loops is None:
        return blend_by_steps(shard, model, target, eta, rows, with_quality)
    xp, dtype, views = namespace(log_probs), log_probs.dtype, [shard.views[name] for name in names]
    complete = view.complete and all(other.complete for other in views)
    return loops.blend_views(
        log_probs,
        [list(shard.views).index(name) for name in names],
        xp.stack([safe_log(model.weights[name], dtype) for name in names]),
        None if complete else [other.present for other in views],
        view.present,
        shard.fixed_labels,
        names.index(target) if target in names else -1,
        eta,
        log_zero(dtype) / 2,
        rows,
        with_quality=with_quality,
    )


def blend_by_steps(
    shard: Shard, model: Model, target: str, eta: float, rows: slice, with_quality: bool
) -> tuple[Array, Array, Sequence[Array]]:
    """Compute what `blend_span` returns by functions of the array library."""
    posteriors = get_posteriors(shard, model, rows)
    blend = blend_posteriors(shard.views, posteriors, target, eta, rows)  # Eq 13
    fixed_labels, present = shard.fixed(rows), shard.views[target].present[rows]
    if fixed_labels is not None and target not in posteriors:  # else known classes are in the posteriors
        blend = clamp_posteriors(blend + 0, fixed_labels) * namespace(present).astype(present, blend.dtype)[:, None]
    xp = namespace(blend)
    sums = xp.stack([sum_responsibilities(values) for values in (*(v.posterior for v in posteriors.values()), blend)])
    if not with_quality:
        return blend, sums, []
    quality = [xp.sum(view.evidence) for view in posteriors.values()]
    terms = compute_disagreement_terms(posteriors, model.weights)
    terms |= count_posterior_agreement(list(posteriors.values()), fixed_labels)
    return blend, sums, [*quality, *(terms[name] for name in QUALITY)]


def list_fitted_views(shard: Shard, model: Model) -> list[str]:
    """Return the views of a shard that have parameters."""
    return [name for name in shard.views if name in model.params]


def iterate_log_probs(
    shard: Shard, model: Model, read: Sequence[str] = ()
) -> Iterator[tuple[slice, Mapping[str, Array]]]:
    """Yield slices of the entities whose log-densities the shard has cached, and their rows in the views to read.

    Only the log-densities of new parameters are computed.
    """
    n_clusters = next(iter(model.weights.values())).shape[0]
    versions = {name: model.versions[name] for name in list_fitted_views(shard, model)}
    with shard.cache.refresh(versions) as outdated:
        for rows, X in shard.read([*outdated, *read], choose_posterior_span(shard, n_clusters)):
            for name in outdated:
                density = model.density(name, shard.views[name].X)
                compute_log_prob(model.families[name], X[name], density, get_log_prob(shard, name, n_clusters)[rows, :])
            yield rows, X


def get_log_prob(shard: Shard, name: str, n_clusters: int) -> Array:
    """Return the cached log-densities of a view, (n, k).

    Those of all views are one array. They are stored cluster by cluster, so that sums over the clusters run along the
    rows.
    """
    views = shard.views
    dtype = namespace(views[name].present).result_type(*(view.X.dtype for view in views.values()))
    log_probs = shard.cache.get(LOG_PROB, (len(views), n_clusters, len(shard)), dtype, views[name].present)
    return log_probs[list(views).index(name), :, :].T


def iterate_posteriors(
    shard: Shard, model: Model, read: Sequence[str] = ()
) -> Iterator[tuple[slice, Mapping[str, Array], Mapping[str, ViewPosterior]]]:
    """Yield slices of the entities, their rows in the views to read, and the posteriors of each view."""
    for rows, X in iterate_log_probs(shard, model, read):
        yield rows, X, get_posteriors(shard, model, rows)


def choose_posterior_span(shard: Shard, n_clusters: int) -> int:
    """Choose how many rows to process at a time: their posteriors fit the cache, but sums per span are worth it."""
    n, n_rows, worth = len(shard), enlarge(tuning.piece, len(shard) * n_clusters) // n_clusters, 1
    for view in shard.views.values():
        if not is_on_host(view.X):
            return n
        per_row = max(1, count_stored(view.X) // max(1, n))
        n_rows = min(n_rows, LOAD // per_row)
        worth = max(worth, 16 * view.X.shape[1] // per_row)
    return max(n_rows, worth)


def enlarge(numbers: int, total: int) -> int:
    """Process more numbers at a time if there are many: with small blocks threads wait for the interpreter."""
    return max(numbers, min(ROOMY * numbers, total // 8))


def split_for_family(family: Family, X: Array, n_clusters: int, *, with_sums: bool = False) -> list[slice]:
    """Cut rows into blocks that fit the cache; with sums per block, into so few that these are worth it."""
    n, n_values = X.shape[0], X.shape[0] * family.values_per_row(X, n_clusters)
    if family.works_in_blocks(X, n_clusters):
        return [slice(0, n)]
    n_blocks = -(-n_values // choose_block_size(X, enlarge(tuning.workspace, n_values)))
    if with_sums:
        n_blocks = min(n_blocks, count_stored(X) // (16 * X.shape[1]))
    return split_slice(slice(0, n), max(1, min(n, n_blocks)))


def compute_log_prob(family: Family, X: Array, density: Density, log_prob: Array) -> None:
    """Write the log-densities of some rows of a view under its parameters to `log_prob`."""
    with np.errstate(over="ignore", invalid="ignore"):  # a row too far away to be measured counts as impossible
        for block in split_for_family(family, X, log_prob.shape[1]):
            values, shape = density(X[block, ...]), (block.stop - block.start, log_prob.shape[1])
            if values.shape != shape:
                raise ValueError(
                    f"family {family.name!r}: log_prob returned shape {values.shape}, but must return (rows, "
                    f"clusters), here {shape}"
                )
            log_prob[block, :] = values
    xp = namespace(log_prob)
    if log_prob.shape[0] and true_unless_known_false(~is_possible(xp.min(log_prob))):
        log_prob[...] = keep_where(is_possible(log_prob), log_prob, log_zero(log_prob.dtype))


def get_posteriors(shard: Shard, model: Model, rows: slice) -> dict[str, ViewPosterior]:
    """Compute the posteriors of some entities in each view from the cached log-densities."""
    posteriors = {}
    for name in list_fitted_views(shard, model):
        view, log_prob = shard.views[name], get_log_prob(shard, name, model.weights[name].shape[0])[rows, :]
        log_prior = safe_log(model.weights[name], log_prob.dtype)
        posterior, evidence = compute_posteriors(log_prob, log_prior, shard.fixed(rows))
        present = view.present[rows]
        if not view.complete:
            posterior *= namespace(present).astype(present, posterior.dtype)[:, None]
            evidence = keep_where(present, evidence, 0.0)
        posteriors[name] = ViewPosterior(log_prob, posterior, evidence, present, view.complete)
    return posteriors


def compute_posteriors(log_prob: Array, log_prior: Array, fixed_labels: Array | None = None) -> tuple[Array, Array]:
    """Compute Eq 14 for some rows, and the logarithm of its denominator.

    The posterior of a row that is impossible in every cluster is the prior. Subnormal numbers become zero, because
    arithmetic with them is slow and they change nothing. If the class of an entity is known, its posterior is 1 in that
    cluster, which alone counts in the denominator: this is the likelihood of the row and its class.
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
    evidence = keep_where(~impossible, evidence, -inf) if any_impossible else evidence
    if fixed_labels is None:
        return posterior, evidence
    is_fixed = fixed_labels >= 0
    columns = keep_where(is_fixed, fixed_labels, 0)[:, None]
    joint = xp.take_along_axis(log_prob + log_prior, columns, axis=1)[:, 0]
    joint = keep_where(joint > log_zero(joint.dtype) / 2, xp.astype(joint, xp.float64), -inf)
    return clamp_posteriors(posterior, fixed_labels), xp.where(is_fixed, joint, evidence)


def clamp_posteriors(posteriors: Array, fixed_labels: Array) -> Array:
    """Set the posteriors of entities of a known class, in place: 1 in its cluster, 0 in the others."""
    xp = namespace(posteriors)
    clusters = xp.arange(posteriors.shape[1], dtype=fixed_labels.dtype, device=device(fixed_labels))
    posteriors *= xp.astype(fixed_labels < 0, posteriors.dtype)[:, None]
    posteriors += xp.astype(fixed_labels[:, None] == clusters[None, :], posteriors.dtype)
    return posteriors


def blend_posteriors(
    views: Mapping[str, ViewRows], posteriors: Mapping[str, ViewPosterior], target: str, eta: float, rows: slice
) -> Array:
    """Blend the posteriors of a view with those of the others (Eq 13).

    Only the views that an entity has take part; if it has one view only, that view's posterior is used.
    """
    view, others = views[target], [name for name in posteriors if name != target]
    xp, dtype = namespace(view.present), view.X.dtype
    shares: dict[str, Any]  # numbers if no entity lacks a view, else (n, 1)
    if target in posteriors and not others:
        shares = {target: 1.0}
    elif len(posteriors) == len(views) and all(other.complete for other in posteriors.values()):
        shares = {target: 1.0 - eta, **dict.fromkeys(others, eta / len(others))}
    else:
        present = xp.astype(view.present[rows], dtype)
        n_others = reduce(add, (xp.astype(posteriors[name].present, dtype) for name in others), present * 0)
        has_posterior = present if target in posteriors else present * 0
        alone = xp.astype(n_others == 0, dtype)
        # a view without parameters takes its posterior from the others alone
        shared = present * (1 - alone) * (1 - has_posterior * (1 - eta)) / (n_others + alone)
        shares = {target: (has_posterior * ((1 - eta) + eta * alone))[:, None]} if target in posteriors else {}
        shares |= dict.fromkeys(others, shared[:, None])
    terms = []
    for name, share in shares.items():
        posterior = xp.astype(posteriors[name].posterior, dtype, copy=False)
        if not isinstance(share, float) or share not in (0.0, 1.0):
            terms.append(posterior * share)
        elif share:
            terms.append(posterior)
    return reduce(add, terms)


def collect_statistics(family: Family, X: Array, responsibilities: Array) -> Statistics:
    """Collect the statistics of some rows of a view."""
    blocks = split_for_family(family, X, responsibilities.shape[1], with_sums=True)
    return add_statistics([family.statistics(X[block, ...], responsibilities[block, :]) for block in blocks])


def compute_disagreement_terms(posteriors: Mapping[str, ViewPosterior], weights: Weights) -> dict[str, Array]:
    """Compute the terms of Q^MV beyond likelihoods: minus the entropy of all posteriors, and Delta (Eq 10).

    With P the posteriors and L their logarithms, the first is the sum over entities and views v of ``<P_v, L_v>``. The
    disagreement of an entity's views S is the sum over v of ``|S| <P_v, L_v> - <P_v, sum of all L>``, over ``|S| - 1``.
    """
    views = posteriors.values()
    xp = namespace(next(iter(views)).posterior)
    n_present = reduce(add, (xp.astype(view.present, xp.float64) for view in views))
    per_pair = keep_where(n_present > 1, 1 / keep_where(n_present > 1, n_present - 1, 1.0), 0.0)
    logs = [compute_log_posteriors(view, safe_log(weights[n], view.log_prob.dtype)) for n, view in posteriors.items()]
    products = (xp.sum(view.posterior * log_p, axis=1) for view, log_p in zip(views, logs, strict=True))
    certainty = xp.astype(reduce(add, products), xp.float64)
    all_posteriors, all_logs = reduce(add, (view.posterior for view in views)), reduce(add, logs)
    bottom = log_zero(all_logs.dtype) / 2
    contradiction = certainty[0] * 0
    if true_unless_known_false(xp.min(all_logs) <= bottom):
        ruled_out = all_logs <= bottom
        against = xp.any(xp.logical_and(ruled_out, all_posteriors > 0))  # possible in one view, impossible in another
        contradiction = xp.where(against, contradiction + inf, contradiction)
        all_logs = keep_where(~ruled_out, all_logs, 0.0)
    crossed = xp.astype(xp.sum(all_posteriors * all_logs, axis=1), xp.float64)
    delta = xp.sum(per_pair * (n_present * certainty - crossed)) + contradiction
    return {"certainty": xp.sum(certainty), "delta": delta}


def compute_log_posteriors(view: ViewPosterior, log_prior: Array) -> Array:
    """Compute the logarithms of posteriors, which may themselves be rounded to zero; 0 in missing rows."""
    log_prob, evidence = view.log_prob, view.evidence
    xp = namespace(log_prob)
    log_prior = xp.astype(log_prior, log_prob.dtype, copy=False)[None, :]
    impossible = evidence == -inf
    logs = log_prob + log_prior
    if true_unless_known_false(xp.any(impossible)):
        logs = xp.where(impossible[:, None], log_prior, logs)
        evidence = keep_where(~impossible, evidence, 0.0)
    logs -= xp.astype(evidence, log_prob.dtype)[:, None]
    if not view.complete:
        logs *= xp.astype(view.present, logs.dtype)[:, None]
    return logs


def count_posterior_agreement(views: Sequence[ViewPosterior], fixed_labels: Array | None = None) -> dict[str, Array]:
    """Count the entities with two views or more, and those of them whose views find the same cluster most likely.

    Entities of a known class do not count.
    """
    xp = namespace(views[0].posterior)
    labels = [find_most_likely(view.posterior) for view in views]
    n_present = labels[0] * 0
    lowest, highest = n_present + views[0].posterior.shape[1], n_present + NO_LABEL
    for view_labels, view in zip(labels, views, strict=True):
        lowest = xp.where(view.present, xp.minimum(lowest, view_labels), lowest)
        highest = xp.where(view.present, xp.maximum(highest, view_labels), highest)
        n_present = n_present + xp.astype(view.present, n_present.dtype)
    counted = n_present >= 2
    if fixed_labels is not None:
        counted = xp.logical_and(counted, fixed_labels < 0)
    agreed = xp.logical_and(counted, lowest == highest)
    return {"counted": xp.sum(xp.astype(counted, xp.float64)), "agreed": xp.sum(xp.astype(agreed, xp.float64))}


def find_most_likely(posterior: Array) -> Array:
    """Return the cluster of the largest posterior per row, the first on ties."""
    if is_on_host(posterior):  # argmax would read memory in strides
        clusters = np.arange(posterior.shape[1], dtype=posterior.dtype)
        winners = (posterior == posterior.max(axis=1)[:, None]).astype(posterior.dtype)
        sums = winners @ np.stack([clusters, clusters * 0 + 1], axis=1)
        if sums[:, 1].sum() <= len(posterior):
            return sums[:, 0].astype(np.int64)
    return namespace(posterior).argmax(posterior, axis=1)


def make_state(model: Model, quality: Mapping[str, Array], eta: float, comparable: bool) -> CoEMState:
    """Return the state after a round; its quality is all that leaves a device per round."""
    xp = namespace(next(iter(quality.values())))
    numbers = dict(zip(quality, to_numpy(xp.stack(list(quality.values()))).tolist(), strict=True))
    likelihoods = {name: numbers[f"log_likelihood_{name}"] for name in model.params}
    delta = numbers["delta"]
    q = sum(likelihoods.values()) + numbers["certainty"] - (eta * delta if eta else 0.0)
    agreement = numbers["agreed"] / numbers["counted"] if numbers["counted"] else 1.0
    return CoEMState(model, eta, comparable, likelihoods, q, delta, agreement)
