"""Write the results of a run: a page and the verdicts of all papers, and a page, tables and figures per paper."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from consilience.files import stage_file

from .figures import draw_figure
from .outcome import Outcome
from .page import render_page
from .tables import group_by_paper, make_csv_rows, make_verdict_rows, render_claims_markdown, render_paper_markdown

CELL_FIELDS = ("panel", "row", "column", "ours", "spread", "runs", "published", "difference")
VERDICT_FIELDS = ("paper", "study", "claim", "panel", "status", "figures", "other_data", "ours")


def write_results(outcomes: list[Outcome], folder: Path) -> None:
    """Write the results of all studies.

    ``index.html`` has everything, ``verdicts.csv`` all verdicts, ``summary.md`` their numbers by paper, ``PAPER.md``
    the tables and claims of a paper, and the folder ``PAPER`` each table as CSV and each figure as SVG and PNG.
    """
    figures = {}
    for outcome in outcomes:
        paper_folder = folder / outcome.paper.name
        paper_folder.mkdir(parents=True, exist_ok=True)
        _write_csv(make_csv_rows(outcome), CELL_FIELDS, paper_folder / f"{outcome.study.name}.csv")
        for path in draw_figure(outcome, paper_folder):
            if path.suffix == ".svg":
                figures[outcome.paper.name, outcome.study.name] = path.read_text(encoding="utf-8")
    for paper, paper_outcomes in group_by_paper(outcomes):
        images = {study: f"{name}/{study}.svg" for name, study in figures if name == paper.name}
        _write_text(render_paper_markdown(paper, paper_outcomes, images), folder / f"{paper.name}.md")
    _write_text(render_claims_markdown(outcomes), folder / "summary.md")
    _write_csv(make_verdict_rows(outcomes), VERDICT_FIELDS, folder / "verdicts.csv")
    _write_text(render_page(outcomes, figures), folder / "index.html")


def _write_text(text: str, path: Path) -> None:
    with stage_file(path, overwrite=True) as temporary:
        temporary.write_text(text, encoding="utf-8")


def _write_csv(rows: Iterable[Mapping[str, Any]], fields: Iterable[str], path: Path) -> None:
    with stage_file(path, overwrite=True) as temporary, temporary.open("w", newline="", encoding="utf-8") as file:
        table = csv.DictWriter(file, list(fields))
        table.writeheader()
        table.writerows(rows)
