"""The few pictures that a page can hold without a drawing library: bars, shaded cells, a line, a cluster's sign."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from .markup import Html, format_number, join_html, tag

N_COLOURS, N_SHAPES = 10, 3  # a cluster's sign; beyond their product only its number tells it from others
WIDTH, HEIGHT, EDGE = 320, 96, 6  # of the line, in the units of its drawing
MOST_POINTS = 300


def draw_cluster(cluster: int) -> Html:
    """A cluster's colour, shape and number, or the words "no cluster"."""
    if cluster < 0:
        return tag("span", "no cluster", class_="none")
    look = f"chip k{cluster % N_COLOURS} s{cluster // N_COLOURS % N_SHAPES}"
    return tag("span", tag("i"), str(cluster), class_=look)


def draw_bar(part: float) -> Html:
    """A bar as long as the part of 1; the number is written beside it by the caller."""
    part = min(max(part, 0.0), 1.0) if part == part else 0.0
    return tag("span", tag("span", style=f"width:{100 * part:.1f}%"), class_="bar", aria_hidden="true")


def shade_cell(text: str, part: float, name: str = "td", **attributes: Any) -> Html:
    """A table cell shaded by the part of 1 that it stands for."""
    part = min(max(part, 0.0), 1.0) if part == part else 0.0
    return tag(name, text, class_="heat", style=f"--heat:{part:.3f}", **attributes)


def build_table(caption: str, head: Sequence[str], rows: Iterable[Sequence[Html]], class_: str | None = None) -> Html:
    """A table that scrolls within its own box. Rows are made of finished cells; heads are text or markup."""
    headings = (tag("th", own, scope="col") for own in head)
    return make_scrollable(
        caption,
        tag(
            "table",
            tag("caption", caption),
            tag("thead", tag("tr", headings)),
            tag("tbody", (tag("tr", join_html(row)) for row in rows)),
            class_=class_,
        ),
    )


def make_scrollable(name: str, content: Html) -> Html:
    """A box that scrolls by itself, by keyboard too."""
    return tag("div", content, class_="scroll", role="region", aria_label=name, tabindex="0")


def draw_figure(name: str, number: str, meaning: str) -> Html:
    """Draw a number with its name and meaning."""
    return tag("div", tag("dt", name), tag("dd", tag("b", number), tag("small", meaning)))


def build_row(*contents: str) -> list[Html]:
    """The cells of a row, its first one the row's head."""
    return [tag("th", contents[0], scope="row"), *(tag("td", own) for own in contents[1:])]


def draw_line(values: Sequence[float], name: str, first: int = 1) -> Html | None:
    """A curve over the rounds, from `first` on; rounds without a number are left out. None if there is no curve."""
    heights = np.asarray(values, dtype=np.float64)
    rounds = np.flatnonzero(np.isfinite(heights))
    if len(rounds) < 2:
        return None
    if len(rounds) > MOST_POINTS:
        rounds = rounds[np.linspace(0, len(rounds) - 1, MOST_POINTS).astype(int)]
    heights = heights[rounds]
    low, high = heights.min(), heights.max()
    x = EDGE + (rounds - rounds[0]) / (rounds[-1] - rounds[0]) * (WIDTH - 2 * EDGE)
    y = HEIGHT - EDGE - (heights - low) / ((high - low) or 1) * (HEIGHT - 2 * EDGE)
    points = " ".join(f"{a:.1f},{b:.1f}" for a, b in zip(x, y, strict=True))
    start, end = (f"{format_number(heights[i])} in round {rounds[i] + first}" for i in (0, -1))
    drawing = tag(
        "svg",
        tag("polyline", points=points),
        tag("circle", cx=f"{x[-1]:.1f}", cy=f"{y[-1]:.1f}", r="3.5"),
        viewBox=f"0 0 {WIDTH} {HEIGHT}",
        role="img",
        aria_label=f"{name}: {start}, {end}",
    )
    ends = tag(
        "span",
        tag("span", f"round {rounds[0] + first}: {format_number(heights[0])}"),
        tag("span", f"round {rounds[-1] + first}: {format_number(heights[-1])}"),
        class_="ends",
    )
    return tag("figure", tag("figcaption", name), drawing, ends, class_="line")
