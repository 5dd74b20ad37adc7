"""Draw outcomes as figures."""

from __future__ import annotations

import os
from importlib.util import find_spec
from pathlib import Path
from shutil import copyfile
from tempfile import TemporaryDirectory

from consilience.files import stage_file
from consilience.plot import CurvesDisplay

from .entries import iterate_entries
from .outcome import Outcome

Numbers = dict[str, dict[str, dict[str, float]]]


def draw_figure(outcome: Outcome, folder: str | os.PathLike[str]) -> list[Path]:
    """Write ``<study>.svg`` and ``<study>.png`` into a folder, and return the paths.

    Nothing is written for a study without a figure or numbers, nor without matplotlib
    (``pip install 'consilience[plot]'``).
    """
    if outcome.study.figure is None or not outcome.panels or find_spec("matplotlib") is None:
        return []
    files = []
    with TemporaryDirectory() as temporary:
        for image in make_display(outcome).save(Path(temporary) / outcome.study.name):
            files.append(Path(folder) / image.name)
            with stage_file(files[-1], overwrite=True) as path:
                copyfile(image, path)
    return files


def make_display(outcome: Outcome) -> CurvesDisplay:
    """Return the Display of a study with a figure, before it is drawn."""
    figure = outcome.study.figure
    if figure is None:
        raise ValueError(f"{outcome.paper.name} {outcome.study.name} has no figure, only a table")
    runs: dict[str, dict[str, dict[str, list[float]]]] = {}
    published: Numbers = {}
    for panel, row, column, cell in iterate_entries(outcome):
        runs.setdefault(panel.name, {}).setdefault(row, {})[column] = panel[row, column].tolist()
        if cell.published is not None:
            published.setdefault(panel.name, {}).setdefault(row, {})[column] = cell.published
    return CurvesDisplay(
        runs, published=published, x=figure.x, y=figure.y, bars=figure.bars, deviations=outcome.study.deviations
    )
