"""A matrix as coloured cells with numbers in them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ._style import COLORMAP, luminance

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.image import AxesImage
    from matplotlib.text import Text

MOST_NUMBERS = 20  # rows and columns, beyond which numbers in cells cannot be read
MOST_NAMES = 40  # of rows or columns; of more only some are named
WIDE_CHARACTER = 0.085  # inches
AROUND = 2.8, 1.8  # inches for names, title and scale


def draw_heatmap(ax: Axes, values: np.ndarray, rows: Sequence[str], columns: Sequence[str], **limits: Any) -> AxesImage:
    """Draw cells and the names of their rows and columns; NaN is hatched. Numbers are put in by `number_cells`."""
    from matplotlib import colormaps

    image = ax.imshow(values, cmap=colormaps[COLORMAP].with_extremes(bad="none"), aspect="auto", **limits)
    ax.patch.set(facecolor="#F4F4F4", edgecolor="#D8D8D8", hatch="////")  # seen through cells without a value
    room = (heatmap_size(*values.shape)[0] - AROUND[0]) / len(columns)
    tilted = max(map(len, columns)) * WIDE_CHARACTER > room
    down, across = _named(len(rows)), _named(len(columns))
    ax.set_yticks(down, [rows[i] for i in down])
    turn: dict[str, Any] = {"rotation": 40, "ha": "right", "rotation_mode": "anchor"} if tilted else {}
    ax.set_xticks(across, [columns[i] for i in across], **turn)
    ax.tick_params(length=0)
    for side in ax.spines.values():
        side.set_color("#BBBBBB")
    ax.set_xticks(np.arange(1, len(columns)) - 0.5, minor=True)
    ax.set_yticks(np.arange(1, len(rows)) - 0.5, minor=True)
    ax.grid(which="minor", color="white", linewidth=1 if max(values.shape) <= MOST_NUMBERS else 0.3)
    ax.tick_params(which="minor", length=0)
    return image


def label_cells(ax: Axes, image: AxesImage, texts: Sequence[Sequence[str]]) -> list[Text]:
    """Write into each cell, dark on light and light on dark; into none where there are too many to be read."""
    n = max(len(texts), len(texts[0]) if len(texts) else 0)
    if n > MOST_NUMBERS:
        return []
    size = 9 if n <= 8 else 7 if n <= 14 else 6
    values = np.ma.filled(np.ma.masked_invalid(image.get_array()), np.nan)  # type: ignore[arg-type]
    return [
        ax.text(c, r, text, ha="center", va="center", size=size, color=_ink(image, values[r, c]))
        for r, row in enumerate(texts)
        for c, text in enumerate(row)
        if text
    ]


def _ink(image: AxesImage, value: float) -> str:
    """The colour that can be read on a cell."""
    dark = not np.isnan(value) and luminance(image.to_rgba(np.array([value]))[0]) < 55
    return "white" if dark else "black"


def _named(n: int) -> np.ndarray:
    """Positions that are named, not too many."""
    return np.arange(0, n, -(-n // MOST_NAMES) if n else 1)


def heatmap_size(n_rows: int, n_columns: int) -> tuple[float, float]:
    """Inches that a map of so many cells wants."""
    width, height = (min(8.0, max(2.2, inches)) for inches in (0.45 * n_columns, 0.4 * n_rows))
    return AROUND[0] + width, AROUND[1] + height
