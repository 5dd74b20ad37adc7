"""From contents to Views: joined by id, made into numbers, with what it takes to do the same to new entities."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import scipy.sparse as sp

from .._saving import save_as
from ..data import Views, reindex_rows
from ..data.coerce import ViewInput
from .content import ViewContent
from .encoders import CategoriesEncoder, CountsEncoder, LinksEncoder, NumbersEncoder, SimilaritiesEncoder, TextEncoder
from .formats import format_cell
from .read import KnownClasses

ENCODERS: dict[str, Callable[[bool], Any]] = {
    "numbers": lambda _: NumbersEncoder(),
    "counts": CountsEncoder,
    "text": lambda rare: TextEncoder("text", rare),
    "names": lambda rare: TextEncoder("names", rare),
    "categories": lambda _: CategoriesEncoder(),
}


@save_as("encoded-view")
@dataclass(frozen=True, eq=False)
class ViewEncoding:
    """A view of the model: which content it comes from, and how that becomes numbers."""

    content: str
    encoder: Any


@dataclass(frozen=True, eq=False)
class EncodedData:
    """The data as numbers."""

    views: Views
    parts: dict[str, ViewEncoding]
    kinds: dict[str, str]
    ids: np.ndarray | None  # of all entities that were read
    kept: np.ndarray  # which of them some view says something about; the others are left out
    filled: dict[str, int]  # empty cells that were filled, by view
    texts: dict[str, np.ndarray]  # what people can read of an entity, by view

    @property
    def names(self) -> np.ndarray:
        """What the entities in `views` are called: by id, or by the row that they have in the files."""
        return np.flatnonzero(self.kept) if self.ids is None else self.ids[self.kept]


def collect_ids(contents: Sequence[ViewContent]) -> np.ndarray | None:
    """Ids of all entities in the order in which files name them; None if rows are matched by their place."""
    own = [one for one in contents if one.kind != "links"]
    if not own:
        ends = [end for one in contents for end in one.data[:2]]
        return np.array(list(dict.fromkeys(np.concatenate(ends).tolist())), dtype=object)
    without = [one for one in own if one.ids is None]
    if len(without) == len(own):
        _check_lengths(own)
        if len(own) < len(contents):
            links = next(one for one in contents if one.kind == "links")
            raise ValueError(f"view {links.name!r} links ids, but the other views have none: give --id COLUMN")
        return None
    if without:
        raise ValueError(
            f"view {without[0].name!r} ({without[0].where}) has no ids, and the others have: give it the column or, "
            "in an .npz file, an array 'ids'"
        )
    every = np.array(list(dict.fromkeys(np.concatenate([one.ids for one in own]).tolist())), dtype=object)
    _check_common(own)
    return every


def _check_lengths(contents: Sequence[ViewContent]) -> None:
    first, *others = contents
    for one in others:
        if one.n_rows != first.n_rows:
            raise ValueError(
                f"view {one.name!r} ({one.where}) has {one.n_rows} rows, view {first.name!r} {first.n_rows}: without "
                "ids rows are matched by their place. Give --id COLUMN to join them"
            )


def _check_common(contents: Sequence[ViewContent]) -> None:
    """A view whose entities no other view knows cannot be joined to them."""
    if len(contents) < 2:
        return
    sets = {one.name: set(one.ids.tolist()) for one in contents}  # type: ignore[union-attr]
    for one in contents:
        others = set().union(*(own for name, own in sets.items() if name != one.name))
        if not sets[one.name] & others:
            other = next(own for own in contents if own is not one)
            raise ValueError(
                f"view {one.name!r} ({one.where}) shares no id with the other views: its first is {one.ids[0]!r}, "  # type: ignore[index]
                f"the first of {other.name!r} is {other.ids[0]!r}. Are these the same things, and is --id right?"  # type: ignore[index]
            )


def fit_and_encode(contents: Sequence[ViewContent], *, rare: bool) -> EncodedData:
    """Learn how each content becomes numbers, and do it; `rare` weighs terms by their rarity."""
    ids = collect_ids(contents)
    contents = [_with_columns_of(one, ids) if one.kind == "similarities" else one for one in contents]
    parts: dict[str, ViewEncoding] = {}
    for one in contents:
        if one.kind == "links":
            parts |= _both_ways(one, ids, rare)
        elif one.kind == "similarities":
            parts[one.name] = ViewEncoding(one.name, _fit(one, SimilaritiesEncoder(ids), one.data))
        else:
            parts[one.name] = ViewEncoding(one.name, _fit(one, ENCODERS[one.kind](rare), one.data))
    made = encode(contents, parts, ids)
    for name, present in zip(made.views.names, made.views.present.T, strict=True):
        if not present.any():
            one = next(one for one in contents if one.name == parts[name].content)
            raise ValueError(f"view {name!r} ({one.where}) is empty: it says nothing about any entity. Leave it out")
    return made


def _both_ways(content: ViewContent, ids: np.ndarray | None, rare: bool) -> dict[str, ViewEncoding]:
    """Links out and links in; a direction in which nobody has any is left out."""
    parts = {}
    for direction in ("out", "in"):
        encoder = _fit(content, LinksEncoder(direction, rare), (content.data, ids))
        if encoder.n_links:
            parts[f"{content.name}-{direction}"] = ViewEncoding(content.name, encoder)
    if not parts:
        raise ValueError(
            f"view {content.name!r} ({content.where}): no link starts or ends at an id that the other views have. Its "
            f"first is {content.data[0][0]!r}, theirs {ids[0]!r}"  # type: ignore[index]
            if len(content.data[0])
            else f"view {content.name!r} ({content.where}) has no links"
        )
    return parts


def _fit(content: ViewContent, encoder: Any, data: Any) -> Any:
    try:
        return encoder.fit(data)
    except ValueError as error:
        raise ValueError(f"view {content.name!r} ({content.where}): {error}") from error


def encode(contents: Sequence[ViewContent], parts: Mapping[str, ViewEncoding], ids: np.ndarray | None) -> EncodedData:
    """Contents as numbers, by encoders that are fitted already."""
    by_name = {one.name: one for one in contents}
    n = contents[0].n_rows if ids is None else len(ids)
    blocks: dict[str, ViewInput] = {}
    there = []
    for name, part in parts.items():
        if part.content not in by_name:
            continue
        content = by_name[part.content]
        values = _encoded(content, part.encoder, ids)
        rows = _rows(content, ids, n)
        values = reindex_rows(values, rows)
        blocks[name] = ViewInput(values, columns=_names(part.encoder))
        there.append(part.encoder.present(values) & (rows >= 0))
    present = np.stack(there, axis=1)
    lost = np.logical_not(present.any(axis=1))
    views = Views(Views._of(blocks), present=present, ids=ids)
    if lost.all():
        raise ValueError("no view says anything about any entity: check the files")
    if lost.any():
        _check_droppable(by_name.values(), lost, ids)
        views = views[~lost]
    return EncodedData(
        views,
        dict(parts),
        {name: part.encoder.kind for name, part in parts.items() if name in blocks},
        ids,
        np.logical_not(lost),
        {one.name: n_filled for one in contents if (n_filled := _filled(one))},
        {one.name: take_texts(one, ids, n)[~lost] for one in contents if one.kind in ("text", "names")},
    )


def _check_droppable(contents: Any, lost: np.ndarray, ids: np.ndarray | None) -> None:
    """Beside similarities nobody can be left out, for everybody has a column there."""
    if any(one.kind == "similarities" for one in contents):
        first = int(np.flatnonzero(lost)[0])
        name = first if ids is None else ids[first]
        raise ValueError(
            f"entity {name} has no view that says anything ({int(lost.sum())} such): drop it from the files"
        )


def _encoded(content: ViewContent, encoder: Any, ids: np.ndarray | None) -> Any:
    data = content.data
    if content.kind == "links":
        data = (data, ids)
    elif content.kind == "similarities" and data[1] is None and data[0].shape[0] == data[0].shape[1]:
        data = (data[0], content.ids)  # whose rows have names, so have its columns
    try:
        return encoder.transform(data)
    except ValueError as error:
        raise ValueError(f"view {content.name!r} ({content.where}): {error}") from error


def _with_columns_of(content: ViewContent, ids: np.ndarray | None) -> ViewContent:
    """Similarities with a column for each entity, in their order; 0 to those that the matrix lacks."""
    X, names = content.data
    if X.shape[0] != X.shape[1]:
        raise ValueError(
            f"view {content.name!r} ({content.where}) has {X.shape[0]} rows and {X.shape[1]} columns: similarities "
            "are a square matrix, a row and a column for each entity"
        )
    columns = _rows(content, ids, X.shape[0])
    at, there = np.maximum(columns, 0), (columns >= 0).astype(np.float64)
    pick = sp.csr_array((there, (at, np.arange(len(at)))), shape=(X.shape[0], len(at)))
    ordered = sp.csr_array(X @ pick) if sp.issparse(X) else X[:, at] * there
    return replace(content, data=(ordered, names if ids is None else ids))


def _rows(content: ViewContent, ids: np.ndarray | None, n: int) -> np.ndarray:
    """The row of each entity in the content, -1 where it has none."""
    if content.kind == "links" or content.ids is None or ids is None:
        return np.arange(n)
    position = {one: row for row, one in enumerate(content.ids.tolist())}
    return np.array([position.get(one, -1) for one in ids.tolist()])


def _names(encoder: Any) -> np.ndarray | None:
    return None if encoder.features is None else np.array([str(one) for one in encoder.features], dtype=str)


def _filled(content: ViewContent) -> int:
    """Cells that are empty in rows that are not."""
    if content.kind != "numbers" or sp.issparse(content.data[0]):
        return 0
    empty = ~np.isfinite(np.asarray(content.data[0], dtype=np.float64))
    return int(empty[~empty.all(axis=1)].sum())


def take_texts(content: ViewContent, ids: np.ndarray | None, n: int) -> np.ndarray:
    """The strings of a view in the order of the entities."""
    rows = _rows(content, ids, n)
    texts = np.empty(len(content.data) + 1, dtype=object)  # the last, which -1 asks for, is None
    texts[:-1] = content.data
    return texts[rows]


def match_classes(known: KnownClasses, ids: np.ndarray | None, n: int) -> np.ndarray:
    """The known class of each entity, in their order; '' where there is none."""
    texts = np.array(
        ["" if one is None or one != one else format_cell(one) for one in known.classes.tolist()], dtype=object
    )
    if known.ids is not None and ids is not None:
        by_id = dict(zip(known.ids.tolist(), texts.tolist(), strict=True))
        found = np.array([by_id.get(one, "") for one in ids.tolist()], dtype=object)
        if not (found != "").any():
            raise ValueError(f"{known.where} (--labels) has no label for any of the entities: do the ids match?")
        return found
    if len(texts) != n:
        raise ValueError(f"{known.where} (--labels) has {len(texts)} labels for {n} entities: give one each")
    if not (texts != "").any():
        raise ValueError(f"{known.where} (--labels) has no label for any of the entities: all cells are empty")
    return texts
