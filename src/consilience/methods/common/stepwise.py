"""Stepwise EM for streams (Cappé & Moulines 2009; Liang & Klein 2009): statistics averaged over the batches.

What is remembered of a view is small: its statistics per entity, in which newer batches count more, and how many
entities these are of. A batch costs one round over its own rows.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from ...arrays import Array, asarray_like, is_array, keep_where, namespace, to_numpy
from ...data import Table
from ...divergences import Divergence
from ...families import Family
from ...rows.shards import Shard, Shards, new_version, started
from ..coem.algorithm import CoEMState, Model, Sums, run_e_step, state_of
from ..coem.priors import Prior
from ..kmeans.algorithm import Centers, KMeansState, e_step, fetch_numbers, maximise, sweep
from ..kmeans.combine import Agreed, collect_consensus
from .statistics import NO_LABEL, ClusterSums

# Above 1/2 and at most 1, where all batches count the same. Liang & Klein recommend 0.7. Streams of 20 batches hardly
# differ from 0.6 to 0.85; at 1 those of weak views do worse, for the first batch's clusters count on.
POWER = 0.7
Memory = dict[str, Any]  # of a view: "n_entities", and means over these, as arrays or as dicts of arrays
Memories = Mapping[str, Memory]


def leafwise(function: Callable[..., Any], *trees: Any) -> Any:
    """A function of numbers, or of those in mappings, key by key."""
    if isinstance(trees[0], Mapping):
        return {key: leafwise(function, *(tree[key] for tree in trees)) for key in trees[0]}
    return function(*trees)


def brought(tree: Any, kind: Array) -> Any:
    """What is remembered, in the library and on the device of a batch."""
    return leafwise(lambda value: asarray_like(value, kind) if is_array(value) else value, tree)


def counted(shards: Shards) -> dict[str, int]:
    """How many entities have each view, of the views that somebody has."""
    if not sum(shards.sizes):
        raise ValueError("this batch has no entities: leave it out")
    present = [part.present for part in shards.views.values()]
    xp = namespace(present[0])
    numbers = fetch_numbers([xp.sum(xp.astype(own, xp.float64)) for own in present])
    found = {name: int(n) for name, n in zip(shards.views, numbers, strict=True) if n}
    if not found:
        raise ValueError("no row of this batch says anything, for all are zeros: leave the batch out")
    return found


def first_memory(n: int, sums: Mapping[str, Any]) -> Memory:
    """What is remembered of a view after its first batch, of which n have it."""
    return {"n_entities": n, **leafwise(lambda own: own / n, sums)}


def averaged(memory: Memory, n: int, sums: Mapping[str, Any]) -> Memory:
    """S <- (1 - g) S + g s, with s the mean over the n of a batch that have the view.

    Of batches of one size the t-th counts g = t^-0.7; a small one after many entities counts less.
    """
    so_far = memory["n_entities"] + n
    step = (n / so_far) ** POWER
    before = {key: memory[key] for key in sums}
    return {"n_entities": so_far, **leafwise(lambda old, own: (1 - step) * old + (step / n) * own, before, dict(sums))}


def totals(memory: Memory, key: str) -> Any:
    """Means as sums over the entities so far, so that smoothing and floors mean what they mean in one fit."""
    return leafwise(lambda mean: mean * memory["n_entities"], memory[key])


def co_em_memories(shards: Shards, model: Model, eta: float) -> dict[str, Memory]:
    """What is to be remembered of entities that a model was fitted on."""
    found = {name: run_e_step(shards, model, name, eta) for name in shards.views}
    return {name: first_memory(n, sums_of(found[name], name)) for name, n in counted(shards).items()}


def sums_of(sums: Sums, name: str) -> dict[str, Any]:
    """What the M-step and the prior of a view are made of."""
    return {"statistics": sums.statistics, "blended": sums.blended, "posteriors": sums.totals[name]}


def co_em_step(
    shards: Shards,
    families: Mapping[str, Family],
    model: Model,
    memories: Memories,
    eta: float,
    prior: Prior,
) -> tuple[CoEMState, dict[str, Memory]]:
    """A round of co-EM on a batch, whose M-steps are on the averages: the state after it, and what to remember.

    The model has the parameters of the views that the batch has, and the priors of all.
    """
    n_with, after = counted(shards), dict(memories)
    for name in n_with:
        sums = run_e_step(shards, model, name, eta)  # E-step, Eqs 13 and 14
        for other, n in n_with.items():
            own = sums_of(sums, name) if other == name else {"posteriors": sums.totals[other]}
            after[other] = {**after[other], **averaged(memories[other], n, own)}
        sums = remembered_sums(after, name)
        params = families[name].maximize(sums.statistics)  # M-step, Eq 12
        model = model.learned(name, params, prior.learned(model.weights, name, sums))  # Eqs 12 and 17
    found = run_e_step(shards, model, next(iter(n_with)), eta, judged=True)
    state = state_of(model, found.quality, eta, stays=True)
    everyone = {name: state.log_likelihoods.get(name, 0.0) for name in memories}
    return replace(state, log_likelihoods=everyone), after


def remembered_sums(memories: Memories, name: str) -> Sums:
    """What an M-step needs to know, of all entities so far."""
    own = memories[name]
    posteriors = {other: totals(memory, "posteriors") for other, memory in memories.items()}
    return Sums(totals(own, "statistics"), totals(own, "blended"), posteriors, {})


def kmeans_memories(
    shards: Shards, divergence: Divergence, centres: Centers, agreed: Agreed, names: Sequence[str]
) -> dict[str, Memory]:
    """Collect what `partial_fit` needs to know of the entities that k-means was fitted on."""
    handed_over = shards.total(handed, divergence, centres, names).by_view
    return {
        name: first_memory(n, {"handed": vars(handed_over[name]), "agreed": vars(agreed.by_view[name])})
        for name, n in counted(shards).items()
    }


def unlabelled(shards: Shards) -> Shards:
    """The same entities, none of which has a label yet."""
    return started(shards, np.full(sum(shards.sizes), NO_LABEL))


def handed(shard: Shard, divergence: Divergence, centres: Centers, names: Sequence[str]) -> Agreed:
    """A shard's statistics of each view under the labels that the views before it hand over."""
    found = {name: ClusterSums.zeros(shard.views[name], centres.values[name].shape[0]) for name in names}
    for rows, X, _ in e_step(shard, divergence, centres, names, *names):
        for i, name in enumerate(names):
            labels = shard.kept[name][1][rows]
            for other in (*names[i + 1 :], *names[:i]):  # the last to speak is the one just before
                own = shard.kept[other][1][rows]
                labels = namespace(own).where(own == NO_LABEL, labels, own)
            found[name].include(X[name], keep_where(shard.views[name].present[rows], labels, NO_LABEL))
    return Agreed(found)


def kmeans_step(
    shards: Shards, divergence: Divergence, own: Mapping[str, Array], memories: Memories
) -> tuple[KMeansState, dict[str, Memory]]:
    """A round of k-means on a batch, whose M-steps are on the averages: the state after it, and what to remember.

    It starts from the views' own centres.
    """
    n_with, after = counted(shards), dict(memories)
    centres = Centers(dict(own), {name: new_version() for name in own})
    names, costs = list(n_with), {}
    turns, n_clusters = names[::-1], centres.values[names[0]].shape[0]
    found = shards.total(sweep, divergence, centres, turns, names[0], n_clusters, False)
    for name, following in zip(names, [*names[1:], names[0]], strict=True):
        after[name] = {**after[name], **averaged_clusters(memories[name], n_with[name], "handed", found.statistics)}
        statistics = ClusterSums(**after[name]["handed"])
        values = maximise(shards, divergence, centres, turns, name, statistics)  # M-step, Eq 9
        centres = centres.moved(name, values)
        turns = [name, *(other for other in turns if other != name)]
        ends = name == names[-1]
        found = shards.total(sweep, divergence, centres, turns, following, n_clusters, ends)  # E-step, Eqs 8 and 10
        costs[name] = found.cost
    for name, agreed in shards.total(collect_consensus, divergence, centres, names).by_view.items():
        after[name] = {**after[name], **averaged_clusters(memories[name], n_with[name], "agreed", agreed)}
    *per_view, n_several, n_agreed = fetch_numbers([*costs.values(), found.counted, found.agreed])
    everyone = dict.fromkeys(memories, 0.0) | dict(zip(names, per_view, strict=True))
    return KMeansState(centres, everyone, n_agreed / n_several if n_several else 1.0, settled=False), after


def averaged_clusters(memory: Memory, n: int, key: str, found: ClusterSums) -> Memory:
    """`averaged`, but a cluster that got nothing keeps what it had: how fast it moves is not for others to say."""
    got = found.counts > 0
    xp = namespace(got)

    def chosen(new: Array, old: Array) -> Array:
        return xp.where(xp.reshape(got, (-1,) + (1,) * (old.ndim - 1)), new, old)

    after = averaged(memory, n, {key: vars(found)})
    return {**after, key: leafwise(chosen, after[key], memory[key])}


def remembered_centres(memories: Memories, divergence: Divergence, own: Mapping[str, Array]) -> dict[str, Array]:
    """Eq 11 on the averages: where views never agreed on an entity of a cluster, the view's own centre stands."""
    agreed = {name: memory["agreed"] for name, memory in memories.items()}
    values = {name: divergence.centers(found["sums"], found["counts"]) for name, found in agreed.items()}
    return {
        name: namespace(value).where(agreed[name]["counts"][:, None] > 0, value, own[name])
        for name, value in values.items()
    }


def batch_history(history: Table, n_steps: int, record: Mapping[str, Any] | None = None) -> Table:
    """One row a batch: of the first its last round, and one more where there is a record."""
    if n_steps == 1:
        history = Table({name: column[-1:] for name, column in history.items()} | {"round": np.array([1])})
    if record is None:
        return history
    row = {"round": n_steps + 1, **record}
    return Table({name: np.append(column, row[name]) for name, column in history.items()})


def joined_labels(found: Sequence[Mapping[str, Array]], names: Iterable[str], n: int) -> dict[str, np.ndarray]:
    """Each view's labels of n entities from all shards; NOWHERE in a view that they lack."""
    return {
        name: np.concatenate([to_numpy(own[name]) for own in found]) if name in found[0] else np.full(n, NO_LABEL)
        for name in names
    }


def check_same_clusters(n_clusters: int, n_fitted: int) -> None:
    """Refuse to go on with another number of clusters."""
    if n_clusters != n_fitted:
        raise ValueError(
            f"n_clusters={n_clusters}, but the model has {n_fitted} clusters: set it back, or start anew with fit"
        )
