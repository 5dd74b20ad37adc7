"""Heat maps with numbers in their cells."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ._style import COLORMAP, luminance

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.image import AxesImage
    from matplotlib.text import Text

MAX_NUMBERED = 20  # rows and columns; with more, numbers in cells would be too small
MAX_NAMES = 40  # of rows or columns; if there are more, only some are named
CHARACTER_WIDTH = 0.085  # inches
MARGINS = 2.8, 1.8  # inches for names, title and scale


def draw_heatmap(ax: Axes, values: np.ndarray, rows: Sequence[str], columns: Sequence[str], **limits: Any) -> AxesImage:
    """Draw cells and the names of their rows and columns; NaN is hatched. `label_cells` adds numbers."""
    from matplotlib import colormaps

    image = ax.imshow(values, cmap=colormaps[COLORMAP].with_extremes(bad="none"), aspect="auto", **limits)
    ax.patch.set(facecolor="#F4F4F4", edgecolor="#D8D8D8", hatch="////")  # visible in cells without a value
    room = (heatmap_size(*values.shape)[0] - MARGINS[0]) / len(columns)
    is_crowded = max(map(len, columns)) * CHARACTER_WIDTH > room
    row_ticks, column_ticks = (range(0, n, -(-n // MAX_NAMES) if n else 1) for n in (len(rows), len(columns)))
    ax.set_yticks(row_ticks, [rows[i] for i in row_ticks])
    rotation: dict[str, Any] = {"rotation": 40, "ha": "right", "rotation_mode": "anchor"} if is_crowded else {}
    ax.set_xticks(column_ticks, [columns[i] for i in column_ticks], **rotation)
    ax.tick_params(length=0)
    for side in ax.spines.values():
        side.set_color("#BBBBBB")
    ax.set_xticks(np.arange(1, len(columns)) - 0.5, minor=True)
    ax.set_yticks(np.arange(1, len(rows)) - 0.5, minor=True)
    ax.grid(which="minor", color="white", linewidth=1 if max(values.shape) <= MAX_NUMBERED else 0.3)
    ax.tick_params(which="minor", length=0)
    return image


def label_cells(ax: Axes, image: AxesImage, texts: Sequence[Sequence[str]]) -> list[Text]:
    """Write into each cell, dark on light and light on dark, unless there are too many cells."""
    n = max(len(texts), len(texts[0]) if len(texts) else 0)
    if n > MAX_NUMBERED:
        return []
    size = 9 if n <= 8 else 7 if n <= 14 else 6
    values = np.ma.filled(np.ma.masked_invalid(image.get_array()), np.nan)  # type: ignore[arg-type]
    return [
        ax.text(c, r, text, ha="center", va="center", size=size, color=_choose_ink(image, values[r, c]))
        for r, row in enumerate(texts)
        for c, text in enumerate(row)
        if text
    ]


def _choose_ink(image: AxesImage, value: float) -> str:
    """Choose the text color that is legible on a cell."""
    is_dark = not np.isnan(value) and luminance(image.to_rgba(np.array([value]))[0]) < 55
    return "white" if is_dark else "black"


def heatmap_size(n_rows: int, n_columns: int) -> tuple[float, float]:
    """Size in inches of a heat map with this many cells."""
    width, height = (min(8.0, max(2.2, inches)) for inches in (0.45 * n_columns, 0.4 * n_rows))
    return MARGINS[0] + width, MARGINS[1] + height
