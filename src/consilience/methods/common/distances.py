"""Divergences of the rows of a view from centers."""

from __future__ import annotations

from collections.abc import Callable

from ...arrays import Array, build_scorer, compute_scores, keep_where, map_chunks, namespace, split_into_chunks
from ...divergences import Divergence
from ...rows import ViewRows, join_blocks


def compute_divergences(view: ViewRows, divergence: Divergence, centers: Array) -> Array:
    """Compute the divergence of each row from each center, in float64: (n, k)."""
    measure = make_divergence(view, divergence, centers)
    return join_blocks(list(map_chunks(measure, split_into_chunks(view.X))))


def make_divergence(view: ViewRows, divergence: Divergence, centers: Array) -> Callable[..., Array]:
    """Build a function for the divergences of rows, which may have been read already, from each center."""
    xp = namespace(centers)
    score = build_scorer(view.X, *divergence.affine(centers, view.origin))

    def measure(rows: slice, X: Array | None = None) -> Array:
        X = view.X[rows, ...] if X is None else X
        divergences = view.row_term[rows][:, None] - divergence.scale * xp.astype(compute_scores(X, score), xp.float64)
        return keep_where(divergences > 0, divergences, 0.0)

    return measure
