"""``consilience cluster``: from files to clusters, a model and a report."""

from __future__ import annotations

import argparse
from contextlib import nullcontext
from pathlib import Path

from ..files import check_output_folder, reserve_folder
from ..pipeline.folder import FILES, REPORT, write_run
from ..pipeline.loading import check_inputs_stay
from ..pipeline.options import RunOptions
from ..pipeline.steps import run_pipeline
from ..pipeline.write_back import find_cells
from .terminal import Terminal

DEFAULT_FOLDER = "consilience-out"


def run_cluster(options: argparse.Namespace, terminal: Terminal) -> None:
    """Read the files, fit the model, assess it, and write the results."""
    is_numbered = options.out is None and not options.force
    first = Path(DEFAULT_FOLDER if options.out is None else options.out)
    if not is_numbered:
        check_output_folder(first, FILES, options.force)
    run_options = RunOptions.parse(vars(options))
    cells = None
    if options.write_back is not None:
        cells = find_cells(options.view, Path(options.write_back), options.force)
    with reserve_folder(first) if is_numbered else nullcontext(first) as out:
        check_inputs_stay([out / name for name in FILES], run_options)
        run = run_pipeline(run_options, terminal)
        with terminal.step("writing the results", "wrote the results"):
            written = write_run(run, out, terminal, overwrite=options.force, cells=cells)
    terminal.outcome = f"the results are in {out}"
    terminal.print_result(f"\nWritten to {out}: {', '.join(written)}. Open {out / REPORT} to see the report.")
    terminal.print_json({"folder": str(out), **run.facts, "notes": terminal.notes})
