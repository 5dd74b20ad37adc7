"""Outcomes as figures."""

from __future__ import annotations

import os
from importlib.util import find_spec
from pathlib import Path
from shutil import copyfile
from tempfile import TemporaryDirectory

from consilience.files import stage_file
from consilience.plot import CurvesDisplay

from .entries import entries
from .outcome import Outcome

Numbers = dict[str, dict[str, dict[str, float]]]


def draw(outcome: Outcome, folder: str | os.PathLike[str]) -> list[Path]:
    """Write ``<study>.svg`` and ``<study>.png`` into a folder, and say where they are.

    Nothing is written of a study that has no figure or no numbers, nor without matplotlib
    (``pip install 'consilience[plot]'``).
    """
    if outcome.study.figure is None or not outcome.panels or find_spec("matplotlib") is None:
        return []
    files = []
    with TemporaryDirectory() as nearby:
        for drawn in display(outcome).save(Path(nearby) / outcome.study.name):
            files.append(Path(folder) / drawn.name)
            with stage_file(files[-1], overwrite=True) as path:
                copyfile(drawn, path)
    return files


def display(outcome: Outcome) -> CurvesDisplay:
    """The drawing of a study that has a figure: not drawn yet."""
    figure = outcome.study.figure
    if figure is None:
        raise ValueError(f"{outcome.paper.name} {outcome.study.name} has no figure: it is a table only")
    runs: dict[str, dict[str, dict[str, list[float]]]] = {}
    published: Numbers = {}
    for panel, row, column, own in entries(outcome):
        runs.setdefault(panel.name, {}).setdefault(row, {})[column] = panel[row, column].tolist()
        if own.published is not None:
            published.setdefault(panel.name, {}).setdefault(row, {})[column] = own.published
    return CurvesDisplay(
        runs, published=published, x=figure.x, y=figure.y, bars=figure.bars, deviations=outcome.study.deviations
    )
