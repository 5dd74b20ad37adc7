"""Stepwise EM for streams (Cappé & Moulines 2009; Liang & Klein 2009): statistics averaged over the batches.

What is remembered of a view is small: its mean statistics per entity, in which newer batches count more, and the number
of entities. A batch costs one round over its own rows.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from ..._docstrings import fill_docstrings
from ...arrays import Array, asarray_like, is_array, to_numpy
from ...data import Table
from ...rows import Shards
from .docs import PARTS
from .statistics import NO_LABEL

# Between 1/2 and 1, where all batches count the same. Liang & Klein recommend 0.7. Streams of 20 batches hardly differ
# from 0.6 to 0.85; at 1 those of weak views do worse, because the clusters of the first batch keep their influence.
POWER = 0.7
Memory = dict[str, Any]  # of a view: "n_entities", and means per entity, as arrays or as dicts of arrays
Memories = Mapping[str, Memory]

share_stream_docs = fill_docstrings(
    {
        **PARTS,
        "partial_fit": """
The first batch is fitted as by `fit`, and later ones move the model (stepwise EM: Cappé & Moulines 2009, Liang & Klein
2009): of batches of one size the t-th has the weight ``t ** -0.7``, so that newer ones count more and the model
settles. After `fit` it continues from the fitted model, whose data count as one batch. Attributes of entities, such as
`labels_`, are those of the batch. A batch that is refused changes nothing.

Parameters
----------
X : Views, mapping or sequence of blocks, or array-like of shape (n_entities, n_columns)
    The batch: as in `fit` at first, with at least `n_clusters` entities; then any number with any of the views.
y : array-like of shape (n_entities,), default=None
    Classes of the entities of the batch that are known, -1 where unknown: those of `fit` at first, then no others.

Returns
-------
self
    The fitted estimator.
""",
    }
)


def map_leaves(function: Callable[..., Any], *trees: Any) -> Any:
    """Apply a function to numbers, or to the numbers in mappings, key by key."""
    if isinstance(trees[0], Mapping):
        return {key: map_leaves(function, *(tree[key] for tree in trees)) for key in trees[0]}
    return function(*trees)


def convert_arrays(tree: Any, reference: Array) -> Any:
    """Convert the arrays in mappings to the library and device of `reference`."""
    return map_leaves(lambda value: asarray_like(value, reference) if is_array(value) else value, tree)


def count_present(shards: Shards) -> dict[str, int]:
    """Count the entities that have each view, for the views that any has."""
    if not len(shards):
        raise ValueError("this batch has no entities: leave it out")
    counts = {name: int(to_numpy(view.present).sum()) for name, view in shards.views.items()}
    if not any(counts.values()):
        raise ValueError("all rows of this batch are zeros, which carry no information: leave the batch out")
    return {name: n for name, n in counts.items() if n}


def start_memory(n: int, sums: Mapping[str, Any]) -> Memory:
    """Return the memory of a view after its first batch, of which n entities have it."""
    return {"n_entities": n, **map_leaves(lambda value: value / n, sums)}


def average_memory(memory: Memory, n: int, sums: Mapping[str, Any]) -> Memory:
    """Compute S <- (1 - g) S + g s, with s the mean over the n entities of a batch that have the view.

    For batches of one size the t-th has g = t^-0.7; a small batch after many entities counts less.
    """
    n_entities = memory["n_entities"] + n
    step = (n / n_entities) ** POWER
    earlier = {key: memory[key] for key in sums}
    means = map_leaves(lambda mean, value: (1 - step) * mean + (step / n) * value, earlier, dict(sums))
    return {"n_entities": n_entities, **means}


def scale_means(memory: Memory, key: str) -> Any:
    """Return means as sums over the entities so far, so that smoothing and floors mean the same as in one fit."""
    return map_leaves(lambda mean: mean * memory["n_entities"], memory[key])


def append_batch(history: Table, n_batches: int, record: Mapping[str, Any] | None = None) -> Table:
    """Reduce the rounds of the first batch to the last one, and append a row if there is a record."""
    if n_batches == 1:
        history = Table({name: column[-1:] for name, column in history.items()} | {"round": np.array([1])})
    if record is None:
        return history
    row = {"round": n_batches + 1, **record}
    return Table({name: np.append(column, row[name]) for name, column in history.items()})


def join_view_labels(shards: Sequence[Mapping[str, Array]], names: Iterable[str], n: int) -> dict[str, np.ndarray]:
    """Join each view's labels of n entities from all shards; NO_LABEL in a view that they lack."""
    return {
        name: np.concatenate([to_numpy(labels[name]) for labels in shards])
        if name in shards[0]
        else np.full(n, NO_LABEL)
        for name in names
    }


def check_same_clusters(n_clusters: int, n_fitted: int) -> None:
    """Refuse to continue with another number of clusters."""
    if n_clusters != n_fitted:
        raise ValueError(
            f"n_clusters={n_clusters}, but the model has {n_fitted} clusters: set it back, or start anew with fit"
        )
