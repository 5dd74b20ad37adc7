"""How the views of a k-means speak with one voice in the end (Bickel & Scheffer 2004, Eqs 11 and 12)."""

from __future__ import annotations

from collections.abc import Mapping
from functools import reduce
from operator import add

from .._backend import Array, blocks, chunks, map_chunks, namespace, stored, where
from ..divergences import Divergence, Rows
from .kmeans import NOWHERE, Collector, KMeansState, divergences_to, measuring


def unanimous(views: Mapping[str, Rows], labels: Mapping[str, Array]) -> Array:
    """The label that all views of an entity agree on; NOWHERE where they do not."""
    first, *_ = labels.values()
    xp = namespace(first)
    lowest = xp.full_like(first, xp.iinfo(first.dtype).max)
    highest = xp.full_like(first, NOWHERE)
    for view, own in zip(views.values(), labels.values(), strict=True):
        lowest = xp.where(view.present, xp.minimum(lowest, own), lowest)
        highest = xp.where(view.present, xp.maximum(highest, own), highest)
    return where(lowest == highest, highest, NOWHERE)


def consensus_centres(views: Mapping[str, Rows], divergence: Divergence, state: KMeansState) -> dict[str, Array]:
    """Eq 11: centres of the entities on which all their views agree.

    Where the views agree on no entity of a cluster that has the view, the view's own centre stands.
    """
    agreed = unanimous(views, state.labels)
    result = {}
    for name, view in views.items():
        own = state.centres[name]
        found = Collector(view, own.shape[0]).collect(agreed)
        centres = divergence.centres(found.sums, found.counts)
        result[name] = namespace(own).where(found.counts[:, None] > 0, centres, own)
    return result


def vote(views: Mapping[str, Rows], divergence: Divergence, centres: Mapping[str, Array]) -> tuple[Array, float]:
    """Eq 12: each entity to the cluster at the smallest distance, summed over the views it has.

    Returns the labels and their cost: the divergence of each entity from its cluster, summed over entities and views.
    """
    measures = {name: measuring(view, divergence, centres[name]) for name, view in views.items()}
    xp = namespace(next(iter(centres.values())))

    def one_chunk(rows: slice) -> tuple[list[Array], list[Array]]:
        labels, costs = [], []
        for block in blocks(largest.X, rows):
            away = {n: where(v.present[block][:, None], measures[n](block), 0.0) for n, v in views.items()}
            distance = reduce(add, (divergence.distance(own) for own in away.values()))
            labels.append(xp.argmin(distance, axis=1))
            costs.append(xp.sum(xp.take_along_axis(reduce(add, away.values()), labels[-1][:, None], axis=1)))
        return labels, costs

    largest = max(views.values(), key=lambda view: stored(view.X))
    labels, costs = map(list, zip(*map_chunks(one_chunk, chunks(largest.X)), strict=True))
    return xp.concat(reduce(add, labels)), float(reduce(add, reduce(add, costs)))


def distances_to(views: Mapping[str, Rows], divergence: Divergence, centres: Mapping[str, Array]) -> Array:
    """What `vote` compares: the distance of each entity to each cluster, summed over the views it has (n, k)."""
    return reduce(
        add,
        (
            divergence.distance(where(view.present[:, None], divergences_to(view, divergence, centres[name]), 0.0))
            for name, view in views.items()
        ),
    )
