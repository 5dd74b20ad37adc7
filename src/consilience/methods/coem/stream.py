"""Co-EM on a stream: each batch is one round, whose M-steps use averages over the batches."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from ...rows import Shards
from ..common.stream import Memories, Memory, average_memory, count_present, scale_means, start_memory
from .algorithm import CoEMState, Model, Sums, make_state, run_em_round
from .priors import Prior


def remember_sums(shards: Shards, sums: Mapping[str, Sums]) -> dict[str, Memory]:
    """Return what to remember of the entities that a model was fitted on."""
    return {name: start_memory(n, select_sums(sums[name], name)) for name, n in count_present(shards).items()}


def select_sums(sums: Sums, name: str) -> dict[str, Any]:
    """Return the sums for the M-step and the prior of a view."""
    return {"statistics": sums.statistics, "blended": sums.blended, "posteriors": sums.totals[name]}


def co_em_step(
    shards: Shards, model: Model, memories: Memories, eta: float, prior: Prior
) -> tuple[CoEMState, dict[str, Memory]]:
    """Run a round of co-EM on a batch; return the state and what to remember.

    The model has the parameters of the views of the batch, and the priors of all.
    """
    n_present, updated = count_present(shards), dict(memories)

    def average(name: str, sums: Sums) -> Sums:
        for other, n in n_present.items():
            new = select_sums(sums, name) if other == name else {"posteriors": sums.totals[other]}
            updated[other] = {**updated[other], **average_memory(memories[other], n, new)}
        totals = {other: scale_means(memory, "posteriors") for other, memory in updated.items()}
        return Sums(scale_means(updated[name], "statistics"), scale_means(updated[name], "blended"), totals)

    model, sums = run_em_round(shards, model, list(n_present), prior, eta, eta, average=average)
    state = make_state(model, sums.quality, eta, comparable=True)
    log_likelihoods = {name: state.log_likelihoods.get(name, 0.0) for name in memories}
    return replace(state, log_likelihoods=log_likelihoods), updated
