"""Every kind of storage: equal to rows in memory, with messages that name view and file."""

import os
import pickle
import re
import subprocess
import sys
import textwrap
import warnings

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp

from consilience import Views
from consilience.arrays import plan_reads, squared_norms, to_host
from consilience.data.inputs import coerce_view
from consilience.rows import Source, as_source, open_sparse, read_whole
from consilience.rows import open as open_module

rng = np.random.default_rng(0)
DENSE = rng.normal(size=(203, 5)).astype(np.float32)
SPARSE = sp.csr_array(sp.random(203, 40, density=0.1, random_state=0, dtype=np.float32))


def mapped(folder, values=DENSE):
    np.save(folder / "dense.npy", values)
    return np.load(folder / "dense.npy", mmap_mode="r")


def sparse_files(folder, values=SPARSE):
    """Paths of data, indices, indptr."""
    paths = []
    for name in ("data", "indices", "indptr"):
        paths.append(folder / f"{name}.npy")
        np.save(paths[-1], getattr(values, name))
    return paths


def mapped_sparse(folder, values=SPARSE):
    parts = [np.load(path, mmap_mode="r") for path in sparse_files(folder, values)]
    return sp.csr_array(tuple(parts), shape=values.shape)


def hdf5(folder, values=DENSE, **kwargs):
    h5py = pytest.importorskip("h5py")
    with h5py.File(folder / "dense.h5", "w") as file:
        file.create_dataset("deep/X", data=values, **kwargs)
    return h5py.File(folder / "dense.h5", "r")["deep/X"]


def zarr_array(folder, values=DENSE, chunks=(20, 3)):
    zarr = pytest.importorskip("zarr")
    made = zarr.create_array(folder / "dense.zarr", shape=values.shape, dtype=values.dtype, chunks=chunks)
    made[...] = values
    return zarr.open_array(folder / "dense.zarr", mode="r")


def parquet_file(folder, values=DENSE, name="dense.parquet", group=30):
    pytest.importorskip("pyarrow")
    pd.DataFrame(values, columns=list("abcdefgh")[: values.shape[1]]).to_parquet(folder / name, row_group_size=group)
    return folder / name


def parquet(folder, values=DENSE):
    path = parquet_file(folder, values)
    return Views.from_parquet(path, {"dense": slice(None)})["dense"]


def backed(folder, X):
    anndata = pytest.importorskip("anndata")
    anndata.AnnData(X, obs=pd.DataFrame(index=[f"c{i}" for i in range(X.shape[0])])).write_h5ad(folder / "X.h5ad")
    return anndata.read_h5ad(folder / "X.h5ad", backed="r")


def backed_sparse(folder):
    return backed(folder, sp.csr_matrix(SPARSE)).X


KINDS = {
    "memmap": (mapped, DENSE),
    "fortran": (lambda folder: mapped(folder, np.asfortranarray(DENSE)), DENSE),
    "sparse": (mapped_sparse, SPARSE),
    "hdf5": (hdf5, DENSE),
    "hdf5 in chunks": (lambda folder: hdf5(folder, chunks=(16, 2), compression="gzip"), DENSE),
    "zarr": (zarr_array, DENSE),
    "parquet": (parquet, DENSE),
    "anndata": (lambda folder: backed(folder, DENSE).X, DENSE),
    "sparse anndata": (backed_sparse, SPARSE),
}


@pytest.fixture(params=KINDS)
def stored(request, tmp_path):
    """Rows in a file, and in memory."""
    make, values = KINDS[request.param]
    return make(tmp_path), values


@pytest.fixture
def _small_blocks(tune):
    tune("rows.source", block_bytes=400)


def numbers(block):
    block = block if sp.issparse(block) else to_host(block)
    return block.toarray() if sp.issparse(block) else np.asarray(block)


def lazy_rows(data, name="a"):
    return as_source(coerce_view(name, data).values, name)


def count_reads(monkeypatch, X):
    """Record the number of rows of each read."""
    asked = []
    read = type(X.storage).read

    def counted(self, start, stop):
        asked.append(stop - start)
        return read(self, start, stop)

    monkeypatch.setattr(type(X.storage), "read", counted)
    return asked


@pytest.mark.usefixtures("_small_blocks")
def test_rows_of_every_storage_equal_those_in_memory(stored):
    data, values = stored
    X = lazy_rows(data)
    assert isinstance(X, Source)
    assert (X.shape, X.dtype, X.sparse) == (values.shape, np.float32, sp.issparse(values))
    assert X.size == (values.nnz if X.sparse else values.size)
    blocks = plan_reads(X)
    assert len(blocks) > 3
    np.testing.assert_array_equal(np.concatenate([numbers(X[rows, ...]) for rows in blocks]), numbers(values))
    np.testing.assert_array_equal(numbers(X[:]), numbers(values))
    np.testing.assert_array_equal(numbers(X.take(np.array([200, 3, 77]))), numbers(values)[[200, 3, 77]])
    np.testing.assert_array_equal(squared_norms(X), squared_norms(X[:]))
    for available in (None, 2 * X.nbytes):
        block = read_whole("a", X, available)
        assert type(block) is type(values)
        np.testing.assert_array_equal(numbers(block), numbers(values))
    part = pickle.loads(pickle.dumps(X.slice_rows(2, 190)))
    for again in (part, pickle.loads(pickle.dumps(part))):
        np.testing.assert_array_equal(numbers(again[30:60]), numbers(values[32:62]))
    views = Views({"a": data, "b": np.arange(203.0)[:, None]})
    assert views.shape == (203, values.shape[1] + 1)
    assert views.present.all()
    assert (views["a"].dtype, views["a"].shape) == (np.float32, values.shape)
    some = views[[5, 100, 7]]
    np.testing.assert_array_equal(numbers(some["a"]), numbers(values)[[5, 100, 7]])
    np.testing.assert_array_equal(some["b"].ravel(), [5, 100, 7])
    np.testing.assert_array_equal(numbers(views[::50]["a"]), numbers(values)[::50])


def test_source_can_be_read_in_another_process(tmp_path):
    sent = {}
    for kind, (make, _) in KINDS.items():
        (tmp_path / kind).mkdir()
        sent[kind] = lazy_rows(make(tmp_path / kind))
    (tmp_path / "rows.pickle").write_bytes(pickle.dumps(sent))
    code = """
        import pickle, sys, numpy as np
        from consilience.arrays import squared_norms
        rows = pickle.load(open(sys.argv[1], "rb"))
        np.savez(sys.argv[2], **{kind: squared_norms(X) for kind, X in rows.items()})
    """
    command = [sys.executable, "-c", textwrap.dedent(code), tmp_path / "rows.pickle", tmp_path / "found.npz"]
    subprocess.run(command, check=True)
    found = np.load(tmp_path / "found.npz")
    for kind, X in sent.items():
        np.testing.assert_array_equal(found[kind], squared_norms(X))


def test_edges_of_storage_units(tmp_path):
    assert lazy_rows(hdf5(tmp_path)).edges is None
    assert lazy_rows(mapped(tmp_path)).edges is None
    assert lazy_rows(zarr_array(tmp_path)).edges[:3].tolist() == [0, 20, 40]
    assert lazy_rows(parquet(tmp_path)).edges.tolist() == [0, 30, 60, 90, 120, 150, 180, 203]
    (tmp_path / "other").mkdir()
    chunked = hdf5(tmp_path / "other", chunks=(16, 2))
    assert lazy_rows(chunked).edges[:2].tolist() == [0, 16]


def test_slice_of_views_stays_on_disk(tmp_path):
    views = Views({"a": hdf5(tmp_path), "b": zarr_array(tmp_path)})[10:60]
    assert isinstance(views["a"], Source)
    assert len(views) == 50
    np.testing.assert_array_equal(views["b"][:5], DENSE[10:15])
    np.testing.assert_array_equal(views[5:10]["a"][:], DENSE[15:20])
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(views))["b"][:], DENSE[10:60])


def test_mapped_array_stays_a_numpy_array(tmp_path):
    views = Views({"a": mapped(tmp_path), "b": mapped_sparse(tmp_path)})
    assert isinstance(views["a"], np.ndarray)
    assert isinstance(as_source(views["a"]), Source)
    assert sp.issparse(views["b"])
    assert isinstance(as_source(views["b"]), Source)


def test_64_bit_indices_are_not_copied(tmp_path):
    wide = sp.csr_array(
        (SPARSE.data, SPARSE.indices.astype(np.int64), SPARSE.indptr.astype(np.int64)), shape=SPARSE.shape
    )
    X = as_source(Views({"b": mapped_sparse(tmp_path, wide)})["b"])
    assert isinstance(X, Source)
    assert X[:].to_scipy().indices.dtype == np.int32
    np.testing.assert_array_equal(numbers(X[:]), numbers(SPARSE))


def test_arrays_in_memory_are_unchanged(tmp_path):
    whole = mapped(tmp_path)
    for block in (DENSE, SPARSE, np.asarray(DENSE)[:, :2], whole + 1, whole[[1, 2]]):
        assert as_source(block) is block


def test_description_reads_few_rows(tmp_path, monkeypatch, tune):
    tune("rows.source", block_bytes=4000)
    values = np.ones((5000, 4), np.float32)
    values[:, 0] = 0
    views = Views({"a": hdf5(tmp_path, values)}, present=np.ones((5000, 1), bool))
    asked = count_reads(monkeypatch, views["a"])
    assert "dense float32 on disk        4    75.0%   100.0%" in repr(views)
    assert 0 < sum(asked) <= 1000


@pytest.mark.parametrize(("dtype", "present"), [(np.float32, np.ones((203, 1), bool)), (np.int16, None)])
def test_presence_of_given_or_whole_numbers_needs_no_reading(dtype, present, tmp_path, monkeypatch):
    X = lazy_rows(hdf5(tmp_path, DENSE.astype(dtype)))
    asked = count_reads(monkeypatch, X)
    assert Views([X], present=present).present.all()
    assert asked == []


@pytest.mark.usefixtures("_small_blocks")
@pytest.mark.parametrize("make", [mapped, hdf5, parquet])
def test_only_rows_of_nan_are_missing(tmp_path, make):
    values = DENSE.copy()
    values[[0, 60, 202]] = np.nan
    values[70, 0] = np.nan
    views = Views({"a": make(tmp_path, values), "b": DENSE})
    assert np.flatnonzero(~views.present[:, 0]).tolist() == [0, 60, 202]


def test_columns_of_stored_rows_can_be_views(tmp_path):
    views = Views.from_columns(hdf5(tmp_path), {"a": slice(0, 2), "b": [4, 2]})
    assert isinstance(views["a"], Source)
    np.testing.assert_array_equal(views["a"][3:9], DENSE[3:9, :2])
    np.testing.assert_array_equal(views["b"][3:9], DENSE[3:9, [4, 2]])
    sparse = Views.from_columns(backed_sparse(tmp_path), {"c": slice(10, 30)})
    np.testing.assert_array_equal(numbers(sparse["c"][:]), numbers(SPARSE)[:, 10:30])


def test_map_reads_the_whole_view(tmp_path):
    values = DENSE.copy()
    values[3] = np.nan
    views = Views({"a": hdf5(tmp_path, values)}).map(lambda block: 2 * block)
    assert isinstance(views["a"], np.ndarray)
    np.testing.assert_array_equal(views["a"], 2 * values)


def test_stored_rows_join_only_in_the_same_order(tmp_path):
    ids = [f"c{i}" for i in range(203)]
    stored = hdf5(tmp_path)
    same = Views({"a": stored, "b": DENSE}, ids={"a": ids, "b": ids})
    assert isinstance(same["a"], Source)
    with pytest.raises(ValueError, match=r"view 'a' stays on disk.*give all views the same entities in the same order"):
        Views({"b": DENSE, "a": stored}, ids={"a": ids[::-1], "b": ids})
    with pytest.raises(ValueError, match=r"view 'a' stays on disk"):
        Views({"b": np.ones((204, 1)), "a": stored}, ids={"a": ids, "b": [*ids, "more"]})
    longer = Views({"a": stored, "b": DENSE[:100]}, ids={"a": ids, "b": ids[:100]})
    assert isinstance(longer["a"], Source)
    assert longer.present.sum(axis=0).tolist() == [203, 100]


def test_read_whole_refuses_too_large_views(tmp_path):
    X = lazy_rows(hdf5(tmp_path, np.ones((2**18, 64), np.float32)))
    with pytest.raises(MemoryError, match=r"view 'a' takes 0.1 GiB, more than half of the 0.1 GiB.*take fewer"):
        read_whole("a", X, X.nbytes)
    assert read_whole("a", DENSE, 1) is DENSE


def test_too_many_rows_by_position_are_refused(tmp_path, monkeypatch):
    views = Views({"a": hdf5(tmp_path)})
    monkeypatch.setattr(open_module, "available_memory", lambda: 100)
    with pytest.raises(MemoryError, match=r"50 rows of view 'a' take 0.0 GiB, more than the .*views\[start:stop\]"):
        views[np.arange(0, 100, 2)]


def test_pickled_slice_of_a_mapped_array(tmp_path):
    raw = tmp_path / "raw.bin"
    raw.write_bytes(b"x" * 5000 + DENSE.tobytes())
    whole_file = np.memmap(raw, np.float32, mode="r", offset=5000, shape=DENSE.shape)
    for part in (whole_file[20:70], whole_file[:, 1:3], whole_file[5::3, ::2], whole_file[::-1]):
        X = pickle.loads(pickle.dumps(as_source(part)))
        np.testing.assert_array_equal(X[:], np.asarray(part))
        np.testing.assert_array_equal(X[7:9], np.asarray(part)[7:9])


@pytest.mark.parametrize("mode", ["c", "r+"])
def test_changes_of_mapped_rows_are_read(mode, tmp_path):
    mapped(tmp_path)
    written = np.load(tmp_path / "dense.npy", mmap_mode=mode)
    X = as_source(written)
    X[:]
    written[3] = 7
    np.testing.assert_array_equal(X[3:4], np.full((1, 5), 7))
    if mode == "c":
        with pytest.raises(TypeError, match=r"rows of .*dense.npy cannot be pickled.*changes of its own \(mode 'c'\)"):
            pickle.dumps(X)


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="looks into /proc")
def test_read_pages_are_released(tmp_path):
    def resident():
        with open("/proc/self/status") as file:
            return int(re.search(r"RssFile:\s+(\d+)", file.read()).group(1)) / 1024

    path = tmp_path / "large.npy"
    made = np.lib.format.open_memmap(path, "w+", np.float32, (64 * 2**20 // 256, 64))
    made[:] = np.arange(64)
    del made
    values = np.load(path, mmap_mode="r")
    before = resident()
    X = as_source(values)
    total, most = 0.0, 0.0
    for rows in plan_reads(X):
        total += float(X[rows].sum())
        most = max(most, resident())
    assert total == values.shape[0] * 2016
    assert most - before < 8
    repr(Views([values]))
    assert resident() - before < 8


def test_open_sparse_reads_three_files(tmp_path):
    X = open_sparse(*sparse_files(tmp_path), shape=SPARSE.shape)
    views = Views({"a": X, "b": DENSE})
    np.testing.assert_array_equal(numbers(views["a"][:]), numbers(SPARSE))
    assert "sparse float32 on disk" in repr(views)


def test_unsorted_entries_are_sorted(tmp_path):
    data, indices, indptr = np.array([1.0, 2.0, 4.0]), np.array([2, 0, 2], np.int32), np.array([0, 3, 3])
    X = open_sparse(*sparse_files(tmp_path, sp.csr_array((data, indices, indptr), shape=(2, 3))), shape=(2, 3))
    assert X[:].indices.tolist() == [0, 2]
    np.testing.assert_array_equal(numbers(X[:]), [[2, 0, 5], [0, 0, 0]])


def test_inconsistent_sparse_parts_are_refused(tmp_path):
    data, indices, indptr = sparse_files(tmp_path)
    np.save(tmp_path / "complex.npy", SPARSE.data.astype(complex))
    for parts, shape, kind, message in (
        ((data, indices, indptr), (300, 40), ValueError, "indptr must be 301 whole numbers for 300 rows"),
        ((data, indices, np.load(indptr)[::-1]), SPARSE.shape, ValueError, "indptr must rise from 0"),
        ((data, indptr, indptr), SPARSE.shape, ValueError, r"data and indices must have one length, got \(\d+,\)"),
        ((SPARSE.data, indices, indptr), SPARSE.shape, TypeError, r"must be .npy files, or arrays mapped from them"),
        ((tmp_path / "complex.npy", indices, indptr), SPARSE.shape, TypeError, "data must hold real numbers"),
    ):
        with pytest.raises(kind, match=message):
            open_sparse(*parts, shape)
    for shape in (None, 3, "ab", (204,), (204, 40, 1), (-1, 40), (204.0, 40)):
        with pytest.raises(ValueError, match="shape must be the numbers of rows and columns, such as"):
            open_sparse(data, indices, indptr, shape)
    X = coerce_view("words", open_sparse(data, indices, indptr, (203, 10))).values
    with pytest.raises(OSError, match=r"view 'words': rows 0 to 203 of .*data.npy.*beyond the 10 columns"):
        X[:]


@pytest.mark.parametrize("part", [0, 1, 2])
def test_open_sparse_names_a_truncated_file(part, tmp_path):
    paths = sparse_files(tmp_path)
    os.truncate(paths[part], paths[part].stat().st_size - 5)
    with pytest.raises(ValueError, match=f"{re.escape(str(paths[part]))} cannot be read as a .npy file"):
        open_sparse(*paths, shape=SPARSE.shape)


def test_views_of_a_parquet_file(tmp_path):
    views = Views.from_parquet(parquet_file(tmp_path), {"left": ["a", "c"], "right": slice(3, 5), "one": "b"})
    assert views.names == ("left", "right", "one")
    assert views.feature_names("right").tolist() == ["d", "e"]
    np.testing.assert_array_equal(views["left"][25:95], DENSE[25:95, [0, 2]])
    np.testing.assert_array_equal(views["one"][:], DENSE[:, 1:2])


def test_several_parquet_files(tmp_path):
    paths = [parquet_file(tmp_path, DENSE[:50], "1.parquet"), str(parquet_file(tmp_path, DENSE[50:], "2.parquet"))]
    X = Views.from_parquet(paths, {"a": slice(None)})["a"]
    np.testing.assert_array_equal(X[:], DENSE)
    np.testing.assert_array_equal(X[40:60], DENSE[40:60])
    assert X.edges.tolist() == [0, 30, 50, 80, 110, 140, 170, 200, 203]


def test_parquet_types_and_nulls(tmp_path):
    pytest.importorskip("pyarrow")
    frame = pd.DataFrame(
        {
            "whole": pd.array([1, None, 2**40], dtype="Int64"),
            "yes": pd.array([True, None, False], dtype="boolean"),
            "real": [0.5, np.nan, 1.5],
            "text": ["p", "q", "r"],
        }
    )
    frame.to_parquet(tmp_path / "mixed.parquet")
    views = Views.from_parquet(tmp_path / "mixed.parquet", {"a": ["whole", "yes", "real"]})
    np.testing.assert_array_equal(views["a"][:], [[1, 1, 0.5], [np.nan] * 3, [2**40, 0, 1.5]])
    assert views.present.ravel().tolist() == [True, False, True]
    with pytest.raises(TypeError, match=r"view 't': column 'text' of .*mixed.parquet holds no numbers"):
        Views.from_parquet(tmp_path / "mixed.parquet", {"t": ["text"]})


def test_bad_parquet_is_refused(tmp_path):
    path = parquet_file(tmp_path)
    with pytest.raises(ValueError, match="view 'a' selects column 'z', which the data does not have"):
        Views.from_parquet(path, {"a": ["z"]})
    with pytest.raises(ValueError, match=r"view 'a' asks for column 'e', which .*less.parquet does not have"):
        Views.from_parquet([path, parquet_file(tmp_path, DENSE[:, :2], "less.parquet")], {"a": ["e"]})
    with pytest.raises(ValueError, match="from_parquet needs at least one file, got none"):
        Views.from_parquet([], {"a": ["e"]})
    with pytest.raises(FileNotFoundError, match=r"gone.parquet"):
        Views.from_parquet(tmp_path / "gone.parquet", {"a": ["e"]})
    path.write_bytes(b"not a table")
    with pytest.raises(ValueError, match=r"dense.parquet cannot be read as a Parquet file"):
        Views.from_parquet(path, {"a": ["a"]})


def two_modalities(folder, other):
    anndata, mudata = pytest.importorskip("anndata"), pytest.importorskip("mudata")
    cells = pd.DataFrame(index=[f"c{i}" for i in range(203)])
    genes, proteins = (pd.DataFrame(index=[f"{kind}{i}" for i in range(n)]) for kind, n in (("g", 40), ("p", 5)))
    rna = anndata.AnnData(sp.csr_matrix(SPARSE), obs=cells, var=genes)
    mods = {"rna": rna, "adt": anndata.AnnData(DENSE, obs=other(cells), var=proteins)}
    with warnings.catch_warnings(action="ignore"):  # versions of mudata announce changes
        mudata.MuData(mods).write(folder / "both.h5mu")
        return mudata.read_h5mu(folder / "both.h5mu", backed="r")


def test_backed_modalities_stay_on_disk(tmp_path):
    views = Views.from_mudata(two_modalities(tmp_path, lambda cells: cells))
    assert isinstance(views["rna"], Source)
    assert isinstance(views["adt"], Source)
    assert views.ids[:2].tolist() == ["c0", "c1"]
    np.testing.assert_array_equal(numbers(views["rna"][:]), numbers(SPARSE))
    np.testing.assert_array_equal(views["adt"][7:9], DENSE[7:9])


def test_backed_modalities_in_different_order_are_refused(tmp_path):
    data = two_modalities(tmp_path, lambda cells: cells[::-1])
    with pytest.raises(ValueError, match=r"view 'adt' stays on disk.*\.to_memory\(\)"):
        Views.from_mudata(data)


def test_other_dimensions_text_and_columns_are_refused(tmp_path):
    with pytest.raises(ValueError, match=r"view 'a' must have two dimensions .* got shape \(10,\)"):
        coerce_view("a", hdf5(tmp_path, np.ones(10)))
    with pytest.raises(ValueError, match=r"view 'a' must have two dimensions .* got shape \(4, 3, 2\)"):
        coerce_view("a", zarr_array(tmp_path, np.ones((4, 3, 2)), (2, 2, 2)))
    (tmp_path / "text").mkdir()
    with pytest.raises(TypeError, match=r"view 'a' must hold real numbers, got \|?S1"):
        coerce_view("a", hdf5(tmp_path / "text", np.full((3, 2), b"x")))
    with pytest.raises(TypeError, match=r"view 'a' is stored by columns \(CSC\).*store it by rows"):
        coerce_view("a", backed(tmp_path, sp.csc_matrix(SPARSE)).X)


@pytest.mark.parametrize("make", [hdf5, zarr_array, parquet])
def test_stored_array_without_rows(tmp_path, make):
    views = Views({"a": make(tmp_path, DENSE[:0])})
    assert views.shape == (0, 5)
    assert views["a"][:].shape == (0, 5)
    assert "0 entities" in repr(views)


def test_closed_file_is_named(tmp_path):
    dataset = hdf5(tmp_path)
    X = lazy_rows(dataset, "text")
    dataset.file.close()
    with pytest.raises(OSError, match=r"view 'text': rows 0 to 9 of .*dense.h5 \(/deep/X\) cannot be read"):
        X[:9]


@pytest.mark.parametrize("make", [hdf5, zarr_array, parquet])
def test_deleted_file_is_named(tmp_path, make):
    X = lazy_rows(make(tmp_path), "text")
    X[:9]
    path = next(path for path in tmp_path.iterdir() if path.stem == "dense")
    path.rename(tmp_path / "elsewhere")
    with pytest.raises(OSError, match=rf"view 'text': rows 0 to 9 of .*{path.name}.* cannot be read"):
        X[:9]


@pytest.mark.parametrize(
    ("make", "file", "rows"),
    [
        (mapped, "dense.npy", "190 to 203"),
        (hdf5, "dense.h5", "190 to 203"),
        (parquet, "dense.parquet", "190 to 203"),
        (mapped_sparse, "data.npy", "0 to 203"),
        (zarr_array, "dense.zarr/c/0/0", "0 to 9"),
    ],
)
def test_truncated_file_is_named(tmp_path, make, file, rows):
    X, path = lazy_rows(make(tmp_path), "text"), tmp_path / file
    X[:9]
    os.truncate(path, path.stat().st_size // 2 if make is zarr_array else path.stat().st_size - 500)
    first, last = map(int, rows.split(" to "))
    reason = r" \(the file has become" if make is mapped_sparse else ""
    with pytest.raises(OSError, match=rf"view 'text': rows {rows} of .*{file.split('/')[0]}.* cannot be read{reason}"):
        X[first:last]


def test_missing_file_after_unpickling_is_named(tmp_path):
    sent = pickle.dumps(lazy_rows(mapped(tmp_path), "text"))
    (tmp_path / "dense.npy").unlink()
    X = pickle.loads(sent)
    with pytest.raises(OSError, match=r"view 'text': rows 0 to 9 of .*dense.npy cannot be read"):
        X[:9]


def test_storage_without_file_cannot_be_pickled(tmp_path):
    h5py = pytest.importorskip("h5py")
    file = h5py.File(tmp_path / "none.h5", "w", driver="core", backing_store=False)
    X = lazy_rows(file.create_dataset("X", data=DENSE))
    np.testing.assert_array_equal(X[:], DENSE)
    with pytest.raises(TypeError, match=r"none.h5 \(/X\) cannot be pickled: it is not a file on disk"):
        pickle.dumps(X)


def test_libraries_are_imported_only_when_used():
    libraries = ("h5py", "zarr", "pyarrow.parquet", "anndata")
    code = f"import sys, consilience; print([name for name in {libraries} if name in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    assert done.stdout.strip() == "[]"
