"""Where co-EM starts from: parameters and priors, by one M-step on responsibilities where they are not given."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import reduce
from typing import Any

import numpy as np

from ...arrays import Array, asarray_like, namespace, to_numpy
from ...divergences import Cosine, Divergence, SquaredEuclidean
from ...families.base import Params, Statistics
from ...rows.shards import Shard, Shards, in_shards
from ...rows.source import iterate_rows
from ..common.starts import (
    assign_to_nearest_center,
    contains_centers,
    make_empty_init_error,
    make_seeder,
    split_init_by_view,
)
from .algorithm import Model, Part, add_statistics, collect, rows_at_a_time
from .priors import Prior

DIVERGENCES: dict[str, Divergence] = {"squared-euclidean": SquaredEuclidean(), "cosine": Cosine()}


def start_from_seeds(
    parts: Mapping[str, Part], n_clusters: int, strategy: str, prior: Prior, generators: list[np.random.Generator]
) -> Iterator[Model]:
    """One start a generator, each from one partition for all views, so that cluster j means the same in each.

    All partitions are made first: what is laid out for that (unit rows, for instance) need not be kept.
    """
    partitions = _partitions(parts, n_clusters, strategy, generators)
    shards = in_shards(parts)
    for labels in partitions:
        yield from_labels(shards, labels, n_clusters, prior)


def _partitions(
    parts: Mapping[str, Part], n_clusters: int, strategy: str, generators: list[np.random.Generator]
) -> list[np.ndarray]:
    divergences = {name: DIVERGENCES[part.family.divergence] for name, part in parts.items()}
    rows = {name: divergences[name].prepare(part.X, part.present) for name, part in parts.items()}
    partition = make_seeder(rows, divergences, n_clusters, strategy)
    return [to_numpy(partition(rng)) for rng in generators]


def one_hot(labels: np.ndarray, n_clusters: int) -> np.ndarray:
    """Responsibilities of a partition."""
    return (np.arange(n_clusters)[:, None] == labels[None, :]).T.astype(np.float64)


def from_labels(shards: Shards, labels: np.ndarray, n_clusters: int, prior: Prior) -> Model:
    """One M-step a view."""
    params, totals = {}, {}
    for name, part in shards.views.items():
        if bool(namespace(part.present).any(part.present)):  # others speak for a view that nobody of a sample has
            params[name], totals[name] = _m_step(shards, name, labels, n_clusters)
    return Model.of(params, prior.first(list(shards.views), totals))


def _m_step(shards: Shards, name: str, given: np.ndarray, n_clusters: int) -> tuple[Params, Array]:
    """From responsibilities, or from labels, which take less to move."""
    ends = np.cumsum(shards.sizes)[:-1]
    found = shards.map(weighed, name, n_clusters, each=np.split(given, ends))
    statistics, totals = reduce(lambda a, b: (add_statistics(a[0], b[0]), a[1] + b[1]), found)
    return shards.views[name].family.maximize(statistics), totals


def weighed(shard: Shard, name: str, n_clusters: int, given: np.ndarray) -> tuple[Statistics, Array]:
    """The statistics of a shard's rows under given responsibilities, and the sums of these."""
    part = shard.views[name]
    responsibilities = one_hot(given, n_clusters) if given.ndim == 1 else given
    counted = asarray_like(
        np.asfortranarray(np.where(to_numpy(part.present)[:, None], responsibilities, 0.0)), part.present
    )
    xp = namespace(counted)
    counted = xp.astype(counted, part.X.dtype)
    blocks = iterate_rows({name: part.X}, shard.n, rows_at_a_time(shard, n_clusters))
    statistics = reduce(add_statistics, (collect(part, X[name], counted[rows, :]) for rows, X in blocks))
    return statistics, xp.sum(xp.astype(counted, xp.float64), axis=0)


def start_from_init(init: Any, shards: Shards, n_clusters: int, prior: Prior) -> Model:
    """What a given `init` stands for: labels, responsibilities or parameters, for all views or view by view."""
    parts, n = shards.views, sum(shards.sizes)
    params: dict[str, Params] = {}
    totals: dict[str, Array] = {}
    for name, values in split_init_by_view(init, list(parts), n, n_clusters).items():
        part = parts[name]
        own = values if isinstance(values, Mapping) else _from_array(name, np.asarray(values), shards, n_clusters)
        if isinstance(own, Mapping):
            params[name] = _checked_params(name, own, part, n_clusters)
            weights = _numbers(name, "weights", own.get("weights", np.ones(n_clusters)))
            _check_weights(name, weights, n_clusters)
            totals[name] = asarray_like(weights / weights.sum() * to_numpy(part.present).sum(), part.present)
        else:
            params[name], totals[name] = _m_step(shards, name, own, n_clusters)
    if not params:
        raise make_empty_init_error(parts)
    _check_reached(parts, params)
    return Model.of(params, prior.first(list(parts), totals))


def _check_reached(parts: Mapping[str, Part], started: Mapping[str, Params]) -> None:
    """Refuse a view that has no start and learns of none in the first round, in which views speak in their order."""
    heard = np.any([to_numpy(parts[name].present) for name in started], axis=0)
    for name, part in parts.items():
        present = to_numpy(part.present)
        if name not in started and not (present & heard).any():
            raise ValueError(f"init leaves out view {name!r}, and no entity has it and a view that starts: give both")
        heard |= present


def _from_array(name: str, values: np.ndarray, shards: Shards, n_clusters: int) -> np.ndarray | dict[str, np.ndarray]:
    """The labels, responsibilities or parameters that labels, centres or responsibilities stand for."""
    part = shards.views[name]
    if values.ndim == 1:
        return values
    if contains_centers(name, values, part.X.shape, n_clusters, more=", or a dict of parameters"):
        if part.family.centers is not None:
            return {part.family.centers: values}
        return np.concatenate(list(shards.map(nearest_to, name, values)))
    values, present = values.astype(np.float64), to_numpy(part.present)
    if (values[present] < 0).any() or not np.allclose(values[present].sum(axis=1), 1, atol=1e-6):
        raise ValueError(
            f"init for view {name!r}: the responsibilities of an entity must be 0 or more and sum to 1: divide each "
            "row by its sum"
        )
    return values


def nearest_to(shard: Shard, name: str, centres: np.ndarray) -> np.ndarray:
    """The nearest of given centres for each of a shard's rows."""
    part = shard.views[name]
    divergence = DIVERGENCES[part.family.divergence]
    return assign_to_nearest_center(divergence.prepare(part.X, part.present), divergence, centres)


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
    refusal = family.params_complaint(params)
    if refusal:
        raise ValueError(f"init for view {name!r}: {refusal} (family {family.name!r})")
    return {key: asarray_like(value, part.present) for key, value in params.items()}


def _numbers(name: str, key: str, value: Any) -> np.ndarray:
    """One parameter as float64."""
    try:
        numbers = np.asarray(to_numpy(value), np.float64)
    except (TypeError, ValueError):
        raise ValueError(f"init for view {name!r}: {key!r} must be an array of numbers, got {value!r}") from None
    if not np.isfinite(numbers).all():
        raise ValueError(f"init for view {name!r}: {key!r} holds NaN or infinity: give finite numbers")
    return numbers
