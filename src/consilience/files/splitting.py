"""Split a table whose columns are of several kinds into views: numbers and categories, texts, names, embeddings."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from .conversion import convert_columns, describe_unread
from .formats.base import NOTHING_WRITTEN, WrittenNumbers
from .formats.columns import are_codes, format_cell, is_number
from .identifiers import CODE, MIN_DISTINCT, has_code_name, has_id_name
from .images.reading import looks_like_images
from .kinds import BUILDERS, ViewContent, are_repetitive, detect_column_kind, interpret_columns
from .readings import MIN_SHARE, Conversion
from .spec import list_names

MIN_BLOCK = 8  # columns with consecutive numbers, from which they are a view of their own,
MIN_BLOCK_SHARE = 0.05  # if they are also this share of the columns of numbers
MAX_TEXT_VIEWS = 10  # columns of text; more of them are joined to one view
MIN_FILLED = 0.05  # share of the rows that have a text
MIN_NUMBERS = 0.3  # share of numbers among words, above which a column of short strings is taken for a mixture
MIN_ROWS = 10  # from which it tells something that a column is constant, or numbers the rows
MIN_SERIAL = 10_000  # numbers of rows may start here, as 20230001; years and measurements are smaller
MIN_NUMBERED = 0.9  # share of rows whose number is one more than that of the row before
MAX_NAME_LENGTH = 40  # characters of a column's name in the name of a view
MEASURED_KINDS = ("date", "time", "quantity")  # of columns that were read as text
TOTAL = re.compile(
    r"(?:grand |sub)?totals?|sum(?:me|a|ma)?|gesamt(?:summe)?|insgesamt|ensemble|totale|razem|ogółem", re.IGNORECASE
)
MAX_SPELLED = 100  # values of a column whose spellings are compared: those of categories
CLASS_NAME = re.compile(r"(?:target|labels?|class(?:es)?|ground.?truth)(?:.?(?:names?|labels?|ids?))?", re.IGNORECASE)
NUMBERED = re.compile(r"(.*[^\s_.\-\[(\d])[\s_.\-\[(]*(\d+)[\])]*")
IMAGE = re.compile(r".+\.(?:png|jpe?g|gif|bmp|tiff?|webp)", re.IGNORECASE)
DIGIT_GROUPS = re.compile(r"[+(]*\d[\d\s()./-]{4,}\d")  # phone and account numbers
ADDRESS = re.compile(r"(?:https?://|www\.)\S+|\S+@\S+\.\S+", re.IGNORECASE)
LEFT_OUT = {  # role of a column that carries nothing -> what the user reads
    "empty": "empty",
    "constant": "the same value in all rows",
    "numbering": "numbers of rows, or other ids",
    "codes": "codes that hardly repeat",
    "classes": "known classes by its name, with which --labels COLUMN compares the groups",
    "addresses": "web or mail addresses",
    "mixture": "numbers mixed with words",
    "sparse": "texts that nearly all rows lack",
    "absent-images": "names of image files that are not in the folder of the table",
}
REASONS = {"text": "sentences", "names": "short strings that hardly repeat"}
USED_ROLES = {*BUILDERS, "images", "vectors", "bags"}  # whose columns become views
SMALL_ROLES = ("numbers", "categories")  # whose columns are one view; any other column is a view of its own
COLUMN_KINDS = ("numbers", "counts", "text", "names", "categories", "images")  # that a single column can have


@dataclass(frozen=True)
class TableColumns:
    """The columns of a table that become views, and where they come from."""

    name: str  # of the view if there is only one, and of the columns of numbers and categories
    path: Path
    columns: Mapping[str, np.ndarray]
    ids: np.ndarray | None
    kinds: Mapping[str, str]  # of columns, as the user has set them
    read_as_text: Callable[[Sequence[str]], Mapping[str, np.ndarray]]
    written: WrittenNumbers = NOTHING_WRITTEN
    codes: Collection[str] = ()  # columns of numbers whose cells are other texts than the numbers, such as 007
    joins_strings: bool = True  # whether columns of short strings are one view, and phone numbers none


def split_table(table: TableColumns, taken: Collection[str], is_named: bool) -> tuple[list[ViewContent], list[str]]:
    """Split a table into views by the kinds of its columns; return them and notes for the user.

    `taken` are names of other views. A table that the user has named is a single view unless it mixes kinds.
    """
    columns = dict(table.columns)
    forced = {column: kind for column, kind in table.kinds.items() if column in columns}
    numbered = {column for names in find_blocks(columns, forced).values() for column in names}
    lossy = [column for column in columns if column in table.codes and column not in forced and column not in numbered]
    texts = table.read_as_text(lossy) if lossy else {}
    coded = {column: values for column, values in texts.items() if are_codes(values)}  # 007 and 7 are two codes
    columns |= coded
    free = {
        column: values
        for column, values in columns.items()
        if forced.get(column) in (None, "numbers") and column not in coded
    }
    try:
        conversions = convert_columns(free, lenient=True, written=table.written)
    except ValueError as error:
        raise ValueError(f"{table.path}: {error}. Or leave the column out ({table.path}:-COLUMN)") from error
    columns |= {column: conversion.numbers for column, conversion in conversions.items()}
    _check_kinds(table.path, columns, forced)
    blocks = find_blocks(columns, forced)
    in_blocks = {column for names in blocks.values() for column in names}
    readings = {column: conversion.reading for column, conversion in conversions.items()}
    measured = {column for column, reading in readings.items() if reading.unit or reading.kind in MEASURED_KINDS}
    roles = {
        column: forced.get(column) or classify_column(column, values, table.path.parent, column in measured)
        for column, values in columns.items()
        if column not in in_blocks
    }
    if is_named and not forced and not _mixes(columns, roles, bool(blocks)):
        return [
            interpret_columns(table.name, str(table.path), dict(table.columns), table.ids, None, written=table.written)
        ], []
    categories = [column for column, role in roles.items() if role == "categories" and columns[column].dtype != object]
    columns |= table.read_as_text(categories) if categories else {}
    conversions = {column: conversion for column, conversion in conversions.items() if column not in categories}
    lists = [column for column, conversion in conversions.items() if conversion.reading.kind == "list"]
    separate: Collection[str] = forced if table.joins_strings else columns
    if not table.joins_strings:  # two entries of a customer have the same phone number
        phones = [column for column, role in roles.items() if role == "codes" and _hold_digit_groups(columns[column])]
        roles |= dict.fromkeys(phones, "names")
    groups = _group_columns(table.name, roles, blocks, [column for column in lists if column not in separate], separate)
    contents: list[ViewContent] = []
    names = set(taken)
    for group, (kind, members) in groups.items():
        name = group if len(groups) > 1 else table.name
        name = f"{table.name}-{name}" if name in names and name != table.name else name
        names.add(name)
        contents.append(_build_view(table, name, kind, {column: columns[column] for column in members}, conversions))
    unused = {column: role for column, role in roles.items() if role not in USED_ROLES}
    return contents, _list_notes(table, contents, conversions, unused)


def find_blocks(columns: Mapping[str, np.ndarray], excluded: Collection[str]) -> dict[str, list[str]]:
    """Find columns of numbers whose names differ by consecutive numbers only, such as img_0 to img_511, by prefix."""
    numeric = [name for name, values in columns.items() if values.dtype != object and values.ndim == 1]
    by_prefix: dict[str, dict[int, str]] = {}
    for name in numeric:
        if name not in excluded and (match := NUMBERED.fullmatch(name.strip())):
            by_prefix.setdefault(match[1], {})[int(match[2])] = name
    smallest = max(MIN_BLOCK, MIN_BLOCK_SHARE * len(numeric))
    return {
        prefix: [names[number] for number in sorted(names)]
        for prefix, names in by_prefix.items()
        if len(names) >= smallest and max(names) - min(names) == len(names) - 1
    }


def classify_column(column: str, values: np.ndarray, folder: Path, is_measured: bool = False) -> str:
    """Return the role of a column in a table: a kind, or why it is left out (`LEFT_OUT`).

    Numbers with a unit and dates (`is_measured`) are never taken for numbers of rows or codes.
    """
    if values.dtype != object and values.ndim == 1:
        return _classify_numbers(column, values, is_measured)
    kind = detect_column_kind(values)
    if kind in ("vectors", "bags"):
        return kind
    texts = [text.strip() for text in values if text is not None and text.strip()]
    distinct = set(texts)
    if not texts:
        return "empty"
    if len(distinct) == 1 and MIN_ROWS <= len(texts) == len(values):
        return "constant"
    if _holds(IMAGE, texts):
        return "images" if looks_like_images(values, folder) else "absent-images"
    if kind == "categories":
        return kind
    if _holds(ADDRESS, texts):
        return "addresses"
    if _holds(CODE, texts) or _holds(DIGIT_GROUPS, texts):
        return "codes"
    if kind == "names" and (has_code_name(column) or has_id_name(column)):
        return "codes"
    if kind == "names" and sum(map(is_number, texts)) >= MIN_NUMBERS * len(texts):
        return "mixture"
    return "sparse" if len(texts) < MIN_FILLED * len(values) else kind


def _hold_digit_groups(values: np.ndarray) -> bool:
    """Whether the cells of a column are phone numbers, or the like."""
    return values.dtype == object and _holds(DIGIT_GROUPS, [text for text in values if text is not None])


def _holds(pattern: re.Pattern[str], texts: Sequence[str]) -> bool:
    """Whether nearly all texts match a pattern."""
    return sum(bool(pattern.fullmatch(text)) for text in texts) >= MIN_SHARE * len(texts)


def _classify_numbers(column: str, values: np.ndarray, is_measured: bool) -> str:
    """Return the role of a column of numbers: a measurement, a code, or nothing."""
    finite = values[~np.isnan(values)]
    if not len(finite):
        return "empty"
    if len(values) < MIN_ROWS or np.isinf(finite).any():  # infinite numbers are refused later
        return "numbers"
    if (finite == finite[0]).all():
        return "constant" if len(finite) == len(values) else "categories"  # 1 or empty is yes or no
    if is_measured or not np.array_equal(finite, np.floor(finite)):
        return "numbers"
    has_code = has_code_name(column, finite.min())
    if len(np.unique(finite)) >= MIN_DISTINCT * len(values):
        starts_as_number = values[0] in (0, 1) or values[0] >= MIN_SERIAL
        is_numbering = starts_as_number and np.mean(np.diff(values) == 1) >= MIN_NUMBERED
        return "numbering" if is_numbering or has_id_name(column) or has_code else "numbers"
    if has_code:  # 7 is not more than 3 of them
        return "categories" if are_repetitive(finite.tolist()) else "codes"
    return "classes" if CLASS_NAME.fullmatch(column.strip()) and are_repetitive(finite.tolist()) else "numbers"


def _check_kinds(path: Path, columns: Mapping[str, np.ndarray], forced: Mapping[str, str]) -> None:
    """Refuse kinds that the user has set for columns which cannot have them."""
    wrong = next((column for column, kind in forced.items() if kind not in COLUMN_KINDS), None)
    if wrong is not None:
        raise ValueError(f"{path}: a column such as {wrong!r} can be {', '.join(COLUMN_KINDS)}, not {forced[wrong]}")
    numbers = [column for column, kind in forced.items() if kind == "numbers"]
    words = next((column for column in numbers if columns[column].dtype == object), None)
    if words is not None:
        cell = next((cell for cell in columns[words] if cell is not None), None)
        raise ValueError(f"{path}: column {words!r} holds {str(cell)[:40]!r}, which is not a number")


def _mixes(columns: Mapping[str, np.ndarray], roles: Mapping[str, str], has_blocks: bool) -> bool:
    """Whether columns cannot be a single view, by the kinds that they have without regard to what they carry."""
    kinds = {role if role == "images" else detect_column_kind(columns[column]) for column, role in roles.items()}
    kinds |= {"numbers"} if has_blocks else set()
    single_views = ({"numbers", "vectors"}, {"numbers", "categories"}, {"text", "names"}, {"bags"})
    return not any(kinds <= single for single in single_views)


def _group_columns(
    name: str,
    roles: Mapping[str, str],
    blocks: Mapping[str, list[str]],
    lists: Sequence[str],
    separate: Collection[str],
) -> dict[str, tuple[str | None, list[str]]]:
    """Return the views by name: the kind, None if it is to be detected, and the columns.

    Columns of short strings say little each, so that they are one view, except for those in `separate`. The same holds
    for `lists` of categories.
    """
    groups: dict[str, tuple[str | None, list[str]]] = {}
    texts = [column for column, role in roles.items() if role in ("text", "names")]
    strings = [column for column in texts if roles[column] == "names" and column not in separate]
    kind, joined = ("text", texts) if len(texts) > MAX_TEXT_VIEWS else ("names", strings if len(strings) > 1 else [])
    apart = {column: role for column, role in roles.items() if role in USED_ROLES and role not in SMALL_ROLES}
    small = [column for column, role in roles.items() if role in SMALL_ROLES]
    if small:
        clashes = name in blocks or (name in apart and name not in joined)
        has_strings = any(roles[column] == "categories" for column in small)
        groups["columns" if clashes else name] = "categories" if has_strings else None, small
    if joined:
        groups["texts" if kind == "text" else "names"] = kind, joined
    if len(lists) > 1:
        groups["lists"] = "counts", list(lists)
    for column, role in apart.items():
        if column not in joined and (column not in lists or len(lists) == 1):
            short = column if len(column) <= MAX_NAME_LENGTH else f"{column[:MAX_NAME_LENGTH].rstrip()}..."
            label = short if short not in groups else column
            groups[label] = role if role in (*BUILDERS, "images") else None, [column]
    for prefix, members in blocks.items():
        groups[prefix if prefix not in groups else f"{prefix}-block"] = None, members
    return groups


def _build_view(
    table: TableColumns,
    name: str,
    kind: str | None,
    columns: dict[str, np.ndarray],
    conversions: Mapping[str, Conversion],
) -> ViewContent:
    """Build the content of a view and describe its columns."""
    is_only = name == table.name or len(columns) > 1
    origin = str(table.path) if is_only else f"{table.path}:{next(iter(columns))}"
    content = interpret_columns(name, origin, columns, table.ids, kind, folder=table.path.parent)
    members = list(columns)
    examples = [f"{column}: {conversions[column].example}" for column in members if column in conversions]
    examples = [example for example in examples if not example.endswith(": ")]
    is_block = len(members) >= MIN_BLOCK and all(NUMBERED.fullmatch(member.strip()) for member in members)
    if content.kind in REASONS and len(members) == 1:
        described = REASONS[content.kind] + ("" if members[0] == name else f" in {members[0]!r}")
    else:
        described = f"{members[0]!r} to {members[-1]!r}" if is_block else list_names(members, 6)
    return replace(
        content,
        reason="; ".join([described, *examples[:3]]),
        readings={column: conversions[column].reading for column in members if column in conversions},
        source=table.name,
    )


def _list_notes(
    table: TableColumns,
    contents: Sequence[ViewContent],
    conversions: Mapping[str, Conversion],
    unused: Mapping[str, str],
) -> list[str]:
    """Say which columns are left out, and which cells could not be read."""
    reasons = [
        f"{list_names([column for column, role in unused.items() if role == reason], 5)} ({explanation})"
        for reason, explanation in LEFT_OUT.items()
        if reason in unused.values()
    ]
    is_useless = set(unused.values()) <= {"empty", "constant"}
    remedy = "" if is_useless else "Use a column anyway with --kind COLUMN=KIND"
    if not contents:
        listed = "; ".join(reasons) or "it has none beside the id and the labels"
        raise ValueError(f"{table.path} has no column that can be used: {listed}. {remedy or 'Give another table'}")
    notes = []
    if len(contents) > 1:
        names = ", ".join(repr(content.name) for content in contents)
        notes.append(
            f"{table.path} is split into the views {names}. To choose columns yourself, use --view NAME=FILE:COLUMNS."
        )
    if reasons:
        notes.append(f"{table.path}: left out {'; '.join(reasons)}.{remedy and f' {remedy}.'}")
    notes += describe_unread(str(table.path), table.columns, conversions)
    notes += _list_doubts(table, contents)
    used = [column for content in contents for column in content.columns or ()]
    if len(used) == 1 and len(unused):
        notes.append(
            f"{table.path}: only the column {used[0]!r} can be used. Add columns or files that describe the rows in "
            "other ways."
        )
    return notes


def _list_doubts(table: TableColumns, contents: Sequence[ViewContent]) -> list[str]:
    """Note what is used as data and often is none: totals, numbers for no value, classes, spellings by case."""
    texts = [*table.columns.values(), *([] if table.ids is None else [table.ids])]
    last = [str(values[-1]) for values in texts if values.dtype == object and len(values) >= MIN_ROWS]
    total = next((cell for cell in last if TOTAL.fullmatch(cell.strip())), None)
    doubts = [] if total is None else [f"the last row is called {total!r}. Delete it if it holds totals"]
    for column in (column for content in contents for column in content.columns or ()):
        values = table.columns[column]
        doubt = _doubt_numbers(values) if values.dtype != object else _doubt_texts(column, values)
        doubts += [f"column {column!r} {doubt}"] if doubt else []
    return [f"{table.path}: {doubt}." for doubt in doubts]


def _doubt_numbers(values: np.ndarray) -> str:
    """Say which number of a column may stand for no value; '' if there is none."""
    code = _find_code_for_none(values) if values.ndim == 1 else None
    if code is None:
        return ""
    n_cells = int((values == code).sum())
    return (
        f"has {format_cell(code)} in {n_cells:,} rows, far from its other values. Empty these cells if it means that "
        "there is no value"
    )


def _doubt_texts(column: str, values: np.ndarray) -> str:
    """Say that a column may hold known classes, or has values that differ by case alone; '' if there is no doubt."""
    if CLASS_NAME.fullmatch(column.strip()):
        return (
            f"is used as data. If it holds known classes, --labels {column} leaves it out and compares groups with it"
        )
    spellings: dict[str, set[str]] = {}
    for cell in {cell for cell in values if isinstance(cell, str)}:
        spellings.setdefault(cell.casefold(), set()).add(cell)
    several = next((sorted(cells) for cells in spellings.values() if len(cells) > 1), None)
    if several is None or len(spellings) > MAX_SPELLED:
        return ""
    return f"has {list_names(several[:2])}, which differ by case alone, as different values"


def _find_code_for_none(values: np.ndarray) -> float | None:
    """Return the number that several cells have in place of no value, such as -999; None if there is none."""
    numbers, times = np.unique(values[np.isfinite(values)], return_counts=True)
    for position, others in ((0, numbers[1:]), (-1, numbers[:-1])):
        code, n_cells = numbers[position] if len(numbers) > 2 else np.nan, times[position] if len(times) else 0
        if n_cells >= 2 and re.fullmatch(r"-?9{2,}", f"{code:.0f}"):
            nearest = others[0] if position == 0 else others[-1]
            if abs(code - nearest) > others[-1] - others[0]:
                return float(code)
    return None
