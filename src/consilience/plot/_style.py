"""Colours, markers and lines that can be told apart in print, in grey and by colour-blind readers."""

from __future__ import annotations

from typing import Any

# Okabe and Ito's hues, some darker, so that their greys are at least 12 steps of 100 apart; neighbours contrast
COLORS = ("#00468B", "#E69F00", "#111111", "#009E73", "#B84300", "#F0E442")
LINE_COLORS = COLORS[:-1]  # a yellow line on white is none
MARKERS = ("o", "s", "^", "D", "v", "P", "X", "*", "<", ">", "p")
DASHES = ("-", "--", ":", "-.")
NEUTRAL_COLOR = "#888888"  # what belongs to nobody
COLORMAP = "Blues"  # from little to much, light to dark: so too in grey, and an empty map takes no ink


def marker_style(i: int) -> tuple[str, str]:
    """Colour and marker of the i-th cluster; 66 pass before a pair comes again, for 6 and 11 have no common factor."""
    return (NEUTRAL_COLOR, ".") if i < 0 else (COLORS[i % len(COLORS)], MARKERS[i % len(MARKERS)])


def line_style(i: int) -> tuple[str, str]:
    """Colour and dashes of the i-th line; 20 pass before a pair comes again."""
    return LINE_COLORS[i % len(LINE_COLORS)], DASHES[i % len(DASHES)]


def luminance(colour: Any) -> float:
    """How bright a colour, whose parts are (red, green, blue, ...) from 0 to 1, looks in grey, from 0 to 100 (L*)."""
    red, green, blue = (part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in colour[:3])
    y = 0.2126 * red + 0.7152 * green + 0.0722 * blue
    return 116 * y ** (1 / 3) - 16 if y > 0.008856 else 903.3 * y
