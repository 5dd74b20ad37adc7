"""Declarations of a paper: its studies (tables and figures), their claims, and the published numbers."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

HOLDS, FAILS, CANNOT = "holds", "does not hold", "cannot be tested"


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
    """A statement of the paper that numbers can confirm or refute.

    `check` is called once per panel, or, if `across` is true, once with the list of all panels. It returns `Evidence`
    or raises `Untestable`. A claim that cannot be tested has no check and gives the reason in `cannot`. Statements that
    the paper does not make itself (that printed numbers are reproduced, that a formula is an erratum, why something
    differs) are `ours` and are counted separately.
    """

    text: str
    check: Callable[[Any], Evidence] | None = None
    across: bool = False
    cannot: str = ""
    ours: bool = False

    def __post_init__(self) -> None:
        if (self.check is None) != bool(self.cannot):
            raise ValueError(f"claim {self.text!r} needs either a check or the reason why it cannot be tested")


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
