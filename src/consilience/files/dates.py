"""Convert columns of dates, of dates with times, and of times of day to numbers.

Dates become days since 1 January 1970, with the time of the day as a fraction; times of day become hours. Whether
03/04/2020 is in March or in April is decided by all cells of the column.
"""

from __future__ import annotations

import re
from datetime import date, timedelta
from typing import NamedTuple

import numpy as np

from .readings import MIN_SHARE, AmbiguousColumnError, ColumnReading, Conversion, check_unread, list_texts

MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
FULL_MONTHS = (
    *("january", "february", "march", "april", "may", "june", "july"),
    *("august", "september", "october", "november", "december"),
)
MONTH_NAMES = {name: i % 12 + 1 for i, name in enumerate((*MONTHS, *FULL_MONTHS))} | {"sept": 9}
# Months in other languages, with their usual abbreviations.
MONTH_WORDS = (
    "januar jänner janvier janv gennaio enero ene janeiro januari stycznia sty",
    "februar feber février févr fevrier febbraio febrero fevereiro fev februari lutego lut",
    "märz mär maerz mars marzo março marco mrt maart marca",
    "avril avr aprile abril abr kwietnia kwi",
    "mai maggio mag mayo maio mei maja",
    "juni juin giugno giu junio junho czerwca cze",
    "juli juillet juil luglio lug julio julho lipca lip",
    "août aout agosto ago augustus sierpnia sie",
    "septembre settembre septiembre setembro set września wrz",
    "oktober okt octobre ottobre ott octubre outubro out października paź",
    "novembre noviembre novembro listopada lis",
    "dezember dez décembre déc decembre dicembre dic diciembre dezembro grudnia gru",
)
MONTH_NAMES |= {word: number for number, words in enumerate(MONTH_WORDS, 1) for word in words.split()}
CLOCK = r"(?P<hour>\d{1,2}):(?P<minute>[0-5]\d)(?::(?P<second>[0-5]\d(?:[.,]\d+)?))?(?:\s*(?P<half>[ap])\.?m\.?)?"
ZONE = r"(?:\s*(?P<zone>Z|UTC|GMT|[+-]\d{2}(?::?\d{2})?))?"
MONTH = rf"(?P<name>{'|'.join(sorted(MONTH_NAMES, key=len, reverse=True))})\.?"
DAY = r"(?P<day>\d{1,2})(?:st|nd|rd|th)?"
YEAR = r"(?P<year>\d{4})"
COMPACT = r"(?P<year>1[6-9]\d\d|2[01]\d\d)(?P<month>0[1-9]|1[0-2])(?P<day>0[1-9]|[12]\d|3[01])"  # 20200331
DATE_FORMS = (
    COMPACT,
    rf"{YEAR}(?P<mark>[-/.:])(?P<month>\d{{1,2}})(?P=mark)(?P<day>\d{{1,2}})",  # 2020-03-31
    rf"{YEAR}[-/](?P<month>\d{{2}})",  # 2020-03
    r"(?P<month>0?[1-9]|1[0-2])[-/](?P<year>1[6-9]\d\d|2[01]\d\d)",  # 03/2020
    r"(?P<first>\d{1,2})(?P<mark>[-/.])(?P<second_part>\d{1,2})(?P=mark)(?P<year>\d{4}|\d{2})",  # 31/03/2020
    rf"{DAY}[-\s.]*(?:de\s+)?{MONTH}[-\s,]*(?:de[l]?\s+)?(?P<year>\d{{4}}|\d{{2}})(?:\s*r\.)?",  # 31 March 2020
    rf"{MONTH}[-\s]*{DAY}[\s,]+{YEAR}",  # March 31, 2020
    rf"{MONTH}[-\s,]*{YEAR}",  # March 2020
)
DATE_PATTERNS = [re.compile(rf"{form}(?:[T\s,]+{CLOCK}{ZONE})?", re.IGNORECASE) for form in DATE_FORMS]
TIME_PATTERN = re.compile(CLOCK, re.IGNORECASE)
EPOCH = date(1970, 1, 1).toordinal()
MAX_LENGTH = 40  # characters of a date
N_TRIED = 200  # cells all over a column, which is rejected if fewer than half of them are dates
ORDERS = ("dmy", "mdy")
MIN_COMPACT = 10  # cells from which it tells something that all numbers are dates: of other numbers one in 30 is


class DateCell(NamedTuple):
    """A cell that may hold a date: the days since the epoch, by each order in which it can be read."""

    row: int
    text: str
    days: dict[str, float]


def convert_dates(
    column: str, values: np.ndarray, reading: ColumnReading | None = None, lenient: bool = False
) -> Conversion | None:
    """Convert a column of dates to days since 1970, or one of times to hours; None if it holds something else.

    With `reading` the cells are read as it says. A column that can be read in two ways is an error.
    """
    texts = list_texts(values)
    if reading is None:
        tried = list(texts.values())[:: max(1, len(texts) // N_TRIED)]
        kinds = {"date": parse_date, "time": parse_time}
        kind = next((kind for kind, parse in kinds.items() if 2 * sum(map(bool, map(parse, tried))) > len(tried)), None)
        if kind is None:
            return None
        reading = ColumnReading(kind, lenient=lenient)
        is_new = True
    else:
        is_new = False
    parse = parse_date if reading.kind == "date" else parse_time
    cells = [DateCell(row, text, days) for row, text in texts.items() if (days := parse(text)) is not None]
    if is_new and len(cells) < MIN_SHARE * len(texts):
        return None
    orders = [order for order in ORDERS if all(order in cell.days for cell in cells)]
    if reading.form:
        cells = [cell for cell in cells if reading.form in cell.days]
    elif not orders:
        first, second = (next(cell for cell in cells if order not in cell.days) for order in reversed(ORDERS))
        raise ValueError(
            f"column {column!r} has {first.text.strip()!r}, with the day first, and {second.text.strip()!r}, with the "
            "month first: write its dates as YYYY-MM-DD"
        )
    else:
        ambiguous = next((cell for cell in cells if len({cell.days[order] for order in orders}) > 1), None)
        if ambiguous is not None:
            raise AmbiguousColumnError(
                f"column {column!r}: {ambiguous.text.strip()!r} in row {ambiguous.row + 1} may be "
                f"{' or '.join(format_days(ambiguous.days[order]) for order in orders)}: write its dates as YYYY-MM-DD",
                [ColumnReading("date", order, lenient=lenient) for order in orders],
            )
        depends = any(len(cell.days) == 1 for cell in cells)
        reading = ColumnReading(reading.kind, orders[0] if depends else "", lenient=reading.lenient)
    is_read = {cell.row for cell in cells}
    unread = [row for row in texts if row not in is_read]
    check_unread(column, "dates" if reading.kind == "date" else "times", texts, unread, reading.lenient)
    numbers = np.full(len(values), np.nan)
    order = reading.form or ORDERS[0]
    for cell in cells:
        numbers[cell.row] = cell.days[order]
    if not cells:
        return Conversion(numbers, "", reading, unread)
    shown = cells[0]
    value = format_days(numbers[shown.row]) if reading.kind == "date" else f"{numbers[shown.row]:.4g} hours"
    example = "" if value == shown.text.strip() else f"{shown.text.strip()!r} read as {value}"
    return Conversion(numbers, example, reading, unread)


def hold_compact_dates(values: np.ndarray) -> bool:
    """Whether nearly all numbers of a column have eight digits that are a date."""
    if values.dtype == object or values.ndim > 1:
        return False
    numbers = values[~np.isnan(values)]
    if len(numbers) < MIN_COMPACT or np.mean((numbers >= 16_000_101) & (numbers <= 21_991_231)) < MIN_SHARE:
        return False
    whole = numbers[np.isfinite(numbers) & (numbers == np.floor(numbers))]
    return sum(parse_date(str(int(number))) is not None for number in whole.tolist()) >= MIN_SHARE * len(numbers)


def parse_date(text: str) -> dict[str, float] | None:
    """Return the days since the epoch by each order of day and month in which a text is a date; None if it is none."""
    text = text.strip()
    if len(text) > MAX_LENGTH or not any(letter.isdigit() for letter in text):
        return None
    match = next((match for pattern in DATE_PATTERNS if (match := pattern.fullmatch(text))), None)
    if match is None:
        return None
    parts = match.groupdict()
    time = 0.0 if parts["hour"] is None else _compute_hours(parts)
    if time is None:
        return None
    year = int(parts["year"])
    if len(parts["year"]) == 2:
        year += 2000 if year < 69 else 1900  # as POSIX does
    if "first" in parts:
        first, second = int(parts["first"]), int(parts["second_part"])
        orders = {"dmy": (second, first)} | ({} if parts["mark"] == "." else {"mdy": (first, second)})
    else:
        month = MONTH_NAMES[parts["name"].lower()] if "name" in parts else int(parts["month"])
        orders = dict.fromkeys(ORDERS, (month, int(parts.get("day") or 1)))
    days = {}
    for order, (month, day) in orders.items():
        try:
            days[order] = date(year, month, day).toordinal() - EPOCH + time / 24
        except ValueError:
            continue
    return days or None


def parse_time(text: str) -> dict[str, float] | None:
    """Return the hours since midnight of a time of day, by each order; None if the text is none."""
    match = TIME_PATTERN.fullmatch(text.strip()) if len(text) <= MAX_LENGTH else None
    hours = None if match is None else _compute_hours(match.groupdict())
    return None if hours is None else dict.fromkeys(ORDERS, hours)


def _compute_hours(parts: dict[str, str | None]) -> float | None:
    """Return the hours since midnight, in universal time if there is a zone; None if there is no such time."""
    hour = int(parts["hour"] or 0)
    half = parts["half"]
    if hour > (23 if half is None else 12) or (half is not None and hour == 0):
        return None
    if half is not None:
        hour = hour % 12 + 12 * (half.lower() == "p")
    seconds = float((parts["second"] or "0").replace(",", "."))
    zone = (parts.get("zone") or "").replace(":", "")
    offset = int(zone[:3]) + int(f"{zone[0]}{zone[3:] or 0}") / 60 if zone[:1] in ("+", "-") and zone else 0
    return hour + int(parts["minute"] or 0) / 60 + seconds / 3600 - offset


def format_days(days: float) -> str:
    """Format days since the epoch as a date, with the time of the day if it is not midnight."""
    whole = int(np.floor(days))
    day = date.fromordinal(whole + EPOCH).isoformat()
    seconds = round((days - whole) * 86400)
    return f"{day} {timedelta(seconds=seconds)}" if seconds else day
