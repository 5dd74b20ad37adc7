"""The largest eigenvalues of a symmetric matrix of which only products are known."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import scipy.linalg
from array_api_compat import device

from ...arrays import Array, asarray_like, float64_zeros, is_on_host, keep_where, namespace, to_numpy

Product = Callable[[Array], Array]  # (n, width) -> (n, width)

N_GUARD_VECTORS = 4  # vectors beside those that are wanted: they come sooner for it
MAX_WIDTH_FACTOR = 4  # the space may be so many times as wide as the start before it shrinks
MAX_PRODUCTS = 1000
PATIENCE = 50  # products in which small residuals do not halve: the products are not exact enough for more


class EigenPairs(NamedTuple):
    """The largest eigenvalues in falling order, and their vectors."""

    values: Array
    vectors: Array  # (n, wanted)
    next_eigenvalue: float  # what is known of the next: it may be larger, not smaller; -inf if there is none
    settled: bool  # whether all is as exact as the type allows


def top_eigenvectors(product: Product, start: Array, n_wanted: int) -> EigenPairs:
    """Algebraically largest eigenvalues and their vectors, by a block Krylov space.

    The space grows by the residuals of the best vectors in it (Rayleigh and Ritz). When it has become wide it shrinks
    to these vectors and those of the step before, which keeps the pace of a space that never shrank (the generalised
    Davidson method of Stathopoulos & Saad 1998, without a preconditioner). A block is multiplied at a time: where a
    product computes the matrix anew, as with kernels too large to hold, the number of products is what counts.
    Everything is of the library, and on the device, of the start, but for a few numbers a step to decide by.

    Parameters
    ----------
    product : callable
        The matrix times a block of vectors.
    start : array of shape (n, width)
        Where to start: some vectors more than are wanted, of the type to compute in. Known eigenvectors among them
        are found at once.
    n_wanted : int
        Number of eigenvectors, at most the width of the start.
    """
    xp, dtype, width = namespace(start), start.dtype, start.shape[1]
    eps, tiny = float(xp.finfo(dtype).eps), float(xp.finfo(dtype).smallest_normal)
    space = KrylovSpace(start, product, min(start.shape[0], MAX_WIDTH_FACTOR * width + 8))
    before = start[:0, :0]
    least, waited = np.inf, 0
    for _ in range(MAX_PRODUCTS):
        values, turn = descending_eigh(space.small)
        turn = xp.astype(turn, dtype)
        kept = min(space.width, width)
        vectors = space.basis @ turn[:, :kept]
        residuals = space.images @ turn[:, :kept] - vectors * xp.astype(values[:kept], dtype)
        known, off = fetch_residuals(values, xp.sqrt(xp.sum(residuals**2, axis=0)))
        scale = max(abs(known[0]), abs(known[-1]), tiny)
        unsettled = off > eps**0.75 * scale
        worst = off[:n_wanted].max()
        least, waited = (worst, 0) if worst < least / 2 else (least, waited + 1)
        stalled = waited > PATIENCE and worst < eps**0.5 * scale
        settled = stalled or not unsettled[:n_wanted].any()
        fresh = residuals[:, :0] if settled else extend_basis(space.basis, select_columns(residuals, unsettled))
        if not fresh.shape[1]:  # settled, or the space holds all there is
            break
        if space.width + fresh.shape[1] > space.widest:
            rest = xp.zeros((space.width - before.shape[0], before.shape[1]), dtype=dtype, device=device(start))
            padded = xp.concat([before, rest])  # in terms of what was the basis then
            shrunk = extend_basis(turn[:, :0], xp.concat([turn[:, : min(2 * width, space.width)], padded], axis=1))
            space.turn(shrunk)
            turn = shrunk.T @ turn
        before = turn[:, :kept]
        space.add(fresh)
    beyond = float(known[n_wanted]) if kept > n_wanted else -np.inf
    return EigenPairs(values[:n_wanted], vectors[:, :n_wanted], beyond, settled or not fresh.shape[1])


def fetch_residuals(values: Array, off: Array) -> tuple[np.ndarray, np.ndarray]:
    """Eigenvalues and the lengths of residuals as numpy arrays: all that a step decides by, brought at once."""
    xp = namespace(values)
    known = to_numpy(xp.concat([values, xp.astype(off, values.dtype)]))
    return known[: values.shape[0]], known[values.shape[0] :]


class KrylovSpace:
    """An orthonormal basis and its products with the matrix, in memory that is taken once."""

    def __init__(self, start: Array, product: Product, widest: int) -> None:
        self.product, self.widest, self.width = product, widest, 0
        shape, xp = (widest + start.shape[1], start.shape[0]), namespace(start)
        self._basis = xp.empty(shape, dtype=start.dtype, device=device(start))
        self._images = xp.empty(shape, dtype=start.dtype, device=device(start))
        self._small = float64_zeros(shape[:1] * 2, start)
        first = extend_basis(start[:, :0], start)
        if not first.shape[1]:  # the start is zero
            first = xp.eye(*start.shape, dtype=start.dtype, device=device(start))
        self.add(first)

    @property
    def basis(self) -> Array:
        return self._basis[: self.width, :].T

    @property
    def images(self) -> Array:
        return self._images[: self.width, :].T

    @property
    def small(self) -> Array:
        """The matrix as the space sees it, in float64: basis' matrix basis."""
        return self._small[: self.width, : self.width]

    def add(self, fresh: Array) -> None:
        """Widen the space by vectors that stand at right angles to it."""
        xp = namespace(fresh)
        there = slice(self.width, self.width + fresh.shape[1])
        self._basis[there, :], self._images[there, :] = fresh.T, self.product(fresh).T
        self.width = there.stop
        self._small[there, : self.width] = xp.astype(self._images[there, :] @ self.basis, xp.float64)
        self._small[: there.start, there] = self._small[there, : there.start].T
        self._small[there, there] = (self._small[there, there] + self._small[there, there].T) / 2

    def turn(self, turn: Array) -> None:
        """Shrink the space to a part of it, given by a basis in terms of the present one."""
        xp = namespace(turn)
        n_kept = turn.shape[1]
        for own in (self._basis, self._images):
            own[:n_kept, :] = turn.T @ own[: self.width, :]
        self.width = n_kept
        small = self._images[:n_kept, :] @ self.basis  # anew, or rounding would build up
        self._small[:n_kept, :n_kept] = xp.astype((small + small.T) / 2, xp.float64)


def extend_basis(basis: Array, block: Array) -> Array:
    """An orthonormal basis of what the block adds to the space of the basis."""
    if not is_on_host(block):
        return extend_basis_on_device(basis, block)
    lengths = np.sqrt(np.sum(block**2, axis=0))
    block = block[:, lengths > 0] / lengths[lengths > 0]
    for _ in range(2):  # once more for what rounding left
        block = block - basis @ (basis.T @ block)
        block, triangle, _ = scipy.linalg.qr(block, mode="economic", pivoting=True, check_finite=False)
        pivots = np.abs(np.diagonal(triangle))
        block = block[:, pivots > 10 * np.finfo(block.dtype).eps * max(1, *basis.shape) ** 0.5]
    return block


def extend_basis_on_device(basis: Array, block: Array) -> Array:
    """The same on a device, without a look at what is there.

    In place of a column that adds nothing comes a direction that rounding made: the space is wider than need be, which
    does no harm, and nobody waits.
    """
    xp = namespace(block)
    block = block[:, : min(block.shape[1], basis.shape[0] - basis.shape[1])]
    lengths = xp.sqrt(xp.sum(block**2, axis=0))
    block = block / keep_where(lengths > 0, lengths, 1.0)
    for _ in range(2):
        block, _ = thin_qr(block - basis @ (basis.T @ block))
    return block


def select_columns(block: Array, chosen: np.ndarray) -> Array:
    """Columns by a numpy mask."""
    if is_on_host(block):
        return block[:, chosen]
    return namespace(block).take(block, asarray_like(np.flatnonzero(chosen), block), axis=1)


def descending_eigh(matrix: Array) -> tuple[Array, Array]:
    """All eigenvalues of a small symmetric matrix, in falling order, and their vectors."""
    values, vectors = scipy.linalg.eigh(matrix) if is_on_host(matrix) else namespace(matrix).linalg.eigh(matrix)
    xp = namespace(values)
    return xp.flip(values), xp.flip(vectors, axis=1)


def thin_qr(matrix: Array) -> tuple[Array, Array]:
    """An orthonormal basis of the columns of a tall matrix, and the columns in terms of it."""
    if is_on_host(matrix):
        return scipy.linalg.qr(matrix, mode="economic", check_finite=False)
    return namespace(matrix).linalg.qr(matrix, mode="reduced")
