"""What a run found, and the tables, model file and report made of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from typing import Any

import numpy as np

from ..affinities import Operator
from ..assessment import Assessment
from ..data import Table, Views
from ..data.inputs import ViewInput
from ..explain import (
    Hierarchy,
    OriginalColumn,
    build_consensus_graph,
    build_hierarchy,
    clarity,
    contested,
    embed_graph,
    find_differences,
    joint_map,
)
from ..explain.confidence import order_by_confidence
from ..explain.levels import choose_level_names
from ..explain.namer import ClusterDescription, describe_clusters, separate_names
from ..explain.names import choose_names
from ..explain.terms import ClusterTerms, count_terms
from ..files import ModelViews
from ..files.images.thumbnails import find_thumbnails
from ..registry import DEFAULT_METHOD, find_estimator
from ..report import Report
from ..report.sections import SectionBuilder
from .changes import Changes, RunUpdate
from .changes_section import build_changes_section
from .columns import collect_columns, list_times
from .constraints import describe_satisfied
from .fitting import FittedRun
from .loading import LoadedData, compute_digest, describe_views
from .mapping import describe_mapping
from .names import choose_noun, describe_unknown, match_names, read_given_names, read_names
from .options import RunOptions
from .outputs import (
    has_probabilities,
    mark_unclustered,
    name_labels,
    round_numbers,
    tabulate_confidence,
    tabulate_second_choices,
)
from .reliance import name_column, spread_labels
from .seeds import build_seeds_section

DECIDED = "These groups follow from decisions of a person and were not assessed."


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
    saved_names: Sequence[str] = ()  # of a run that is restored
    given_names: dict[int, str] = field(default_factory=dict)  # by the user, by cluster
    previous_names: Sequence[str | None] = ()  # of clusters that an earlier run has found, by cluster
    update: RunUpdate | None = None  # if the run continues an earlier one
    saved_layout: np.ndarray | None = None  # of a run that is restored from its folder alone

    @property
    def labels(self) -> np.ndarray:
        """Cluster of each entity that has data, -1 for outliers."""
        return np.asarray(self.fitted.estimator.labels_)

    @cached_property
    def clarity(self) -> np.ndarray:
        """How clearly the model decides for each entity's cluster, 0 to 1."""
        return clarity(self.fitted.estimator, self.fitted.views)

    @cached_property
    def confidence(self) -> np.ndarray:
        """Confidence in each entity's cluster, 0 to 1; NaN if it is unknown, as it is without an assessment."""
        return np.full(len(self.labels), np.nan) if self.assessment is None else self.assessment.confidence

    @cached_property
    def typicality(self) -> np.ndarray:
        """Numbers that order the entities of a cluster from borderline to typical ones."""
        return order_by_confidence(self.confidence, self.clarity)

    @cached_property
    def is_contested(self) -> np.ndarray:
        """Mask of the entities in clusters on which confirmed views disagree; any views if none was assessed."""
        confirmed = None if self.assessment is None else self.assessment.confirmed
        return contested(self.fitted.estimator.view_labels_, confirmed) & (self.labels >= 0)

    @cached_property
    def consensus_graph(self) -> Operator:
        """Similarities of the entities, added up over the views."""
        kinds = self.data.prepared.kinds
        views = self.data.prepare_for(find_estimator(DEFAULT_METHOD))  # normalized, also if the method takes raw counts
        affinity = {name: "precomputed" if kinds[name] == "similarities" else "auto" for name in views.names}
        return build_consensus_graph(views, affinity=affinity, random_state=self.options.seed)

    @cached_property
    def joint_embedding(self) -> np.ndarray:
        """Coordinates of the entities in a space that all views share."""
        return embed_graph(self.consensus_graph, random_state=self.options.seed)

    @cached_property
    def layout(self) -> np.ndarray:
        """Position of each entity on the map of all views."""
        if self.saved_layout is not None:
            return self.saved_layout
        return joint_map(self.joint_embedding, random_state=self.options.seed)

    @cached_property
    def hierarchy(self) -> Hierarchy:
        """The tree that merges the clusters."""
        return build_hierarchy(self.labels, self.data.views, graph=self.consensus_graph)

    @cached_property
    def columns(self) -> list[OriginalColumn]:
        """The user's columns in their units: those that were clustered, and those that describe the clusters."""
        return collect_columns(self.data, self.labels)

    @cached_property
    def cluster_terms(self) -> ClusterTerms:
        """The terms that mark the clusters; colors of pictures only if there are no others."""
        views, encodings = self.data.views, self.data.prepared.encodings
        features = {name: getattr(encodings[name].encoder, "feature", None) for name in views.names}
        described = [name for name, feature in features.items() if feature is None]
        colors = {}
        for name in [name for name, feature in features.items() if feature == "color"]:
            columns = np.asarray(views.feature_names(name))
            is_whole = np.array(["," not in column for column in columns])  # "blue", not "blue, top left"
            colors[name] = ViewInput(views[name][:, is_whole], columns=columns[is_whole])
        sizes = np.bincount(self.labels[self.labels >= 0])
        terms = ClusterTerms((), sizes, sizes)
        if described:
            terms = count_terms(self.labels, views[described], self.texts, list_times(self.data))
        if colors and not any(map(terms.rank, range(len(sizes)))):
            return count_terms(self.labels, Views.from_inputs(colors))
        return terms

    @cached_property
    def automatic_names(self) -> list[str]:
        """A short name for each cluster from what marks it, or as in the run that is restored or continued."""
        return list(self.saved_names) or choose_names(self.cluster_terms, self.previous_names)

    @cached_property
    def cluster_names(self) -> list[str]:
        """A name for each cluster: that of the user, or a short one from what marks it."""
        names = [self.given_names.get(number, name) for number, name in enumerate(self.automatic_names)]
        return separate_names(names, list(self.given_names))

    @property
    def all_given_names(self) -> dict[int, str]:
        """Names that the user gave to clusters, also in the run that was restored."""
        return {**read_given_names(self.facts), **self.given_names}

    def describe_clusters(self) -> list[ClusterDescription]:
        """Describe the clusters for a function that names them."""
        texts = list({id(strings): strings for strings in self.texts.values()}.values())  # views may share them
        differences = [
            [difference.sentence for difference in listed] for listed in find_differences(self.labels, self.columns)
        ]
        return describe_clusters(
            self.cluster_terms,
            self.automatic_names,
            self.labels,
            self.typicality,
            self.data.views.ids,
            texts,
            differences,
        )

    def rename(self, names: str | Mapping[Any, Any] | None) -> PipelineRun:
        """Return the run with other names of clusters, as --names takes them."""
        matched, unknown = match_names(read_names(names), self.cluster_names)
        if unknown:
            raise ValueError(describe_unknown(unknown, self.cluster_names))
        for number, name in enumerate(self.cluster_names):
            if number not in matched and name.casefold() in map(str.casefold, matched.values()):
                raise ValueError(f"--names: {name!r} is already the name of cluster {number}: rename it, too")
        renamed = replace(self, saved_names=self.cluster_names, given_names=matched)
        inputs = {**self.facts["inputs"], "names": names if isinstance(names, str) else None}
        given_names = {**self.facts.get("given_names", {}), **{str(number): name for number, name in matched.items()}}
        return replace(
            renamed, facts={**self.facts, "names": renamed.cluster_names, "given_names": given_names, "inputs": inputs}
        )

    @cached_property
    def level_names(self) -> dict[int, list[str]]:
        """The names of the groups at each level of the hierarchy."""
        return choose_level_names(self.hierarchy, self.cluster_terms, self.cluster_names)

    @cached_property
    def changes(self) -> Changes | None:
        """What changed since the run that this one continues; None if there is none."""
        if self.update is None:
            return None
        return self.update.describe(self.data.prepared.names, self.labels, self.cluster_names)

    def name_level(self, n: int) -> list[str]:
        """Name the groups of any level of the hierarchy, with n groups."""
        if n in self.level_names:
            return self.level_names[n]
        return choose_level_names(self.hierarchy, self.cluster_terms, self.cluster_names, more_levels=[n])[n]

    @property
    def noun(self) -> str:
        """What the entities are, in the plural."""
        return choose_noun(self.data.reading.contents, self.data.reading.id_column)

    @property
    def texts(self) -> dict[str, Any]:
        """The texts of the entities, by view."""
        prepared = self.data.prepared
        texts = {name: prepared.texts.get(prepared.encodings[name].content) for name in self.data.views.names}
        return {name: text for name, text in texts.items() if text is not None}

    @cached_property
    def second_choice_columns(self) -> dict[str, list[Any]]:
        """The next most probable cluster of each entity, if the model has probabilities."""
        model = self.fitted.estimator
        if not has_probabilities(model, self.assessment is not None):
            return {}
        return tabulate_second_choices(model, self.fitted.views, self.labels, self.cluster_names)

    @cached_property
    def entity_columns(self) -> dict[str, list[Any]]:
        """The columns of labels.csv after the id, as cells."""
        model, labels, assessment = self.fitted.estimator, self.labels, self.assessment
        columns: dict[str, list[Any]] = {"cluster": labels.tolist(), "name": name_labels(labels, self.cluster_names)}
        columns |= tabulate_confidence(self.confidence) | self.second_choice_columns
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
            "update": None if self.update is None else vars(self.update),
        }

    def build_report(self) -> Report:
        """Return the report of the run."""
        data, options = self.data, self.options
        links = data.file_constraints
        satisfied = [] if links is None else [f"constraints: {describe_satisfied(links.count_satisfied(self.labels))}"]
        settings = self.facts.get("settings", {}).get("given")
        extra_sections: list[SectionBuilder] = []
        if self.update is not None and self.changes is not None:
            extra_sections.append(partial(build_changes_section, self.changes, self.update.origin))
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
            clarity=self.clarity,
            assessment=self.assessment,
            selection=self.fitted.selection,
            names=self.cluster_names,
            layout=self.layout,
            hierarchy=self.hierarchy,
            second_choice=self.second_choice_columns.get("second"),
            reason_not_assessed=DECIDED if "decisions" in self.facts else None,
            level_names=self.level_names,
            noun=self.noun,
            columns=self.columns,
            extra_sections=extra_sections,
        )
