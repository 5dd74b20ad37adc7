"""What the sections of a report speak of, found once."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from ..assessment import Assessment
from ..data import Views
from ..explain import confidence as confidence_of
from ..explain import contested
from ..explain.confidence import choose_measure
from ..selection import Selection
from .markup import Html, clean_text, join_html, mark_user_text, tag, truncate


@dataclass(frozen=True, eq=False)
class ReportFacts:
    """A clustering and its data, as the sections need them."""

    model: Any
    views: Views
    title: str
    labels: np.ndarray  #: the model's clusters, -1 for none
    view_labels: dict[str, np.ndarray]  #: the cluster that each view gives by itself, -1 where it is missing
    confidence: np.ndarray  #: confidence, 0 to 1
    confidence_meaning: str  #: what confidence is with this model
    confidence_label: str  #: what its median is called
    contested: np.ndarray  #: which entities in clusters have views that contradict each other
    classes: np.ndarray | None  #: known classes, None where unknown
    class_names: Sequence[Any] | None
    comparison: Mapping[str, Any] | None
    command: str | None
    notes: tuple[str, ...]
    texts: Mapping[str, Sequence[Any] | None]
    settings: Mapping[str, Any]
    assessment: Assessment | None  #: how far the clusters can be relied on
    selection: Selection | None  #: how the number of clusters was chosen

    @cached_property
    def certainty(self) -> np.ndarray | None:
        """A word per entity that says how sure its cluster is, empty if not assessed; None without assessment."""
        return None if self.assessment is None else self.assessment.certainty

    @cached_property
    def stability(self) -> dict[int, float]:
        """Share of each cluster's entities that fits without them put into it again; none without an assessment."""
        if self.assessment is None:
            return {}
        columns = (self.assessment.clusters[name].tolist() for name in ("cluster", "stability"))
        return dict(zip(*columns, strict=True))

    @property
    def n(self) -> int:
        return len(self.labels)

    @property
    def is_command(self) -> bool:
        """Whether the command line made the report, so that the reader has its files but no objects of Python."""
        return self.command is not None

    @property
    def has_small_groups(self) -> bool:
        """Whether the clusters are duplicates and other small groups."""
        return self.selection is not None and self.selection.labels is not None

    @property
    def shows_views(self) -> bool:
        """Whether it tells anything that views agree: not with one cluster, nor with groups too small to predict."""
        return len(self.sizes) > 1 and not self.has_small_groups

    @cached_property
    def contested_among_confirmed(self) -> np.ndarray | None:
        """Which entities the confirmed views contest; None if there are no unconfirmed views to leave out."""
        names = list_confirmed(self.assessment)
        if not names or not set(names) <= set(self.view_labels):
            return None
        return contested({name: self.view_labels[name] for name in names}) & (self.labels >= 0)

    @cached_property
    def sizes(self) -> dict[int, int]:
        """Number of entities of each cluster that has any."""
        numbers, sizes = np.unique(self.labels[self.labels >= 0], return_counts=True)
        return dict(zip(numbers.tolist(), sizes.tolist(), strict=True))

    @cached_property
    def largest_first(self) -> list[int]:
        return sorted(self.sizes, key=lambda c: (-self.sizes[c], c))

    @cached_property
    def agreement(self) -> np.ndarray | None:
        """How often two views agree, where there are two."""
        found = getattr(self.model, "agreement_", None)
        return None if found is None or len(found) < 2 else np.asarray(found)

    def name(self, row: int) -> str:
        """An entity's id, or its number."""
        return str(row) if self.views.ids is None else clean_text(self.views.ids[row])

    def entity(self, row: int) -> Html:
        return mark_user_text(self.name(row))

    @property
    def has_texts(self) -> bool:
        return any(own is not None for own in self.texts.values())

    def snippet(self, row: int, most: int = 150) -> Html | None:
        """How the entity's texts begin."""
        there = {name: _none_if_unknown(own[row]) for name, own in self.texts.items() if own is not None}
        found = {
            name: truncate(clean_text(str(own)[: 4 * most]), most) for name, own in there.items() if own is not None
        }
        found = {name: text for name, text in found.items() if text}
        if not found:
            return None
        alone = sum(own is not None for own in self.texts.values()) == 1
        return tag(
            "span",
            (
                tag("span", None if alone else join_html((tag("b", mark_user_text(name)), " ")), tag("bdi", text))
                for name, text in found.items()
            ),
            class_="snippet",
        )


def list_confirmed(assessment: Assessment | None) -> list[str]:
    """Return the views that another confirms, if there are two of them and others that none confirms."""
    if assessment is None or not assessment.unconfirmed:
        return []
    names = [str(row["view"]) for row in assessment.views.rows() if row["confirmed"]]
    return names if len(names) > 1 else []


def collect_facts(
    model: Any,
    views: Views,
    *,
    title: str | None,
    labels: Any,
    class_names: Sequence[Any] | None,
    comparison: Mapping[str, Any] | None,
    command: str | None,
    notes: Sequence[str],
    texts: Mapping[str, Sequence[Any] | None] | None,
    settings: Mapping[str, Any] | None,
    confidence: Any,
    assessment: Assessment | None,
    selection: Selection | None,
) -> ReportFacts:
    """Check what was given, and find what was not."""
    if not hasattr(model, "labels_"):
        raise ValueError(f"{type(model).__name__} has no labels_: fit it first")
    found, n = np.asarray(model.labels_), len(views)
    _check_n_entries("the model's labels_", found, n, "give the views that the model was fitted on")
    for name, own in (texts or {}).items():
        if own is not None:
            _check_n_entries(f"texts of view {name!r}", own, n, "give one text an entity, None where there is none")
    if confidence is not None:
        _check_n_entries("confidence", confidence, n, "give one number an entity")
    if labels is not None:
        _check_n_entries("labels", labels, n, "give one class an entity, None where it is not known")
    if assessment is not None and not isinstance(assessment, Assessment):
        raise TypeError(f"assessment must come from cs.assess, got {type(assessment).__name__}")
    if selection is not None and not isinstance(selection, Selection):
        raise TypeError(f"selection must come from cs.select_n_clusters, got {type(selection).__name__}")
    if assessment is not None:
        _check_n_entries("assessment", assessment.stability, n, "give the assessment of this model and these views")
    if confidence is not None:
        meaning, median_label = "as given with the data, from 0 to 1", "median of those given"
    else:
        meaning, median_label = choose_measure(model)[-2:]
    said = {name: np.asarray(own) for name, own in getattr(model, "view_labels_", {}).items()}
    sure = confidence_of(model, views) if confidence is None else np.asarray(confidence, dtype=np.float64)
    return ReportFacts(
        model=model,
        views=views,
        title=clean_text(title) if title else _make_title(model, selection),
        labels=found,
        view_labels=said,
        confidence=np.where(found >= 0, np.clip(np.nan_to_num(sure), 0, 1), 0.0),
        confidence_meaning=meaning,
        confidence_label=median_label,
        contested=contested(said) & (found >= 0) if said else np.zeros(n, bool),
        classes=None if labels is None else np.array([_none_if_unknown(own) for own in labels], dtype=object),
        class_names=class_names,
        comparison=comparison,
        command=command,
        notes=tuple(notes),
        texts=texts or {},
        settings=settings or {},
        assessment=assessment,
        selection=selection,
    )


def _make_title(model: Any, selection: Selection | None) -> str:
    """Return a heading for a report to which the user gave none."""
    labels = np.asarray(model.labels_)
    n_clusters = len(np.unique(labels[labels >= 0]))
    if selection is not None and not selection.supported and n_clusters < 2:
        return "No evidence for groups"
    return f"{type(model).__name__}: {n_clusters} cluster{'' if n_clusters == 1 else 's'}"


def _check_n_entries(what: str, values: Any, n: int, remedy: str) -> None:
    if len(values) != n:
        raise ValueError(f"{what}: {len(values)} entries for {n} entities; {remedy}")


def _none_if_unknown(own: Any) -> Any:
    """A class or text, or None for the ways in which files say that there is none."""
    own = own.item() if isinstance(own, np.generic) else own
    return None if own is None or own != own or own == "" else own
