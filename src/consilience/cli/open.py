"""``consilience open``: look at the groups of a run in the browser, and correct them."""

from __future__ import annotations

import argparse
from contextlib import suppress
from pathlib import Path

from ..files import check_complete
from ..pipeline.folder import SUMMARY, open_model, read_summary, restore_run
from ..pipeline.log import count_noun
from ..pipeline.options import RunOptions
from ..pipeline.result import Result
from ..workbench.decisions import FILE_NAME
from ..workbench.serve import RunningWorkbench
from .terminal import Terminal


def run_open(options: argparse.Namespace, terminal: Terminal) -> None:
    """Read the files again, check that they are unchanged, and serve the workbench until Ctrl-C."""
    folder = Path(options.folder)
    check_complete(folder)
    facts = read_summary(folder / SUMMARY)
    run = restore_run(folder, facts, open_model(folder), RunOptions.parse(vars(options)), terminal)
    with RunningWorkbench(Result(run, folder=folder), port=options.port) as running:
        read_only = running.workbench.log.read_only
        if read_only is not None:
            terminal.note(f"Changes are not possible: {read_only}.")
        terminal.outcome = f"the decisions are in {folder / FILE_NAME}"
        with suppress(KeyboardInterrupt):  # from here on, Ctrl-C is the way to end the command
            terminal.print_result(f"The workbench is at {running.url}\nPress Ctrl-C to stop it.", always=True)
            terminal.print_json({"url": running.url, "folder": str(folder), "read_only": read_only})
            terminal.flush()
            if options.browser and not running.show():
                terminal.note("No browser could be opened: copy the address.")
            running.wait()
        n_decisions = len(running.workbench.log.list_active())
    if n_decisions:
        terminal.print_result(f"{count_noun(n_decisions, 'decision')} in {folder / FILE_NAME}")
