"""Users' words in a figure, drawn as they are: names may hold anything."""

from __future__ import annotations

import textwrap
import unicodedata
from typing import Any

from ._axes import require_matplotlib

WIDTH = 24  # characters of a name that are shown
TOFU = "□"  # for a character that the font lacks, which would otherwise warn when the figure is saved


def escape_name(text: Any, width: int = WIDTH) -> str:
    r"""A name as matplotlib shall draw it: one line, no formulas, no characters that the font lacks, shortened inside.

    Set matplotlib's ``font.family`` to fonts that have a script, and its characters are drawn.

    Examples
    --------
    >>> literal("price in $ or $x_{"), literal("one\ntwo"), literal("a" * 30 + "b" * 30, width=9)
    ('price in \\$ or \\$x_{', 'one two', 'aaaa…bbbb')
    """
    line = " ".join("".join(map(_visible, str(text))).split()) or "(blank)"
    if len(line) > width:
        line = line[: width // 2] + "…" + line[len(line) - (width - 1) // 2 :]
    fonts = _fonts()
    tofu = TOFU if _has(fonts, TOFU) else "?"
    line = "".join(c if _has(fonts, c) else tofu for c in line)
    return line.replace("$", r"\$")


def _visible(character: str) -> str:
    """Line breaks and the like as spaces, half characters as a box, and without marks that steer the others."""
    kind = unicodedata.category(character)
    if kind in {"Cc", "Zl", "Zp"}:
        return " "
    if kind in {"Cf", "Cs"}:
        return TOFU if kind == "Cs" else ""
    return character


def _fonts() -> list[Any]:
    """The fonts that text without a font of its own is drawn in."""
    require_matplotlib()
    from matplotlib.font_manager import FontProperties, findfont, get_font

    return [get_font(findfont(FontProperties(family=[family]))) for family in FontProperties().get_family()]


def _has(fonts: list[Any], character: str) -> bool:
    return any(font.get_char_index(ord(character)) for font in fonts)


def wrap_text(text: str, width: int) -> str:
    """Words of ours set in lines."""
    return "\n".join(textwrap.wrap(text, width))


def format_count(n: int, what: str) -> str:
    """``1 entity``, ``2 entities``, ``1,000 clusters``."""
    plural = what[:-1] + "ies" if what.endswith("y") else what + "s"
    return f"{n:,} {what if n == 1 else plural}"
