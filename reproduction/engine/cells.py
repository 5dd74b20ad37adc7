"""Finished cells, kept in a file a study, so that a run that was interrupted goes on where it was."""

from __future__ import annotations

import json
import os
from math import isfinite
from pathlib import Path
from typing import Any

from consilience._version import __version__
from consilience.files import check_output_folder

from .study import Score, Unit

Cell = dict[str, Any]
ABOUT = "Finished cells of `consilience reproduce`, one a line: what is here is not worked again.\n"


class Cells:
    """One line of JSON a finished unit, under ``cells/`` in the folder of the tables."""

    def __init__(self, folder: str | os.PathLike[str]) -> None:
        self.folder = Path(folder) / "cells"
        self._about = self.folder / "ABOUT.txt"

    def open(self) -> None:
        """Make the place for cells, or refuse a folder that holds other things."""
        above = self.folder.parent
        check_output_folder(above, (), overwrite=False)
        if above.exists() and any(above.iterdir()) and not self._about.is_file():
            raise FileExistsError(f"{above} holds other things than a run of this: choose another folder with --out")
        self.folder.mkdir(parents=True, exist_ok=True)
        self._about.write_text(ABOUT, encoding="utf-8")

    def read(self, paper: str, study: str) -> dict[str, Cell]:
        """Kept cells by the key of their unit; those of another version of this library do not count."""
        try:
            lines = self._path(paper, study).read_bytes().split(b"\n")
        except FileNotFoundError:
            return {}
        cells = (_parsed(line) for line in lines)
        return {cell["key"]: cell for cell in cells if cell and cell["version"] == __version__}

    def keep(self, unit: Unit, scores: list[Score], seconds: float) -> None:
        """Write down a finished unit, at once."""
        cell = {"key": unit.key, "version": __version__, "seconds": round(seconds, 3), "scores": scores}
        path = self._path(unit.paper, unit.study)
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("a+b") as file:
            file.seek(0, os.SEEK_END)
            if file.tell():  # a line that an interrupt has cut ends here, and does not spoil this one
                file.seek(-1, os.SEEK_END)
                if file.read(1) != b"\n":
                    file.write(b"\n")
            file.write(json.dumps(cell).encode() + b"\n")

    def _path(self, paper: str, study: str) -> Path:
        return self.folder / paper / f"{study}.jsonl"


def _parsed(line: bytes) -> Cell | None:
    """A cell, or None of a line that was cut or is something else."""
    try:
        cell = json.loads(line)
        key, version, seconds, scores = (cell[name] for name in ("key", "version", "seconds", "scores"))
        whole = isinstance(key, str) and isinstance(version, str) and isfinite(seconds) and len(scores) > 0
        return cell if whole and all(map(_is_score, scores)) else None
    except (ValueError, TypeError, LookupError, OverflowError, RecursionError):
        return None


def _is_score(score: Any) -> bool:
    row, column, value = score
    float(value)  # too large a whole number is none
    return isinstance(row, str) and isinstance(column, str) and type(value) in (int, float)
