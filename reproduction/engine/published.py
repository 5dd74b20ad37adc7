"""The numbers that a paper printed, from the table beside its file."""

from __future__ import annotations

import csv
from importlib.resources import files


def published(paper: str) -> dict[tuple[str, str, str, str], float]:
    """By study, panel, row and column."""
    text = (files("reproduction") / "published" / f"{paper}.csv").read_text(encoding="utf-8")
    numbers: dict[tuple[str, str, str, str], float] = {}
    for line in csv.DictReader(text.splitlines()):
        key = line["study"], line["panel"], line["row"], line["column"]
        if key in numbers:
            raise ValueError(f"{paper}: the published number {key} is there twice")
        numbers[key] = float(line["value"])
    return numbers
