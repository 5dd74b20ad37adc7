"""From views to validated shards, in this process or on the workers of dask."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from ...arrays import Array, asarray_like, is_sparse, to_numpy
from ...data import Views
from ...divergences import Divergence
from ...rows import DaskShards, LocalShards, Shard, Shards, Source, ViewRows, find_workers
from .input_checks import check_nonzero_views, validate_blocks

SAMPLE_SIZE = 1000  # about the number of rows that are looked at before the first round
OUT_OF_MEMORY_ADVICE = (
    "what is kept of all entities (n_entities x n_clusters numbers per view)",
    "lower n_clusters, give numbers in float32 or fewer entities (views[rows]), or give numpy arrays",
)


def open_shards(views: Views) -> Shards:
    """Validate the rows, as one shard in this process, or one per chunk on the workers of dask."""
    sources = {name: block for name, block in views.items() if isinstance(block, Source)}
    client = find_workers(sources) if len(sources) == views.n_views else None
    if client is not None:
        return DaskShards.from_chunks(client, sources, views.present, validate_chunk)
    blocks = validate_blocks(views, stored=True)
    return LocalShards({name: ViewRows(X, present) for name, (X, present) in blocks.items()})


def validate_chunk(blocks: Mapping[str, Any], present: np.ndarray, start: int) -> Shard:
    """Make a shard of a chunk of the rows, on a worker."""
    chunk = validate_blocks(Views.from_chunk(blocks, present, start))
    return Shard({name: ViewRows(X, has_view) for name, (X, has_view) in chunk.items()})


def pick_spread_rows(present: Array) -> np.ndarray:
    """Return the positions of about a thousand of the rows that are present, evenly spread."""
    rows = np.flatnonzero(to_numpy(present))
    return rows[:: max(1, len(rows) // SAMPLE_SIZE)]


def prepare_kmeans(views: Views, divergence: Divergence, centers: Mapping[str, Array] | None = None) -> Shards:
    """Prepare shards for a divergence; with `centers`, to be compared with these."""
    shards, reference = open_shards(views), centers or {}
    if centers is None and divergence.uses_origin:  # all shards must have one; sparse rows are measured from zero
        dense = [name for name, view in shards.views.items() if not is_sparse(view.X)]
        reference = {name: shards.take(pick_spread_rows(shards.views[name].present), [name])[name].X for name in dense}
    shards = shards.transform(prepare_shard, divergence, reference).cut()
    present = {name: view.present for name, view in shards.views.items()}
    check_nonzero_views(views, present, fitting=centers is None)
    return shards


def prepare_shard(shard: Shard, divergence: Divergence, centers: Mapping[str, Array]) -> Shard:
    """Prepare the rows of a shard for a divergence, measured from a point amid the centers."""
    views = {}
    for name, view in shard.views.items():
        reference = centers.get(name)
        if reference is not None:
            reference = asarray_like(to_numpy(reference).astype(np.float64), view.present)
        views[name] = divergence.prepare(view.X, view.present, reference)
    return Shard(views)
