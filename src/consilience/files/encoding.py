"""Join the contents of views by id, encode them as numbers, and keep the encoders for new entities."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from typing import Any

import numpy as np
import scipy.sparse as sp

from .._saving import save_as
from ..data import Views
from ..data.blocks import reindex_rows
from ..data.inputs import ViewInput
from .encoders import CategoriesEncoder, CountsEncoder, LinksEncoder, NumbersEncoder, SimilaritiesEncoder, TextEncoder
from .formats.columns import format_cell
from .kinds import ViewContent
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
    """The content that a view of the model comes from, by name, and the encoder that turns it into numbers."""

    content: str
    encoder: Any


@dataclass(frozen=True, eq=False)
class EncodedData:
    """The data as numbers."""

    views: Views
    encodings: dict[str, ViewEncoding]
    kinds: dict[str, str]
    ids: np.ndarray | None  # of all entities that were read
    kept: np.ndarray  # mask of the entities that at least one view describes; the others are left out
    filled: dict[str, int]  # number of empty cells that were filled, by view
    texts: dict[str, np.ndarray]  # the strings of each entity, by view of text or names

    @property
    def names(self) -> np.ndarray:
        """Names of the entities in `views`: their ids, or the numbers of their rows in the files."""
        return np.flatnonzero(self.kept) if self.ids is None else self.ids[self.kept]


def collect_ids(contents: Sequence[ViewContent]) -> np.ndarray | None:
    """Collect the ids of all entities in the order of the files; None if rows are matched by position."""
    links = [content for content in contents if content.kind == "links"]
    others = [content for content in contents if content.kind != "links"]
    if not others:
        return _list_unique(entity for content in links for end in content.data[:2] for entity in end.tolist())
    without_ids = [content for content in others if content.ids is None]
    if len(without_ids) == len(others):
        first = others[0]
        for content in others:
            if content.n_rows != first.n_rows:
                raise ValueError(
                    f"view {content.name!r} ({content.origin}) has {content.n_rows} rows, view {first.name!r} "
                    f"{first.n_rows}: without ids rows are matched by position. Give --id COLUMN to join them"
                )
        if links:
            raise ValueError(f"view {links[0].name!r} links ids, but the other views have none: give --id COLUMN")
        return None
    if without_ids:
        raise ValueError(
            f"view {without_ids[0].name!r} ({without_ids[0].origin}) has no ids, but other views have: add the column "
            "or, in an .npz file, an array 'ids'"
        )
    ids = {content.name: content.ids.tolist() for content in others if content.ids is not None}
    for content in others if len(ids) > 1 else ():
        rest = {name: view_ids for name, view_ids in ids.items() if name != content.name}
        if set(ids[content.name]).isdisjoint(chain.from_iterable(rest.values())):
            other, other_ids = next(iter(rest.items()))
            raise ValueError(
                f"view {content.name!r} ({content.origin}) shares no id with the other views: its first is "
                f"{ids[content.name][0]!r}, the first of {other!r} is {other_ids[0]!r}. Do these files describe the "
                "same entities, and is --id right?"
            )
    return _list_unique(chain.from_iterable(ids.values()))


def _list_unique(ids: Iterable[str]) -> np.ndarray:
    """List ids, each once and in the order of first occurrence."""
    return np.array(list(dict.fromkeys(ids)), dtype=object)


def fit_and_encode(contents: Sequence[ViewContent], *, rare: bool) -> EncodedData:
    """Fit an encoder to each content and encode it; `rare` weights terms by tf-idf, so that rare terms count more."""
    ids = collect_ids(contents)
    contents = [_align_columns(content, ids) if content.kind == "similarities" else content for content in contents]
    encodings: dict[str, ViewEncoding] = {}
    for content in contents:
        if content.kind == "links":
            encodings |= _fit_links(content, ids, rare)
        else:
            is_similarities = content.kind == "similarities"
            encoder = SimilaritiesEncoder(ids) if is_similarities else ENCODERS[content.kind](rare)
            encodings[content.name] = ViewEncoding(content.name, _call(content, encoder.fit, content.data))
    encoded = encode(contents, encodings, ids)
    for name, present in zip(encoded.views.names, encoded.views.present.T, strict=True):
        if not present.any():
            origin = next(content.origin for content in contents if content.name == encodings[name].content)
            raise ValueError(f"view {name!r} ({origin}) is empty: it describes no entity. Leave it out")
    return encoded


def _fit_links(content: ViewContent, ids: np.ndarray | None, rare: bool) -> dict[str, ViewEncoding]:
    """Fit one view of outgoing and one of incoming links; a direction without links is left out."""
    encodings = {}
    for direction in ("out", "in"):
        encoder = _call(content, LinksEncoder(direction, rare).fit, (content.data, ids))
        if encoder.n_links:
            encodings[f"{content.name}-{direction}"] = ViewEncoding(content.name, encoder)
    if not encodings:
        raise ValueError(
            f"view {content.name!r} ({content.origin}): no link starts or ends at an id of the other views. Its first "
            f"is {content.data[0][0]!r}, theirs is {ids[0]!r}"  # type: ignore[index]
            if len(content.data[0])
            else f"view {content.name!r} ({content.origin}) has no links"
        )
    return encodings


def _call(content: ViewContent, method: Callable[[Any], Any], data: Any) -> Any:
    """Call a method of an encoder, and name the view in its errors."""
    try:
        return method(data)
    except ValueError as error:
        raise ValueError(f"view {content.name!r} ({content.origin}): {error}") from error


def encode(
    contents: Sequence[ViewContent], encodings: Mapping[str, ViewEncoding], ids: np.ndarray | None
) -> EncodedData:
    """Encode contents with encoders that have been fitted; entities that no view describes are left out."""
    by_name = {content.name: content for content in contents}
    n = contents[0].n_rows if ids is None else len(ids)
    blocks: dict[str, ViewInput] = {}
    masks = []
    for name, encoding in encodings.items():
        if encoding.content not in by_name:
            continue
        content, encoder = by_name[encoding.content], encoding.encoder
        data, rows = content.data, _find_rows(content, ids, n)
        if content.kind == "links":
            data = data, ids
        elif content.kind == "similarities" and data[1] is None and data[0].shape[0] == data[0].shape[1]:
            data = data[0], content.ids  # rows and columns have the same names
        values = reindex_rows(_call(content, encoder.transform, data), rows)
        features = None if encoder.features is None else np.array(encoder.features, dtype=str)
        blocks[name] = ViewInput(values, columns=features)
        masks.append(encoder.present(values) & (rows >= 0))
    present = np.stack(masks, axis=1)
    kept = np.asarray(present.any(axis=1))
    if not kept.any():
        raise ValueError("no view describes any entity: check the files")
    views = Views(Views.from_inputs(blocks), present=present, ids=ids)
    if not kept.all():
        if any(content.kind == "similarities" for content in contents):  # which have a column for each entity
            first = int(np.flatnonzero(~kept)[0])
            entity = first if ids is None else ids[first]
            raise ValueError(
                f"entity {entity} is described by no view ({(~kept).sum()} in all): drop it from the files"
            )
        views = views[kept]
    texts, n_filled = {}, {}
    for content in contents:
        if content.kind in ("text", "names"):
            strings = np.empty(len(content.data) + 1, dtype=object)  # the last one, at index -1, is None
            strings[:-1] = content.data
            texts[content.name] = strings[_find_rows(content, ids, n)][kept]
        elif content.kind == "numbers" and not sp.issparse(content.data[0]):
            is_empty = ~np.isfinite(np.asarray(content.data[0], dtype=np.float64))
            if n_cells := int(is_empty[~is_empty.all(axis=1)].sum()):
                n_filled[content.name] = n_cells
    return EncodedData(
        views,
        dict(encodings),
        {name: encoding.encoder.kind for name, encoding in encodings.items() if name in blocks},
        ids,
        kept,
        n_filled,
        texts,
    )


def _align_columns(content: ViewContent, ids: np.ndarray | None) -> ViewContent:
    """Give similarities one column per entity, in the order of the entities; 0 for those that the matrix lacks."""
    X, names = content.data
    if X.shape[0] != X.shape[1]:
        raise ValueError(
            f"view {content.name!r} ({content.origin}) has {X.shape[0]} rows and {X.shape[1]} columns: similarities "
            "are a square matrix with one row and one column per entity"
        )
    rows = _find_rows(content, ids, X.shape[0])
    columns, is_present = np.maximum(rows, 0), (rows >= 0).astype(np.float64)
    pick = sp.csr_array((is_present, (columns, np.arange(len(columns)))), shape=(X.shape[0], len(columns)))
    ordered = sp.csr_array(X @ pick) if sp.issparse(X) else X[:, columns] * is_present
    return replace(content, data=(ordered, names if ids is None else ids))


def _find_rows(content: ViewContent, ids: np.ndarray | None, n: int) -> np.ndarray:
    """Find the row of each entity in the content, -1 if it has none."""
    if content.kind == "links" or content.ids is None or ids is None:
        return np.arange(n)
    position = {entity_id: row for row, entity_id in enumerate(content.ids.tolist())}
    return np.array([position.get(entity_id, -1) for entity_id in ids.tolist()])


def match_classes(known_classes: KnownClasses, ids: np.ndarray | None, n: int) -> np.ndarray:
    """Return the known class of each entity, '' if there is none."""
    classes = known_classes.classes.tolist()
    texts = np.array(["" if label is None or label != label else format_cell(label) for label in classes], dtype=object)
    if known_classes.ids is not None and ids is not None:
        by_id = dict(zip(known_classes.ids.tolist(), texts.tolist(), strict=True))
        matched = np.array([by_id.get(entity_id, "") for entity_id in ids.tolist()], dtype=object)
        if not (matched != "").any():
            raise ValueError(
                f"{known_classes.origin} (--labels) has no label for any of the entities: do the ids match?"
            )
        return matched
    if len(texts) != n:
        raise ValueError(f"{known_classes.origin} (--labels) has {len(texts)} labels for {n} entities: give one each")
    if not (texts != "").any():
        raise ValueError(f"{known_classes.origin} (--labels) has no label for any of the entities: all cells are empty")
    return texts
