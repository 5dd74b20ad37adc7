"""Encode the contents of views as numbers, with one row per entity, and keep the encoders for new entities."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import scipy.sparse as sp

from .._saving import save_as
from ..data import Views
from ..data.blocks import reindex_rows
from ..data.inputs import ViewInput
from .encoders import CategoriesEncoder, CountsEncoder, LinksEncoder, NumbersEncoder, SimilaritiesEncoder, TextEncoder
from .formats.columns import format_cell
from .joining import Entities, join_contents
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
    entities: Entities  # all that were read
    kept: np.ndarray  # mask of the entities that at least one view describes; the others are left out
    filled: dict[str, int]  # number of empty cells that were filled, by view
    texts: dict[str, np.ndarray]  # the strings of each entity, by view of text or names

    @property
    def ids(self) -> np.ndarray | None:
        """Ids of all entities that were read."""
        return self.entities.ids

    @property
    def names(self) -> np.ndarray:
        """Names of the entities in `views`: their ids, or the numbers of their rows in the files."""
        return np.flatnonzero(self.kept) if self.ids is None else self.ids[self.kept]

    @property
    def view_ids(self) -> dict[str, np.ndarray]:
        """The id of each entity in `views` in each file, '' where it has none; empty if the files share their ids."""
        return {name: ids[self.kept] for name, ids in self.entities.view_ids.items()}


def fit_and_encode(contents: Sequence[ViewContent], *, rare: bool, entities: Entities | None = None) -> EncodedData:
    """Fit an encoder to each content and encode it; `rare` weights terms by tf-idf, so that rare terms count more.

    Without `entities` the contents are joined by their ids, or by the position of their rows.
    """
    entities = join_contents(contents) if entities is None else entities
    contents = [
        _align_columns(content, entities) if content.kind == "similarities" else content for content in contents
    ]
    encodings: dict[str, ViewEncoding] = {}
    for content in contents:
        if content.kind == "links":
            encodings |= _fit_links(content, entities, rare)
        else:
            is_similarities = content.kind == "similarities"
            encoder = SimilaritiesEncoder(content.data[1]) if is_similarities else ENCODERS[content.kind](rare)
            encodings[content.name] = ViewEncoding(content.name, _call(content, encoder.fit, content.data))
    encoded = encode(contents, encodings, entities)
    for name, present in zip(encoded.views.names, encoded.views.present.T, strict=True):
        if not present.any():
            origin = next(content.origin for content in contents if content.name == encodings[name].content)
            raise ValueError(f"view {name!r} ({origin}) is empty: it describes no entity. Leave it out")
    return encoded


def _fit_links(content: ViewContent, entities: Entities, rare: bool) -> dict[str, ViewEncoding]:
    """Fit one view of outgoing and one of incoming links; a direction without links is left out."""
    encodings = {}
    ids = entities.row_ids[content.name]
    for direction in ("out", "in"):
        encoder = _call(content, LinksEncoder(direction, rare).fit, (content.data, ids))
        if encoder.n_links:
            encodings[f"{content.name}-{direction}"] = ViewEncoding(content.name, encoder)
    if not encodings:
        raise ValueError(
            f"view {content.name!r} ({content.origin}): no link starts or ends at an id of the other views. Its first "
            f"is {content.data[0][0]!r}, theirs is {ids[0]!r}"
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


def encode(contents: Sequence[ViewContent], encodings: Mapping[str, ViewEncoding], entities: Entities) -> EncodedData:
    """Encode contents with encoders that have been fitted; entities that no view describes are left out."""
    by_name = {content.name: content for content in contents}
    ids = entities.ids
    blocks: dict[str, ViewInput] = {}
    block_rows, masks = [], []
    for name, encoding in encodings.items():
        if encoding.content not in by_name:
            continue
        content, encoder = by_name[encoding.content], encoding.encoder
        data, rows = content.data, entities.rows[content.name]
        if content.kind == "links":
            data = data, entities.row_ids[content.name]
        elif content.kind == "similarities" and data[1] is None and data[0].shape[0] == data[0].shape[1]:
            data = data[0], content.ids  # rows and columns have the same names
        values = _call(content, encoder.transform, data)
        masks.append(np.append(encoder.present(values), False)[rows])  # the last one, at index -1, is False
        if content.kind == "similarities":  # whose columns are the entities, so that rows are the entities, too
            values, rows = reindex_rows(values, rows), np.arange(len(entities))
        features = None if encoder.features is None else np.array(encoder.features, dtype=str)
        blocks[name] = ViewInput(values, columns=features)
        block_rows.append(rows)
    present = np.stack(masks, axis=1)
    kept = np.asarray(present.any(axis=1))
    if not kept.any():
        raise ValueError("no view describes any entity: check the files")
    views = Views(Views.from_inputs(blocks, np.stack(block_rows, axis=1)), present=present, ids=ids)
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
            texts[content.name] = strings[entities.rows[content.name]][kept]
        elif content.kind == "numbers" and not sp.issparse(content.data[0]):
            is_empty = ~np.isfinite(np.asarray(content.data[0], dtype=np.float64))
            if n_cells := int(is_empty[~is_empty.all(axis=1)].sum()):
                n_filled[content.name] = n_cells
    return EncodedData(
        views,
        dict(encodings),
        {name: encoding.encoder.kind for name, encoding in encodings.items() if name in blocks},
        entities,
        kept,
        n_filled,
        texts,
    )


def _align_columns(content: ViewContent, entities: Entities) -> ViewContent:
    """Give similarities one column per entity, in the order of the entities; 0 for those that the matrix lacks."""
    X, names = content.data
    if X.shape[0] != X.shape[1]:
        raise ValueError(
            f"view {content.name!r} ({content.origin}) has {X.shape[0]} rows and {X.shape[1]} columns: similarities "
            "are a square matrix with one row and one column per entity"
        )
    rows = entities.rows[content.name]
    columns, is_present = np.maximum(rows, 0), (rows >= 0).astype(np.float64)
    pick = sp.csr_array((is_present, (columns, np.arange(len(columns)))), shape=(X.shape[0], len(columns)))
    ordered = sp.csr_array(X @ pick) if sp.issparse(X) else X[:, columns] * is_present
    ids = entities.view_ids.get(content.name, entities.ids)
    return replace(content, data=(ordered, names if ids is None else ids))


def match_classes(sources: Sequence[KnownClasses], entities: Entities) -> np.ndarray:
    """Return the known class of each entity, '' if there is none; by position if there are no ids."""
    if entities.is_mapped or (entities.ids is not None and all(source.ids is not None for source in sources)):
        return _match_by_ids(sources, entities)
    source, n = sources[0], len(entities)
    texts = format_classes(source)
    if len(texts) != n:
        raise ValueError(f"{source.origin} ({source.option}) has {len(texts)} labels for {n} entities: give one each")
    if not (texts != "").any():
        raise ValueError(f"{source.origin} ({source.option}) has no label for any of the entities: all cells are empty")
    return texts


def format_classes(source: KnownClasses) -> np.ndarray:
    """Return classes as text, '' for empty cells."""
    cells = source.classes.tolist()
    return np.array(["" if cell is None or cell != cell else format_cell(cell) for cell in cells], dtype=object)


def _match_by_ids(sources: Sequence[KnownClasses], entities: Entities) -> np.ndarray:
    """Return the class of each entity from all sources, which must not contradict each other."""
    matched = np.full(len(entities), "", dtype=object)
    origins: dict[int, KnownClasses] = {}
    for source in sources:
        if source.ids is None:
            raise ValueError(
                f"{source.origin} ({source.option}) has no ids, but --mapping joins views by ids: add them"
            )
        for entity_id, text in zip(source.ids.tolist(), format_classes(source).tolist(), strict=True):
            try:
                entities_of_id = {
                    entity for view in source.views or (None,) for entity in entities.find(entity_id, view)
                }
            except ValueError as error:
                remedy = "Give the classes in a column of a view's file"
                raise ValueError(f"{source.origin} ({source.option}): {error}. {remedy}") from error
            for entity in entities_of_id if text else ():
                earlier = origins.setdefault(entity, source)
                if matched[entity] not in ("", text):
                    raise ValueError(
                        f"entity {entities.ids[entity]!r} has the class {matched[entity]!r} in {earlier.origin} and "  # type: ignore[index]
                        f"{text!r} in {source.origin} ({source.option}): correct one, or name one file, FILE:COLUMN"
                    )
                matched[entity] = text
    if not (matched != "").any():
        origin = " and ".join(source.origin for source in sources)
        raise ValueError(f"{origin} ({sources[0].option}) has no label for any of the entities: do the ids match?")
    return matched
