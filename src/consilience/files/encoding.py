"""Encode the contents of views as numbers, with one row per entity, and keep the encoders for new entities."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from .._saving import save_as
from ..data import Views
from ..data.blocks import reindex_rows
from ..data.inputs import ViewInput
from .cells import ExpressionEncoder, ProteinsEncoder
from .encoders import CategoriesEncoder, CountsEncoder, NumbersEncoder, SimilaritiesEncoder, TextEncoder
from .formats.columns import format_cell
from .images.encoder import PICTURE_ENCODINGS, fit_pictures
from .joining import Entities, join_contents
from .kinds import ViewContent
from .link_encoders import HOPS, SmoothEncoder, fit_links, list_link_ids
from .read import KnownClasses
from .spec import suggest
from .text_encoders import EmbeddingEncoder, LSAEncoder
from .text_models import SEMANTIC


@save_as("encoded-view", version=2, upgrade=lambda attributes, _: {"smoothed": None, **attributes})  # 1 had no averages
@dataclass(frozen=True, eq=False)
class ViewEncoding:
    """The content that a view of the model comes from, by name, and the encoder that turns it into numbers."""

    content: str
    encoder: Any
    smoothed: str | None = None  # the view whose rows are averaged along the links of the content


@dataclass(frozen=True, eq=False)
class EncodedRows:
    """A view as numbers, before the views are joined."""

    values: Any
    rows: np.ndarray  # of each entity in `values`, -1 if it has none
    present: np.ndarray  # whether each entity has the view


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
    pictures: dict[str, np.ndarray]  # the path of each entity's picture, None if there is none, by view of images

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


Encoding = str | os.PathLike[str] | Callable[[list[str]], Any]
Fitting = Callable[[ViewContent, list[Any], bool, Entities], dict[str, Any]]


@dataclass(frozen=True)
class KindEncodings:
    """The encodings of a kind of content, and the function that fits their encoders.

    `fit` takes the content, the encodings that were chosen, whether rare terms count more, and the entities; it returns
    fitted encoders by the name of their view.
    """

    fit: Fitting
    names: tuple[str, ...] = ()  # of the encodings; the first is the default. Without names there is no choice
    takes_models: bool = False  # whether the path of a model or a callable is an encoding, too


def fit_and_encode(
    contents: Sequence[ViewContent],
    *,
    rare: bool,
    entities: Entities | None = None,
    encode: Mapping[str, Encoding] | None = None,
) -> EncodedData:
    """Fit encoders to each content and encode it.

    Parameters
    ----------
    contents : sequence of ViewContent
        The contents of the views, from `read_files` or `files.kinds.interpret_columns`.
    rare : bool
        Whether to weight terms by tf-idf, so that rare terms count more.
    entities : Entities, optional
        The entities and their rows in each content; by default contents are joined by their ids, or by the position of
        their rows.
    encode : mapping of str to str or callable, optional
        The encoding of a content, by its name; several encodings are joined by +, and each makes a view.

    Returns
    -------
    EncodedData
        The numbers of each view in `views`, and the fitted encoders.

    Examples
    --------
    >>> import numpy as np
    >>> from consilience.files import fit_and_encode
    >>> from consilience.files.kinds import interpret_columns
    >>> titles = np.array(["steel knife", "red apple", "steel fork"], dtype=object)
    >>> content = interpret_columns("title", "shop.csv", {"title": titles}, None, forced="text")
    >>> fit_and_encode([content], rare=True).views.feature_names("title").tolist()
    ['apple', 'fork', 'knife', 'red', 'steel']
    """
    chosen = choose_encodings(contents, encode or {})
    entities = join_contents(contents) if entities is None else entities
    contents = [
        _align_columns(content, entities) if content.kind == "similarities" else content for content in contents
    ]
    encodings: dict[str, ViewEncoding] = {}
    for content in contents:
        fit = ENCODINGS[content.kind].fit
        for name, encoder in _call(content, fit, content, chosen[content.name], rare, entities).items():
            if name in encodings or (name != content.name and name in chosen):
                raise ValueError(f"the encoding of view {content.name!r} makes a view {name!r}: rename the other one")
            encodings[name] = ViewEncoding(content.name, encoder)
    encoded_rows = _transform(contents, encodings, entities, {})
    encodings |= _fit_smoothing(contents, chosen, entities, encodings, encoded_rows)
    encoded = _join_views(contents, encodings, entities, _transform(contents, encodings, entities, encoded_rows))
    for name, present in zip(encoded.views.names, encoded.views.present.T, strict=True):
        if not present.any():
            origin = next(content.origin for content in contents if content.name == encodings[name].content)
            raise ValueError(f"view {name!r} ({origin}) is empty: it describes no entity. Leave it out")
    return encoded


def choose_encodings(contents: Sequence[ViewContent], encode: Mapping[str, Encoding]) -> dict[str, list[Any]]:
    """Return the encodings of each content: those that `encode` names, or the default of its kind."""
    names = [content.name for content in contents]
    if unknown := [name for name in encode if name not in names]:
        raise ValueError(
            f"--encode names the view {unknown[0]!r}, but the views are {', '.join(map(repr, names))}"
            f"{suggest(unknown[0], names)}"
        )
    chosen = {}
    for content in contents:
        choices = ENCODINGS[content.kind]
        if content.name in encode:
            chosen[content.name] = _parse_encoding(content, encode[content.name], choices)
        else:
            chosen[content.name] = list(choices.names[:1])
    return chosen


def _parse_encoding(content: ViewContent, encoding: Encoding, choices: KindEncodings) -> list[Any]:
    """Split encodings at each +, and refuse those that the kind of the content does not have."""
    if not choices.names:
        kinds = ", ".join(kind for kind, others in ENCODINGS.items() if others.names)
        raise ValueError(
            f"view {content.name!r} ({content.origin}) holds {content.kind}, which have one encoding: --encode is for "
            f"{kinds}"
        )
    if callable(encoding) and choices.takes_models:
        return [encoding]
    text = str(encoding)
    parts = [text] if choices.takes_models and Path(text).exists() else text.split("+")
    for part in parts:
        is_path = choices.takes_models and part and (Path(part).exists() or "/" in part or os.sep in part)
        if part not in choices.names and not is_path:
            remedy = f"choose from {', '.join(choices.names)}, several joined by +"
            if choices.takes_models:
                remedy += ", or give the path of a local model, which does not exist here"
            raise ValueError(
                f"view {content.name!r}: there is no encoding {part!r} of {content.kind}: {remedy}"
                f"{suggest(part, choices.names)}"
            )
        if parts.count(part) > 1:
            raise ValueError(f"view {content.name!r}: the encoding {part!r} is named twice in {text!r}: name it once")
    return parts


def _call(content: ViewContent, method: Callable[..., Any], *arguments: Any) -> Any:
    """Call a method of an encoder, and name the view in its errors."""
    try:
        return method(*arguments)
    except ValueError as error:
        raise ValueError(f"view {content.name!r} ({content.origin}): {error}") from error


def _fit_single(build: Callable[[ViewContent, bool], Any]) -> Fitting:
    """Return the function that fits the only encoder of a kind."""
    return lambda content, _, rare, __: {content.name: build(content, rare).fit(content.data)}


def _fit_texts(content: ViewContent, encodings: list[Any], rare: bool, entities: Entities) -> dict[str, Any]:  # noqa: ARG001
    """Fit one view per encoding of texts or names; beside others, all but the words have names with an ending."""
    encoders: dict[str, Any] = {}
    for encoding in encodings:
        if str(encoding) in TEXT_ENCODINGS:
            ending, build = TEXT_ENCODINGS[encoding]
            encoder = build(content.kind, rare)
        else:
            ending = f"-{Path(str(encoding)).stem}"
            encoder = EmbeddingEncoder(encoding if callable(encoding) else str(Path(encoding).absolute()))
        name = content.name if len(encodings) == 1 else content.name + ending
        if name in encoders:
            raise ValueError(f"two encodings make a view {name!r}: rename one of the models")
        encoders[name] = encoder.fit(content.data)
    return encoders


TEXT_ENCODINGS: dict[str, tuple[str, Callable[[str, bool], Any]]] = {  # ending of the view's name, encoder
    "words": ("", TextEncoder),
    "lsa": ("-topics", lambda kind, _: LSAEncoder(kind)),
    SEMANTIC: ("-meaning", lambda _, __: EmbeddingEncoder(SEMANTIC)),
}


def _fit_smoothing(
    contents: Sequence[ViewContent],
    chosen: Mapping[str, list[Any]],
    entities: Entities,
    encodings: Mapping[str, ViewEncoding],
    encoded: Mapping[str, EncodedRows],
) -> dict[str, ViewEncoding]:
    """Fit a further view for each view that is averaged along links: all but those of links and similarities."""
    smoothed = [name for name in encodings if encodings[name].encoder.kind not in ("links", "similarities")]
    fitted = {}
    for content in contents:
        ways = [encoding for encoding in chosen[content.name] if encoding in HOPS]
        if len(ways) > 1:
            raise ValueError(f"view {content.name!r}: --encode names {' and '.join(ways)}: choose one of them")
        if ways and not smoothed:
            raise ValueError(
                f"view {content.name!r}: no view is there to be smoothed: encode the links as rows or graph"
            )
        for name in smoothed if ways else ():
            encoder = encodings[name].encoder
            smoothing = SmoothEncoder(HOPS[ways[0]], encoder.kind, encoder.features)
            smoothing = _call(content, smoothing.fit, _gather_links(content, entities, encoded[name]))
            fitted[f"{name}-over-{content.name}"] = ViewEncoding(content.name, smoothing, name)
    if clash := next((name for name in fitted if name in encodings or name in chosen), None):
        raise ValueError(f"the encoding of view {fitted[clash].content!r} makes a view {clash!r}: rename the other one")
    return fitted


def _gather_links(content: ViewContent, entities: Entities, plain: EncodedRows | None) -> tuple[Any, ...]:
    """Return what a `SmoothEncoder` takes: links, ids, and the rows of the view that is averaged, None without it."""
    ids = list_link_ids(entities, content.name)
    if plain is None:
        return content.data, ids, None, None
    return content.data, ids, reindex_rows(plain.values, plain.rows), plain.present


ENCODINGS: dict[str, KindEncodings] = {
    "numbers": KindEncodings(_fit_single(lambda _, __: NumbersEncoder())),
    "counts": KindEncodings(_fit_single(lambda _, rare: CountsEncoder(rare))),
    "expression": KindEncodings(_fit_single(lambda _, rare: ExpressionEncoder() if rare else CountsEncoder(False))),
    "proteins": KindEncodings(_fit_single(lambda _, rare: ProteinsEncoder() if rare else CountsEncoder(False))),
    "categories": KindEncodings(_fit_single(lambda _, __: CategoriesEncoder())),
    "similarities": KindEncodings(_fit_single(lambda content, _: SimilaritiesEncoder(content.data[1]))),
    "text": KindEncodings(_fit_texts, tuple(TEXT_ENCODINGS), takes_models=True),
    "names": KindEncodings(_fit_texts, tuple(TEXT_ENCODINGS), takes_models=True),
    "links": KindEncodings(fit_links, ("rows", "graph", *HOPS)),
    "images": KindEncodings(fit_pictures, PICTURE_ENCODINGS, takes_models=True),
}


def encode(contents: Sequence[ViewContent], encodings: Mapping[str, ViewEncoding], entities: Entities) -> EncodedData:
    """Encode contents with encoders that have been fitted; entities that no view describes are left out."""
    return _join_views(contents, encodings, entities, _transform(contents, encodings, entities, {}))


def _transform(
    contents: Sequence[ViewContent],
    encodings: Mapping[str, ViewEncoding],
    entities: Entities,
    encoded: Mapping[str, EncodedRows],
) -> dict[str, EncodedRows]:
    """Encode the views whose content is there, in the order of the encodings; those in `encoded` are not done again."""
    by_name = {content.name: content for content in contents}
    encoded = dict(encoded)
    for name, encoding in encodings.items():
        if encoding.content not in by_name or name in encoded:
            continue
        content, encoder = by_name[encoding.content], encoding.encoder
        data, rows = content.data, entities.rows[content.name]
        if encoding.smoothed is not None:
            data, rows = _gather_links(content, entities, encoded.get(encoding.smoothed)), np.arange(len(entities))
        elif content.kind == "links" and encoder.kind == "similarities":
            data, rows = (data, list_link_ids(entities, content.name)), np.arange(len(entities))
        elif content.kind == "links":
            data = data, entities.row_ids[content.name]
        elif content.kind == "similarities" and data[1] is None and data[0].shape[0] == data[0].shape[1]:
            data = data[0], content.ids  # rows and columns have the same names
        values = _call(content, encoder.transform, data)
        present = np.append(encoder.present(values), False)[rows]  # the last one, at index -1, is False
        if content.kind == "similarities":  # whose columns are the entities, so that rows are the entities, too
            values, rows = reindex_rows(values, rows), np.arange(len(entities))
        encoded[name] = EncodedRows(values, rows, present)
    return encoded


def _join_views(
    contents: Sequence[ViewContent],
    encodings: Mapping[str, ViewEncoding],
    entities: Entities,
    encoded: Mapping[str, EncodedRows],
) -> EncodedData:
    """Join encoded views; entities that no view describes are left out."""
    ids = entities.ids
    blocks: dict[str, ViewInput] = {}
    for name, view in encoded.items():
        features = encodings[name].encoder.features
        blocks[name] = ViewInput(view.values, columns=None if features is None else np.array(features, dtype=object))
    present = np.stack([view.present for view in encoded.values()], axis=1)
    kept = np.asarray(present.any(axis=1))
    if not kept.any():
        raise ValueError("no view describes any entity: check the files")
    block_rows = np.stack([view.rows for view in encoded.values()], axis=1)
    views = Views(Views.from_inputs(blocks, block_rows), present=present, ids=ids)
    if not kept.all():
        if any(content.kind == "similarities" for content in contents):  # which have a column for each entity
            first = int(np.flatnonzero(~kept)[0])
            entity = first if ids is None else ids[first]
            raise ValueError(
                f"entity {entity} is described by no view ({(~kept).sum()} in all): drop it from the files"
            )
        views = views[kept]
    return collect_encoded(contents, views, dict(encodings), entities, kept)


def collect_encoded(
    contents: Sequence[ViewContent],
    views: Views,
    encodings: dict[str, ViewEncoding],
    entities: Entities,
    kept: np.ndarray,
) -> EncodedData:
    """Return encoded views with the texts and pictures of their entities, and the number of cells that were filled."""
    texts, pictures, n_filled = {}, {}, {}
    for content in contents:
        if content.kind in ("text", "names"):
            strings = np.empty(len(content.data) + 1, dtype=object)  # the last one, at index -1, is None
            strings[:-1] = content.data
            texts[content.name] = strings[entities.rows[content.name]][kept]
        elif content.kind == "images":
            paths = np.array([*content.data.paths, None], dtype=object)  # the last one, at index -1, is None
            pictures[content.name] = paths[entities.rows[content.name]][kept]
        elif content.kind == "numbers" and not sp.issparse(content.data[0]):
            is_empty = ~np.isfinite(np.asarray(content.data[0], dtype=np.float64))
            if n_cells := int(is_empty[~is_empty.all(axis=1)].sum()):
                n_filled[content.name] = n_cells
    kinds = {name: encodings[name].encoder.kind for name in views.names}
    return EncodedData(views, encodings, kinds, entities, kept, n_filled, texts, pictures)


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
    """Return the known class of each entity from all sources, '' if there is none.

    Sources that contradict each other are refused.
    """
    matched = np.full(len(entities), "", dtype=object)
    origins: dict[int, KnownClasses] = {}
    for source in sources:
        for entity, text in _locate_classes(source, entities):
            earlier = origins.setdefault(entity, source)
            if matched[entity] not in ("", text):
                name = f"row {entity + 1}" if entities.ids is None else f"entity {entities.ids[entity]!r}"
                raise ValueError(
                    f"{name} has the class {matched[entity]!r} in {earlier.origin} and {text!r} in {source.origin} "
                    f"({source.option}): correct one, or name one file, FILE:COLUMN"
                )
            matched[entity] = text
    if not origins:
        origin = " and ".join(source.origin for source in sources)
        has_text = any((format_classes(source) != "").any() for source in sources)
        remedy = "do the ids match?" if has_text else "all cells are empty"
        raise ValueError(f"{origin} ({sources[0].option}) has no label for any of the entities: {remedy}")
    return matched


def format_classes(source: KnownClasses) -> np.ndarray:
    """Return classes as text, '' for empty cells."""
    cells = source.classes.tolist()
    return np.array(["" if cell is None or cell != cell else format_cell(cell) for cell in cells], dtype=object)


def _locate_classes(source: KnownClasses, entities: Entities) -> Iterator[tuple[int, str]]:
    """Yield the position and the class of each entity of known class: by ids if there are any, otherwise by rows."""
    texts = format_classes(source).tolist()
    if source.ids is None and entities.is_mapped:
        raise ValueError(f"{source.origin} ({source.option}) has no ids, but --mapping joins views by ids: add them")
    if source.ids is None or entities.ids is None:
        if len(texts) != len(entities):
            raise ValueError(
                f"{source.origin} ({source.option}) has {len(texts)} labels for {len(entities)} entities: give one each"
                + (", or a column of ids" if entities.ids is not None else "")
            )
        yield from ((entity, text) for entity, text in enumerate(texts) if text)
        return
    for entity_id, text in zip(source.ids.tolist(), texts, strict=True):
        try:
            positions = {entity for view in source.views or (None,) for entity in entities.find(entity_id, view)}
        except ValueError as error:
            remedy = "Give the classes in a column of a view's file"
            raise ValueError(f"{source.origin} ({source.option}): {error}. {remedy}") from error
        yield from ((entity, text) for entity in positions if text)
