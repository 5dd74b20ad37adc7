"""The clustering and its data as the sections of a report need them."""

from __future__ import annotations

import base64
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from ..affinities import Operator
from ..assessment import Assessment
from ..assessment.reference import choose_words
from ..data import Views
from ..explain import (
    Hierarchy,
    OriginalColumn,
    build_consensus_graph,
    build_hierarchy,
    clarity,
    contested,
    embed_graph,
    joint_map,
    name_clusters,
    name_levels,
)
from ..explain.confidence import order_by_confidence
from ..methods.common.margins import find_runner_up
from ..selection import Selection
from .charts import N_COLORS, N_SHAPES
from .markup import MAX_TITLE, Html, clean_text, format_count, format_integer, join_html, mark_user_text, tag, truncate

AGREEMENT_CAVEAT = "Agreement between views that were fitted together does not show that they are right."
MAX_THUMBNAILS = 2000  # entities with a picture in the page
MAX_THUMBNAIL_BYTES = 30_000  # of one picture
MAX_PICTURE_BYTES = 5_000_000  # of all pictures, in base64
MIN_PROBABILITY = 0.0001  # of a cluster that is worth naming as the second choice
IMAGE_TYPES = {b"\xff\xd8\xff": "jpeg", b"\x89PNG": "png", b"GIF8": "gif", b"RIFF": "webp"}  # by their first bytes


@dataclass(frozen=True, eq=False)
class ReportFacts:
    """A fitted model, its views, and what the user said about them.

    Parameters
    ----------
    model : estimator
        The fitted model.
    views : Views
        The data that the model was fitted on.
    custom_title : str, optional
        Heading of the page; by default the number of entities and groups.
    known_classes : array-like of shape (n_entities,), optional
        Known classes; None, NaN or an empty string where a class is not known.
    class_names : sequence, optional
        Names of the classes, if the known classes are their numbers from 0.
    comparison : Table, optional
        Other methods on the same data, one row per method.
    command : str, optional
        The command that repeats the analysis; None without the command line.
    notes : sequence of str, default=()
        Sentences about how the data was read.
    texts : mapping of str to sequence of str, optional
        The original texts of the entities, by the name of the view.
    thumbnails : sequence of bytes, or callable, optional
        A small picture of each entity, or a function that returns it for the position of an entity; None if it has
        none.
    settings : mapping, optional
        Further settings to list.
    custom_confidence : array-like of float, shape (n_entities,), optional
        Confidence in each entity's cluster, 0 to 1, NaN if unknown; by default that of the assessment.
    custom_clarity : array-like of float, shape (n_entities,), optional
        What orders entities of equal or unknown confidence; by default `explain.clarity` of the model.
    assessment : Assessment, optional
        How reliable the clusters are.
    selection : Selection, optional
        How the number of clusters was chosen.
    custom_names : sequence of str, optional
        A name for each cluster; by default from `explain.name_clusters`.
    columns : sequence of OriginalColumn, default=()
        Columns of the data in their units, which describe the clusters.
    custom_layout : array-like of float, shape (n_entities, 2), optional
        Positions on the map; by default from `explain.joint_map`.
    custom_hierarchy : Hierarchy, optional
        How clusters merge; by default from `explain.build_hierarchy`.
    custom_level_names : mapping of int to sequence of str, optional
        Names of the groups at each level of the hierarchy; by default from `explain.name_levels`.
    noun : str, default='items'
        What the entities are, in the plural.
    custom_second_choice : array-like of int, shape (n_entities,), optional
        The cluster that suits each entity best after its own, -1 for none; by default from the model's
        ``predict_proba``.
    reason_not_assessed : str, optional
        Sentence in place of the verdict if there is no assessment.

    Examples
    --------
    >>> import consilience as cs
    >>> from consilience.report import ReportFacts
    >>> views, _ = cs.datasets.make_gaussian_views(60, n_clusters=3, separation=8, random_state=0)
    >>> facts = ReportFacts(cs.MultiViewKMeans(3, random_state=0).fit(views), views, noun="papers")
    >>> facts.title, facts.sizes
    ('60 papers in 3 groups', {0: 20, 1: 20, 2: 20})
    """

    model: Any
    views: Views
    custom_title: str | None = None
    known_classes: Any = None
    class_names: Sequence[Any] | None = None
    comparison: Mapping[str, Any] | None = None
    command: str | None = None
    notes: Sequence[str] = ()
    texts: Mapping[str, Sequence[Any] | None] | None = None
    thumbnails: Sequence[bytes | None] | Callable[[int], bytes | None] | None = None
    settings: Mapping[str, Any] | None = None
    custom_confidence: Any = None
    custom_clarity: Any = None
    assessment: Assessment | None = None
    selection: Selection | None = None
    custom_names: Sequence[str] | None = None
    columns: Sequence[OriginalColumn] = ()
    custom_layout: Any = None
    custom_hierarchy: Hierarchy | None = None
    custom_level_names: Mapping[int, Sequence[str]] | None = None
    noun: str = "items"
    custom_second_choice: Any = None
    reason_not_assessed: str | None = None

    def __post_init__(self) -> None:
        if not hasattr(self.model, "labels_"):
            raise ValueError(f"{type(self.model).__name__} has no labels_: fit it first")
        self._check_length("the model's labels_", self.labels, "give the views that the model was fitted on")
        for name, texts in self.view_texts.items():
            self._check_length(f"texts of view {name!r}", texts, "give one text per entity, None if there is none")
        if self.thumbnails is not None and not callable(self.thumbnails):
            self._check_length("thumbnails", self.thumbnails, "give one per entity, None if there is none")
        if self.custom_confidence is not None:
            self._check_length("confidence", self.custom_confidence, "give one number per entity")
        if self.custom_clarity is not None:
            self._check_length("clarity", self.custom_clarity, "give one number per entity")
        if self.known_classes is not None:
            self._check_length("labels", self.known_classes, "give one class per entity, None if it is not known")
        if self.custom_names is not None and len(self.custom_names) <= self.labels.max(initial=-1):
            n_clusters = self.labels.max() + 1
            raise ValueError(f"names: {len(self.custom_names)} names for {n_clusters} clusters; give one per cluster")
        for column in self.columns:
            self._check_length(f"column {column.name!r}", column.values, "give one cell per entity")
        if self.custom_second_choice is not None:
            self._check_length("second_choice", self.custom_second_choice, "give one cluster per entity, -1 for none")
        if self.custom_layout is not None:
            self._check_length("layout", self.custom_layout, "give two coordinates per entity")
        for name, kind, function in (
            ("assessment", Assessment, "cs.assess"),
            ("selection", Selection, "cs.select_n_clusters"),
            ("custom_hierarchy", Hierarchy, "cs.explain.build_hierarchy"),
        ):
            value = getattr(self, name)
            if not isinstance(value, kind | None):
                argument = name.removeprefix("custom_")
                raise TypeError(f"{argument} must come from {function}, got {type(value).__name__}")
        if self.assessment is not None:
            remedy = "give the assessment of this model and these views"
            self._check_length("assessment", self.assessment.stability, remedy)

    def _check_length(self, name: str, values: Any, remedy: str) -> None:
        if len(values) != len(self.views):
            raise ValueError(f"{name}: {len(values)} entries for {len(self.views)} entities; {remedy}")

    @cached_property
    def title(self) -> str:
        """The title of the user, or the number of entities and groups."""
        if self.custom_title:
            return clean_text(self.custom_title)
        entities = f"{self.n:,} {clean_text(self.noun)}"
        if self.selection is not None and not self.selection.supported and len(self.sizes) < 2:
            return f"No evidence for groups in {entities}"
        return f"{entities} in {format_count(len(self.sizes), 'group')}"

    @cached_property
    def names(self) -> list[str]:
        """A name for each cluster number, from what marks it unless the user gave names."""
        if self.custom_names is not None:
            return [clean_text(name) for name in self.custom_names]
        return name_clusters(self.labels, self.views, self.view_texts, times=self._times)

    @cached_property
    def level_names(self) -> dict[int, list[str]]:
        """The names of the groups at each level of the hierarchy, by number of groups."""
        if self.custom_level_names is None:
            return name_levels(
                self.hierarchy, self.labels, self.views, self.view_texts, times=self._times, names=self.names
            )
        return {n: [clean_text(name) for name in names] for n, names in self.custom_level_names.items()}

    @property
    def _times(self) -> dict[str, tuple[str, ...]]:
        """The columns of each view that may hold dates."""
        return dict.fromkeys(self.views.names, tuple(column.name for column in self.columns if column.kind == "date"))

    @cached_property
    def graph(self) -> Operator:
        """Similarities of the entities, added up over the views."""
        return build_consensus_graph(self.views)

    @cached_property
    def embedding(self) -> np.ndarray:
        """Coordinates of the entities in a space that all views share."""
        return embed_graph(self.graph)

    @cached_property
    def layout(self) -> np.ndarray:
        """Position of each entity on the map of all views, shape (n_entities, 2)."""
        return joint_map(self.embedding) if self.custom_layout is None else np.asarray(self.custom_layout, np.float64)

    @cached_property
    def hierarchy(self) -> Hierarchy:
        """The tree that merges the clusters."""
        if self.custom_hierarchy is not None:
            return self.custom_hierarchy
        return build_hierarchy(self.labels, self.views, graph=self.graph)

    @cached_property
    def looks(self) -> dict[int, tuple[int, int]]:
        """Color and shape of the symbol of each cluster; neighbors in the hierarchy have different colors."""
        order = self.hierarchy.order
        return {cluster: (i % N_COLORS, i // N_COLORS % N_SHAPES) for i, cluster in enumerate(order)}

    def draw_group(self, cluster: int, length: int = 60) -> Html:
        """Draw the symbol and the name of a cluster, or write "no group".

        Parameters
        ----------
        cluster : int
            Number of the cluster, -1 for no cluster.
        length : int, default=60
            Largest number of characters of the name.
        """
        if cluster < 0:
            return tag("span", "no group", class_="none")
        color, shape = self.looks.get(cluster, (0, 0))
        return tag("span", tag("i"), mark_user_text(self.name_group(cluster), length), class_=f"chip k{color} s{shape}")

    def name_group(self, cluster: int) -> str:
        """Return the name of a cluster; views may also use numbers of empty clusters, which have none.

        Parameters
        ----------
        cluster : int
            Number of the cluster.
        """
        return self.names[cluster] if cluster < len(self.names) else f"cluster {cluster}"

    def count(self, n: int, verb: str = "", verb_of_several: str = "") -> str:
        """Write a number of entities by their noun, and a verb in the right number.

        Parameters
        ----------
        n : int
            Number of entities.
        verb, verb_of_several : str, default=''
            The verb in the singular and in the plural; '' for none.
        """
        singular = "item" if self.noun == "items" else f"of the {self.noun}"
        words = f"1 {singular} {verb}" if n == 1 else f"{format_integer(n)} {self.noun} {verb_of_several}"
        return words.rstrip()

    @cached_property
    def second_choice(self) -> np.ndarray | None:
        """The cluster that suits each entity best after its own, -1 for none; None if the model does not tell."""
        if self.custom_second_choice is not None:
            return np.array([-1 if cluster is None else cluster for cluster in self.custom_second_choice])
        if not hasattr(self.model, "predict_proba") or not self.shows_views:
            return None
        probabilities = np.asarray(self.model.predict_proba(self.views), dtype=np.float64)
        second = np.full(self.n, -1)
        rows = np.flatnonzero(self.labels >= 0)
        _, best_other, probability = find_runner_up(probabilities[rows], self.labels[rows])
        second[rows] = np.where(probability >= MIN_PROBABILITY, best_other, -1)
        return second

    @property
    def n(self) -> int:
        """Number of entities."""
        return len(self.labels)

    @cached_property
    def labels(self) -> np.ndarray:
        """The model's clusters, -1 for none."""
        return np.asarray(self.model.labels_)

    @cached_property
    def view_labels(self) -> dict[str, np.ndarray]:
        """The clusters that each view gives by itself, -1 where it is missing."""
        return {name: np.asarray(labels) for name, labels in getattr(self.model, "view_labels_", {}).items()}

    @cached_property
    def classes(self) -> np.ndarray | None:
        """Known classes, None where unknown."""
        if self.known_classes is None:
            return None
        return np.array([_none_if_missing(value) for value in self.known_classes], dtype=object)

    @cached_property
    def confidence(self) -> np.ndarray:
        """Confidence in each entity's cluster, 0 to 1 in whole percents; NaN if unknown, and outside of clusters."""
        values = np.full(self.n, np.nan)
        if self.custom_confidence is not None:
            values = np.round(np.clip(np.asarray(self.custom_confidence, dtype=np.float64), 0, 1), 2)
        elif self.assessment is not None:
            values = self.assessment.confidence
        return np.where(self.labels >= 0, values, np.nan)

    @property
    def has_confidence(self) -> bool:
        """Whether the confidence in the cluster of any entity is known and means anything."""
        return self.shows_views and bool(np.isfinite(self.confidence).any())

    @cached_property
    def typicality(self) -> np.ndarray:
        """Numbers that order entities from borderline to typical ones."""
        if self.custom_clarity is not None:
            return order_by_confidence(self.confidence, np.asarray(self.custom_clarity, dtype=np.float64))
        if self.custom_confidence is not None and np.isfinite(self.confidence[self.labels >= 0]).all():
            return np.nan_to_num(self.confidence)
        return order_by_confidence(self.confidence, clarity(self.model, self.views))

    def write_confidence(self, row: int) -> str:
        """Write the confidence in an entity's cluster, and the word that follows from it.

        Parameters
        ----------
        row : int
            Position of the entity.
        """
        word = str(choose_words(self.confidence[[row]])[0])
        return f"{self.confidence[row]:.0%}, {word}" if word else "–"

    @cached_property
    def confirmed(self) -> list[str] | None:
        """The views by which entities are contested, those that another view confirms; None without an assessment."""
        return None if self.assessment is None else self.assessment.confirmed

    @cached_property
    def contested(self) -> np.ndarray:
        """Which entities in clusters have views that contradict each other."""
        if not self.view_labels:
            return np.zeros(self.n, bool)
        return contested(self.view_labels, self.confirmed) & (self.labels >= 0)

    @cached_property
    def stability(self) -> dict[int, float]:
        """Share of each cluster's entities that fits without them put into it again; empty without an assessment."""
        if self.assessment is None:
            return {}
        columns = (self.assessment.clusters[name].tolist() for name in ("cluster", "stability"))
        return dict(zip(*columns, strict=True))

    @property
    def is_command(self) -> bool:
        """Whether the command line writes the report, so that the reader has its files but no Python objects."""
        return self.command is not None

    @property
    def has_small_groups(self) -> bool:
        """Whether the clusters are duplicates and other small groups."""
        return self.selection is not None and self.selection.labels is not None

    @property
    def shows_views(self) -> bool:
        """Whether the agreement of views has a meaning: not with one cluster, nor with groups too small to predict."""
        return len(self.sizes) > 1 and not self.has_small_groups

    @cached_property
    def sizes(self) -> dict[int, int]:
        """Number of entities of each nonempty cluster."""
        numbers, sizes = np.unique(self.labels[self.labels >= 0], return_counts=True)
        return dict(zip(numbers.tolist(), sizes.tolist(), strict=True))

    @cached_property
    def largest_first(self) -> list[int]:
        """The clusters by decreasing size."""
        return sorted(self.sizes, key=lambda cluster: (-self.sizes[cluster], cluster))

    @cached_property
    def agreement(self) -> np.ndarray | None:
        """How often two views agree; None with one view."""
        rates = getattr(self.model, "agreement_", None)
        return None if rates is None or len(rates) < 2 else np.asarray(rates)

    def name_entity(self, row: int) -> str:
        """Return the id of an entity, or its number.

        Parameters
        ----------
        row : int
            Position of the entity.
        """
        return str(row) if self.views.ids is None else clean_text(self.views.ids[row])

    def name_class(self, value: Any) -> str:
        """Return the name of a known class.

        Parameters
        ----------
        value : object
            The class: a name, or its position in `class_names`.
        """
        names = self.class_names
        if names is not None and isinstance(value, int | float) and 0 <= value < len(names):
            return str(names[int(value)])
        return str(value)

    def mark_entity(self, row: int) -> Html:
        """Return the id or number of an entity as HTML, after its picture if it has one.

        The page contains a picture once: where it is shown again, the script takes it from the first place.

        Parameters
        ----------
        row : int
            Position of the entity.
        """
        source = self.find_picture(row)
        picture = None
        if source is not None:
            first = None if row in self.shown_pictures else source
            self.shown_pictures.add(row)
            picture = tag("img", src=first, alt=self.name_entity(row), class_="thumbnail", data_row=row)
        return join_html((picture, mark_user_text(self.name_entity(row))))

    @cached_property
    def shown_pictures(self) -> set[int]:
        """The entities whose picture the page contains already, filled by `mark_entity`."""
        return set()

    @cached_property
    def pictures(self) -> dict[int, str | None]:
        """The pictures of the entities that are shown, filled by `find_picture`."""
        return {}

    def find_picture(self, row: int) -> str | None:
        """Return the picture of an entity as a data address; None if it has none, or the page has enough of them.

        Parameters
        ----------
        row : int
            Position of the entity.
        """
        if self.thumbnails is None or row in self.pictures or len(self.pictures) >= MAX_THUMBNAILS:
            return self.pictures.get(row)
        content = self.thumbnails(row) if callable(self.thumbnails) else self.thumbnails[row]
        source = None if content is None else _write_data_address(content, self.name_entity(row))
        n_bytes = sum(len(other) for other in self.pictures.values() if other is not None)
        if source is None or n_bytes + len(source) <= MAX_PICTURE_BYTES:
            self.pictures[row] = source
        return self.pictures.get(row)

    @cached_property
    def view_texts(self) -> dict[str, Sequence[Any]]:
        """The original texts of the views that have any, None for missing ones; views may share their texts."""
        texts_by_view = {name: texts for name, texts in (self.texts or {}).items() if texts is not None}
        cleaned = {
            id(texts): [None if _none_if_missing(text) is None else str(text) for text in texts]
            for texts in texts_by_view.values()
        }
        return {name: cleaned[id(texts)] for name, texts in texts_by_view.items()}

    def shows_words(self, view: str) -> bool:
        """Whether a view is described by the words of its texts, because its columns have no names.

        Parameters
        ----------
        view : str
            Name of the view.
        """
        return view in self.view_texts and self.views.feature_names(view) is None

    def has_names(self, view: str) -> bool:
        """Whether the features that describe a view have names.

        Parameters
        ----------
        view : str
            Name of the view.
        """
        return view in self.view_texts or self.views.feature_names(view) is not None

    def quote_texts(self, row: int, length: int = 150) -> Html | None:
        """Return the beginnings of the entity's texts, with more of them as tooltip if they are longer.

        Parameters
        ----------
        row : int
            Position of the entity.
        length : int, default=150
            Largest number of characters of each text.
        """
        names = {id(texts): name for name, texts in reversed(self.view_texts.items())}  # views may share their texts
        texts = {name: self.view_texts[name][row] for name in reversed(names.values())}
        quotes = {name: truncate(clean_text(str(text)[: 4 * length]), length) for name, text in texts.items() if text}
        quotes = {name: quote for name, quote in quotes.items() if quote}
        if not quotes:
            return None
        names_views = len(names) > 1
        is_longer = any(quote.endswith("…") for quote in quotes.values()) or names_views
        full = (f"{name}: {texts[name]}" if names_views else str(texts[name]) for name in quotes)
        lines = (truncate(clean_text(text[: 2 * MAX_TITLE]), MAX_TITLE) for text in full)
        title = "\n".join(lines) if is_longer else None
        shown = (
            tag("span", join_html((tag("b", mark_user_text(name)), " ")) if names_views else None, tag("bdi", quote))
            for name, quote in quotes.items()
        )
        return tag("span", shown, class_="snippet", title=title)


def _write_data_address(content: bytes, name: str) -> str:
    """Return the content of an image file as a data address; refuse other files, and large ones."""
    kind = next((kind for start, kind in IMAGE_TYPES.items() if bytes(content[:4]).startswith(start)), None)
    if kind is None:
        raise ValueError(f"the thumbnail of entity {name!r} must be the content of a JPEG, PNG, GIF or WebP file")
    if len(content) > MAX_THUMBNAIL_BYTES:
        raise ValueError(
            f"the thumbnail of entity {name!r} has {len(content):,} bytes, more than {MAX_THUMBNAIL_BYTES:,}: make it "
            "smaller, such as 64 pixels"
        )
    return f"data:image/{kind};base64,{base64.b64encode(content).decode('ascii')}"


def _none_if_missing(value: Any) -> Any:
    """Return a class or text, or None for NaN and the empty string."""
    value = value.item() if isinstance(value, np.generic) else value
    return None if value is None or value != value or value == "" else value
