"""The entities on a map of all views, with the names of their clusters."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..explain import OriginalColumn, joint_embedding, joint_map, name_clusters
from ._docs import share_docs
from ._figure import (
    COLORS,
    MAX_VECTOR_POINTS,
    NEUTRAL_COLOR,
    Axes,
    break_at_commas,
    escape_name,
    get_axes,
    marker_style,
    pluralize,
    scale_markers,
    shorten_names,
)
from ._model import check_fitted_views, complete_names, find_column

COLOR_SCALE, COLOR_RANGE = "viridis_r", (2, 98)  # percentiles between which colors differ
NUMERIC_KINDS = ("number", "date")
LABEL_WIDTH = 20  # characters per line of a label
N_LARGE = 20_000  # points; with more, they become transparent
MIN_OPACITY = 0.15
MAX_LABELS = 100  # largest clusters that are tried; there is never room for more


@share_docs
class JointMapDisplay:
    """The entities on one map of all views; each cluster has a color, a marker and its name.

    Names never overlap: they are moved when the figure is drawn, and if there is not enough room, the largest clusters
    are named and a note says how many. Many entities are drawn as pixels in random order, so that no cluster hides
    another, and transparent if there are more than 20,000, so that dense places look dense.

    Parameters
    ----------
    layout : array-like of shape (n_entities, 2)
        Positions, such as `consilience.explain.joint_map` returns; NaN for entities that are not drawn.
    labels : array-like of int, shape (n_entities,)
        Clusters of the entities; -1 for none.
    %(names)s
    color : OriginalColumn, optional
        Column that colors the entities, in place of the clusters: a color scale for numbers and dates, one color for
        each of the six most frequent categories.

    Attributes
    ----------
    %(ax_)s
    points_ : list of PathCollection
        The entities, by marker.
    labels_ : dict of int to Annotation
        The names of up to 100 clusters, the largest first; those without room are invisible after drawing.

    Examples
    --------
    >>> import consilience as cs
    >>> from consilience.plot import JointMapDisplay
    >>> views, _ = cs.datasets.make_gaussian_views(60, n_clusters=3, separation=8, random_state=0)
    >>> display = JointMapDisplay.from_estimator(cs.MultiViewKMeans(3, random_state=0).fit(views), views)
    >>> len(display.labels_)
    3
    """

    def __init__(
        self, layout: Any, labels: Any, names: Sequence[str] | None = None, *, color: OriginalColumn | None = None
    ) -> None:
        self.layout, self.labels, self.color = np.asarray(layout, dtype=np.float64), np.asarray(labels), color
        n_entities = len(self.labels)
        if self.layout.shape != (n_entities, 2):
            raise ValueError(
                f"layout must have shape ({n_entities}, 2), one position per label, got {self.layout.shape}"
            )
        n_clusters = int(self.labels.max(initial=-1)) + 1
        self.names = complete_names(names, n_clusters)
        if color is not None and len(color.values) != n_entities:
            raise ValueError(f"column {color.name!r} must have a cell per label, {n_entities}, got {len(color.values)}")

    def plot(self, ax: Axes | None = None, *, clusters: Sequence[int] | None = None) -> JointMapDisplay:
        """Draw the map.

        Parameters
        ----------
        %(ax)s
        clusters : sequence of int, optional
            Clusters to name; by default all for which there is room.

        %(returns_self)s
        """
        self.figure_, self.ax_ = get_axes(ax, (6.4, 5.6))
        is_drawn = np.asarray(np.isfinite(self.layout).all(axis=1))
        rows = np.flatnonzero(is_drawn)
        if len(rows) > MAX_VECTOR_POINTS:
            rows = np.random.default_rng(0).permutation(rows)
        self.points_ = self._draw_points(rows)
        self.ax_.set(xticks=[], yticks=[], aspect="equal", adjustable="datalim")
        for side in self.ax_.spines.values():
            side.set_color("#BBBBBB")
        self._draw_labels(is_drawn, clusters)
        return self

    def _draw_points(self, rows: np.ndarray) -> list[Any]:
        """Draw the entities: by marker if there are few, and otherwise as pixels."""
        styles = [marker_style(c) for c in range(-1, len(self.names))]
        colors, markers = (np.array(parts)[self.labels[rows] + 1] for parts in zip(*styles, strict=True))
        if self.color is not None:
            colors = self._color_by_column(self.color, rows)
        style: dict[str, Any] = {"linewidths": 0.4, "edgecolors": "black"}
        if len(rows) > MAX_VECTOR_POINTS:
            opacity = float(np.clip(N_LARGE / len(rows), MIN_OPACITY, 1))
            markers, style = np.full(len(rows), "o"), {"linewidths": 0, "rasterized": True, "alpha": opacity}
        size = scale_markers(len(rows))
        points = []
        for marker in dict.fromkeys(markers.tolist()):
            is_marker = markers == marker
            x, y = self.layout[rows[is_marker]].T
            points.append(self.ax_.scatter(x, y, s=size, c=colors[is_marker], marker=marker, **style))
        return points

    def _color_by_column(self, column: OriginalColumn, rows: np.ndarray) -> np.ndarray:
        """Return the color of each entity by a column, and draw the scale or legend; empty cells are gray."""
        from matplotlib import colormaps
        from matplotlib.cm import ScalarMappable
        from matplotlib.colors import Normalize, to_rgba, to_rgba_array
        from matplotlib.dates import AutoDateLocator, ConciseDateFormatter
        from matplotlib.lines import Line2D

        colors = np.tile(to_rgba(NEUTRAL_COLOR), (len(rows), 1))
        name = escape_name(f"{column.name} ({column.unit})" if column.unit else column.name)
        if column.kind in NUMERIC_KINDS:
            values = np.asarray(column.values, dtype=np.float64)[rows]
            is_filled = np.isfinite(values)
            if not is_filled.any():
                raise ValueError(f"column {column.name!r} has no values to color by: choose another")
            low, high = np.percentile(values[is_filled], COLOR_RANGE)
            scale = ScalarMappable(Normalize(low, high), colormaps[COLOR_SCALE])
            colors[is_filled] = scale.to_rgba(values[is_filled])
            bar = self.figure_.colorbar(scale, ax=self.ax_, label=name, extend="both", shrink=0.6, aspect=30)
            if column.kind == "date":
                locator = AutoDateLocator()
                bar.ax.yaxis.set_major_locator(locator)
                bar.ax.yaxis.set_major_formatter(ConciseDateFormatter(locator))
            return colors
        cells = np.array(["" if cell is None else str(cell) for cell in column.values], dtype=object)[rows]
        categories, counts = np.unique(cells[cells != ""], return_counts=True)
        frequent = categories[np.argsort(-counts, kind="stable")][: len(COLORS)].tolist()
        for category, color in zip(frequent, to_rgba_array(COLORS), strict=False):
            colors[cells == category] = color
        entries = [(escape_name(category), color) for category, color in zip(frequent, COLORS, strict=False)]
        if not np.isin(cells, frequent).all():
            entries.append(("empty" if len(categories) == len(frequent) else "other", NEUTRAL_COLOR))
        handles = [
            Line2D([], [], color=color, label=entry, linestyle="", marker="o", mec="black", mew=0.4)
            for entry, color in entries
        ]
        self.ax_.legend(
            handles=handles, title=name, loc="upper left", bbox_to_anchor=(1, 1), fontsize="small", frameon=False
        )
        return colors

    def _draw_labels(self, is_drawn: np.ndarray, named: Sequence[int] | None) -> None:
        """Write the names, the largest clusters first, and a note about what is not shown."""
        from ._labels import SpreadLabels

        labels, points = self.labels[is_drawn], self.layout[is_drawn]
        clusters, sizes = np.unique(labels[labels >= 0], return_counts=True)
        by_size = clusters[np.argsort(-sizes, kind="stable")].tolist()
        names = shorten_names(self.names, 2 * LABEL_WIDTH)
        self.labels_ = {}
        for c in [c for c in by_size if named is None or c in named][:MAX_LABELS]:
            members = points[labels == c]
            middle = members[((members - np.median(members, axis=0)) ** 2).sum(axis=1).argmin()]
            edge = "#666666" if self.color is not None else marker_style(c)[0]
            self.labels_[c] = self.ax_.annotate(
                break_at_commas(names[c], LABEL_WIDTH),
                middle,
                xytext=(0, 0),
                textcoords="offset points",
                ha="center",
                va="center",
                fontsize="small",
                linespacing=1.1,
                bbox={"boxstyle": "round,pad=0.2", "facecolor": "white", "edgecolor": edge, "lw": 0.7, "alpha": 0.85},
                arrowprops={"arrowstyle": "-", "color": "#333333", "lw": 0.6, "shrinkA": 0, "shrinkB": 0},
                zorder=4,
            )
            self.labels_[c].set_in_layout(False)
        corner = self.ax_.annotate(
            "", (0, 0), (3, 3), "axes fraction", "offset points", fontsize="small", color="#444444", zorder=4
        )
        corner.set_in_layout(False)
        n_outliers = int((labels < 0).sum())

        def describe(n_visible: int) -> str:
            notes = [] if n_visible == len(clusters) else [f"{n_visible} of {pluralize(len(clusters), 'group')} named"]
            notes += [f"{n_outliers:,} in no group"] if n_outliers else []
            return "; ".join(notes)

        radius = np.sqrt(scale_markers(len(points))) / 2
        SpreadLabels(self.ax_, points, radius, list(self.labels_.values()), corner, describe)

    @classmethod
    def from_estimator(
        cls, model: Any, views: Any, *, random_state: int = 0, ax: Axes | None = None
    ) -> JointMapDisplay:
        """Draw the entities of a fitted model, with names from what marks the clusters.

        Parameters
        ----------
        %(model)s
        %(views)s
        random_state : int, default=0
            Random seed of the map.
        %(ax_returns_display)s
        """
        views = check_fitted_views(model, views)
        layout = joint_map(joint_embedding(views, random_state=random_state), random_state=random_state)
        return cls(layout, model.labels_, name_clusters(model.labels_, views)).plot(ax)

    @classmethod
    def from_result(
        cls, result: Any, *, color: str | None = None, clusters: Sequence[int] | None = None, ax: Axes | None = None
    ) -> JointMapDisplay:
        """Draw the map of a result of `consilience.cluster`.

        Parameters
        ----------
        %(result)s
        color : str, optional
            Name of a column of the data that colors the entities; by default they have the colors of their clusters.
        clusters : sequence of int, optional
            Clusters to name; by default all for which there is room.
        %(ax_returns_display)s
        """
        column = None if color is None else find_column(result.columns, color)
        layout = result.map
        layout = layout[np.isfinite(layout).all(axis=1)]  # of rows with data
        return cls(layout, result.model.labels_, result.names, color=column).plot(ax, clusters=clusters)
