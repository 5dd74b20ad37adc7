"""The data of a run in its folder, with which the run is shown, plotted and predicted without the user's data."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from ..data import Constraints, Views
from ..files import Entities, InputData, ViewContent
from ..files.encoding import collect_encoded
from ..files.images.reading import Pictures
from ..persist import load
from ..registry import find_estimator
from .constraints import FileConstraints
from .encodings import EncodingChoices
from .loading import LoadedData, compute_digest
from .options import RunOptions
from .run import PipelineRun
from .seeds import SeedClasses
from .settings import read_settings

DATA = "data.zip"
WHAT = "consilience data"


def collect_data(run: PipelineRun) -> dict[str, Any]:
    """Return the content of data.zip: the data as it was read and as views, and the map of the entities."""
    data, prepared = run.data, run.data.prepared
    entities, links, seeds = prepared.entities, data.file_constraints, data.seeds
    contents = [replace(content, data=_pack_pictures(content.data)) for content in data.reading.contents]
    return {
        "what": WHAT,
        "data": compute_digest(data.reading),
        "reading": replace(data.reading, contents=contents),
        "entities": Entities(entities.ids, entities.rows, entities.row_ids, entities.is_mapped),  # without caches
        "kept": prepared.kept,
        "views": prepared.views,
        "encode": {name: None if callable(way) else str(way) for name, way in data.choices.encode.items()},
        "encoding_tables": data.choices.tables,
        "classes": data.classes,
        "constraints": None if links is None else [str(links.path), links.joint, links.by_view, links.n_rows],
        "seeds": None if seeds is None else [seeds.origin, seeds.names, seeds.numbers],
        "descriptions": data.descriptions,
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


def check_stored(stored: Mapping[str, Any], saved: Mapping[str, Any]) -> None:
    """Refuse data that does not fit the entities of the model: it may come from anywhere."""
    n_entities, kept, views = len(saved["estimator"].labels_), stored["kept"], stored["views"]
    reading, entities = stored["reading"], stored["entities"]
    types = [(reading, InputData), (entities, Entities), (views, Views)]
    if wrong := next((kind.__name__ for value, kind in types if type(value) is not kind), None):
        raise ValueError(f"it has no {wrong}")
    if not np.array_equal(kept, saved["kept"]) or len(views) != n_entities:
        raise ValueError(f"it is not of the {n_entities:,} entities of the model")
    if stored["layout"].shape != (n_entities, 2) or stored["layout"].dtype.kind != "f":
        raise ValueError("it has no position on the map for each entity")
    if any(encoding.content not in entities.rows for encoding in saved["parts"].values()):
        raise ValueError("it lacks a view of the model")
    if entities.ids is not None and len(entities.ids) != len(kept):
        raise ValueError("it does not have an id for each entity")
    n_rows = {content.name: len(kept) if content.kind == "links" else content.n_rows for content in reading.contents}
    for name, rows in entities.rows.items():
        # compiled code does not check the rows that it takes
        is_valid = rows.dtype.kind == "i" and rows.shape == kept.shape
        if not is_valid or rows.max(initial=-1) >= n_rows[name] or rows.min(initial=-1) < -1:
            raise ValueError(f"it has no row of {name!r} for each entity")
    lengths = {len(column.values) for column in stored["descriptions"]}
    lengths |= {n_entities if stored["classes"] is None else len(stored["classes"])}
    lengths |= {n_entities if stored["seeds"] is None else len(stored["seeds"][-1])}
    if lengths != {n_entities}:
        raise ValueError("it does not have a class and a description for each entity")


def _build_data(stored: Mapping[str, Any], saved: Mapping[str, Any], options: RunOptions) -> LoadedData:
    reading = stored["reading"]
    contents = [_unpack_pictures(content) for content in reading.contents]
    prepared = collect_encoded(contents, stored["views"], saved["parts"], stored["entities"], stored["kept"])
    links = None
    if stored["constraints"] is not None:
        path, joint, by_view, n_rows = stored["constraints"]
        if not all(isinstance(part, Constraints) for part in (joint, *by_view.values())):
            raise ValueError("its constraints are none")
        links = FileConstraints(Path(path), joint, by_view, n_rows)
    encode = {
        name: options.encode.get(name, _refuse_to_encode(name)) if way is None else way
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
    """Return a function in place of the user's, which no file contains; it is called if new texts are encoded."""

    def refuse(texts: list[str]) -> Any:  # noqa: ARG001
        raise ValueError(
            f"a Python function has encoded {name!r}, which no file contains: give it again, "
            f"cs.load_run(folder, encode={{{name!r}: function}})"
        )

    return refuse


def _pack_pictures(data: Any) -> Any:
    """Return pictures as the names of their files; other data stays as it is."""
    return {"names": data.names, "folder": str(data.folder.absolute())} if isinstance(data, Pictures) else data


def _unpack_pictures(content: ViewContent) -> ViewContent:
    if content.kind != "images":
        return content
    return replace(content, data=Pictures(content.data["names"], Path(content.data["folder"])))
