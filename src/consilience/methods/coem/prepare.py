"""Preparation for mixture models: the family of each view, and rows laid out for it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from sklearn import get_config

from ...arrays import Array, is_in_memory, map_chunks, namespace, plan_reads
from ...data import Views
from ...families import FAMILIES, Family, choose, choose_most_general, find_complaint
from ...rows import Shard, Shards, ViewRows, join_blocks
from ...rows.source import stack_rows
from ..common.input_checks import warn_about_zero_rows
from ..common.shards import open_shards, pick_spread_rows


def prepare_mixture(
    views: Views, requested: Mapping[str, Any], n_clusters: int, *, fitting: bool = True
) -> tuple[Shards, dict[str, Family], dict[str, str]]:
    """Prepare shards for mixture models; return them, the families, and why a family was chosen automatically."""
    shards = open_shards(views)
    families, reasons = choose_families(shards, requested)
    shards = shards.transform(prepare_for_families, families)
    present = {name: view.present for name, view in shards.views.items()}
    for name, has_view in present.items():
        if fitting and not bool(namespace(has_view).any(has_view)):
            raise ValueError(
                f"view {name!r} is all zeros, of which family {families[name].name!r} learns nothing: leave it out"
            )
    warn_about_zero_rows(views, present, "takes no part in the estimates and gets the cluster of the largest prior")
    if fitting:
        families = {name: bind_family(shards, name, family) for name, family in families.items()}
    work = {name: families[name].work_per_value(view.X, n_clusters) for name, view in shards.views.items()}
    return shards.cut(work, spills=exceeds_memory(shards.views, n_clusters)), families, reasons


def exceeds_memory(views: Mapping[str, ViewRows], n_clusters: int) -> bool:
    """Whether the log-densities of rows on disk would take more than half of scikit-learn's `working_memory`."""
    arrays = [view.X for view in views.values() if not is_in_memory(view.X)]
    n_bytes = sum(X.shape[0] * n_clusters * X.dtype.itemsize for X in arrays)
    return n_bytes > int(get_config()["working_memory"] * 2**20) / 2


def choose_families(shards: Shards, requested: Mapping[str, Any]) -> tuple[dict[str, Family], dict[str, str]]:
    """Return the family of each view, and the reasons for those that were chosen automatically."""
    families, reasons, automatic = {}, {}, []
    for name in shards.views:
        family, reasons[name] = requested[name], ""
        key = family if isinstance(family, str) else ""
        if isinstance(family, Family):
            families[name] = family
        elif key in FAMILIES:
            families[name] = FAMILIES[key]()
        elif key == "auto":
            automatic.append(name)
        elif isinstance(family, type) and issubclass(family, Family):
            raise ValueError(f"view {name!r}: {family.__name__} is a class: give an instance, {family.__name__}(...)")
        else:
            raise ValueError(
                f"view {name!r}: no family {family!r}: give 'auto', one of {', '.join(map(repr, FAMILIES))}, or an "
                "instance of a class of consilience.families or of your own"
            )
    choices = list(shards.map(choose_in_shard, automatic)) if automatic else []
    for name in automatic:
        families[name], reason = choose_most_general([choice[name] for choice in choices])
        reasons[name] = f", since {reason}"
    return {name: families[name] for name in shards.views}, reasons


def choose_in_shard(shard: Shard, names: Sequence[str]) -> dict[str, tuple[Family, str]]:
    """Choose families for the rows of a shard, with the reasons."""
    return {name: choose_most_general(list(map_blocks(choose, shard.views[name].X))) for name in names}


def map_blocks(function: Callable[[Array], Any], X: Array) -> Iterator[Any]:
    """Apply a function to all rows in memory, or block by block to rows on disk."""
    return map_chunks(lambda rows: function(X[rows, ...]), plan_reads(X))


def prepare_for_families(shard: Shard, families: Mapping[str, Family]) -> Shard:
    """Prepare the rows of a shard for the families of the views; refuse rows that a family cannot explain."""
    views = {}
    for name, view in shard.views.items():
        family, present = families[name], view.present

        def describe(X: Array, family: Family = family) -> tuple[str | None, Array | None, Array | None]:
            complaint = find_complaint(family, X)
            return (complaint, None, None) if complaint else (None, family.informative_rows(X), family.row_term(X))

        complaints, informative, row_terms = zip(*map_blocks(describe, view.X), strict=True)
        if any(complaints):
            raise ValueError(f"view {name!r}: family {family.name!r} {next(filter(None, complaints))}")
        if informative[0] is not None:
            present = namespace(present).logical_and(present, join_blocks(informative))
        views[name] = ViewRows(view.X, present, None if row_terms[0] is None else join_blocks(row_terms))
    return Shard(views)


def bind_family(shards: Shards, name: str, family: Family) -> Family:
    """Let a family see the rows before the first round; of rows that are not in memory, a sample and the extremes."""
    view = shards.views[name]
    if is_in_memory(view.X):
        return family.bind(view.X, view.present)
    sample = [shards.take(pick_spread_rows(view.present), [name])[name].X]
    if type(family).extremes is not Family.extremes:
        sample += [rows for extremes in shards.map(find_extremes, name, family) for rows in extremes]
    seen = stack_rows(sample)
    return family.bind(seen, np.ones(seen.shape[0], bool))


def find_extremes(shard: Shard, name: str, family: Family) -> list[Array]:
    """Return the rows of a shard that a family must see beyond a sample."""
    return [rows for rows in map_blocks(family.extremes, shard.views[name].X) if rows is not None]
