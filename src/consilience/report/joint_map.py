"""The map of all entities by all views together: its frame, and the packed positions and colors for the script."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from .._tuning import Tuning
from ..explain import OriginalColumn
from ..metrics.classes import number_classes
from .facts import ReportFacts
from .markup import Html, clean_text, format_integer, tag, truncate
from .pack import measure_packed, pack_numbers

NOWHERE = 65535  # coordinate of an entity without a position, and level of an empty cell
EDGE = 0.01  # share of the entities beyond each edge of the box within which positions are not compressed
MAX_CATEGORIES = 10  # values of a category with a color of their own: as many as there are colors
MIN_COVERED = 0.3  # share of the cells that have one of these values, below which a column is left out
NO_CATEGORY = 255  # code of an empty cell
MAX_COLORS = 40  # columns to color by
tuning = Tuning(max_color_bytes=1_200_000)
MAX_RANKED = 2000  # entities by which the columns are ranked
MAX_NAME = 60  # characters of a name
BUTTONS = (  # name, title, and path of the icon in a square of 24 units
    ("in", "Zoom in", "M12 5v14M5 12h14"),
    ("out", "Zoom out", "M5 12h14"),
    ("reset", "Show the whole map", "M4 9V4h5M15 4h5v5M20 15v5h-5M9 20H4v-5"),
    (
        "lasso",
        "Select points by drawing around them (or drag with Shift)",
        "M8 16c-6-3-6-11 4-12 11-1 11 11 1 12-3 0-5-1-5-2s2-2 3 0-1 5-4 7",
    ),
    ("save", "Save the map as a picture", "M12 4v11M7 11l5 5 5-5M5 20h14"),
)
KEYS = (
    "Arrow keys move the map, plus and minus zoom, 0 resets. N and P go to the next and the previous group, Enter "
    "shows it alone, Escape shows everything."
)


def build_joint_map(facts: ReportFacts) -> tuple[Html, dict[str, Any]]:
    """Return the figure with the map, and the positions and the colors that its script needs."""
    places = locate_entities(facts.layout)
    n_unplaced = int((places[:, 0] == NOWHERE).sum())
    noun = clean_text(facts.noun)
    data = {"layout": pack_numbers(places.T.ravel(), "u2"), "colors": pack_colors(facts)}
    caption = f"{format_integer(facts.n)} {noun} placed by all views together: "
    meaning = "near points are similar. Distances between groups, and the area that a group takes, mean little. "
    unplaced = f"{format_integer(n_unplaced)} without a position are not drawn. "
    figure = tag(
        "figure",
        _build_controls(),
        tag(
            "div",
            tag(
                "canvas",
                id="map-points",
                tabindex="0",
                role="application",
                aria_roledescription="map",
                aria_label=f"Map of {format_integer(facts.n)} {noun}",
                aria_describedby="map-keys",
            ),
            tag("canvas", id="map-marks", aria_hidden="true"),
            tag("p", KEYS, id="map-keys"),
            _build_buttons(),
            tag("div", id="map-card", class_="map-card", hidden=True),
            tag("p", id="map-hint", class_="map-hint", aria_hidden="true", hidden=True),
            class_="map-frame needs-js",
            id="map-frame",
        ),
        tag("div", id="map-table", class_="scroll", role="region", aria_label="Groups", tabindex="0", hidden=True),
        tag("div", id="map-legend", class_="map-legend needs-js"),
        tag(
            "figcaption",
            caption,
            meaning,
            unplaced if n_unplaced else None,
            tag("a", f"All {noun} in a table", href="#find"),
        ),
        tag("p", id="map-live", class_="unseen", aria_live="polite"),
        tag("p", "The map needs JavaScript.", class_="note without-js"),
        id="map",
        class_="joint-map",
    )
    return figure, data


def _build_controls() -> Html:
    """Return what to color by, and the buttons beside it."""
    choice = tag("label", "Color by ", tag("select", id="map-color"))
    table = tag("button", "Show as table", type="button", id="map-as-table", aria_pressed="false")
    return tag("div", choice, table, class_="map-controls needs-js")


def _build_buttons() -> Html:
    """Return the buttons in the corner of the map."""
    buttons = (
        tag(
            "button",
            tag("svg", tag("path", d=path), viewBox="0 0 24 24", aria_hidden="true"),
            type="button",
            id=f"map-{name}",
            title=title,
            aria_label=title,
            aria_pressed="false" if name == "lasso" else None,
        )
        for name, title, path in BUTTONS
    )
    return tag("div", buttons, class_="map-buttons")


def locate_entities(layout: np.ndarray) -> np.ndarray:
    """Return (n, 2) integer coordinates with one scale for both axes; `NOWHERE` where a position is not finite.

    Distances beyond the box of nearly all entities are compressed to less than half its size, so that outliers leave
    room for the others.
    """
    coordinates = np.full(layout.shape, NOWHERE)
    is_placed = np.isfinite(layout).all(axis=1)
    if not is_placed.any():
        return coordinates
    points = layout[is_placed]
    points = points / max(np.abs(points).max(), 1e-300)  # differences of huge coordinates would overflow
    low, high = np.quantile(points, [EDGE, 1 - EDGE], axis=0)
    size = (high - low).max() or np.ptp(points, axis=0).max() or 1.0
    inside = np.clip(points, low, high)
    beyond = points - inside
    with np.errstate(over="ignore"):
        points = inside + beyond / (1 + 2 * np.abs(beyond) / size)
    offsets = points - points.min(axis=0)
    extent = offsets.max() or 1.0
    offsets += (extent - offsets.max(axis=0)) / 2
    coordinates[is_placed] = np.round(offsets / extent * (NOWHERE - 1))
    return coordinates


def pack_colors(facts: ReportFacts) -> list[dict[str, Any]]:
    """Return what the points can be colored by besides their group, as far as the bytes suffice."""
    colors: list[dict[str, Any]] = []
    n_bytes = tuning.max_color_bytes
    for color in _list_colors(facts):
        values = color.get("values")
        n_bytes -= 0 if values is None else measure_packed(values)
        if n_bytes < 0 or len(colors) == MAX_COLORS:
            break
        colors.append(color)
    return colors


def _list_colors(facts: ReportFacts) -> Iterator[dict[str, Any]]:
    """Yield agreement and confidence, the known classes, and the columns, the most useful first."""
    if facts.shows_views and len(facts.view_labels) > 1:
        yield _pack_agreement(facts)
    if facts.has_confidence:
        scale = {"low": 0.0, "high": 100.0, "top": 100, "shown": [0, 100], "scale": "linear", "decimals": 0}
        yield {"name": "Confidence", "kind": "number", "column": "sure", "unit": "%", **scale}
    if facts.classes is not None:
        names = [None if value is None else facts.name_class(value) for value in facts.classes]
        color = _pack_categories("Known classes", names)
        if color is not None:
            yield color
    for column in rank_columns(facts.columns, facts.labels):
        color = _pack_column(column)
        if color is not None:
            yield color


def _pack_agreement(facts: ReportFacts) -> dict[str, Any]:
    """Pack how many of the views that an entity has put it into another cluster than the model."""
    views = np.array(list(facts.view_labels.values()))
    n_others = ((views >= 0) & (views != facts.labels)).sum(axis=0)
    is_counted = (facts.labels >= 0) & (views >= 0).any(axis=0)
    most = int(n_others[is_counted].max(initial=0))
    names = ["all views agree", *(f"{n} {'view differs' if n == 1 else 'views differ'}" for n in range(1, most + 1))]
    values = pack_numbers(np.where(is_counted, n_others, NO_CATEGORY), "u1")
    return {"name": "Agreement of the views", "kind": "order", "names": names, "values": values}


def rank_columns(columns: Sequence[OriginalColumn], labels: np.ndarray) -> list[OriginalColumn]:
    """Order columns: those that describe only, then by the share of their variance that the clusters explain."""
    rows = np.flatnonzero(labels >= 0)
    rows = rows[np.unique(np.linspace(0, len(rows) - 1, min(len(rows), MAX_RANKED)).astype(int))]
    shown = [column for column in columns if column.kind != "text"]
    shares = [_explain_variance(column.values[rows], column.kind, labels[rows]) for column in shown]
    order = sorted(range(len(shown)), key=lambda i: (not shown[i].is_description, -shares[i]))
    return [shown[i] for i in order]


def _explain_variance(values: np.ndarray, kind: str, labels: np.ndarray) -> float:
    """Return the share of the variance of ranks, or of indicators of categories, that the clusters explain."""
    if kind == "category":
        is_filled = np.array([value is not None for value in values], dtype=bool)
        codes = number_classes(values[is_filled])[1]
        indicators = (codes[:, None] == np.arange(min(codes.max(initial=-1) + 1, 50))).astype(np.float64)
    else:
        is_filled = np.isfinite(values)
        indicators = np.unique(values[is_filled], return_inverse=True)[1].astype(np.float64)[:, None]
    if not is_filled.any():
        return 0.0
    _, groups, sizes = np.unique(labels[is_filled], return_inverse=True, return_counts=True)
    offsets = indicators - indicators.mean(axis=0)
    sums = np.zeros((len(sizes), offsets.shape[1]))
    np.add.at(sums, groups, offsets)
    total = float((offsets**2).sum())
    return float((sums**2 / sizes[:, None]).sum()) / total if total > 0 else 0.0


def _pack_column(column: OriginalColumn) -> dict[str, Any] | None:
    """Pack a column, or return None if it has one value or too many categories."""
    name = truncate(clean_text(column.name), MAX_NAME)
    if column.kind == "category":
        return _pack_categories(name, column.values.tolist())
    return _pack_measurements(name, column.values, column.kind, clean_text(column.unit))


def _pack_categories(name: str, values: Sequence[str | None]) -> dict[str, Any] | None:
    """Pack the most frequent values, with one code for all others."""
    counts = Counter(value for value in values if value is not None)
    frequent = [value for value, _ in sorted(counts.items(), key=lambda item: (-item[1], item[0]))[:MAX_CATEGORIES]]
    covered = sum(counts[value] for value in frequent)
    if len(counts) < 2 or covered < MIN_COVERED * counts.total():
        return None
    codes: dict[str | None, int] = {value: code for code, value in enumerate(frequent)}
    codes[None] = NO_CATEGORY
    packed = pack_numbers([codes.get(value, len(frequent)) for value in values], "u1")
    names = [truncate(clean_text(value), MAX_NAME) or "(empty)" for value in frequent]
    n_others = len(counts) - len(frequent)
    return {"name": name, "kind": "category", "names": names, "n_others": n_others, "values": packed}


def _pack_measurements(name: str, values: np.ndarray, kind: str, unit: str) -> dict[str, Any] | None:
    """Pack numbers as levels between the smallest and the largest, on a logarithmic scale if they are skewed."""
    is_finite = np.isfinite(values)
    numbers = values[is_finite].astype(np.float64)
    low, high = float(numbers.min(initial=np.inf)), float(numbers.max(initial=-np.inf))
    if not 0 < high - low < np.inf:
        return None
    is_whole = bool((numbers == np.round(numbers)).all())
    is_log = low > 0 and kind == "number" and _is_skewed(numbers)
    top = int(high - low) if is_whole and not is_log and high - low < NOWHERE else NOWHERE - 1
    unit_values = np.log(numbers / low) / np.log(high / low) if is_log else (numbers - low) / (high - low)
    levels = np.full(len(values), NOWHERE)
    levels[is_finite] = np.round(unit_values * top)
    shown = np.quantile(levels[is_finite], [0.02, 0.98], method="nearest").tolist()
    if shown[0] == shown[1]:
        shown = [0, top]
    return {
        "name": name,
        "kind": kind,
        "unit": unit,
        "low": low,
        "high": high,
        "top": top,
        "shown": shown,
        "scale": "log" if is_log else "linear",
        "decimals": 0 if is_whole and top < NOWHERE - 1 else _count_decimals(numbers, (high - low) / top),
        "values": pack_numbers(levels, "u2"),
    }


def _is_skewed(numbers: np.ndarray) -> bool:
    """Whether most positive numbers are near the smallest, so that their logarithms are spread more evenly."""
    asymmetry = []
    for scaled in (numbers, np.log(numbers)):
        low, middle, high = np.quantile(scaled, [0.02, 0.5, 0.98])
        asymmetry.append((high + low - 2 * middle) / ((high - low) or 1.0))
    return asymmetry[0] > 0.5 and abs(asymmetry[1]) < asymmetry[0]


def _count_decimals(numbers: np.ndarray, step: float) -> int:
    """Return the decimals that the numbers have and that levels a step apart tell, negative for tens and more."""
    exact = (d for d in range(4) if np.allclose(np.round(numbers, d), numbers, rtol=0, atol=step / 100))
    three_digits = 2 - int(np.floor(np.log10(np.ptp(numbers))))
    return min(next(exact, three_digits), int(np.floor(-np.log10(step))))
