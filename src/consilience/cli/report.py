"""``consilience report``: write the report of a run again, from its folder and its input files."""

from __future__ import annotations

import argparse
from dataclasses import replace
from pathlib import Path

from ..files import check_complete, check_output_file
from ..pipeline.descriptions import summarize_descriptions
from ..pipeline.folder import MODEL, REPORT, SUMMARY, open_model, read_summary, restore_run, write_run
from ..pipeline.loading import check_inputs_stay
from ..pipeline.names import read_names
from ..pipeline.options import RunOptions
from .terminal import Terminal


def run_report(options: argparse.Namespace, terminal: Terminal) -> None:
    """Read the files again, check that they are unchanged, and write the report without fitting the model again.

    With new names of clusters, all files of the run are written again, so that they have the same names.
    """
    folder = Path(options.folder)
    out = folder / REPORT if options.out is None else Path(options.out)
    if options.out is not None or folder.is_dir():
        check_output_file(out, options.force)
    check_complete(folder)
    facts = read_summary(folder / SUMMARY)
    read_names(options.names)  # refuses a bad file before the data is read
    saved = open_model(folder)
    run = restore_run(folder, facts, saved, RunOptions.parse(vars(options)), terminal)
    check_inputs_stay([out], replace(run.options, names=options.names), folder / SUMMARY, folder / MODEL)
    if options.names is not None:
        run = run.rename(options.names)
    written = [out.name]
    with terminal.step("writing the report", "wrote the report"):
        if options.names is not None and options.out is None:
            written = write_run(run, folder, terminal, overwrite=options.force)
        else:
            run.build_report().save(out, overwrite=options.force)
    for row in summarize_descriptions(run.labels, run.data.descriptions) if options.describe else ():
        terminal.print_result(f"{row['column']}: {row['sentence']}")
    terminal.outcome = f"the results are in {out}"
    if options.names is None:
        terminal.print_result(f"Written to {out}")
    elif options.out is None:
        terminal.print_result(f"The clusters are renamed in all files of {folder}: {', '.join(written)}")
    else:
        terminal.print_result(f"Written to {out}. The files in {folder} keep the present names of the clusters.")
