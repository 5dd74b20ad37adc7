"""Colors, markers and lines that can be told apart in print, in gray and by color-blind readers."""

from __future__ import annotations

from typing import Any

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


def luminance(color: Any) -> float:
    """Brightness of a color (red, green, blue, ... from 0 to 1) in gray, from 0 to 100 (L*)."""
    red, green, blue = (part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in color[:3])
    y = 0.2126 * red + 0.7152 * green + 0.0722 * blue
    return 116 * y ** (1 / 3) - 16 if y > 0.008856 else 903.3 * y
