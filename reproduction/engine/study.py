"""Declarations of a paper: its studies (tables and figures), their claims, and the published numbers."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

HOLDS, FAILS, CANNOT = "holds", "does not hold", "cannot be tested"
HOLDS_ELSEWHERE, FAILS_ELSEWHERE = "holds on other data", "does not hold on other data"


class Untestable(Exception):
    """Raised by a check that the available numbers cannot decide; the message is the reason."""


class Score(NamedTuple):
    """One number of a table with its row (a method) and column (a condition or a measure)."""

    row: str
    column: str
    value: float


class Evidence(NamedTuple):
    """Whether a claim holds, and the figures that show it."""

    holds: bool
    words: str


@dataclass(frozen=True)
class Claim:
    """A statement of the paper that numbers can confirm or refute: one claim per sentence, without second readings.

    Attributes
    ----------
    text : str
        What the paper claims.
    check : callable, optional
        Takes a panel and returns `Evidence`, or raises `Untestable`. By default there is one verdict per panel, for
        statements that the paper makes about each data set.
    once : bool
        The claim is one statement about all data sets: `check` is called per panel, and there is one verdict. It fails
        if the check fails on any panel, else it cannot be tested if any panel cannot, else it holds. If only some
        panels have the paper's own data, those get one verdict, and the others another one, which is counted apart.
    across : bool
        `check` takes the list of all panels, because it compares or counts them: one verdict, on other data if any
        panel has other data.
    cannot : str
        Reason why the claim cannot be tested; such a claim has no check.
    ours : bool
        Whether the paper does not make the statement itself (that printed numbers are reproduced, that a formula is an
        erratum, why something differs). Such statements are counted separately.
    other_data : str, optional
        Reason why the claim is tested on other data than the paper's own; an empty string if it is tested on the
        paper's own data. By default the study says it.
    """

    text: str
    check: Callable[[Any], Evidence] | None = None
    across: bool = False
    cannot: str = ""
    ours: bool = False
    once: bool = False
    other_data: str | None = None

    def __post_init__(self) -> None:
        if (self.check is None) != bool(self.cannot):
            raise ValueError(f"claim {self.text!r} needs either a check or the reason why it cannot be tested")
        if self.once and self.across:
            raise ValueError(f"claim {self.text!r} has once=True and across=True: its check takes one panel or all")


@dataclass(frozen=True)
class Figure:
    """How a study is drawn: one line per row over numeric columns, or bars; one plot per panel."""

    x: str
    y: str
    bars: bool = False


@dataclass(frozen=True)
class Unit:
    """The smallest piece of work that is stored: one run of one setting of a study."""

    paper: str
    study: str
    settings: Mapping[str, Any]
    run: int

    @property
    def panel(self) -> str:
        """Name of the table that the numbers belong to, usually the name of the data."""
        return str(self.settings.get("panel", ""))

    @property
    def key(self) -> str:
        """Identifier of the unit within its study."""
        return json.dumps({**self.settings, "run": self.run}, sort_keys=True)


@dataclass(frozen=True)
class Study:
    """A table or a figure of a paper.

    Attributes
    ----------
    name, title : str
        As the paper calls it (``table-3``), and what it shows.
    measure : str
        What the numbers are, and whether lower or higher is better.
    work : callable
        ``work(run=0, **settings)`` returns the scores of one run. The run number is the seed.
    settings, runs
        The paper's protocol: each setting is run `runs` times. ``panel`` names the table that the numbers belong to,
        ``data`` the data set (a name in `datasets.FETCHERS`, or a set that ships); all other keys are arguments of
        `work`.
    quick, quick_runs
        A small version that takes seconds, on data that ships.
    claims : tuple of Claim
        What the paper claims about the table.
    figure : Figure, optional
        How to draw the table.
    deviations : bool
        Whether the spread is the standard deviation, as in some papers, or the standard error.
    note : str
        Differences from the paper's settings, with reasons.
    other_data : str or mapping
        Reason why the data are not the paper's own, for all panels, or reasons by panel. Verdicts on other data are
        counted apart. docs/papers.md says which data are the paper's own.
    """

    name: str
    title: str
    measure: str
    work: Callable[..., Iterable[Score]]
    settings: tuple[Mapping[str, Any], ...]
    runs: int
    quick: tuple[Mapping[str, Any], ...]
    quick_runs: int
    claims: tuple[Claim, ...] = ()
    figure: Figure | None = None
    deviations: bool = False
    note: str = ""
    other_data: str | Mapping[str, str] = ""

    def __post_init__(self) -> None:
        if isinstance(self.other_data, str):
            return
        panels = {str(setting.get("panel", "")) for setting in self.settings}
        if unknown := set(self.other_data) - panels:
            raise ValueError(f"{self.name}: other_data names {sorted(unknown)}, but the panels are {sorted(panels)}")

    def explain_other_data(self, panel: str) -> str:
        """Return the reason why the data of a panel are not the paper's own; an empty string if they are."""
        return self.other_data if isinstance(self.other_data, str) else self.other_data.get(panel, "")

    def units(self, paper: str, quick: bool = False) -> list[Unit]:
        """Return all units of the study, in the order of its tables."""
        settings, runs = (self.quick, self.quick_runs) if quick else (self.settings, self.runs)
        return [
            Unit(paper, self.name, setting, run) for setting in settings for run in range(setting.get("runs", runs))
        ]


@dataclass(frozen=True)
class Paper:
    """A paper: its name on the command line, citation, idea, studies, and published numbers."""

    name: str
    title: str
    citation: str
    idea: str
    studies: tuple[Study, ...]
    published: Mapping[tuple[str, str, str, str], float] = field(repr=False)

    def study(self, name: str) -> Study:
        """Return the study with this name."""
        for study in self.studies:
            if study.name == name:
                return study
        raise ValueError(f"{self.name} has no {name!r}; it has {', '.join(study.name for study in self.studies)}")
