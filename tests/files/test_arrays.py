"""Matrices in files: numbers are read exactly, and no code is run."""

import gzip
import io
import os
import pickle
import subprocess
import sys
import zipfile

import numpy as np
import pytest
import scipy.io
import scipy.sparse as sp
from sklearn.datasets import dump_svmlight_file

from consilience.files import fit_and_encode
from consilience.files.formats import read_file
from waiting import HANG_LIMIT

DENSE = np.round(np.random.default_rng(0).normal(size=(7, 4)), 3)
SPARSE = sp.random_array((9, 6), density=0.3, format="csr", rng=np.random.default_rng(1))


class Trap:
    """An object that writes a file when it is unpickled."""

    def __init__(self, path):
        self.path = str(path)

    def __reduce__(self):
        return os.mkdir, (self.path,)


@pytest.mark.parametrize("kind", ["float64", "float32", "int64", "uint8", "bool", ">f8"])
@pytest.mark.parametrize("order", ["C", "F"])
def test_npy_round_trips(tmp_path, kind, order):
    X = np.asarray(DENSE > 0 if kind == "bool" else np.abs(DENSE), dtype=kind, order=order)
    np.save(tmp_path / "X.npy", X)
    result = read_file(tmp_path / "X.npy")
    np.testing.assert_array_equal(result.values, X)
    assert result.ids is None
    assert result.features is None


@pytest.mark.parametrize("save", [np.savez, np.savez_compressed])
def test_npz_of_one_array_round_trips(tmp_path, save):
    save(tmp_path / "X.npz", DENSE)
    np.testing.assert_array_equal(read_file(tmp_path / "X.npz").values, DENSE)


def test_npz_names_rows_and_columns(tmp_path):
    np.savez(tmp_path / "X.npz", X=DENSE, ids=np.arange(7), features=np.array(list("abcd")))
    result = read_file(tmp_path / "X.npz")
    np.testing.assert_array_equal(result.values, DENSE)
    assert result.ids.tolist() == list("0123456")
    assert result.features.tolist() == list("abcd")


@pytest.mark.parametrize("form", ["csr", "csc", "coo", "bsr"])
@pytest.mark.parametrize("compressed", [True, False])
@pytest.mark.parametrize("make", [sp.csr_array, sp.csr_matrix])
def test_sparse_npz_round_trips(tmp_path, form, compressed, make):
    sp.save_npz(tmp_path / "X.npz", make(SPARSE).asformat(form), compressed=compressed)
    result = read_file(tmp_path / "X.npz").values
    assert isinstance(result, sp.csr_array)
    np.testing.assert_array_equal(result.toarray(), SPARSE.toarray())


def test_diagonals_round_trip(tmp_path):
    sp.save_npz(tmp_path / "X.npz", sp.dia_array(np.diag([1.0, 2, 3])))
    np.testing.assert_array_equal(read_file(tmp_path / "X.npz").values.toarray(), np.diag([1.0, 2, 3]))


def test_sparse_npz_may_name_rows_and_columns(tmp_path):
    parts = {"data": SPARSE.data, "indices": SPARSE.indices, "indptr": SPARSE.indptr, "shape": SPARSE.shape}
    np.savez(tmp_path / "X.npz", **parts, ids=np.array(list("abcdefghi")), features=np.array(list("uvwxyz")))
    result = read_file(tmp_path / "X.npz")
    np.testing.assert_array_equal(result.values.toarray(), SPARSE.toarray())
    assert result.ids.tolist() == list("abcdefghi")
    assert result.features.tolist() == list("uvwxyz")


@pytest.mark.parametrize("extra", [{}, {"ids": np.arange(7)}])
def test_two_matrices_in_one_file_are_refused(tmp_path, extra):
    np.savez(tmp_path / "X.npz", one=DENSE, two=DENSE, **extra)
    with pytest.raises(ValueError, match=r"X\.npz holds 2 arrays \(one, two\): save one matrix per file"):
        read_file(tmp_path / "X.npz")


def test_npz_with_names_only_is_refused(tmp_path):
    np.savez(tmp_path / "X.npz", ids=np.arange(7))
    with pytest.raises(ValueError, match=r"X\.npz holds 0 arrays"):
        read_file(tmp_path / "X.npz")


@pytest.mark.parametrize(
    "broken",
    [
        {"indices": SPARSE.indices + 100},
        {"indices": SPARSE.indices - 1},
        {"indptr": SPARSE.indptr[::-1]},
        {"indptr": SPARSE.indptr[:-2]},
        {"data": SPARSE.data[:-1]},
        {"format": np.array("lil")},
    ],
    ids=["beyond", "before", "backwards", "short", "few", "unknown"],
)
def test_invalid_sparse_matrix_is_refused(tmp_path, broken):
    parts = {"data": SPARSE.data, "indices": SPARSE.indices, "indptr": SPARSE.indptr, "shape": SPARSE.shape}
    np.savez(tmp_path / "X.npz", **(parts | broken))
    with pytest.raises(ValueError, match=r"X\.npz is not a valid sparse matrix: "):
        read_file(tmp_path / "X.npz")


@pytest.mark.parametrize("broken", [{"shape": np.array(["a", "b"])}, {"format": np.array(["csr", "csc"])}])
def test_invalid_sparse_description_names_file(tmp_path, broken):
    parts = {"data": SPARSE.data, "indices": SPARSE.indices, "indptr": SPARSE.indptr, "shape": SPARSE.shape}
    np.savez(tmp_path / "X.npz", **(parts | broken))
    with pytest.raises(ValueError, match=r"X\.npz is not a valid sparse matrix: "):
        read_file(tmp_path / "X.npz")


def test_array_called_npz_is_refused(tmp_path):
    with (tmp_path / "X.npz").open("wb") as file:
        np.save(file, DENSE)
    with pytest.raises(ValueError, match=r"X\.npz is not an \.npz file but a single array: let its name end in \.npy"):
        read_file(tmp_path / "X.npz")


def test_archive_called_npy_is_refused_by_name(tmp_path):
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


def test_trap_object_writes_file_when_unpickled(tmp_path):
    pickle.loads(pickle.dumps(Trap(tmp_path / "sprung")))
    assert (tmp_path / "sprung").exists()


@pytest.mark.parametrize(
    ("X", "message"),
    [
        (np.arange(3.0), r"must have rows and columns, got shape \(3,\)"),
        (np.zeros((2, 3, 4)), r"must have rows and columns, got shape \(2, 3, 4\)"),
        (np.zeros((0, 3)), r"must have rows and columns, got shape \(0, 3\)"),
        (np.zeros((3, 0)), r"must have rows and columns, got shape \(3, 0\)"),
        (np.float64(3), r"must have rows and columns, got shape \(\)"),
        (np.array([["a", "b"]]), "must hold real numbers, got <U1"),
        (np.array([[1j]]), "must hold real numbers, got complex128"),
        (np.zeros((2, 2), dtype="f8,i4"), "must hold real numbers"),
        (np.zeros((2, 2), dtype="M8[s]"), "must hold real numbers"),
    ],
)
def test_view_must_be_matrix_of_real_numbers(tmp_path, content, X, message):
    np.save(tmp_path / "X.npy", X)
    with pytest.raises(ValueError, match=rf"view 'view' \(.*X\.npy\) {message}"):
        content(tmp_path / "X.npy")


def test_columns_of_matrix_cannot_be_selected(tmp_path, content):
    np.save(tmp_path / "X.npy", DENSE)
    with pytest.raises(ValueError, match=r"X\.npy is a matrix without named columns: leave out ':a,b'"):
        content(f"{tmp_path / 'X.npy'}:a,b")


def test_array_larger_than_its_file_is_refused(put):
    head = io.BytesIO()
    np.lib.format.write_array_header_1_0(head, {"descr": "<f8", "fortran_order": False, "shape": (10**7, 10**6)})
    with pytest.raises(ValueError, match=r"X\.npy (does not fit into memory, or is damaged|cannot be read)"):
        read_file(put("X.npy", head.getvalue() + bytes(100)))


@pytest.mark.parametrize(("n", "what"), [(6, "fewer"), (8, "more")])
def test_number_of_ids_must_match_rows(tmp_path, content, n, what):
    np.savez(tmp_path / "X.npz", X=DENSE, ids=np.arange(n))
    with pytest.raises(ValueError, match=rf"X\.npz.*\b{n}\b"):
        fit_and_encode([content(tmp_path / "X.npz")], rare=False)


def test_repeated_ids_of_matrix_are_refused(tmp_path, content):
    np.savez(tmp_path / "X.npz", X=DENSE, ids=np.array(list("aabcdef")))
    with pytest.raises(ValueError, match=r"X\.npz has the id 'a' more than once"):
        fit_and_encode([content(tmp_path / "X.npz")], rare=False)


def test_number_of_features_must_match_columns(tmp_path, content):
    np.savez(tmp_path / "X.npz", X=DENSE, features=np.array(list("abcdef")))
    with pytest.raises(ValueError, match=r"X\.npz.*\b6\b"):
        fit_and_encode([content(tmp_path / "X.npz")], rare=False)


def test_ids_may_be_bytes(tmp_path):
    np.savez(tmp_path / "X.npz", X=DENSE, ids=np.array(list("abcdefg"), dtype="S"))
    assert read_file(tmp_path / "X.npz").ids.tolist() == list("abcdefg")


SYMMETRIC = sp.coo_array(SPARSE[:6] + SPARSE[:6].T)


@pytest.mark.parametrize("packed", [False, True])
@pytest.mark.parametrize(
    "X",
    [SPARSE, DENSE, SYMMETRIC, np.arange(6).reshape(2, 3), sp.csr_array(np.eye(3, dtype=int))],
    ids=["sparse", "dense", "symmetric", "whole dense", "whole sparse"],
)
def test_matrix_market_round_trips(tmp_path, X, packed):
    path = tmp_path / "X.mtx"
    scipy.io.mmwrite(path, X, precision=17)
    if packed:
        path = tmp_path / "X.mtx.gz"
        path.write_bytes(gzip.compress((tmp_path / "X.mtx").read_bytes(), mtime=0))
    result = read_file(path).values
    assert sp.issparse(result) == sp.issparse(X)
    result, expected = (matrix.toarray() if sp.issparse(matrix) else matrix for matrix in (result, X))
    np.testing.assert_array_equal(result, expected)


def test_symmetric_matrix_is_written_as_symmetric(tmp_path):
    scipy.io.mmwrite(tmp_path / "X.mtx", SYMMETRIC)
    assert b"symmetric" in (tmp_path / "X.mtx").read_bytes().splitlines()[0]


def test_pattern_matrix_is_read_as_ones(put):
    result = read_file(put("X.mtx", "%%MatrixMarket matrix coordinate pattern general\n2 3 2\n1 1\n2 3\n")).values
    np.testing.assert_array_equal(result.toarray(), [[1, 0, 0], [0, 0, 1]])


@pytest.mark.parametrize(
    "body",
    [
        "",
        "3 3 1\n",
        "3 3 1\n9 9 1\n",
        "3 3 1\n0 1 1\n",
        "3 3 1\n1 1 x\n",
        "3 3 1\n1 1 1\n2 2 2\n",
        "99999999999999999999 1 1\n",
    ],
)
def test_broken_matrix_market_file_is_refused(put, body):
    with pytest.raises(ValueError, match=r"X\.mtx cannot be read as a Matrix Market file: "):
        read_file(put("X.mtx", f"%%MatrixMarket matrix coordinate real general\n{body}"))


READ = """
import sys
import zipfile
from pathlib import Path
from consilience.files.formats import read_file
try:
    print(read_file(Path(sys.argv[1])).values.toarray().tolist())
except ValueError as error:
    print(error)
"""


@pytest.mark.parametrize("cut", ["1E", "1.5e-"])
def test_matrix_market_file_cut_within_number_is_refused(put, cut):
    path = put("X.mtx", f"%%MatrixMarket matrix coordinate real general\n3 3 2\n1 1 {cut}")
    done = subprocess.run([sys.executable, "-c", READ, str(path)], capture_output=True, text=True, timeout=HANG_LIMIT)
    assert done.returncode == 0
    assert "X.mtx cannot be read as a Matrix Market file" in done.stdout


@pytest.mark.parametrize("name", ["X.svm", "X.svmlight", "X.libsvm", "X.svm.gz"])
@pytest.mark.parametrize("zero_based", [True, False])
def test_svmlight_round_trips(put, name, zero_based):
    X = SPARSE.toarray()
    X[0, 0], X[0, -1] = 1.0, 2.0  # fixes the first column and the number of columns
    buffer = io.BytesIO()
    dump_svmlight_file(X, np.arange(9), buffer, zero_based=zero_based)
    whole = buffer.getvalue()
    result = read_file(put(name, gzip.compress(whole, mtime=0) if name.endswith(".gz") else whole))
    np.testing.assert_allclose(result.values.toarray(), X, rtol=1e-12)


@pytest.mark.parametrize("line", ["1 x:1", "a 1:2", "1 1", "1 2:1 1:1", "1 99999999999999999999:1"])
def test_broken_svmlight_file_is_refused(put, line):
    with pytest.raises(ValueError, match=r"X\.svm cannot be read as an SVMlight file: "):
        read_file(put("X.svm", f"0 1:1\n{line}\n"))


def test_npz_member_that_is_not_an_array_is_refused(tmp_path):
    path = tmp_path / "named.npz"
    np.savez(path, X=DENSE)
    with zipfile.ZipFile(path, "a") as archive:
        archive.writestr("ids.npy", b"nothing")
    with pytest.raises(
        ValueError, match=r"named\.npz cannot be read as a numpy file: its member 'ids' is not an array"
    ):
        read_file(path)
