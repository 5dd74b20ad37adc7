"""HTML that is safe by default: what is not known to be markup is escaped."""

from __future__ import annotations

import re
from collections.abc import Iterable
from html import escape
from typing import Any

BROKEN = re.compile("[\ud800-\udfff]")  # halves of characters, from files read with the wrong encoding
CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\ufeff\ufffe\uffff]")
VOID = {"meta", "link", "input", "br", "img"}


class Html(str):
    """Text that is markup already."""

    __slots__ = ()


def tag(name: str, /, *children: str | Iterable[str] | None, **attributes: Any) -> Html:
    """An element. Children and attributes are escaped, unless they are `Html`; an attribute of None is left out.

    Examples
    --------
    >>> tag("p", "1 < 2", tag("b", "yes"), class_="note", hidden=True, title=None)
    '<p class="note" hidden>1 &lt; 2<b>yes</b></p>'
    """
    opening = f"<{name}{''.join(_attribute(key, value) for key, value in attributes.items())}>"
    return Html(opening if name in VOID else f"{opening}{join_html(children)}</{name}>")


def join_html(children: Iterable[str | Iterable[str] | None]) -> Html:
    """Children one after the other, escaped where they are not markup."""
    return Html("".join(_markup(child) for child in children))


def _markup(child: str | Iterable[str] | None) -> str:
    if child is None:
        return ""
    if isinstance(child, Html):
        return child
    return escape(child) if isinstance(child, str) else join_html(child)


def _attribute(key: str, value: Any) -> str:
    name = key.rstrip("_").replace("_", "-")
    if value is None or value is False:
        return ""
    return f" {name}" if value is True else f' {name}="{escape(str(value))}"'


def clean_text(text: Any, lines: bool = False) -> str:
    """Text as a page can show it: no control characters, no halves of characters, on one line unless `lines`."""
    text = text.decode("utf-8", "replace") if isinstance(text, bytes) else str(text)
    text = CONTROL.sub("\ufffd", BROKEN.sub("\ufffd", text.replace("\r\n", "\n")))
    return text if lines else " ".join(text.split())


def truncate(text: str, most: int) -> str:
    """The beginning of a long text."""
    return text if len(text) <= most else text[: most - 1].rstrip() + "…"


def mark_user_text(text: Any, most: int = 60) -> Html:
    """A name or text that is not ours: cleaned, cut (whole in the tooltip), and kept from turning what is around it."""
    whole = clean_text(text)
    short = truncate(whole, most)
    return tag("bdi", short or "(empty)", title=truncate(whole, 400) if short != whole else None)


def mark_feature_name(name: Any, most: int = 44) -> Html:
    """A column's name: of a long one, such as an address, the beginning and the end."""
    whole = clean_text(name)
    ends = f"{whole[: most // 2].rstrip()}…{whole[-(most // 2 - 1) :].lstrip()}" if len(whole) > most else whole
    return tag("bdi", ends or "(empty)", title=truncate(whole, 400) if ends != whole else None)


def format_integer(number: Any) -> str:
    """A whole number."""
    return f"{int(number):,}"


def format_count(number: Any, one: str, many: str | None = None) -> str:
    """A whole number of things."""
    return f"{format_integer(number)} {one if number == 1 else many or one + 's'}"


def format_share(part: float) -> str:
    """A part of 1 in percent; no part that there is becomes none, none that is not all becomes all."""
    if part != part:
        return "–"
    percent = 100 * part
    if 0 < percent < 1:
        return "<1%" if percent < 0.1 else f"{percent:.1f}%"
    return f"{percent:.1f}%" if 99 < percent < 99.95 else ">99.9%" if 99.95 <= percent < 100 else f"{percent:.0f}%"


def format_decimal(value: float, places: int = 2) -> str:
    """A number to so many places, or a dash for none."""
    if value != value:
        return "–"
    return f"{round(value, places) + 0.0:.{places}f}".replace("-", "−")  # + 0.0 turns a negative zero into a zero


def format_number(value: float) -> str:
    """A number of any size to three digits; what rounding left of a zero is one."""
    value = 0.0 if abs(value) < 1e-12 else value
    return f"{value:.3g}".replace("-", "−") if value == value else "–"
