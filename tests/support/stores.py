"""Views in memory, on disk, in other array libraries and in dask, for tests that results do not depend on this."""

import logging
import warnings
from contextlib import contextmanager

import array_api_strict
import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.exceptions import ConvergenceWarning

import consilience as cs
from consilience.arrays import parallel, split_slice
from consilience.datasets import make_gaussian_views
from consilience.methods.coem import algorithm as coem
from consilience.methods.kmeans import algorithm as kmeans
from consilience.rows import shards, source

K = 3
FEW = {"n_init": 1, "max_iter": 6, "random_state": 0}
ESTIMATORS = {
    "co-em": lambda **more: cs.CoEM(K, **{**FEW, **more}),
    "k-means": lambda **more: cs.MultiViewKMeans(K, **{**FEW, **more}),
    "spherical": lambda **more: cs.MultiViewSphericalKMeans(K, **{**FEW, **more}),
}
ON_PROCESSES = pytest.mark.xdist_group("processes of dask")  # which only one process of the tests then starts


def make_blocks(case, n=240):
    """Make two views: one of real numbers, one of counts."""
    views, y = make_gaussian_views(n, n_clusters=K, n_features=(4,), separation=3, random_state=0)
    rng = np.random.default_rng(0)
    counts = rng.poisson(0.3 + 2.0 * (np.arange(9) % K == y[:, None]))
    dtype = np.float32 if case == "float32" else np.float64
    X, T = np.array(views["view0"], dtype), counts.astype(dtype)
    if case == "missing":
        X[rng.random(n) < 0.3] = np.nan
        T[np.isfinite(X[:, 0]) & (rng.random(n) < 0.3)] = np.nan
    return {"numbers": X, "counts": sp.csr_array(T) if case == "sparse" else T}, y


def store_in_files(folder, blocks):
    """Map blocks from files; a sparse one becomes a CSR matrix of mapped arrays."""
    stored = {}
    for name, X in blocks.items():
        if sp.issparse(X):
            arrays = {
                key: save_and_map(folder / f"{name}-{key}.npy", getattr(X, key))
                for key in ("data", "indices", "indptr")
            }
            stored[name] = sp.csr_array(tuple(arrays.values()), shape=X.shape)
        else:
            stored[name] = save_and_map(folder / f"{name}.npy", X)
    return stored


def save_and_map(path, values):
    np.save(path, values)
    return np.load(path, mmap_mode="r")


def store_in_hdf5(folder, blocks):
    h5py = pytest.importorskip("h5py")
    file = h5py.File(folder / "views.h5", "w")
    return {n: X if sp.issparse(X) else file.create_dataset(n, data=X, chunks=(50, 2)) for n, X in blocks.items()}


def store_in_zarr(folder, blocks):
    zarr = pytest.importorskip("zarr")
    stored = {}
    for name, X in blocks.items():
        if not sp.issparse(X):
            stored[name] = zarr.create_array(folder / name, shape=X.shape, dtype=X.dtype, chunks=(70, X.shape[1]))
            stored[name][:] = X
    return {**blocks, **stored}


def convert_to_dask(_folder, blocks):
    """Convert blocks to dask arrays whose chunks differ between the views."""
    pytest.importorskip("dask.array")
    lengths = ((100, 40, 100), (60, 120, 60))
    return {name: make_dask_array(X, chunks) for (name, X), chunks in zip(blocks.items(), lengths, strict=True)}


def make_dask_array(X, lengths, kind=sp.csr_array):
    """Make a dask array with chunks of these lengths, sparse if X is."""
    import dask
    import dask.array as da

    if not sp.issparse(X):
        return da.from_array(X, chunks=(tuple(lengths), X.shape[1]))
    ends = np.cumsum(lengths)
    parts = [
        da.from_delayed(dask.delayed(kind(X[a:b])), (b - a, X.shape[1]), meta=kind((0, 0), dtype=X.dtype))
        for a, b in zip(ends - lengths, ends, strict=True)
    ]
    return da.concatenate(parts)


def convert_to_strict(_folder, blocks):
    return _convert_blocks(blocks, lambda X: array_api_strict.asarray(np.ascontiguousarray(X)))


def convert_to_torch(_folder, blocks):
    torch = pytest.importorskip("torch")
    return _convert_blocks(blocks, lambda X: torch.asarray(np.array(X)))


def _convert_blocks(blocks, convert):
    if any(map(sp.issparse, blocks.values())):
        pytest.skip("sparse matrices of these libraries have tests of their own")
    return {name: convert(X) for name, X in blocks.items()}


STORES = {
    "memmap": store_in_files,
    "hdf5": store_in_hdf5,
    "zarr": store_in_zarr,
    "dask": convert_to_dask,
    "array_api_strict": convert_to_strict,
    "torch": convert_to_torch,
}


def fit_quietly(model, views):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return model.fit(views)


def label_views(shard, centers, names):
    """Label a shard's entities by the centers of each view."""
    for _ in kmeans.iterate_labels(shard, centers, names):
        pass
    return {name: shard.cache.arrays[name].copy() for name in names}


@contextmanager
def cut_finely():
    """Cut small data as large data would be: into many shards, each worked on in many spans and blocks."""
    with (
        pytest.MonkeyPatch.context() as patch,
        parallel.tuning.set(least_chunk=1, block=128),
        coem.tuning.set(piece=20 * K, workspace=64),
        source.tuning.set(block_bytes=1 << 12, largest_unit=1 << 12),
    ):
        patch.setattr(shards, "split_into_shards", lambda views: split_slice(slice(0, views[0][0].shape[0]), 4))
        yield


@contextmanager
def start_dask_client(**options):
    """Start a client of two silent workers."""
    distributed = pytest.importorskip("distributed")
    options = {"n_workers": 2, "threads_per_worker": 1, "dashboard_address": ":0", **options}  # a port that is free
    with (
        distributed.LocalCluster(silence_logs=logging.CRITICAL, **options) as workers,
        distributed.Client(workers, set_as_default=False) as client,
    ):
        yield client
