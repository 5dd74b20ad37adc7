"""The data of a run in its folder, with which the run is shown, plotted and predicted without the user's data."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from ..files import EncodedData, Entities, ViewContent
from ..files.encoding import collect_encoded
from ..files.images.encoder import PICTURE_ENCODINGS
from ..files.images.reading import Pictures
from ..files.images.thumbnails import find_thumbnails
from ..persist import load
from ..registry import find_estimator
from .constraints import FileConstraints
from .encodings import EncodingChoices
from .loading import LoadedData, compute_digest
from .options import RunOptions
from .run import PipelineRun
from .seeds import SeedClasses
from .settings import read_settings
from .stored_checks import check_stored, is_built_in

DATA = "data.zip"
WHAT = "consilience data"


def collect_data(run: PipelineRun) -> dict[str, Any]:
    """Return the content of data.zip: the data as it was read and as views, and the map of the entities."""
    data, prepared = run.data, run.data.prepared
    entities, links, seeds = prepared.entities, data.file_constraints, data.seeds
    contents = [replace(content, data=_pack_pictures(content.data)) for content in data.reading.contents]
    kinds = {content.name: content.kind for content in contents}
    return {
        "what": WHAT,
        "data": compute_digest(data.reading),
        "reading": replace(data.reading, contents=contents),
        "entities": Entities(entities.ids, entities.rows, entities.row_ids, entities.is_mapped),  # without caches
        "kept": prepared.kept,
        "views": prepared.views,
        "encode": {name: way if is_built_in(way, kinds[name]) else None for name, way in data.choices.encode.items()},
        "encoding_tables": data.choices.tables,
        "classes": data.classes,
        "constraints": None if links is None else [str(links.path), links.joint, links.by_view, links.n_rows],
        "seeds": None if seeds is None else [seeds.origin, list(seeds.names), seeds.numbers],
        "descriptions": data.descriptions,
        "thumbnails": _draw_thumbnails(prepared),
        "layout": run.layout,
    }


def read_data(path: Path, saved: Mapping[str, Any], options: RunOptions) -> tuple[LoadedData, np.ndarray]:
    """Return the data of a run and the map of its entities from its data.zip; `saved` is the content of its model."""
    stored = load(path)
    if not isinstance(stored, dict) or stored.get("what") != WHAT:
        raise ValueError(f"{path} does not have the data of a run")
    if stored.get("data") != saved["data"]:
        raise ValueError(f"{path} and the model of its folder are of different runs: copy the folder again")
    try:
        check_stored(stored, saved)
        return _build_data(stored, saved, options), stored["layout"]
    except (AttributeError, IndexError, KeyError, TypeError, ValueError) as error:
        raise ValueError(f"{path} is damaged: {error}. Copy the folder again from its source") from error


def _build_data(stored: Mapping[str, Any], saved: Mapping[str, Any], options: RunOptions) -> LoadedData:
    reading = stored["reading"]
    contents = [_unpack_pictures(content) for content in reading.contents]
    without_pictures = [content for content in contents if content.kind != "images"]
    prepared = collect_encoded(without_pictures, stored["views"], saved["parts"], stored["entities"], stored["kept"])
    if stored["thumbnails"] is not None:
        name = next(content.name for content in contents if content.kind == "images")
        prepared = replace(prepared, pictures={name: _split_thumbnails(*stored["thumbnails"])})
    links = None
    if stored["constraints"] is not None:
        path, joint, by_view, n_rows = stored["constraints"]
        links = FileConstraints(Path(path), joint, by_view, n_rows)
    functions = {name: way for name, way in options.encode.items() if callable(way)}
    encode = {
        name: functions.get(name, _refuse_to_encode(name)) if way is None else way
        for name, way in stored["encode"].items()
    }
    settings = read_settings(saved["method"], options.settings)
    is_chosen = settings.declaration.name == saved["method"]
    return LoadedData(
        replace(reading, contents=contents),
        prepared,
        EncodingChoices(encode, tables=stored["encoding_tables"]),
        stored["classes"],
        links,
        None if stored["seeds"] is None else SeedClasses(*stored["seeds"]),
        saved["method"],
        "",
        settings.declaration if is_chosen else find_estimator(saved["method"]),
        is_from_memory=True,
        descriptions=stored["descriptions"],
    )


def _refuse_to_encode(name: str) -> Callable[[list[str]], Any]:
    """Return a function in place of the user's, which no file contains; it is called if the data is encoded again."""

    def refuse(texts: list[str]) -> Any:  # noqa: ARG001
        raise ValueError(
            f"a Python function or a model has encoded {name!r}, which {DATA} does not contain: give a function, "
            f"cs.load_run(folder, encode={{{name!r}: function}})"
        )

    return refuse


@dataclass(frozen=True, eq=False, repr=False)
class StoredPictures(Pictures):
    """Pictures of which a folder has what was computed from them: no file is opened that the folder names."""

    def compute(self, key: Any, *_: Any, **__: Any) -> np.ndarray:
        """Return what was computed; nothing else can be."""
        if key not in self.computed:
            raise ValueError(
                f"{DATA} has small versions of the pictures, but not the pictures, which are needed to encode them "
                "again: give the data, cs.load_run(folder, data)"
            )
        return self.computed[key]

    def __repr__(self) -> str:
        """Count the pictures: without files there are no sizes."""
        return f"StoredPictures({len(self)})"


def _pack_pictures(data: Any) -> Any:
    """Return what was computed from pictures by name, without the paths of their files; other data stays as it is."""
    if not isinstance(data, Pictures):
        return data
    return {key: values for key, values in data.computed.items() if key in PICTURE_ENCODINGS}


def _unpack_pictures(content: ViewContent) -> ViewContent:
    if content.kind != "images":
        return content
    return replace(content, data=StoredPictures(np.full(content.n_rows, None), Path(), dict(content.data)))


def _draw_thumbnails(prepared: EncodedData) -> tuple[np.ndarray, np.ndarray] | None:
    """Return the small pictures of the entities one after the other, and where each ends; None without pictures."""
    find_thumbnail = find_thumbnails(prepared.pictures)
    if find_thumbnail is None:
        return None
    contents = [find_thumbnail(row) or b"" for row in range(len(prepared.views))]
    return np.frombuffer(b"".join(contents), np.uint8), np.cumsum([len(content) for content in contents])


def _split_thumbnails(content: np.ndarray, ends: np.ndarray) -> np.ndarray:
    """Return the small picture of each entity, None where it has none."""
    thumbnails = np.empty(len(ends), dtype=object)
    thumbnails[:] = [part.tobytes() or None for part in np.split(content, ends[:-1])]
    return thumbnails
