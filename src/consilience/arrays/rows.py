"""Rows in a form that the verbs know."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

from .csr import CSR
from .device_csr import DeviceCSR, is_device_sparse
from .namespace import Array, asarray_like, is_array, namespace, to_numpy
from .verbs import is_in_memory, map_values


def as_rows(X: Any) -> Array:
    """Sparse matrices as CSR, on the host or the device, lists as numpy; float32 stays, other numbers become float64.

    Copied only where needed.
    """
    if sp.issparse(X):
        X = CSR.from_scipy(X.tocsr())
    if is_device_sparse(X):
        X = DeviceCSR.from_library(X)
    if isinstance(X, CSR):
        return X if X.dtype in (np.float32, np.float64) else X.with_data(X.data.astype(np.float64))
    X = X if is_array(X) or isinstance(X, DeviceCSR) else np.asarray(X)
    xp = namespace(X)
    floats = X.dtype in (xp.float32, xp.float64)
    return X if floats else map_values(X, lambda values: xp.astype(values, xp.float64))


def is_sparse(X: Array) -> bool:
    """Whether rows are sparse, wherever they lie."""
    return isinstance(X, CSR) or getattr(X, "sparse", False) is True


def to_host(X: Array) -> Any:
    """Rows of any kind as other libraries take them: of scipy if sparse, of numpy otherwise."""
    return X.to_scipy() if isinstance(X, CSR | DeviceCSR) else to_numpy(X)


def as_csr(X: Array) -> CSR:
    """Rows of any kind as sparse ones."""
    return X if isinstance(X, CSR) else CSR.from_scipy(sp.csr_array(to_host(X)))


def as_rows_like(X: Array, known: Array) -> Array:
    """Rows of any kind as rows of the kind of `known`: sparse or not, of its library, device and type."""
    if not is_in_memory(X) and (is_sparse(X), X.dtype) == (is_sparse(known), known.dtype):
        return X
    if isinstance(known, CSR):
        X = as_csr(X)
        return X if X.dtype == known.dtype else X.with_data(X.data.astype(known.dtype))
    values = X.to_scipy().toarray() if isinstance(X, CSR) else X
    if namespace(values) is not namespace(known):
        values = asarray_like(to_numpy(values), known)
    return namespace(known).astype(values, known.dtype, copy=False)
