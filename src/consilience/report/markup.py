"""HTML that is safe by default: text is escaped unless it is marked as HTML."""

from __future__ import annotations

import re
from collections.abc import Iterable
from html import escape
from typing import Any

SURROGATES = re.compile("[\ud800-\udfff]")  # from files read with the wrong encoding
CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\ufeff\ufffe\uffff]")
VOID = {"meta", "link", "input", "br", "img"}  # elements without an end tag
PAGE_WORDS = {"entity": "item", "entities": "items", "cluster": "group", "clusters": "groups"}
# Text of the user is first in the alternatives, so that it is passed over: what is in quotes of any kind, to the end of
# the sentence where a quote is not closed, and words that are a part of a path, an option or another compound name.
LIBRARY_WORDS = re.compile(
    r"""(?<!\w)'.*?(?:'(?!\w)|$)|"(?:\\.|[^"\\])*(?:"|$)|“[^”]*(?:”|$)|‘.*?(?:’(?!\w)|$)|«[^»]*(?:»|$)|`[^`]*(?:`|$)"""
    r"""|(?<![\w./\\=:@#~-])(?:entit(?:y|ies)|clusters?)(?![\w/\\=@#~-]|[.:]\w)""",
    re.IGNORECASE | re.DOTALL,
)
MAX_SENTENCE = 600  # characters of a sentence that names views
MAX_TITLE = 400  # characters of a tooltip


class Html(str):
    """Text that is HTML and is not escaped again.

    Examples
    --------
    >>> from consilience.report import Html, tag
    >>> tag("p", "1 < 2", Html("<br>"), "2 < 3")
    '<p>1 &lt; 2<br>2 &lt; 3</p>'
    """

    __slots__ = ()


def tag(name: str, /, *children: str | Iterable[str | None] | None, **attributes: Any) -> Html:
    """Return an element; children and attributes are escaped unless they are `Html`, attributes of None left out.

    Parameters
    ----------
    name : str
        Name of the element.
    *children : str, iterable of str, or None
        The content; None is left out.
    **attributes : str, number, bool or None
        The attributes. An underscore stands for a hyphen, and one at the end is left out, as in ``class_``.

    Examples
    --------
    >>> tag("p", "1 < 2", tag("b", "yes"), class_="note", hidden=True, title=None)
    '<p class="note" hidden>1 &lt; 2<b>yes</b></p>'
    """
    opening = f"<{name}{''.join(_write_attribute(key, value) for key, value in attributes.items())}>"
    return Html(opening if name in VOID else f"{opening}{join_html(children)}</{name}>")


def join_html(children: Iterable[str | Iterable[str | None] | None]) -> Html:
    """Join children, escaped unless they are `Html`; None is left out."""
    return Html("".join(_escape_child(child) for child in children))


def _escape_child(child: str | Iterable[str | None] | None) -> str:
    match child:
        case None:
            return ""
        case Html():
            return child
        case str():
            return escape(child)
    return join_html(child)


def _write_attribute(key: str, value: Any) -> str:
    name = key.rstrip("_").replace("_", "-")
    if value is None or value is False:
        return ""
    return f" {name}" if value is True else f' {name}="{escape(str(value))}"'


def clean_text(text: Any, lines: bool = False) -> str:
    """Replace control characters and surrogates; join lines into one unless `lines`."""
    text = text.decode("utf-8", "replace") if isinstance(text, bytes) else str(text)
    text = CONTROL.sub("\ufffd", SURROGATES.sub("\ufffd", text.replace("\r\n", "\n")))
    return text if lines else " ".join(text.split())


def truncate(text: str, length: int) -> str:
    """Return the beginning of a long text, with an ellipsis."""
    return text if len(text) <= length else text[: length - 1].rstrip() + "…"


def say_items(sentence: str) -> str:
    """Return a sentence of the library in the words of the page: items and groups are entities and clusters.

    Names of views, columns and groups, which are quoted, names of files, options and code stay as they are.

    Examples
    --------
    >>> say_items("View 'cluster' is missing for 3 entities; the entity's cluster stays.")
    "View 'cluster' is missing for 3 items; the item's group stays."
    >>> say_items("clusters.csv: 'it's entity' has no cluster.")
    "clusters.csv: 'it's entity' has no group."
    """

    def replace(match: re.Match[str]) -> str:
        word = PAGE_WORDS.get(match[0].lower(), match[0])
        return start_sentence(word) if match[0][0].isupper() else word

    return LIBRARY_WORDS.sub(replace, sentence)


def start_sentence(text: str) -> str:
    """Return a clause with its first letter in upper case."""
    return text[:1].upper() + text[1:]


def mark_user_text(text: Any, length: int = 60) -> Html:
    """Return text from the user's data: cleaned, truncated with the full text as tooltip, and isolated in direction.

    Parameters
    ----------
    text : object
        A text or number of the user's data.
    length : int, default=60
        Largest number of characters to show.

    Examples
    --------
    >>> from consilience.report import mark_user_text
    >>> mark_user_text("steel knives & forks", length=13)
    '<bdi title="steel knives &amp; forks">steel knives…</bdi>'
    """
    full = clean_text(text)
    return _isolate(truncate(full, length), full)


def mark_sentence(sentence: str) -> Html:
    """Return a sentence of the library, which may name views of the user, in the words of the page.

    Parameters
    ----------
    sentence : str
        The sentence.
    """
    return mark_user_text(say_items(sentence), MAX_SENTENCE)


def mark_feature_name(name: Any, length: int = 44) -> Html:
    """Return the name of a column; of a long one, such as a URL, the beginning and the end."""
    full = clean_text(name)
    half = length // 2
    return _isolate(full if len(full) <= length else f"{full[:half].rstrip()}…{full[-(half - 1) :].lstrip()}", full)


def _isolate(shown: str, full: str) -> Html:
    return tag("bdi", shown or "(empty)", title=truncate(full, MAX_TITLE) if shown != full else None)


def format_integer(number: Any) -> str:
    """Write an integer with thousands separators."""
    return f"{int(number):,}"


def format_count(number: Any, singular: str, plural: str | None = None) -> str:
    """Write an integer and its noun."""
    return f"{format_integer(number)} {singular if number == 1 else plural or singular + 's'}"


def format_share(share: float) -> str:
    """Write a fraction as a percentage; never round a nonzero value to 0% or a value below 1 to 100%."""
    if share != share:
        return "–"
    percent = 100 * share
    if 0 < percent < 1:
        return "<1%" if percent < 0.1 else f"{percent:.1f}%"
    return f"{percent:.1f}%" if 99 < percent < 99.95 else ">99.9%" if 99.95 <= percent < 100 else f"{percent:.0f}%"


def format_decimal(value: float, places: int = 2) -> str:
    """Write a number with a fixed number of decimal places, or a dash for NaN."""
    if value != value:
        return "–"
    return f"{round(value, places) + 0.0:.{places}f}".replace("-", "−")  # + 0.0 turns a negative zero into a zero


def format_number(value: float) -> str:
    """Write a number of any size with three digits; rounding errors near zero become 0."""
    value = 0.0 if abs(value) < 1e-12 else value
    return f"{value:.3g}".replace("-", "−") if value == value else "–"
