"""Guess the column that identifies the rows of tables, if the user names none.

A few ids that are in several rows by mistake do not make a feature of the column: see `list_doubled`.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np

from .conversion import convert_column
from .formats.columns import format_cell
from .spellings import ignore_zeros

ID_WORDS = (
    "id|uid|uuid|guid|key|code|sku|isbn|issn|ean|upc|asin|doi|identifier|barcode|accession|nr|no|number|index|handle|slug|"
    "username|ticker"
)
ID_NAME = re.compile(rf"(?:.*[\W_])?(?:{ID_WORDS})|unnamed: 0|column 1", re.IGNORECASE)
CAMEL_ID = re.compile(r".*[a-z](?:Id|ID)")
TITLE_NAME = re.compile(r"(?:.*[\W_])?(?:name|email|e-mail|file|filename)", re.IGNORECASE)
CODE = re.compile(r"(?=\S*\d)\S{1,64}")  # one word with a digit
CODE_SHARE = 0.9  # of the cells of a column that are codes
MIN_DISTINCT = 0.9  # share of different cells from which a column identifies rows, some of them by mistake the same
# Names of columns of whole numbers that are codes: more of them is not more of anything. The last word tells in
# zip_code and flightNo. A "number" is a count, such as the number of rooms, unless it numbers one of the things below.
CODE_WORD = re.compile(
    "u?u?id|guid|code|sku|isbn|issn|ean|upc|asin|barcode|zip|zipcode|postcode|plz|cep|flight|"
    "ssn|accession|identifier|cpf|cnpj|pesel|siret|siren|iban|version|nr|\\w*nummer"
)
PHONE_WORD = re.compile("phone|telephone|tel|mobile|fax|telefon")  # may also be a count of calls or visits
MIN_PHONE = 10_000
NUMBER_WORD = re.compile("number|num|no")
NUMBERED_THING = re.compile(
    "flight|phone|telephone|fax|mobile|house|account|serial|order|invoice|ticket|customer|article|item|part|passport|train|"
    "route|line|room|seat|gate|bus|document|contract|policy|member|student|employee|patient"
)
WORDS = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")  # of a name such as flight_no, flightNo or FlightNO
SHARED_CODE = re.compile(  # that several rows may have
    r"(?:.*[\W_])?(?:zip|plz|cep|phone|telephone|mobile|fax|(?:zip|post|postal|country|area)[\W_]*code)"
    r"(?:[\W_]*(?:number|num|no|nr))?",
    re.IGNORECASE,
)
N_TRIED = 200  # cells all over a column that show whether it holds dates or amounts
MAX_ID_WORDS = 3.5  # words per cell: longer strings are texts
MIN_SHARED = 10  # rows from which equal whole numbers of two tables are no chance
MIN_OVERLAP = 0.5  # share of the ids of the smaller table that the other table must have

Columns = Mapping[str, np.ndarray]


def has_id_name(column: str) -> bool:
    """Whether a column is called like an identifier: product_id, SKU, customerId."""
    return bool(ID_NAME.fullmatch(column.strip()) or CAMEL_ID.fullmatch(column.strip()))


def has_code_name(column: str, smallest: float = np.inf) -> bool:
    """Whether whole numbers of this name are codes: zip_code, flight, flightNumber, but not a number of rooms.

    `smallest` is the smallest of the numbers, by which those of phones differ from counts of calls.

    Examples
    --------
    >>> [name for name in ("zipCode", "Flight No", "PLZ", "number of flights", "index") if has_code_name(name)]
    ['zipCode', 'Flight No', 'PLZ']
    """
    words = ["", "", *(word.lower() for word in WORDS.findall(column.replace("#", " no")))]
    if NUMBER_WORD.fullmatch(words[-1]):
        return NUMBERED_THING.fullmatch(words[-2]) is not None
    if PHONE_WORD.fullmatch(words[-1]):
        return smallest >= MIN_PHONE
    return CODE_WORD.fullmatch(words[-1]) is not None and "of" not in words


def guess_id_column(
    tables: Mapping[Path, Columns],
    ids_elsewhere: Sequence[set[str]] = (),
    taken: frozenset[str] = frozenset(),
    codes: frozenset[str] = frozenset(),
) -> str | None:
    """Guess the column that identifies the rows of the tables, in the form of --id; None if there is none.

    `ids_elsewhere` are the ids of matrices and the ends of links, which a good column contains; `taken` are columns
    with another purpose, and `codes` columns of numbers that were written like 007. Several tables must have the column
    in common, or columns with the same values. A column of whole numbers that all tables have, with mostly the same
    values, identifies rows whatever its name is.
    """
    candidates = {path: _list_candidates(columns, ids_elsewhere, taken, codes) for path, columns in tables.items()}
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
    common += _list_shared(tables, taken) if others else []
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


def _list_shared(tables: Mapping[Path, Columns], taken: frozenset[str]) -> list[str]:
    """List the columns of the same name in all tables whose values are nearly all different, and mostly shared."""
    first, *others = tables.values()
    shared = []
    for name in first:
        ids = None if name in taken or len(first) == 1 else _list_ids(first[name])
        elsewhere = [_list_ids(columns[name]) if name in columns else None for columns in others]
        if (
            ids is not None
            and len(ids) >= MIN_SHARED
            and all(other is not None and _overlap(ids, other) for other in elsewhere)
        ):
            shared.append(name)
    return shared


def _list_candidates(
    columns: Columns, ids_elsewhere: Sequence[set[str]], taken: frozenset[str], codes: frozenset[str]
) -> dict[str, set[str]]:
    """List the columns that may identify the rows, the likeliest first, with their values."""
    ranked = []
    free = [name for name in columns if name not in taken]
    for position, name in enumerate(free if len(free) > 1 else ()):
        ids = _list_ids(columns[name])
        if ids is None:
            continue
        rank = _rank(name, columns[name], ids, ids_elsewhere, position)
        rank = 2 if rank is None and name in codes and not SHARED_CODE.fullmatch(name.strip()) else rank
        if rank is not None:
            ranked.append((len(ids) < len(columns[name]), rank, position, name, ids))
    return {name: ids for *_, name, ids in sorted(ranked, key=lambda entry: entry[:3])}


def _list_ids(values: np.ndarray) -> set[str] | None:
    """Return the cells as ids; None if they are not nearly all different, whole and present."""
    if values.dtype == object:
        if {type(cell) for cell in values} != {str}:
            return None
        ids = set(values.tolist())
    elif values.ndim == 1 and np.isfinite(values).all() and np.array_equal(values, np.floor(values)):
        ids = {format_cell(number) for number in values.tolist()}
    else:
        return None
    return ids if len(ids) >= MIN_DISTINCT * len(values) else None


def list_doubled(values: np.ndarray) -> list[str]:
    """List the ids that several rows of a column have."""
    ids = Counter(format_cell(cell) for cell in values.tolist())
    return [entity_id for entity_id, times in ids.items() if times > 1]


def _rank(name: str, values: np.ndarray, ids: set[str], ids_elsewhere: Sequence[set[str]], position: int) -> int | None:
    """Rank a column of different values by how well it identifies rows: 0 is best, None is not at all."""
    if SHARED_CODE.fullmatch(name.strip()):
        return None
    if ids_elsewhere and all(_overlap(ids, others) for others in ids_elsewhere):
        return 0
    if values.dtype != object:
        return 1 if has_id_name(name) else None
    texts = values.tolist()
    if np.mean([len(text.split()) for text in texts[:1000]]) >= MAX_ID_WORDS:
        return None
    if has_id_name(name):
        return 1
    if _is_measured(name, values[:: max(1, len(values) // N_TRIED)]):
        return None
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
    """Whether the smaller set is for the most part in the larger one, perhaps in another spelling."""
    n_shared = max(len(first & second), len({*map(ignore_zeros, first)} & {*map(ignore_zeros, second)}))
    return n_shared >= MIN_OVERLAP * max(1, min(len(first), len(second)))
