"""The largest eigenvalues of a symmetric matrix that can only be multiplied."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import scipy.linalg
from array_api_compat import device

from ..._tuning import Tuning
from ...arrays import Array, asarray_like, float64_zeros, is_on_host, keep_where, namespace, to_numpy

Product = Callable[[Array], Array]  # (n, width) -> (n, width)

N_GUARD_VECTORS = 4  # vectors beyond the wanted ones, which speed up convergence
MAX_WIDTH_FACTOR = 4  # the space may become this many times as wide as the start before it shrinks
tuning = Tuning(
    max_products=1000,
    max_dense=400,  # a matrix of at most this many rows is decomposed as a whole, which takes less time there
)
PATIENCE = 50  # products after which small residuals that do not halve are taken for rounding errors of the product


class EigenPairs(NamedTuple):
    """The largest eigenvalues in descending order, and their vectors."""

    values: Array
    vectors: Array  # (n, n_wanted)
    next_eigenvalue: float  # a lower bound of the eigenvalue after these; -inf if there is none
    converged: bool


def top_eigenvectors(product: Product, start: Array, n_wanted: int, *, tolerance: float | None = None) -> EigenPairs:
    """Compute the algebraically largest eigenvalues and their vectors with a block Krylov space.

    The space grows by the residuals of its Ritz vectors. When it has become wide, it shrinks to these vectors and
    those of the step before, which keeps the convergence of a space that never shrinks (the generalized Davidson
    method of Stathopoulos & Saad 1998, without a preconditioner). Vectors are multiplied in blocks because the number
    of products determines the time if a product computes the matrix anew, as for kernels too large to store. All
    arrays are of the library, and on the device, of the start; each step fetches a few numbers to decide by.

    Parameters
    ----------
    product : callable
        Multiplies the matrix by a block of vectors.
    start : array of shape (n, width)
        Initial vectors, some more than wanted, of the dtype to compute in. Eigenvectors among them are found at once.
    n_wanted : int
        Number of eigenvectors, at most the width of the start.
    tolerance : float, optional
        Length of the residuals that suffices, relative to the largest eigenvalue; by default eps^0.75 of the dtype.
    """
    xp, dtype, width = namespace(start), start.dtype, start.shape[1]
    eps, tiny = float(xp.finfo(dtype).eps), float(xp.finfo(dtype).smallest_normal)
    tolerance = eps**0.75 if tolerance is None else tolerance
    space = KrylovSpace(start, product, min(start.shape[0], MAX_WIDTH_FACTOR * width + 8))
    previous = start[:0, :0]
    best, n_waited = np.inf, 0
    for _ in range(tuning.max_products):
        values, ritz = descending_eigh(space.projected)
        ritz = xp.astype(ritz, dtype)
        kept = min(space.width, width)
        vectors = space.basis @ ritz[:, :kept]
        residuals = space.images @ ritz[:, :kept] - vectors * xp.astype(values[:kept], dtype)
        errors = xp.sqrt(xp.sum(residuals**2, axis=0))
        fetched = to_numpy(xp.concat([values, xp.astype(errors, values.dtype)]))  # in one transfer
        host_values, errors = fetched[: values.shape[0]], fetched[values.shape[0] :]
        scale = max(abs(host_values[0]), abs(host_values[-1]), tiny)
        inexact = errors > tolerance * scale
        worst = errors[:n_wanted].max()
        best, n_waited = (worst, 0) if worst < best / 2 else (best, n_waited + 1)
        stalled = n_waited > PATIENCE and worst < eps**0.5 * scale
        converged = stalled or not inexact[:n_wanted].any()
        fresh = residuals[:, :0]
        if not converged:
            columns = np.flatnonzero(inexact)
            inexact_residuals = (
                residuals[:, inexact]
                if is_on_host(residuals)
                else xp.take(residuals, asarray_like(columns, residuals), axis=1)
            )
            fresh = extend_basis(space.basis, inexact_residuals)
        if not fresh.shape[1]:  # converged, or the space contains everything
            break
        if space.width + fresh.shape[1] > space.max_width:
            padding = (space.width - previous.shape[0], previous.shape[1])  # previous has fewer basis vectors
            padded = xp.concat([previous, xp.zeros(padding, dtype=dtype, device=device(start))])
            shrunk = extend_basis(ritz[:, :0], xp.concat([ritz[:, : min(2 * width, space.width)], padded], axis=1))
            space.shrink(shrunk)
            ritz = shrunk.T @ ritz
        previous = ritz[:, :kept]
        space.add(fresh)
    next_eigenvalue = float(host_values[n_wanted]) if kept > n_wanted else -np.inf
    return EigenPairs(values[:n_wanted], vectors[:, :n_wanted], next_eigenvalue, converged or not fresh.shape[1])


def decompose_dense(matrix: np.ndarray, n_wanted: int) -> EigenPairs:
    """Compute the algebraically largest eigenvalues and their vectors of a small matrix."""
    n = len(matrix)
    n_computed = min(n, n_wanted + 1)
    values, vectors = scipy.linalg.eigh(matrix, subset_by_index=[n - n_computed, n - 1], check_finite=False)
    if len(values) < n_computed:  # LAPACK may lose some if many eigenvalues are equal, unless it computes all
        values, vectors = scipy.linalg.eigh(matrix, check_finite=False)
    values, vectors = values[::-1], vectors[:, ::-1]
    next_eigenvalue = float(values[n_wanted]) if n > n_wanted else -np.inf
    return EigenPairs(values[:n_wanted], vectors[:, :n_wanted], next_eigenvalue, True)


class KrylovSpace:
    """An orthonormal basis and its products with the matrix, in memory that is allocated once.

    `basis` and `images` are the basis and its products, (n, width); `projected` is the matrix projected onto the space,
    basis' matrix basis, (width, width), in float64.
    """

    def __init__(self, start: Array, product: Product, max_width: int) -> None:
        self.product, self.max_width = product, max_width
        shape, xp = (max_width + start.shape[1], start.shape[0]), namespace(start)
        self._basis = xp.empty(shape, dtype=start.dtype, device=device(start))
        self._images = xp.empty(shape, dtype=start.dtype, device=device(start))
        self._projected = float64_zeros(shape[:1] * 2, start)
        first = extend_basis(start[:, :0], start)
        if not first.shape[1]:  # the start is zero
            first = xp.eye(*start.shape, dtype=start.dtype, device=device(start))
        self._resize(0)
        self.add(first)

    def _resize(self, width: int) -> None:
        self.width = width
        self.basis, self.images = self._basis[:width, :].T, self._images[:width, :].T
        self.projected = self._projected[:width, :width]

    def add(self, fresh: Array) -> None:
        """Widen the space by orthonormal vectors that are orthogonal to it."""
        xp = namespace(fresh)
        new = slice(self.width, self.width + fresh.shape[1])
        self._basis[new, :], self._images[new, :] = fresh.T, self.product(fresh).T
        self._resize(new.stop)
        self._projected[new, : self.width] = xp.astype(self._images[new, :] @ self.basis, xp.float64)
        self._projected[: new.start, new] = self._projected[new, : new.start].T
        self._projected[new, new] = (self._projected[new, new] + self._projected[new, new].T) / 2

    def shrink(self, coordinates: Array) -> None:
        """Shrink the space to a subspace, given by the coordinates of its basis in the present one."""
        xp = namespace(coordinates)
        n_kept = coordinates.shape[1]
        for vectors in (self._basis, self._images):
            vectors[:n_kept, :] = coordinates.T @ vectors[: self.width, :]
        self._resize(n_kept)
        projected = self._images[:n_kept, :] @ self.basis  # computed anew, so that rounding errors do not build up
        self._projected[:n_kept, :n_kept] = xp.astype((projected + projected.T) / 2, xp.float64)


def extend_basis(basis: Array, block: Array) -> Array:
    """Return an orthonormal basis of what the block adds to the space of the basis."""
    if not is_on_host(block):
        return extend_basis_on_device(basis, block)
    lengths = np.sqrt(np.sum(block**2, axis=0))
    block = block[:, lengths > 0] / lengths[lengths > 0]
    for _ in range(2):  # the second time removes rounding errors
        block = block - basis @ (basis.T @ block)
        block, triangle, _ = scipy.linalg.qr(block, mode="economic", pivoting=True, check_finite=False)
        pivots = np.abs(np.diagonal(triangle))
        block = block[:, pivots > 10 * np.finfo(block.dtype).eps * max(1, *basis.shape) ** 0.5]
    return block


def extend_basis_on_device(basis: Array, block: Array) -> Array:
    """Extend a basis without reading values back from the device.

    A column that adds nothing becomes a direction of rounding errors: the space is wider than necessary, which does no
    harm, and no transfer is waited for.
    """
    xp = namespace(block)
    block = block[:, : min(block.shape[1], basis.shape[0] - basis.shape[1])]
    lengths = xp.sqrt(xp.sum(block**2, axis=0))
    block = block / keep_where(lengths > 0, lengths, 1.0)
    for _ in range(2):
        block, _ = thin_qr(block - basis @ (basis.T @ block))
    return block


def descending_eigh(matrix: Array) -> tuple[Array, Array]:
    """Return all eigenvalues of a small symmetric matrix in descending order, and their vectors."""
    xp = namespace(matrix)
    values, vectors = xp.linalg.eigh(matrix)
    return xp.flip(values), xp.flip(vectors, axis=1)


def thin_qr(matrix: Array) -> tuple[Array, Array]:
    """Return an orthonormal basis of the columns of a tall matrix, and their coordinates in it."""
    return namespace(matrix).linalg.qr(matrix, mode="reduced")
