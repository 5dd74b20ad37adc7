"""The measurements of an item: its cells in the columns of a dense view that have names."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np
import scipy.sparse as sp

from ..arrays import to_numpy
from ..explain import OriginalColumn
from ..files.dates import format_days
from ..files.splitting import find_blocks
from ..report.markup import format_number
from .opening import OpenedRun

MAX_MEASUREMENTS = 500  # of an item in a view, from which the page chooses those that it shows
MAX_SAMPLE = 20_000  # items from which means and standard deviations are computed
MAX_CELL = 1500  # characters


@dataclass(frozen=True, eq=False)
class MeasuredColumns:
    """Columns of a dense view, and what they were made of.

    Attributes
    ----------
    positions : ndarray of int
        Positions of the columns in the view.
    names : list of str
        Names of the columns.
    originals : list of OriginalColumn or None
        Columns of the user's data; None for columns whose cells are shown as they are in the view.
    means, deviations : ndarray of float
        Mean and standard deviation of each column over the items that have the view.
    """

    positions: np.ndarray
    names: list[str]
    originals: list[OriginalColumn | None]
    means: np.ndarray
    deviations: np.ndarray


_columns: WeakKeyDictionary[OpenedRun, dict[str, MeasuredColumns | None]] = WeakKeyDictionary()


def list_measurements(opened: OpenedRun, view: str, row: int) -> list[dict[str, Any]]:
    """Return the measurements of an item in a dense view, those farthest from the mean of all items first.

    Columns of the user's data are shown in their units. Empty cells, and columns that have no names or only numbers,
    are left out.
    """
    by_view = _columns.setdefault(opened, {})
    if view not in by_view:
        by_view[view] = collect_measured_columns(opened, view)
    columns = by_view[view]
    if columns is None:
        return []
    cells = to_numpy(opened.data.views[view][[row]])[0][columns.positions].astype(np.float64)
    distances = (cells - columns.means) / columns.deviations
    measurements: dict[str, dict[str, Any]] = {}  # by name: all categories of a column are one measurement
    for place in np.argsort(-np.abs(distances), kind="stable").tolist():
        if len(measurements) == MAX_MEASUREMENTS or not np.isfinite(distances[place]):
            break  # NaN is sorted to the end
        original = columns.originals[place]
        if original is None:
            name, value = columns.names[place], format_number(float(cells[place]))
        else:
            name, value = original.name, describe_cell(original.values[row], original.kind, original.unit)
        if value and name not in measurements:
            measurements[name] = {"name": name, "value": value, "distance": round(float(distances[place]), 2)}
    return list(measurements.values())


def collect_measured_columns(opened: OpenedRun, view: str) -> MeasuredColumns | None:
    """Return the columns of a view that can be shown as measurements, None if it has none.

    Of very many columns of the user's data, such as genes, the run has those in which its clusters differ most.
    """
    views, prepared = opened.data.views, opened.data.prepared
    features = views.feature_names(view)
    is_derived = prepared.encodings[view].smoothed is not None or prepared.kinds[view] in ("images", "similarities")
    if sp.issparse(views[view]) or features is None or is_derived:
        return None
    names = [str(feature) for feature in features]
    blocks = find_blocks(dict.fromkeys(names, np.zeros(1)), ())  # such as the dimensions of an embedding
    numbered = {name for members in blocks.values() for name in members}
    originals = find_originals(opened, view, names)
    is_taken = np.array([name not in numbered for name in names])
    if any(original is not None for original in originals):
        is_taken &= [original is not None for original in originals]  # cells of others are not in their units
    columns = np.flatnonzero(is_taken)
    rows = np.flatnonzero(views.present[:, views.names.index(view)])
    values = to_numpy(views[view][rows[:: len(rows) // MAX_SAMPLE + 1]])[:, columns].astype(np.float64)
    is_filled = np.isfinite(values)
    counts = np.maximum(is_filled.sum(axis=0), 1)
    means = np.where(is_filled, values, 0).sum(axis=0) / counts
    deviations = np.sqrt(np.square(np.where(is_filled, values - means, 0)).sum(axis=0) / counts)
    varies = deviations > 1e-9 * np.abs(means)
    positions, means, deviations = columns[varies], means[varies], deviations[varies]
    if not len(positions):
        return None
    return MeasuredColumns(
        positions, [names[place] for place in positions], [originals[place] for place in positions], means, deviations
    )


def find_originals(opened: OpenedRun, view: str, names: list[str]) -> list[OriginalColumn | None]:
    """Return the column of the user's data that each column of a view was made of, None if that is not certain.

    If several contents have a column of one name, the run adds the name of the content to all but the first.
    """
    views, encodings = opened.data.views, opened.data.prepared.encodings
    columns = {column.name: column for column in opened.run.columns if column.kind != "text"}
    names_by_content: dict[str, set[str]] = {content.name: set() for content in opened.run.data.reading.contents}
    for other in views.names:
        features = views.feature_names(other)
        if features is not None and encodings[other].smoothed is None:
            texts = [str(feature) for feature in features]
            names_by_content.setdefault(encodings[other].content, set()).update(texts, map(drop_category, texts))
    content = encodings[view].content

    def find_column(name: str) -> OriginalColumn | None:
        if (column := columns.get(f"{name} ({content})")) is not None:
            return column
        first, *later = [other for other, others in names_by_content.items() if name in others] or [content]
        is_certain = first == content and all(f"{name} ({other})" in columns for other in later)
        return columns.get(name) if is_certain else None

    originals = []
    for name in names:
        original = find_column(name)
        if original is None and (column := find_column(drop_category(name))) is not None and column.kind == "category":
            original = column
        originals.append(original)
    return originals


def drop_category(name: str) -> str:
    """Return the name of the column that a column of a category, such as "color=red", was made of."""
    return name.partition("=")[0]


def describe_cell(value: Any, kind: str, unit: str) -> str:
    """Write a cell of the data in its unit; an empty cell is an empty text."""
    if value is None or value != value:
        return ""
    if kind == "date":
        return format_days(float(value))
    if kind == "number":
        return f"{float(value):.10g}{unit and f' {unit}'}"
    return str(value)[:MAX_CELL]
