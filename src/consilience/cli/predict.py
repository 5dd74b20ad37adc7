"""``consilience predict``: assign new entities to the clusters of a model."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

import numpy as np
from scipy.stats import betabinom

from ..data import Views
from ..files import (
    EncodedData,
    InputFiles,
    ModelViews,
    check_complete,
    check_output_file,
    encode,
    join_contents,
    parse_view,
    read_files,
    stage_file,
)
from ..files.formats import parse_path
from ..persist import load
from .fitting import reduce_views
from .loading import check_inputs_stay, note_left_out
from .outputs import has_probabilities, note_guarded, tabulate_probabilities, write_label_table
from .terminal import Terminal, check_standard_output, make_encodable, open_standard_output

SIGNIFICANCE = 0.001  # probability below which a number of rows without a cluster is more than chance gives


def run_predict(options: argparse.Namespace, terminal: Terminal) -> None:
    """Read the model and the new files, and write the cluster of each entity."""
    out = None if options.out is None else Path(options.out)
    model = parse_path(options.model)
    if out is None:
        check_standard_output()
    else:
        check_output_file(out, options.force)
        check_inputs_stay([out], options, find_model_file(model))
    paths = [parse_view(text).path for text in options.view]
    if model.is_fifo() and any(path.exists() and path.samefile(model) for path in paths):
        raise ValueError(f"{model} is a pipe, and cannot be both the model and a view: use two pipes or a file")
    saved = open_model(model)
    estimator = saved["estimator"]
    if not hasattr(estimator, "predict"):
        raise ValueError(f"{options.model}: --method {saved['method']} cannot predict the clusters of new entities")
    with terminal.step("reading the files", "read the files"):
        prepared = read_new_views(saved, options, terminal)
        views, ids, view_ids = reduce_views(prepared.views, saved["features"]), prepared.names, prepared.view_ids
    with terminal.step("predicting the clusters", "predicted the clusters"):
        labels = np.asarray(estimator.predict(views))
        fits_none = find_unfitting(estimator, views, terminal)
        columns: dict[str, list[Any]] = {"cluster": labels.tolist()}
        if has_probabilities(estimator, saved.get("assessment") is not None):
            fitting_labels = labels if fits_none is None else np.where(fits_none, -1, labels)
            columns |= tabulate_probabilities(estimator, views, fitting_labels)
        if fits_none is not None:
            columns["fits"] = np.where(~fits_none & (labels >= 0), "yes", "no").tolist()
    if out is None:
        with open_standard_output() as stream:
            shown_ids = [make_encodable(str(entity_id), stream) for entity_id in ids] if stream.isatty() else ids
            n_guarded = write_label_table(stream, shown_ids, columns, view_ids)
        note_guarded(n_guarded, terminal)
        return
    with (
        stage_file(out, options.force) as temporary,
        temporary.open("w", newline="", encoding="utf-8", errors="replace") as file,
    ):
        note_guarded(write_label_table(file, ids, columns, view_ids), terminal)
    terminal.outcome = f"the results are in {out}"
    terminal.print_result(f"Clusters of {len(labels):,} entities written to {out}")


def find_unfitting(estimator: Any, views: Views, terminal: Terminal) -> np.ndarray | None:
    """Return which entities fit no cluster, None if the model cannot tell; note if there are many."""
    if not hasattr(estimator, "fits_no_cluster"):
        return None
    fits_none = np.asarray(estimator.fits_no_cluster(views))
    n_unfitting, n_rows, limit = int(fits_none.sum()), len(fits_none), estimator.outlier_limit_
    if is_beyond_chance(n_unfitting, n_rows, limit, len(estimator.labels_)):
        note = (
            f"{n_unfitting:,} of {n_rows:,} new rows fit no cluster (they are less similar to any cluster than "
            f"{1 - limit:.0%} of the entities of the fit)."
        )
        if n_unfitting > n_rows / 2:
            note += " These are most of the rows: the data may be of another kind or in other units than in the fit."
        terminal.note(note)
    return fits_none


def is_beyond_chance(n_unfitting: int, n_rows: int, limit: float, n_fitted: int) -> bool:
    """Return whether clearly more new rows fit no cluster than rows of the fit's distribution would.

    The limit is estimated from the entities of the fit: the fewer there are, the more the share of such rows may
    differ from it.
    """
    below = max(1.0, limit * n_fitted)
    return bool(betabinom.sf(n_unfitting - 1, n_rows, below, max(1.0, n_fitted + 1 - below)) <= SIGNIFICANCE)


def find_model_file(path: Path) -> Path:
    """Return the model file if its folder was given."""
    return path / "model.zip" if path.is_dir() else path


def open_model(path: Path) -> dict[str, Any]:
    """Load a model that `consilience cluster` has written, from its file or folder."""
    path = find_model_file(path)
    check_complete(path.parent)
    saved = load(path)
    if not isinstance(saved, dict) or saved.get("what") != "consilience model":
        raise ValueError(f"{path} was not written by `consilience cluster`: it contains a {type(saved).__name__}")
    return saved


def read_new_views(saved: dict[str, Any], options: argparse.Namespace, terminal: Terminal) -> EncodedData:
    """Return the files as the model's views, before wide ones are reduced."""
    usual_ids = () if saved["id"] is None else (saved["id"],)
    model_views = ModelViews.from_saved(saved)
    with InputFiles() as inputs:
        specs = [spec for text in options.view for spec in model_views.find_views(parse_view(text), inputs)]
        kinds = {name: kind for name, kind in saved["kinds"].items() if name in {spec.name for spec in specs}}
        reading = read_files(
            specs,
            id_column=options.id,
            mappings=options.mapping,
            kinds=kinds,
            delimiter=options.delimiter,
            usual_ids=usual_ids,
            guess_id=False,
            readings=model_views.readings,
            inputs=inputs,
        )
    for note in reading.notes:
        terminal.note(note)
    if saved.get("is_mapped") and not reading.mappings and len(reading.contents) > 1:
        raise ValueError(
            "the views of the model have different ids, joined by --mapping: give --mapping FILE for the new entities, "
            "or one view at a time"
        )
    unknown = next((content.name for content in reading.contents if content.name not in saved["kinds"]), None)
    if unknown is not None:
        raise ValueError(f"the model has no view {unknown!r}: its views are {', '.join(map(repr, saved['kinds']))}")
    prepared = encode(reading.contents, saved["parts"], join_contents(reading.contents, reading.mappings))
    note_left_out(prepared, terminal)
    return prepared
