"""``consilience figure``: draw a figure of a run for a paper, and print its caption."""

from __future__ import annotations

import argparse
from pathlib import Path

from ..files import check_complete, check_output_file
from ..files.write import stage_file
from ..pipeline.figure import check_descriptions, check_figure_options, draw_run
from ..pipeline.folder import MODEL, SUMMARY, open_model, read_summary, restore_run
from ..pipeline.loading import check_inputs_stay
from ..pipeline.options import RunOptions
from ..pipeline.result import Result
from ..plot.paper import check_figure_file, save_figure
from .terminal import Terminal


def run_figure(options: argparse.Namespace, terminal: Terminal) -> None:
    """Read the files again, check that they are unchanged, and draw the figure without fitting the model again."""
    folder = Path(options.folder)
    out = folder / "figure.pdf" if options.out is None else Path(options.out)
    check_figure_file(out)
    if options.out is not None or folder.is_dir():
        check_output_file(out, options.force)
    check_complete(folder)
    facts = read_summary(folder / SUMMARY)
    saved = open_model(folder)
    check_figure_options(options.content, options.groups, options.width, facts, saved["assessment"])
    check_descriptions(options.content, facts)
    run = restore_run(folder, facts, saved, RunOptions.parse(vars(options)), terminal)
    check_inputs_stay([out], run.options, folder / SUMMARY, folder / MODEL)
    with terminal.step("drawing the figure", "drew the figure"):
        figure = draw_run(Result(run), options.content, groups=options.groups, width=options.width)
        with stage_file(out, options.force) as temporary:
            save_figure(figure, temporary, options.dpi)
    terminal.outcome = f"the results are in {out}"
    terminal.print_result(f"Written to {out}\n\n{figure.get_label()}")
