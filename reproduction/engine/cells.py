"""Storage of finished cells, one file per study, so that an interrupted run can continue."""

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
ABOUT = "Finished cells of `python -m reproduction`, one per line. Cells listed here are not computed again.\n"


class Cells:
    """One line of JSON per finished unit, under ``cells/`` in the output folder."""

    def __init__(self, folder: str | os.PathLike[str]) -> None:
        self.folder = Path(folder) / "cells"
        self._about = self.folder / "ABOUT.txt"

    def open(self) -> None:
        """Create the folder for cells; refuse a folder with other content."""
        parent = self.folder.parent
        check_output_folder(parent, (), overwrite=False)
        if parent.exists() and any(parent.iterdir()) and not self._about.is_file():
            raise FileExistsError(
                f"{parent} contains other files than those of a reproduction run: choose another folder with --out"
            )
        self.folder.mkdir(parents=True, exist_ok=True)
        self._about.write_text(ABOUT, encoding="utf-8")

    def read(self, paper: str, study: str) -> dict[str, Cell]:
        """Read the stored cells by the key of their unit; cells of another version of consilience are ignored."""
        try:
            lines = self._path(paper, study).read_bytes().split(b"\n")
        except FileNotFoundError:
            return {}
        cells = (_parse_cell(line) for line in lines)
        return {cell["key"]: cell for cell in cells if cell and cell["version"] == __version__}

    def keep(self, unit: Unit, scores: list[Score], seconds: float) -> None:
        """Append a finished unit to its file."""
        cell = {"key": unit.key, "version": __version__, "seconds": round(seconds, 3), "scores": scores}
        path = self._path(unit.paper, unit.study)
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("a+b") as file:
            file.seek(0, os.SEEK_END)
            if file.tell():  # end a line that an interrupt left incomplete, so that it does not corrupt this one
                file.seek(-1, os.SEEK_END)
                if file.read(1) != b"\n":
                    file.write(b"\n")
            file.write(json.dumps(cell).encode() + b"\n")

    def _path(self, paper: str, study: str) -> Path:
        return self.folder / paper / f"{study}.jsonl"


def _parse_cell(line: bytes) -> Cell | None:
    """Parse a cell; return None for an incomplete or invalid line."""
    try:
        cell = json.loads(line)
        key, version, seconds, scores = (cell[name] for name in ("key", "version", "seconds", "scores"))
        valid = isinstance(key, str) and isinstance(version, str) and isfinite(seconds) and len(scores) > 0
        return cell if valid and all(map(_is_score, scores)) else None
    except (ValueError, TypeError, LookupError, OverflowError, RecursionError):
        return None


def _is_score(score: Any) -> bool:
    row, column, value = score
    float(value)  # raises OverflowError for integers beyond the range of floats
    return isinstance(row, str) and isinstance(column, str) and type(value) in (int, float)
