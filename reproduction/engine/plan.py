"""What a run has to do: the units of the studies that are asked for, less those that are kept from before."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from .cells import Cells
from .outcome import Outcome, judge
from .study import Paper, Study, Unit


@dataclass(frozen=True)
class Plan:
    """A study, its units, and the keys of those that are done."""

    paper: Paper
    study: Study
    units: tuple[Unit, ...]
    done: frozenset[str]

    @classmethod
    def of(cls, paper: Paper, study: Study, cells: Cells, quick: bool) -> Plan:
        """Of a study, with what is kept of it."""
        units = tuple(study.units(paper.name, quick))
        kept = cells.read(paper.name, study.name)
        return cls(paper, study, units, frozenset(unit.key for unit in units if unit.key in kept))

    @property
    def left(self) -> list[Unit]:
        """Units still to be worked."""
        return [unit for unit in self.units if unit.key not in self.done]

    def outcome(self, cells: Cells, missing: Mapping[str, str]) -> Outcome:
        """What came out, with the reasons why panels are `missing`."""
        return judge(self.paper, self.study, self.units, cells.read(self.paper.name, self.study.name), missing)


def choose(papers: Mapping[str, Paper], paper: str | None, study: str | None) -> list[tuple[Paper, Study]]:
    """The studies asked for: all, those of one paper, or one of them."""
    if paper is None:
        return [(one, its) for one in papers.values() for its in one.studies]
    if paper not in papers:
        raise ValueError(f"no paper {paper!r}; there are {', '.join(papers)}")
    found = papers[paper]
    return [(found, its) for its in ([found.study(study)] if study else found.studies)]


def names_of_data(units: Iterable[Unit]) -> list[str]:
    """The data sets that units need, each once."""
    return list(dict.fromkeys(unit.settings["data"] for unit in units if "data" in unit.settings))
