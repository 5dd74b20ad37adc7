"""``--write-back FILE``: a copy of the single-cell file with the clusters in it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from .._version import __version__
from ..files import parse_view
from ..files.annotate import SUFFIXES, check_write_back, collect_results, write_annotated
from .log import RunLog, UsageError
from .run import PipelineRun


class CellFiles(NamedTuple):
    """The single-cell file of a run, and its copy with the clusters."""

    source: Path
    target: Path


def find_cells(views: Sequence[str], target: Path, overwrite: bool = False) -> CellFiles:
    """Find the single-cell file among the views, which is copied; refuse a target that cannot be written."""
    paths = dict.fromkeys(parse_view(text).path for text in views)
    sources = [path for path in paths if path.suffix.lower() in SUFFIXES]
    if not sources:
        raise UsageError(
            "--write-back adds the clusters to a copy of a single-cell file, and no view is .h5ad or .h5mu"
        )
    if len(sources) > 1:
        raise UsageError(
            f"--write-back takes one single-cell file, got {' and '.join(map(str, sources))}: join them in one .h5mu"
        )
    if target.exists() and any(path.is_file() and path.samefile(target) for path in paths):
        raise ValueError(f"--write-back {target} is an input file, which is never changed: choose another name")
    check_write_back(sources[0], target, overwrite)
    return CellFiles(sources[0], target)


def write_back(cells: CellFiles, run: PipelineRun, log: RunLog, overwrite: bool = False) -> None:
    """Write the copy of the single-cell file with clusters, confidence and joint embedding."""
    source, target = cells
    prepared = run.data.prepared
    names = prepared.names
    if prepared.view_ids:  # the views have different ids: those of the file identify its cells
        view = next(content.name for content in run.data.reading.contents if content.origin.startswith(str(source)))
        names = prepared.view_ids[view]
    with log.step("computing the joint embedding", "computed the joint embedding"):
        results = collect_cell_results(run, names)
    with log.step(f"writing {target}", f"wrote {target}"):
        write_annotated(source, target, results, describe_run(run), overwrite)
    log.print_result(f"\nThe clusters are in obs['consilience'] of {target}, a copy of {source}.")


def collect_cell_results(run: PipelineRun, names: np.ndarray) -> dict[str, np.ndarray]:
    """Return what is written for each cell, by the ids of the cells."""
    model = run.fitted.estimator
    return collect_results(
        names,
        model.labels_,
        names=run.cluster_names,
        confidence=run.confidence if np.isfinite(run.confidence).any() else None,
        view_labels=model.view_labels_,
        embedding=run.joint_embedding,
        joint_map=run.layout,
    )


def describe_run(run: PipelineRun) -> dict[str, Any]:
    """Return the facts of a run that are written with its clusters."""
    return {
        "version": __version__,
        "method": run.data.method,
        "n_clusters": run.facts["clusters"],
        "seed": run.options.seed,
        "views": list(run.data.views.names),
        "command": str(run.options.command_line),
    }
