"""Where each view puts the entities, and which cluster they are in."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.sparse as sp

from ..arrays import to_numpy
from ..data import Views
from ..explain import embed
from ..methods.spectral.algorithm import normalize_embedding
from ._axes import get_axes_grid
from ._model import check_fitted_views, get_fitted_attribute
from ._style import marker_style
from ._text import escape_name

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.collections import PathCollection
    from matplotlib.figure import Figure

ACROSS = 3  # panels in a row
CROWD = 600  # points beyond which a panel is drawn as pixels, and without edges
MOST_CLUSTERS = 66  # in the legend: more have the looks of others


class EmbeddingDisplay:
    """The entities in the plane, a panel a view, each cluster with a colour, a marker and its number at the middle.

    Parameters
    ----------
    embeddings : mapping of str to array-like of shape (n_shown, 2)
        For each view the places of the entities, NaN for those that lack the view.
    labels : array-like of int, shape (n_shown,)
        Their clusters; -1 for none.
    n_entities : int, optional
        How many there are, where these are a sample of them.

    Attributes
    ----------
    ax_ : ndarray of Axes, shape (n_views,)
        The panels.
    figure_ : Figure
        Where it is drawn.
    points_ : dict of str to dict of int to PathCollection
        For each view and cluster, its points.

    Examples
    --------
    >>> import consilience as cs
    >>> from consilience.plot import EmbeddingDisplay
    >>> views, _ = cs.datasets.make_gaussian_views(100, random_state=0)
    >>> display = EmbeddingDisplay.from_estimator(cs.MultiViewKMeans(3, random_state=0).fit(views), views)
    >>> sum(len(points.get_offsets()) for points in display.points_["view0"].values())
    100
    """

    ax_: np.ndarray
    figure_: Figure
    points_: dict[str, dict[int, PathCollection]]

    def __init__(self, embeddings: Mapping[str, Any], labels: Any, n_entities: int | None = None) -> None:
        self.embeddings = {name: np.asarray(place, dtype=np.float64) for name, place in embeddings.items()}
        self.labels = np.asarray(labels)
        for name, place in self.embeddings.items():
            if place.shape != (len(self.labels), 2):
                raise ValueError(
                    f"the embedding of view {name!r} must have shape ({len(self.labels)}, 2), one point per label, got "
                    f"{place.shape}"
                )
        self.n_entities = len(self.labels) if n_entities is None else n_entities

    def plot(self, ax: Any = None) -> EmbeddingDisplay:
        """Draw the panels.

        Parameters
        ----------
        ax : Axes or array of Axes, optional
            Where to: one a view, or one that is cut up; by default a figure of its own.

        Returns
        -------
        self
            The display.
        """
        n = len(self.embeddings)
        many = ax is not None and np.size(ax) > 1  # a place for each
        across = n if many else min(ACROSS, n)
        down = -(-n // across)
        self.figure_, grid = get_axes_grid(ax, (down, across), (3.4 * across + 0.9, 3.2 * down + 0.3))
        for spare in grid.ravel()[n:]:
            spare.set_axis_off()
        self.ax_ = grid.ravel()[:n]
        self.points_ = {
            name: self._panel(panel, name, place)
            for panel, (name, place) in zip(self.ax_, self.embeddings.items(), strict=True)
        }
        self._legend(own_figure=ax is None)
        return self

    def _panel(self, panel: Axes, name: str, place: np.ndarray) -> dict[int, PathCollection]:
        """One view: the clusters' points, then their numbers."""
        there = np.isfinite(place).all(axis=1)
        clusters = np.unique(self.labels[there]).tolist()
        size = _size_of(int(there.sum()))
        points = {c: _scatter(panel, place[there & (self.labels == c)], c, size) for c in clusters}
        for c in clusters:
            if c >= 0:
                _number(panel, np.median(place[there & (self.labels == c)], axis=0), c, small=len(clusters) > 15)
        panel.set_xticks([])
        panel.set_yticks([])
        panel.set_title(f"{escape_name(name)}\n{self._note(int(there.sum()))}", fontsize="medium")
        return points

    def _note(self, n_drawn: int) -> str:
        """How many of whom are drawn."""
        n = len(self.labels)
        if n < self.n_entities:
            have = "" if n_drawn == n else f"{n_drawn:,} have it: "
            return f"{have}{n:,} of {self.n_entities:,} entities, at random"
        return f"{n_drawn:,} entities" if n_drawn == n else f"{n_drawn:,} of {n:,} entities have it"

    def _legend(self, *, own_figure: bool) -> None:
        """The clusters, beside the panels, or in the last one where others share the figure."""
        from matplotlib.lines import Line2D

        clusters = [c for c in np.unique(self.labels).tolist() if c < MOST_CLUSTERS]
        handles = []
        for c in clusters:
            colour, marker = marker_style(c)
            look: dict[str, Any] = {
                "color": colour,
                "marker": marker,
                "markeredgecolor": "black",
                "markeredgewidth": 0.4,
            }
            handles.append(Line2D([], [], linestyle="", markersize=6, label="none" if c < 0 else str(c), **look))
        options: dict[str, Any] = {
            "title": "cluster",
            "fontsize": "small",
            "title_fontsize": "small",
            "frameon": not own_figure,
        }
        options |= {"handlelength": 1.0, "handletextpad": 0.3, "columnspacing": 0.6}
        if own_figure:
            height = self.figure_.get_size_inches()[1]
            rows = max(5, int((height - 0.6) / 0.21))
            self.figure_.legend(handles=handles, loc="outside right upper", ncols=-(-len(handles) // rows), **options)
        else:
            self.ax_[-1].legend(handles=handles, loc="best", ncols=-(-len(handles) // 8), **options)

    @classmethod
    def from_estimator(
        cls,
        model: Any,
        views: Any,
        *,
        method: str = "auto",
        max_points: int = 20_000,
        random_state: int = 0,
        ax: Any = None,
    ) -> EmbeddingDisplay:
        """Draw the entities of a fitted model.

        Parameters
        ----------
        model : estimator
            Fitted, with ``labels_``.
        views : Views, or whatever `fit` was given
            The entities that the model was fitted to.
        method : {'auto', 'pca', 'spectral', 'umap'}, default='auto'
            Where the places come from: two principal components of the view; of the view's own spectral embedding, of
            models with ``embeddings_``; or UMAP of the view, which needs umap-learn. ``'auto'`` is spectral where the
            model has embeddings, else principal components.
        max_points : int, default=20_000
            Draw no more entities than these, chosen at random, and say so.
        random_state : int, default=0
            Seed of that choice, and of the embedding.
        ax : Axes or array of Axes, optional
            Where to draw.

        Returns
        -------
        EmbeddingDisplay
            Drawn.
        """
        if method not in {"auto", *METHODS}:
            raise ValueError(f"method={method!r}: choose from 'auto', {', '.join(map(repr, METHODS))}")
        views = check_fitted_views(model, views)
        if method == "auto":
            method = "spectral" if hasattr(model, "embeddings_") else "pca"
        rows = _sample(len(views), max_points, random_state)
        embeddings = METHODS[method](model, views, rows, random_state)
        return cls(embeddings, np.asarray(model.labels_)[rows], len(views)).plot(ax)


def _sample(n: int, most: int, random_state: int) -> np.ndarray:
    """Rows to draw, in order."""
    if n <= most:
        return np.arange(n)
    return np.sort(np.random.default_rng(random_state).choice(n, most, replace=False))


def _by_components(model: Any, views: Views, rows: np.ndarray, random_state: int) -> dict[str, np.ndarray]:  # noqa: ARG001
    """Principal components of each view."""
    shown = views[rows]
    return {name: _components(shown, name, random_state) for name in views.names}


def _components(views: Views, name: str, random_state: int) -> np.ndarray:
    """Two principal components; a view that a sample leaves one entity, or none, has none."""
    there = views.present[:, views.names.index(name)]
    if there.sum() < 2:
        return np.where(there[:, None], 0.0, np.full((len(views), 2), np.nan))
    with np.errstate(invalid="ignore", divide="ignore"):  # rows that are all the same have no variance to explain
        return embed(views, name, random_state)


def _by_eigenvectors(model: Any, views: Views, rows: np.ndarray, random_state: int) -> dict[str, np.ndarray]:
    """Principal components of what a spectral model clusters: its eigenvectors, rows of unit length."""
    own = get_fitted_attribute(model, "embeddings_")
    if unknown := [name for name in own if name not in views.names]:
        raise ValueError(f"the model has a view {unknown[0]!r}, the data has {', '.join(map(repr, views.names))}")
    present = np.column_stack([views.present[rows, views.names.index(name)] for name in own])
    shown = Views({name: normalize_embedding(to_numpy(U)[rows]) for name, U in own.items()}, present=present)
    return {name: _components(shown, name, random_state) for name in own}


def _by_umap(model: Any, views: Views, rows: np.ndarray, random_state: int) -> dict[str, np.ndarray]:  # noqa: ARG001
    """UMAP of each view; of sparse views by the cosine."""
    try:
        from umap import UMAP
    except ImportError as error:
        raise ImportError("method='umap' needs umap-learn: pip install 'consilience[umap]'") from error
    places = {}
    for v, name in enumerate(views.names):
        there = views.present[rows, v]
        block = views[rows[there]][name]
        X, metric = (block, "cosine") if sp.issparse(block) else (to_numpy(block), "euclidean")
        places[name] = np.full((len(rows), 2), np.nan)
        places[name][there] = UMAP(metric=metric, random_state=random_state, n_jobs=1).fit_transform(X)
    return places


Method = Callable[[Any, Views, np.ndarray, int], dict[str, np.ndarray]]
METHODS: dict[str, Method] = {"pca": _by_components, "spectral": _by_eigenvectors, "umap": _by_umap}


def _size_of(n: int) -> float:
    """Area of a marker, in points: large for few, tiny for many."""
    return float(np.clip(40 * (100 / max(n, 1)) ** 0.5, 2, 40))


def _scatter(panel: Axes, place: np.ndarray, cluster: int, size: float) -> PathCollection:
    """A cluster's points; a crowd without edges and as pixels, so that files stay small."""
    colour, marker = marker_style(cluster)
    crowd = size < 40 * (100 / CROWD) ** 0.5
    edge: dict[str, Any] = {"linewidths": 0} if crowd else {"linewidths": 0.4, "edgecolors": "black"}
    return panel.scatter(place[:, 0], place[:, 1], s=size, c=colour, marker=marker, rasterized=crowd, **edge)


def _number(panel: Axes, place: np.ndarray, cluster: int, *, small: bool) -> None:
    """A cluster's number in its middle, on a halo so that it can be read on any colour."""
    from matplotlib.patheffects import withStroke

    text = panel.text(
        place[0], place[1], str(cluster), ha="center", va="center", fontsize=7 if small else 10, weight="bold"
    )
    text.set_path_effects([withStroke(linewidth=2.5, foreground="white")])
