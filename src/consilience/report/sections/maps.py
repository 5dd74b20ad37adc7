"""Section: a map of each view."""

from __future__ import annotations

import numpy as np

from ...data import Views
from ...explain import embed
from ..facts import ReportFacts
from ..markup import Html, clean_text, format_count, format_integer, mark_user_text, tag, truncate
from ..pack import pack_numbers
from .section import Section

MAX_POINTS = 4000
MIN_POINTS = 30  # points that even a small cluster keeps
MAX_VIEWS = 12
EXPLANATION = (
    "shown on the plane that shows most of each view. Groups that are apart in one map and mixed in another are "
    "separated by one view only. Outliers are pulled in to fit the map. They show the group "
    "that is chosen above the table alone."
)
MISSING = 65535  # coordinate of an entity that lacks the view


def build_maps(facts: ReportFacts) -> Section:
    """Return a canvas per view, and the points for the script."""
    rows = sample_entities(facts.labels)
    views = facts.views[rows]
    names = [name for v, name in enumerate(views.names) if views.present[:, v].sum() >= 3][:MAX_VIEWS]
    shown = (
        f"All {facts.noun} are" if len(rows) == facts.n else f"A sample of {format_integer(len(rows))} {facts.noun} is"
    )
    note = (
        f"The page shows {len(names)} of {format_count(views.n_views, 'view')}; the others have too few rows, or "
        f"come after the first {MAX_VIEWS}."
    )
    data = {
        "points": {"rows": pack_numbers(rows, "i4"), "cluster": pack_numbers(facts.labels[rows], "i2")},
        "maps": [
            {"name": truncate(clean_text(name), 60), "place": pack_numbers(locate_in_view(views, name), "u2")}
            for name in names
        ],
    }
    return Section.build(
        "view-maps",
        "Maps of the views",
        "Maps of the views",
        tag("p", f"{shown} {EXPLANATION}"),
        tag("p", "The maps need JavaScript.", class_="note without-js"),
        tag("div", (_build_map(i, name) for i, name in enumerate(names)), class_="maps"),
        tag("p", note, class_="note") if len(names) < views.n_views else None,
        data=data,
    )


def sample_entities(labels: np.ndarray, max_points: int = MAX_POINTS) -> np.ndarray:
    """Return the rows to show: all, or of each cluster its share, with a minimum for small clusters."""
    if len(labels) <= max_points:
        return np.arange(len(labels))
    rng = np.random.default_rng(0)
    numbers, sizes = np.unique(labels, return_counts=True)
    minimum = min(MIN_POINTS, max_points // len(numbers))
    shares = (max_points - minimum * len(numbers)) * sizes // len(labels) + minimum
    n_shown = np.minimum(sizes, np.maximum(minimum, shares))
    chosen = [
        rng.choice(np.flatnonzero(labels == cluster), n, replace=False)
        for cluster, n in zip(numbers, n_shown, strict=True)
    ]
    return np.sort(np.concatenate(chosen))


def locate_in_view(views: Views, name: str) -> np.ndarray:
    """Return (n, 2) integer coordinates, each axis from one edge of the map to the other."""
    with np.errstate(all="ignore"):  # the rows of a view may all be equal
        points = embed(views, name)
    is_finite = np.isfinite(points).all(axis=1)
    # distances beyond the usual spread are compressed logarithmically, so that outliers leave room for the others
    offsets = points[is_finite] - np.median(points[is_finite], axis=0)
    spread = np.array([np.median(axis[axis > 0]) if axis.any() else 1.0 for axis in np.abs(offsets).T])
    shown = np.arcsinh(offsets / (2 * spread))
    low, high = shown.min(axis=0), shown.max(axis=0)
    unit = np.where(high > low, (shown - low) / np.where(high > low, high - low, 1), 0.5)
    coordinates = np.full(points.shape, MISSING)
    coordinates[is_finite] = np.round(unit * (MISSING - 1))
    return coordinates


def _build_map(i: int, name: str) -> Html:
    canvas = tag("canvas", id=f"view-map-{i}", role="img", aria_label=f"Map of view {clean_text(name)}")
    frame = tag("div", canvas, tag("div", class_="hover", hidden=True), class_="frame")
    return tag("figure", tag("figcaption", mark_user_text(name)), frame, class_="map needs-js")
