"""Prices, percentages and numbers with separators, as spreadsheets write them, to numbers."""

from __future__ import annotations

import re
import unicodedata
from typing import NamedTuple

import numpy as np

from .formats import is_missing

CODES = {
    "AUD",
    "BRL",
    "CAD",
    "CHF",
    "CNY",
    "CZK",
    "DKK",
    "EUR",
    "GBP",
    "HKD",
    "INR",
    "JPY",
    "KRW",
    "MXN",
    "NOK",
    "NZD",
    "PLN",
    "SEK",
    "SGD",
    "TRY",
    "USD",
    "ZAR",
}
PLAIN = re.compile(r"\d+|\d*\.\d+|\d+\.")
COMMA_GROUPS = re.compile(r"\d{1,3}(,\d{3})+(\.\d*)?")  # 1,234.5
DECIMAL_COMMA = re.compile(r"(\d+|\d{1,3}(\.\d{3})+),\d+")  # 12,5 or 1.234,5
MOSTLY = 0.9  # share of cells that are numbers from which on the other cells are taken for mistakes


class Amount(NamedTuple):
    """A number as it stands in a cell."""

    value: float
    unit: str  # a currency, '%', or '' if there is none
    comma: str  # what a comma in it means: 'thousands', 'decimal', or '' if there is none
    has_point: bool  # whether a point marks the decimals


def parse_amount(text: str) -> Amount | None:
    """Parse one cell, such as ``$1,299.00``, ``12,50 €``, ``(5 USD)`` or ``7%``; None if it is no number."""
    digits = text.strip()
    negative = digits.startswith("(") and digits.endswith(")")  # an accountant's minus
    if negative:
        digits = digits[1:-1].strip()
    unit = ""
    for _ in range(2):  # the sign may stand before or after the currency
        if not negative and digits[:1] in ("-", "\u2212", "+"):
            negative, digits = digits[0] != "+", digits[1:].strip()
        if not unit:
            unit, digits = _split_unit(digits)
    sign = -1.0 if negative else 1.0
    if PLAIN.fullmatch(digits):
        return Amount(sign * float(digits), unit, "", "." in digits)
    if COMMA_GROUPS.fullmatch(digits):
        return Amount(sign * float(digits.replace(",", "")), unit, "thousands", "." in digits)
    if DECIMAL_COMMA.fullmatch(digits):
        return Amount(sign * float(digits.replace(".", "").replace(",", ".")), unit, "decimal", False)
    return None


def _split_unit(text: str) -> tuple[str, str]:
    """Split a currency or a percent sign from one end of a text."""
    if text.endswith("%"):
        return "%", text[:-1].strip()
    for unit in (text[:1], text[:3]):
        if _is_currency(unit):
            return unit, text[len(unit) :].strip()
    for unit in (text[-1:], text[-3:]):
        if _is_currency(unit):
            return unit, text[: -len(unit)].strip()
    return "", text


def _is_currency(text: str) -> bool:
    return text in CODES or (len(text) == 1 and unicodedata.category(text) == "Sc")


def convert_amounts(view: str, column: str, values: np.ndarray) -> tuple[np.ndarray, str] | None:
    """Convert a column of amounts to numbers, NaN where cells are empty; also say how its first amount was read.

    None if the column holds something else. A column that can be read in two ways is an error, which asks the user to
    decide.
    """
    if values.dtype != object or not all(cell is None or isinstance(cell, str) for cell in values):
        return None
    cells = [(row, cell) for row, cell in enumerate(values) if cell is not None and not is_missing(cell)]
    amounts = [parse_amount(cell) for _, cell in cells]
    parsed = [amount for amount in amounts if amount is not None]
    if not any(amount.unit or amount.comma for amount in parsed) or len(parsed) < MOSTLY * len(cells):
        return None
    if len(parsed) < len(cells):
        row, cell = next(place for place, amount in zip(cells, amounts, strict=True) if amount is None)
        raise ValueError(
            f"view {view!r}: column {column!r} holds amounts, but {cell[:40]!r} in row {row + 1} "
            f"({len(cells) - len(parsed)} such). Correct or empty these cells, or say --kind {view}=names"
        )
    _check_unambiguous(view, column, parsed)
    numbers = np.full(len(values), np.nan)
    numbers[[row for row, _ in cells]] = [amount.value for amount in parsed]
    example, amount = next(
        (cell, amount) for (_, cell), amount in zip(cells, parsed, strict=True) if amount.unit or amount.comma
    )
    return numbers, f"{example.strip()!r} read as {amount.value:g}"


def _check_unambiguous(view: str, column: str, amounts: list[Amount]) -> None:
    units = {amount.unit for amount in amounts}
    if len(units - {""}) > 1 or units == {"", "%"}:
        shown = " and ".join(repr(unit) if unit else "no unit" for unit in sorted(units, reverse=True)[:2])
        raise ValueError(
            f"view {view!r}: column {column!r} mixes {shown}: convert its numbers to one unit, or say "
            f"--kind {view}=names to compare the letters"
        )
    decimal_comma = any(amount.comma == "decimal" for amount in amounts)
    if decimal_comma and any(amount.comma == "thousands" or amount.has_point for amount in amounts):
        raise ValueError(
            f"view {view!r}: column {column!r} has ',' both before decimals and before thousands, or both ',' and '.' "
            "before decimals: write its numbers with a decimal point and without separators of thousands"
        )
