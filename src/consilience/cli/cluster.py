"""``consilience cluster``: from files to clusters, a model and a report."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

import numpy as np

from ..assessment import Assessment
from ..data import Table
from ..explain import confidence, contested
from ..files import check_output_folder, stage_folder
from ..persist import save
from ..report import Report
from .alone import compare_alone
from .job import (
    FittedRun,
    LoadedData,
    check_inputs_stay,
    check_small_groups,
    compute_digest,
    describe_data,
    describe_selection,
    describe_views,
    fit_model,
    load_data,
)
from .methods import METHODS, check_outliers
from .outputs import (
    has_probabilities,
    note_guarded,
    show_answers,
    show_clusters,
    show_numbers,
    tabulate_probabilities,
    write_json,
    write_labels,
)
from .reliance import assess_fit, name_column, pack_assessment, spread_labels
from .say import Terminal
from .summary import describe_result, summarize_run

FILES = ("labels.csv", "summary.json", "model.zip", "report.html")
COMPARED = 20_000  # entities up to which single views and their concatenation are clustered, too


def run_cluster(options: argparse.Namespace, say: Terminal) -> None:
    """Read, fit, explain, write."""
    out = Path(options.out)
    check_output_folder(out, FILES, options.force)
    check_inputs_stay([out / name for name in FILES], options)
    check_outliers(options.method, options.outliers)
    check_small_groups(options)
    data = load_data(options, say)
    say.result(describe_data(data))
    fitted = fit_model(data, options.k, options.seed, say, options.outliers)
    if fitted.selection is not None:
        say.result(f"\n{describe_selection(fitted.selection)}")
    model = fitted.estimator
    assessment = assess_fit(data, fitted, options, say) if fitted.is_divided else None
    with say.step("judging the clusters", "judged the clusters"):
        sure = confidence(model, fitted.views)
        disputed = contested(model.view_labels_)
        columns = tabulate_entities(fitted, disputed, assessment)
        comparison = _compare_with_single_views(data, fitted, options, say)
    facts = summarize_run(data, fitted, sure, disputed, comparison, assessment, options, say)
    say.result(f"\n{describe_result(facts, comparison, assessment)}")
    with say.step("writing the results", "wrote the results"), stage_folder(out, FILES, options.force) as folder:
        with (folder / FILES[0]).open("w", newline="", encoding="utf-8", errors="replace") as file:
            note_guarded(write_labels(file, data.prepared.names, columns), say, FILES[0])
        facts["notes"] = say.notes
        write_json(folder / FILES[1], facts)
        save(collect_saved(data, fitted, assessment, options), folder / FILES[2])
        build_report(data, fitted, sure, comparison, assessment, options, say).save(folder / FILES[3])
    say.left = f"the results are in {out}"
    say.result(f"\nWritten to {out}: {', '.join(FILES)}. Look at {out / FILES[3]}")


def tabulate_entities(fitted: FittedRun, disputed: np.ndarray, assessment: Assessment | None) -> dict[str, list[Any]]:
    """Return the columns of labels.csv after the id, as cells."""
    model = fitted.estimator
    labels = np.asarray(model.labels_)
    columns: dict[str, list[Any]] = {"cluster": labels.tolist()}
    if assessment is not None:
        columns["confidence"] = assessment.certainty.tolist()
    if has_probabilities(model, assessment is not None):
        columns |= tabulate_probabilities(model, fitted.views, labels)
    if assessment is not None:
        columns["stability"] = show_numbers(assessment.stability, 2)
    columns["contested"] = show_answers(disputed)
    if getattr(model, "runner_up_", None) is not None:
        columns["alternative"] = model.runner_up_.tolist()
    if assessment is not None and assessment.alternative is not None:
        columns[name_column(assessment.alternative)] = spread_labels(assessment.alternative, labels)
    return columns | {f"cluster by {name}": show_clusters(said) for name, said in model.view_labels_.items()}


def _compare_with_single_views(
    data: LoadedData, fitted: FittedRun, options: argparse.Namespace, say: Terminal
) -> Table | None:
    """Compare with the method on single views and on all columns, unless that would take long or tell nothing."""
    labels = np.asarray(fitted.estimator.labels_)
    if not fitted.is_divided or len(np.unique(labels[labels >= 0])) < 2:
        return None
    if data.constraints is not None or data.method == "constrained" or data.views.n_views < 2:
        return None
    if len(data.views) > COMPARED:
        say.note(f"More than {COMPARED:,} entities: not compared with single views. `consilience compare` does it.")
        return None
    return compare_alone(
        fitted.estimator, data.views, data.method, options.seed, data.prepared.kinds, data.classes, say
    )


def collect_saved(
    data: LoadedData, fitted: FittedRun, assessment: Assessment | None, options: argparse.Namespace
) -> dict[str, Any]:
    """The model with all that new files need to become views for it."""
    return {
        "what": "consilience model",
        "method": data.method,
        "estimator": fitted.estimator,
        "features": fitted.features,
        "parts": data.prepared.encodings,
        "kinds": {one.name: one.kind for one in data.reading.contents},
        "columns": {one.name: one.columns for one in data.reading.contents},
        "id": data.reading.id_column,
        "data": compute_digest(data.reading.contents),
        "seed": options.seed,
        "assessment": pack_assessment(assessment),
        "selection": fitted.selection,
    }


def build_report(
    data: LoadedData,
    fitted: FittedRun,
    sure: np.ndarray,
    comparison: Table | None,
    assessment: Assessment | None,
    options: argparse.Namespace,
    say: Terminal,
) -> Report:
    """The page, from what is at hand."""
    shown: dict[str, Any] = {
        name: data.prepared.texts.get(data.prepared.encodings[name].content) for name in data.views.names
    }
    return Report(
        fitted.estimator,
        data.views,
        title=options.title,
        labels=data.classes,
        comparison=comparison,
        command=options.command_line,
        notes=[*describe_views(data), *say.notes],
        texts={name: own for name, own in shown.items() if own is not None},
        settings={"method": f"{data.method} ({METHODS[data.method].title}; {data.why})", "seed": options.seed},
        confidence=sure if fitted.features else None,  # the page says how it came by it where it can
        assessment=assessment,
        selection=fitted.selection,
    )
