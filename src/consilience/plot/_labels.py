"""Names on a map, moved apart whenever the figure is drawn; displays import this module when they draw."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.textpath import TextPath
from scipy.ndimage import maximum_filter

CELL = 2.0  # points: side of the cells in which points are counted
PADDING = 3.0  # points between a text and the edge of its box
HINTING = 1.05  # ratio by which texts may be wider as pixels, whose letters begin at whole pixels
RINGS = (0.0, 0.4, 0.8, 1.3, 2.0, 3.0)  # distances of a box from its anchor to try, in heights of a line
N_ANGLES = 24
COVER_COST = 4.0  # heights of a line that a box is moved in order to cover no points
NEAR = 0.8  # heights of a line: farther boxes are connected with their anchors by a line
MAX_COVERED = 0.25  # share of the map that all boxes may cover, but
N_FREE = 12  # boxes are placed wherever there is room


class SpreadLabels(Artist):
    """Moves labels to places where they do not overlap, and hides those for which there is no room.

    Parameters
    ----------
    ax : Axes
        The map.
    points : ndarray of shape (n_points, 2)
        What labels should not cover, in coordinates of the data.
    radius : float
        Radius of the markers of these points, in points.
    labels : sequence of Annotation
        The labels, the most important first.
    corner : Annotation
        A text in the lower left corner that labels leave free.
    describe : callable
        Takes the number of visible labels, and returns the text in the corner.
    """

    def __init__(
        self,
        ax: Axes,
        points: np.ndarray,
        radius: float,
        labels: Sequence[Any],
        corner: Any,
        describe: Callable[[int], str],
    ) -> None:
        super().__init__()
        self.axes = ax
        self.points, self.radius, self.labels = points, radius, list(labels)
        self.corner, self.describe = corner, describe
        self.boxes = np.array([measure_text(label) for label in self.labels]).reshape(-1, 2)
        self.set_zorder(2.5)  # before the labels are drawn
        self.set_in_layout(False)
        ax.add_artist(self)

    def draw(self, renderer: Any) -> None:  # noqa: ARG002
        """Place the labels; matplotlib draws them later, because of their order."""
        ax: Any = self.axes
        bounds = ax.get_window_extent()
        points_per_pixel = 72 / ax.figure.dpi
        origin, room = bounds.min, np.array(bounds.size) * points_per_pixel

        def convert(positions: np.ndarray) -> np.ndarray:
            return (ax.transData.transform(positions) - origin) * points_per_pixel

        self.corner.set_text(self.describe(0))
        reserved = np.array([0.0, 0.0, *measure_text(self.corner)])
        anchors = convert(np.array([label.xy for label in self.labels], dtype=np.float64).reshape(-1, 2))
        line = self.corner.get_fontsize() * 1.2
        covered = sum_occupied_cells(convert(self.points), room, self.radius)
        centers = place_boxes(anchors, self.boxes, covered, room, reserved, line)
        for label, anchor, box, center in zip(self.labels, anchors, self.boxes, centers, strict=True):
            is_placed = bool(np.isfinite(center).all())
            label.set_visible(is_placed)
            if is_placed:
                label.set_position(tuple(center - anchor))
                outside = np.maximum(np.abs(center - anchor) - box / 2, 0)
                label.arrow_patch.set_visible(bool(np.hypot(*outside) > NEAR * line))
        self.corner.set_text(self.describe(sum(label.get_visible() for label in self.labels)))


def measure_text(label: Any) -> tuple[float, float]:
    """Return width and height of a text with its box in points, which do not depend on the format of the file."""
    size = label.get_fontsize()
    lines = label.get_text().split("\n")
    if lines == [""]:
        return 0.0, 0.0
    widths = [TextPath((0, 0), line, size=size, prop=label.get_fontproperties()).get_extents().width for line in lines]
    return HINTING * max(widths) + 2 * PADDING, len(lines) * size * 1.2 + 2 * PADDING


def place_boxes(
    anchors: np.ndarray, boxes: np.ndarray, occupied: np.ndarray, room: np.ndarray, reserved: np.ndarray, line: float
) -> np.ndarray:
    """Place boxes near their anchors, one after the other, where they overlap no other box and cover few points.

    Parameters
    ----------
    anchors, boxes : ndarray of shape (n_boxes, 2)
        Positions to be near to, and widths and heights.
    occupied : ndarray of int
        From `sum_occupied_cells`: what should not be covered.
    room : ndarray of shape (2,)
        Width and height of the map.
    reserved : ndarray of shape (4,)
        Left, lower, right and upper bound of a box that stays free.
    line : float
        Height of a line of text.

    Returns
    -------
    ndarray of shape (n_boxes, 2)
        Centers of the boxes, NaN for boxes for which there is no place.
    """
    angles = np.linspace(0, 2 * np.pi, N_ANGLES, endpoint=False)
    directions = np.column_stack([np.cos(angles), np.sin(angles)])
    placed = [reserved]
    centers = np.full((len(boxes), 2), np.nan)
    covered = 0.0
    for i, (anchor, box) in enumerate(zip(anchors, boxes, strict=True)):
        if i >= N_FREE and covered + box.prod() > MAX_COVERED * room.prod():
            continue
        rings = np.repeat(RINGS, N_ANGLES)
        candidates = anchor + np.tile(directions, (len(RINGS), 1)) * (box / 2 + rings[:, None] * line)
        candidates = np.vstack([anchor, candidates])
        distances = np.concatenate([[0.0], rings])
        bounds = np.hstack([candidates - box / 2, candidates + box / 2])
        others = np.array(placed)[:, None]
        is_free = (bounds[:, :2] >= 0).all(axis=1) & (bounds[:, 2:] <= room).all(axis=1)
        is_free &= ~((bounds[:, :2] < others[..., 2:]) & (bounds[:, 2:] > others[..., :2])).all(axis=2).any(axis=0)
        if not is_free.any():
            continue
        cells = np.clip(np.round(bounds / CELL).astype(int), 0, [*occupied.shape, *occupied.shape] - np.array(1))
        left, low, right, high = cells.T
        counts = occupied[right, high] - occupied[left, high] - occupied[right, low] + occupied[left, low]
        costs = distances + COVER_COST * counts / np.maximum((right - left) * (high - low), 1)
        best = int(np.where(is_free, costs, np.inf).argmin())
        centers[i] = candidates[best]
        placed.append(bounds[best])
        covered += box.prod()
    return centers


def sum_occupied_cells(points: np.ndarray, room: np.ndarray, radius: float) -> np.ndarray:
    """Count the cells of the map that markers cover, below and left of each corner of the cells."""
    shape = np.maximum(np.ceil(room / CELL).astype(int), 1)
    cells = np.floor(points / CELL).astype(int)
    cells = cells[((cells >= 0) & (cells < shape)).all(axis=1)]
    is_occupied = np.zeros(shape, dtype=np.int64)
    is_occupied[cells[:, 0], cells[:, 1]] = 1
    is_occupied = maximum_filter(is_occupied, size=2 * round(radius / CELL) + 1)
    return np.pad(is_occupied.cumsum(axis=0).cumsum(axis=1), ((1, 0), (1, 0)))
