"""Arrays and frames of dask, and shards on the workers of dask.

Each shard is a future that the scheduler can compute again from its chunks, so a worker that dies costs time only. A
task's parameters and results are small, and no task depends on one of the round before: the graph does not grow.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cached_property, partial, reduce
from itertools import count
from operator import add
from typing import Any, TypeVar

import numpy as np
import scipy.sparse as sp

from ..arrays import to_numpy
from .shards import Shard, Shards, ViewRows
from .source import Source, Storage, stack_rows

T = TypeVar("T")

GROUP_SIZE = 8  # results that a worker adds up before they are sent
_numbers = count()


def current_client() -> Any:
    """Return the active dask client; None if dask computes on threads of this process."""
    if "distributed" not in sys.modules:
        return None
    from distributed import default_client

    try:
        return default_client() if _uses_workers() else None
    except ValueError:
        return None


def _uses_workers() -> bool:
    """Whether dask is not configured to compute in this process."""
    import dask

    return dask.config.get("scheduler", None) in (None, "distributed", "dask.distributed")


class DaskStorage(Storage):
    """Rows of a two-dimensional dask array, in chunks of whole rows; it can be pickled if the array can."""

    description = "a dask array"
    location = "of dask"
    edges: np.ndarray

    def __init__(self, array: Any) -> None:
        self.array = array if array.numblocks[1] == 1 else array.rechunk({1: -1})
        self.shape = tuple(int(length) for length in self.array.shape)
        self.dtype = np.dtype(self.array.dtype)
        self.sparse = sp.issparse(self.array._meta)
        self.edges = np.concatenate([[0], np.cumsum(self.array.chunks[0])])
        self.client = current_client()  # threads that read ahead do not see the caller's client
        self.checked = np.zeros(self.shape[0], bool)
        self._n_stored = self._count_stored() if self.sparse else self.shape[0] * self.shape[1]

    @property
    def size(self) -> int:
        return self._n_stored

    def _count_stored(self) -> int:
        """Count the values of sparse chunks, where the chunks are: the choice of starts depends on the number."""
        from dask.delayed import delayed

        return sum(self._compute([delayed(lambda chunk: int(chunk.nnz))(chunk) for chunk in self.chunks]))

    def read(self, start: int, stop: int) -> Any:
        first, last = np.searchsorted(self.edges, [start, stop - 1], side="right") - 1
        computed = self._compute(self.chunks[first : last + 1])
        chunks = (sp.csr_array(chunk) if self.sparse else chunk for chunk in computed)
        blocks = [
            chunk if start <= edge and edge + chunk.shape[0] <= stop else chunk[max(0, start - edge) : stop - edge]
            for chunk, edge in zip(chunks, self.edges[first : last + 1], strict=True)
        ]
        if self.sparse:
            return blocks[0] if len(blocks) == 1 else sp.vstack(blocks, format="csr")
        return np.asarray(blocks[0] if len(blocks) == 1 else np.concatenate(blocks))

    def select_columns(self, columns: slice | list[int]) -> DaskStorage:
        return DaskStorage(self.array[:, columns])  # still of dask, so that its workers can have them

    def find_all_nan(self) -> np.ndarray:
        """Return which rows contain only NaN, computed where the chunks are."""
        import dask.array as da

        return self._compute([da.isnan(self.array).all(axis=1)])[0]

    def _compute(self, graphs: list[Any]) -> tuple[Any, ...]:
        """Compute on the workers of the client that was active at first, or wherever dask computes."""
        from dask.base import compute

        alive = self.client is not None and self.client.status == "running" and _uses_workers()
        return compute(*graphs, scheduler=self.client if alive else None)

    def __getstate__(self) -> dict[str, Any]:
        return self.__dict__ | {"client": None}

    @cached_property
    def chunks(self) -> list[Any]:
        """Each chunk as a delayed object of dask."""
        return self.array.to_delayed()[:, 0].tolist()


def as_dask_array(name: str, data: Any) -> Any:
    """Return an array or frame of dask as a dask array whose chunks have known numbers of rows."""
    if hasattr(data, "to_dask_array"):
        return _frame_to_array(name, data)
    if not hasattr(data, "rechunk"):
        raise TypeError(
            f"view {name!r} is a {type(data).__name__} of dask: give an array or a frame, such as "
            "dask.array.from_delayed makes"
        )
    if any(np.isnan(length) for length in data.shape):
        raise ValueError(
            f"view {name!r} is a dask array that does not know how many rows its chunks have: call "
            ".compute_chunk_sizes() on it first"
        )
    if not sp.issparse(data._meta) and _starts_sparse(data):
        raise TypeError(
            f"view {name!r} is a dask array that takes its chunks for dense, but the first is sparse: say so with "
            f"dask.array.from_delayed(..., meta=scipy.sparse.csr_array((0, {data.shape[-1]})))"
        )
    return data


def _starts_sparse(array: Any) -> bool:
    """Whether the first chunk is sparse, computed where it is."""
    from dask.base import compute
    from dask.delayed import delayed

    return compute(delayed(sp.issparse)(array.to_delayed().flat[0]))[0]


def _frame_to_array(name: str, frame: Any) -> Any:
    """Return the columns as one array; as float64 if they have several types or nulls."""
    dtypes = dict(frame.dtypes) if frame.ndim == 2 else {frame.name: frame.dtype}
    texts = [column for column, dtype in dtypes.items() if getattr(dtype, "kind", "O") not in "biuf"]
    if texts:
        raise TypeError(f"view {name!r}: column {texts[0]!r} holds no numbers. Encode it first, or leave it out")
    kinds = set(dtypes.values())
    if len(kinds) > 1 or not all(isinstance(kind, np.dtype) for kind in kinds):
        frame = frame.astype(np.float64)
    array = frame.to_dask_array()  # which may have fewer chunks than the frame has partitions
    return array.compute_chunk_sizes()


def find_workers(sources: Mapping[str, Any]) -> Any:
    """Return the dask client if all views are of dask and a client is active, else None."""
    is_dask = (isinstance(getattr(X, "storage", None), DaskStorage) for X in sources.values())
    return current_client() if all(is_dask) else None


@dataclass(frozen=True, eq=False)
class DaskShards(Shards):
    """Shards on the workers of dask."""

    client: Any
    views: Mapping[str, ViewRows]  # whose rows are a `Source`, for their shape and kind
    futures: Sequence[Any]  # one per shard
    sizes: Sequence[int]

    @classmethod
    def from_chunks(
        cls, client: Any, sources: Mapping[str, Source], present: np.ndarray, make: Callable[..., Shard]
    ) -> DaskShards:
        """Make one shard per chunk: workers call ``make(blocks, present, start)``, where `start` is the first row."""
        from dask.delayed import delayed

        arrays = align_chunks(sources)
        names, sizes = list(arrays), next(iter(arrays.values())).chunks[0]
        first_row = sources[names[0]].start  # in the storage, so that messages name rows as they are numbered there
        task, graphs = delayed(make, pure=False), []
        columns = [array.to_delayed()[:, 0] for array in arrays.values()]
        for *blocks, size, stop in zip(*columns, sizes, np.cumsum(sizes), strict=True):
            start = int(stop) - size
            graphs.append(task(dict(zip(names, blocks, strict=True)), present[start:stop], first_row + start))
        views = {name: ViewRows(X, present[:, v]) for v, (name, X) in enumerate(sources.items())}
        return cls(client, views, client.compute(graphs), list(sizes))

    def map(self, task: Callable[..., T], *common: Any, each: Sequence[Any] | None = None) -> Iterator[T]:
        with self._running(self._submit(task, common, each)) as futures:
            for future in futures:
                yield future.result()

    def total(self, task: Callable[..., T], *common: Any) -> T:
        """Return the sum of the results; workers add up those of neighboring shards, so that few are sent."""
        results = self._submit(task, common)
        with self._running(results):
            while len(results) > GROUP_SIZE:
                groups = [results[i : i + GROUP_SIZE] for i in range(0, len(results), GROUP_SIZE)]
                results = self.client.map(add_all, groups, key=_make_keys("total", len(groups)), pure=False)
            return add_all(self.client.gather(results))

    def transform(self, task: Callable[..., Shard], *common: Any) -> DaskShards:
        shards = replace(self, futures=self._submit(task, common))
        present = list(shards.map(get_presence))
        views = {
            name: ViewRows(view.X, np.concatenate([has_view[name] for has_view in present]))
            for name, view in self.views.items()
        }
        return replace(shards, views=views)

    def with_labels(self, labels: np.ndarray, kind: str = "start_labels") -> DaskShards:
        task = partial(Shard.with_labels, kind=kind)
        return replace(self, futures=self._submit(task, (), self.split(labels)))

    def take(self, rows: np.ndarray | None, names: Sequence[str] | None = None) -> Mapping[str, ViewRows]:
        rows = np.arange(len(self)) if rows is None else rows
        order, ends = np.argsort(rows, kind="stable"), np.cumsum(self.sizes)
        per_shard = np.split(rows[order], np.searchsorted(rows[order], ends[:-1]))
        positions = [values - start for values, start in zip(per_shard, ends - self.sizes, strict=True)]
        names = list(self.views) if names is None else names
        results = list(self.map(take_views, names, each=positions))
        return {name: stack_views([views[name] for views in results]).take(np.argsort(order)) for name in names}

    def _submit(
        self, task: Callable[..., Any], common: tuple[Any, ...], each: Sequence[Any] | None = None
    ) -> list[Any]:
        import dask

        extra = [()] * len(self.futures) if each is None else [(value,) for value in each]
        # the common arguments are sent once, as a task of their own that the scheduler can run again
        with dask.config.set({"distributed.admin.large-graph-warning-threshold": "1GB"}):
            (shared,) = self.client.map(return_unchanged, [common], key=_make_keys("common", 1), pure=False)
            keys = _make_keys(getattr(task, "__name__", "task"), len(extra))
            return self.client.map(run_task, self.futures, extra, task=task, common=shared, key=keys, pure=False)

    @contextmanager
    def _running(self, futures: list[Any]) -> Iterator[list[Any]]:
        """Cancel the tasks if something fails, and the shards too; after Ctrl-C the shards are still needed.

        A traceback that is kept would otherwise keep them on the workers.
        """
        try:
            yield futures
        except BaseException as error:
            self.client.cancel(futures)
            if isinstance(error, Exception):
                self.client.cancel(self.futures)
            raise


def align_chunks(sources: Mapping[str, Source]) -> dict[str, Any]:
    """Return dask arrays with chunks at the same rows: those of the largest view, which is costly to move."""
    arrays = {name: X.storage.array[X.start : X.stop] for name, X in sources.items()}  # type: ignore[attr-defined]
    largest = max(sources, key=lambda name: sources[name].nbytes)
    lengths = tuple(length for length in arrays[largest].chunks[0] if length) or (0,)
    return {name: array.rechunk({0: lengths}) for name, array in arrays.items()}


def run_task(shard: Shard, extra: tuple[Any, ...], task: Callable[..., T], common: tuple[Any, ...]) -> T:
    """Run a task on a worker."""
    with shard.cache.lock:
        return task(shard, *common, *extra)


def return_unchanged(common: tuple[Any, ...]) -> tuple[Any, ...]:
    """Identity task: sends the common arguments to the workers once."""
    return common


def get_presence(shard: Shard) -> dict[str, np.ndarray]:
    """Return which entities of a shard have each view."""
    return {name: to_numpy(view.present) for name, view in shard.views.items()}


def add_all(results: Sequence[Any]) -> Any:
    """Add up results in their order."""
    return reduce(add, results)


def take_views(shard: Shard, names: Sequence[str], rows: np.ndarray) -> dict[str, ViewRows]:
    """Return rows of a shard by position."""
    return {name: shard.views[name].take(rows) for name in names}


def stack_views(views: Sequence[ViewRows]) -> ViewRows:
    """Stack rows of several shards."""
    present = np.concatenate([view.present for view in views])
    row_terms = [view.row_term for view in views]
    row_term = None if row_terms[0] is None else np.concatenate(row_terms)
    return replace(views[0], X=stack_rows([view.X for view in views]), present=present, row_term=row_term)


def _make_keys(name: str, n: int) -> list[str]:
    """Return keys that no other tasks have."""
    return [f"consilience-{name}-{next(_numbers)}-{np.random.default_rng().integers(1 << 62):x}" for _ in range(n)]
