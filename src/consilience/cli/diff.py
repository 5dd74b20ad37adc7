"""``consilience diff``: compare the clusters of two runs."""

from __future__ import annotations

import argparse
import csv
from pathlib import Path

from ..files import check_output_file, stage_file
from ..pipeline.folder import LABELS, SUMMARY, compare_folders, list_setting_changes, read_summary
from ..pipeline.outputs import guard, note_guarded
from .terminal import Terminal

COLUMNS = ("id", "cluster before", "name before", "cluster", "name")


def run_diff(options: argparse.Namespace, terminal: Terminal) -> None:
    """Match the clusters of two runs by their common entities, and print or write what changed."""
    folders = [Path(options.first), Path(options.second)]
    out = None if options.out is None else Path(options.out)
    if out is not None:
        check_output_file(out, options.force)
        if out.exists() and any(out.samefile(folder / LABELS) for folder in folders if (folder / LABELS).exists()):
            raise ValueError(f"{out} is an input file and would be overwritten: choose another --out")
    changes = compare_folders(*folders)
    facts = [read_summary(folder / SUMMARY)["inputs"] for folder in folders]
    settings = list_setting_changes(*facts)
    terminal.print_result(repr(changes))
    terminal.print_result(
        f"\nAgreement of the clusters: adjusted Rand index {changes.agreement:.3f} (1 if they are equal)."
    )
    if settings:
        terminal.print_result("\n".join(["Settings that differ:", *(f"  {line}" for line in settings)]))
    if out is not None:
        names = [
            dict(zip(table["cluster"].tolist(), table["name"].tolist(), strict=True))
            for table in (changes.before, changes.after)
        ]
        with (
            stage_file(out, options.force) as temporary,
            temporary.open("w", newline="", encoding="utf-8", errors="replace") as file,
        ):
            rows = csv.writer(file)
            rows.writerow(COLUMNS)
            for row in changes.moved.rows():
                before, after = int(row["before"]), int(row["after"])
                rows.writerow([guard(row["id"]), before, names[0].get(before, ""), after, names[1].get(after, "")])
        note_guarded(sum(guard(entity) != entity for entity in changes.moved["id"]), terminal, str(out))
        terminal.outcome = f"the results are in {out}"
        terminal.print_result(f"\nEntities that moved written to {out}")
    terminal.print_json({**changes.to_dict(), "settings": settings, "moved_ids": list(changes.moved.rows())})
