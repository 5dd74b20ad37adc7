"""Open a run: read its data, place the items on maps, and prepare the views for re-clustering."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from .._tuning import Tuning
from ..arrays import find_nearest
from ..data import Constraints
from ..files import fit_and_encode
from ..files.images.thumbnails import find_thumbnails
from ..files.spec import is_same_file
from ..methods.agreement.warm import WarmRefinement
from ..pipeline.folder import MODEL
from ..pipeline.loading import LoadedData
from ..pipeline.result import Result, load_run
from ..pipeline.run import PipelineRun
from ..registry import DEFAULT_METHOD, find_estimator
from ..report.joint_map import locate_entities
from ..report.sections.maps import locate_in_view
from .clustering import Reclustering

tuning = Tuning(max_items=100_000)
N_NEAREST = 3  # items of a view that are shown as the most similar

Progress = Callable[[str, float], None]


@dataclass(frozen=True, eq=False)
class OpenedRun:
    """A run with everything that the workbench shows and computes with."""

    run: PipelineRun
    data: LoadedData  # as the default method takes it
    reclustering: Reclustering
    ids: list[str]
    rows: dict[str, int]  # position by id
    layout: np.ndarray  # (n, 2), whole numbers
    view_layouts: dict[str, np.ndarray]
    texts: list[str]  # the first text of each item
    thumbnails: Callable[[int], bytes | None] | None
    base: Constraints  # of the run, by position
    base_outliers: list[int]  # of the run, by position

    @property
    def n_items(self) -> int:
        """Number of items."""
        return len(self.ids)

    def find_similar(self, view: str, row: int) -> list[int]:
        """Return the most similar items in a view, none if the item lacks it."""
        prepared = next(prepared for prepared in self.reclustering.warm.prepared if prepared.name == view)
        place = np.flatnonzero(prepared.entities == row)
        if not len(place):
            return []
        points = prepared.clearest.graph.points
        nearest = find_nearest(points, min(N_NEAREST + 1, len(points)), points[place]).positions[0]
        return [int(other) for other in prepared.entities[nearest] if other != row][:N_NEAREST]


def compute_run_key(result: Result) -> str:
    """Return what identifies a run: its data and its clusters."""
    digest = hashlib.sha256(str(result._saved["data"]).encode())
    digest.update(np.asarray(result.model.labels_, dtype="<i8").tobytes())
    return digest.hexdigest()[:32]


def check_size(result: Result) -> None:
    """Refuse runs with more items than can be clustered again while a person waits."""
    n_items = len(np.asarray(result.model.labels_))
    if n_items > tuning.max_items:
        raise ValueError(
            f"the workbench takes up to {tuning.max_items:,} items, got {n_items:,}: cluster a sample of them, and "
            "predict the groups of the others"
        )


def open_result(result: Result, report: Progress = lambda *_: None) -> OpenedRun:
    """Read the data of a result again and prepare it."""
    report("reading the data", 0.02)
    run = result._run
    data = load_for_default(result)
    ids = [str(name) for name in data.prepared.names.tolist()]
    rows = {name: row for row, name in enumerate(ids)}
    if len(rows) < len(ids):
        raise ValueError("the ids of the items are not unique, so that decisions cannot name them: give --id")
    report("placing the items on the map", 0.25)
    layout = locate_entities(run.layout)
    report("placing the items on the maps of the views", 0.6)
    view_layouts = {name: locate_in_view(data.views, name) for name in data.views.names}
    report("comparing the items within the views", 0.7)
    labels = run.labels
    precomputed = {name: data.prepared.kinds[name] == "similarities" for name in data.views.names}
    warm = WarmRefinement(data.views, precomputed, max(2, len(np.unique(labels[labels >= 0]))))
    texts = next(iter(run.texts.values()), None)
    short = [""] * len(ids) if texts is None else [" ".join(str(text or "").split())[:200] for text in texts]
    thumbnails = find_thumbnails(run.data.prepared.pictures)
    reclustering = Reclustering(warm, labels, None if run.assessment is None else run.assessment.confirmed)
    base, outliers = collect_base_constraints(data, labels), np.flatnonzero(labels < 0).tolist()
    return OpenedRun(run, data, reclustering, ids, rows, layout, view_layouts, short, thumbnails, base, outliers)


def load_for_default(result: Result) -> LoadedData:
    """Return the data of a result as the default method takes it, which clusters the items again."""
    run = result._run
    if run.data.method == DEFAULT_METHOD:
        return run.data
    data, declaration = run.data, find_estimator(DEFAULT_METHOD)
    prepared = fit_and_encode(
        data.reading.contents,
        rare=not declaration.takes_raw_counts,
        entities=data.prepared.entities,
        encode=data.choices.encode,
    )
    return replace(
        data, prepared=prepared, method=DEFAULT_METHOD, declaration=declaration, seeds=None, file_constraints=None
    )


def collect_base_constraints(data: LoadedData, labels: np.ndarray) -> Constraints:
    """Return the constraints of the run that its clusters satisfy, by position, without outliers."""
    constraints: Any = None if data.file_constraints is None else data.file_constraints.joint
    if data.seeds is not None:
        constraints = data.seeds.add_to(constraints, data.views)
    if constraints is None or not constraints.size or len(constraints.conflicts):
        return Constraints()
    must, cannot = constraints.must, constraints.cannot
    is_united = labels[must.pairs[:, 0]] == labels[must.pairs[:, 1]]
    is_apart = labels[cannot.pairs[:, 0]] != labels[cannot.pairs[:, 1]]
    must = must.select(is_united & (labels[must.pairs] >= 0).all(axis=1))
    cannot = cannot.select(is_apart & (labels[cannot.pairs] >= 0).all(axis=1))
    return Constraints.from_links(must, cannot)


def find_folder(result: Result, folder: str | Path | None) -> Path:
    """Return the folder of a result, in which decisions are kept; a result in memory is saved there first.

    A folder in which this result was saved before is used again, with its decisions.
    """
    if folder is None and result._folder is None:
        raise ValueError('this result has no folder for the decisions: result.open("folder") saves it there')
    if folder is None:
        assert result._folder is not None
        return result._folder
    path = Path(folder)
    if result._folder is not None and is_same_file(path, result._folder):
        return path
    if not (path / MODEL).exists():
        return result.save(path)
    if compute_run_key(load_run(path)) != compute_run_key(result):
        raise FileExistsError(f"{path} contains another run: choose another folder")
    return path
