"""Guess the column that identifies the rows of tables, if the user names none."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np

from .conversion import convert_column
from .formats.columns import format_cell

ID_WORDS = (
    "id|uid|uuid|guid|key|code|sku|isbn|issn|ean|upc|asin|doi|identifier|barcode|accession|nr|no|number|index|handle|slug|"
    "username|ticker"
)
ID_NAME = re.compile(rf"(?:.*[\W_])?(?:{ID_WORDS})|unnamed: 0|column 1", re.IGNORECASE)
CAMEL_ID = re.compile(r".*[a-z](?:Id|ID)")
TITLE_NAME = re.compile(r"(?:.*[\W_])?(?:name|email|e-mail|file|filename)", re.IGNORECASE)
CODE = re.compile(r"(?=\S*\d)\S{1,64}")  # one word with a digit
CODE_SHARE = 0.9  # of the cells of a column that are codes
MAX_ID_WORDS = 3.5  # words per cell: longer strings are texts
MIN_OVERLAP = 0.5  # share of the ids of the smaller table that the other table must have

Columns = Mapping[str, np.ndarray]


def has_id_name(column: str) -> bool:
    """Whether a column is called like an identifier: product_id, SKU, customerId."""
    return bool(ID_NAME.fullmatch(column.strip()) or CAMEL_ID.fullmatch(column.strip()))


def guess_id_column(
    tables: Mapping[Path, Columns], ids_elsewhere: Sequence[set[str]] = (), taken: frozenset[str] = frozenset()
) -> str | None:
    """Guess the column that identifies the rows of the tables, in the form of --id; None if there is none.

    `ids_elsewhere` are the ids of matrices and the ends of links, which a good column contains; `taken` are columns
    with another purpose. Several tables must have the column in common, or columns with the same values.
    """
    candidates = {path: _list_candidates(columns, ids_elsewhere, taken) for path, columns in tables.items()}
    if not candidates:
        return None
    first, *others = candidates
    common = [name for name in candidates[first] if all(name in tables[path] for path in others)]
    common += [
        name
        for path in others
        for name in candidates[path]
        if has_id_name(name) and all(name in columns for columns in tables.values())
    ]
    if common:
        return common[0]
    for name, ids in candidates[first].items():
        names = [name]
        for path in others:
            same = next((other for other, values in candidates[path].items() if _overlap(ids, values)), None)
            names += [] if same is None else [same]
        if len(names) == len(tables):
            return ",".join(dict.fromkeys(names))
    return next((name for names in candidates.values() for name in names), None)


def _list_candidates(columns: Columns, ids_elsewhere: Sequence[set[str]], taken: frozenset[str]) -> dict[str, set[str]]:
    """List the columns that may identify the rows, the likeliest first, with their values."""
    ranked = []
    free = [name for name in columns if name not in taken]
    for position, name in enumerate(free if len(free) > 1 else ()):
        ids = _list_ids(columns[name])
        if ids is None:
            continue
        rank = _rank(name, columns[name], ids, ids_elsewhere, position)
        if rank is not None:
            ranked.append((rank, position, name, ids))
    return {name: ids for _, _, name, ids in sorted(ranked, key=lambda entry: entry[:2])}


def _list_ids(values: np.ndarray) -> set[str] | None:
    """Return the cells as ids; None if they are not all different, whole and present."""
    if values.dtype == object:
        if {type(cell) for cell in values} != {str}:
            return None
        ids = {cell.strip() for cell in values}
    elif values.ndim == 1 and np.isfinite(values).all() and np.array_equal(values, np.floor(values)):
        ids = {format_cell(number) for number in values.tolist()}
    else:
        return None
    return ids if len(ids) == len(values) else None


def _rank(name: str, values: np.ndarray, ids: set[str], ids_elsewhere: Sequence[set[str]], position: int) -> int | None:
    """Rank a column of different values by how well it identifies rows: 0 is best, None is not at all."""
    if ids_elsewhere and all(_overlap(ids, others) for others in ids_elsewhere):
        return 0
    if values.dtype != object:
        return 1 if has_id_name(name) else None
    texts = values.tolist()
    if np.mean([len(text.split()) for text in texts[:1000]]) >= MAX_ID_WORDS:
        return None
    if _is_measured(name, values[:200]):
        return 1 if has_id_name(name) else None
    if has_id_name(name):
        return 1
    if sum(bool(CODE.fullmatch(text.strip())) for text in texts) >= CODE_SHARE * len(texts):
        return 2
    if TITLE_NAME.fullmatch(name.strip()):
        return 3
    return 4 if position == 0 else None


def _is_measured(name: str, values: np.ndarray) -> bool:
    """Whether a column holds dates or amounts, also those that can be read in two ways."""
    try:
        return convert_column(name, values, lenient=True) is not None
    except ValueError:  # which says what the user can do, once the column is known to be a feature
        return True


def _overlap(first: set[str], second: set[str]) -> bool:
    """Whether the smaller set is for the most part in the larger one."""
    return len(first & second) >= MIN_OVERLAP * max(1, min(len(first), len(second)))
