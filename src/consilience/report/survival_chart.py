"""Survival curves as a drawing within the page."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ..explain import SurvivalCurve
from .markup import Html, clean_text, format_share, tag, truncate

MAX_CURVES = 8  # groups per chart
WIDTH, HEIGHT = 460, 290  # of the drawing, in its units
LEFT, RIGHT, TOP, BOTTOM = 42, 134, 10, 40  # margins; names of groups stand in the right one
LINE = 13  # height of a line of text
MAX_NAME = 15  # characters
DASHES = (None, "7 3", "2 3")  # by shape of the group's symbol


@dataclass(frozen=True, eq=False)
class GroupCurve:
    """The survival of a group."""

    group: int
    name: str
    curve: SurvivalCurve
    color: int  # of the group's symbol
    shape: int


def choose_ticks(end: float, n_most: int = 6) -> np.ndarray:
    """Return round numbers from 0 up to the end of an axis.

    Examples
    --------
    >>> choose_ticks(89.0).tolist()
    [0.0, 20.0, 40.0, 60.0, 80.0]
    """
    if end <= 0:
        return np.zeros(1)
    unit = 10.0 ** np.floor(np.log10(end / n_most))
    step = next(unit * factor for factor in (1, 2, 5, 10) if end / (unit * factor) <= n_most)
    return np.arange(0, end + step / 1000, step)


def draw_survival(curves: Sequence[GroupCurve], name: str, time_name: str) -> Html:
    """Draw survival curves with confidence bands, and the name of each group at the end of its curve."""
    end = max(float(curve.curve.times[-1]) for curve in curves) or 1.0
    ticks = choose_ticks(end)
    drawn: list[Html] = []
    for share in (0.0, 0.25, 0.5, 0.75, 1.0):
        y = _place_share(share)
        drawn.append(tag("line", x1=LEFT, x2=WIDTH - RIGHT, y1=f"{y:.1f}", y2=f"{y:.1f}", class_="grid"))
        drawn.append(tag("text", f"{share:.0%}", x=LEFT - 5, y=f"{y + 4:.1f}", text_anchor="end"))
    for tick in ticks.tolist():
        x = _place_time(tick, end)
        drawn.append(tag("text", f"{tick:g}", x=f"{x:.1f}", y=HEIGHT - BOTTOM + LINE + 3, text_anchor="middle"))
    middle = (LEFT + WIDTH - RIGHT) / 2
    drawn.append(tag("text", truncate(clean_text(time_name), 40), x=middle, y=HEIGHT - 5, text_anchor="middle"))
    drawn += [_draw_band(curve, end) for curve in curves]
    drawn += [_draw_curve(curve, end) for curve in curves]
    drawn += _draw_names(curves, end)
    drawing = tag(
        "svg", drawn, viewBox=f"0 0 {WIDTH} {HEIGHT}", role="img", aria_label=_describe_curves(curves, name, ticks)
    )
    return tag("figure", tag("figcaption", "Share without an event"), drawing, class_="survival")


def _place_time(time: float, end: float) -> float:
    return LEFT + (WIDTH - LEFT - RIGHT) * time / end


def _place_share(share: float) -> float:
    return TOP + (HEIGHT - TOP - BOTTOM) * (1 - share)


def _list_steps(times: np.ndarray, shares: np.ndarray, end: float) -> list[str]:
    """Return the points of a step function; of several steps at the same place only the last."""
    points = [f"{_place_time(0, end):.1f},{_place_share(1.0):.1f}"]
    x = [round(_place_time(time, end), 1) for time in times.tolist()]
    last = _place_share(1.0)
    for i, share in enumerate(shares.tolist()):
        if i + 1 < len(x) and x[i + 1] == x[i]:
            continue
        y = _place_share(share)
        points += [f"{x[i]:.1f},{last:.1f}"] if y == last else [f"{x[i]:.1f},{last:.1f}", f"{x[i]:.1f},{y:.1f}"]
        last = y
    return points


def _draw_band(curve: GroupCurve, end: float) -> Html:
    times = curve.curve.times
    above, below = (_list_steps(times, shares, end) for shares in (curve.curve.high, curve.curve.low))
    return tag("polygon", points=" ".join([*above, *reversed(below)]), class_=f"band k{curve.color}")


def _draw_curve(curve: GroupCurve, end: float) -> Html:
    points = _list_steps(curve.curve.times, curve.curve.survival, end)
    dashes = DASHES[curve.shape]
    return tag("polyline", points=" ".join(points), class_=f"k{curve.color}", stroke_dasharray=dashes)


def _draw_names(curves: Sequence[GroupCurve], end: float) -> list[Html]:
    """Write the name of each group beside the end of its curve, moved apart where names would overlap."""
    ordered = sorted(curves, key=lambda curve: -curve.curve.survival[-1])
    places = [_place_share(float(curve.curve.survival[-1])) for curve in ordered]
    for i in range(1, len(places)):
        places[i] = max(places[i], places[i - 1] + LINE)
    for i in range(len(places) - 1, -1, -1):
        lowest = HEIGHT - BOTTOM if i == len(places) - 1 else places[i + 1] - LINE
        places[i] = min(places[i], lowest)
    names = []
    for curve, y in zip(ordered, places, strict=True):
        x = _place_time(float(curve.curve.times[-1]), end)
        start = f"{x + 2:.1f},{_place_share(float(curve.curve.survival[-1])):.1f}"
        leader = tag("polyline", points=f"{start} {WIDTH - RIGHT + 8},{y:.1f}", class_=f"leader k{curve.color}")
        text = truncate(clean_text(curve.name), MAX_NAME)
        names += [leader, tag("text", text, x=WIDTH - RIGHT + 11, y=f"{y + 4:.1f}", class_=f"name k{curve.color}")]
    return names


def _describe_curves(curves: Sequence[GroupCurve], name: str, ticks: np.ndarray) -> str:
    """Describe the curves for readers who cannot see them."""
    parts = []
    for group in curves:
        curve, last = group.curve, float(group.curve.times[-1])
        shares = [
            f"{format_share(float(curve.survival[np.searchsorted(curve.times, time, 'right') - 1]))} after {time:.4g}"
            for time in [*(tick for tick in ticks[1:].tolist() if tick < last), last]
        ]
        parts.append(f"group {group.group}, {clean_text(group.name)}: {', '.join(shares)}")
    return f"Share without an event by {clean_text(name)}. {'; '.join(parts)}."
