"""The joint map: two dimensions of a joint embedding, for a picture.

The layout is t-SNE (van der Maaten & Hinton 2008), which keeps neighbors together and is a map of the embedding alone:
it knows nothing of clusters. Of many entities a sample is laid out, and every other entity is put where t-SNE would
move it among the sample.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp

from .._tuning import Tuning
from ..arrays import find_nearest, map_chunks, split_slice, use_threads
from .embedding import find_two_components

PERPLEXITY = 30.0  # scikit-learn's default
PLACING_PERPLEXITY = 5.0  # of entities outside the sample: openTSNE's default
EXAGGERATION = 12.0  # of attraction in the first steps, which let groups form: scikit-learn's default
tuning = Tuning(
    most_laid_out=5000,  # entities that t-SNE lays out together
    chunk=1000,  # points that a thread moves at a time
)
N_EARLY_STEPS, N_STEPS, N_PLACING_STEPS = 100, 300, 15
EARLY_MOMENTUM, MOMENTUM = 0.5, 0.8
STEP = 1.0  # learning rate times 4 / n_entities
START_WIDTH, NOISE = 1e-4, 1e-2  # standard deviation of the start, and of the noise that separates equal entities in it


def joint_map(embedding: Any, *, method: str = "tsne", random_state: int = 0) -> np.ndarray:
    """Draw the columns of a joint embedding in two dimensions.

    Neighbors stay neighbors; distances between groups, and sizes of groups, mean little. Of more than 5,000 entities a
    sample is laid out, and each of the others is put where t-SNE moves it among the sample.

    Parameters
    ----------
    embedding : array of shape (n_entities, n_components)
        What `joint_embedding` returns.
    method : {'tsne', 'spectral', 'umap'}, default='tsne'
        t-SNE; the first two columns of the embedding, which show two or three groups; or UMAP, which needs umap-learn
        (``pip install 'consilience[umap]'``) and takes several times as long.
    random_state : int, default=0
        Seed of the sample, and of the start of entities that are equal. The map does not depend on the number of
        threads.

    Returns
    -------
    ndarray of shape (n_entities, 2)
        NaN for entities whose row has NaN or infinity.

    Examples
    --------
    >>> import consilience as cs
    >>> views, y = cs.datasets.make_gaussian_views(60, n_clusters=3, separation=8, random_state=0)
    >>> joint_map(cs.explain.joint_embedding(views)).shape
    (60, 2)
    """
    rows = np.asarray(embedding, dtype=np.float64)
    if rows.ndim != 2:
        raise ValueError(f"embedding must have two dimensions, (n_entities, n_components), got shape {rows.shape}")
    if method not in METHODS:
        raise ValueError(f"method={method!r} must be one of {', '.join(map(repr, METHODS))}")
    is_finite = np.isfinite(rows).all(axis=1)
    positions = np.full((len(rows), 2), np.nan)
    positions[is_finite] = METHODS[method](rows[is_finite], random_state)
    return positions


def _turn_wide(points: np.ndarray) -> np.ndarray:
    """Turn points around their center so that they vary most from left to right, as figures are wider than high."""
    centered = points - points.mean(axis=0)
    _, axes = np.linalg.eigh(centered.T @ centered)
    axes = axes[:, ::-1] * np.sign(axes[np.abs(axes).argmax(axis=0), [0, 1]])[::-1]  # signs are arbitrary
    return centered @ axes


def _lay_out_by_spectrum(rows: np.ndarray, random_state: int) -> np.ndarray:  # noqa: ARG001
    """Return the first two columns."""
    return np.pad(rows[:, :2], [(0, 0), (0, max(0, 2 - rows.shape[1]))])


def _lay_out_by_umap(rows: np.ndarray, random_state: int) -> np.ndarray:
    """Compute umap-learn's UMAP."""
    try:
        from umap import UMAP
    except ImportError as error:
        raise ImportError("method='umap' needs umap-learn: pip install 'consilience[umap]'") from error
    if _vary_too_little(rows):
        return _lay_out_by_spectrum(rows, random_state)
    return UMAP(n_neighbors=min(15, len(rows) - 1), random_state=random_state, n_jobs=1).fit_transform(rows)


def _vary_too_little(rows: np.ndarray) -> bool:
    """Whether rows are fewer than four, or all equal."""
    return len(rows) < 4 or not rows.shape[1] or bool(np.all(rows == rows[0]))


def _lay_out_by_tsne(rows: np.ndarray, random_state: int) -> np.ndarray:
    """Lay out a sample of the rows by t-SNE, and put the others among them."""
    if _vary_too_little(rows):
        return _lay_out_by_spectrum(rows, random_state)
    rows = rows / np.abs(rows).max()  # t-SNE does not depend on the scale, and squares must not overflow
    rng = np.random.default_rng(random_state)
    drawn = np.arange(len(rows))
    if len(rows) > tuning.most_laid_out:
        drawn = np.sort(rng.choice(len(rows), tuning.most_laid_out, replace=False))
    sample = rows[drawn]
    start = find_two_components(sample, random_state)
    start = start / max(start.std(), np.finfo(float).tiny) + NOISE * rng.standard_normal(start.shape)
    with use_threads(None):
        edges = _weigh_nearest(sample, None, PERPLEXITY)
        edges = sp.csr_array(edges + edges.T) * 0.5
        points = (start * START_WIDTH).astype(np.float32)
        points = _descend(points, edges, N_EARLY_STEPS, EARLY_MOMENTUM, exaggeration=EXAGGERATION)
        points = _descend(points, edges, N_STEPS, MOMENTUM)
        positions = np.empty((len(rows), 2))
        positions[drawn] = points
        others = np.setdiff1d(np.arange(len(rows)), drawn)
        if len(others):
            positions[others] = _place(rows[others], sample, points)
    return _turn_wide(positions)


def _weigh_nearest(rows: np.ndarray, new: np.ndarray | None, perplexity: float) -> sp.csr_array:
    """Return the t-SNE weights of the nearest rows, of each row or of each new row; they sum to 1."""
    from .layout_kernels import weight_neighbors

    n_neighbors = min(round(3 * perplexity), len(rows) - 1)
    nearest, distances = find_nearest(rows, n_neighbors + (new is None), new)
    if new is None:  # without the row itself, which is not always the first if others equal it
        others = nearest != np.arange(len(rows))[:, None]
        others[others.all(axis=1), -1] = False
        nearest, distances = (values[others].reshape(len(rows), n_neighbors) for values in (nearest, distances))

    def weigh(chunk: slice) -> np.ndarray:
        return weight_neighbors(distances[chunk] ** 2, min(perplexity, n_neighbors / 3)).astype(np.float32)

    weights = np.concatenate(list(map_chunks(weigh, _split_points(nearest))))
    starts = np.arange(0, nearest.size + 1, n_neighbors)
    return sp.csr_array((weights.ravel(), nearest.ravel(), starts), shape=(len(nearest), len(rows)))


def _split_points(points: np.ndarray) -> list[slice]:
    """Cut points into chunks for threads."""
    return split_slice(slice(0, len(points)), -(-len(points) // tuning.chunk))


def _place(rows: np.ndarray, sample: np.ndarray, points: np.ndarray) -> np.ndarray:
    """Put rows among a sample that has positions, where t-SNE would move them if the sample stayed."""
    edges = _weigh_nearest(sample, rows, PLACING_PERPLEXITY)
    _, partition = Grid.of(points).repel(points)
    return _descend(edges @ points, edges, N_PLACING_STEPS, EARLY_MOMENTUM, sources=points, partition=partition)


def _descend(
    points: np.ndarray,
    edges: sp.csr_array,
    n_steps: int,
    momentum: float,
    *,
    exaggeration: float = 1.0,
    sources: np.ndarray | None = None,
    partition: float | None = None,
) -> np.ndarray:
    """Move points down the gradient of t-SNE's cost, with momentum and gains; or among sources that stay."""
    from .layout_kernels import attract_points

    moves, gains, attraction = np.zeros_like(points), np.ones_like(points), np.empty_like(points)
    starts, neighbors = edges.indptr, edges.indices
    weights = (edges.data * exaggeration).astype(np.float32)
    fixed = None if sources is None else Grid.of(sources)
    for _ in range(n_steps):
        grid = Grid.of(points) if fixed is None else fixed
        repulsion, total = grid.repel(points)

        def attract(chunk: slice, points: np.ndarray = points) -> None:
            ends = starts[chunk.start : chunk.stop + 1]
            others = points if sources is None else sources
            attract_points(points[chunk], others, ends, neighbors, weights, attraction[chunk])

        list(map_chunks(attract, _split_points(points)))
        mean_total = (total if partition is None else partition) / len(grid.sources)
        gradient = attraction - repulsion / np.float32(mean_total)
        gains = np.where(np.sign(gradient) != np.sign(moves), gains + 0.2, gains * 0.8).clip(0.01).astype(np.float32)
        moves = momentum * moves - (STEP / max(1.0, exaggeration / 4)) * gains * gradient
        points = points + moves.astype(np.float32)
        if sources is None:
            points = points - points.mean(axis=0)
    return points


@dataclass(frozen=True, eq=False)
class Grid:
    """Sources of repulsion in the cells of a square grid."""

    sources: np.ndarray  # sorted by cell
    starts: np.ndarray  # where the sources of each cell begin
    sizes: np.ndarray
    centers: np.ndarray  # of mass
    low: np.ndarray  # corner
    width: np.ndarray  # of a cell, in each direction

    @classmethod
    def of(cls, sources: np.ndarray) -> Grid:
        """Sort sources into cells, about as many as balance the work for near sources and for far cells."""
        side = max(2, round((25 * len(sources)) ** 0.25))
        low, high = sources.min(axis=0), sources.max(axis=0)
        width = np.maximum((high - low) / side, np.finfo(np.float32).tiny)
        cells = np.minimum(((sources - low) / width).astype(np.int64), side - 1)
        cell = cells[:, 1] * side + cells[:, 0]
        order = np.argsort(cell, kind="stable")
        sizes = np.bincount(cell, minlength=side**2)
        sums = np.stack([np.bincount(cell, sources[:, i], minlength=side**2) for i in (0, 1)], axis=1)
        centers = sums / np.maximum(sizes, 1)[:, None]
        starts = np.concatenate([[0], np.cumsum(sizes)])
        return cls(sources[order], starts, sizes.astype(np.float32), centers.astype(np.float32), low, width)

    def repel(self, points: np.ndarray) -> tuple[np.ndarray, float]:
        """Return the repulsion of each point, and the sum of 1 / (1 + squared distance) over all pairs.

        The sources themselves are among the points if they repel each other; a pair of equal points counts 0.
        """
        from .layout_kernels import repel_points

        side = round(len(self.sizes) ** 0.5)
        cells = np.clip((points - self.low) / self.width, 0, side - 1).astype(np.int64)
        forces, totals = np.empty_like(points), np.empty(len(points), np.float32)

        def repel(chunk: slice) -> None:
            columns, rows = cells[chunk, 0], cells[chunk, 1]
            repel_points(
                points[chunk], columns, rows, self.sources, self.starts, self.sizes, self.centers, forces[chunk],
                totals[chunk],
            )  # fmt: skip

        list(map_chunks(repel, _split_points(points)))
        return forces, float(totals.sum(dtype=np.float64) - len(points))


METHODS: dict[str, Callable[[np.ndarray, int], np.ndarray]] = {
    "tsne": _lay_out_by_tsne,
    "spectral": _lay_out_by_spectrum,
    "umap": _lay_out_by_umap,
}
