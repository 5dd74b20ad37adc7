"""``consilience predict``: assign new entities to the clusters of a model."""

from __future__ import annotations

import argparse
from pathlib import Path

from ..data import Table
from ..files import check_output_file, parse_view, stage_file
from ..files.formats import parse_path
from ..pipeline.folder import find_model_file, open_model
from ..pipeline.loading import check_inputs_stay
from ..pipeline.options import RunOptions
from ..pipeline.outputs import name_view_ids, note_guarded, write_label_table
from ..pipeline.prediction import predict_clusters
from .terminal import Terminal, check_standard_output, make_encodable, open_standard_output


def run_predict(options: argparse.Namespace, terminal: Terminal) -> None:
    """Read the model and the new files, and write the cluster of each entity."""
    out = None if options.out is None else Path(options.out)
    model = parse_path(options.model)
    if out is None:
        check_standard_output()
    else:
        check_output_file(out, options.force)
        check_inputs_stay([out], RunOptions.parse(vars(options)), find_model_file(model))
    paths = [parse_view(text).path for text in options.view]
    if model.is_fifo() and any(path.exists() and path.samefile(model) for path in paths):
        raise ValueError(f"{model} is a pipe, and cannot be both the model and a view: use two pipes or a file")
    prediction = predict_clusters(open_model(model), RunOptions.parse(vars(options)), terminal)
    ids, columns, view_ids = prediction.prepared.names, prediction.columns, prediction.prepared.view_ids
    rows = Table({"id": ids, **name_view_ids(view_ids), **columns})
    if out is None and terminal.json:
        terminal.print_json(rows)
        return
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
    terminal.print_result(f"Clusters of {len(ids):,} entities written to {out}")
    terminal.print_json(rows)
