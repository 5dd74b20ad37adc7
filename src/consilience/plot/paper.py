"""Figures for papers: several displays with small texts in one figure, and files with the same bytes each time."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ._figure import Axes, require_matplotlib

if TYPE_CHECKING:
    from matplotlib.figure import Figure

MM_PER_INCH = 25.4
MAP_WIDTH = 1.4  # of the left column, relative to the right one
# The smallest texts of displays are "small", 0.833 of this size: above 6 points, which journals demand.
PAPER_SETTINGS = {
    "font.size": 7.5,
    "axes.linewidth": 0.6,
    "hatch.linewidth": 0.6,
    "xtick.major.width": 0.6,
    "xtick.major.size": 2.5,
    "ytick.major.width": 0.6,
    "ytick.major.size": 2.5,
    "figure.constrained_layout.w_pad": 0.03,
    "figure.constrained_layout.h_pad": 0.03,
}
# what is left out of the metadata of each format, because it changes from run to run or from machine to machine
METADATA: dict[str, dict[str, None]] = {
    ".pdf": {"CreationDate": None, "Creator": None, "Producer": None},
    ".svg": {"Date": None, "Creator": None},
    ".png": {"Software": None},
}


def compose_figure(
    draw: Mapping[str, Callable[[Axes], Any]],
    mosaic: Sequence[str],
    heights: Sequence[float],
    width: float,
    *,
    is_composed: bool = True,
) -> tuple[Figure, dict[str, Any]]:
    """Draw displays into panels of one figure.

    Parameters
    ----------
    draw : mapping of str to callable
        For each letter of the mosaic a function that draws into axes, and returns the display.
    mosaic : sequence of str
        A letter per column for each row of panels, as matplotlib's ``subplot_mosaic`` takes it: ``["ab", "ac"]``.
    heights : sequence of float
        Height of each row, in mm.
    width : float
        Width of the figure, in mm.
    is_composed : bool, default=True
        Whether panels have letters, and the left column is wider.

    Returns
    -------
    Figure, dict of str to display
        The figure, whose layout no longer changes, and the displays.
    """
    require_matplotlib()
    import matplotlib as mpl
    from matplotlib.figure import Figure

    settings: dict[Any, Any] = PAPER_SETTINGS
    with mpl.rc_context(settings):
        size = width / MM_PER_INCH, sum(heights) / MM_PER_INCH
        figure = Figure(figsize=size, layout="constrained")
        widths = [MAP_WIDTH, 1.0] if is_composed and len(mosaic[0]) == 2 else [1.0] * len(mosaic[0])
        axes: dict[str, Any] = figure.subplot_mosaic(
            [list(row) for row in mosaic], height_ratios=list(heights), width_ratios=widths
        )
        displays = {letter: draw[letter](axes[letter]) for letter in draw}
        if is_composed:
            for display in displays.values():
                np.ravel(display.ax_)[0].set_title(" ", loc="left", fontsize="large")  # room for the letter
        figure.draw_without_rendering()  # arranges the panels and places the names
        figure.set_layout_engine("none")
        if is_composed:
            for letter, display in displays.items():
                _write_letter(figure, letter, np.ravel(display.ax_))
    return figure, displays


def _write_letter(figure: Figure, letter: str, axes: Any) -> None:
    """Write a letter over the upper left corner of a panel and of the names beside it."""
    from matplotlib.transforms import ScaledTranslation

    boxes = [panel.get_tightbbox(for_layout_only=True) for panel in axes]
    corner = min(box.x0 for box in boxes), axes[0].get_window_extent().y1
    x, y = figure.transFigure.inverted().transform(corner)
    above = figure.transFigure + ScaledTranslation(0, 3 / 72, figure.dpi_scale_trans)
    figure.text(x, y, letter, transform=above, fontsize="large", fontweight="bold")


def check_figure_file(path: Path) -> None:
    """Refuse a file whose ending names no format of figures, and raise an error if matplotlib is missing."""
    if path.suffix.lower() not in METADATA:
        shown = f"ends with {path.suffix!r}" if path.suffix else "has no ending"
        raise ValueError(f"{path} {shown}: a figure ends with {', '.join(METADATA)}")
    require_matplotlib()


def save_figure(figure: Figure, path: Path, dpi: float = 150) -> None:
    """Write a figure to a PDF, SVG or PNG file with the same bytes each time; texts stay texts."""
    import matplotlib as mpl

    # by default, an SVG file contains random names, and a PDF file fonts that some journals refuse
    settings: dict[Any, Any] = {"svg.hashsalt": "consilience", "svg.fonttype": "none", "pdf.fonttype": 42}
    suffix = path.suffix.lower()
    with mpl.rc_context(settings):
        figure.savefig(path, format=suffix[1:], dpi=dpi, metadata=METADATA[suffix])
