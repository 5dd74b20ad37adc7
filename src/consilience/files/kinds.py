"""What kind of view some columns or a matrix are, found by a look at the values, and said."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import scipy.sparse as sp

from .amounts import convert_amounts
from .content import KINDS, ViewContent
from .formats import FileMatrix, format_cell, is_missing, is_number

EDGE_COLUMNS = [("source", "target"), ("from", "to"), ("src", "dst"), ("citing", "cited"), ("head", "tail")]
MAX_COUNT_DENSITY = 0.1  # a dense table of whole numbers is counts only if a smaller share of its cells is not 0,
MAX_COUNT_MEDIAN = 2  # and if the median of these is not larger: most words occur once or twice in a text
HINT_DENSITY = 0.3  # share below which the user is told that whole numbers could be counts
SINGLE_CELL = (".h5ad", ".h5mu")
MOSTLY = 0.9  # a column of which so many cells are numbers was meant to be one
HOLDERS = {"ids": "rows", "features": "columns"}
SHORT = 3.5  # words; strings shorter than that on average are names


def interpret_matrix(name: str, where: str, matrix: FileMatrix, forced: str | None) -> ViewContent:
    """A view from a matrix."""
    X = matrix.values
    if getattr(X, "ndim", 0) != 2 or 0 in X.shape:
        shape = tuple(getattr(X, "shape", ()))
        raise ValueError(f"view {name!r} ({where}) must have rows and columns, got shape {shape}")
    if X.dtype.kind not in "biuf":
        raise ValueError(f"view {name!r} ({where}) must hold real numbers, got {X.dtype}")
    is_expression = matrix.path.suffix.lower() in SINGLE_CELL and matrix.features is not None
    kind, why = (forced, "as you said") if forced else _kind_of_matrix(name, X, is_expression)
    if kind not in ("numbers", "counts", "similarities"):
        raise ValueError(f"view {name!r} ({where}) is a matrix: it can be numbers, counts or similarities, not {kind}")
    check_matrix(name, kind, X)
    for what, own, n in (("ids", matrix.ids, X.shape[0]), ("features", matrix.features, X.shape[1])):
        if own is not None and len(own) != n:
            raise ValueError(f"view {name!r} ({where}) has {len(own)} {what} for {n} {HOLDERS[what]}")
    ids = None if matrix.ids is None else check_id_column(where, matrix.ids)
    return ViewContent(name, where, kind, (X, matrix.features), X.shape[0], ids, why)


def check_id_column(where: str, column: np.ndarray) -> np.ndarray:
    """Ids that name one entity each, without blanks around them."""
    lost = next((row for row, one in enumerate(column) if one is None or not one.strip()), None)
    if lost is not None:
        raise ValueError(f"{where} has no id in row {lost + 1}: give the row an id, or drop it")
    ids = np.array([one.strip() for one in column], dtype=object)
    name, times = Counter(ids.tolist()).most_common(1)[0]
    if times > 1:
        raise ValueError(f"{where} has the id {name!r} more than once: aggregate or drop the repeated rows")
    return ids


def check_matrix(name: str, kind: str, X: Any) -> None:
    """Refuse a matrix that cannot be of this kind."""
    values = X.data if sp.issparse(X) else X
    if kind == "similarities" and not np.isfinite(values).all():
        raise ValueError(f"view {name!r} has similarities that are NaN or infinite: fill them in, or 0 for none")
    _check_finite(name, X)
    least = np.fmin.reduce(values, axis=None, initial=0.0)
    if kind == "counts" and least < 0:
        raise ValueError(f"view {name!r} has {least:g} in it, which is no count: --kind {name}=numbers")


def _check_finite(name: str, X: Any, columns: Sequence[str] | None = None) -> None:
    """Refuse infinities: they are no measurements, and an empty cell says that a value is missing."""
    values = X.data if sp.issparse(X) else X
    if values.dtype.kind != "f" or not np.isinf(values).any():
        return
    cells = sp.coo_array(X) if sp.issparse(X) else None
    rows, places = np.nonzero(np.isinf(X)) if cells is None else (c[np.isinf(cells.data)] for c in cells.coords)
    column = repr(columns[places[0]]) if columns is not None else places[0] + 1
    raise ValueError(
        f"view {name!r} has an infinite number in row {rows[0] + 1}, column {column} ({len(rows)} such): correct the "
        "cell, or leave it empty if the value is not known"
    )


def _kind_of_matrix(name: str, X: Any, is_expression: bool = False) -> tuple[str, str]:
    """Guess the kind of a matrix, and say why.

    How whole numbers are stored tells what they are: matrices of words, tags and links are stored sparse, pixels and
    histograms dense. Raw counts of single-cell files are counts however they are stored.
    """
    values = X.data if sp.issparse(X) else X
    finite = values[np.isfinite(values)] if values.dtype.kind == "f" else values
    whole = finite.size > 0 and finite.min() >= 0 and np.array_equal(finite, np.floor(finite))
    nonzero = finite[finite > 0]
    share = np.count_nonzero(finite) / max(X.shape[0] * X.shape[1], 1)
    few = share < MAX_COUNT_DENSITY and (not nonzero.size or np.median(nonzero) <= MAX_COUNT_MEDIAN)
    described = f"whole numbers, {share:.1%} of them not 0"
    if whole and (is_expression or sp.issparse(X) or few):
        square = X.shape[0] == X.shape[1] and not is_expression
        return "counts", described + (f"; --kind {name}=similarities if they compare the entities" if square else "")
    if _like_similarities(X):
        return "similarities", f"square, symmetric and largest on the diagonal; --kind {name}=counts if they are counts"
    if whole and share < HINT_DENSITY:
        return "numbers", f"{described}; --kind {name}=counts if they count words or events"
    return "numbers", "measurements"


def _like_similarities(X: Any) -> bool:
    n, m = X.shape
    if n != m or n < 3:
        return False
    diagonal = X.diagonal()
    some = np.unique(np.linspace(0, n - 1, 200).astype(int))
    rows, columns = (own.toarray() if sp.issparse(own) else own for own in (X[some], X[:, some]))
    if not (np.isfinite(rows).all() and np.allclose(rows, columns.T, rtol=1e-5, atol=1e-8)):
        return False
    return bool(diagonal.min() > 0 and (rows.max(axis=1) <= diagonal[some] * (1 + 1e-6)).all())


def interpret_columns(
    name: str, where: str, columns: dict[str, np.ndarray], ids: np.ndarray | None, forced: str | None
) -> ViewContent:
    """A view from columns of a frame."""
    if not columns:
        raise ValueError(f"view {name!r} ({where}) has no columns left beside the id and the labels: name some")
    if forced == "links" or (forced is None and are_edge_columns(columns)):
        return _links(name, where, columns, forced)
    n_rows = len(next(iter(columns.values())))
    columns, reading = _convert_amounts(name, columns) if forced in (None, "numbers") else (columns, "")
    kind, why = (forced, "as you said") if forced else _kind_of_columns(name, columns)
    why += f"; {reading}" if reading else ""
    return ViewContent(name, where, kind, MAKERS[kind](name, columns), n_rows, ids, why, tuple(columns))


def _convert_amounts(name: str, columns: dict[str, np.ndarray]) -> tuple[dict[str, np.ndarray], str]:
    """Convert columns of prices and the like to numbers; also say how the first of them was read."""
    try:
        converted = {column: convert_amounts(column, values) for column, values in columns.items()}
    except ValueError as error:
        raise ValueError(f"view {name!r}: {error}") from error
    readings = [f"{column}: {result[1]}" for column, result in converted.items() if result is not None]
    numbers = {column: result[0] for column, result in converted.items() if result is not None}
    return columns | numbers, readings[0] if readings else ""


def are_edge_columns(columns: Any) -> bool:
    """Whether these are the columns of a list of links."""
    names = [name.lower() for name in columns]
    return tuple(names[:2]) in EDGE_COLUMNS and (len(names) == 2 or names[2:] == ["weight"])


def _kind_of_columns(name: str, columns: dict[str, np.ndarray]) -> tuple[str, str]:
    kinds = {column: _kind_of_column(name, column, values) for column, values in columns.items()}
    found = set(kinds.values())
    if found == {"bags"}:
        return "counts", "lists of terms"
    if found <= {"numbers", "vectors"}:
        kind, why = _kind_of_matrix(name, _numbers(name, columns)[0])
        return ("numbers", "columns of numbers") if kind == "similarities" or why == "measurements" else (kind, why)
    if found <= {"text", "names"}:
        kind = "text" if "text" in found or len(columns) > 1 else "names"
        return kind, "sentences" if kind == "text" else "short strings that hardly repeat"
    if found <= {"numbers", "categories"}:
        return "categories", "few values that repeat" if found == {"categories"} else "categories among numbers"
    odd = {kind: column for column, kind in kinds.items()}
    raise ValueError(
        f"view {name!r} mixes {' and '.join(f'{kind} ({odd[kind]!r})' for kind in sorted(odd))}: make them views of "
        f"their own (--view NAME=FILE:COLUMN), or say what they are (--kind {name}=...)"
    )


def _kind_of_column(view: str, column: str, values: np.ndarray) -> str:
    if values.dtype != object:
        return "vectors" if values.ndim == 2 else "numbers"
    there = [one for one in values if one is not None]
    if any(isinstance(one, dict) for one in there):
        return "bags"
    _check_no_numbers(view, column, values)
    distinct = len(set(there))
    if distinct <= max(2, min(50, len(there) / 5)):
        return "categories"
    return "names" if np.mean([len(one.split()) for one in there[:1000]]) < SHORT else "text"


def _check_no_numbers(view: str, column: str, values: np.ndarray) -> None:
    """A column of numbers with a few cells that are none is a mistake in the file, not text."""
    bad, n_bad, n = None, 0, 0
    for row, one in enumerate(values):
        if one is None or is_missing(one):
            continue
        n += 1
        if not is_number(one):
            n_bad += 1
            bad = (row, one) if bad is None else bad
    if bad is None or n_bad > (1 - MOSTLY) * n:
        return
    shown = bad[1] if len(bad[1]) <= 40 else f"{bad[1][:40]}..."
    formula = " It is a formula: export the file with its values." if shown.startswith("=") else ""
    raise ValueError(
        f"view {view!r}: column {column!r} holds numbers, but {shown!r} in row {bad[0] + 1} "
        f"({n_bad} such).{formula} Correct or empty these cells, or say --kind {view}=categories"
    )


def _numbers(name: str, columns: dict[str, np.ndarray]) -> tuple[np.ndarray, np.ndarray]:
    """Columns of numbers and vectors side by side."""
    blocks, features = [], []
    for column, values in columns.items():
        if values.dtype == object:
            if not any(isinstance(one, dict) for one in values):
                _check_no_numbers(name, column, values)
            wrong = next((one for one in values if one is not None and not _like_number(one)), None)
            if wrong is not None:
                raise ValueError(f"view {name!r}: column {column!r} holds {str(wrong)[:40]!r}, which is no number")
            values = np.array([float(one) if one is not None and is_number(one) else np.nan for one in values])
        block = values[:, None] if values.ndim == 1 else values
        blocks.append(block)
        features += [column] if values.ndim == 1 else [f"{column}[{i}]" for i in range(block.shape[1])]
    X = np.hstack(blocks)
    _check_finite(name, X, features)
    return X, np.array(features, dtype=object)


def _like_number(cell: Any) -> bool:
    return isinstance(cell, str) and (is_missing(cell) or is_number(cell))


def _counts(name: str, columns: dict[str, np.ndarray]) -> Any:
    if any(any(isinstance(one, dict) for one in values) for values in columns.values() if values.dtype == object):
        if len(columns) > 1:
            raise ValueError(f"view {name!r} has several columns of lists: make them views of their own")
        (bags,) = columns.values()
        counts = [count for bag in bags if bag is not None for count in bag.values()]
        if not all(np.isfinite(count) and count >= 0 for count in counts):
            raise ValueError(f"view {name!r} counts a term less than 0 times, or without end: correct the file")
        return bags
    X, features = _numbers(name, columns)
    check_matrix(name, "counts", X)
    return X, features


def _texts(name: str, columns: dict[str, np.ndarray]) -> np.ndarray:  # noqa: ARG001
    """One string an entity: all columns, one after the other."""
    joined = np.empty(len(next(iter(columns.values()))), dtype=object)
    rows = zip(*(_as_texts(values) for values in columns.values()), strict=True)
    joined[:] = [" ".join(one for one in row if one is not None) or None for row in rows]
    return joined


def _as_texts(values: np.ndarray) -> np.ndarray:
    if values.dtype == object:
        return np.array([" ".join(one) if isinstance(one, dict) else one for one in values], dtype=object)
    if values.ndim == 2:
        return np.array([" ".join(format_cell(float(one)) for one in row) for row in values], dtype=object)
    return np.array([None if np.isnan(one) else format_cell(float(one)) for one in values], dtype=object)


def _categories(name: str, columns: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    """Strings as they are; of numbers that came with no strings, each value is a category."""
    for column, values in columns.items():
        if values.dtype != object:
            _check_finite(name, values.reshape(len(values), -1), [column] * values[:1].size)
    mixed = any(values.dtype == object for values in columns.values())
    return {column: values if mixed else _as_texts(values) for column, values in columns.items()}


def _stripped(texts: np.ndarray) -> np.ndarray:
    """Ids as other files have them; one that is blank is none."""
    return np.array([None if one is None else one.strip() or None for one in texts], dtype=object)


def _similarities(name: str, columns: dict[str, np.ndarray]) -> tuple[np.ndarray, np.ndarray]:
    X, features = _numbers(name, columns)
    check_matrix(name, "similarities", X)
    return X, features


def _links(name: str, where: str, columns: dict[str, np.ndarray], forced: str | None) -> ViewContent:
    """Two columns of ids and perhaps a weight."""
    if len(columns) not in (2, 3):
        raise ValueError(
            f"view {name!r} ({where}): links are two columns of ids and perhaps a weight, not {len(columns)}"
        )
    sources, targets, *rest = columns.values()
    ends = [_stripped(_as_texts(own)) for own in (sources, targets)]
    keep = np.array([a is not None and b is not None for a, b in zip(*ends, strict=True)], dtype=bool)
    weights = rest[0] if rest else np.ones(len(keep))
    if weights.dtype == object or not (np.isfinite(weights[keep]).all() and (weights[keep] >= 0).all()):
        raise ValueError(f"view {name!r} ({where}): the third column of links must be weights, 0 or more")
    why = "as you said" if forced else f"columns {', '.join(map(repr, list(columns)[:2]))}"
    data = ends[0][keep], ends[1][keep], weights[keep]
    return ViewContent(name, where, "links", data, int(keep.sum()), None, why, tuple(columns))


MAKERS: dict[str, Callable[[str, dict[str, np.ndarray]], Any]] = {
    "numbers": _numbers,
    "counts": _counts,
    "text": _texts,
    "names": _texts,
    "categories": _categories,
    "similarities": _similarities,
}
assert set(MAKERS) | {"links"} == set(KINDS)
