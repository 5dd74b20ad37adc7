"""Geometries of a view: how its rows become points of a few dimensions, and how new rows do.

The rows of a sparse view (words, links) are compared by their directions. The columns of a dense view (measurements)
are standardized, and its rows are compared both as they are and by their directions: for some data the length of a row
is noise, for other data it is the signal.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import scipy.sparse as sp
from sklearn.utils.extmath import randomized_svd

from ..._saving import save_as
from ...arrays import (
    Array,
    as_csr,
    as_rows_like,
    asarray_like,
    is_on_host,
    is_sparse,
    keep_where,
    namespace,
    normalize_rows,
    take_rows,
    to_host,
    to_numpy,
)
from .predictors import compute_leading_eigenvectors

FEW_COLUMNS = 10  # measurements in fewer columns are not compared by direction
MOST_COMPONENTS = 200
LEAST_COMPONENTS = 10
LARGEST_EXACT = 1000  # rows or columns up to which components come from an exact decomposition
FITTED_ROWS = 20_000  # rows from which means, scales and components are computed


def count_components(n_rows: int) -> int:
    """Return the number of components for a view of so many rows."""
    return int(np.clip(n_rows // 2, LEAST_COMPONENTS, MOST_COMPONENTS))


@save_as("geometry")
@dataclass(frozen=True, eq=False)
class Geometry:
    """Points of the rows of a view: standardized, scaled to unit length, or both, in terms of leading components."""

    mean: Array | None  # (columns,) None for sparse rows, which are not standardized
    factor: Array | None  # (columns,) what centred columns are multiplied by; 0 for a constant column
    direction: bool  # whether points have unit length
    components: Array | None = None  # (columns, p); None: all columns are kept
    size: float = 1.0  # root mean squared length of the points of the fit before they were divided by it

    @property
    def is_constant(self) -> bool:
        """Whether no column varies beyond rounding."""
        return self.factor is not None and not bool(namespace(self.factor).any(self.factor != 0))

    def transform(self, X: Array) -> Array:
        """Return the points of rows, (n, p), of mean squared length 1 over the rows of the fit."""
        return self._project(self._standardize(X)) / self.size

    def _standardize(self, X: Array) -> Array:
        if self.mean is None:
            return scale_to_unit(as_csr(X).to_scipy())
        Z = (as_rows_like(X, self.mean) - self.mean) * self.factor
        return normalize_rows(Z) if self.direction else Z

    def _project(self, Z: Array) -> Array:
        if self.components is None:
            return Z.toarray() if sp.issparse(Z) else Z
        points = Z @ self.components
        return normalize_rows(points) if self.direction else points

    def fit_components(self, X: Array, rng: np.random.Generator) -> Geometry:
        """Return the geometry with the leading components of these rows and the mean size of their points."""
        Z = self._standardize(X)
        number = count_components(X.shape[0])
        components = compute_leading_components(Z, number, rng) if Z.shape[1] > number else None
        fitted = replace(self, components=components)
        points = fitted._project(Z)
        xp = namespace(points)
        size = float(xp.mean(xp.sum(points**2, axis=1))) ** 0.5
        return replace(fitted, size=size or 1.0)


def choose_geometries(X: Array, rng: np.random.Generator) -> list[Geometry]:
    """Return the geometries that fit the rows of a view, with their components."""
    sample = X
    if X.shape[0] > FITTED_ROWS:  # rows that are evenly spread
        sample = take_rows(X, asarray_like(np.linspace(0, X.shape[0] - 1, FITTED_ROWS).astype(np.int64), X))
    if is_sparse(X):
        candidates = [Geometry(None, None, direction=True)]
    else:
        mean, factor = compute_standardization(sample)
        candidates = [Geometry(mean, factor, direction=False)]
        if X.shape[1] >= FEW_COLUMNS:
            candidates.insert(0, Geometry(mean, factor, direction=True))
    return [geometry.fit_components(sample, rng) for geometry in candidates]


def compute_standardization(X: Array) -> tuple[Array, Array]:
    """Return the mean of each column and one over its standard deviation, 0 for a column that is constant."""
    xp = namespace(X)
    mean = xp.mean(X, axis=0)
    deviation = xp.sqrt(xp.mean((X - mean) ** 2, axis=0))
    rounding = 8 * float(xp.finfo(X.dtype).eps) * xp.max(xp.abs(X), axis=0)
    varies = deviation > rounding
    return mean, keep_where(varies, 1.0 / keep_where(varies, deviation, 1.0), 0.0)


def scale_to_unit(X: sp.csr_array) -> sp.csr_array:
    """Return sparse rows scaled to unit length; empty rows stay."""
    scaled = X.astype(X.dtype, copy=True)
    largest = np.maximum.reduceat(np.append(np.abs(X.data), 0), np.minimum(X.indptr[:-1], X.data.size))
    n_stored = np.diff(X.indptr)
    largest = np.repeat(np.where((n_stored > 0) & (largest > 0), largest, 1), n_stored)
    scaled.data = scaled.data / largest  # squares of tiny numbers would vanish
    squares = np.bincount(np.repeat(np.arange(X.shape[0]), n_stored), scaled.data**2, minlength=X.shape[0])
    lengths = np.where(squares > 0, squares, 1) ** 0.5
    scaled.data = (scaled.data / np.repeat(lengths, n_stored)).astype(X.dtype)
    return scaled


def compute_leading_components(Z: Array, number: int, rng: np.random.Generator) -> Array:
    """Return the leading right singular vectors of rows, (columns, at most number)."""
    n_rows, n_columns = Z.shape
    if sp.issparse(Z) or (is_on_host(Z) and min(Z.shape) > LARGEST_EXACT):
        number = min(number, *Z.shape)
        return randomized_svd(Z, number, n_iter=4, random_state=int(rng.integers(2**31)))[2].T
    xp = namespace(Z)
    values, vectors = xp.linalg.eigh(Z.T @ Z if n_columns <= n_rows else Z @ Z.T)
    values, vectors = xp.flip(values)[:number], xp.flip(vectors, axis=1)[:, :number]
    if n_columns <= n_rows:
        return vectors
    real = values > float(xp.finfo(Z.dtype).eps) * n_rows * xp.max(values)
    return (Z.T @ vectors) * keep_where(real, keep_where(real, values, 1.0) ** -0.5, 0.0)


@save_as("similarity-geometry")
@dataclass(frozen=True, eq=False)
class SimilarityGeometry:
    """Points of entities that are given by their similarities to the entities of the fit (kernel components)."""

    into: Array  # (entities, p): similarities times this are points
    size: float = 1.0

    is_constant = False

    def transform(self, X: Array) -> Array:
        """Return the points of rows of similarities."""
        return asarray_like(normalize_rows(np.asarray(to_host(X) @ self.into)) / self.size, X)

    @classmethod
    def fit(cls, X: Array, rng: np.random.Generator) -> SimilarityGeometry:
        """Take the leading eigenvectors of a square matrix of similarities, scaled by the roots of their values."""
        number = min(count_components(X.shape[0]), X.shape[0])
        plain = to_host(X)
        plain = (plain + plain.T) / 2  # rounding errors may have made it asymmetric
        if sp.issparse(plain):
            values, vectors = compute_leading_eigenvectors(plain, number, rng)
        else:
            values, vectors = np.linalg.eigh(plain)
            values, vectors = values[-number:], vectors[:, -number:]
        real = values > 1e-10 * np.abs(values).max()
        into = vectors[:, real] / np.sqrt(values[real])
        geometry = cls(into)
        points = to_numpy(geometry.transform(X))
        return replace(geometry, size=float(np.mean(np.sum(points**2, axis=1))) ** 0.5 or 1.0)
