"""The kinds of scipy's sparse matrices that files hold, and the arrays that each is made of."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

NUMBERS = "biufc"
PARTS = {
    "csr": ("data", "indices", "indptr"),
    "csc": ("data", "indices", "indptr"),
    "coo": ("data", "row", "col"),
    "dia": ("data", "offsets"),
}
SPARSE: dict[str, Any] = {
    f"{kind}_{what}": getattr(sp, f"{kind}_{what}") for kind in PARTS for what in ("array", "matrix")
}


def parts_of(matrix: Any) -> list[np.ndarray]:
    """The arrays of a matrix."""
    known = SPARSE.get(type(matrix).__name__) is type(matrix)
    if not known or matrix.ndim != 2 or matrix.dtype.kind not in NUMBERS:
        raise TypeError(f"a {type(matrix).__name__} of {matrix.dtype} cannot be saved: make it a csr_array of numbers")
    return [getattr(matrix, part) for part in PARTS[matrix.format]]


def matrix_of(kind: str, shape: tuple[int, ...], data: np.ndarray, *places: np.ndarray) -> Any:
    """The matrix of some arrays; refused if it points outside itself, for compiled code would follow."""
    if len(shape) != 2 or data.dtype.kind not in NUMBERS or any(own.dtype.kind != "i" for own in places):
        raise ValueError("a sparse matrix has numbers, at whole numbers, in two dimensions")
    made = SPARSE[kind]((data, places) if kind.startswith("coo") else (data, *places), shape=shape)
    if kind.startswith("cs"):
        made.check_format(full_check=True)
    return made
