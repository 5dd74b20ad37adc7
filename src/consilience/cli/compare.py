"""``consilience compare``: whether several views help, and which method is best."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from .._progress import open_task
from ..baselines import SingleView
from ..baselines import compare as compare_estimators
from ..data import Table, Views
from ..files import check_output_file, stage_file
from ..pipeline.fitting import choose_k, describe_selection
from ..pipeline.loading import SMALL_GROUPS, LoadedData, check_inputs_stay, describe_data, load_data
from ..pipeline.options import RunOptions
from ..pipeline.outputs import write_json
from ..pipeline.single_views import concatenate_views
from ..registry import find_estimator, list_estimators
from ..report.sections.method import list_versions
from .terminal import Terminal, UsageError

CLOSE = 0.02  # a difference that another seed could make
ALONE, CONCATENATED = "alone", "side by side"
SINGLE_VIEW_METHODS = ("spectral", "spherical")
SCORE_COLUMNS = ("nmi", "ari", "f", "entropy", "agreement", "stability", "verdict", "disagreement", "impurity")
SHOWN_COLUMNS = ("estimator", "entities", *SCORE_COLUMNS, "seconds")


def run_compare(options: argparse.Namespace, terminal: Terminal) -> None:
    """Fit every suitable method and baseline, and print or write a table with a description."""
    out = None if options.out is None else Path(options.out)
    if out is not None:
        check_output_file(out, options.force)
        check_inputs_stay([out], RunOptions.parse(vars(options)))
    data = load_data(RunOptions.parse(vars(options)), terminal, chooses_encodings=False)
    terminal.print_result(describe_data(data))
    k = options.k if isinstance(options.k, int) else find_n_clusters(data, options, terminal)
    rows = []
    candidates = list(list_candidates(data, k, options.seed, terminal))
    with terminal.step("comparing the methods", "compared the methods"), open_task(len(candidates)) as task:
        for name, make_views, estimator, entities in candidates:
            classes = None if data.classes is None else data.classes[entities]
            with terminal.step(f"trying {name}", f"tried {name}", about=name):
                table = compare_estimators(
                    make_views(),
                    {name: estimator},
                    classes,
                    random_state=options.seed,
                    n_refits=options.refits,
                    assess=options.assess,
                )
            rows += [{**row, "entities": len(entities)} for row in table.rows()]
            task.advance()
    table = Table.from_rows(rows)
    words = describe_comparison(table, data.classes is not None)
    shown = Table({name: table[name] for name in SHOWN_COLUMNS if name in table})
    terminal.print_result(f"\n{k} clusters, seed {options.seed}\n{shown}\n\n{words}", always=out is None)
    facts = {"clusters": k, "seed": options.seed, "table": table, "words": words, "notes": terminal.notes}
    facts |= {"versions": list_versions(), "command": options.command_line}
    if out is not None:
        with stage_file(out, options.force) as temporary:
            write_json(temporary, facts)
        terminal.outcome = f"the results are in {out}"
        terminal.print_result(f"\nWritten to {out}")
    terminal.print_json(facts)


def find_n_clusters(data: LoadedData, options: argparse.Namespace, terminal: Terminal) -> int:
    """Return the number of clusters with the most support; without support methods cannot be compared."""
    if options.k == SMALL_GROUPS:
        raise UsageError(f"-k {SMALL_GROUPS} is for `consilience cluster` only: give -k N to compare methods")
    selection = choose_k(data, options.seed, terminal)
    if not selection.supported:
        raise ValueError(f"{selection.reason} Give -k N to compare methods anyway")
    terminal.print_result(f"\n{describe_selection(selection)}")
    return selection.n_clusters


def list_candidates(
    data: LoadedData, k: int, seed: int, terminal: Terminal
) -> Iterator[tuple[str, Callable[[], Views], Any, np.ndarray]]:
    """Yield name, data, estimator and entities of all that suits: methods, concatenated views, each view alone.

    The data are given by a function that makes them, so that they are in memory one at a time.
    """
    kinds, all_entities = data.prepared.kinds, np.arange(len(data.views))
    has_similarities = "similarities" in kinds.values()
    for name, method in list_estimators().items():
        if not method.is_compared or method.takes_few_columns or (has_similarities and not method.takes_similarities):
            continue
        if method.max_compared is not None and len(data.views) > method.max_compared:
            terminal.note(f"{name} is left out: more than {method.max_compared:,} entities.")
            continue
        yield name, partial(data.prepare_for, method), method.build(k, kinds, seed=seed), all_entities
    classes = {name: find_estimator(name).estimator_class for name in SINGLE_VIEW_METHODS}
    views = data.prepare_for(find_estimator(SINGLE_VIEW_METHODS[0]))
    if views.n_views < 2 or has_similarities:
        return
    concatenated, _ = concatenate_views(views, kinds, raw_counts=False)
    for name, estimator_class in classes.items():
        yield (
            f"{name}, {CONCATENATED}",
            partial(Views, concatenated),
            estimator_class(k, random_state=seed),
            all_entities,
        )
    for v, view in enumerate(views.names):
        entities = np.flatnonzero(views.present[:, v])
        for name, estimator_class in classes.items():
            estimator = SingleView(estimator_class(k, random_state=seed), view)
            yield f"{view} {ALONE}, {name}", partial(views.__getitem__, entities), estimator, entities


def describe_comparison(table: Table, has_classes: bool) -> str:
    """Say whether several views help, which method is best, and how much to trust the difference."""
    column = "nmi" if has_classes else "stability"
    values = dict(zip(table["estimator"].tolist(), table[column].tolist(), strict=True))
    values = {name: value for name, value in values.items() if not np.isnan(value)}
    alone, concatenated = (
        {name: value for name, value in values.items() if mark in name} for mark in (f" {ALONE},", f", {CONCATENATED}")
    )
    several = {name: value for name, value in values.items() if name not in alone and name not in concatenated}
    if not several:
        advice = "see the notes" if has_classes else "give --labels, or --refits of 1 or more"
        return f"No method could be judged: {advice}."
    if not has_classes:
        return _describe_stability(several, alone, concatenated)
    best = _find_best(several)
    if not alone:
        return f"The best here is {best} (NMI {several[best]:.2f})."
    single = _find_best(alone)
    gain = several[best] - alone[single]
    verdict = "Yes, several views help here" if gain > CLOSE else "No, several views do not help here"
    verdict = "Several views make little difference here" if abs(gain) <= CLOSE else verdict
    sizes = dict(zip(table["estimator"].tolist(), table["entities"].tolist(), strict=True))
    among = "" if sizes[single] == sizes[best] else f" among the {sizes[single]:,} entities that have it"
    words = f"{verdict}: {best} has NMI {several[best]:.2f}, the best single view ({single}) {alone[single]:.2f}{among}"
    if concatenated:
        other = _find_best(concatenated)
        lead = several[best] - concatenated[other]
        rank = "about equal" if abs(lead) <= CLOSE else "worse" if lead > 0 else "better"
        words += f", all columns {CONCATENATED} {concatenated[other]:.2f} ({other}, {rank})"
    return (
        f"{words}. The best of {len(values)} was selected by its NMI, so its NMI is slightly optimistic; differences "
        f"below {CLOSE} mean nothing."
    )


def _describe_stability(several: dict[str, float], alone: dict[str, float], concatenated: dict[str, float]) -> str:
    """Name the most stable methods, which is all that the table shows without known labels."""
    best = _find_best(several)
    words = [
        "Without known labels the table cannot show which clusters are right, only which are stable: the most stable "
        f"method is {best} ({several[best]:.2f} on random samples)"
    ]
    if alone:
        single = _find_best(alone)
        words.append(f"the most stable single view is {single} ({alone[single]:.2f})")
    if concatenated:
        words.append(f"all columns {CONCATENATED} have {max(concatenated.values()):.2f}")
    return "; ".join(words) + "."


def _find_best(values: dict[str, float]) -> str:
    return max(values, key=lambda name: values[name])
