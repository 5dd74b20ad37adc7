"""Positions of the entities in each view, with their clusters."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Self

import numpy as np
import scipy.sparse as sp

from ..arrays import normalize_rows, to_numpy
from ..data import Views
from ..explain import embed
from ._docs import share_docs
from ._figure import MAX_VECTOR_POINTS, Axes, escape_name, get_axes_grid, marker_style, scale_markers
from ._model import check_fitted_views, check_names, get_fitted_attribute

MAX_COLUMNS = 3  # of panels
MAX_CLUSTERS_SHOWN = 66  # in the legend, because styles repeat after them


@share_docs
class EntityPanels:
    """Base of displays that draw the entities in the plane, with one panel per view."""

    point_opacity = 1.0  #: opacity of the points, from 0 to 1

    def __init__(
        self,
        embeddings: Mapping[str, Any],
        labels: Any,
        n_entities: int | None = None,
        names: Sequence[str] | None = None,
    ) -> None:
        self.embeddings = {name: np.asarray(points, dtype=np.float64) for name, points in embeddings.items()}
        self.labels = np.asarray(labels)
        for name, points in self.embeddings.items():
            if points.shape != (len(self.labels), 2):
                raise ValueError(
                    f"the embedding of view {name!r} must have shape ({len(self.labels)}, 2), one point per label, got "
                    f"{points.shape}"
                )
        self.n_entities = len(self.labels) if n_entities is None else n_entities
        self.names = check_names(names, int(self.labels.max(initial=-1)) + 1)
        self.view_labels = dict.fromkeys(self.embeddings, self.labels)  # displays of constraints have others per view

    def plot(self, ax: Any = None) -> Self:
        """Draw the panels.

        %(section_axes_returns_self)s
        """
        n = len(self.embeddings)
        has_axes = ax is not None and np.size(ax) > 1  # one for each view
        n_columns = n if has_axes else min(MAX_COLUMNS, n)
        n_rows = -(-n // n_columns)
        self.figure_, grid = get_axes_grid(ax, (n_rows, n_columns), (3.4 * n_columns + 0.9, 3.2 * n_rows + 0.3))
        for unused in grid.ravel()[n:]:
            unused.set_axis_off()
        self.ax_ = grid.ravel()[:n]
        self.points_ = {
            name: self._draw_panel(panel, name, points)
            for panel, (name, points) in zip(self.ax_, self.embeddings.items(), strict=True)
        }
        self._draw_legend(is_new_figure=ax is None)
        return self

    def _draw_panel(self, panel: Axes, name: str, positions: np.ndarray) -> dict[int, Any]:
        """Draw one view: the points of the clusters, then their numbers."""
        from matplotlib.patheffects import withStroke

        present, labels = np.isfinite(positions).all(axis=1), self.view_labels[name]
        clusters = np.unique(labels[present]).tolist()
        size = scale_markers(int(present.sum()))
        members = {c: positions[present & (labels == c)] for c in clusters}
        is_crowded = present.sum() > MAX_VECTOR_POINTS
        edge: dict[str, Any] = {"linewidths": 0} if is_crowded else {"linewidths": 0.4, "edgecolors": "black"}
        points = {}
        for c in clusters:
            color, marker = marker_style(c)
            x, y = members[c].T
            points[c] = panel.scatter(
                x, y, s=size, c=color, marker=marker, rasterized=is_crowded, alpha=self.point_opacity, **edge
            )
        for c in clusters:
            if c >= 0:
                x, y = np.median(members[c], axis=0)
                size_of_text = 7 if len(clusters) > 15 else 10
                text = panel.text(x, y, str(c), ha="center", va="center", fontsize=size_of_text, weight="bold")
                text.set_path_effects([withStroke(linewidth=2.5, foreground="white")])  # legible on any color
        panel.set_xticks([])
        panel.set_yticks([])
        panel.set_title(f"{escape_name(name)}\n{self._describe_panel(name, int(present.sum()))}", fontsize="medium")
        return points

    def _describe_panel(self, name: str, n_drawn: int) -> str:  # noqa: ARG002
        """Return the second line of a panel's title."""
        n = len(self.labels)
        if n < self.n_entities:
            have = "" if n_drawn == n else f"{n_drawn:,} have it: "
            return f"{have}{n:,} of {self.n_entities:,} entities, at random"
        return f"{n_drawn:,} entities" if n_drawn == n else f"{n_drawn:,} of {n:,} entities have it"

    def _draw_legend(self, *, is_new_figure: bool) -> None:
        """Draw the legends of clusters and lines beside the panels of a new figure, otherwise in the last panel."""
        from matplotlib.lines import Line2D

        drawn = {c for points in self.points_.values() for c in points}
        clusters = [c for c in sorted(drawn) if c < MAX_CLUSTERS_SHOWN]
        handles = []
        for c in clusters:
            color, marker = marker_style(c)
            style: dict[str, Any] = {"color": color, "marker": marker, "mec": "black", "mew": 0.4}
            handles.append(Line2D([], [], linestyle="", markersize=6, label=self._label_cluster(c), **style))
        options: dict[str, Any] = {"title": "cluster", "fontsize": "small", "title_fontsize": "small"}
        options |= {"frameon": not is_new_figure, "handlelength": 1.0, "handletextpad": 0.3, "columnspacing": 0.6}
        if is_new_figure:
            height = self.figure_.get_size_inches()[1]
            rows = max(5, int((height - 0.6) / 0.21))
            self.figure_.legend(handles=handles, loc="outside right upper", ncols=-(-len(handles) // rows), **options)
            if lines := self._list_lines():
                self.figure_.legend(handles=lines, loc="outside lower center", ncols=3, fontsize="small", frameon=False)
        else:
            handles += self._list_lines()
            self.ax_[-1].legend(handles=handles, loc="best", ncols=-(-len(handles) // 8), **options)

    def _label_cluster(self, cluster: int) -> str:
        """Return the number of a cluster and its name, if it has one."""
        if cluster < 0:
            return "none"
        return str(cluster) if self.names is None else f"{cluster} {escape_name(self.names[cluster], 30)}"

    def _list_lines(self) -> list[Any]:
        """Return the entries of lines in the legend, for displays that draw any."""
        return []


@share_docs
class EmbeddingDisplay(EntityPanels):
    """The entities in the plane, with one panel per view; clusters have a color, a marker and a number at the median.

    Parameters
    ----------
    embeddings : mapping of str to array-like of shape (n_shown, 2)
        Positions of the entities in each view, NaN for those that lack the view.
    labels : array-like of int, shape (n_shown,)
        Clusters of the entities; -1 for none.
    n_entities : int, optional
        Number of all entities, if these are a sample.
    %(names)s

    Attributes
    ----------
    ax_ : ndarray of Axes, shape (n_views,)
        The panels.
    %(figure_)s
    points_ : dict of str to dict of int to PathCollection
        The points of each view and cluster.

    Examples
    --------
    >>> import consilience as cs
    >>> from consilience.plot import EmbeddingDisplay
    >>> views, _ = cs.datasets.make_gaussian_views(100, random_state=0)
    >>> display = EmbeddingDisplay.from_estimator(cs.MultiViewKMeans(3, random_state=0).fit(views), views)
    >>> sum(len(points.get_offsets()) for points in display.points_["view0"].values())
    100
    """

    @classmethod
    def from_estimator(
        cls,
        model: Any,
        views: Any,
        *,
        method: str = "auto",
        max_points: int = 20_000,
        random_state: int = 0,
        names: Sequence[str] | None = None,
        ax: Any = None,
    ) -> EmbeddingDisplay:
        """Draw the entities of a fitted model.

        Parameters
        ----------
        %(model)s
        %(views)s
        method : {'auto', 'pca', 'spectral', 'umap'}, default='auto'
            How positions are computed: as two principal components of the view; as those of the view's spectral
            embedding, for models with ``embeddings_``; or by UMAP of the view, which needs umap-learn. ``'auto'`` is
            ``'spectral'`` if the model has embeddings, else ``'pca'``.
        max_points : int, default=20_000
            Maximum number of entities to draw; if there are more, a random sample is drawn, as the titles say.
        random_state : int, default=0
            Random seed of the sample and of the embedding.
        %(names)s
        %(axes_returns_display)s
        """
        if method not in {"auto", *METHODS}:
            raise ValueError(f"method={method!r}: choose from 'auto', {', '.join(map(repr, METHODS))}")
        views = check_fitted_views(model, views)
        if method == "auto":
            method = "spectral" if hasattr(model, "embeddings_") else "pca"
        rows = np.arange(len(views))
        if len(views) > max_points:
            rows = np.sort(np.random.default_rng(random_state).choice(len(views), max_points, replace=False))
        embeddings = METHODS[method](model, views, rows, random_state)
        return cls(embeddings, np.asarray(model.labels_)[rows], len(views), names).plot(ax)


def _embed_by_pca(model: Any, views: Views, rows: np.ndarray, random_state: int) -> dict[str, np.ndarray]:  # noqa: ARG001
    """Compute principal components of each view."""
    shown = views[rows]
    return {name: compute_view_components(shown, name, random_state) for name in views.names}


def compute_view_components(views: Views, name: str, random_state: int) -> np.ndarray:
    """Compute two principal components; they are 0 if fewer than two entities have the view."""
    present = views.present[:, views.names.index(name)]
    if present.sum() < 2:
        return np.where(present[:, None], 0.0, np.full((len(views), 2), np.nan))
    with np.errstate(invalid="ignore", divide="ignore"):  # identical rows have no variance
        return embed(views, name, random_state)


def _embed_by_spectrum(model: Any, views: Views, rows: np.ndarray, random_state: int) -> dict[str, np.ndarray]:
    """Compute principal components of the eigenvectors that a spectral model clusters, in rows of unit length."""
    embeddings = get_fitted_attribute(model, "embeddings_")
    if unknown := [name for name in embeddings if name not in views.names]:
        raise ValueError(f"the model has a view {unknown[0]!r}, the data has {', '.join(map(repr, views.names))}")
    present = np.column_stack([views.present[rows, views.names.index(name)] for name in embeddings])
    shown = Views({name: normalize_rows(to_numpy(U)[rows]) for name, U in embeddings.items()}, present=present)
    return {name: compute_view_components(shown, name, random_state) for name in embeddings}


def _embed_by_umap(model: Any, views: Views, rows: np.ndarray, random_state: int) -> dict[str, np.ndarray]:  # noqa: ARG001
    """Compute UMAP of each view, with cosine distances for sparse views."""
    try:
        from umap import UMAP
    except ImportError as error:
        raise ImportError("method='umap' needs umap-learn: pip install 'consilience[umap]'") from error
    positions = {}
    for v, name in enumerate(views.names):
        present = views.present[rows, v]
        block = views[rows[present]][name]
        X, metric = (block, "cosine") if sp.issparse(block) else (to_numpy(block), "euclidean")
        positions[name] = np.full((len(rows), 2), np.nan)
        positions[name][present] = UMAP(metric=metric, random_state=random_state, n_jobs=1).fit_transform(X)
    return positions


Method = Callable[[Any, Views, np.ndarray, int], dict[str, np.ndarray]]
METHODS: dict[str, Method] = {"pca": _embed_by_pca, "spectral": _embed_by_spectrum, "umap": _embed_by_umap}
