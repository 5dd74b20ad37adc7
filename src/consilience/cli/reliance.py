"""The assessment of how reliable the clusters are: its sentences, and how the model file stores it."""

from __future__ import annotations

import argparse
from collections import Counter
from dataclasses import fields, replace
from math import isfinite
from operator import index
from typing import Any

import numpy as np

from ..assessment import Alternative, Assessment, assess
from ..assessment.assessment import UNJUDGED
from ..assessment.reference import WORDS
from ..data import Table
from ..methods.common.halves import match_clusters
from .fitting import FittedRun
from .loading import LoadedData
from .terminal import Terminal

COLUMNS = {
    "views": ("view", "support", "confirmed_by", "confirmed", "trust", "share"),
    "clusters": ("cluster", "size", "stability", "margin"),
}
SEQUENCES = (list, tuple)
NUMBERS = ("support", "trust", "share", "cluster", "size", "stability", "margin")  # columns of numbers
OUTDATED = "The assessment in the model file is of another version and is left out: run `consilience cluster` again."


def assess_fit(
    data: LoadedData, fitted: FittedRun, options: argparse.Namespace, terminal: Terminal
) -> Assessment | None:
    """Assess the model and calibrate its probabilities, unless --no-assess is given or the method cannot predict."""
    if not options.assess:
        return None
    if not data.declaration.can_predict:
        terminal.note(f"Not assessed: --method {data.method} cannot predict the clusters of new entities.")
        return None
    with terminal.step("assessing the clusters", "assessed the clusters", shows_progress=True):
        try:
            assessment = assess(
                fitted.estimator,
                fitted.views,
                constraints=data.constraints,
                refit=True,
                random_state=options.seed,
                verbose=terminal.is_interactive,
            )
        except (ValueError, MemoryError) as error:
            terminal.note(f"Not assessed: {error}")
            return None
        calibrate(fitted, terminal)
    return assessment


def calibrate(fitted: FittedRun, terminal: Terminal) -> None:
    """Calibrate the probabilities of a model that can do it."""
    if not hasattr(fitted.estimator, "calibrate"):
        return
    try:
        fitted.estimator.calibrate(fitted.views)
    except ValueError as error:
        terminal.note(f"The probabilities are not calibrated: {error}")


def describe_reliance(assessment: Assessment) -> list[str]:
    """Return the verdict, its track record, the estimate, advice about views, and the limits of the assessment."""
    sentences = [assessment.headline, assessment.worth, assessment.estimate, *assessment.advice]
    if assessment.alternative is not None:
        sentences.append(f"The column {name_column(assessment.alternative)!r} of labels.csv has these clusters.")
    return [*sentences, *describe_certainty(assessment), *assessment.notes]


def describe_certainty(assessment: Assessment) -> list[str]:
    """Return a sentence that counts the entities by the confidence in their cluster."""
    counts = Counter(assessment.certainty.tolist())
    parts = [f"{word} {counts[word]:,}" for word, _ in WORDS if counts[word]]
    return [f"Confidence in each entity's cluster: {', '.join(parts)}."] if parts else []


def name_column(alternative: Alternative) -> str:
    """Return the name of the column of labels.csv that holds the clusters without some views."""
    return f"without {', '.join(alternative.left_out)}"


def spread_labels(alternative: Alternative, labels: np.ndarray) -> list[Any]:
    """Return the cluster of each entity without some views, empty for entities that have only these.

    Each cluster has the number of the cluster of `labels` with which it shares most entities, one to one.
    """
    others = np.asarray(alternative.model.labels_)
    numbers = match_clusters(others, labels[alternative.rows])
    clusters: list[Any] = [""] * len(labels)
    for row, other in zip(alternative.rows.tolist(), others.tolist(), strict=True):
        clusters[row] = int(numbers[other]) if other >= 0 else other
    return clusters


def pack_assessment(assessment: Assessment | None) -> dict[str, Any] | None:
    """Return the fields as values that a model file can hold; the model without some views is left out."""
    if assessment is None:
        return None
    packed = {field.name: getattr(assessment, field.name) for field in fields(assessment)}
    other = assessment.alternative
    if other is not None:
        packed["alternative"] = {
            "left_out": other.left_out,
            "rows": other.rows,
            "similarity": other.similarity,
            "assessment": pack_assessment(other.assessment),
        }
    return packed


def unpack_assessment(packed: Any, n_entities: int, terminal: Terminal) -> Assessment | None:
    """Return the assessment that a model file holds; a note says so if this version cannot read it."""
    if packed is None:
        return None
    try:
        return build_assessment(packed, n_entities)
    except (TypeError, KeyError, ValueError, AttributeError, RecursionError):
        terminal.note(OUTDATED)
        return None


def build_assessment(packed: Any, n_entities: int) -> Assessment:
    """Return the assessment of packed fields.

    Raises ValueError, TypeError, KeyError or AttributeError if a field has the wrong type, length or value.
    """
    values = dict(packed)
    alternative = values.pop("alternative", None)
    assessment = Assessment(**values)
    check_assessment(assessment, n_entities)
    if alternative is None:
        return assessment
    left_out, rows = tuple(alternative["left_out"]), alternative["rows"]
    require(len(left_out) > 0 and set(left_out) <= set(assessment.views["view"].tolist()))
    require(rows.ndim == 1 and rows.dtype.kind in "iu" and isfinite(alternative["similarity"]))
    require(bool(np.all((rows >= 0) & (rows < n_entities))))
    inner = build_assessment(alternative["assessment"], len(rows))
    return replace(assessment, alternative=Alternative(left_out, None, rows, inner, float(alternative["similarity"])))


def check_assessment(assessment: Assessment, n_entities: int) -> None:
    """Raise an error unless every field has the type and length that the sentences and the report need."""
    require(isfinite(assessment.disagreement) and isfinite(assessment.ambiguity))
    for number in (assessment.n_assessed, assessment.n_splits, assessment.n_missing_clusters):
        index(number)  # raises TypeError unless it is an integer
    for values in (assessment.stability, assessment.margin):
        require(values.shape == (n_entities,) and values.dtype.kind == "f")
    for name, columns in COLUMNS.items():
        check_table(getattr(assessment, name), columns)
    names = assessment.views["view"].tolist()
    confirming = assessment.views["confirmed_by"].tolist()
    require({*map(type, names), *map(type, confirming)} <= {str} and set(confirming) <= {"", *names})
    require(assessment.views["confirmed"].dtype.kind == "b" and len(set(names)) == len(names))
    require(type(assessment.notes) in SEQUENCES and set(map(type, assessment.notes)) <= {str})
    for pairs in (assessment.copies, assessment.alike):
        require(type(pairs) in SEQUENCES and all(type(pair) in SEQUENCES and len(pair) == 2 for pair in pairs))
        require({name for pair in pairs for name in pair} <= set(names))
    require(set(assessment.unjudged) <= set(names) and set(assessment.unjudged.values()) <= set(UNJUDGED))


def check_table(table: Table, columns: tuple[str, ...]) -> None:
    """Raise an error unless a table has the columns, all of the same length and with numbers where they belong."""
    require(set(columns) <= set(table) and table.n_rows > 0)
    require(all(column.shape == (table.n_rows,) for column in table.values()))
    require(all(table[name].dtype.kind in "iuf" for name in columns if name in NUMBERS))


def require(is_valid: bool) -> None:
    """Raise ValueError if a value of a model file is not valid."""
    if not is_valid:
        raise ValueError("a value of the assessment has another type, length or range")
