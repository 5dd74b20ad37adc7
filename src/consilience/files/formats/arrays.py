"""Matrices in numpy's files: dense, or sparse as scipy saves them."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

from .base import FileFormat, FileMatrix, InputFile, check_sparse_shape
from .columns import format_cell, to_objects


def read_npy(path: InputFile) -> FileMatrix:
    """Read one array; never one of Python objects, which could run code."""
    content = _load(path)
    if isinstance(content, dict):
        raise ValueError(f"{path} holds several arrays: let its name end in .npz")
    return FileMatrix(content)


def read_npz(path: InputFile) -> FileMatrix:
    """Read a scipy sparse matrix or one array; `ids` and `features` beside it name the rows and columns."""
    arrays = _load(path)
    if not isinstance(arrays, dict):
        raise ValueError(f"{path} is not an .npz file but a single array: let its name end in .npy")
    ids, features = (
        to_objects([format_cell(name) for name in arrays.pop(key).ravel().tolist()]) if key in arrays else None
        for key in ("ids", "features")
    )
    if "data" in arrays and "shape" in arrays:
        return FileMatrix(_build_sparse(path, arrays), ids, features)
    if len(arrays) != 1:
        raise ValueError(
            f"{path} holds {len(arrays)} arrays ({', '.join(arrays)}): save one matrix per file, with 'ids' and "
            "'features' beside it if you like, or a sparse one by scipy.sparse.save_npz"
        )
    return FileMatrix(next(iter(arrays.values())), ids, features)


def _load(path: InputFile) -> Any:
    """Load an array, or all arrays of an archive by name."""
    with path.open() as file:
        try:
            content = np.load(file, allow_pickle=False)
            if not hasattr(content, "files"):
                return content
            arrays = {name: content[name] for name in content.files}
            wrong = next((name for name, array in arrays.items() if not hasattr(array, "dtype")), None)
            if wrong is not None:
                raise ValueError(f"its member {wrong!r} is not an array")
            return arrays
        except MemoryError as error:
            raise ValueError(f"{path} does not fit into memory, or is damaged") from error
        except Exception as error:  # zip, zlib, tokenize and numpy each raise their own
            if "pickle" in str(error).lower():
                raise ValueError(
                    f"{path} holds Python objects, or is not a numpy file: only numbers are read. Save it with "
                    "numpy.save"
                ) from error
            raise ValueError(f"{path} cannot be read as a numpy file: {error}") from error


def _build_sparse(path: InputFile, arrays: dict[str, np.ndarray]) -> sp.csr_array:
    """Build the matrix that scipy.sparse.save_npz has written."""
    n_bytes = sum(array.nbytes for array in arrays.values())
    try:
        layout = format_cell(np.asarray(arrays.get("format", "csr")).item())
        shape = tuple(int(n) for n in np.ravel(arrays["shape"]))
        if len(shape) == 2:
            check_sparse_shape(path, *shape, n_bytes)
        if layout == "coo":
            matrix: Any = sp.coo_array((arrays["data"], (arrays["row"], arrays["col"])), shape=shape)
        elif layout == "dia":
            matrix = sp.dia_array((arrays["data"], arrays["offsets"]), shape=shape)
        else:
            matrix = {"csr": sp.csr_array, "csc": sp.csc_array, "bsr": sp.bsr_array}[layout](
                (arrays["data"], arrays["indices"], arrays["indptr"]), shape=shape
            )
            matrix.check_format(full_check=True)
        return sp.csr_array(matrix)
    except (KeyError, ValueError, IndexError, TypeError, OverflowError) as error:
        raise ValueError(f"{path} is not a valid sparse matrix: {error}") from error


NPY = FileFormat((".npy",), read_npy, detect=lambda start: start.startswith(b"\x93NUMPY"))
NPZ = FileFormat((".npz",), read_npz, detect=lambda start: start.startswith(b"PK\x03\x04"))
