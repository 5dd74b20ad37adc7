"""Conversion of rows to the kinds that the verbs know, and back."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

from .csr import CSR
from .device_csr import DeviceCSR, is_device_sparse
from .namespace import Array, asarray_like, is_array, namespace, to_numpy
from .verbs import is_in_memory, map_values


def as_rows(X: Any) -> Array:
    """Convert sparse matrices to CSR or DeviceCSR, lists to numpy, and numbers other than float32 to float64.

    Rows are copied only if necessary.
    """
    if sp.issparse(X):
        X = CSR.from_scipy(X.tocsr())
    elif is_device_sparse(X):
        X = DeviceCSR.from_library(X)
    elif not is_array(X) and not is_sparse(X):
        X = np.asarray(X)
    xp = namespace(X)
    return X if X.dtype == xp.float32 else _cast(X, xp.float64)


def _cast(X: Array, dtype: Any) -> Array:
    return X if X.dtype == dtype else map_values(X, lambda values: namespace(values).astype(values, dtype))


def is_sparse(X: Array) -> bool:
    """Whether rows are sparse, on the host, on a device or in a storage."""
    return getattr(X, "sparse", False) is True


def to_host(X: Array) -> Any:
    """Convert rows to what other libraries take: scipy if they are sparse, numpy otherwise."""
    return X.to_scipy() if hasattr(X, "to_scipy") else to_numpy(X)


def as_csr(X: Array) -> CSR:
    """Convert rows to CSR."""
    return X if isinstance(X, CSR) else CSR.from_scipy(sp.csr_array(to_host(X)))


def as_rows_like(X: Array, reference: Array) -> Array:
    """Convert rows to the kind of `reference`: sparse or not, its library, device and dtype."""
    if not is_in_memory(X) and (is_sparse(X), X.dtype) == (is_sparse(reference), reference.dtype):
        return X
    if isinstance(reference, CSR):
        return _cast(as_csr(X), reference.dtype)
    values = to_host(X).toarray() if is_sparse(X) else X
    if namespace(values) is not namespace(reference):
        values = asarray_like(to_numpy(values), reference)
    return _cast(values, reference.dtype)
