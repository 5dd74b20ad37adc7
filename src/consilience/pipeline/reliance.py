"""The assessment of how reliable the clusters of a run are, and its sentences."""

from __future__ import annotations

from collections import Counter
from itertools import combinations
from typing import Any

import numpy as np

from ..assessment import Alternative, Assessment, assess
from ..assessment.reference import WORDS, describe_words
from ..methods.common.halves import match_clusters
from .fitting import FittedRun
from .loading import LoadedData
from .log import RunLog
from .options import RunOptions


def assess_fit(data: LoadedData, fitted: FittedRun, options: RunOptions, log: RunLog) -> Assessment | None:
    """Assess the model and calibrate its probabilities, unless --no-assess is given or the method cannot predict."""
    if not options.assess:
        return None
    if not data.declaration.can_predict:
        log.note(f"Not assessed: --method {data.method} cannot predict the clusters of new entities.")
        return None
    with log.step("assessing the clusters", "assessed the clusters"):
        try:
            assessment = assess(
                fitted.estimator,
                fitted.views,
                **data.fit_arguments,
                refit=True,
                related=list_related_views(data),
                averaged=[name for name in data.views.names if data.prepared.encodings[name].smoothed is not None],
                random_state=options.seed,
            )
        except (ValueError, MemoryError) as error:
            log.note(f"Not assessed: {error}")
            return None
    if hasattr(fitted.estimator, "calibrate"):
        with log.step("calibrating the probabilities", "calibrated the probabilities"):
            try:
                fitted.estimator.calibrate(fitted.views)
            except ValueError as error:
                log.note(f"The probabilities are not calibrated: {error}")
    return assessment


def list_related_views(data: LoadedData) -> list[tuple[str, str]]:
    """Return pairs of views that say the same in different ways: encodings of a text, and averages of a view.

    Outgoing and incoming links are different data, and so are the shapes and colors of a picture.
    """
    encodings = data.prepared.encodings
    is_text = {content.name: content.kind in ("text", "names") for content in data.reading.contents}
    sources = {}
    for name in data.views.names:
        averaged = encodings[name].smoothed
        sources[name] = {encodings[name].content, *([] if averaged is None else [encodings[averaged].content])}
    return [
        (first, second)
        for first, second in combinations(sources, 2)
        for shared in (sources[first] & sources[second],)
        if any(is_text[content] for content in shared)
        or (shared and (encodings[first].smoothed or encodings[second].smoothed))
    ]


def describe_reliance(assessment: Assessment) -> list[str]:
    """Return the verdict, its track record, the estimate, advice about views, and the limits of the assessment."""
    sentences = [assessment.headline, assessment.worth, assessment.estimate, *assessment.advice]
    if assessment.alternative is not None:
        sentences.append(f"The column {name_column(assessment.alternative)!r} of labels.csv has these clusters.")
    counts = Counter(assessment.certainty.tolist())
    parts = [f"{word} {counts[word]:,}" for word, _ in WORDS if counts[word]]
    if parts:
        sentences.append(f"Confidence in each entity's cluster: {', '.join(parts)} ({describe_words()}).")
    return [*sentences, *assessment.notes]


def name_column(alternative: Alternative) -> str:
    """Return the name of the column of labels.csv that holds the clusters without some views."""
    return f"without {', '.join(alternative.left_out)}"


def spread_labels(alternative: Alternative, labels: np.ndarray) -> list[Any]:
    """Return the cluster of each entity without some views, None for entities that have only these.

    Each cluster has the number of the cluster of `labels` with which it shares most entities, one to one.
    """
    others = np.asarray(alternative.labels)
    numbers = match_clusters(others, labels[alternative.rows])
    clusters: list[Any] = [None] * len(labels)
    for row, other in zip(alternative.rows.tolist(), others.tolist(), strict=True):
        clusters[row] = int(numbers[other]) if other >= 0 else other
    return clusters
