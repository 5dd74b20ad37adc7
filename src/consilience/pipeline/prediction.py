"""Assign new entities to the clusters of a model."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.stats import betabinom

from ..assessment import Assessment
from ..assessment.left_out import uses_reference_votes
from ..data import Views
from ..files import EncodedData, InputData, InputFiles, ViewContent, ViewEncoding, encode, join_contents
from ..files.encoders import CategoriesEncoder
from .fitting import reduce_views
from .loading import note_left_out, read_as_fitted
from .log import RunLog
from .memory import MemoryInputs
from .options import RunOptions
from .outputs import has_probabilities, name_labels, tabulate_confidence, tabulate_second_choices

SIGNIFICANCE = 0.001  # probability below which a number of rows without a cluster is more than chance gives


@dataclass(frozen=True, eq=False)
class Prediction:
    """The clusters of new entities."""

    reading: InputData
    prepared: EncodedData
    labels: np.ndarray  # of the entities with data
    columns: dict[str, list[Any]]  # of the table of labels, after the id

    @property
    def all_labels(self) -> np.ndarray:
        """Cluster of each entity that was read, -1 for entities without data."""
        labels = np.full(len(self.prepared.kept), -1)
        labels[self.prepared.kept] = self.labels
        return labels


def predict_clusters(
    saved: dict[str, Any], options: RunOptions, log: RunLog, memory: MemoryInputs | None = None
) -> Prediction:
    """Read new entities and find their clusters; `saved` is the content of a model file."""
    estimator = saved["estimator"]
    if not hasattr(estimator, "predict"):
        raise ValueError(f"--method {saved['method']} cannot predict the clusters of new entities")
    with log.step("reading the files", "read the files"):
        reading, prepared = read_new_views(saved, options, log, memory)
        views = reduce_views(prepared.views, saved["features"])
    with log.step("predicting the clusters", "predicted the clusters"):
        labels = np.asarray(estimator.predict(views))
        fits_none = find_unfitting(
            estimator, views, log, "New groups may have appeared: `consilience update` finds them."
        )
        columns: dict[str, list[Any]] = {"cluster": labels.tolist()}
        names = saved.get("names") or ()
        if names:
            columns["name"] = name_labels(labels, names)
        fitting_labels = labels if fits_none is None else np.where(fits_none, -1, labels)
        confidence = estimate_new_confidence(estimator, saved.get("assessment"), views)
        columns |= tabulate_confidence(np.where(fitting_labels >= 0, confidence, np.nan))
        if has_probabilities(estimator, saved.get("assessment") is not None):
            columns |= tabulate_second_choices(estimator, views, fitting_labels, names)
        if fits_none is not None:
            columns["fits"] = np.where(~fits_none & (labels >= 0), "yes", "no").tolist()
    return Prediction(reading, prepared, labels, columns)


def estimate_new_confidence(estimator: Any, assessment: Assessment | None, views: Views) -> np.ndarray:
    """Return the confidence in the cluster of each new entity, NaN if the model does not justify any.

    docs/trust.md says how often new entities of each confidence were right, which was measured with the default method
    and its default predictors.
    """
    if assessment is None or not hasattr(estimator, "predict_confidence") or not uses_reference_votes(estimator):
        return np.full(len(views), np.nan)
    return assessment.estimate_confidence(estimator.predict_confidence(views))


def find_unfitting(estimator: Any, views: Views, log: RunLog, advice: str) -> np.ndarray | None:
    """Return which entities fit no cluster, None if the model cannot tell; note if there are many.

    The note ends with the advice unless the rows are most of all.
    """
    if not hasattr(estimator, "fits_no_cluster"):
        return None
    fits_none = np.asarray(estimator.fits_no_cluster(views))
    n_unfitting, n_rows, limit = int(fits_none.sum()), len(fits_none), estimator.outlier_limit_
    if is_beyond_chance(n_unfitting, n_rows, limit, len(estimator.labels_)):
        note = (
            f"{n_unfitting:,} of {n_rows:,} new rows fit no cluster (they are less similar to any cluster than "
            f"{1 - limit:.0%} of the entities of the fit)."
        )
        if n_unfitting > n_rows / 2:
            advice = "These are most of the rows: the data may be of another kind or in other units than in the fit."
        log.note(f"{note} {advice}")
    return fits_none


def is_beyond_chance(n_unfitting: int, n_rows: int, limit: float, n_fitted: int) -> bool:
    """Return whether clearly more new rows fit no cluster than rows of the fit's distribution would.

    The limit is estimated from the entities of the fit: the fewer there are, the more the share of such rows may
    differ from it.
    """
    below = max(1.0, limit * n_fitted)
    return bool(betabinom.sf(n_unfitting - 1, n_rows, below, max(1.0, n_fitted + 1 - below)) <= SIGNIFICANCE)


def read_new_views(
    saved: dict[str, Any], options: RunOptions, log: RunLog, memory: MemoryInputs | None
) -> tuple[InputData, EncodedData]:
    """Return new data as the model's views, before wide ones are reduced."""
    with InputFiles({} if memory is None else memory.objects) as inputs:
        reading = read_as_fitted(saved, options, inputs, memory)
    for note in reading.notes:
        log.note(note)
    prepared = encode(reading.contents, saved["parts"], join_contents(reading.contents, reading.mappings))
    for note in list_unseen(reading.contents, saved["parts"]):
        log.note(note)
    note_left_out(prepared, log)
    return reading, prepared


def list_unseen(contents: Sequence[ViewContent], encodings: Mapping[str, ViewEncoding]) -> list[str]:
    """Note the cells of new rows with categories that the fit has not seen, one sentence per column."""
    encoders = {encoding.content: encoding.encoder for encoding in encodings.values() if encoding.smoothed is None}
    notes = []
    for content in contents:
        encoder = encoders.get(content.name)
        unseen = encoder.find_unseen(content.data) if isinstance(encoder, CategoriesEncoder) else {}
        for column, cells in unseen.items():
            subject = "1 cell has a value" if len(cells) == 1 else f"{len(cells):,} cells have values"
            notes.append(
                f"{content.origin}: column {column!r}: {subject} that the fit has not seen, such as {cells[0]!r}; "
                f"{'it counts' if len(cells) == 1 else 'they count'} as empty."
            )
    return notes
