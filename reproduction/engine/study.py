"""What a paper's file declares: studies (its tables and figures), what they claim, and the numbers it published."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

HOLDS, FAILS, CANNOT = "holds", "does not hold", "cannot be tested"


class Untestable(Exception):
    """A check cannot tell from the numbers that there are, and says why."""


class Score(NamedTuple):
    """One number of a table: in which row (a method) and column (a condition or a measure)."""

    row: str
    column: str
    value: float


class Evidence(NamedTuple):
    """Whether a claim holds, and the figures that say so."""

    holds: bool
    words: str


@dataclass(frozen=True)
class Claim:
    """A sentence of the paper that figures can bear out or not.

    `check` is asked once a panel, or once for `across` all panels (a list); it returns `Evidence`, or raises
    `Untestable`. A claim that nobody can test gives the reason in `cannot`, and no check. What the paper does not say
    itself (that printed numbers come out, that a formula is an erratum, why something differs) is `ours`, and is
    counted apart.
    """

    text: str
    check: Callable[[Any], Evidence] | None = None
    across: bool = False
    cannot: str = ""
    ours: bool = False

    def __post_init__(self) -> None:
        if (self.check is None) != bool(self.cannot):
            raise ValueError(f"claim {self.text!r} needs a check, or the reason why there cannot be one")


@dataclass(frozen=True)
class Figure:
    """How a study is drawn: lines (rows) over columns that are numbers, one picture a panel; or bars."""

    x: str
    y: str
    bars: bool = False


@dataclass(frozen=True)
class Unit:
    """The smallest piece of work that is kept: one setting of a study, one run of it."""

    paper: str
    study: str
    settings: Mapping[str, Any]
    run: int

    @property
    def panel(self) -> str:
        """Which table of the study the numbers go to: mostly the name of the data."""
        return str(self.settings.get("panel", ""))

    @property
    def key(self) -> str:
        """What tells it from all other units of its study."""
        return json.dumps({**self.settings, "run": self.run}, sort_keys=True)


@dataclass(frozen=True)
class Study:
    """A table or a figure of a paper.

    Attributes
    ----------
    name, title : str
        As the paper calls it (``table-3``), and what it shows.
    measure : str
        What the numbers are, and whether less is better.
    work : callable
        ``work(run=0, **settings)`` gives the scores of one run. The run is the seed.
    settings, runs
        The paper's protocol: each of the settings is worked so many times. ``panel`` names the table that the
        numbers go to, ``data`` the set they need (a name in `datasets.FETCHERS`, or what ships); the rest is the
        work's own.
    quick, quick_runs
        The same in seconds, on what ships.
    claims : tuple of Claim
        What the paper says of it.
    figure : Figure, optional
        How to draw it.
    deviations : bool
        Whether the spread is the standard deviation, as here and there in the papers, or the standard error.
    note : str
        Where the settings differ from the paper's, and why.
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
        """All work of the study, in the order of its tables."""
        settings, runs = (self.quick, self.quick_runs) if quick else (self.settings, self.runs)
        return [Unit(paper, self.name, one, run) for one in settings for run in range(one.get("runs", runs))]


@dataclass(frozen=True)
class Paper:
    """A paper: what the command calls it, who wrote it, where, its studies, and the numbers it published."""

    name: str
    title: str
    citation: str
    idea: str
    studies: tuple[Study, ...]
    published: Mapping[tuple[str, str, str, str], float] = field(repr=False)

    def study(self, name: str) -> Study:
        """The study of that name."""
        for one in self.studies:
            if one.name == name:
                return one
        raise ValueError(f"{self.name} has no {name!r}; it has {', '.join(one.name for one in self.studies)}")
