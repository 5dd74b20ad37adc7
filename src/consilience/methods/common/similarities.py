"""From a user's views to the similarities of their entities, and of others to them."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, ClassVar, Protocol

import numpy as np

from ...affinities import (
    AFFINITIES,
    EXACT_UP_TO,
    Affinity,
    Auto,
    CrossOperator,
    Gaussian,
    HostOperator,
    NoAffinityError,
    ViewOperator,
)
from ...arrays import (
    Array,
    all_rows_equal,
    as_rows,
    asarray_like,
    available_device_memory,
    available_memory,
    is_on_host,
    take_rows,
    to_numpy,
)
from ...data import Views, index_columns, resolve_per_view
from ...divergences import NoDivergenceError
from ...rows import Source, read_some
from ..spectral.missing import Similarities
from .input_checks import find_stack_level, show_id, validate_blocks, warn_about_zero_rows


def resolve_affinities(parameter: str, given: Any, bandwidth: Any, names: Sequence[str]) -> dict[str, Affinity]:
    """The affinity of each view, as an object, from what the user gave for a parameter."""
    chosen = {}
    bandwidths = resolve_per_view("bandwidth", bandwidth, names)
    for name, own in resolve_per_view(parameter, given, names).items():
        if isinstance(own, str) and own not in AFFINITIES:
            raise ValueError(f"view {name!r}: no {parameter} {own!r}; choose from {', '.join(map(repr, AFFINITIES))}")
        with name_view_in_errors(name):
            Gaussian(bandwidths[name])  # checked even where nobody uses it
            chosen[name] = AFFINITIES[own](bandwidths[name]) if isinstance(own, str) else own
        if isinstance(own, type) or not hasattr(chosen[name], "resolve"):
            raise TypeError(
                f"view {name!r}: {parameter}={own!r} is neither a name nor an affinity: give an object such as "
                "consilience.affinities.NearestNeighbors(n_neighbors=15)"
            )
    return chosen


def compute_similarities(
    views: Views, asked: Mapping[str, Affinity], rng: np.random.Generator, *, stay: bool = False
) -> tuple[dict[str, Affinity], Similarities]:
    """Compare the entities in each view that they have; also how, with nothing left open.

    What comes of rows on a device stays there for methods that want it so, and comes as numpy arrays for others.
    """
    affinities, own, present = {}, [], {}
    out_of_core = {name: stays_on_disk(asked[name], len(views)) for name in views.names}
    for name, (X, there) in validate_blocks(views, stored=out_of_core).items():
        known = select_rows(X, to_numpy(there))
        if known.shape[0] > 1 and all_rows_equal(known):
            raise ValueError(f"view {name!r} is the same for every entity: leave the view out")
        affinities[name] = asked[name].resolve(known)
        check_similarity_memory(name, affinities[name], known)
        present[name] = to_numpy(there) & to_numpy(affinities[name].comparable_rows(X))
        if not present[name].any():
            raise ValueError(f"view {name!r} is all zeros, which have no direction: leave the view out")
        with name_view_in_errors(name):
            found = affinities[name].build_operator(select_rows(X, present[name]), rng)
        own.append(found if stay or is_on_host(X) else HostOperator(found))
    warn_about_zero_rows(views, present, "is like nobody and gets the cluster nearest to nothing")
    similarities = Similarities(own, np.column_stack(list(present.values())))
    check_similarity_scales(views.names, similarities)
    return affinities, similarities


def check_similarity_scales(names: Sequence[str], similarities: Similarities) -> None:
    """Refuse views whose similarities differ so much in size that one cannot be expressed in the unit of another."""
    if similarities.present.all():
        return  # nothing is filled in from other views
    with np.errstate(over="ignore"):
        too_far = np.argwhere(~np.isfinite(similarities.scales))
    if len(too_far):
        larger, smaller = (names[v] for v in too_far[0])
        raise ValueError(
            f"the similarities of view {larger!r} are too large compared with those of view {smaller!r} for missing "
            "ones to be filled in: rescale the views, or use affinity='cosine' or 'nearest-neighbors'"
        )


def stays_on_disk(affinity: Affinity, n: int) -> bool:
    """Whether rows may stay on a disk, and be read some at a time; there are so many."""
    return bool(getattr(affinity, "out_of_core", n > EXACT_UP_TO if isinstance(affinity, Auto) else False))


@contextmanager
def name_view_in_errors(view: str) -> Iterator[None]:
    """Say in which view something could not be compared."""
    try:
        yield
    except (NoAffinityError, NoDivergenceError) as error:
        raise type(error)(f"view {view!r}: {error}") from error


def check_similarity_memory(view: str, affinity: Affinity, X: Array) -> None:
    """Refuse similarities that would not fit."""
    needed, free = affinity.nbytes(X), available_memory() if is_on_host(X) else available_device_memory(X)
    if free is not None and needed > free:
        raise MemoryError(
            f"view {view!r}: the similarities by {affinity} take {needed / 2**30:.1f} GiB of memory, but "
            f"{free / 2**30:.1f} GiB are free: use affinity='landmarks', or cluster fewer entities (views[rows])"
        )


def warn_approximation(asked: Mapping[str, Affinity], taken: Mapping[str, Affinity], found: Similarities) -> None:
    """Say that an approximation was chosen for whoever left the choice to us."""
    chosen = [
        taken[name] for name, own in zip(asked, found.own, strict=True) if asked[name] == Auto() and not own.exact
    ]
    if chosen:
        warnings.warn(
            f"{len(found.present):,} entities are too many to compare each with each: affinity='auto' takes "
            f"{chosen[0]}, an approximation. Give affinity='landmarks' to have it so, or 'nearest-neighbors' to "
            "compare all the same",
            UserWarning,
            stacklevel=3,
        )


def compute_cross_similarities(
    views: Views,
    affinities: Mapping[str, Affinity],
    known: Sequence[ViewOperator],
    fate: str = "is like nobody and gets the cluster nearest to nothing",
) -> tuple[list[CrossOperator | None], np.ndarray]:
    """Compare other entities with those of the fit in each view that they have, and which that is: (others, V)."""
    ready = validate_blocks(views, stored={name: stays_on_disk(own, 0) for name, own in affinities.items()})
    crosses: list[CrossOperator | None] = []
    present = {}
    for (name, affinity), own in zip(affinities.items(), known, strict=True):
        present[name] = np.zeros(len(views), dtype=bool)
        if name in ready:
            X, there = ready[name]
            present[name] = to_numpy(there) & to_numpy(affinity.comparable_rows(X))
        with name_view_in_errors(name):
            crosses.append(own.compare_with(select_rows(X, present[name])) if present[name].any() else None)
    warn_about_zero_rows(views, present, fate)
    return crosses, np.column_stack(list(present.values()))


def warn_isolated_entities(views: Views, strangers: np.ndarray) -> None:
    """Say which new entities are like none of those of the fit."""
    lost = np.flatnonzero(strangers)
    if len(lost):
        warnings.warn(
            f"entity {show_id(views, lost[0])} is like none of the fit ({len(lost)} such), and gets the cluster "
            "nearest to nothing: use affinity='nearest-neighbors', or a larger bandwidth",
            UserWarning,
            stacklevel=find_stack_level(),
        )


def select_rows(X: Array, chosen: np.ndarray) -> Array:
    """The rows that are chosen; of rows on a disk they are read, where they fit."""
    if chosen.all():
        return X
    if isinstance(X, Source):
        return as_rows(read_some(X, np.flatnonzero(chosen)))
    return take_rows(X, asarray_like(np.flatnonzero(chosen), X))


class Comparing(Protocol):
    """An affinity or a divergence."""

    columns_are_entities: ClassVar[bool]


def find_precomputed_columns(
    views: Views,
    comparing: Mapping[str, Comparing],
    *,
    chosen: bool,
    needed: str = "affinity='precomputed' needs a square matrix of similarities",
) -> dict[str, np.ndarray]:
    """Of views that are similarities or distances: the columns of the entities that have the view.

    When entities of Views are `chosen`, ordered or joined, a view's rows move and its columns do not.
    """
    columns = {}
    for v, name in enumerate(views.names):
        if comparing[name].columns_are_entities:
            columns[name] = views.rows[views.present[:, v], v]
            n_rows, n_columns = views[name].shape
            if columns[name].max() >= n_columns or not (chosen or n_rows == n_columns):
                raise ValueError(
                    f"view {name!r}: {needed}, {len(views)} x {len(views)}, got shape {views[name].shape}: give one "
                    "(K[rows][:, rows] of a larger one, or rows of cs.Views that hold it), or compare features"
                )
    return columns


def restrict_columns(views: Views, columns: Mapping[str, np.ndarray]) -> Views:
    """The same views, those that are named with a part of their columns."""
    if not columns:
        return views
    blocks = {
        name: index_columns(block, columns[name].tolist()) if name in columns else block
        for name, block in views.items()
    }
    return Views(blocks, present=views.present, ids=views.ids)
