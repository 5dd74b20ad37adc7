"""Command ``python -m reproduction``: run the papers' tables and figures and compare with the published numbers."""

from __future__ import annotations

import argparse
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from shutil import get_terminal_size
from typing import Any

from consilience.cli.arguments import EPILOG, add_common_options, parse_path_argument, parse_positive
from consilience.cli.terminal import Terminal, count_noun

from . import PAPERS
from .data import find_unavailable
from .engine import Outcome, Unit
from .engine.cells import Cells
from .engine.folder import write_results
from .engine.plan import Plan, choose_studies, list_datasets
from .engine.run import run_units
from .engine.tables import format_duration, render_claims_table, render_text, summarize_verdicts

Missing = dict[tuple[str, str], dict[str, str]]  # reasons for missing panels, by paper and study


def reproduce(options: argparse.Namespace, terminal: Terminal) -> None:
    """Run the requested studies without their stored cells, and show the results."""
    requested = choose_studies(PAPERS, options.paper, options.table)
    if options.list:
        for paper, study in requested:
            terminal.print_result(f"{paper.name:22} {study.name:16} {study.title}", always=True)
        return
    started = time.perf_counter()
    out = Path(options.out or ("reproduced-quick" if options.quick else "reproduced"))
    cells = Cells(out)
    cells.open()
    terminal.outcome = f"finished cells are stored in {out}, and the same command continues from there"
    plans = [Plan.of(paper, study, cells, options.quick) for paper, study in requested]
    _report_plan(plans, terminal)
    with terminal.step("looking for the data", "looked for the data"):
        reasons = find_unavailable(list_datasets(unit for plan in plans for unit in plan.left))
    for name, reason in reasons.items():
        terminal.note(f"{name}: {reason}")
    if find_spec("matplotlib") is None:
        terminal.note("no figures are drawn: pip install 'consilience[plot]'")
    missing = _run_plans(plans, cells, reasons, options.jobs, terminal)
    outcomes = [plan.outcome(cells, missing.get((plan.paper.name, plan.study.name), {})) for plan in plans]
    with terminal.step("writing tables and figures", "wrote tables and figures"):
        write_results(_add_stored_outcomes(outcomes, cells, options.quick), out)
    width = min(110, max(60, get_terminal_size((110, 40)).columns))
    for outcome in outcomes:
        terminal.print_result(render_text(outcome, width) + "\n")
    if options.quick:
        terminal.print_result(
            "This quick run uses data that ships and few runs: its results say nothing about the papers.\n"
        )
    terminal.print_result(render_claims_table(outcomes))
    terminal.print_result(
        f"{summarize_verdicts(outcomes)}. {format_duration(time.perf_counter() - started)}. See {out / 'index.html'}"
    )


def _report_plan(plans: list[Plan], terminal: Terminal) -> None:
    units, done = sum(len(plan.units) for plan in plans), sum(len(plan.done) for plan in plans)
    terminal.print_result(
        f"{count_noun(len(plans), 'table or figure', 'tables and figures')}, {count_noun(units, 'cell')}"
        + (f", of which {done:,} are already stored" if done else "")
    )


def _run_plans(
    plans: list[Plan], cells: Cells, reasons: dict[str, str], n_jobs: int | None, terminal: Terminal
) -> Missing:
    """Run the unfinished units; return the reasons for units that lack data or fail."""
    missing: Missing = {}

    def record_missing(unit: Unit, reason: str) -> None:
        missing.setdefault((unit.paper, unit.study), {}).setdefault(unit.panel, reason)

    possible = []
    for plan in plans:
        for unit in plan.left:
            if reason := "; ".join(reasons[name] for name in unit.datasets if name in reasons):
                record_missing(unit, reason)
            else:
                possible.append((plan.paper, unit))
    with _show_progress(possible, terminal) as tell:
        for done in run_units(possible, cells, n_jobs):
            if done.error:
                record_missing(done.unit, done.error)
                terminal.note(f"{done.unit.paper} {done.unit.study} {done.unit.key}: {done.error}")
            tell(done.unit)
    return missing


@contextmanager
def _show_progress(units: list[tuple[Any, Unit]], terminal: Terminal) -> Iterator[Any]:
    """Show a progress bar on a terminal; otherwise print a line per finished study."""
    left = Counter((unit.paper, unit.study) for _, unit in units)
    if not terminal.is_interactive:

        def report_done(unit: Unit) -> None:
            left[unit.paper, unit.study] -= 1
            if not left[unit.paper, unit.study]:
                terminal.report(f"{unit.paper} {unit.study}: done")

        yield report_done
        return
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        Progress,
        TextColumn,
        TimeElapsedColumn,
        TimeRemainingColumn,
    )

    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("running", total=len(units))

        def advance(unit: Unit) -> None:
            bar.update(task, advance=1, description=f"{unit.paper} {unit.study}")

        yield advance


def _add_stored_outcomes(outcomes: list[Outcome], cells: Cells, quick: bool) -> list[Outcome]:
    """Add the studies that are completely stored in the folder, so that the page shows all results."""
    current = {(outcome.paper.name, outcome.study.name): outcome for outcome in outcomes}
    every = []
    for paper, study in choose_studies(PAPERS, None, None):
        plan = Plan.of(paper, study, cells, quick)
        if (paper.name, study.name) in current:
            every.append(current[paper.name, study.name])
        elif plan.done and not plan.left:
            every.append(plan.outcome(cells, {}))
    return every


def make_parser() -> argparse.ArgumentParser:
    """Define the arguments."""
    top = argparse.ArgumentParser(
        prog="python -m reproduction",
        description="Run the tables and figures of the five papers, and compare the numbers with the published ones.",
        epilog="examples:\n"
        "  python -m reproduction --quick\n"
        "  python -m reproduction kumar-daume-2011 table-3\n"
        "  CONSILIENCE_DATA=folder python -m reproduction --out reproduced\n\n" + EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    add_common_options(top, lambda: reproduce)
    top.add_argument("paper", nargs="?", metavar="PAPER", help="one paper (default: all; --list names them)")
    top.add_argument("table", nargs="?", metavar="TABLE", help="one of its tables or figures")
    top.add_argument("--list", action="store_true", help="list the papers and their tables, and run nothing")
    top.add_argument("--quick", action="store_true", help="a small version of everything, on data that ships: minutes")
    top.add_argument(
        "--jobs", type=parse_positive, metavar="N", help="cells computed in parallel (default: one per core)"
    )
    top.add_argument(
        "--out",
        type=parse_path_argument,
        metavar="FOLDER",
        help="folder of the page, tables and figures, and of finished cells, which a later run does not repeat "
        "(default: reproduced, or reproduced-quick)",
    )
    return top
