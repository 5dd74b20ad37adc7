"""Rows in a form that the verbs know."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

from .csr import CSR
from .namespace import Array, is_array, like, namespace, to_numpy


def as_rows(X: Any) -> Array:
    """Sparse matrices as CSR, lists as numpy; float32 stays, other numbers become float64. Copied only where needed."""
    if sp.issparse(X):
        X = CSR.from_scipy(X.tocsr())
    if isinstance(X, CSR):
        return X if X.dtype in (np.float32, np.float64) else X.with_data(X.data.astype(np.float64))
    X = X if is_array(X) else np.asarray(X)
    xp = namespace(X)
    return X if X.dtype in (xp.float32, xp.float64) else xp.astype(X, xp.float64)


def as_plain(X: Array) -> Any:
    """Rows of any kind as other libraries take them: of scipy if sparse, of numpy otherwise."""
    return X.to_scipy() if isinstance(X, CSR) else to_numpy(X)


def as_sparse(X: Array) -> CSR:
    """Rows of any kind as sparse ones."""
    return X if isinstance(X, CSR) else CSR.from_scipy(sp.csr_array(to_numpy(X)))


def as_kind(X: Array, known: Array) -> Array:
    """Rows of any kind as rows of the kind of `known`: sparse or not, of its library, device and type."""
    if isinstance(known, CSR):
        X = as_sparse(X)
        return X if X.dtype == known.dtype else X.with_data(X.data.astype(known.dtype))
    values = X.to_scipy().toarray() if isinstance(X, CSR) else X
    if namespace(values) is not namespace(known):
        values = like(to_numpy(values), known)
    return namespace(known).astype(values, known.dtype, copy=False)
