"""``consilience report``: write the report of a run again, from its folder and its input files."""

from __future__ import annotations

import argparse
from pathlib import Path

from ..files import check_complete, check_output_file
from ..pipeline.descriptions import summarize_descriptions
from ..pipeline.folder import MODEL, REPORT, SUMMARY, open_model, read_summary, restore_run
from ..pipeline.loading import check_inputs_stay
from ..pipeline.options import RunOptions
from .terminal import Terminal


def run_report(options: argparse.Namespace, terminal: Terminal) -> None:
    """Read the files again, check that they are unchanged, and write the report without fitting the model again."""
    folder = Path(options.folder)
    out = folder / REPORT if options.out is None else Path(options.out)
    if options.out is not None or folder.is_dir():
        check_output_file(out, options.force)
    check_complete(folder)
    facts = read_summary(folder / SUMMARY)
    saved = open_model(folder)
    run = restore_run(facts, saved, RunOptions.select(vars(options)), terminal)
    check_inputs_stay([out], run.options, folder / SUMMARY, folder / MODEL)
    with terminal.step("writing the report", "wrote the report"):
        run.build_report().save(out, overwrite=options.force)
    for row in summarize_descriptions(run.labels, run.data.descriptions) if options.describe else ():
        terminal.print_result(f"{row['column']}: {row['sentence']}")
    terminal.outcome = f"the results are in {out}"
    terminal.print_result(f"Written to {out}")
