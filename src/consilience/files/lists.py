"""Split columns of lists, such as ``Comedy, Action``, into the categories that each cell names."""

from __future__ import annotations

import re
from collections import Counter

import numpy as np

from .formats.columns import to_objects
from .readings import ColumnReading, Conversion, list_texts

SEPARATORS = (";", "|", ",", "/")
MIN_REPEATS = 5  # cells per category on average: rarer ones are words of a text, or parts of a name
MIN_LISTS = 0.2  # share of the cells that list several; if fewer do, each combination is a category
MIN_MOVING = 0.5  # share of the categories that are at the start of some lists and later in others
MIN_CATEGORIES = 5  # of lists; the combinations of fewer are categories themselves
MAX_WORDS = 3  # of a category on average
BRACKETS = re.compile(r"^[\[({]\s*(.*?)\s*[\])}]$", re.DOTALL)  # of a list that Python or JSON has written


def convert_lists(
    column: str,  # noqa: ARG001
    values: np.ndarray,
    reading: ColumnReading | None = None,
    lenient: bool = False,
) -> Conversion | None:
    """Convert cells to the categories that they list, each once, or None if the column holds something else.

    The parts of cells are categories if they repeat across cells and places, and if there are fewer of them than
    different cells: the two parts of ``Lyon, France`` and of ``garden chair, red`` are no lists.

    Examples
    --------
    >>> genres = ["Comedy, Action", "Comedy", "Action, Drama", "Horror, Comedy", "Drama", "Romance, Horror"] * 5
    >>> convert_lists("genres", np.array(genres, dtype=object)).numbers[:2].tolist()
    [{'Comedy': 1.0, 'Action': 1.0}, {'Comedy': 1.0}]
    """
    texts = list_texts(values)
    if reading is None:
        separator = next((mark for mark in SEPARATORS if _separates(mark, list(texts.values()))), None)
        if separator is None:
            return None
        reading = ColumnReading("list", separator, lenient=lenient)
    bags = to_objects([None] * len(values))
    for row, text in texts.items():
        bags[row] = dict.fromkeys(split_list(text, reading.form), 1.0)
    longest = max(texts, key=lambda row: len(bags[row]), default=-1)
    example = f"{texts[longest]!r} read as {len(bags[longest])} categories" if texts else ""
    return Conversion(bags, example, reading)


def split_list(text: str, separator: str) -> list[str]:
    """Split a cell at a separator, without the brackets and quotes that Python and JSON write around lists."""
    listed = BRACKETS.sub(r"\1", text)
    parts = (part.strip() for part in listed.split(separator))
    return [part for part in (part.strip("'\"") if listed != text else part for part in parts) if part]


def _separates(separator: str, texts: list[str]) -> bool:
    """Whether a mark separates categories in enough cells."""
    n_lists = sum(separator in text for text in texts)
    if n_lists < max(2, MIN_LISTS * len(texts)):
        return False
    lists = [split_list(text, separator) for text in texts]
    first, later = ({part for cell in lists for part in cell[places]} for places in (slice(0, 1), slice(1, None)))
    if len(first & later) < MIN_MOVING * min(len(first), len(later)):
        return False
    parts = [part for cell in lists for part in cell]
    if separator in ",/" and any(part[:1].isdigit() for part in parts):  # 12,5 and 120/80 are numbers
        return False
    counts = Counter(parts)
    if len(counts) < MIN_CATEGORIES:
        return False
    n_words = sum(len(part.split()) for part in counts)
    return (
        len(counts) < len(set(texts)) and len(parts) >= MIN_REPEATS * len(counts) and n_words <= MAX_WORDS * len(counts)
    )
