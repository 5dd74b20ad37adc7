"""Continue an earlier run with new data: clusters that are found again keep their numbers and names."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.metrics import normalized_mutual_info_score

from ..assessment import Assessment
from ..data import Table
from ..files import encode
from ..methods.agreement.estimator import DIFFERENT, EQUALLY_SUPPORTED
from ..methods.common.renumbered import RenumberedModel, translate_labels
from ..registry import DEFAULT_METHOD
from .changes import ClusterList, RunUpdate, match_by_overlap
from .fitting import FittedRun, reduce_views
from .loading import LoadedData, compute_digest
from .log import RunLog
from .names import read_given_names
from .options import RunOptions, parse_texts
from .prediction import find_unfitting
from .run import PipelineRun
from .summary import INPUTS

LEAST_SHARED = 0.1  # share of the entities of the smaller run whose ids both runs must have to match clusters by them


@dataclass(frozen=True, eq=False)
class EarlierLabels:
    """What an earlier run says of the entities of a new one."""

    labels: np.ndarray  # (n,), its clusters, -1 for none
    is_compared: np.ndarray  # (n,), whether the entity is used to match clusters
    compared_by: str  # ids, rows or predictions


@dataclass(frozen=True, eq=False)
class PreviousRun:
    """An earlier run, from its folder or from memory."""

    origin: str  # for messages
    saved: Mapping[str, Any]  # content of its model file
    facts: Mapping[str, Any]  # content of its summary.json

    @property
    def labels(self) -> np.ndarray:
        """Cluster of each of its entities with data, -1 for outliers."""
        return np.asarray(self.saved["estimator"].labels_)

    @property
    def ids(self) -> np.ndarray | None:
        """Ids of its entities with data; None if it has none, as runs of early versions."""
        return None if self.saved.get("ids") is None else np.asarray(self.saved["ids"], object)[self.saved["kept"]]

    @property
    def names(self) -> list[str]:
        """Names of its clusters by number."""
        return list(self.saved.get("names") or ())

    @property
    def given_names(self) -> dict[int, str]:
        """Names that the user has given to its clusters."""
        return read_given_names(self.facts)

    @property
    def n_clusters(self) -> int:
        """Number of its clusters that are not empty."""
        return len(np.unique(self.labels[self.labels >= 0]))

    @property
    def next_cluster(self) -> int:
        """The number for a new cluster, which no cluster of it or of the runs before it had."""
        update = RunUpdate.from_saved(self.saved.get("update"))
        return max(0 if update is None else update.next_cluster, int(self.labels.max(initial=-1)) + 1)

    def collect_options(self, settings: Mapping[str, Any], functions: Mapping[str, Any]) -> RunOptions:
        """Return the options of the run with other settings; `functions` encode the views that they name.

        Settings that are None or empty are those of the run. Known classes of its files do not count for new files, and
        names that the user gave to its clusters are kept with the clusters.
        """
        changed = {name: value for name, value in settings.items() if value not in (None, [], (), {})}
        inputs = self.facts["inputs"]
        left_out = ("names", *(("labels",) if "view" in changed else ()))
        names = [name for name in INPUTS if name not in left_out]
        recorded = {name: inputs[name] for name in names if inputs.get(name) is not None}
        chosen = RunOptions.select({**parse_texts(recorded), **changed})
        lacking = [name for name in self.facts.get("functions", []) if name not in functions]
        if lacking:
            raise ValueError(
                f"a Python function has encoded {lacking[0]!r}, which {self.origin} does not contain: load it with "
                f"cs.load_run(folder, encode={{{lacking[0]!r}: function}}), and use Result.update"
            )
        return replace(chosen, encode={**chosen.encode, **functions})

    def find_labels(self, data: LoadedData, log: RunLog) -> EarlierLabels:
        """Return what the run says of new data: its clusters of the same entities, and what its model predicts."""
        n_entities, ids, new_ids = len(data.views), self.ids, data.prepared.ids
        numbers: dict[str, int] = {}
        if ids is not None and new_ids is not None:
            numbers = {str(entity): row for row, entity in enumerate(ids.tolist())}
        entities = [str(entity) for entity in data.prepared.names.tolist()]
        rows = np.array([numbers.get(entity, -1) for entity in entities], dtype=np.int64)
        compared_by = "ids"
        if ids is None and new_ids is None and self.saved["data"] == compute_digest(data.reading):
            rows, compared_by = np.arange(n_entities), "rows"
        is_shared = rows >= 0
        labels = np.where(is_shared, self.labels[rows], -1)
        predicted = self._predict(data, log)
        if predicted is not None:
            labels = np.where(is_shared, labels, predicted)
        n_shared, n_least = int(is_shared.sum()), LEAST_SHARED * min(n_entities, len(self.labels))
        if n_shared and n_shared >= n_least:
            return EarlierLabels(labels, is_shared, compared_by)
        if predicted is None:
            raise ValueError(
                f"{self._count_shared(n_shared)}, and --method {self.saved['method']} cannot predict the clusters of "
                "new entities, so that clusters cannot be matched: check the ids (--id), or use `consilience cluster`"
            )
        log.note(f"{self._count_shared(n_shared)}: clusters are matched by what its model predicts for the new rows.")
        return EarlierLabels(predicted, np.ones(n_entities, bool), "predictions")

    def _count_shared(self, n_shared: int) -> str:
        number = f"Only {n_shared:,}" if n_shared else "None"
        return f"{number} of the ids of {self.origin} {'is' if n_shared < 2 else 'are'} in the new data"

    def _predict(self, data: LoadedData, log: RunLog) -> np.ndarray | None:
        """Return the clusters that the model predicts, -1 for rows that fit none; None if it cannot predict.

        Similarities can be predicted only for entities that are columns of the earlier matrix.
        """
        estimator = self.saved["estimator"]
        if not hasattr(estimator, "predict") or "similarities" in self.saved["kinds"].values():
            return None
        with log.step("predicting the earlier clusters", "predicted the earlier clusters"):
            prepared = encode(data.reading.contents, self.saved["parts"], data.prepared.entities)
            views = reduce_views(prepared.views, self.saved["features"])
            labels = np.asarray(estimator.predict(views))
            labels = np.where(np.isin(labels, self.labels), labels, -1)  # a cluster of the model may have no entities
            advice = f"The fit is that of {self.origin}: new groups may have appeared."
            fits_none = find_unfitting(estimator, views, log, advice)
        all_labels = np.full(len(prepared.kept), -1)
        all_labels[prepared.kept] = labels if fits_none is None else np.where(fits_none, -1, labels)
        return all_labels[data.prepared.kept]


def refit_from_earlier(data: LoadedData, fitted: FittedRun, earlier: EarlierLabels, log: RunLog) -> FittedRun:
    """Return the default method refined from the earlier clusters, if these are about as well supported.

    "About" is the share of the score from which the method calls two partitions equally supported. Other methods, and
    other numbers of clusters, stay as they were fitted.
    """
    estimator, start = fitted.estimator, earlier.labels
    numbers = np.unique(start[start >= 0])
    if data.method != DEFAULT_METHOD or fitted.has_small_groups or len(numbers) < 2:
        return fitted
    if len(numbers) != estimator.n_clusters:
        return fitted
    with log.step("refining the earlier clusters", "refined the earlier clusters"):
        labels = np.where(start >= 0, np.searchsorted(numbers, start), -1)
        refined = clone(estimator).set_params(init=labels).fit(fitted.views, **data.fit_arguments)
    n_found = len(np.unique(refined.labels_[refined.labels_ >= 0]))
    if -refined.cost_ < EQUALLY_SUPPORTED * -estimator.cost_ or n_found < len(numbers):
        return fitted
    refined.set_params(init=estimator.init)
    other = estimator.labels_ if estimator.runner_up_ is None else estimator.runner_up_
    both = (other >= 0) & (refined.labels_ >= 0)
    if normalized_mutual_info_score(other[both], refined.labels_[both]) < DIFFERENT:
        refined.runner_up_ = other
    return replace(fitted, estimator=refined)


def keep_numbers(run: PipelineRun, previous: PreviousRun, earlier: EarlierLabels) -> PipelineRun:
    """Give the clusters of a run that match those of an earlier run their numbers and names, and others new numbers."""
    estimator, labels, is_compared = run.fitted.estimator, run.labels, earlier.is_compared
    matches = match_by_overlap(earlier.labels[is_compared], labels[is_compared])
    view_labels = [np.asarray(by_view) for by_view in estimator.view_labels_.values()]
    n_clusters = max(int(by_view.max(initial=-1)) + 1 for by_view in (labels, *view_labels))
    n_clusters = max(n_clusters, getattr(estimator, "n_clusters", None) or 0)
    kept = {cluster: number for number, cluster in matches.items()}
    others = sorted(set(range(n_clusters)) - set(kept), key=lambda cluster: (not (labels == cluster).any(), cluster))
    numbers_by_cluster = {**kept, **{cluster: previous.next_cluster + i for i, cluster in enumerate(others)}}
    numbers = np.array([numbers_by_cluster[cluster] for cluster in range(n_clusters)], dtype=np.int64)
    if (numbers != np.arange(n_clusters)).any():
        fitted = replace(run.fitted, estimator=RenumberedModel(estimator, numbers))
        run = replace(run, fitted=fitted, assessment=renumber_assessment(run.assessment, numbers))
    clusters = ClusterList.build(previous.labels, previous.names)
    update = RunUpdate(
        previous.origin,
        clusters.names,
        clusters.sizes,
        earlier.labels,
        is_compared,
        earlier.compared_by,
        len(previous.labels),
        list(matches),
        max(previous.next_cluster, int(run.labels.max(initial=-1)) + 1),
    )
    user_names = {number: name for number, name in previous.given_names.items() if number in matches}
    names = dict(enumerate(previous.names))
    previous_names = [names.get(number) if number in matches else None for number in range(update.next_cluster)]
    return replace(run, update=update, given_names=user_names, previous_names=previous_names)


def renumber_assessment(assessment: Assessment | None, numbers: np.ndarray) -> Assessment | None:
    """Return an assessment with other numbers of clusters."""
    if assessment is None:
        return None
    clusters = {name: np.asarray(column) for name, column in assessment.clusters.items()}
    clusters["cluster"] = translate_labels(numbers, clusters["cluster"])
    order = np.argsort(clusters["cluster"])
    return replace(assessment, clusters=Table({name: column[order] for name, column in clusters.items()}))
