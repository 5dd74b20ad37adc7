"""Where each view puts the entities."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...data import Views
from ...explain import embed
from ..charts import draw_cluster
from ..facts import ReportFacts
from ..markup import Html, clean_text, format_count, format_integer, join_html, mark_user_text, tag, truncate
from ..pack import pack_numbers
from .section import Section

MOST_POINTS = 4000
A_FEW = 30  # points that even a small cluster keeps
MOST_VIEWS = 12
NOWHERE = 65535  # of an entity that lacks the view


def build_maps(facts: ReportFacts) -> tuple[Section, dict[str, Any]]:
    """A canvas a view, one list of clusters for all of them, and the points."""
    rows = sample_entities(facts.labels)
    some = facts.views[rows]
    names = [name for v, name in enumerate(facts.views.names) if some.present[:, v].sum() >= 3][:MOST_VIEWS]
    body = join_html(
        (
            tag("p", _explain_maps(facts, len(rows))),
            tag("p", "The maps need JavaScript.", class_="note without-js"),
            _build_legend(facts),
            tag("div", (_build_map(i, name) for i, name in enumerate(names)), class_="maps"),
            tag("p", f"Shown are {len(names)} of {format_count(facts.views.n_views, 'view')}; the others have too few "
                "entities, or came after the first dozen.", class_="note")
            if len(names) < facts.views.n_views else None,
        )
    )  # fmt: skip
    points = {"rows": pack_numbers(rows, "i4"), "cluster": pack_numbers(facts.labels[rows], "i2")}
    drawn = [
        {"name": truncate(clean_text(name), 60), "place": pack_numbers(_locate_points(some, name), "u2")}
        for name in names
    ]
    return Section("map", "Map", "The views as maps", body), {"points": points, "maps": drawn}


def sample_entities(labels: np.ndarray, most: int = MOST_POINTS) -> np.ndarray:
    """Rows to show: all, or of each cluster its share, of small ones a few at least."""
    if len(labels) <= most:
        return np.arange(len(labels))
    rng = np.random.default_rng(0)
    numbers, sizes = np.unique(labels, return_counts=True)
    few = min(A_FEW, most // len(numbers))
    wanted = np.minimum(sizes, np.maximum(few, (most - few * len(numbers)) * sizes // len(labels) + few))
    chosen = [
        rng.choice(np.flatnonzero(labels == c), size, replace=False) for c, size in zip(numbers, wanted, strict=True)
    ]
    return np.sort(np.concatenate(chosen))


def _locate_points(views: Views, name: str) -> np.ndarray:
    """(n, 2) places in whole numbers, each axis from one end of the map to the other."""
    with np.errstate(all="ignore"):  # a view whose rows are all the same spans nothing
        place = embed(views, name)
    there = np.isfinite(place).all(axis=1)
    near = _pull_in_outliers(place[there])
    low, high = near.min(axis=0), near.max(axis=0)
    unit = np.where(high > low, (near - low) / np.where(high > low, high - low, 1), 0.5)
    whole = np.full(place.shape, NOWHERE)
    whole[there] = np.round(unit * (NOWHERE - 1))
    return whole


def _pull_in_outliers(place: np.ndarray) -> np.ndarray:
    """Places with outliers drawn nearer, which would leave the others no room: beyond the usual spread, logarithms."""
    off = place - np.median(place, axis=0)
    spread = np.array([np.median(own[own > 0]) if own.any() else 1.0 for own in np.abs(off).T])
    return np.arcsinh(off / (2 * spread))


def _explain_maps(facts: ReportFacts, n_shown: int) -> str:
    all_of_them = "All entities are" if n_shown == facts.n else f"A sample of {format_integer(n_shown)} entities is"
    return (
        f"{all_of_them} shown where the view puts them: each map is the plane that shows most of that view alone. "
        "Clusters that lie apart in one map and mix in another are told apart by one view only. Points far out "
        "are drawn nearer than they are. Point at an entity to see which it is; choose a cluster to see it alone."
    )


def _build_legend(facts: ReportFacts) -> Html:
    """Buttons that pick a cluster out; the script reads the colours from their signs."""
    numbers = [c for c in (*sorted(facts.sizes), -1) if c >= 0 or (facts.labels < 0).any()]
    buttons = (
        tag("button", draw_cluster(c), type="button", aria_pressed="false", data_cluster=c, aria_label=_called(c))
        for c in numbers
    )
    return tag("div", buttons, id="legend", class_="legend needs-js", role="group", aria_label="Clusters")


def _called(c: int) -> str:
    return f"Cluster {c}" if c >= 0 else "No cluster"


def _build_map(i: int, name: str) -> Html:
    canvas = tag("canvas", id=f"map-{i}", role="img", aria_label=f"Map of view {clean_text(name)}")
    hover = tag("div", class_="hover", hidden=True)
    return tag(
        "figure",
        tag("figcaption", mark_user_text(name)),
        tag("div", canvas, hover, class_="frame"),
        class_="map needs-js",
    )
