"""Affinities per view, and views that are matrices of similarities or distances already."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, ClassVar, Protocol

import numpy as np

from ...affinities import Affinity, NoAffinityError, make_affinity
from ...arrays import Array, as_rows, asarray_like, take_rows
from ...data import Views
from ...data.blocks import index_columns
from ...data.inputs import resolve_per_view
from ...divergences import NoDivergenceError
from ...rows import Source, read_some


def resolve_affinities(parameter: str, value: Any, bandwidth: Any, names: Sequence[str]) -> dict[str, Affinity]:
    """Return the affinity of each view from the value of an estimator's parameter."""
    affinities = {}
    bandwidths = resolve_per_view("bandwidth", bandwidth, names)
    for name, affinity in resolve_per_view(parameter, value, names).items():
        options = {} if bandwidths[name] is None else {"bandwidth": bandwidths[name]}
        try:
            affinities[name] = make_affinity(affinity, parameter, **options)
        except (NoAffinityError, TypeError) as error:
            raise type(error)(f"view {name!r}: {error}") from error
    return affinities


@contextmanager
def name_view_in_errors(view: str) -> Iterator[None]:
    """Add the name of the view to the message if its rows cannot be compared."""
    try:
        yield
    except (NoAffinityError, NoDivergenceError) as error:
        raise type(error)(f"view {view!r}: {error}") from error


def select_rows(X: Array, mask: np.ndarray) -> Array:
    """Return the rows of a mask; rows on disk are read if they fit into memory."""
    if mask.all():
        return X
    if isinstance(X, Source):
        return as_rows(read_some(X, np.flatnonzero(mask)))
    return take_rows(X, asarray_like(np.flatnonzero(mask), X))


class Comparing(Protocol):
    """An affinity or a divergence."""

    columns_are_entities: ClassVar[bool]


def find_precomputed_columns(
    views: Views,
    comparing: Mapping[str, Comparing],
    *,
    source: Any,
    needed: str = "affinity='precomputed' needs a square matrix of similarities",
) -> dict[str, np.ndarray]:
    """Return the columns of the entities that have the view, for each view that is a matrix of similarities.

    The matrix must be square unless `source`, which the views come from, is Views: when their entities are selected,
    reordered or joined, a view's rows move and its columns do not.
    """
    columns = {}
    for v, name in enumerate(views.names):
        if comparing[name].columns_are_entities:
            columns[name] = views.rows[views.present[:, v], v]
            n_rows, n_columns = views[name].shape
            if not (isinstance(source, Views) or n_rows == n_columns):
                raise ValueError(
                    f"view {name!r}: {needed}, {len(views)} x {len(views)}, got shape {views[name].shape}: give one "
                    "(K[rows][:, rows] of a larger one, or rows of cs.Views that hold it), or compare features"
                )
            last = int(columns[name].max())
            if last >= n_columns:
                raise ValueError(
                    f"view {name!r}: {needed}, got shape {views[name].shape}. It must have a column for each row that "
                    f"it had before entities were selected, but a row that was at position {last} has none. Select "
                    "rows of cs.Views that hold the whole matrix, or compare features"
                )
    return columns


def restrict_columns(views: Views, columns: Mapping[str, np.ndarray]) -> Views:
    """Return the views with only these columns of the named ones."""
    if not columns:
        return views
    blocks = {
        name: index_columns(block, columns[name].tolist()) if name in columns else block
        for name, block in views.items()
    }
    return Views(blocks, present=views.present, ids=views.ids)
