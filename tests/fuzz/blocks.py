"""Random views: every kind of number, scale, defect and container that `fit` may be given."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

import consilience as cs

from .case import Case, quiet

SCALES = (1e-300, 1e-200, 1e-150, 1e-30, 1e-9, 1e-3, 1e3, 1e9, 1e30, 1e100, 1e150, 1e200, 1e300)
DTYPES = ("float32", "float16", "int64", "int32", "int8", "uint8", "bool")
DENSE = ("plain", "fortran", "read-only", "strided", "reversed", "list", "pandas", "polars", "masked")
SPARSE = ("csr", "csc", "coo", "csr_matrix", "wide indices", "explicit zeros", "duplicates", "unsorted", "lil")


def random_values(case: Case, n_rows: int, n_columns: int) -> np.ndarray:
    """Draw rows around a few centres: measurements, counts, proportions, zeros and ones, or constants."""
    rng = case.rng
    kind = case.choose(["normal", "normal", "normal", "counts", "binary", "proportions", "uniform"])
    kind = kind if not case.chance(0.05) else "constant"
    group = rng.integers(case.choose([1, 2, 3, 5]), size=n_rows)
    if kind == "normal":
        return rng.normal(size=(8, n_columns))[group] * case.choose([0, 2, 10]) + rng.normal(size=(n_rows, n_columns))
    if kind == "counts":
        return rng.poisson(rng.gamma(1, 3, size=(8, n_columns))[group]).astype(float)
    if kind == "binary":
        return (rng.random((n_rows, n_columns)) < rng.random((8, n_columns))[group]).astype(float)
    if kind == "proportions":
        return rng.dirichlet(np.ones(n_columns), size=n_rows) if n_columns else np.zeros((n_rows, 0))
    if kind == "constant":
        return np.full((n_rows, n_columns), case.choose([0.0, 1.0, -3.5]))
    return rng.random((n_rows, n_columns))


def add_defects(case: Case, values: np.ndarray) -> np.ndarray:
    """Rescale the values or spoil some of them; each defect is rare."""
    rng = case.rng
    n_rows, n_columns = values.shape
    if not values.size:
        return values
    if case.chance(0.1):
        values = values * case.choose(SCALES)
    if case.chance(0.05):
        values = values * 10.0 ** rng.integers(-9, 10, size=n_columns)
    if case.chance(0.03):
        values = values + case.choose([1e6, -1e9, 1e15])
    if case.chance(0.07):
        values[:, rng.integers(n_columns)] = case.choose([0.0, 1.0, 1e8])
    if case.chance(0.1):
        values = values[rng.integers(n_rows, size=n_rows)]
    if case.chance(0.1):
        values[rng.random(n_rows) < rng.random()] = 0
    if case.chance(0.15):
        values[rng.random(n_rows) < rng.random() / 3] = np.nan
    if case.chance(0.07):
        odd = case.choose([np.nan, np.inf, -np.inf, 1e300, -1e300, 5e-324, -0.0, 1e12, -1.0])
        values[rng.integers(n_rows), rng.integers(n_columns)] = odd
    return values


def random_block(case: Case, n_rows: int, dtype: str, containers: tuple[str, ...]) -> tuple[Any, str]:
    """Draw one view, and say what it is."""
    n_columns = int(case.choose([1, 2, 3, 3, 4, 6, 12])) if not case.chance(0.01) else 0
    with np.errstate(all="ignore"):
        values = add_defects(case, random_values(case, n_rows, n_columns)).astype(dtype)
    container = case.choose(containers) if not case.chance(0.01) else "objects"
    return wrap(case, values, container), f"{container} {dtype} {n_rows}x{n_columns}"


def wrap(case: Case, values: np.ndarray, container: str) -> Any:
    """Put the values into a container."""
    import pandas as pd
    import polars as pl

    if container in SPARSE:
        return wrap_sparse(case, values, container)
    if container == "fortran":
        return np.asfortranarray(values)
    if container == "read-only":
        values.setflags(write=False)
    if container == "strided":
        wide = np.zeros((2 * values.shape[0], 3 * values.shape[1]), values.dtype)
        wide[::2, ::3] = values
        return wide[::2, ::3]
    if container == "objects":
        return values.astype(object)
    if container == "reversed":
        return values[::-1].copy()[::-1]
    if container == "list":
        return values.tolist()
    if container == "pandas":
        index = None if case.chance(0.7) else case.rng.permutation(len(values)) + int(case.rng.integers(3))
        return pd.DataFrame(values, index=index, columns=[f"c{j}" for j in range(values.shape[1])])
    if container == "polars":
        return pl.DataFrame(values, schema=[f"c{j}" for j in range(values.shape[1])])
    if container == "masked":
        return np.ma.masked_invalid(values) if values.dtype.kind == "f" else np.ma.masked_array(values)
    return values


def wrap_sparse(case: Case, values: np.ndarray, container: str) -> Any:
    """Put the values into a sparse matrix of some format."""
    rng = case.rng
    values = values.astype("float32") if values.dtype == "float16" else values
    if case.chance(0.5):
        values = np.where(rng.random(values.shape) < 0.5, values, np.zeros_like(values))
    if container == "csc":
        return sp.csc_array(values)
    if container == "csr_matrix":
        return sp.csr_matrix(values)
    if container == "lil":
        return sp.lil_array(values)
    if container in ("coo", "duplicates"):
        X = sp.coo_array(values)
        if container == "duplicates" and X.nnz:
            again = rng.integers(X.nnz, size=3)
            row, column = (np.append(at, at[again]) for at in X.coords)
            return sp.coo_array((np.append(X.data, X.data[again]), (row, column)), shape=X.shape)
        return X
    X = sp.csr_array(values)
    if container == "wide indices":
        X.indices, X.indptr = X.indices.astype(np.int64), X.indptr.astype(np.int64)
    if container == "explicit zeros" and X.nnz:
        X.data[rng.integers(X.nnz, size=3)] = 0
    if container == "unsorted":
        for start, stop in zip(X.indptr[:-1], X.indptr[1:], strict=True):
            order = start + rng.permutation(stop - start)
            X.data[start:stop], X.indices[start:stop] = X.data[order], X.indices[order]
        X.has_sorted_indices = False
    return X


def random_views(case: Case, most_views: int = 3) -> tuple[Any, int]:
    """Draw the argument of `fit`, and the number of rows of its views."""
    rng = case.rng
    n_rows = int(case.choose([20, 20, 30, 45, 8, 3, 2, 1])) if not case.chance(0.005) else 0
    dtype = "float64" if case.chance(0.7) else case.choose(DTYPES)
    mixed = case.chance(0.15)
    containers = case.choose([DENSE[:1], DENSE[:5], DENSE, SPARSE, (*DENSE, *SPARSE)])
    blocks, words = [], []
    for _ in range(min(int(case.choose([1, 2, 2, 2, 3])), most_views)):
        rows = n_rows if not case.chance(0.01) else n_rows + 1
        block, text = random_block(case, rows, case.choose(DTYPES) if mixed else dtype, containers)
        blocks.append(block)
        words.append(text)
    shape = case.choose(["dict", "list", "tuple", "Views", "ids", "present", "array"])
    case.note(views=words, given_as=shape)
    if shape == "array":
        return blocks[0], n_rows
    if shape in ("list", "tuple"):
        return blocks if shape == "list" else tuple(blocks), n_rows
    named = {f"v{i}": block for i, block in enumerate(blocks)}
    if shape == "dict":
        return named, n_rows
    options: dict[str, Any] = {}
    if shape == "ids":
        options["ids"] = {name: rng.permutation(n_rows + int(rng.integers(3)))[:n_rows] for name in named}
    if shape == "present":
        options["present"] = rng.random((n_rows, len(blocks))) < 0.8
        if case.chance(0.9):  # every entity has a view
            options["present"][:, 0] |= ~options["present"].any(axis=1)
    case.note(options=options)
    return (lambda: cs.Views(named, **options)), n_rows


def similarities(case: Case, n: int) -> np.ndarray:
    """Draw a matrix of similarities: symmetric and not negative, except for rare defects."""
    rng = case.rng
    X = rng.normal(size=(n, 3))
    with quiet():
        S = np.exp(-np.square(X[:, None] - X).sum(axis=2) / case.choose([0.1, 1, 10]))
    if case.chance(0.1):
        S[rng.random(n) < 0.3] = 0
        S = np.minimum(S, S.T)
    if case.chance(0.1) and n:
        S[rng.integers(n), rng.integers(n)] = case.choose([-1.0, 2.0, np.nan, np.inf])
    return S * case.choose([1, 1, 1, 1e-9, 1e9])
