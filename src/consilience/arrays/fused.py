"""The interface of loops that compute several steps in one pass over the rows, and their choice."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence

import numpy as np

from .namespace import Array, can_use_triton

# Compiled loops are faster from a few hundred numbers on, and let other threads work meanwhile. But numba takes most of
# a second to load, which data that numpy clusters in a few milliseconds should not cost.
WORTH_COMPILED = 1 << 15  # values of a view that are worth loading numba
WORTH_SCORES = 1 << 13  # scores of rows and clusters that are worth it
WIDEST = 128  # columns of rows in Triton's kernels for covariances, which must fit the registers


class FusedLoops(ABC):
    """Loops over rows that keep intermediate values in registers or in the cache."""

    @staticmethod
    @abstractmethod
    def compute_quadratic_scores(
        X: Array, linear: Array, quadratic: Array, bias: Array, origin: Array | None = None
    ) -> Array:
        """Return ``x . linear[j] + x^2 . quadratic[j] - bias[j]`` of the rows relative to the origin: (rows, k)."""

    @staticmethod
    @abstractmethod
    def compute_whitened_log_prob(
        X: Array, whitening: Array, shift: Array, constant: Array, origin: Array | None
    ) -> Array:
        """Return ``constant - |(X - origin) @ whitening[j] - shift[j]|^2 / 2``: (rows, clusters)."""

    @staticmethod
    @abstractmethod
    def sum_moments(X: Array, weights: Array, origin: Array | None) -> tuple[Array, Array]:
        """Return the weighted sums of the rows relative to the origin, and of their squares, in float64."""

    @staticmethod
    @abstractmethod
    def sum_cross_products(X: Array, weights: Array) -> Array:
        """Return ``X.T @ diag(w) @ X`` for each column w of the weights, added up in float64: (clusters, d, d)."""

    @staticmethod
    @abstractmethod
    def blend_views(
        log_probs: Array,
        active: Sequence[int],
        log_priors: Array,
        present: Sequence[Array] | None,
        target_present: Array,
        fixed_labels: Array | None,
        target: int,
        eta: float,
        bottom: float,
        rows: slice,
        *,
        with_quality: bool,
    ) -> tuple[Array, Array, Array]:
        """Compute the posteriors of some rows in each view, and blend them for one view.

        Parameters
        ----------
        log_probs : array of shape (n_all_views, n_clusters, n)
            The log-densities of all rows in each view.
        active : sequence of n_views ints
            The positions of the views that have parameters.
        log_priors : array of shape (n_views, n_clusters)
        present : sequence of n_views arrays of shape (n,), or None
            Which rows have each view; None if no row lacks a view.
        target_present : array of shape (n,)
            Which rows have the view to blend for.
        fixed_labels : array of shape (n,), or None
            The classes that are known, -1 elsewhere.
        target : int
            The position of the view to blend for among the active views, -1 if it is not active.
        eta : float
            The weight of the other views.
        bottom : float
            The largest log-density that counts as impossible.
        rows : slice
            The rows to compute.
        with_quality : bool
            Whether to compute the quality, which is undefined otherwise.

        Returns
        -------
        blended : array of shape (n_rows, n_clusters)
        sums : array of shape (n_views + 1, n_clusters)
            The sums of the posteriors of each view, and of the blended ones.
        quality : array of shape (n_views + 4,)
            The log-likelihood of each view without row terms, minus the entropy of the posteriors, the disagreement,
            and the numbers of rows with several views, and of those of them whose views agree.
        """


def find_fused_loops(
    X: Array, n_clusters: int, *, with_covariances: bool = False, worth: int = WORTH_COMPILED
) -> type[FusedLoops] | None:
    """Return the loops for rows of this kind: compiled by numba, or by Triton on a GPU; None if there are none.

    Arrays of fewer than `worth` numbers in main memory are not worth compiled code. The kernels for covariances on a
    GPU are limited to a number of columns.
    """
    if isinstance(X, np.ndarray):
        from .dense_verbs import CompiledLoops

        return CompiledLoops if X.size >= worth else None
    if can_use_triton(X, n_clusters) and not (with_covariances and X.shape[1] > WIDEST):
        from .triton_kernels import TritonLoops

        return TritonLoops
    return None
