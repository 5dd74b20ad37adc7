"""Tables and small charts in plain HTML: bars, shaded cells, line charts."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from .._numbers import widen_range
from .markup import Html, format_number, join_html, tag

N_COLORS, N_SHAPES = 10, 3  # of symbols of groups; beyond their product only the name distinguishes groups
WIDTH, HEIGHT, MARGIN = 320, 96, 6  # of a line chart, in drawing units
MAX_POINTS = 300


def draw_bar(share: float) -> Html:
    """Draw a bar whose length is a share of 1; the caller writes the number beside it."""
    return tag("span", tag("span", style=f"width:{100 * _clip(share):.1f}%"), class_="bar", aria_hidden="true")


def draw_bar_with(share: float, *text: str) -> Html:
    """Draw a bar with its number beside it."""
    return tag("span", draw_bar(share), text, class_="measured")


def shade_cell(text: str, share: float) -> Html:
    """Return a table cell whose shade shows a share of 1."""
    return tag("td", text, class_="heat", style=f"--heat:{_clip(share):.3f}")


def _clip(share: float) -> float:
    return min(max(share, 0.0), 1.0) if share == share else 0.0


def build_table(caption: str, head: Sequence[str], rows: Iterable[Sequence[Html]], class_: str | None = None) -> Html:
    """Return a table in a box that scrolls; rows consist of finished cells.

    Parameters
    ----------
    caption : str
        Title of the table.
    head : sequence of str
        Titles of the columns.
    rows : iterable of sequence of Html
        The cells of each row, from `build_row`.
    class_ : str, optional
        Class of the element, for the style of the page.

    Examples
    --------
    >>> from consilience.report import build_row, build_table
    >>> table = build_table("Sizes", ("Group", "Papers"), [build_row("knives", "12"), build_row("apples", "7")])
    >>> table.count("<tr>"), "<caption>Sizes</caption>" in table
    (3, True)
    """
    table = tag(
        "table",
        tag("caption", caption),
        tag("thead", tag("tr", (tag("th", text, scope="col") for text in head))),
        tag("tbody", (tag("tr", join_html(row)) for row in rows)),
        class_=class_,
    )
    return make_scrollable(caption, table)


def make_scrollable(name: str, content: Html) -> Html:
    """Put content into a box that scrolls by itself, by keyboard too."""
    return tag("div", content, class_="scroll", role="region", aria_label=name, tabindex="0")


def build_row(head: str, *cells: str) -> list[Html]:
    """Return the cells of a row, the first of which is its head.

    Parameters
    ----------
    head : str
        Content of the first cell.
    *cells : str
        Contents of the other cells, escaped unless they are `Html`.

    Examples
    --------
    >>> from consilience.report import build_row
    >>> build_row("knives", "12", "7%")
    ['<th scope="row">knives</th>', '<td>12</td>', '<td>7%</td>']
    """
    return [tag("th", head, scope="row"), *(tag("td", cell) for cell in cells)]


def draw_line(values: Sequence[float], name: str, first: int = 1) -> Html | None:
    """Draw a value over the rounds, counted from `first`; None if fewer than two rounds have a number."""
    heights = np.asarray(values, dtype=np.float64)
    rounds = np.flatnonzero(np.isfinite(heights))
    if len(rounds) < 2:
        return None
    if len(rounds) > MAX_POINTS:
        rounds = rounds[np.linspace(0, len(rounds) - 1, MAX_POINTS).astype(int)]
    heights = heights[rounds]
    low, high = widen_range(float(heights.min()), float(heights.max()))
    x = MARGIN + (rounds - rounds[0]) / (rounds[-1] - rounds[0]) * (WIDTH - 2 * MARGIN)
    y = HEIGHT - MARGIN - (heights - low) / ((high - low) or 1) * (HEIGHT - 2 * MARGIN)
    start, end = (f"round {rounds[i] + first}: {format_number(heights[i])}" for i in (0, -1))
    drawing = tag(
        "svg",
        tag("polyline", points=" ".join(f"{a:.1f},{b:.1f}" for a, b in zip(x, y, strict=True))),
        tag("circle", cx=f"{x[-1]:.1f}", cy=f"{y[-1]:.1f}", r="3.5"),
        viewBox=f"0 0 {WIDTH} {HEIGHT}",
        role="img",
        aria_label=f"{name}, {start}, {end}",
    )
    ends = tag("span", tag("span", start), tag("span", end), class_="ends")
    return tag("figure", tag("figcaption", name), drawing, ends, class_="line")
