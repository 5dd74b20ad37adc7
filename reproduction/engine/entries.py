"""Cells of the tables: our number, the published number, and how both are formatted."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from math import isfinite

from .outcome import Outcome, Panel

CLOSE, NEAR, FAR = "≈", "~", "≠"
CLOSENESS = {  # meaning of the signs in a cell
    CLOSE: "within two spreads of the published number, or 2 % of it",
    NEAR: "within 10 % of it",
    FAR: "farther away",
}


@dataclass(frozen=True)
class Entry:
    """A cell: mean over the runs, spread (nan for a single run), and the published number, if any."""

    ours: float
    spread: float
    runs: int
    published: float | None

    @property
    def difference(self) -> float | None:
        """Our number minus the published number."""
        return None if self.published is None else self.ours - self.published

    @property
    def closeness(self) -> str | None:
        """Sign for the distance between the two numbers; None if there is only one number."""
        if self.published is None or not isfinite(self.ours):
            return None
        distance, size = abs(self.ours - self.published), abs(self.published)
        spread = self.spread if isfinite(self.spread) else 0.0
        if distance <= max(2 * spread, 0.02 * size) + 1e-9:
            return CLOSE
        return NEAR if distance <= 0.1 * size else FAR


def make_entry(outcome: Outcome, panel: Panel, row: str, column: str) -> Entry | None:
    """Return the cell of a row and column, or None if it is empty."""
    if (row, column) not in panel:
        return None
    return Entry(
        panel.mean(row, column),
        panel.spread(row, column, outcome.study.deviations),
        len(panel[row, column]),
        outcome.published(panel.name, row, column),
    )


def iterate_entries(outcome: Outcome) -> Iterator[tuple[Panel, str, str, Entry]]:
    """Yield all cells of a study, row by row."""
    for panel in outcome.panels:
        for row in panel.rows:
            for column in panel.columns:
                if (cell := make_entry(outcome, panel, row, column)) is not None:
                    yield panel, row, column, cell


def format_number(value: float) -> str:
    """Format a number by its magnitude: ``.749``, ``1.872``, ``21.34``, ``123.4``, ``12,345``, ``2.0e−05``.

    Examples
    --------
    >>> [number(value) for value in (0.7491, -0.5, 0.99996, 21.3401, 12345.6, 0.00002, 0.0, float("nan"))]
    ['.749', '−.500', '1.000', '21.34', '12,346', '2.0e−05', '.000', '–']
    """
    return _format_decimals(value, _count_decimals(value))


def format_with_spread(entry: Entry) -> str:
    """Format as ``.749 ± .030`` with equal numbers of decimals; omit the spread for a single run."""
    shown, places = format_number(entry.ours), _count_decimals(entry.ours)
    if not isfinite(entry.spread):
        return shown
    return f"{shown} ± {_format_decimals(entry.spread, _count_decimals(entry.spread) if places is None else places)}"


def describe_spread(outcome: Outcome) -> str:
    """Describe what follows the ±; an empty string if every cell has a single run."""
    if not any(isfinite(cell.spread) for *_, cell in iterate_entries(outcome)):
        return ""
    return f"± one standard {'deviation' if outcome.study.deviations else 'error'}"


def _count_decimals(value: float) -> int | None:
    """Return the number of decimals; None for numbers too small for three decimals."""
    size = abs(value)
    if 1e-12 < size < 5e-4:
        return None
    return 3 if size < 10 else 2 if size < 100 else 1 if size < 1000 else 0


def _format_decimals(value: float, places: int | None) -> str:
    if not isfinite(value):
        return "–" if value != value else "∞" if value > 0 else "−∞"
    text = (
        f"{value:.1e}" if places is None else f"{round(value, places) + 0.0:,.{places}f}"
    )  # + 0.0 turns -0.0 into 0.0
    sign, digits = ("−", text[1:]) if text.startswith("-") else ("", text)
    return sign + (digits[1:] if digits.startswith("0.") else digits).replace("-", "−")
