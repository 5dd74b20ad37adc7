"""``consilience update``: cluster new data as an earlier run did, and keep its numbers and names of clusters."""

from __future__ import annotations

import argparse
from contextlib import nullcontext
from pathlib import Path

from ..files import check_complete, check_output_folder, reserve_folder
from ..pipeline.folder import FILES, MODEL, REPORT, SUMMARY, open_model, read_summary, write_run
from ..pipeline.loading import check_inputs_stay
from ..pipeline.steps import run_pipeline
from ..pipeline.update import PreviousRun
from .cluster import DEFAULT_FOLDER
from .terminal import Terminal


def run_update(options: argparse.Namespace, terminal: Terminal) -> None:
    """Read the earlier run and the new files, cluster them, and write the results to another folder."""
    folder = Path(options.folder)
    is_numbered = options.out is None and not options.force
    first = Path(DEFAULT_FOLDER if options.out is None else options.out)
    if first.exists() and folder.exists() and first.samefile(folder) and not is_numbered:
        raise ValueError(f"{first} is the run to update, which stays as it is: choose another --out")
    if not is_numbered:
        check_output_folder(first, FILES, options.force)
    check_complete(folder)
    facts = read_summary(folder / SUMMARY)
    previous = PreviousRun(str(folder), open_model(folder), facts)
    run_options = previous.collect_options(vars(options), {})
    if not run_options.view:
        raise ValueError(
            f"{folder} was made from data in memory, which it does not contain: name the files, as in `consilience "
            f"update {folder} FILE`, or use Result.update"
        )
    with reserve_folder(first) if is_numbered else nullcontext(first) as out:
        check_inputs_stay([out / name for name in FILES], run_options, folder / SUMMARY, folder / MODEL)
        run = run_pipeline(run_options, terminal, previous=previous)
        with terminal.step("writing the results", "wrote the results"):
            written = write_run(run, out, terminal, overwrite=options.force)
    terminal.outcome = f"the results are in {out}"
    terminal.print_result(f"\nWritten to {out}: {', '.join(written)}. Open {out / REPORT} to see the report.")
    terminal.print_json({"folder": str(out), **run.facts, "notes": terminal.notes})
