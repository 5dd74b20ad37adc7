"""Assign new entities to the clusters of a model."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.stats import betabinom

from ..data import Views
from ..files import EncodedData, InputData, InputFiles, ModelViews, encode, join_contents, parse_view, read_files
from .fitting import reduce_views
from .loading import note_left_out
from .log import RunLog
from .memory import MemoryInputs
from .options import RunOptions
from .outputs import has_probabilities, name_labels, tabulate_probabilities

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
        fits_none = find_unfitting(estimator, views, log)
        columns: dict[str, list[Any]] = {"cluster": labels.tolist()}
        names = saved.get("names") or ()
        if names:
            columns["name"] = name_labels(labels, names)
        if has_probabilities(estimator, saved.get("assessment") is not None):
            fitting_labels = labels if fits_none is None else np.where(fits_none, -1, labels)
            columns |= tabulate_probabilities(estimator, views, fitting_labels, names)
        if fits_none is not None:
            columns["fits"] = np.where(~fits_none & (labels >= 0), "yes", "no").tolist()
    return Prediction(reading, prepared, labels, columns)


def find_unfitting(estimator: Any, views: Views, log: RunLog) -> np.ndarray | None:
    """Return which entities fit no cluster, None if the model cannot tell; note if there are many."""
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
            note += " These are most of the rows: the data may be of another kind or in other units than in the fit."
        log.note(note)
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
    usual_ids = () if saved["id"] is None else (saved["id"],)
    model_views = ModelViews.from_saved(saved)
    with InputFiles({} if memory is None else memory.objects) as inputs:
        named = [parse_view(text) for text in options.view] if memory is None else memory.specs
        specs = [spec for named_spec in named for spec in model_views.find_views(named_spec, inputs)]
        kinds = {name: kind for name, kind in saved["kinds"].items() if name in {spec.name for spec in specs}}
        reading = read_files(
            specs,
            id_column=options.id,
            mappings=options.mapping,
            kinds=kinds,
            delimiter=options.delimiter,
            usual_ids=usual_ids,
            guess_id=False,
            readings=model_views.readings,
            inputs=inputs,
        )
    for note in reading.notes:
        log.note(note)
    if saved.get("is_mapped") and not reading.mappings and len(reading.contents) > 1:
        raise ValueError(
            "the views of the model have different ids, joined by --mapping: give --mapping FILE for the new entities, "
            "or one view at a time"
        )
    unknown = next((content.name for content in reading.contents if content.name not in saved["kinds"]), None)
    if unknown is not None:
        views = ", ".join(map(repr, saved["kinds"]))
        raise ValueError(f"the model has no view {unknown!r}: its views are {views} (--view NAME=FILE)")
    prepared = encode(reading.contents, saved["parts"], join_contents(reading.contents, reading.mappings))
    note_left_out(prepared, log)
    return reading, prepared
