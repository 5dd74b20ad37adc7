"""What a run found, and the tables, model file and report made of it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Any

import numpy as np

from ..assessment import Assessment
from ..data import Table, Views
from ..data.inputs import ViewInput
from ..explain import Hierarchy, build_hierarchy, confidence, contested, joint_embedding, joint_map, name_clusters
from ..files import ModelViews
from ..files.images.thumbnails import find_thumbnails
from ..registry import DEFAULT_METHOD, find_estimator
from ..report import Report
from ..report.sections import SectionBuilder
from .changes import RunUpdate
from .changes_section import build_changes_section
from .constraints import describe_satisfied
from .fitting import FittedRun
from .loading import LoadedData, compute_digest, describe_views
from .mapping import describe_mapping
from .options import RunOptions
from .outputs import has_probabilities, mark_unclustered, round_numbers, tabulate_probabilities
from .reliance import name_column, spread_labels
from .seeds import build_seeds_section


@dataclass(frozen=True, eq=False)
class PipelineRun:
    """What a run found, and the data and settings that it used."""

    options: RunOptions
    data: LoadedData
    fitted: FittedRun
    assessment: Assessment | None
    comparison: Table | None  # with single views
    notes: list[str]
    facts: dict[str, Any]  # content of summary.json
    update: RunUpdate | None = None  # if the run continues an earlier one

    @property
    def labels(self) -> np.ndarray:
        """Cluster of each entity that has data, -1 for outliers."""
        return np.asarray(self.fitted.estimator.labels_)

    @cached_property
    def entity_confidence(self) -> np.ndarray:
        """Confidence in each entity's cluster, 0 to 1."""
        return confidence(self.fitted.estimator, self.fitted.views)

    @cached_property
    def is_contested(self) -> np.ndarray:
        """Mask of the entities that the views put into different clusters."""
        return contested(self.fitted.estimator.view_labels_)

    @cached_property
    def joint_embedding(self) -> np.ndarray:
        """Coordinates of the entities in a space that all views share."""
        kinds = self.data.prepared.kinds
        views = self.data.prepare_for(find_estimator(DEFAULT_METHOD))  # normalized, also if the method takes raw counts
        affinity = {name: "precomputed" if kinds[name] == "similarities" else "auto" for name in views.names}
        return joint_embedding(views, affinity=affinity, random_state=self.options.seed)

    @cached_property
    def layout(self) -> np.ndarray:
        """Position of each entity on the map of all views."""
        return joint_map(self.joint_embedding, random_state=self.options.seed)

    @cached_property
    def hierarchy(self) -> Hierarchy:
        """The tree that merges the clusters."""
        return build_hierarchy(self.labels, self.joint_embedding)

    @cached_property
    def cluster_names(self) -> list[str]:
        """A short name for each cluster, from what marks it; colors of pictures only if nothing else does.

        Clusters of an earlier run keep their names.
        """
        if self.update is not None:
            return self.update.names
        views, encodings = self.data.views, self.data.prepared.encodings
        features = {name: getattr(encodings[name].encoder, "feature", None) for name in views.names}
        described = [name for name, feature in features.items() if feature is None]
        numbered = [f"cluster {number}" for number in range(self.labels.max(initial=-1) + 1)]
        names = name_clusters(self.labels, views[described], self.texts) if described else numbered
        if names != numbered or "color" not in features.values():
            return names
        colors = {}
        for name in [name for name, feature in features.items() if feature == "color"]:
            columns = np.asarray(views.feature_names(name))
            is_whole = np.array(["," not in column for column in columns])  # "blue", not "blue, top left"
            colors[name] = ViewInput(views[name][:, is_whole], columns=columns[is_whole])
        return name_clusters(self.labels, Views.from_inputs(colors))

    @property
    def texts(self) -> dict[str, Any]:
        """The texts of the entities, by view."""
        prepared = self.data.prepared
        texts = {name: prepared.texts.get(prepared.encodings[name].content) for name in self.data.views.names}
        return {name: text for name, text in texts.items() if text is not None}

    @cached_property
    def entity_columns(self) -> dict[str, list[Any]]:
        """The columns of labels.csv after the id, as cells."""
        model, labels, assessment = self.fitted.estimator, self.labels, self.assessment
        names = np.array([*self.cluster_names, None], dtype=object)  # None at index -1
        columns: dict[str, list[Any]] = {"cluster": labels.tolist(), "name": names[labels].tolist()}
        if assessment is not None:
            columns["confidence"] = assessment.certainty.tolist()
        if has_probabilities(model, assessment is not None):
            columns |= tabulate_probabilities(model, self.fitted.views, labels)
        if assessment is not None:
            columns["stability"] = round_numbers(assessment.stability, 2)
        columns["contested"] = np.where(self.is_contested, "yes", "no").tolist()
        if getattr(model, "runner_up_", None) is not None:
            columns["alternative"] = model.runner_up_.tolist()
        if assessment is not None and assessment.alternative is not None and assessment.alternative.labels is not None:
            columns[name_column(assessment.alternative)] = spread_labels(assessment.alternative, labels)
        return columns | {
            f"cluster by {name}": mark_unclustered(view_labels) for name, view_labels in model.view_labels_.items()
        }

    def collect_saved(self) -> dict[str, Any]:
        """Return the content of model.zip: the model, and what turns new data into its views."""
        data, assessment = self.data, self.assessment
        if assessment is not None and assessment.alternative is not None:  # its model would double the size of the file
            assessment = replace(assessment, alternative=replace(assessment.alternative, model=None))
        return {
            "what": "consilience model",
            "method": data.method,
            "estimator": self.fitted.estimator,
            "features": self.fitted.features,
            "parts": data.prepared.encodings,
            **ModelViews.from_contents(data.reading.contents).to_saved(),
            "id": data.reading.id_column,
            "is_mapped": data.prepared.entities.is_mapped,
            "ids": data.prepared.ids,
            "kept": data.prepared.kept,
            "names": self.cluster_names,
            "data": compute_digest(data.reading),
            "seed": self.options.seed,
            "assessment": assessment,
            "selection": self.fitted.selection,
            "update": None if self.update is None else self.update.to_saved(),
        }

    def build_report(self) -> Report:
        """Return the report of the run."""
        data, options = self.data, self.options
        links = data.file_constraints
        satisfied = [] if links is None else [f"constraints: {describe_satisfied(links.count_satisfied(self.labels))}"]
        settings = self.facts.get("settings", {}).get("given")
        extra_sections: list[SectionBuilder] = []
        if self.update is not None:
            extra_sections.append(partial(build_changes_section, self.update))
        if data.seeds is not None:
            extra_sections.append(partial(build_seeds_section, data.seeds.describe(self.labels)))
        return Report(
            self.fitted.estimator,
            data.views,
            title=options.title,
            labels=data.classes,
            comparison=self.comparison,
            command=options.command_line,
            notes=[*describe_views(data), *describe_mapping(data.prepared.entities), *satisfied, *self.notes],
            texts=self.texts,
            thumbnails=find_thumbnails(data.prepared.pictures),
            settings={
                "method": f"{data.method} ({data.declaration.title}; {data.reason})",
                "seed": options.seed,
                **({"--set": ", ".join(settings)} if settings else {}),
            },
            # otherwise the report computes and explains it
            confidence=self.entity_confidence if self.fitted.features else None,
            assessment=self.assessment,
            selection=self.fitted.selection,
            names=self.cluster_names,
            extra_sections=extra_sections,
        )
