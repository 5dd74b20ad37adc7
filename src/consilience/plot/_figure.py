"""Axes, styles, texts and heat maps that the displays share."""

from __future__ import annotations

import textwrap
import unicodedata
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from .._numbers import widen_range

if TYPE_CHECKING:
    from matplotlib.axes import Axes as Axes
    from matplotlib.figure import Figure
else:
    Axes = Any  # for annotations: matplotlib is not imported before a figure is drawn


def require_matplotlib() -> None:
    """Raise an error that names the package to install if matplotlib is missing."""
    try:
        import matplotlib as mpl  # noqa: F401
    except ImportError as error:
        raise ImportError("consilience.plot needs matplotlib: pip install 'consilience[plot]'") from error


def get_axes(ax: Any, size: tuple[float, float]) -> tuple[Figure, Axes]:
    """Return the axes of the user, or those of a new figure."""
    figure, grid = get_axes_grid(ax, (1, 1), size)
    return figure, grid[0, 0]


def get_axes_grid(
    ax: Any,
    shape: tuple[int, int],
    size: tuple[float, float],
    *,
    sharex: Any = False,
    widths: Sequence[float] | None = None,
    heights: Sequence[float] | None = None,
) -> tuple[Figure, Any]:
    """Return an array of axes: those of the user, parts of the one axes of the user, or those of a new figure."""
    require_matplotlib()
    from matplotlib.axes import Axes

    if ax is None:
        import matplotlib.pyplot as plt

        ratios: dict[str, Any] = {"width_ratios": widths, "height_ratios": heights}
        return plt.subplots(*shape, figsize=size, layout="constrained", squeeze=False, sharex=sharex, **ratios)
    n = shape[0] * shape[1]
    if isinstance(ax, Axes):
        figure: Any = ax.figure
        if n == 1:
            return figure, np.array([[ax]])
        spec = ax.get_subplotspec()
        if spec is None:
            raise ValueError(
                f"{n} axes are needed, but the given one is not part of a grid that could be divided: give a list of "
                "axes, or one made by subplots"
            )
        ax.set_axis_off()
        return figure, spec.subgridspec(*shape, width_ratios=widths, height_ratios=heights).subplots(
            squeeze=False, sharex=sharex
        )
    axes = np.asarray(ax, dtype=object).ravel()
    wrong = next((item for item in axes if not isinstance(item, Axes)), None)
    if wrong is not None:
        raise TypeError(
            f"ax must be matplotlib axes or a sequence of them, got {type(wrong).__name__}: use plt.subplots()"
        )
    if len(axes) != n:
        raise ValueError(f"{n} axes are needed ({shape[0]} rows of {shape[1]}), got {len(axes)}: give {n}, or one")
    return axes[0].figure, axes.reshape(shape)


def limit_heights(ax: Axes) -> None:
    """Widen the vertical axis of lines, so that changes that are small beside the values look flat."""
    heights = np.concatenate([np.asarray(line.get_ydata(), dtype=np.float64) for line in ax.get_lines()])
    heights = heights[np.isfinite(heights)]
    if len(heights):
        bottom, top = ax.get_ylim()  # with matplotlib's margins
        low, high = widen_range(float(heights.min()), float(heights.max()))
        ax.set_ylim(min(bottom, low), max(top, high))


# Okabe and Ito's hues, some of them darker, so that their grays are at least 12 of 100 apart; neighbors contrast
COLORS = ("#00468B", "#E69F00", "#111111", "#009E73", "#B84300", "#F0E442")
LINE_COLORS = COLORS[:-1]  # without yellow, which is hard to see on white
MARKERS = ("o", "s", "^", "D", "v", "P", "X", "*", "<", ">", "p")
DASHES = ("-", "--", ":", "-.")
NEUTRAL_COLOR = "#888888"  # of entities without a cluster and merges without a view
COLORMAP = "Blues"  # low values are light, also in gray


def marker_style(i: int) -> tuple[str, str]:
    """Color and marker of the i-th cluster; they repeat after 66, because 6 and 11 have no common factor."""
    return (NEUTRAL_COLOR, ".") if i < 0 else (COLORS[i % len(COLORS)], MARKERS[i % len(MARKERS)])


def line_style(i: int) -> tuple[str, str]:
    """Color and dashes of the i-th line; they repeat after 20."""
    return LINE_COLORS[i % len(LINE_COLORS)], DASHES[i % len(DASHES)]


USUAL_FONT_SIZE = 10.0  # matplotlib's default
MAX_VECTOR_POINTS = 600  # with more, points are drawn as pixels and without edges, so that files stay small


def scale_markers(n_points: int) -> float:
    """Area of a marker in square points, if this many are drawn; smaller if the texts are."""
    from matplotlib import rcParams

    area = np.clip(40 * (100 / max(n_points, 1)) ** 0.5, 2, 40)
    return max(1.0, float(area) * (rcParams["font.size"] / USUAL_FONT_SIZE) ** 2)


def luminance(color: Any) -> float:
    """Brightness of a color (red, green, blue, ... from 0 to 1) in gray, from 0 to 100 (L*)."""
    red, green, blue = (part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in color[:3])
    y = 0.2126 * red + 0.7152 * green + 0.0722 * blue
    return 116 * y ** (1 / 3) - 16 if y > 0.008856 else 903.3 * y


MAX_WIDTH = 24  # characters of a name that are shown
NAME_WIDTH = 28  # characters of the name of a cluster beside bars and curves
TOFU = "□"  # for characters that the font lacks, for which matplotlib would warn when the figure is saved
REPLACEMENTS = {"Cc": " ", "Zl": " ", "Zp": " ", "Cf": "", "Cs": TOFU}  # control, format and surrogate characters


def escape_name(text: Any, width: int = MAX_WIDTH) -> str:
    r"""Convert a name to one line that matplotlib draws literally, without formulas and characters that the font lacks.

    A long name is shortened in the middle. To draw the characters of a script, set matplotlib's ``font.family`` to
    fonts that have it.

    Examples
    --------
    >>> escape_name("price in $ or $x_{"), escape_name("one\ntwo"), escape_name("a" * 30 + "b" * 30, width=9)
    ('price in \\$ or \\$x_{', 'one two', 'aaaa…bbbb')
    """
    visible = (REPLACEMENTS.get(unicodedata.category(character), character) for character in str(text))
    line = " ".join("".join(visible).split()) or "(blank)"
    if len(line) > width:
        line = line[: width // 2] + "…" + line[len(line) - (width - 1) // 2 :]
    require_matplotlib()
    from matplotlib.font_manager import FontProperties, findfont, get_font

    families = FontProperties().get_family()
    fonts = [get_font(findfont(FontProperties(family=[family]))) for family in families]
    tofu = TOFU if _has_character(fonts, TOFU) else "?"
    line = "".join(c if _has_character(fonts, c) else tofu for c in line)
    return line.replace("$", r"\$")


def _has_character(fonts: list[Any], character: str) -> bool:
    return any(font.get_char_index(ord(character)) for font in fonts)


def shorten_names(names: Sequence[str], width: int = MAX_WIDTH) -> list[str]:
    """Shorten names to their first terms, such that they still differ, and convert them as `escape_name` does.

    Examples
    --------
    >>> shorten_names(["knife, santoku, steel", "knife, bread", "pan"], width=15)
    ['knife, santoku', 'knife, bread', 'pan']
    >>> shorten_names(["knife, santoku", "knife, serrated"], width=9)
    ['knif…toku', 'knif…ated']
    """
    short = []
    for name in names:
        terms = str(name).split(", ")
        while len(terms) > 1 and len(", ".join(terms)) > width:
            terms.pop()
        short.append(", ".join(terms))
    escaped = [
        escape_name(head if short.count(head) == 1 else name, width) for head, name in zip(short, names, strict=True)
    ]
    return [
        text if escaped.count(text) == 1 else f"{escape_name(name, width - 5)} ({c})"
        for c, (text, name) in enumerate(zip(escaped, names, strict=True))
    ]


def break_at_commas(name: str, width: int) -> str:
    """Break a name into lines after its terms, and within long terms between words."""
    lines = [""]
    for term in name.split(", "):
        line = f"{lines[-1]}, {term}" if lines[-1] else term
        if len(line) <= width or not lines[-1]:
            lines[-1] = line
        else:
            lines[-1] += ","
            lines.append(term)
    return "\n".join(wrap_text(line, width) for line in lines)


def wrap_text(text: str, width: int) -> str:
    """Break a text into lines, but not within words."""
    return "\n".join(textwrap.wrap(text, width, break_long_words=False))


def pluralize(n: int, noun: str) -> str:
    """Format a number with a noun: ``1 entity``, ``2 entities``, ``1,000 clusters``."""
    plural = noun[:-1] + "ies" if noun.endswith("y") else noun + "s"
    return f"{n:,} {noun if n == 1 else plural}"


MAX_NUMBERED = 20  # rows and columns; with more, numbers in cells would be too small
MAX_NAMES = 40  # of rows or columns; if there are more, only some are named
CHARACTER_WIDTH = 0.085  # inches
MARGINS = 2.8, 1.8  # inches for names, title and scale


def draw_heatmap(ax: Axes, values: np.ndarray, rows: Sequence[str], columns: Sequence[str], **limits: Any) -> Any:
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


def label_cells(ax: Axes, image: Any, texts: Sequence[Sequence[str]]) -> list[Any]:
    """Write into each cell, dark on light and light on dark, unless there are too many cells."""
    n = max(len(texts), len(texts[0]) if len(texts) else 0)
    if n > MAX_NUMBERED:
        return []
    size = 9 if n <= 8 else 7 if n <= 14 else 6
    values = np.ma.filled(np.ma.masked_invalid(image.get_array()), np.nan)
    is_dark = [[not np.isnan(x) and luminance(image.to_rgba(np.array([x]))[0]) < 55 for x in row] for row in values]
    return [
        ax.text(c, r, text, ha="center", va="center", size=size, color="white" if is_dark[r][c] else "black")
        for r, row in enumerate(texts)
        for c, text in enumerate(row)
        if text
    ]


def heatmap_size(n_rows: int, n_columns: int) -> tuple[float, float]:
    """Size in inches of a heat map with this many cells."""
    width, height = (min(8.0, max(2.2, inches)) for inches in (0.45 * n_columns, 0.4 * n_rows))
    return MARGINS[0] + width, MARGINS[1] + height
