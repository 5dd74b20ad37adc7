"""From a user's views to shards that algorithms work on, here or on a cluster."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from sklearn import get_config

from ...arrays import Array, create_scratch_array, map_chunks, namespace, to_numpy
from ...data import Views
from ...divergences import Divergence, ViewRows
from ...families import FAMILIES, Family, choose
from ...families.choose import choose_most_general, find_complaint
from ...rows import DaskStorage, Source, current_client
from ...rows.remote import Remote, given_up, vertical
from ...rows.shards import Shard, Shards, in_shards, join_blocks
from ..coem.algorithm import Model, Part
from ..coem.assign import conclusion
from .input_checks import check_nonzero_views, plan_blocks, prepare_chunk, validate_blocks, warn_about_zero_rows

FATE = "takes no part in the estimates and gets the cluster of the largest prior"  # of an entity without a word
TOO_LARGE = (
    "what is kept of all entities (n_entities x n_clusters numbers a view)",
    "lower n_clusters, give numbers in float32 or fewer entities (views[rows]), or give numpy arrays",
)
LOOKED_AT = 1000  # rows that a family sees before the first round


def prepare_kmeans(views: Views, divergence: Divergence, centres: Mapping[str, Array] | None = None) -> Shards:
    """Entities made ready for k-means; with `centres`, to be measured against those."""
    cluster = Cluster.of(views)
    if cluster is None:
        rows = prepare_chunk(views, divergence, centres)
        shards: Shards = in_shards(rows)
    else:
        shards = remote_rows(cluster, divergence, centres)
    check_nonzero_views(views, {name: part.present for name, part in shards.views.items()}, fitting=centres is None)
    return shards


def remote_rows(cluster: Cluster, divergence: Divergence, centres: Mapping[str, Array] | None) -> Remote:
    """The same on a cluster, where all shards must measure from the same point."""
    views = cluster.views
    there = dict(zip(views.names, views.present.T, strict=True))
    ready = replace(cluster.shards(ready_shard), views={n: ViewRows(views[n], own, own) for n, own in there.items()})
    if centres is None:
        dense = [name for name in views.names if not views[name].sparse]  # sparse rows are measured from zero
        centres = {name: ready.some(looked_at(there[name]))[name].X for name in dense}
    shards = ready.changed(measured_shard, divergence, centres)
    return replace(shards, views={n: ViewRows(views[n], own, own) for n, own in presence(shards, views.names).items()})


def ready_shard(chunk: Views) -> Shard:
    """Some entities, on a worker."""
    return Shard({name: ViewRows(X, there, there) for name, (X, there) in validate_blocks(chunk).items()})


def measured_shard(shard: Shard, divergence: Divergence, centres: Mapping[str, Array]) -> Shard:
    """Lay out the rows of a shard for a divergence; `centres` says where the rows of each view lie."""
    parts = shard.views.items()
    return whole({n: divergence.prepare(part.X, part.present, in_double(centres.get(n))) for n, part in parts})


def in_double(values: Array | None) -> np.ndarray | None:
    """Numbers as float64, if there are any."""
    return None if values is None else to_numpy(values).astype(np.float64)


def whole(parts: Mapping[str, Any]) -> Shard:
    """All of these in one shard."""
    n = next(iter(parts.values())).present.shape[0]
    return Shard({name: part.at(slice(0, n)) for name, part in parts.items()})


def prepare_mixture(
    views: Views, wanted: Mapping[str, Any], n_clusters: int, *, fitting: bool = True
) -> tuple[Shards, dict[str, str]]:
    """Entities made ready for mixture models, and for each view why its family was taken, if the user did not say."""
    cluster = Cluster.of(views)
    if cluster is not None:
        return mixture_there(cluster, views, wanted, fitting=fitting)
    blocks = validate_blocks(views, stored=True)
    found = {name: find_family(name, wanted[name], X) for name, (X, _) in blocks.items()}
    parts = {name: make_part(name, X, there, found[name][0]) for name, (X, there) in blocks.items()}
    check_words(views, parts, fitting=fitting)
    if fitting:
        parts = {name: replace(part, family=bound(part)) for name, part in parts.items()}
    work = {name: part.family.work_per_value(part.X, n_clusters) for name, part in parts.items()}
    reasons = {name: reason for name, (_, reason) in found.items()}
    return in_shards(parts, work, spills=too_large(parts, n_clusters)), reasons


def mixture_there(
    cluster: Cluster, views: Views, wanted: Mapping[str, Any], *, fitting: bool
) -> tuple[Remote, dict[str, str]]:
    """The same on a cluster: what needs all rows is asked of the workers."""
    found = remote_families(cluster, wanted, views.names)
    shards = cluster.shards(mixture_shard, {name: family for name, (family, _) in found.items()})
    there = presence(shards, views.names)
    shards = replace(shards, views={n: Part(views[n], own, found[n][0], None) for n, own in there.items()})
    check_words(views, shards.views, fitting=fitting)
    if fitting:
        families = {name: remotely_bound(shards, name) for name in shards.views}
        known = {name: replace(part, family=families[name]) for name, part in shards.views.items()}
        shards = replace(shards.changed(with_families, families), views=known)
    return shards, {name: reason for name, (_, reason) in found.items()}


def too_large(parts: Mapping[str, Part], n_clusters: int) -> bool:
    """Whether the log-densities of entities that are not in memory would take more than the memory that is granted."""
    wanted = sum(part.X.shape[0] * n_clusters * part.X.dtype.itemsize for part in parts.values() if is_lazy(part.X))
    return wanted > budget() / 2


def concluded(shards: Shards, model: Model, prior: Array, assignment: str) -> list[dict[str, Any]]:
    """What is known of each shard's entities in the end; posteriors that would take too much memory lie in files."""
    large, found = too_large(shards.views, prior.shape[0]), []
    for own in shards.map(conclusion, model, prior, assignment):
        if large:
            own["posteriors"] = {name: parked(posterior) for name, posterior in own["posteriors"].items()}
        found.append(own)
    return found


def parked(array: np.ndarray) -> np.ndarray:
    """The same in a file."""
    there = create_scratch_array(array.shape, array.dtype)
    there[...] = array
    return there


def budget() -> int:
    """Bytes of memory that may be taken: scikit-learn's setting `working_memory`."""
    return int(get_config()["working_memory"] * 2**20)


def is_lazy(X: Array) -> bool:
    """Whether rows are not in memory."""
    return isinstance(X, Source)


def find_family(name: str, wanted: Any, X: Array) -> tuple[Family, str]:
    """The family object that a name stands for, and why it was taken where that was not the user's choice."""
    if asks(wanted):
        return most_general(over_blocks(choose, X))
    return named_family(name, wanted), ""


def named_family(name: str, wanted: Any) -> Family:
    """The family object that a name stands for."""
    if isinstance(wanted, Family):
        return wanted
    if not isinstance(wanted, str) or wanted not in FAMILIES:
        raise ValueError(
            f"view {name!r}: no family {wanted!r}: give 'auto', one of {', '.join(map(repr, FAMILIES))}, or an object "
            "of consilience.families"
        )
    return FAMILIES[wanted]()


def most_general(choices: Iterator[tuple[Family, str]]) -> tuple[Family, str]:
    """Of what was chosen for parts of the rows that which explains them all, and why."""
    family, why = choose_most_general(choices)
    return family, f", since {why}"


def over_blocks(function: Callable[[Array], Any], X: Array) -> Iterator[Any]:
    """A function of all rows, or of some at a time where they are not in memory."""
    return map_chunks(lambda rows: function(X[rows, ...]), plan_blocks(X))


def make_part(name: str, X: Array, present: Array, family: Family) -> Part:
    """Rows made ready for a family, refused where it cannot explain them."""
    complaints, informative, own = zip(*over_blocks(lambda block: seen_by(family, block), X), strict=True)
    if any(complaints):
        raise ValueError(f"view {name!r}: family {family.name!r} {next(filter(None, complaints))}")
    if informative[0] is not None:
        present = namespace(present).logical_and(present, join_blocks(informative))
    return Part(X, present, family, None if own[0] is None else join_blocks(own))


def seen_by(family: Family, X: Array) -> tuple[str | None, Array | None, Array | None]:
    """What a family says of some rows: what is wrong, which say anything, their own terms."""
    complaint = find_complaint(family, X)
    return (complaint, None, None) if complaint else (None, family.informative_rows(X), family.row_term(X))


def check_words(views: Views, parts: Mapping[str, Part], *, fitting: bool) -> None:
    """Refuse a view of which its family learns nothing, and say which entities are left without a view."""
    for name, part in parts.items():
        if fitting and not bool(namespace(part.present).any(part.present)):
            raise ValueError(
                f"view {name!r} is all zeros, of which family {part.family.name!r} learns nothing: leave it out"
            )
    warn_about_zero_rows(views, {name: part.present for name, part in parts.items()}, FATE)


def bound(part: Part) -> Family:
    """The family with whatever it must see of the rows; of rows that are not in memory it sees some."""
    if not is_lazy(part.X):
        return part.family.bind(part.X, part.present)
    extremes = over_blocks(part.family.extremes, part.X) if has_extremes(part.family) else iter(())
    return of_some(part.family, part.X.take(looked_at(part.present)), extremes)


def remotely_bound(shards: Remote, name: str) -> Family:
    """The same for rows on workers."""
    part = shards.views[name]
    return of_some(part.family, shards.some(looked_at(part.present))[name].X, shards.map(extremes_of, name))


def has_extremes(family: Family) -> bool:
    """Whether a sample of the rows is not enough."""
    return type(family).extremes is not Family.extremes


def extremes_of(shard: Shard, name: str) -> Array | None:
    """What a family has to see of a shard's rows."""
    part = shard.views[name]
    return part.family.extremes(part.X)


def looked_at(present: np.ndarray) -> np.ndarray:
    """Some of the rows that are there, evenly spread."""
    rows = np.flatnonzero(present)
    return rows[:: max(1, len(rows) // LOOKED_AT)]


def of_some(family: Family, some: Array, extremes: Iterator[Array | None]) -> Family:
    """A family that sees some rows, and the extremes that tell what it must know of all of them."""
    seen = vertical([some, *(own for own in extremes if own is not None)])
    return family.bind(seen, np.ones(seen.shape[0], bool))


def with_families(shard: Shard, families: Mapping[str, Family]) -> Shard:
    """A shard whose families have seen what they must."""
    return Shard({name: replace(part, family=families[name]) for name, part in shard.views.items()})


@dataclass(frozen=True, eq=False)
class Cluster:
    """Views whose rows are chunks that the workers of a cluster have, or can make."""

    client: Any
    views: Views
    arrays: Mapping[str, Any]  # of dask, in chunks at the same rows

    @classmethod
    def of(cls, views: Views) -> Cluster | None:
        """None where the rows are in the memory of this process, or come there."""
        blocks = dict(views.items())
        if not all(isinstance(getattr(block, "reader", None), DaskStorage) for block in blocks.values()):
            return None
        client = current_client()
        return None if client is None else cls(client, views, aligned(blocks))

    def shards(self, make: Callable[..., Shard], *common: Any) -> Remote:
        """Shards made by workers from chunks of the views."""
        sizes = next(iter(self.arrays.values())).chunks[0]
        return Remote(self.client, {}, self.client.compute(self._over(make, common)), list(sizes))

    def map(self, task: Callable[..., Any], *common: Any) -> list[Any]:
        """What a task of the chunks gives, each of them views of their own."""
        futures = self.client.compute(self._over(task, common))
        with given_up(self.client, futures):
            return self.client.gather(futures)

    def _over(self, task: Callable[..., Any], common: tuple[Any, ...]) -> list[Any]:
        from dask.delayed import delayed

        chunks = [array.to_delayed()[:, 0] for array in self.arrays.values()]
        ends = np.cumsum(next(iter(self.arrays.values())).chunks[0])
        work = delayed(on_chunk, pure=False)
        names = list(self.arrays)
        first = self.views[names[0]].start  # of all that is stored, so that a message names the row as it is there
        return [
            work(task, common, names, list(blocks), self.views.present[end - len_ : end], int(first + end - len_))
            for *blocks, end, len_ in zip(*chunks, ends, np.diff(ends, prepend=0), strict=True)
        ]


def aligned(blocks: Mapping[str, Any]) -> dict[str, Any]:
    """Arrays of dask in chunks at the same rows: those of the one that has most to move."""
    arrays = {name: block.storage.array[block.start : block.stop] for name, block in blocks.items()}
    largest = max(blocks, key=lambda name: blocks[name].nbytes)
    lengths = tuple(length for length in arrays[largest].chunks[0] if length) or (0,)
    return {name: array.rechunk({0: lengths}) for name, array in arrays.items()}


def on_chunk(
    task: Callable[..., Any], common: tuple[Any, ...], names: list[str], blocks: list[Any], present: np.ndarray, at: int
) -> Any:
    """A task of some entities, on a worker."""
    return task(Views.numbered(dict(zip(names, blocks, strict=True)), present, at), *common)


def presence(shards: Shards, names: tuple[str, ...]) -> dict[str, np.ndarray]:
    """Who has each view, of all entities."""
    found = list(shards.map(present_in))
    return {name: np.concatenate([own[name] for own in found]) for name in names}


def present_in(shard: Shard) -> dict[str, np.ndarray]:
    """The same of a shard."""
    return {name: to_numpy(part.present) for name, part in shard.views.items()}


def remote_families(
    cluster: Cluster, wanted: Mapping[str, Any], names: tuple[str, ...]
) -> dict[str, tuple[Family, str]]:
    """The family of each view on a cluster, and why, where that was not the user's choice."""
    found = {name: (named_family(name, wanted[name]), "") for name in names if not asks(wanted[name])}
    asked = [name for name in names if name not in found]
    if asked:
        chosen = cluster.map(choices, asked)
        found |= {name: most_general(iter([own[name] for own in chosen])) for name in asked}
    return found


def asks(wanted: Any) -> bool:
    """Whether the family is to be chosen by a look at the rows."""
    return isinstance(wanted, str) and wanted == "auto"


def choices(chunk: Views, names: list[str]) -> dict[str, tuple[Family, str]]:
    """What would be taken for some rows of these views."""
    blocks = validate_blocks(chunk)
    return {name: choose(blocks[name][0]) for name in names}


def mixture_shard(chunk: Views, families: Mapping[str, Family]) -> Shard:
    """Some entities, on a worker."""
    return whole({name: make_part(name, *own, families[name]) for name, own in validate_blocks(chunk).items()})
