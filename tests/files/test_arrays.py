"""Matrices in files: numbers are read exactly, and no code is run."""

import gzip
import io
import os
import pickle
import re
import zipfile

import numpy as np
import pytest
import scipy.io
import scipy.sparse as sp
from sklearn.datasets import dump_svmlight_file

from consilience.files import fit_and_encode
from consilience.files.formats import read_file

DENSE = np.round(np.random.default_rng(0).normal(size=(7, 4)), 3)
SPARSE = sp.random_array((9, 6), density=0.3, format="csr", rng=np.random.default_rng(1))

PARTS = {"data": SPARSE.data, "indices": SPARSE.indices, "indptr": SPARSE.indptr, "shape": SPARSE.shape}


class Trap:
    """An object that writes a file when it is unpickled."""

    def __init__(self, path):
        self.path = str(path)

    def __reduce__(self):
        return os.mkdir, (self.path,)


def test_npy_round_trips(tmp_path):
    for kind, order in {"f8": "C", "f4": "F", "i8": "F", "u1": "C", "?": "F", ">f8": "F"}.items():
        X = np.asarray(DENSE > 0 if kind == "?" else np.abs(DENSE), dtype=kind, order=order)
        np.save(tmp_path / "X.npy", X)
        result = read_file(tmp_path / "X.npy")
        np.testing.assert_array_equal(result.values, X)
        assert result.ids is result.features is None


@pytest.mark.parametrize("save", [np.savez, np.savez_compressed])
def test_npz_round_trips_and_may_name_rows_and_columns(tmp_path, save):
    save(tmp_path / "X.npz", DENSE)
    np.testing.assert_array_equal(read_file(tmp_path / "X.npz").values, DENSE)
    for X, ids, features in (
        ({"X": DENSE}, np.arange(7), list("abcd")),
        ({"X": DENSE}, np.array(list("abcdefg"), dtype="S"), list("abcd")),
        (PARTS, np.array(list("abcdefghi")), list("uvwxyz")),
    ):
        save(tmp_path / "X.npz", **X, ids=ids, features=np.array(features))
        result = read_file(tmp_path / "X.npz")
        values, expected = (result.values, DENSE) if "X" in X else (result.values.toarray(), SPARSE.toarray())
        np.testing.assert_array_equal(values, expected)
        assert result.ids.tolist() == ids.astype(str).tolist()
        assert result.features.tolist() == features


@pytest.mark.parametrize(
    "X",
    [SPARSE, sp.csc_array(SPARSE), sp.coo_matrix(SPARSE), sp.bsr_matrix(SPARSE), sp.dia_array(np.diag([1.0, 2, 3]))],
    ids=lambda X: type(X).__name__,
)
def test_sparse_npz_round_trips(tmp_path, X):
    for compressed in (True, False):
        sp.save_npz(tmp_path / "X.npz", X, compressed=compressed)
        result = read_file(tmp_path / "X.npz").values
        assert isinstance(result, sp.csr_array)
        np.testing.assert_array_equal(result.toarray(), X.toarray())


def test_npz_of_several_matrices_or_none_is_refused(tmp_path):
    ids, several = {"ids": np.arange(7)}, {"one": DENSE, "two": DENSE}
    for arrays, message in (
        (several, r"X\.npz holds 2 arrays \(one, two\): save one matrix per file"),
        (several | ids, r"X\.npz holds 2 arrays \(one, two\): save one matrix per file"),
        (ids, r"X\.npz holds 0 arrays"),
    ):
        np.savez(tmp_path / "X.npz", **arrays)
        with pytest.raises(ValueError, match=message):
            read_file(tmp_path / "X.npz")


def test_invalid_sparse_matrix_is_refused(tmp_path):
    for broken in (
        {"indices": SPARSE.indices + 100},
        {"indices": SPARSE.indices - 1},
        {"indptr": SPARSE.indptr[::-1]},
        {"indptr": SPARSE.indptr[:-2]},
        {"data": SPARSE.data[:-1]},
        {"format": np.array("lil")},
        {"format": np.array(["csr", "csc"])},
        {"shape": np.array(["a", "b"])},
    ):
        np.savez(tmp_path / "X.npz", **(PARTS | broken))
        with pytest.raises(ValueError, match=r"X\.npz is not a valid sparse matrix: "):
            read_file(tmp_path / "X.npz")


def test_array_called_npz_and_archive_called_npy_are_refused(tmp_path):
    with (tmp_path / "X.npz").open("wb") as file:
        np.save(file, DENSE)
    with pytest.raises(ValueError, match=r"X\.npz is not an \.npz file but a single array: let its name end in \.npy"):
        read_file(tmp_path / "X.npz")
    with (tmp_path / "X.npy").open("wb") as file:
        np.savez(file, DENSE)
    with pytest.raises(ValueError, match=r"X\.npy .*\.npz"):
        read_file(tmp_path / "X.npy")


@pytest.mark.parametrize("where", ["array.npy", "array.npz", "ids.npz", "bare.npy", "bare.npz"])
def test_objects_are_refused_and_never_unpickled(tmp_path, where):
    trap, path = tmp_path / "sprung", tmp_path / where
    objects = np.array([[Trap(trap), 1]], dtype=object)
    if where == "array.npy":
        np.save(path, objects)
    elif where == "array.npz":
        np.savez(path, X=objects)
    elif where == "ids.npz":
        np.savez(path, X=DENSE, ids=objects)
    else:
        path.write_bytes(pickle.dumps(Trap(trap)))
    with pytest.raises(ValueError, match=rf"{where} holds Python objects, or is not a numpy file: only numbers"):
        read_file(path)
    assert not trap.exists()
    pickle.loads(pickle.dumps(Trap(trap)))
    assert trap.exists()  # it would have been sprung


def test_view_must_be_matrix_of_real_numbers_without_named_columns(tmp_path, content):
    shapes = [np.float64(3), np.arange(3.0), np.zeros((2, 3, 4)), np.zeros((0, 3)), np.zeros((3, 0))]
    kinds = [np.array([["a", "b"]]), np.array([[1j]]), np.zeros((2, 2), "f8,i4"), np.zeros((2, 2), "M8[s]")]
    messages = [f"must have rows and columns, got shape {X.shape}" for X in shapes]
    messages += [f"must hold real numbers, got {X.dtype}" for X in kinds]
    for X, message in zip([*shapes, *kinds], messages, strict=True):
        np.save(tmp_path / "X.npy", X)
        with pytest.raises(ValueError, match=rf"view 'view' \(.*X\.npy\) {re.escape(message)}"):
            content(tmp_path / "X.npy")
    with pytest.raises(ValueError, match=r"X\.npy is a matrix without named columns: leave out ':a,b'"):
        content(f"{tmp_path / 'X.npy'}:a,b")


def test_array_larger_than_its_file_is_refused(put):
    head = io.BytesIO()
    np.lib.format.write_array_header_1_0(head, {"descr": "<f8", "fortran_order": False, "shape": (10**7, 10**6)})
    with pytest.raises(ValueError, match=r"X\.npy (does not fit into memory, or is damaged|cannot be read)"):
        read_file(put("X.npy", head.getvalue() + bytes(100)))


def test_each_row_needs_its_own_id_and_each_column_a_name(tmp_path, content):
    for names, message in (
        ({"ids": np.arange(6)}, r"X\.npz.*\b6\b"),
        ({"ids": np.arange(8)}, r"X\.npz.*\b8\b"),
        ({"ids": list("aabcdef")}, r"X\.npz has the id 'a' more than once"),
        ({"features": list("abcdef")}, r"X\.npz.*\b6\b"),
    ):
        np.savez(tmp_path / "X.npz", X=DENSE, **names)
        with pytest.raises(ValueError, match=message):
            fit_and_encode([content(tmp_path / "X.npz")], rare=False)


SYMMETRIC = sp.coo_array(SPARSE[:6] + SPARSE[:6].T)


@pytest.mark.parametrize(
    "X",
    [SPARSE, DENSE, SYMMETRIC, np.arange(6).reshape(2, 3), sp.csr_array(np.eye(3, dtype=int))],
    ids=["sparse", "dense", "symmetric", "whole dense", "whole sparse"],
)
def test_matrix_market_round_trips(tmp_path, X):
    scipy.io.mmwrite(tmp_path / "X.mtx", X, precision=17)
    written = (tmp_path / "X.mtx").read_bytes()
    assert (b"symmetric" in written.splitlines()[0]) == (X is SYMMETRIC or X.shape == (3, 3))
    (tmp_path / "X.mtx.gz").write_bytes(gzip.compress(written, mtime=0))
    expected = X.toarray() if sp.issparse(X) else X
    for name in ("X.mtx", "X.mtx.gz"):
        result = read_file(tmp_path / name).values
        assert sp.issparse(result) == sp.issparse(X)
        np.testing.assert_array_equal(result.toarray() if sp.issparse(result) else result, expected)


def test_broken_matrix_market_file_is_refused(put):
    bodies = ["", "3 3 1\n", "3 3 1\n9 9 1\n", "3 3 1\n0 1 1\n", "3 3 1\n1 1 x\n", "3 3 1\n1 1 1\n2 2 2\n"]
    for body in [*bodies, "99999999999999999999 1 1\n"]:
        with pytest.raises(ValueError, match=r"X\.mtx cannot be read as a Matrix Market file: "):
            read_file(put("X.mtx", f"%%MatrixMarket matrix coordinate real general\n{body}"))


@pytest.mark.parametrize("zero_based", [True, False])
def test_svmlight_round_trips(put, zero_based):
    X = SPARSE.toarray()
    X[0, 0], X[0, -1] = 1.0, 2.0  # fixes the first column and the number of columns
    buffer = io.BytesIO()
    dump_svmlight_file(X, np.arange(9), buffer, zero_based=zero_based)
    whole = buffer.getvalue()
    for name in ("X.svm", "X.svmlight", "X.libsvm", "X.svm.gz"):
        result = read_file(put(name, gzip.compress(whole, mtime=0) if name.endswith(".gz") else whole))
        np.testing.assert_allclose(result.values.toarray(), X, rtol=1e-12)


def test_broken_svmlight_file_is_refused(put):
    for line in ("1 x:1", "a 1:2", "1 1", "1 2:1 1:1", "1 99999999999999999999:1"):
        with pytest.raises(ValueError, match=r"X\.svm cannot be read as an SVMlight file: "):
            read_file(put("X.svm", f"0 1:1\n{line}\n"))


def test_npz_member_that_is_not_an_array_is_refused(tmp_path):
    path = tmp_path / "named.npz"
    np.savez(path, X=DENSE)
    with zipfile.ZipFile(path, "a") as archive:
        archive.writestr("ids.npy", b"nothing")
    with pytest.raises(ValueError, match=r"named\.npz cannot be read as a numpy file: its member 'ids' is not an"):
        read_file(path)
