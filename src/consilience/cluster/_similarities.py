"""From a user's views to the similarities of their entities, and of others to them."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence

import numpy as np

from .._backend import Array, like, rows_are_same, take_rows, to_numpy
from ..affinities import Affinity, Auto, Cross, Landmarks, NoAffinityError, Precomputed
from ..algorithms.missing import Similarities
from ..data import Views, index_columns
from ._shared import ready_blocks, warn_of_lost


def similarities_of(
    views: Views, asked: Mapping[str, Affinity], rng: np.random.Generator
) -> tuple[dict[str, Affinity], Similarities]:
    """Compare the entities in each view that they have; also how, with nothing left open."""
    affinities, own, present = {}, [], {}
    for name, (X, there) in ready_blocks(views).items():
        known = only(X, to_numpy(there))
        if known.shape[0] > 1 and rows_are_same(known):
            raise ValueError(f"view {name!r} is the same for every entity: leave the view out")
        affinities[name] = asked[name].settle(known)
        present[name] = to_numpy(there) & to_numpy(affinities[name].comparable(X))
        if not present[name].any():
            raise ValueError(f"view {name!r} is all zeros, which have no direction: leave the view out")
        try:
            own.append(affinities[name].over(only(X, present[name]), rng))
        except NoAffinityError as error:
            raise NoAffinityError(f"view {name!r}: {error}") from error
    warn_of_lost(views, present, "is like nobody and gets the cluster nearest to nothing")
    return affinities, Similarities(own, np.column_stack(list(present.values())))


def warn_of_landmarks(asked: Mapping[str, Affinity], taken: Mapping[str, Affinity], n_entities: int) -> None:
    """Say that an approximation was chosen for whoever left the choice to us."""
    chosen = [own for name, own in taken.items() if isinstance(asked[name], Auto) and isinstance(own, Landmarks)]
    if chosen:
        warnings.warn(
            f"{n_entities:,} entities are too many to compare each with each: affinity='auto' takes {chosen[0]}, an "
            "approximation. Give affinity='landmarks' to have it so, or 'nearest-neighbors' to compare all the same",
            UserWarning,
            stacklevel=3,
        )


def crosses_of(views: Views, affinities: Mapping[str, Affinity], known: Similarities) -> Sequence[Cross]:
    """Compare other entities with those of the fit, in each of its views."""
    ready = ready_blocks(views)
    crosses: list[Cross | None] = []
    present = {}
    for name, own in zip(affinities, known.own, strict=True):
        present[name] = np.zeros(len(views), dtype=bool)
        if name in ready:
            X, there = ready[name]
            present[name] = to_numpy(there) & to_numpy(affinities[name].comparable(X))
        crosses.append(own.against(only(X, present[name])) if present[name].any() else None)
    warn_of_lost(views, present, "is like nobody and gets the cluster nearest to nothing")
    return known.against(crosses, np.column_stack(list(present.values())))


def only(X: Array, chosen: np.ndarray) -> Array:
    """The rows that are chosen."""
    return X if chosen.all() else take_rows(X, like(np.flatnonzero(chosen), X))


def columns_of(views: Views, affinities: Mapping[str, Affinity]) -> dict[str, np.ndarray]:
    """Of views that are similarities: the columns of the entities that have the view.

    When entities are chosen, ordered or joined, a view's rows move and its columns do not.
    """
    columns = {}
    for v, name in enumerate(views.names):
        if isinstance(affinities[name], Precomputed):
            columns[name] = views.rows[views.present[:, v], v]
            if columns[name].max() >= views[name].shape[1]:
                raise ValueError(
                    f"view {name!r}: affinity='precomputed' needs a square matrix of similarities, {len(views)} x "
                    f"{len(views)}, got shape {views[name].shape}: give one, or another affinity for features"
                )
    return columns


def restricted(views: Views, columns: Mapping[str, np.ndarray]) -> Views:
    """The same views, some with a part of their columns."""
    if not columns:
        return views
    blocks = {
        name: index_columns(block, columns[name].tolist()) if name in columns else block
        for name, block in views.items()
    }
    return Views(blocks, present=views.present, ids=views.ids)
