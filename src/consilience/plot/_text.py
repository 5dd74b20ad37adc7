"""Texts in figures; names of users may contain anything, and are drawn literally."""

from __future__ import annotations

import textwrap
import unicodedata
from typing import Any

from ._axes import require_matplotlib

MAX_WIDTH = 24  # characters of a name that are shown
TOFU = "□"  # for characters that the font lacks, for which matplotlib would warn when the figure is saved


def escape_name(text: Any, width: int = MAX_WIDTH) -> str:
    r"""Convert a name to one line that matplotlib draws literally, without formulas and characters that the font lacks.

    A long name is shortened in the middle. To draw the characters of a script, set matplotlib's ``font.family`` to
    fonts that have it.

    Examples
    --------
    >>> escape_name("price in $ or $x_{"), escape_name("one\ntwo"), escape_name("a" * 30 + "b" * 30, width=9)
    ('price in \\$ or \\$x_{', 'one two', 'aaaa…bbbb')
    """
    line = " ".join("".join(map(_make_visible, str(text))).split()) or "(blank)"
    if len(line) > width:
        line = line[: width // 2] + "…" + line[len(line) - (width - 1) // 2 :]
    fonts = _load_fonts()
    tofu = TOFU if _has_character(fonts, TOFU) else "?"
    line = "".join(c if _has_character(fonts, c) else tofu for c in line)
    return line.replace("$", r"\$")


def _make_visible(character: str) -> str:
    """Replace line breaks by spaces and surrogates by a box, and drop formatting characters."""
    replacements = {"Cc": " ", "Zl": " ", "Zp": " ", "Cf": "", "Cs": TOFU}
    return replacements.get(unicodedata.category(character), character)


def _load_fonts() -> list[Any]:
    """Load the fonts in which text is drawn by default."""
    require_matplotlib()
    from matplotlib.font_manager import FontProperties, findfont, get_font

    return [get_font(findfont(FontProperties(family=[family]))) for family in FontProperties().get_family()]


def _has_character(fonts: list[Any], character: str) -> bool:
    return any(font.get_char_index(ord(character)) for font in fonts)


def wrap_text(text: str, width: int) -> str:
    """Break a text into lines."""
    return "\n".join(textwrap.wrap(text, width))


def pluralize(n: int, noun: str) -> str:
    """Format a number with a noun: ``1 entity``, ``2 entities``, ``1,000 clusters``."""
    plural = noun[:-1] + "ies" if noun.endswith("y") else noun + "s"
    return f"{n:,} {noun if n == 1 else plural}"
