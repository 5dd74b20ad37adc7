"""The largest eigenvalues of a symmetric matrix of which only products are known."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import scipy.linalg

Product = Callable[[np.ndarray], np.ndarray]  # (n, width) -> (n, width)

SPARE = 4  # vectors beside those that are wanted: they come sooner for it
PATIENCE = 50  # products in which the residuals do not halve: rounding in the products keeps them where they are


def top_eigenvectors(product: Product, start: np.ndarray, n_wanted: int) -> tuple[np.ndarray, np.ndarray]:
    """Algebraically largest eigenvalues, in falling order, and their vectors, by a block Krylov space.

    The space grows by the residuals of the best vectors in it (Rayleigh and Ritz), and shrinks to these vectors when
    it has become wide. A block is multiplied at a time: where a product computes the matrix anew, as with kernels too
    large to hold, the number of products is what counts.

    Parameters
    ----------
    product : callable
        The matrix times a block of vectors.
    start : array of shape (n, width)
        Where to start: some vectors more than are wanted, of the type to compute in.
    n_wanted : int
        Number of eigenvectors, at most n.

    Returns
    -------
    values, vectors : arrays of shape (n_wanted,) and (n, n_wanted)
        Residuals are below 2e-12 of the largest eigenvalue in float64, 6e-6 in float32, unless the products themselves
        are rounded more.
    """
    n = start.shape[0]
    tolerance = float(np.finfo(start.dtype).eps) ** 0.75
    widest = min(n, 6 * start.shape[1] + 8)
    basis = grow(start[:, :0], start)
    images = product(basis)
    least, waited = np.inf, 0
    while waited < PATIENCE:
        small = basis.T @ images
        values, turn = scipy.linalg.eigh((small + small.T) / 2)
        values, turn = values[::-1], turn[:, ::-1]
        kept = min(basis.shape[1], start.shape[1])
        vectors = basis @ turn[:, :kept]
        residuals = images @ turn[:, :kept] - vectors * values[:kept]
        off = np.sqrt(np.sum(residuals**2, axis=0))
        scale = max(abs(values[0]), abs(values[-1]), float(np.finfo(start.dtype).tiny))
        unsettled = off > tolerance * scale
        if not unsettled[:n_wanted].any():
            break
        worst = off[:n_wanted].max()
        least, waited = (worst, 0) if worst < least / 2 else (least, waited + 1)
        if basis.shape[1] + unsettled.sum() > widest:
            narrow = min(2 * start.shape[1], basis.shape[1])
            basis, images = basis @ turn[:, :narrow], images @ turn[:, :narrow]
        fresh = grow(basis, residuals[:, unsettled])
        if not fresh.shape[1]:
            break  # the basis spans everything that the start can reach
        basis, images = np.hstack([basis, fresh]), np.hstack([images, product(fresh)])
    return values[:n_wanted], vectors[:, :n_wanted]


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
