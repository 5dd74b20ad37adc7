"""``consilience cluster``: from files to clusters, a model and a report."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

import numpy as np

from ..data import Table
from ..explain import confidence, contested
from ..files import check_folder, whole_folder
from ..persist import save
from ..report import Report
from .alone import compare_alone
from .job import Data, Fitted, check_inputs_stay, describe, described, digest, fit, load
from .methods import METHODS
from .outputs import say_guarded, write_json, write_labels
from .say import Say
from .summary import spoken, summarise

FILES = ("labels.csv", "summary.json", "model.zip", "report.html")
COMPARED = 20_000  # entities up to which single views and their concatenation are clustered, too


def cluster(options: argparse.Namespace, say: Say) -> None:
    """Read, fit, explain, write."""
    out = Path(options.out)
    check_folder(out, FILES, options.force)
    check_inputs_stay([out / name for name in FILES], options)
    data = load(options, say)
    say.result(describe(data))
    fitted = fit(data, options.k, options.seed, say)
    if fitted.selection is not None:
        say.result(f"\n{fitted.selection}")
    model = fitted.estimator
    with say.step("judging the clusters", "judged the clusters"):
        sure = confidence(model, fitted.views)
        disputed = contested(model.view_labels_)
        comparison = _comparison(data, model, options, say)
    facts = summarise(data, fitted, sure, disputed, comparison, options, say)
    say.result(f"\n{spoken(facts, comparison)}")
    with say.step("writing the results", "wrote the results"), whole_folder(out, FILES, options.force) as folder:
        ids = data.prepared.names
        with (folder / FILES[0]).open("w", newline="", encoding="utf-8", errors="replace") as file:
            alternative = getattr(model, "runner_up_", None)
            n_guarded = write_labels(file, ids, model.labels_, sure, disputed, alternative, model.view_labels_)
            say_guarded(n_guarded, say)
        facts["notes"] = say.notes
        write_json(folder / FILES[1], facts)
        save(as_saved(data, fitted, options), folder / FILES[2])
        build_report(data, fitted, sure, comparison, options, say).save(folder / FILES[3])
    say.left = f"the results are in {out}"
    say.result(f"\nWritten to {out}: {', '.join(FILES)}. Look at {out / FILES[3]}")


def _comparison(data: Data, model: Any, options: argparse.Namespace, say: Say) -> Table | None:
    """The same method on single views and on all columns, unless that would take long."""
    if data.constraints is not None or data.method == "constrained" or data.views.n_views < 2:
        return None
    if len(data.views) > COMPARED:
        say.note(f"More than {COMPARED:,} entities: not compared with single views. `consilience compare` does it.")
        return None
    return compare_alone(model, data.views, data.method, options.seed, data.prepared.kinds, data.classes, say)


def as_saved(data: Data, fitted: Fitted, options: argparse.Namespace) -> dict[str, Any]:
    """The model with all that new files need to become views for it."""
    return {
        "what": "consilience model",
        "method": data.method,
        "estimator": fitted.estimator,
        "features": fitted.features,
        "parts": data.prepared.parts,
        "kinds": {one.name: one.kind for one in data.reading.contents},
        "columns": {one.name: one.columns for one in data.reading.contents},
        "id": data.reading.id_column,
        "data": digest(data.reading.contents),
        "seed": options.seed,
    }


def build_report(
    data: Data, fitted: Fitted, sure: np.ndarray, comparison: Table | None, options: argparse.Namespace, say: Say
) -> Report:
    """The page, from what is at hand."""
    shown: dict[str, Any] = {
        name: data.prepared.texts.get(data.prepared.parts[name].content) for name in data.views.names
    }
    return Report(
        fitted.estimator,
        data.views,
        title=options.title,
        labels=data.classes,
        comparison=comparison,
        command=options.command_line,
        notes=[*described(data), *say.notes],
        texts={name: own for name, own in shown.items() if own is not None},
        settings={"method": f"{data.method} ({METHODS[data.method].title}; {data.why})", "seed": options.seed},
        confidence=sure if fitted.features else None,  # the page says how it came by it where it can
    )
