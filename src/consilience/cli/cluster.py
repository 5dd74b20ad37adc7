"""``consilience cluster``: from files to clusters, a model and a report."""

from __future__ import annotations

import argparse
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from ..assessment import Assessment
from ..data import Table
from ..explain import confidence, contested
from ..files import check_output_folder, stage_folder
from ..persist import save
from ..report import Report
from .constraints import describe_satisfied
from .fitting import FittedRun, describe_selection, fit_model
from .loading import (
    LoadedData,
    check_inputs_stay,
    check_outliers,
    check_seeds,
    check_small_groups,
    compute_digest,
    describe_data,
    describe_views,
    load_data,
)
from .mapping import describe_mapping, find_weak_mappings
from .outputs import (
    format_clusters,
    format_numbers,
    has_probabilities,
    note_guarded,
    tabulate_probabilities,
    write_json,
    write_label_table,
)
from .reliance import assess_fit, name_column, spread_labels
from .seeds import build_seeds_section
from .settings import check_settings
from .single_views import compare_with_single_views
from .summary import describe_result, summarize_run
from .terminal import Terminal
from .write_back import find_annotated_input, write_back

FILES = ("labels.csv", "summary.json", "model.zip", "report.html")
MAX_COMPARED = 20_000  # entities up to which single views and their concatenation are clustered, too


def run_cluster(options: argparse.Namespace, terminal: Terminal) -> None:
    """Read the files, fit the model, assess it, and write the results."""
    out = Path(options.out)
    check_output_folder(out, FILES, options.force)
    check_inputs_stay([out / name for name in FILES], options)
    check_outliers(options)
    check_seeds(options)
    check_small_groups(options)
    check_settings(options)
    annotated = find_annotated_input(options)
    data = load_data(options, terminal)
    terminal.print_result(describe_data(data))
    fitted = fit_model(data, options, terminal)
    if fitted.selection is not None:
        terminal.print_result(f"\n{describe_selection(fitted.selection)}")
    model = fitted.estimator
    for note in find_weak_mappings(data.prepared.entities, len(np.unique(model.labels_[model.labels_ >= 0]))):
        terminal.note(note)
    assessment = assess_fit(data, fitted, options, terminal) if fitted.has_clusters else None
    with terminal.step("explaining the clusters", "explained the clusters"):
        entity_confidence = confidence(model, fitted.views)
        is_contested = contested(model.view_labels_)
        columns = tabulate_entities(fitted, is_contested, assessment)
        comparison = _compare_alternatives(data, fitted, options, terminal)
    facts = summarize_run(data, fitted, entity_confidence, is_contested, comparison, assessment, options, terminal)
    terminal.print_result(f"\n{describe_result(facts, data.declaration.title, comparison, assessment)}")
    with terminal.step("writing the results", "wrote the results"), stage_folder(out, FILES, options.force) as folder:
        with (folder / FILES[0]).open("w", newline="", encoding="utf-8", errors="replace") as file:
            n_guarded = write_label_table(file, data.prepared.names, columns, data.prepared.view_ids)
            note_guarded(n_guarded, terminal, FILES[0])
        facts["notes"] = terminal.notes
        write_json(folder / FILES[1], facts)
        save(collect_saved(data, fitted, assessment, options), folder / FILES[2])
        report = build_report(data, fitted, entity_confidence, comparison, assessment, options, terminal)
        report.save(folder / FILES[3])
        write_back(annotated, data, fitted, entity_confidence, options, terminal)
    terminal.outcome = f"the results are in {out}"
    terminal.print_result(f"\nWritten to {out}: {', '.join(FILES)}. Open {out / FILES[3]} to see the report.")


def tabulate_entities(
    fitted: FittedRun, is_contested: np.ndarray, assessment: Assessment | None
) -> dict[str, list[Any]]:
    """Return the columns of labels.csv after the id, as cells."""
    model = fitted.estimator
    labels = np.asarray(model.labels_)
    columns: dict[str, list[Any]] = {"cluster": labels.tolist()}
    if assessment is not None:
        columns["confidence"] = assessment.certainty.tolist()
    if has_probabilities(model, assessment is not None):
        columns |= tabulate_probabilities(model, fitted.views, labels)
    if assessment is not None:
        columns["stability"] = format_numbers(assessment.stability, 2)
    columns["contested"] = np.where(is_contested, "yes", "no").tolist()
    if getattr(model, "runner_up_", None) is not None:
        columns["alternative"] = model.runner_up_.tolist()
    if assessment is not None and assessment.alternative is not None:
        columns[name_column(assessment.alternative)] = spread_labels(assessment.alternative, labels)
    return columns | {
        f"cluster by {name}": format_clusters(view_labels) for name, view_labels in model.view_labels_.items()
    }


def _compare_alternatives(
    data: LoadedData, fitted: FittedRun, options: argparse.Namespace, terminal: Terminal
) -> Table | None:
    """Compare with single views and the columns of all views, unless that takes long or tells nothing."""
    labels = np.asarray(fitted.estimator.labels_)
    if not fitted.has_clusters or len(np.unique(labels[labels >= 0])) < 2:
        return None
    if data.fit_arguments or data.method == "constrained" or data.views.n_views < 2:
        return None
    if data.declaration.wraps is not None:  # it has clustered the columns of all views
        return None
    if len(data.views) > MAX_COMPARED:
        terminal.note(
            f"More than {MAX_COMPARED:,} entities: not compared with single views. Use `consilience compare` for that."
        )
        return None
    return compare_with_single_views(fitted.estimator, data, options.seed, terminal)


def collect_saved(
    data: LoadedData, fitted: FittedRun, assessment: Assessment | None, options: argparse.Namespace
) -> dict[str, Any]:
    """Return the content of model.zip: the model, and what turns new files into its views."""
    contents = data.reading.contents
    if assessment is not None and assessment.alternative is not None:  # its model would double the size of the file
        assessment = replace(assessment, alternative=replace(assessment.alternative, model=None))
    return {
        "what": "consilience model",
        "method": data.method,
        "estimator": fitted.estimator,
        "features": fitted.features,
        "parts": data.prepared.encodings,
        "kinds": {content.name: content.kind for content in contents},
        "columns": {content.name: content.columns for content in contents},
        "id": data.reading.id_column,
        "is_mapped": data.prepared.entities.is_mapped,
        "data": compute_digest(data.reading),
        "seed": options.seed,
        "assessment": assessment,
        "selection": fitted.selection,
    }


def build_report(
    data: LoadedData,
    fitted: FittedRun,
    entity_confidence: np.ndarray,
    comparison: Table | None,
    assessment: Assessment | None,
    options: argparse.Namespace,
    terminal: Terminal,
) -> Report:
    """Return the report of a run."""
    texts: dict[str, Any] = {
        name: data.prepared.texts.get(data.prepared.encodings[name].content) for name in data.views.names
    }
    labels = np.asarray(fitted.estimator.labels_)
    links = data.file_constraints
    satisfied = [] if links is None else [f"constraints: {describe_satisfied(links.count_satisfied(labels))}"]
    return Report(
        fitted.estimator,
        data.views,
        title=options.title,
        labels=data.classes,
        comparison=comparison,
        command=options.command_line,
        notes=[*describe_views(data), *describe_mapping(data.prepared.entities), *satisfied, *terminal.notes],
        texts={name: text for name, text in texts.items() if text is not None},
        settings={
            "method": f"{data.method} ({data.declaration.title}; {data.reason})",
            "seed": options.seed,
            **({"--set": ", ".join(options.settings)} if options.settings else {}),
        },
        confidence=entity_confidence if fitted.features else None,  # otherwise the report computes and explains it
        assessment=assessment,
        selection=fitted.selection,
        extra_sections=[] if data.seeds is None else [partial(build_seeds_section, data.seeds.describe(labels))],
    )
