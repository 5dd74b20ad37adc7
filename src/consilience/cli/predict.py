"""``consilience predict``: clusters for entities that the model has not seen."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from scipy.stats import betabinom

from ..data import Views
from ..files import (
    InputFiles,
    check_complete,
    check_output_file,
    collect_ids,
    encode,
    parse_view,
    read_files,
    stage_file,
)
from ..files.formats import is_table, parse_path
from ..persist import load as load_model
from .job import check_inputs_stay, note_left_out, reduce_views
from .methods import METHODS
from .outputs import has_probabilities, note_guarded, show_answers, tabulate_probabilities, write_labels
from .say import Terminal, check_standard_output, printable, standard_output

BY_CHANCE = 0.001  # probability below which a number of such rows is more than chance gives


def run_predict(options: argparse.Namespace, say: Terminal) -> None:
    """Read the model and the files, say which cluster each entity belongs to."""
    out = None if options.out is None else Path(options.out)
    model = parse_path(options.model)
    if out is None:
        check_standard_output()
    else:
        check_output_file(out, options.force)
        check_inputs_stay([out], options, find_model_file(model))
    check_pipe_is_read_once(model, options.view)
    saved = open_model(model)
    if not METHODS[saved["method"]].predicts:
        raise ValueError(f"{options.model}: --method {saved['method']} has no way to place new entities")
    with say.step("reading the files", "read the files"):
        views, ids = read_new_views(saved, options, say)
    estimator = saved["estimator"]
    with say.step("placing the entities", "placed the entities"):
        labels = np.asarray(estimator.predict(views))
        unlike = find_unlike(estimator, views, say)
        columns: dict[str, list[Any]] = {"cluster": labels.tolist()}
        if has_probabilities(estimator, saved.get("assessment") is not None):
            fitting = labels if unlike is None else np.where(unlike, -1, labels)
            columns |= tabulate_probabilities(estimator, views, fitting)
        if unlike is not None:
            columns["fits"] = show_answers(~unlike & (labels >= 0))
    if out is None:
        with standard_output() as stream:
            shown = [printable(str(entity_id)) for entity_id in ids] if stream.isatty() else ids
            n_guarded = write_labels(stream, shown, columns)
        note_guarded(n_guarded, say)
        return
    with (
        stage_file(out, options.force) as temporary,
        temporary.open("w", newline="", encoding="utf-8", errors="replace") as file,
    ):
        note_guarded(write_labels(file, ids, columns), say)
    say.left = f"the results are in {out}"
    say.result(f"{len(labels):,} entities placed, written to {out}")


def find_unlike(estimator: Any, views: Views, say: Terminal) -> np.ndarray | None:
    """Return which entities fit no cluster, None if the model cannot tell; a note says if many do not."""
    if not hasattr(estimator, "fits_no_cluster"):
        return None
    unlike = np.asarray(estimator.fits_no_cluster(views))
    if is_beyond_chance(int(unlike.sum()), len(unlike), estimator.outlier_limit_, len(estimator.labels_)):
        note_unlike(int(unlike.sum()), len(unlike), estimator.outlier_limit_, say)
    return unlike


def is_beyond_chance(n_unlike: int, n_rows: int, limit: float, n_fitted: int) -> bool:
    """Return whether clearly more new rows fit no cluster than of rows of the fit's distribution.

    The limit is known from the entities of the fit: the fewer there are, the more the share of such rows may differ
    from it.
    """
    below = max(1.0, limit * n_fitted)
    return bool(betabinom.sf(n_unlike - 1, n_rows, below, max(1.0, n_fitted + 1 - below)) <= BY_CHANCE)


def note_unlike(n_unlike: int, n_rows: int, limit: float, say: Terminal) -> None:
    """Tell of new rows that fit no cluster."""
    text = (
        f"{n_unlike:,} of {n_rows:,} new rows fit no cluster (they are less like any cluster than "
        f"{1 - limit:.0%} of the entities of the fit)."
    )
    if n_unlike > n_rows / 2:
        text += " These are most of the rows: the data may be of another kind, or in other units, than that of the fit."
    say.note(text)


def check_pipe_is_read_once(model: Path, views: Sequence[str]) -> None:
    """Refuse a pipe that is both the model and a view: its content comes out only once."""
    paths = [parse_view(text).path for text in views]
    if model.is_fifo() and any(path.exists() and path.samefile(model) for path in paths):
        raise ValueError(f"{model} is a pipe, and cannot be both the model and a view: use two pipes or a file")


def find_model_file(path: Path) -> Path:
    """The file itself, where the folder that it lies in was named."""
    return path / "model.zip" if path.is_dir() else path


def open_model(path: Path) -> dict[str, Any]:
    """A model that `consilience cluster` has written; the folder that it lies in will do."""
    path = find_model_file(path)
    check_complete(path.parent)
    saved = load_model(path)
    if not isinstance(saved, dict) or saved.get("what") != "consilience model":
        raise ValueError(f"{path} holds no model of `consilience cluster` but a {type(saved).__name__}")
    return saved


def read_new_views(saved: dict[str, Any], options: argparse.Namespace, say: Terminal) -> tuple[Any, Any]:
    """The files as the model's views, and the names of the entities."""
    usual = () if saved["id"] is None else (saved["id"],)
    with InputFiles() as inputs:
        specs = [_use_model_columns(parse_view(text), saved, inputs) for text in options.view]
        kinds = {name: kind for name, kind in saved["kinds"].items() if name in {spec.name for spec in specs}}
        reading = read_files(
            specs, id_column=options.id, kinds=kinds, delimiter=options.delimiter, usual_ids=usual, inputs=inputs
        )
    unknown = next((content.name for content in reading.contents if content.name not in saved["kinds"]), None)
    if unknown is not None:
        raise ValueError(f"the model knows no view {unknown!r}; it knows {', '.join(map(repr, saved['kinds']))}")
    ids = collect_ids(reading.contents)
    prepared = encode(reading.contents, saved["parts"], ids)
    note_left_out(prepared, say)
    return reduce_views(prepared.views, saved["features"]), prepared.names


def _use_model_columns(spec: Any, saved: dict[str, Any], inputs: InputFiles) -> Any:
    """The columns that the model was fitted on, where the user names none."""
    if spec.name is None and spec.view_name not in saved["kinds"]:
        return spec  # a file of several blocks, each with its own name
    spec = replace(spec, name=spec.view_name)
    columns = saved["columns"].get(spec.view_name)
    if spec.columns is not None or not columns or not is_table(spec.path, inputs):
        return spec
    return replace(spec, columns=tuple(columns))
