"""Where co-EM starts from: parameters and priors, by one M-step on responsibilities where they are not given."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from .._backend import Array, like, namespace, to_numpy
from ..divergences import Cosine, Divergence, SquaredEuclidean
from ..families.base import Params
from .coem import Part, Weights, collect
from .priors import Prior
from .start import are_centres, nearest_centres, no_start, seeding, view_by_view

DIVERGENCES: dict[str, Divergence] = {"squared-euclidean": SquaredEuclidean(), "cosine": Cosine()}


@dataclass(frozen=True, eq=False)
class Start:
    """What a run starts from; a view may be left out."""

    params: dict[str, Params]
    weights: Weights


def chosen_starts(
    parts: Mapping[str, Part], n_clusters: int, strategy: str, prior: Prior, generators: list[np.random.Generator]
) -> Iterator[Start]:
    """One start a generator, each from one partition for all views, so that cluster j means the same in each.

    All partitions are made first: what is laid out for that (unit rows, for instance) need not be kept.
    """
    partitions = _partitions(parts, n_clusters, strategy, generators)
    for labels in partitions:
        yield from_responsibilities(parts, dict.fromkeys(parts, one_hot(labels, n_clusters)), prior)


def _partitions(
    parts: Mapping[str, Part], n_clusters: int, strategy: str, generators: list[np.random.Generator]
) -> list[np.ndarray]:
    divergences = {name: DIVERGENCES[part.family.divergence] for name, part in parts.items()}
    rows = {name: divergences[name].prepare(part.X, part.present) for name, part in parts.items()}
    partition = seeding(rows, divergences, n_clusters, strategy)
    return [to_numpy(partition(rng)) for rng in generators]


def one_hot(labels: np.ndarray, n_clusters: int) -> np.ndarray:
    """Responsibilities of a partition."""
    return (np.arange(n_clusters)[:, None] == labels[None, :]).T.astype(np.float64)


def from_responsibilities(parts: Mapping[str, Part], given: Mapping[str, np.ndarray], prior: Prior) -> Start:
    """One M-step a view."""
    params, totals = {}, {}
    for name, responsibilities in given.items():
        params[name], totals[name] = _m_step(parts[name], responsibilities)
    return Start(params, prior.first(list(parts), totals))


def _m_step(part: Part, responsibilities: np.ndarray) -> tuple[Params, Array]:
    counted = like(np.asfortranarray(np.where(to_numpy(part.present)[:, None], responsibilities, 0.0)), part.X)
    xp = namespace(counted)
    counted = xp.astype(counted, part.X.dtype)
    statistics = collect(part, lambda rows: counted[rows, :], responsibilities.shape[1])
    return part.family.maximise(statistics), xp.sum(xp.astype(counted, xp.float64), axis=0)


def given_start(init: Any, parts: Mapping[str, Part], n_clusters: int, prior: Prior) -> Start:
    """What a given `init` stands for: labels, responsibilities or parameters, for all views or view by view."""
    n = next(iter(parts.values())).present.shape[0]
    params: dict[str, Params] = {}
    totals: dict[str, Array] = {}
    for name, values in view_by_view(init, list(parts), n, n_clusters).items():
        part = parts[name]
        own = values if isinstance(values, Mapping) else _from_array(name, np.asarray(values), part, n_clusters)
        if isinstance(own, Mapping):
            params[name] = _checked_params(name, own, part, n_clusters)
            weights = _numbers(name, "weights", own.get("weights", np.ones(n_clusters)))
            _check_weights(name, weights, n_clusters)
            totals[name] = like(weights / weights.sum() * to_numpy(part.present).sum(), part.X)
        else:
            params[name], totals[name] = _m_step(part, own)
    if not params:
        raise no_start(parts)
    _check_reached(parts, params)
    return Start(params, prior.first(list(parts), totals))


def _check_reached(parts: Mapping[str, Part], started: Mapping[str, Params]) -> None:
    """Refuse a view that has no start and learns of none in the first round, in which views speak in their order."""
    heard = np.any([to_numpy(parts[name].present) for name in started], axis=0)
    for name, part in parts.items():
        present = to_numpy(part.present)
        if name not in started and not (present & heard).any():
            raise ValueError(f"init leaves out view {name!r}, and no entity has it and a view that starts: give both")
        heard |= present


def _from_array(name: str, values: np.ndarray, part: Part, n_clusters: int) -> np.ndarray | dict[str, np.ndarray]:
    """The responsibilities, or the parameters, that labels, centres or responsibilities stand for."""
    if values.ndim == 1:
        return one_hot(values, n_clusters)
    if are_centres(name, values, part.X.shape, n_clusters, more=", or a dict of parameters"):
        if part.family.centres is not None:
            return {part.family.centres: values}
        divergence = DIVERGENCES[part.family.divergence]
        return one_hot(nearest_centres(divergence.prepare(part.X, part.present), divergence, values), n_clusters)
    values, present = values.astype(np.float64), to_numpy(part.present)
    if (values[present] < 0).any() or not np.allclose(values[present].sum(axis=1), 1, atol=1e-6):
        raise ValueError(
            f"init for view {name!r}: the responsibilities of an entity must be 0 or more and sum to 1: divide each "
            "row by its sum"
        )
    return values


def _check_weights(name: str, weights: np.ndarray, n_clusters: int) -> None:
    if weights.shape != (n_clusters,) or (weights < 0).any() or not weights.sum() > 0:
        raise ValueError(f"init for view {name!r}: 'weights' must be {n_clusters} numbers, none negative, not all zero")


def _checked_params(name: str, values: Mapping[str, Any], part: Part, n_clusters: int) -> Params:
    """Parameters as float64 arrays, refused where the family cannot use them."""
    family = part.family
    wanted = family.shapes(n_clusters, part.X.shape[1])
    params = {key: _numbers(name, key, value) for key, value in values.items() if key != "weights"}
    for key, shape in wanted.items():
        if key not in params:
            listed = ", ".join(f"{other!r} {own}" for other, own in wanted.items())
            raise ValueError(f"init for view {name!r} lacks {key!r}: family {family.name!r} needs {listed}")
        if params[key].shape != shape:
            raise ValueError(f"init for view {name!r}: {key!r} has shape {params[key].shape}, expected {shape}")
    refusal = family.refusal(params)
    if refusal:
        raise ValueError(f"init for view {name!r}: {refusal} (family {family.name!r})")
    return {key: like(value, part.X) for key, value in params.items()}


def _numbers(name: str, key: str, value: Any) -> np.ndarray:
    """One parameter as float64."""
    try:
        numbers = np.asarray(to_numpy(value), np.float64)
    except (TypeError, ValueError):
        raise ValueError(f"init for view {name!r}: {key!r} must be an array of numbers, got {value!r}") from None
    if not np.isfinite(numbers).all():
        raise ValueError(f"init for view {name!r}: {key!r} holds NaN or infinity: give finite numbers")
    return numbers
