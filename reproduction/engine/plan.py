"""Plan a run: the units of the requested studies without those that are already stored."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

from .cells import Cells
from .outcome import Outcome, judge_study
from .study import Paper, Study, Unit

QUICK_DATA = "a quick run: few runs of a small version, on data that ships"


@dataclass(frozen=True)
class Plan:
    """A study, its units, and the keys of the finished units. A quick run is a run on other data."""

    paper: Paper
    study: Study
    units: tuple[Unit, ...]
    done: frozenset[str]

    @classmethod
    def of(cls, paper: Paper, study: Study, cells: Cells, quick: bool) -> Plan:
        """Make the plan of a study from its stored cells."""
        units = tuple(study.units(paper.name, quick))
        kept = cells.read(paper.name, study.name)
        if quick:
            claims = tuple(replace(claim, other_data=None) for claim in study.claims)
            study = replace(study, claims=claims, other_data=QUICK_DATA)
        return cls(paper, study, units, frozenset(unit.key for unit in units if unit.key in kept))

    @property
    def left(self) -> list[Unit]:
        """Units that are not finished."""
        return [unit for unit in self.units if unit.key not in self.done]

    def outcome(self, cells: Cells, missing: Mapping[str, str]) -> Outcome:
        """Return the outcome; `missing` has the reasons by panel."""
        return judge_study(self.paper, self.study, self.units, cells.read(self.paper.name, self.study.name), missing)


def choose_studies(papers: Mapping[str, Paper], paper: str | None, study: str | None) -> list[tuple[Paper, Study]]:
    """Return the requested studies: all, those of one paper, or a single one."""
    if paper is None:
        return [(every_paper, its) for every_paper in papers.values() for its in every_paper.studies]
    if paper not in papers:
        raise ValueError(f"no paper {paper!r}; there are {', '.join(papers)}")
    chosen = papers[paper]
    return [(chosen, its) for its in ([chosen.study(study)] if study else chosen.studies)]


def list_datasets(units: Iterable[Unit]) -> list[str]:
    """Return the names of the data sets that the units need, without repetition."""
    return list(dict.fromkeys(unit.settings["data"] for unit in units if "data" in unit.settings))
