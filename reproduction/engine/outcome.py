"""Results of a study: its numbers, the published numbers, and a verdict on each claim."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from .study import CANNOT, FAILS, FAILS_ELSEWHERE, HOLDS, HOLDS_ELSEWHERE, Claim, Paper, Study, Unit, Untestable


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
    """Whether a claim holds, and the figures that show it; `other_data` says why the data are not the paper's own."""

    claim: str
    panel: str
    status: str
    words: str
    ours: bool = False
    other_data: str = ""


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
    finished = [(unit, kept[unit.key]) for unit in units if unit.key in kept]
    values: dict[str, dict[tuple[str, str], dict[int, float]]] = {unit.panel: {} for unit, _ in finished}
    seconds = 0.0
    # complete runs come first, because they have the rows and columns in their order
    for unit, cell in sorted(finished, key=lambda pair: -len(pair[1]["scores"])):
        seconds += cell["seconds"]
        for row, column, value in cell["scores"]:
            values[unit.panel].setdefault((row, column), {})[unit.run] = value
    panels = tuple(Panel(name, table) for name, table in values.items())
    verdicts = tuple(verdict for claim in study.claims for verdict in _judge_claim(study, claim, panels, missing))
    return Outcome(paper, study, panels, verdicts, missing, seconds)


def _judge_claim(
    study: Study, claim: Claim, panels: tuple[Panel, ...], missing: Mapping[str, str]
) -> Iterator[Verdict]:
    """Judge a claim: one verdict, or one per panel, or one each for own and other data."""
    names = list(dict.fromkeys([*missing, *(panel.name for panel in panels)]))
    reasons = {name: study.explain_other_data(name) if claim.other_data is None else claim.other_data for name in names}
    if claim.check is None:
        yield _make_verdict(claim, "", CANNOT, claim.cannot, "")
    elif claim.across and missing:
        yield _make_verdict(claim, "", CANNOT, _join_by_panel(missing), "")
    elif claim.across:
        yield _check_claim(claim, "", list(panels), claim.other_data or _join_by_panel(reasons))
    else:
        verdicts = [_make_verdict(claim, panel, CANNOT, reason, reasons[panel]) for panel, reason in missing.items()]
        verdicts += [
            _check_claim(claim, panel.name, panel, reasons[panel.name]) for panel in panels if panel.name not in missing
        ]
        if not claim.once:
            yield from verdicts
            return
        for group in (
            [verdict for verdict in verdicts if not verdict.other_data],
            [verdict for verdict in verdicts if verdict.other_data],
        ):
            if group:
                yield _combine_verdicts(group)


def _combine_verdicts(verdicts: list[Verdict]) -> Verdict:
    """Combine the verdicts per panel on a claim about all panels: the worst status counts."""
    if len(verdicts) == 1:
        return verdicts[0]
    statuses = {verdict.status for verdict in verdicts}
    status = next(status for status in (FAILS, FAILS_ELSEWHERE, CANNOT, *statuses) if status in statuses)
    words = _join_by_panel({verdict.panel: verdict.words for verdict in verdicts})
    other_data = _join_by_panel({verdict.panel: verdict.other_data for verdict in verdicts})
    return replace(verdicts[0], panel="", status=status, words=words, other_data=other_data)


def _join_by_panel(texts: Mapping[str, str]) -> str:
    """Join texts as ``panel: text; panel, panel: text``; panels with equal texts are grouped."""
    groups: dict[str, list[str]] = {}
    for panel, text in texts.items():
        if text:
            groups.setdefault(text, []).extend([panel] if panel else [])
    return "; ".join(f"{', '.join(panels)}: {text}" if panels else text for text, panels in groups.items())


def _check_claim(claim: Claim, name: str, about: Any, other_data: str) -> Verdict:
    assert claim.check is not None
    try:
        holds, words = claim.check(about)
    except Untestable as reason:  # also if a number is absent: the quick tables are smaller
        return _make_verdict(claim, name, CANNOT, str(reason), other_data)
    except Exception as error:  # a check that fails must not lose the tables
        return _make_verdict(claim, name, CANNOT, f"{type(error).__name__}: {error}", other_data)
    statuses = (HOLDS_ELSEWHERE, FAILS_ELSEWHERE) if other_data else (HOLDS, FAILS)
    return _make_verdict(
        claim, name, statuses[0] if holds is True or holds is np.True_ else statuses[1], words, other_data
    )


def _make_verdict(claim: Claim, panel: str, status: str, words: str, other_data: str) -> Verdict:
    text = f"{claim.text} (ours)" if claim.ours else claim.text
    return Verdict(text, panel, status, words, claim.ours, other_data)
