"""The steps of a run, from the data to a described clustering."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from ..data import Table
from ..explain.namer import run_namer
from .fitting import describe_selection, fit_model
from .languages import describe_following
from .loading import check_outliers, check_seeds, check_small_groups, describe_data, load_data
from .log import RunLog
from .mapping import find_weak_mappings
from .memory import MemoryInputs
from .names import describe_unknown, match_names, read_names
from .options import RunOptions
from .reliance import assess_fit
from .run import PipelineRun
from .settings import check_settings
from .single_views import compare_with_single_views, group_by_content
from .summary import describe_result, summarize_run
from .update import PreviousRun, keep_numbers, refit_from_earlier

MAX_COMPARED = 20_000  # entities up to which single views and their concatenation are clustered, too


def check_options(options: RunOptions, has_seeds: bool) -> None:
    """Refuse options that cannot be combined, before any file is read."""
    check_outliers(options)
    check_seeds(options, has_seeds)
    check_small_groups(options, has_seeds)
    check_settings(options)


def run_pipeline(
    options: RunOptions, log: RunLog, memory: MemoryInputs | None = None, previous: PreviousRun | None = None
) -> PipelineRun:
    """Read the data, fit the model, assess it, and describe the clusters.

    With a previous run, the data is read as its views, and clusters that are found again keep their numbers and names.
    """
    check_options(options, options.seeds is not None or (memory is not None and bool(memory.seed_classes)))
    new_names = read_names(options.names)
    if previous is None:
        data = load_data(options, log, memory)
    else:
        data = load_data(options, log, memory, chooses_encodings=False, template=previous.saved)
    log.print_result(describe_data(data))
    earlier = None if previous is None else previous.find_labels(data, log)
    fitted = fit_model(data, options, log, None if previous is None else previous.n_clusters)
    if fitted.selection is not None:
        log.print_result(f"\n{describe_selection(fitted.selection)}")
    if earlier is not None:
        fitted = refit_from_earlier(data, fitted, earlier, log)
    labels = np.asarray(fitted.estimator.labels_)
    for note in find_weak_mappings(data.prepared.entities, len(np.unique(labels[labels >= 0]))):
        log.note(note)
    for name, languages in data.languages.items() if fitted.has_clusters else ():
        if (following := describe_following(name, languages, labels)) is not None:
            log.note(following)
    assessment = assess_fit(data, fitted, options, log) if fitted.has_clusters else None
    run = PipelineRun(options, data, fitted, assessment, None, log.notes, {})
    with log.step("explaining the clusters", "explained the clusters"):
        if previous is not None and earlier is not None:
            run = keep_numbers(run, previous, earlier)
        run = replace(run, comparison=_compare_alternatives(run, log))
        _add_names(run, new_names, log)
        run.facts.update(summarize_run(run, log))
    log.print_result(f"\n{describe_result(run.facts, data.declaration.title, run.comparison, assessment)}")
    if run.update is not None and run.changes is not None:
        log.print_result(
            "\n".join(["", f"Compared with {run.update.origin}: {run.changes.overview}", *run.changes.sentences])
        )
    return run


def _add_names(run: PipelineRun, new_names: Mapping[str, str], log: RunLog) -> None:
    """Add the names by the user's function, and those of a file, which count more; note those that cannot be used."""
    if run.options.namer is not None:
        names, notes = run_namer(run.options.namer, run.describe_clusters())
        for note in notes:
            log.note(note)
        changed = {number: name for number, name in enumerate(names) if name != run.automatic_names[number]}
        run.given_names.update(changed)
    matched, unknown = match_names(new_names, run.automatic_names)
    run.given_names.update(matched)
    if unknown:
        log.note(f"{describe_unknown(unknown, run.automatic_names)}. It is ignored.")


def _compare_alternatives(run: PipelineRun, log: RunLog) -> Table | None:
    """Compare with single views and the columns of all views, unless that takes long or tells nothing."""
    data, labels = run.data, run.labels
    if not run.fitted.has_clusters or len(np.unique(labels[labels >= 0])) < 2:
        return None
    if data.fit_arguments or data.method == "constrained" or len(group_by_content(data.prepared)) < 2:
        return None
    if data.declaration.wraps is not None:  # it has clustered the columns of all views
        return None
    if len(data.views) > MAX_COMPARED:
        log.note(
            f"More than {MAX_COMPARED:,} entities: not compared with single views. Use `consilience compare` for that."
        )
        return None
    return compare_with_single_views(run.fitted.estimator, data, run.options.seed, log)
