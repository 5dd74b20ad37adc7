"""The items and groups of a run for spreadsheets: ``groups.xlsx``, and the same as ``items.csv`` and ``groups.csv``."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from .._tuning import Tuning
from ..assessment.reference import describe_words
from ..data.frames import find_free_name
from ..explain import find_differences, typical
from ..report.markup import truncate
from ..report.sections.groups import find_neighbors
from .frame import join_columns
from .log import RunLog, count_noun
from .outputs import note_guarded, round_numbers, spread_columns
from .run import PipelineRun
from .sheet_columns import (
    GROUPS,
    ITEMS,
    MAX_UNITS,
    WORKBOOK,
    SheetColumn,
    SheetTables,
    build_id_column,
    build_original_column,
    clean_cell,
    write_csv,
)
from .workbook import write_workbook

tuning = Tuning(
    max_cells=4_000_000,  # of the workbook that every run writes; `Result.to_excel` also writes larger ones
    max_original_cells=20_000_000,  # of the user's columns; more of them are left out
)
MAX_MARKED = 1000  # clusters; more of them are small groups, which their members describe
N_MARKS, N_TYPICAL = 5, 5  # listed for each group
MAX_TITLE = 60  # characters of the text of a typical member


class Description(NamedTuple):
    """The heading of a column in the workbook, and what the column holds."""

    heading: str
    meaning: str
    number_format: str = ""


RESULTS = {  # by the name in labels.csv
    "name": Description("group", "name of the item's group, from what marks it; empty if the item fits no group"),
    "cluster": Description("group number", "number of the group, as in the report; -1 if the item fits no group"),
    "confidence": Description(
        "confidence", "estimated probability that the item belongs to the kind most frequent in its group", "0%"
    ),
    "confidence in words": Description("confidence in words", f"the word for it: {describe_words()}"),
    "second name": Description("second choice", "name of the next most probable group; empty if it is out of question"),
    "second": Description("second choice number", "number of this next group"),
    "contested": Description(
        "contested", "yes if two confirmed views put the item into different groups; any two if nothing was assessed"
    ),
}
GROUP_COLUMNS = {  # by the name in groups.csv
    "cluster": Description("group number", "number of the group, as in the report and in labels.csv"),
    "name": Description("group", "name of the group, from what marks it"),
    "size": Description("items", "number of items in the group", "#,##0"),
    "share": Description("share", "part of all items with data", "0.0%"),
    "stability": Description("stability", "part of its items that fits without them put into the group again", "0%"),
    "marks": Description("what marks it", "in which columns and words the group differs most from the other items"),
    "typical": Description("typical items", f"the {N_TYPICAL} items that are clearest in the group"),
    "neighbors": Description(
        "neighboring groups", "the nearest groups; in brackets, for which part of its items they are the second choice"
    ),
}


def write_sheets(run: PipelineRun, folder: Path, log: RunLog) -> None:
    """Write the items and groups of a run as CSV files and, with XlsxWriter, as a workbook; note what is left out."""
    tables = build_tables(run)
    note_guarded(write_csv(folder / ITEMS, tables.items), log, ITEMS, "cell")
    write_csv(folder / GROUPS, tables.groups)
    n_cells = len(tables.items) * len(tables.items[0].cells)
    notes = list(tables.notes)
    if n_cells > tuning.max_cells:
        notes.append(
            f"{WORKBOOK} is not written, because {n_cells:,} cells take long to write and to open: {ITEMS} and "
            f"{GROUPS} have the same content. Result.to_excel writes it in Python."
        )
    else:
        try:
            notes += write_workbook(folder / WORKBOOK, tables)
        except ImportError as error:
            notes.append(f"{WORKBOOK} is not written: {error}. {ITEMS} and {GROUPS} have the same content.")
    for note in notes:
        log.note(note)


def build_tables(run: PipelineRun) -> SheetTables:
    """Return the items and groups of a run as tables for spreadsheets."""
    facts = run.facts
    ids, results, originals, notes = build_items(run)
    groups = build_groups(run)
    title = f"{count_noun(facts['entities'], 'item')} in {count_noun(facts['clusters'], 'group')}"
    explained = [(f"items: {column.heading}", column.meaning) for column in (*ids, *results)]
    if originals:
        explained.append(("items: other columns", "your data"))
    explained += [(f"groups: {column.heading}", column.meaning) for column in groups]
    return SheetTables(
        title,
        facts["when"],
        [*ids, *results, *originals],
        len(ids),
        groups,
        [*describe_origin(run, title), *explained],
        notes,
    )


def build_items(run: PipelineRun) -> tuple[list[SheetColumn], list[SheetColumn], list[SheetColumn], list[str]]:
    """Return columns with a cell for each entity that was read: ids, results, the user's columns; and notes.

    A column of results whose name the user's data has already gets the suffix _2, as in `Result.frame`.
    """
    prepared = run.data.prepared
    joined = join_columns(run.data.reading, prepared)
    ids = [build_id_column(column.name, column.values.tolist()) for column in joined if column.is_id]
    user_columns = [column for column in joined if not column.is_id]
    n_entities, notes = len(prepared.kept), []
    if not ids:
        ids = [SheetColumn("id", "id", range(n_entities), meaning="row of the item in the data, counted from 0")]
    if n_entities * len(user_columns) > tuning.max_original_cells:
        notes.append(
            f"{ITEMS} and {WORKBOOK} lack the {len(user_columns):,} columns of the data, because these have "
            f"{n_entities * len(user_columns):,} cells. Result.frame has them in Python."
        )
        user_columns = []
    originals = [build_original_column(column) for column in user_columns]
    n_shortened = sum(column.n_shortened for column in originals)
    if n_shortened:
        subject = count_noun(n_shortened, "cell of the data is", "cells of the data are")
        notes.append(f"{subject} shortened in {ITEMS} and {WORKBOOK} to {MAX_UNITS:,} characters, the most in a cell.")
    cells = {name: column for name, column in run.entity_columns.items() if name in RESULTS}
    cells = spread_columns(cells, prepared.kept)
    places = number_colors(run)
    colors = {
        name: [places.get(cluster) for cluster in cells[clusters]]
        for name, clusters in {"name": "cluster", "second name": "second"}.items()
        if clusters in cells
    }
    taken = [column.name for column in (*ids, *originals)]
    results = [
        SheetColumn(
            find_free_name(name, taken),
            find_free_name(shown.heading, taken),
            [clean_cell(cell) if type(cell) is str else cell for cell in cells[name]],
            number_format=shown.number_format,
            colors=colors.get(name),
            meaning=shown.meaning,
        )
        for name, shown in RESULTS.items()
        if name in cells
    ]
    return ids, results, originals, notes


def build_groups(run: PipelineRun) -> list[SheetColumn]:
    """Return columns with a cell for each cluster, the largest first; those without data are left out."""
    sizes = np.bincount(run.labels[run.labels >= 0], minlength=len(run.cluster_names))
    cells: dict[str, Sequence[Any]] = {
        "cluster": range(len(sizes)),
        "name": run.cluster_names,
        "size": sizes.tolist(),
        "share": round_numbers(sizes / len(run.labels), 4),
    }
    if run.assessment is not None:
        table = run.assessment.clusters
        stability = dict(zip(table["cluster"].tolist(), round_numbers(table["stability"], 4), strict=True))
        cells["stability"] = [stability.get(cluster) for cluster in range(len(sizes))]
    if 1 < len(sizes) <= MAX_MARKED:
        differences = find_differences(run.labels, run.columns, N_MARKS)
        marks = [[difference.sentence for difference in listed] for listed in differences]
        cells["marks"] = marks + [[] for _ in range(len(sizes) - len(marks))]
    cells["typical"] = list_typical(run, len(sizes))
    if 1 < len(sizes) <= MAX_MARKED:
        cells["neighbors"] = list_neighbors(run, len(sizes))
    order = np.lexsort((np.arange(len(sizes)), -sizes)).tolist()
    columns, places = [], number_colors(run)
    for name, shown in GROUP_COLUMNS.items():
        if name in cells:
            ordered = [_clean_lines(cells[name][cluster]) for cluster in order]
            colors = [places.get(cluster) for cluster in order] if name == "name" else None
            columns.append(SheetColumn(name, shown.heading, ordered, None, shown.number_format, colors, shown.meaning))
    return columns


def number_colors(run: PipelineRun) -> dict[int, int]:
    """Return the place of each cluster in the tree, by which the report chooses its color."""
    return {cluster: place for place, cluster in enumerate(run.hierarchy.order)}


def _clean_lines(cell: Any) -> Any:
    """Return a cell with texts that a spreadsheet can hold."""
    if type(cell) is list:
        return [clean_cell(line) for line in cell]
    return clean_cell(cell) if type(cell) is str else cell


def list_typical(run: PipelineRun, n_clusters: int) -> list[list[str]]:
    """Return for each cluster the ids of the most typical entities, with the beginning of their texts."""
    names, texts = run.data.prepared.names.tolist(), list(run.texts.values())
    lines = []
    for rows in typical(run.labels, run.typicality, N_TYPICAL):
        titles = [next((str(text[row]) for text in texts if text[row]), "") for row in rows.tolist()]
        shown = [truncate(" ".join(title[: 4 * MAX_TITLE].split()), MAX_TITLE) for title in titles]
        lines.append(
            [
                f"{names[row]}: {title}" if title else f"{names[row]}"
                for row, title in zip(rows.tolist(), shown, strict=True)
            ]
        )
    return lines + [[] for _ in range(n_clusters - len(lines))]


def list_neighbors(run: PipelineRun, n_clusters: int) -> list[list[str]]:
    """Return the nearest clusters of each cluster, and for which part of its entities they are the second choice."""
    cells = run.entity_columns.get("second")
    second = None if cells is None else np.array([-1 if cluster is None else cluster for cluster in cells])
    neighbors = find_neighbors(run.hierarchy, run.labels, second)
    sizes = np.bincount(run.labels[run.labels >= 0], minlength=n_clusters)
    return [
        [
            f"{run.cluster_names[other]} ({n / sizes[cluster]:.0%})" if n else run.cluster_names[other]
            for other, n in neighbors.get(cluster, ())
        ]
        for cluster in range(n_clusters)
    ]


def describe_origin(run: PipelineRun, title: str) -> list[tuple[str, str]]:
    """Return the verdict and how the groups were made, each with a word for what it is about."""
    facts, assessment = run.facts, run.assessment
    lines = [("result", title)]
    if assessment is None:
        lines.append(("verdict", "The result was not assessed."))
    else:
        lines.append(("verdict", assessment.headline))
        lines += [("", sentence) for sentence in (assessment.worth, *assessment.advice)]
    if facts["outliers"]:
        lines.append(("items in no group", f"{facts['outliers']:,}"))
    if facts["left_out"]:
        lines.append(("items without data", f"{facts['left_out']:,}, which have no group"))
    lines.append(("how the groups were made", f"{run.data.declaration.title} ({facts['method_chosen']})"))
    lines.append(("views", ", ".join(facts["views"])))
    lines += [("command", str(facts["command"]))] if facts["command"] else []
    lines.append(("made by", f"consilience {facts['versions']['consilience']}, seed {facts['seed']}"))
    lines.append(("date", facts["when"]))
    return lines
