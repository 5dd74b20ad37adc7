"""One number of a table beside the printed one, and how both are written."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from math import isfinite

from .outcome import Outcome, Panel

CLOSE, NEAR, FAR = "≈", "~", "≠"
APART = {  # what the signs of a cell mean
    CLOSE: "within two spreads of the published number, or 2 % of it",
    NEAR: "within 10 % of it",
    FAR: "further away",
}


@dataclass(frozen=True)
class Entry:
    """A cell: the mean over the runs, its spread (nan of one run), and what was published, if anything was."""

    ours: float
    spread: float
    runs: int
    published: float | None

    @property
    def difference(self) -> float | None:
        """Ours less the published number."""
        return None if self.published is None else self.ours - self.published

    @property
    def apart(self) -> str | None:
        """How far the two numbers are from each other; None where there is one only."""
        if self.published is None or not isfinite(self.ours):
            return None
        distance, size = abs(self.ours - self.published), abs(self.published)
        spread = self.spread if isfinite(self.spread) else 0.0
        if distance <= max(2 * spread, 0.02 * size) + 1e-9:
            return CLOSE
        return NEAR if distance <= 0.1 * size else FAR


def entry(outcome: Outcome, panel: Panel, row: str, column: str) -> Entry | None:
    """The cell of a row and column, or None of an empty one."""
    if (row, column) not in panel:
        return None
    return Entry(
        panel.mean(row, column),
        panel.spread(row, column, outcome.study.deviations),
        len(panel[row, column]),
        outcome.published(panel.name, row, column),
    )


def entries(outcome: Outcome) -> Iterator[tuple[Panel, str, str, Entry]]:
    """All cells of a study, row by row."""
    for panel in outcome.panels:
        for row in panel.rows:
            for column in panel.columns:
                if (found := entry(outcome, panel, row, column)) is not None:
                    yield panel, row, column, found


def number(value: float) -> str:
    """A number by its size: ``.749``, ``1.872``, ``21.34``, ``123.4``, ``12,345``; what is tiny by its power of ten.

    Examples
    --------
    >>> [number(value) for value in (0.7491, -0.5, 0.99996, 21.3401, 12345.6, 0.00002, 0.0, float("nan"))]
    ['.749', '−.500', '1.000', '21.34', '12,346', '2.0e−05', '.000', '–']
    """
    return _written(value, _places(value))


def with_spread(own: Entry) -> str:
    """``.749 ± .030``, both to as many places; without the spread for a single run."""
    shown, places = number(own.ours), _places(own.ours)
    if not isfinite(own.spread):
        return shown
    return f"{shown} ± {_written(own.spread, _places(own.spread) if places is None else places)}"


def spread_name(outcome: Outcome) -> str:
    """What follows the ±, or nothing where every cell is of one run."""
    if not any(isfinite(own.spread) for *_, own in entries(outcome)):
        return ""
    return f"± one standard {'deviation' if outcome.study.deviations else 'error'}"


def _places(value: float) -> int | None:
    """Digits after the point; None for a number too small for three of them."""
    size = abs(value)
    if 1e-12 < size < 5e-4:
        return None
    return 3 if size < 10 else 2 if size < 100 else 1 if size < 1000 else 0


def _written(value: float, places: int | None) -> str:
    if not isfinite(value):
        return "–" if value != value else "∞" if value > 0 else "−∞"
    text = f"{value:.1e}" if places is None else f"{round(value, places) + 0.0:,.{places}f}"  # + 0.0: no minus at zero
    sign, digits = ("−", text[1:]) if text.startswith("-") else ("", text)
    return sign + (digits[1:] if digits.startswith("0.") else digits).replace("-", "−")
