"""Matrices in numpy's own files: dense, or sparse as scipy writes them."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

from .cells import format_cell
from .inputs import InputFile
from .plausible import check_sparse_shape
from .source import FileMatrix

NAMES = ("ids", "features")


def read_npy(path: InputFile) -> FileMatrix:
    """One array; never one of Python objects, which could run code."""
    held = _loaded(path)
    if isinstance(held, dict):
        raise ValueError(f"{path} holds several arrays: let its name end in .npz")
    return FileMatrix(path, held)


def read_npz(path: InputFile) -> FileMatrix:
    """A scipy sparse matrix, or one array; `ids` and `features` beside it name the rows and columns."""
    arrays = _loaded(path)
    if not isinstance(arrays, dict):
        raise ValueError(f"{path} is no .npz file but a single array: let its name end in .npy")
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
    return FileMatrix(path, values, _texts(ids), _texts(features))


def _loaded(path: InputFile) -> Any:
    """An array, or all arrays of an archive by name."""
    with path.open() as file:
        try:
            content = np.load(file, allow_pickle=False)
            if not hasattr(content, "files"):
                return content
            arrays = {name: content[name] for name in content.files}
            wrong = next((name for name, array in arrays.items() if not isinstance(array, np.ndarray)), None)
            if wrong is not None:
                raise ValueError(f"its member {wrong!r} is not an array")
            return arrays
        except MemoryError as error:
            raise ValueError(f"{path} does not fit into memory, or is damaged") from error
        except Exception as error:  # zip, zlib, tokenize and numpy each have their own
            raise ValueError(_refusal(path, error)) from error


def _refusal(path: InputFile, error: Exception) -> str:
    if "pickle" in str(error).lower():
        return f"{path} holds Python objects, or is no numpy file: only numbers are read. Save it with numpy.save"
    return f"{path} cannot be read as a numpy file: {error}"


def _sparse(path: InputFile, arrays: dict[str, np.ndarray]) -> sp.csr_array:
    """Build the matrix that scipy.sparse.save_npz has written."""
    n_bytes = sum(array.nbytes for array in arrays.values())
    try:
        kind = format_cell(np.asarray(arrays.get("format", "csr")).item())
        shape = tuple(int(n) for n in np.ravel(arrays["shape"]))
        if len(shape) == 2:
            check_sparse_shape(path, *shape, n_bytes)
        if kind == "coo":
            matrix: Any = sp.coo_array((arrays["data"], (arrays["row"], arrays["col"])), shape=shape)
        elif kind == "dia":
            matrix = sp.dia_array((arrays["data"], arrays["offsets"]), shape=shape)
        else:
            matrix = {"csr": sp.csr_array, "csc": sp.csc_array, "bsr": sp.bsr_array}[kind](
                (arrays["data"], arrays["indices"], arrays["indptr"]), shape=shape
            )
            matrix.check_format(full_check=True)
        return sp.csr_array(matrix)
    except (KeyError, ValueError, IndexError, TypeError, OverflowError) as error:
        raise ValueError(f"{path} is no sound sparse matrix: {error}") from error


def _texts(names: np.ndarray | None) -> np.ndarray | None:
    return None if names is None else np.array([format_cell(name) for name in names.ravel().tolist()], dtype=object)
