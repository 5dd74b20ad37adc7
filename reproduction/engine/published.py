"""Read the numbers that a paper published, from the CSV file next to its module."""

from __future__ import annotations

import csv
from importlib.resources import files


def read_published(paper: str) -> dict[tuple[str, str, str, str], float]:
    """Return the published numbers by study, panel, row and column."""
    text = (files("reproduction") / "published" / f"{paper}.csv").read_text(encoding="utf-8")
    numbers: dict[tuple[str, str, str, str], float] = {}
    for line in csv.DictReader(text.splitlines()):
        key = line["study"], line["panel"], line["row"], line["column"]
        if key in numbers:
            raise ValueError(f"{paper}: the published number {key} is listed twice")
        numbers[key] = float(line["value"])
    return numbers
