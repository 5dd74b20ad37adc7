"""The largest eigenvalues of a symmetric matrix of which only products are known."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import scipy.linalg

Product = Callable[[np.ndarray], np.ndarray]  # (n, width) -> (n, width)

SPARE = 4  # vectors beside those that are wanted: they come sooner for it
WIDEST = 4  # the space may be so many times as wide as the start before it shrinks
MOST_PRODUCTS = 1000
PATIENCE = 50  # products in which small residuals do not halve: the products are not exact enough for more


class Eigen(NamedTuple):
    """The largest eigenvalues in falling order, and their vectors."""

    values: np.ndarray
    vectors: np.ndarray  # (n, wanted)
    beyond: float  # what is known of the next: it may be larger, not smaller; -inf if there is none
    settled: bool  # whether all is as exact as the type allows


def top_eigenvectors(product: Product, start: np.ndarray, n_wanted: int) -> Eigen:
    """Algebraically largest eigenvalues and their vectors, by a block Krylov space.

    The space grows by the residuals of the best vectors in it (Rayleigh and Ritz). When it has become wide it shrinks
    to these vectors and those of the step before, which keeps the pace of a space that never shrank (the generalised
    Davidson method of Stathopoulos & Saad 1998, without a preconditioner). A block is multiplied at a time: where a
    product computes the matrix anew, as with kernels too large to hold, the number of products is what counts.

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
    width, eps = start.shape[1], float(np.finfo(start.dtype).eps)
    space = Space(start, product, min(start.shape[0], WIDEST * width + 8))
    before = np.zeros((0, 0), start.dtype)
    least, waited = np.inf, 0
    for _ in range(MOST_PRODUCTS):
        values, turn = scipy.linalg.eigh(space.small)
        values, turn = values[::-1], turn[:, ::-1].astype(start.dtype)
        kept = min(space.width, width)
        vectors = space.basis @ turn[:, :kept]
        residuals = space.images @ turn[:, :kept] - vectors * values[:kept].astype(start.dtype)
        off = np.sqrt(np.sum(residuals**2, axis=0))
        scale = max(abs(values[0]), abs(values[-1]), float(np.finfo(start.dtype).tiny))
        unsettled = off > eps**0.75 * scale
        worst = off[:n_wanted].max()
        least, waited = (worst, 0) if worst < least / 2 else (least, waited + 1)
        stalled = waited > PATIENCE and worst < eps**0.5 * scale
        settled = stalled or not unsettled[:n_wanted].any()
        fresh = residuals[:, :0] if settled else grow(space.basis, residuals[:, unsettled])
        if not fresh.shape[1]:  # settled, or the space holds all there is
            break
        if space.width + fresh.shape[1] > space.widest:
            padded = np.zeros((space.width, before.shape[1]), start.dtype)
            padded[: before.shape[0]] = before  # in terms of what was the basis then
            shrunk = grow(np.zeros((space.width, 0), start.dtype), np.hstack([turn[:, : 2 * width], padded]))
            space.turn(shrunk)
            turn = shrunk.T @ turn
        before = turn[:, :kept]
        space.add(fresh)
    beyond = float(values[n_wanted]) if kept > n_wanted else -np.inf
    return Eigen(values[:n_wanted], vectors[:, :n_wanted], beyond, settled or not fresh.shape[1])


class Space:
    """An orthonormal basis and its products with the matrix, in memory that is taken once."""

    def __init__(self, start: np.ndarray, product: Product, widest: int) -> None:
        self.product, self.widest, self.width = product, widest, 0
        self._basis, self._images = np.empty((2, widest + start.shape[1], start.shape[0]), start.dtype)
        self._small = np.empty((widest + start.shape[1],) * 2)
        self.add(grow(start[:, :0], start))

    @property
    def basis(self) -> np.ndarray:
        return self._basis[: self.width].T

    @property
    def images(self) -> np.ndarray:
        return self._images[: self.width].T

    @property
    def small(self) -> np.ndarray:
        """The matrix as the space sees it: basis' matrix basis."""
        return self._small[: self.width, : self.width]

    def add(self, fresh: np.ndarray) -> None:
        """Widen the space by vectors that stand at right angles to it."""
        there = slice(self.width, self.width + fresh.shape[1])
        self._basis[there], self._images[there] = fresh.T, self.product(fresh).T
        self.width = there.stop
        self._small[there, : self.width] = self._images[there] @ self.basis
        self._small[: there.start, there] = self._small[there, : there.start].T
        self._small[there, there] = (self._small[there, there] + self._small[there, there].T) / 2

    def turn(self, turn: np.ndarray) -> None:
        """Shrink the space to a part of it, given by a basis in terms of the present one."""
        n_kept = turn.shape[1]
        for own in (self._basis, self._images):
            own[:n_kept] = turn.T @ own[: self.width]
        self.width = n_kept
        small = self._images[:n_kept] @ self.basis  # anew, or rounding would build up
        self._small[:n_kept, :n_kept] = (small + small.T) / 2


def grow(basis: np.ndarray, block: np.ndarray) -> np.ndarray:
    """An orthonormal basis of what the block adds to the space of the basis."""
    lengths = np.sqrt(np.sum(block**2, axis=0))
    block = block[:, lengths > 0] / lengths[lengths > 0]
    for _ in range(2):  # once more for what rounding left
        block = block - basis @ (basis.T @ block)
        block, triangle, _ = scipy.linalg.qr(block, mode="economic", pivoting=True, check_finite=False)
        pivots = np.abs(np.diagonal(triangle))
        block = block[:, pivots > 10 * np.finfo(block.dtype).eps * max(1, *basis.shape) ** 0.5]
    return block
