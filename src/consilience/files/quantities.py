"""Convert columns of quantities, such as ``90 min``, ``1 h 30``, ``2 GB`` or ``3 rooms``, to numbers in one unit."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from .amounts import find_decimal_mark
from .formats.marks import PATTERNS, AmountCell, to_number
from .readings import MIN_SHARE, ColumnReading, Conversion, check_unread, list_texts

# The units that can be converted into each other: size and spellings in lower case. Units of time are often written
# out, so that they have German, French, Spanish, Portuguese and Italian spellings, too.
UNITS: dict[str, dict[float, str]] = {
    "time": {
        0.001: "ms msec millisecond milliseconds",
        1: "s sec secs second seconds sek sekunde sekunden seconde secondes segundo segundos secondi",
        60: "m min mins minute minutes minuten minuto minutos minuti",
        3600: "h hr hrs hour hours std stunde stunden heure heures hora horas ora ore",
        86400: "d day days tag tage tagen jour jours dia dias día días giorno giorni",
        604800: "w wk wks week weeks woche wochen semaine semaines semana semanas",
        2629746: "mo mos month months monat monate mois mes meses mesi",
        31556952: "y yr yrs year years jahr jahre an ans année années año años ano anos anno anni",
    },
    "mass": {
        1e-6: "mcg µg μg ug",
        0.001: "mg",
        1: "g gram grams gramm",
        28.349523125: "oz ounce ounces",
        453.59237: "lb lbs pound pounds",
        1000: "kg kgs kilo kilos kilogram kilograms",
        1e6: "t ton tons tonne tonnes",
    },
    "length": {
        0.001: "mm",
        0.01: "cm",
        0.0254: 'in inch inches " ″',
        0.3048: "ft foot feet ' ′",
        1: "m meter meters metre metres",
        1000: "km kms",
        1609.344: "mi mile miles",
    },
    "volume": {0.001: "ml", 0.01: "cl", 0.1: "dl", 1: "l liter liters litre litres"},
    "storage": {1: "b byte bytes", 1e3: "k kb kib", 1e6: "m mb mib", 1e9: "g gb gib", 1e12: "t tb tib"},
    "frequency": {1: "hz", 1e3: "khz", 1e6: "mhz", 1e9: "ghz"},
    "power": {1: "w", 1e3: "kw", 735.49875: "ps", 745.69987: "hp"},
    "magnitude": {1e3: "k", 1e6: "m mio", 1e9: "b bn mrd"},
}
SIZES = {
    dimension: {spelling: size for size, spellings in sizes.items() for spelling in spellings.split()}
    for dimension, sizes in UNITS.items()
}
SIZES["magnitude"][""] = 1.0  # 1.2K among plain numbers
DIGITS = r"\d+(?:[.,]\d+|[ '\u2019\u00a0\u202f]\d{3}(?!\d))*"
PART = re.compile(rf"({DIGITS})\s*([^\W\d_]+\.?|['\"\u2032\u2033])?(?:\s*(?:,|and|und|et)\s+|\s*)")
SINGLE = re.compile(rf"({DIGITS})(\s*)([^\s\d.,:;'\"()+\-/*\[\]][^\d]{{0,19}})")
SIGN = re.compile(r"[-+\u2212]\s*")
ISO_DURATION = re.compile(r"PT(?=\d)", re.IGNORECASE)
MAX_LENGTH = 40  # characters of a quantity
N_TRIED = 200  # cells all over a column, which is rejected if fewer than half of them are quantities
MIN_DIFFERENT = 10  # quantities of a column in which half of the cells may hold one word in place of a quantity


class QuantityCell(NamedTuple):
    """A cell that may hold a quantity: numbers with units, such as the two of ``1 h 30 min``."""

    row: int
    text: str
    sign: int
    digits: tuple[str, ...]  # with separators
    units: tuple[str, ...]  # as written; '' for none


def convert_quantities(
    column: str, values: np.ndarray, reading: ColumnReading | None = None, lenient: bool = False, mark: str = ""
) -> Conversion | None:
    """Convert numbers with units to numbers in the most frequent unit, with NaN where cells are empty.

    Return None if the column holds something else, such as units that cannot be converted into each other. With
    `reading` the cells are read as it says, and otherwise with the decimal `mark` of the table if they show none. What
    all cells have after the number is a unit, too.

    Examples
    --------
    >>> convert_quantities("runtime", np.array(["90 min", "1 h 30", None, "45 min"], dtype=object)).numbers.tolist()
    [90.0, 90.0, nan, 45.0]
    """
    texts = list_texts(values)
    tried = list(texts.values())[:: max(1, len(texts) // N_TRIED)]
    if reading is None and 2 * sum(_split(0, text) is not None for text in tried) <= len(tried):
        return None
    cells = [cell for row, text in texts.items() if (cell := _split(row, text)) is not None]
    most_common = Counter(unit for cell in cells for unit in cell.units if unit).most_common(1)
    unit = reading.unit if reading is not None else most_common[0][0] if most_common else ""
    if not unit:
        return None
    sizes = _find_sizes(cells, unit) if reading is None else _find_sizes_of_fit(cells, reading)
    cells = [cell for cell in cells if all(_fold_unit(unit) in sizes for unit in cell.units)]
    unread = sorted(set(texts) - {cell.row for cell in cells})
    if reading is None:
        if len(unread) > (0.5 if lenient and _hold_one_word(texts, unread, cells) else 1 - MIN_SHARE) * len(texts):
            return None
        amounts = [AmountCell(cell.row, cell.text, False, "", digits) for cell in cells for digits in cell.digits]
        has_plain = any("" in cell.units for cell in cells)
        reading = ColumnReading("quantity", unit=unit, lenient=lenient, has_plain=has_plain)
        reading = replace(reading, form=find_decimal_mark(column, amounts, reading, mark))
    unread += [
        cell.row for cell in cells if not all(PATTERNS[reading.form].fullmatch(digits) for digits in cell.digits)
    ]
    check_unread(column, "quantities", texts, sorted(unread), reading.lenient)
    numbers = np.full(len(values), np.nan)
    for cell in cells:
        if cell.row not in unread:
            parts = zip(cell.digits, cell.units, strict=True)
            total = sum(to_number(digits, reading.form) * sizes[_fold_unit(unit)] for digits, unit in parts)
            numbers[cell.row] = cell.sign * total / sizes[_fold_unit(reading.unit)]
    shown = max((cell for cell in cells if cell.row not in unread), key=lambda cell: len(cell.units), default=None)
    example = "" if shown is None else f"{shown.text.strip()!r} read as {numbers[shown.row]:.6g} {reading.unit}"
    return Conversion(numbers, example, reading, sorted(unread))


def _hold_one_word(texts: dict[int, str], unread: list[int], cells: list[QuantityCell]) -> bool:
    """Whether all cells that cannot be read hold one word, such as "none", among many different quantities."""
    words = {texts[row] for row in unread}
    is_word = len(words) == 1 and not any(letter.isdigit() for letter in min(words))
    return is_word and len({cell.text for cell in cells}) >= MIN_DIFFERENT


def _split(row: int, text: str) -> QuantityCell | None:
    """Split a cell into a sign and numbers with units; None if it is no quantity."""
    text = text.strip()
    if len(text) > MAX_LENGTH or not any(letter.isdigit() for letter in text):
        return None
    sign = SIGN.match(text)
    body = ISO_DURATION.sub("", text[sign.end() :] if sign else text)
    factor = -1 if sign and "+" not in sign[0] else 1
    if single := SINGLE.fullmatch(body):  # a code such as 12A is no quantity
        is_known = any(_fold_unit(single[3]) in sizes for sizes in SIZES.values())
        if not is_known and not single[2] and len(single[3]) == 1 and single[3].isalpha():
            return None
        is_number = any(pattern.fullmatch(single[1]) for pattern in PATTERNS.values())  # 1.2.3 is a version
        return QuantityCell(row, text, factor, (single[1],), (single[3].strip(),)) if is_number else None
    parts, end = [], 0
    while match := PART.match(body, end):
        parts.append((match[1], match[2] or ""))
        end = match.end()
    if not parts or end < len(body) or (len(parts) > 1 and "" in [unit for _, unit in parts[:-1]]):
        return None
    if len(parts) > 1 and not parts[-1][1]:  # 1 h 30
        parts[-1] = parts[-1][0], "min" if _fold_unit(parts[-2][1]) in SIZES["time"] else ""
    return QuantityCell(row, text, factor, tuple(digits for digits, _ in parts), tuple(unit for _, unit in parts))


def _find_sizes(cells: Collection[QuantityCell], main: str) -> dict[str, float]:
    """Return the sizes of units that can be converted into the main one, in the dimension that explains most cells.

    Whether 5 m are minutes, meters or millions follows from the other cells. A unit that is not known is only equal
    to itself, in singular or plural.
    """
    units = [[_fold_unit(unit) for unit in cell.units] for cell in cells]
    alone = {_fold_unit(main): 1.0}
    alone |= {f"{unit}s": 1.0 for unit in alone} | {unit.removesuffix("s"): 1.0 for unit in alone}
    candidates = [alone, *(sizes for sizes in SIZES.values() if _fold_unit(main) in sizes)]
    return max(candidates, key=lambda sizes: sum(all(unit in sizes for unit in of_cell) for of_cell in units))


def has_unit_of_fit(reading: ColumnReading) -> bool:
    """Whether new numbers without a unit are in that of the fit; beside 1.2K, 800 is 800, and alone it may be 800K."""
    return not reading.has_plain and (reading.unit == "m" or _fold_unit(reading.unit) not in SIZES["magnitude"])


def _find_sizes_of_fit(cells: Collection[QuantityCell], reading: ColumnReading) -> dict[str, float]:
    """Return the sizes of units in new rows, of which numbers without a unit say nothing about the dimension."""
    if reading.has_plain:
        return SIZES["magnitude"]
    sizes = _find_sizes([cell for cell in cells if "" not in cell.units], reading.unit)
    others = {unit: size for unit, size in sizes.items() if unit}
    return others | ({"": sizes[_fold_unit(reading.unit)]} if has_unit_of_fit(reading) else {})


def _fold_unit(unit: str) -> str:
    return unit.strip().removesuffix(".").lower()
