"""``consilience report``: draw the report of a run again, from its folder and the files it was run on."""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

import numpy as np

from ..data import Table
from ..explain import confidence
from ..files import check_free
from .cluster import FILES, build_report
from .job import Fitted, load, reduced
from .predict import open_model
from .say import Say


def report(options: argparse.Namespace, say: Say) -> None:
    """The model is not fitted again: the files are read anew, and must hold the same entities."""
    folder = Path(options.folder)
    out = folder / FILES[3] if options.out is None else Path(options.out)
    check_free(out, options.force)
    facts = read_summary(folder / FILES[1])
    held = open_model(folder)
    for name, value in facts["inputs"].items():
        if getattr(options, name, None) in (None, []):
            setattr(options, name, value)
    options.method = held["method"]
    options.command_line = facts["command"]
    data = load(options, say)
    estimator = held["estimator"]
    _check_same(data.views.ids, held["ids"], len(data.views), len(estimator.labels_))
    fitted = Fitted(estimator, held["features"], reduced(data.views, held["features"]), None)
    comparison = facts.get("comparison")
    with say.step("drawing the report", "drew the report"):
        sure = confidence(estimator, fitted.views)
        table = _table(comparison) if comparison else None
        build_report(data, fitted, sure, table, options, say).save(out, overwrite=options.force)
    say.result(f"Written to {out}")


def read_summary(path: Path) -> dict[str, Any]:
    """The facts of a run."""
    if not path.is_file():
        raise FileNotFoundError(f"there is no {path}: name a folder that `consilience cluster --out` has written")
    try:
        facts = json.loads(path.read_text(encoding="utf-8"))
    except ValueError as error:
        raise ValueError(f"{path} is damaged: {error}") from error
    if not isinstance(facts, dict) or not isinstance(facts.get("inputs"), dict):
        raise ValueError(f"{path} is no summary of `consilience cluster`")
    return facts


def _table(rows: list[dict[str, Any]]) -> Table:
    """A table as it was before it became JSON."""
    return Table.from_rows([{name: np.nan if own is None else own for name, own in row.items()} for row in rows])


def _check_same(ids: np.ndarray | None, fitted: np.ndarray | None, n: int, n_fitted: int) -> None:
    names = [None if own is None else own.tolist() for own in (ids, fitted)]
    if n != n_fitted or names[0] != names[1]:
        raise ValueError(
            f"the files hold other entities ({n:,}) than the model was fitted on ({n_fitted:,}): "
            "run `consilience cluster` again"
        )
