"""Where co-EM starts: parameters and priors, from one M-step on responsibilities if they are not given."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import numpy as np

from ..._describe import describe_value
from ...arrays import Array, asarray_like, namespace, to_numpy
from ...divergences import Cosine, Divergence, SquaredEuclidean
from ...families import Family
from ...families.base import Params, Statistics
from ...rows import LocalShards, Shard, Shards, ViewRows
from ..common.starts import (
    RANDOM_RESPONSIBILITIES,
    assign_to_nearest_center,
    contains_centers,
    draw_responsibilities,
    make_empty_init_error,
    make_seeder,
    split_init_by_view,
)
from .algorithm import Model, add_statistics, choose_posterior_span, clamp_posteriors, collect_statistics
from .priors import Prior

DIVERGENCES: dict[str, Divergence] = {"squared-euclidean": SquaredEuclidean(), "cosine": Cosine()}


def start_from_seeds(
    views: Mapping[str, ViewRows],
    families: Mapping[str, Family],
    n_clusters: int,
    strategy: str,
    prior: Prior,
    generators: list[np.random.Generator],
    fixed_labels: np.ndarray | None = None,
) -> Iterator[Model]:
    """Yield one start per generator, each from labels or responsibilities that all views share.

    So cluster j is the same in each view. If every cluster has a known class (`fixed_labels`), there is one start. All
    partitions are made first, so that the rows prepared for that (unit rows, for instance) need not be kept.
    """
    shards = LocalShards(views).cut()
    if fixed_labels is not None:
        shards = shards.with_labels(fixed_labels, "fixed_labels")
    draws: Iterable[np.ndarray]
    if strategy == RANDOM_RESPONSIBILITIES:
        draws = (draw_responsibilities(len(shards), n_clusters, rng) for rng in generators)
    elif fixed_labels is not None and can_start_from_known(views, families, n_clusters, fixed_labels):
        draws = [fixed_labels]
    else:
        divergences = {name: DIVERGENCES[family.divergence] for name, family in families.items()}
        rows = {name: divergences[name].prepare(view.X, view.present) for name, view in views.items()}
        seed = make_seeder(rows, divergences, n_clusters, strategy, fixed_labels)
        draws = [to_numpy(partition) for partition in seed(generators)]
        del rows, seed
    for start in draws:
        params, totals = {}, {}
        for name, view in views.items():
            if bool(namespace(view.present).any(view.present)):  # the others determine a view that the sample lacks
                params[name], totals[name] = estimate_params(shards, name, families[name], start, n_clusters)
        yield Model(families, params, prior.initialize(list(views), totals))


def can_start_from_known(
    views: Mapping[str, ViewRows], families: Mapping[str, Family], n_clusters: int, fixed_labels: np.ndarray
) -> bool:
    """Whether the entities of known class alone give a start (Nigam & Ghani 2000): every cluster must have a class.

    The families must smooth their parameters. A few entities determine a variance poorly, and a class with few would
    lose its other entities to a class with many.
    """
    is_smoothed = all(getattr(family, "smoothing", 0) > 0 for family in families.values())
    has_known = all((to_numpy(view.present) & (fixed_labels >= 0)).any() for view in views.values())
    return is_smoothed and has_known and fixed_labels.max() + 1 == n_clusters


def estimate_params(
    shards: Shards, name: str, family: Family, responsibilities: np.ndarray, n_clusters: int
) -> tuple[Params, Array]:
    """Run an M-step in one view on responsibilities, or on labels, which take less to send; return totals as well."""
    results = shards.map(weight_shard, name, family, n_clusters, each=shards.split(responsibilities))
    statistics, totals = map(add_statistics, zip(*results, strict=True))
    return family.maximize(statistics), totals


def weight_shard(
    shard: Shard, name: str, family: Family, n_clusters: int, responsibilities: np.ndarray
) -> tuple[Statistics, Array]:
    """Collect the statistics of a shard's rows under responsibilities or labels, and the sums of responsibilities.

    Entities of a known class have its responsibility.
    """
    view = shard.views[name]
    if responsibilities.ndim == 1:
        responsibilities = (np.arange(n_clusters)[:, None] == responsibilities[None, :]).T.astype(np.float64)
    if shard.fixed_labels is not None:
        responsibilities = clamp_posteriors(responsibilities.copy(), to_numpy(shard.fixed_labels))
    counted = np.asfortranarray(np.where(to_numpy(view.present)[:, None], responsibilities, 0.0))
    weights = asarray_like(counted, view.present)
    xp = namespace(weights)
    weights = xp.astype(weights, view.X.dtype)
    spans = shard.read([name], choose_posterior_span(shard, n_clusters))
    statistics = add_statistics([collect_statistics(family, X[name], weights[rows, :]) for rows, X in spans])
    return statistics, xp.sum(xp.astype(weights, xp.float64), axis=0)


def start_from_init(init: Any, shards: Shards, families: Mapping[str, Family], n_clusters: int, prior: Prior) -> Model:
    """Start from labels, responsibilities or parameters, for all views or per view."""
    params: dict[str, Params] = {}
    totals: dict[str, Array] = {}
    for name, values in split_init_by_view(init, list(shards.views), len(shards), n_clusters).items():
        view, family = shards.views[name], families[name]
        if not isinstance(values, Mapping):
            values = _interpret_array(name, np.asarray(values), shards, family, n_clusters)
        if not isinstance(values, Mapping):
            params[name], totals[name] = estimate_params(shards, name, family, values, n_clusters)
            continue
        params[name] = _check_params(name, values, view, family, n_clusters)
        weights = _parse_numbers(name, "weights", values.get("weights", np.ones(n_clusters)))
        if weights.shape != (n_clusters,) or (weights < 0).any() or not weights.sum() > 0:
            raise ValueError(
                f"init for view {name!r}: 'weights' must be {n_clusters} numbers, none negative, not all zero"
            )
        totals[name] = asarray_like(weights / weights.sum() * to_numpy(view.present).sum(), view.present)
    if not params:
        raise make_empty_init_error(shards.views)
    _check_reachable(shards.views, params)
    return Model(families, params, prior.initialize(list(shards.views), totals))


def _check_reachable(views: Mapping[str, ViewRows], params: Mapping[str, Params]) -> None:
    """Refuse a view without a start that shares no entity with the views that come before it in the first round."""
    reached = np.any([to_numpy(views[name].present) for name in params], axis=0)
    for name, view in views.items():
        present = to_numpy(view.present)
        if name not in params and not (present & reached).any():
            raise ValueError(f"init leaves out view {name!r}, and no entity has it and a view that starts: give both")
        reached |= present


def _interpret_array(
    name: str, values: np.ndarray, shards: Shards, family: Family, n_clusters: int
) -> np.ndarray | dict[str, np.ndarray]:
    """Return an array of labels, centers or responsibilities as labels, responsibilities or parameters."""
    view = shards.views[name]
    if values.ndim == 1:
        return values
    if contains_centers(name, values, view.X.shape, n_clusters, more=", or a dict of parameters"):
        if family.centers is not None:
            return {family.centers: values}
        return np.concatenate(list(shards.map(assign_rows, name, DIVERGENCES[family.divergence], values)))
    values, present = values.astype(np.float64), to_numpy(view.present)
    if (values[present] < 0).any() or not np.allclose(values[present].sum(axis=1), 1, atol=1e-6):
        raise ValueError(
            f"init for view {name!r}: the responsibilities of an entity must be 0 or more and sum to 1: divide each "
            "row by its sum"
        )
    return values


def assign_rows(shard: Shard, name: str, divergence: Divergence, centers: np.ndarray) -> np.ndarray:
    """Return the nearest of given centers for each of a shard's rows."""
    view = shard.views[name]
    return assign_to_nearest_center(divergence.prepare(view.X, view.present), divergence, centers)


def _check_params(name: str, values: Mapping[str, Any], view: ViewRows, family: Family, n_clusters: int) -> Params:
    """Return parameters as float64 arrays; refuse those that the family cannot use."""
    shapes = family.shapes(n_clusters, view.X.shape[1])
    params = {key: _parse_numbers(name, key, value) for key, value in values.items() if key != "weights"}
    for key, shape in shapes.items():
        if key not in params:
            needed = ", ".join(f"{other!r} {other_shape}" for other, other_shape in shapes.items())
            raise ValueError(f"init for view {name!r} lacks {key!r}: family {family.name!r} needs {needed}")
        if params[key].shape != shape:
            raise ValueError(f"init for view {name!r}: {key!r} has shape {params[key].shape}, expected {shape}")
    complaint = family.params_complaint(params)
    if complaint:
        raise ValueError(f"init for view {name!r}: {complaint} (family {family.name!r})")
    return {key: asarray_like(value, view.present) for key, value in params.items()}


def _parse_numbers(name: str, key: str, value: Any) -> np.ndarray:
    """Return one parameter as float64."""
    try:
        numbers = np.asarray(to_numpy(value), np.float64)
    except (TypeError, ValueError):
        raise ValueError(
            f"init for view {name!r}: {key!r} must be an array of numbers, got {describe_value(value)}"
        ) from None
    if not np.isfinite(numbers).all():
        raise ValueError(f"init for view {name!r}: {key!r} holds NaN or infinity: give finite numbers")
    return numbers
