"""Matrices: numpy's own files, Matrix Market, SVMlight."""

from __future__ import annotations

import gzip
from pathlib import Path
from typing import Any

import numpy as np
import scipy.io
import scipy.sparse as sp
from sklearn.datasets import load_svmlight_file

from .source import Matrix

NAMES = ("ids", "features")


def read_npy(path: Path) -> Matrix:
    """One array; never one of Python objects, which could run code."""
    return Matrix(path, _loaded(path))


def read_npz(path: Path) -> Matrix:
    """A scipy sparse matrix, or one array; `ids` and `features` beside it name the rows and columns."""
    held = _loaded(path)
    if not hasattr(held, "files"):
        raise ValueError(f"{path} is no .npz file but a single array: let its name end in .npy")
    with held:
        arrays = {name: _entry(path, held, name) for name in held.files}
    ids, features = (arrays.pop(name, None) for name in NAMES)
    if "data" in arrays and "shape" in arrays:
        values = _sparse(path, arrays)
    elif len(arrays) == 1:
        values = next(iter(arrays.values()))
    else:
        raise ValueError(
            f"{path} holds {len(arrays)} arrays ({', '.join(arrays)}): save one matrix a file, with 'ids' and "
            "'features' beside it if you like, or a sparse one by scipy.sparse.save_npz"
        )
    return Matrix(path, values, _texts(ids), _texts(features))


def _loaded(path: Path) -> Any:
    try:
        return np.load(path, allow_pickle=False)
    except (ValueError, OSError, EOFError, SyntaxError) as error:
        raise ValueError(_refusal(path, error)) from error


def _entry(path: Path, held: Any, name: str) -> np.ndarray:
    try:
        return held[name]
    except Exception as error:  # zip, zlib and numpy each have their own
        raise ValueError(_refusal(path, error)) from error


def _refusal(path: Path, error: Exception) -> str:
    if "allow_pickle" in str(error) or "pickle" in str(error).lower():
        return f"{path} holds Python objects, or is no numpy file: only numbers are read. Save it with numpy.save"
    return f"{path} cannot be read as a numpy file: {error}"


def _sparse(path: Path, arrays: dict[str, np.ndarray]) -> sp.csr_array:
    kind = np.asarray(arrays.get("format", "csr")).item()
    name = kind.decode() if isinstance(kind, bytes) else str(kind)
    shape = tuple(int(n) for n in np.ravel(arrays["shape"]))
    try:
        if name == "coo":
            made = sp.coo_array((arrays["data"], (arrays["row"], arrays["col"])), shape=shape)
        else:
            made = {"csr": sp.csr_array, "csc": sp.csc_array, "bsr": sp.bsr_array}[name](
                (arrays["data"], arrays["indices"], arrays["indptr"]), shape=shape
            )
            made.check_format(full_check=True)
    except (KeyError, ValueError, IndexError) as error:
        raise ValueError(f"{path} is no sound sparse matrix: {error}") from error
    return sp.csr_array(made)


def _texts(names: np.ndarray | None) -> np.ndarray | None:
    return None if names is None else np.array([str(name) for name in names.ravel().tolist()], dtype=object)


def read_market(path: Path) -> Matrix:
    """Matrix Market."""
    try:
        values = scipy.io.mmread(path, spmatrix=False)
    except (ValueError, OverflowError, EOFError, gzip.BadGzipFile) as error:
        raise ValueError(f"{path} cannot be read as a Matrix Market file: {error}") from error
    return Matrix(path, sp.csr_array(values) if sp.issparse(values) else np.asarray(values))


def read_svmlight(path: Path) -> Matrix:
    """SVMlight: the numbers alone; the labels that it starts lines with are not looked at."""
    try:
        values, _ = load_svmlight_file(str(path), zero_based="auto")
    except (ValueError, UnicodeDecodeError, OverflowError) as error:
        raise ValueError(f"{path} cannot be read as an SVMlight file: {error}") from error
    return Matrix(path, sp.csr_array(values))
