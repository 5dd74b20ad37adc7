"""The kind of a view, detected from its values, and its content in the form that the encoder of that kind takes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from .._saving import save_as
from .cells import are_raw_counts, detect_modality, find_modality
from .conversion import convert_columns, describe_unread
from .encoders import MIN_REPEATS
from .formats import FileMatrix
from .formats.base import NOTHING_WRITTEN, WrittenNumbers
from .formats.columns import format_cell, is_missing, is_number, strip_invisible
from .images.reading import Pictures, build_pictures, looks_like_images
from .readings import ColumnReading

KINDS = (
    "numbers",
    "counts",
    "text",
    "names",
    "categories",
    "links",
    "similarities",
    "images",
    "expression",
    "proteins",
)
MATRIX_KINDS = ("numbers", "counts", "similarities", "expression", "proteins")
EDGE_COLUMNS = [("source", "target"), ("from", "to"), ("src", "dst"), ("citing", "cited"), ("head", "tail")]
MAX_COUNT_DENSITY = 0.1  # a dense table of whole numbers is counts only if a smaller share of its cells is not 0,
MAX_COUNT_MEDIAN = 2  # and if the median of these is not larger: most words occur once or twice in a text
HINT_DENSITY = 0.3  # share below which the user is told that whole numbers could be counts
NUMBER_SHARE = 0.9  # a column with a larger share of numbers was meant to hold numbers only
MAX_NAME_WORDS = 3.5  # strings with fewer words on average are names
MAX_SENTENCES = 50  # different texts of many words that can be categories
FORCED = "set by --kind"  # reason for a kind that the user has chosen


@save_as("view-content")
@dataclass(frozen=True, eq=False)
class ViewContent:
    """The content of a view before it is encoded: `data` is what the encoder of its kind takes.

    numbers, counts, expression, proteins, similarities: (matrix, names of its columns or None); counts also: a column
    of bags of terms; text and names: a column of strings; categories: columns by name; links: (sources, targets,
    weights); images: `Pictures`.
    """

    name: str
    origin: str  # the file and the columns, as the user named them
    kind: str
    data: Any
    n_rows: int
    ids: np.ndarray | None
    reason: str = ""  # for the kind
    columns: tuple[str, ...] | None = None  # of the table that it comes from
    readings: Mapping[str, ColumnReading] = field(default_factory=dict)  # how texts of its columns became numbers
    source: str | None = None  # name of the table that was split into this view and others
    notes: tuple[str, ...] = ()  # for the user
    value_words: Mapping[str, Sequence[str]] = field(default_factory=dict)  # by column: such as NA for Namibia


def interpret_matrix(name: str, origin: str, matrix: FileMatrix, forced: str | None) -> ViewContent:
    """Turn a matrix into the content of a view, of the `forced` kind or of the one that is detected."""
    X = matrix.values
    if getattr(X, "ndim", 0) != 2 or 0 in X.shape:
        shape = tuple(getattr(X, "shape", ()))
        raise ValueError(f"view {name!r} ({origin}) must have rows and columns, got shape {shape}")
    if X.dtype.kind not in "biuf":
        raise ValueError(f"view {name!r} ({origin}) must hold real numbers, got {X.dtype}")
    is_measured = matrix.is_expression or find_modality(matrix.modality) is not None
    detect = _detect_cell_kind if is_measured else _detect_matrix_kind
    kind, reason = (forced, FORCED) if forced else detect(name, matrix)
    if kind not in MATRIX_KINDS:
        remedy = ". Save links as a table with the columns source and target" if kind == "links" else ""
        raise ValueError(
            f"view {name!r} ({origin}) is a matrix: it can be {' or '.join(MATRIX_KINDS)}, not {kind}{remedy}"
        )
    check_matrix(name, kind, X)
    for label, names, axis, n in (
        ("ids", matrix.ids, "rows", X.shape[0]),
        ("features", matrix.features, "columns", X.shape[1]),
    ):
        if names is not None and len(names) != n:
            raise ValueError(f"view {name!r} ({origin}) has {len(names)} {label} for {n} {axis}")
    ids = None if matrix.ids is None else check_id_column(origin, matrix.ids)
    return ViewContent(name, origin, kind, (X, matrix.features), X.shape[0], ids, reason)


def check_id_column(origin: str, column: np.ndarray, *, is_index: bool = False) -> np.ndarray:
    """Return ids without blanks around them; refuse missing and repeated ids, which may be the index of a frame."""
    ids = np.array([None if cell is None else strip_invisible(cell) or None for cell in column], dtype=object)
    missing = [row for row, entity_id in enumerate(ids) if entity_id is None]
    if missing:
        raise ValueError(f"{origin} has no id in row {missing[0] + 1}: give the row an id, or drop it")
    most_common, times = Counter(ids.tolist()).most_common(1)[0]
    if times > 1:
        where = " in its index" if is_index else ""
        others = ", name an id column (--id), or call reset_index(drop=True) to match rows by position"
        raise ValueError(
            f"{origin} has the id {most_common!r} more than once{where}: aggregate or drop the repeated rows"
            f"{others if is_index else ''}"
        )
    return ids


def check_matrix(name: str, kind: str, X: Any) -> None:
    """Refuse a matrix that cannot be of this kind."""
    values = X.data if sp.issparse(X) else X
    if kind == "similarities" and not np.isfinite(values).all():
        raise ValueError(f"view {name!r} has similarities that are NaN or infinite: fill them in, or 0 for none")
    _check_finite(name, X)
    least = np.fmin.reduce(values, axis=None, initial=0.0)
    if kind in ("counts", "expression", "proteins") and least < 0:
        raise ValueError(f"view {name!r} holds {least:g}, which is not a count: --kind {name}=numbers")


def _check_finite(name: str, X: Any, columns: Sequence[str] | None = None) -> None:
    """Refuse infinities: a value that is not known is an empty cell."""
    values = X.data if sp.issparse(X) else X
    if values.dtype.kind != "f" or not np.isinf(values).any():
        return
    if sp.issparse(X):
        cells = sp.coo_array(X)
        rows, positions = (coordinate[np.isinf(cells.data)] for coordinate in cells.coords)
    else:
        rows, positions = np.nonzero(np.isinf(X))
    column = repr(columns[positions[0]]) if columns is not None else positions[0] + 1
    raise ValueError(
        f"view {name!r} has an infinite number in row {rows[0] + 1}, column {column} ({len(rows)} in all): correct the "
        "cell, or leave it empty if the value is not known"
    )


def _detect_cell_kind(name: str, matrix: FileMatrix) -> tuple[str, str]:
    """Tell raw counts in a single-cell file, however they are stored, from normalized data, and give the reason."""
    values = matrix.values.data if sp.issparse(matrix.values) else matrix.values
    if values.size and np.nanmin(values) >= 0 and are_raw_counts(values).all():
        return detect_modality(f"{matrix.modality} {name}", matrix.features)
    hint = f"; the raw counts are in the block {matrix.raw_block!r}" if matrix.raw_block else ""
    return "numbers", f"not raw counts, taken as they are{hint}"


def _detect_matrix_kind(name: str, matrix: FileMatrix) -> tuple[str, str]:
    """Guess the kind of a matrix, and give the reason.

    How whole numbers are stored tells what they are: matrices of words, tags and links are stored sparse, pixels and
    histograms dense.
    """
    X = matrix.values
    values = X.data if sp.issparse(X) else X
    finite = values[np.isfinite(values)] if values.dtype.kind == "f" else values
    is_whole = finite.size > 0 and finite.min() >= 0 and np.array_equal(finite, np.floor(finite))
    positive = finite[finite > 0]
    density = np.count_nonzero(finite) / max(X.shape[0] * X.shape[1], 1)
    is_rare = density < MAX_COUNT_DENSITY and (not positive.size or np.median(positive) <= MAX_COUNT_MEDIAN)
    described = f"whole numbers, {density:.1%} of them not 0"
    if is_whole and (sp.issparse(X) or is_rare):
        is_square = X.shape[0] == X.shape[1]
        return "counts", described + (f"; --kind {name}=similarities if they compare the entities" if is_square else "")
    if _looks_like_similarities(X):
        return "similarities", f"square, symmetric and largest on the diagonal; --kind {name}=counts if they are counts"
    if is_whole and density < HINT_DENSITY:
        return "numbers", f"{described}; --kind {name}=counts if they count words or events"
    return "numbers", "measurements"


def _looks_like_similarities(X: Any) -> bool:
    """Whether a matrix is square, symmetric and largest on the diagonal, judged from at most 200 rows."""
    n, m = X.shape
    if n != m or n < 3:
        return False
    diagonal = X.diagonal()
    sample = np.unique(np.linspace(0, n - 1, 200).astype(int))
    rows, columns = (part.toarray() if sp.issparse(part) else part for part in (X[sample], X[:, sample]))
    if not (np.isfinite(rows).all() and np.allclose(rows, columns.T, rtol=1e-5, atol=1e-8)):
        return False
    return bool(diagonal.min() > 0 and (rows.max(axis=1) <= diagonal[sample] * (1 + 1e-6)).all())


def interpret_folder(name: str, origin: str, pictures: Pictures, forced: str | None) -> ViewContent:
    """Turn a folder of pictures into the content of a view; its ids are chosen once the other views are read."""
    if forced not in (None, "images"):
        raise ValueError(f"view {name!r} ({origin}) is a folder of pictures, not {forced}: leave out --kind")
    return ViewContent(name, origin, "images", pictures, len(pictures), pictures.names, "a folder of pictures")


def interpret_columns(
    name: str,
    origin: str,
    columns: dict[str, np.ndarray],
    ids: np.ndarray | None,
    forced: str | None,
    readings: Mapping[str, ColumnReading] | None = None,
    folder: Path = Path(),
    written: WrittenNumbers = NOTHING_WRITTEN,
) -> ViewContent:
    """Turn columns of a table into the content of a view.

    Parameters
    ----------
    name : str
        Name of the view.
    origin : str
        Where the columns come from, such as the name of a file, for messages.
    columns : dict of str to ndarray
        The columns by name, as `files.to_column` builds them.
    ids : ndarray of shape (n_rows,) or None
        The id of each row; None if rows are matched by position.
    forced : str or None
        The kind of the view, a name of `files.KINDS`; None to detect it.
    readings : mapping of str to ColumnReading, optional
        How a model has read each column; by default it is detected.
    folder : Path, optional
        Folder that paths of pictures are relative to; by default the working directory.
    written : WrittenNumbers, optional
        The columns of numbers whose cells are texts in the table, and its decimal mark.

    Returns
    -------
    ViewContent
        The content with its kind, and the reason for the kind.

    Examples
    --------
    >>> import numpy as np
    >>> from consilience.files.kinds import interpret_columns
    >>> prices = np.array(["$1.50", "$20", None], dtype=object)
    >>> content = interpret_columns("price", "shop.csv", {"price": prices}, ids=None, forced=None)
    >>> content.kind, content.data[0].tolist(), content.reason
    ('numbers', [[1.5], [20.0], [nan]], "columns of numbers; price: '$1.50' read as 1.5")
    """
    if not columns:
        raise ValueError(f"view {name!r} ({origin}) has no columns left beside the id and the labels: name some")
    if forced == "links" or (forced is None and are_edge_columns(columns)):
        return _build_links(name, origin, columns, forced)
    first = next(iter(columns.values()))
    n_rows = len(first)
    if forced == "images" or (forced is None and len(columns) == 1 and looks_like_images(first, folder)):
        if len(columns) > 1:
            raise ValueError(f"view {name!r} ({origin}): images are one column of paths, not {len(columns)} columns")
        try:
            pictures = build_pictures(_to_texts(first), folder)
        except ValueError as error:
            raise ValueError(f"view {name!r} ({origin}): {error}") from error
        reason = FORCED if forced else "paths of pictures"
        return ViewContent(name, origin, "images", pictures, n_rows, ids, reason, tuple(columns))
    readings = readings or {}
    convertible = {
        column: values for column, values in columns.items() if forced in (None, "numbers") or column in readings
    }
    try:
        conversions = convert_columns(convertible, readings, written=written)
    except ValueError as error:
        raise ValueError(f"view {name!r}: {error}") from error
    notes = describe_unread(origin, columns, conversions)
    columns = columns | {column: conversion.numbers for column, conversion in conversions.items()}
    kind, reason = (forced, FORCED) if forced else _detect_kind(name, columns)
    examples = [f"; {column}: {conversion.example}" for column, conversion in conversions.items() if conversion.example]
    return ViewContent(
        name,
        origin,
        kind,
        BUILDERS[kind](name, columns),
        n_rows,
        ids,
        reason + "".join(examples[:1]),
        tuple(columns),
        {column: conversion.reading for column, conversion in conversions.items()},
        notes=tuple(notes),
    )


def are_edge_columns(columns: Iterable[str]) -> bool:
    """Whether these are the columns of a list of links."""
    names = [name.lower() for name in columns]
    return tuple(names[:2]) in EDGE_COLUMNS and (len(names) == 2 or names[2:] == ["weight"])


def _detect_kind(name: str, columns: dict[str, np.ndarray]) -> tuple[str, str]:
    """Detect the kind of a view from those of its columns, and give the reason."""
    for column, values in columns.items():
        if values.dtype == object and not _has_bags(values):
            _check_no_numbers(name, column, values)
    column_kinds = {column: detect_column_kind(values) for column, values in columns.items()}
    kinds = set(column_kinds.values())
    if kinds == {"bags"}:
        return "counts", "lists of terms"
    if kinds <= {"numbers", "vectors"}:
        kind, reason = _detect_matrix_kind(name, FileMatrix(_build_numbers(name, columns)[0]))
        if kind == "similarities" or reason == "measurements":
            return "numbers", "columns of numbers"
        return kind, reason
    if kinds <= {"text", "names"}:
        is_text = "text" in kinds or len(columns) > 1
        return ("text", "sentences") if is_text else ("names", "short strings that hardly repeat")
    if kinds <= {"numbers", "categories"}:
        return "categories", "few values that repeat" if kinds == {"categories"} else "categories among numbers"
    examples = {kind: column for column, kind in column_kinds.items()}
    mixture = " and ".join(f"{kind} ({examples[kind]!r})" for kind in sorted(examples))
    raise ValueError(
        f"view {name!r} mixes {mixture}: make them separate views (--view NAME=FILE:COLUMN), or name their kind "
        f"(--kind {name}=...)"
    )


def detect_column_kind(values: np.ndarray) -> str:
    """Return the kind of a column: numbers, vectors, bags, categories, names or text."""
    if values.dtype != object:
        return "vectors" if values.ndim == 2 else "numbers"
    if _has_bags(values):
        return "bags"
    texts = [text for text in values if text is not None]
    are_names = bool(texts) and np.mean([len(text.split()) for text in texts[:1000]]) < MAX_NAME_WORDS
    if are_repetitive(texts, max_distinct=None if are_names else MAX_SENTENCES):
        return "categories"
    return "names" if are_names else "text"


def are_repetitive(cells: Collection[Any], max_distinct: int | None = None) -> bool:
    """Whether the cells of a column are categories: few are different, or most have a value that several cells have.

    How many categories there are says little: cities repeat in a long table although there are many.
    """
    counts = Counter(cells)
    if max_distinct is not None and len(counts) > max(2, max_distinct):
        return False
    n_shared = sum(times for times in counts.values() if times >= MIN_REPEATS)
    return len(counts) <= max(2, len(cells) / MIN_REPEATS) or n_shared > len(cells) / 2


def _has_bags(values: np.ndarray) -> bool:
    return values.dtype == object and any(isinstance(value, dict) for value in values)


def _check_no_numbers(view: str, column: str, values: np.ndarray) -> None:
    """Refuse a column of numbers with a few other cells: that is a mistake in the file, not text."""
    cells = {row: cell for row, cell in enumerate(values) if cell is not None and not is_missing(cell)}
    wrong = [row for row, cell in cells.items() if not is_number(cell)]
    if not wrong or len(wrong) > (1 - NUMBER_SHARE) * len(cells):
        return
    text = cells[wrong[0]]
    shown = text if len(text) <= 40 else f"{text[:40]}..."
    formula = " It is a formula: export the file with its values." if shown.startswith("=") else ""
    raise ValueError(
        f"view {view!r}: column {column!r} holds numbers, but {shown!r} in row {wrong[0] + 1} "
        f"({len(wrong)} in all).{formula} Correct or empty these cells, or use --kind {view}=categories"
    )


def _build_numbers(name: str, columns: dict[str, np.ndarray]) -> tuple[np.ndarray, np.ndarray]:
    """Put columns of numbers and vectors side by side."""
    blocks, features = [], []
    for column, values in columns.items():
        numbers = values
        if values.dtype == object:
            has_bags = _has_bags(values)
            if not has_bags:
                _check_no_numbers(name, column, values)
            cells = [cell for cell in values if cell is not None]
            wrong = next((cell for cell in cells if has_bags or not (is_missing(cell) or is_number(cell))), None)
            if wrong is not None:
                raise ValueError(f"view {name!r}: column {column!r} holds {str(wrong)[:40]!r}, which is not a number")
            numbers = np.array([float(cell) if cell is not None and is_number(cell) else np.nan for cell in values])
        if numbers.ndim == 1:
            blocks.append(numbers[:, None])
            features.append(column)
        else:
            blocks.append(numbers)
            features += [f"{column}[{i}]" for i in range(numbers.shape[1])]
    X = np.hstack(blocks)
    _check_finite(name, X, features)
    return X, np.array(features, dtype=object)


def _build_counts(name: str, columns: dict[str, np.ndarray]) -> Any:
    """Return the bags of a column of lists, or of several together, or put columns of numbers side by side."""
    if all(values.dtype == object and (_has_bags(values) or not any(values)) for values in columns.values()):
        bags = next(iter(columns.values())) if len(columns) == 1 else _merge_bags(columns)
        counts = [count for bag in bags if bag is not None for count in bag.values()]
        if not all(np.isfinite(count) and count >= 0 for count in counts):
            raise ValueError(f"view {name!r} has a negative or infinite count of a term: correct the file")
        return bags
    return _build_matrix(name, columns, "counts")


def _merge_bags(columns: dict[str, np.ndarray]) -> np.ndarray:
    """Put the terms of several columns of bags into one, with the names of their columns."""
    merged = np.empty(len(next(iter(columns.values()))), dtype=object)
    for row in range(len(merged)):
        bags = {column: values[row] for column, values in columns.items() if values[row] is not None}
        merged[row] = {f"{column}={term}": count for column, bag in bags.items() for term, count in bag.items()} or None
    return merged


def _build_matrix(name: str, columns: dict[str, np.ndarray], kind: str = "similarities") -> tuple[Any, Any]:
    X, features = _build_numbers(name, columns)
    check_matrix(name, kind, X)
    return X, features


def _build_texts(name: str, columns: dict[str, np.ndarray]) -> np.ndarray:  # noqa: ARG001
    """Join the columns to one string per entity."""
    joined = np.empty(len(next(iter(columns.values()))), dtype=object)
    rows = zip(*map(_to_texts, columns.values()), strict=True)
    joined[:] = [" ".join(text for text in row if text is not None) or None for row in rows]
    return joined


def _to_texts(values: np.ndarray) -> np.ndarray:
    """Convert numbers, vectors and bags to strings, with None where they are missing."""
    if values.dtype == object:
        texts = [" ".join(value) if isinstance(value, dict) else value for value in values]
    elif values.ndim == 2:
        texts = [" ".join(format_cell(float(number)) for number in row) for row in values]
    else:
        texts = [None if np.isnan(number) else format_cell(float(number)) for number in values]
    return np.array(texts, dtype=object)


def _build_categories(name: str, columns: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    """Keep strings, and numbers beside strings; if there are only numbers, each value is a category."""
    for column, values in columns.items():
        if values.dtype != object:
            _check_finite(name, values.reshape(len(values), -1), [column] * values[:1].size)
    has_strings = any(values.dtype == object for values in columns.values())
    return columns if has_strings else {column: _to_texts(values) for column, values in columns.items()}


def _build_links(name: str, origin: str, columns: dict[str, np.ndarray], forced: str | None) -> ViewContent:
    """Turn two columns of ids and an optional column of weights into links."""
    if len(columns) not in (2, 3):
        remedy = f"name them, as in {origin}:source,target"
        cells = [cell for values in columns.values() for cell in _to_texts(values) if cell is not None]
        if len(columns) > 3 and all(map(is_number, cells)):
            remedy = (
                f"for a matrix with a column per entity, --kind {name}=similarities or --kind {name}=counts; for other "
                f"numbers, leave out --kind {name}=links"
            )
        raise ValueError(
            f"view {name!r} ({origin}): links are two columns of ids and an optional weight, not {len(columns)} "
            f"column{'s' if len(columns) > 1 else ''}: {remedy}"
        )
    sources, targets, *others = columns.values()
    ends = [
        np.array([None if text is None else text.strip() or None for text in _to_texts(values)], dtype=object)
        for values in (sources, targets)
    ]
    is_complete = np.array([a is not None and b is not None for a, b in zip(*ends, strict=True)], dtype=bool)
    weights = others[0] if others else np.ones(len(is_complete))
    texts = _to_texts(weights)
    if weights.dtype == object:
        weights = np.array([float(text) if text is not None and is_number(text) else np.nan for text in texts])
    wrong = is_complete & ~(np.isfinite(weights) & (weights >= 0))
    if wrong.any():
        row = int(np.argmax(wrong))
        raise ValueError(
            f"view {name!r} ({origin}): the third column of links must be weights, 0 or more, but row {row + 1} has "
            f"{texts[row] or 'none'}: correct it, or name two columns, FILE:SOURCE,TARGET"
        )
    reason = FORCED if forced else f"columns {', '.join(map(repr, list(columns)[:2]))}"
    data = ends[0][is_complete], ends[1][is_complete], weights[is_complete]
    return ViewContent(name, origin, "links", data, int(is_complete.sum()), None, reason, tuple(columns))


BUILDERS: dict[str, Callable[[str, dict[str, np.ndarray]], Any]] = {
    "numbers": _build_numbers,
    "counts": _build_counts,
    "text": _build_texts,
    "names": _build_texts,
    "categories": _build_categories,
    "similarities": _build_matrix,
    "expression": partial(_build_matrix, kind="expression"),
    "proteins": partial(_build_matrix, kind="proteins"),
}
