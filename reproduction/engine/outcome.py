"""Results of a study: its numbers, the published numbers, and a verdict on each claim."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from .study import CANNOT, FAILS, HOLDS, Claim, Paper, Study, Unit, Untestable


class Panel:
    """One table of a study: the values of all runs by row and column.

    Examples
    --------
    >>> panel = Panel("digits", {("co-EM", "6"): {0: 0.5, 1: 0.7}})
    >>> panel["co-EM", "6"].tolist(), panel.mean("co-EM", "6")
    ([0.5, 0.7], 0.6)
    """

    def __init__(self, name: str, values: Mapping[tuple[str, str], Mapping[int, float]]) -> None:
        self.name = name
        self._values = values
        self.rows = tuple(dict.fromkeys(row for row, _ in values))
        self.columns = tuple(dict.fromkeys(column for _, column in values))

    def __contains__(self, key: object) -> bool:
        return key in self._values

    def __getitem__(self, key: tuple[str, str]) -> np.ndarray:
        """Values of a row and column in the order of the runs, so that two cells can be compared run by run."""
        if key not in self._values:
            raise Untestable(f"{self.name or 'the table'} has no number for {key[0]!r}, {key[1]!r}")
        runs = self._values[key]
        return np.array([runs[run] for run in sorted(runs)])

    def mean(self, row: str, column: str) -> float:
        """Mean over the runs."""
        return float(self[row, column].mean())

    def means(self, row: str) -> np.ndarray:
        """Means of all columns of a row."""
        return np.array([self.mean(row, column) for column in self.columns])

    def spread(self, row: str, column: str, deviations: bool = False) -> float:
        """The standard error of the mean, or the standard deviation; nan for a single run."""
        values = self[row, column]
        if len(values) < 2:
            return float("nan")
        return float(values.std(ddof=1) / (1 if deviations else np.sqrt(len(values))))


@dataclass(frozen=True)
class Verdict:
    """Whether a claim holds, and the figures that show it."""

    claim: str
    panel: str
    status: str
    words: str
    ours: bool = False


@dataclass(frozen=True)
class Outcome:
    """Everything that a run of a study produced."""

    paper: Paper
    study: Study
    panels: tuple[Panel, ...]
    verdicts: tuple[Verdict, ...]
    missing: Mapping[str, str]  # reasons by panel that could not be run, or only partly
    seconds: float  # computing time over all cores

    def published(self, panel: str, row: str, column: str) -> float | None:
        """Return the published number, or None."""
        return self.paper.published.get((self.study.name, panel, row, column))


def judge_study(
    paper: Paper, study: Study, units: Iterable[Unit], kept: Mapping[str, Mapping[str, Any]], missing: Mapping[str, str]
) -> Outcome:
    """Collect the finished units (`kept`, by key) and judge the claims; `missing` has reasons by panel."""
    values: dict[str, dict[tuple[str, str], dict[int, float]]] = {}
    seconds = 0.0
    for unit in units:
        if (cell := kept.get(unit.key)) is None:
            continue
        seconds += cell["seconds"]
        for row, column, value in cell["scores"]:
            values.setdefault(unit.panel, {}).setdefault((row, column), {})[unit.run] = value
    panels = tuple(Panel(name, table) for name, table in values.items())
    verdicts = tuple(verdict for claim in study.claims for verdict in _judge_claim(claim, panels, missing))
    return Outcome(paper, study, panels, verdicts, missing, seconds)


def _judge_claim(claim: Claim, panels: tuple[Panel, ...], missing: Mapping[str, str]) -> Iterable[Verdict]:
    if claim.check is None:
        yield _make_verdict(claim, "", CANNOT, claim.cannot)
    elif claim.across and missing:
        reasons = "; ".join(f"{panel}: {reason}" if panel else reason for panel, reason in missing.items())
        yield _make_verdict(claim, "", CANNOT, reasons)
    elif claim.across:
        yield _check_claim(claim, "", list(panels))
    else:
        yield from (_make_verdict(claim, panel, CANNOT, reason) for panel, reason in missing.items())
        yield from (_check_claim(claim, panel.name, panel) for panel in panels if panel.name not in missing)


def _check_claim(claim: Claim, name: str, about: Any) -> Verdict:
    assert claim.check is not None
    try:
        holds, words = claim.check(about)
    except Untestable as reason:  # also if a number is absent: the quick tables are smaller
        return _make_verdict(claim, name, CANNOT, str(reason))
    except Exception as error:  # a check that fails must not lose the tables
        return _make_verdict(claim, name, CANNOT, f"{type(error).__name__}: {error}")
    return _make_verdict(claim, name, HOLDS if holds is True or holds is np.True_ else FAILS, words)


def _make_verdict(claim: Claim, panel: str, status: str, words: str) -> Verdict:
    return Verdict(f"{claim.text} (ours)" if claim.ours else claim.text, panel, status, words, claim.ours)
