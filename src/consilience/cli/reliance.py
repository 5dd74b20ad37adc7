"""How far the clusters of a run can be relied on: the assessment, its sentences, and its place in the model file."""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Mapping
from dataclasses import fields
from typing import Any

import numpy as np
from scipy.optimize import linear_sum_assignment

from ..assessment import Alternative, Assessment, assess
from .job import Data, Fitted
from .methods import METHODS
from .say import Say

CERTAINTIES = ("sure", "likely", "doubtful", "a guess")


def assess_fit(data: Data, fitted: Fitted, options: argparse.Namespace, say: Say) -> Assessment | None:
    """Assess the model and calibrate its probabilities, unless the user or the method rules it out; a note says why."""
    if not options.assess:
        return None
    if not METHODS[data.method].predicts:
        say.note(f"Not assessed: --method {data.method} cannot predict the clusters of entities that it has not seen.")
        return None
    with say.step("assessing the clusters", "assessed the clusters", speaks=True):
        try:
            assessment = assess(
                fitted.estimator,
                fitted.views,
                constraints=data.constraints,
                refit=True,
                random_state=options.seed,
                verbose=say.live,
            )
        except (ValueError, MemoryError) as error:
            say.note(f"Not assessed: {error}")
            return None
        calibrate(fitted, say)
    return assessment


def calibrate(fitted: Fitted, say: Say) -> None:
    """Calibrate the probabilities of a model that can do it."""
    if not hasattr(fitted.estimator, "calibrate"):
        return
    try:
        fitted.estimator.calibrate(fitted.views)
    except ValueError as error:
        say.note(f"The probabilities are not calibrated: {error}")


def describe_reliance(assessment: Assessment) -> list[str]:
    """Return the verdict, what it was worth, the estimate, what to do about views, and what limits all this."""
    sentences = [assessment.headline, assessment.worth, assessment.estimate, *assessment.advice]
    if assessment.alternative is not None:
        sentences.append(f"The column {name_column(assessment.alternative)!r} of labels.csv has these clusters.")
    return [*sentences, *describe_certainty(assessment), *assessment.notes]


def describe_certainty(assessment: Assessment) -> list[str]:
    """Return a sentence that counts the entities by how sure their cluster is."""
    certainty = list_certainty(assessment)
    if certainty is None:
        return []
    counts = Counter(certainty)
    parts = [f"{word} {counts[word]:,}" for word in CERTAINTIES if counts[word]]
    return [f"Confidence in each entity's cluster: {', '.join(parts)}."] if parts else []


def list_certainty(assessment: Assessment) -> list[str] | None:
    """Return a word per entity that says how sure its cluster is, empty if it was not assessed; None without words."""
    words = getattr(assessment, "certainty", None)
    return None if words is None else [str(word or "") for word in words]


def name_column(alternative: Alternative) -> str:
    """Return the name of the column of labels.csv that holds the clusters without some views."""
    return f"without {', '.join(alternative.left_out)}"


def spread_labels(alternative: Alternative, labels: np.ndarray) -> list[Any]:
    """Return the cluster of each entity without some views, empty for entities that have only these.

    Each cluster has the number of the cluster of `labels` with which it shares most entities, one to one.
    """
    others = np.asarray(alternative.model.labels_)
    placed = (others >= 0) & (labels[alternative.rows] >= 0)
    size = int(max(labels.max(initial=0), others.max(initial=0))) + 1
    n_shared = np.zeros((size, size), dtype=np.int64)
    np.add.at(n_shared, (others[placed], labels[alternative.rows][placed]), 1)
    numbers = linear_sum_assignment(n_shared, maximize=True)[1]
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


def unpack_assessment(packed: Mapping[str, Any] | None, say: Say) -> Assessment | None:
    """Return the assessment that a model file holds, if it holds one that this version can read."""
    if packed is None:
        return None
    values, other = dict(packed), packed.get("alternative")
    try:
        if other is not None:
            inner = unpack_assessment(other["assessment"], say)
            values["alternative"] = Alternative(**{**other, "assessment": inner}, model=None)
        return Assessment(**values)
    except (TypeError, KeyError):
        say.note("The assessment of the run is of another version, and left out: run `consilience cluster` again.")
        return None
