"""The report on one clustering."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from html import escape
from pathlib import Path
from typing import Any

from ..assessment import Assessment
from ..data import Views
from ..explain import Hierarchy, OriginalColumn
from ..files.write import check_output_file, stage_file
from ..selection import Selection
from .facts import ReportFacts
from .page import build_page
from .sections import SectionBuilder


class Report:
    """A clustering explained in one HTML file that needs no network and no other file.

    The page begins with a verdict, the groups with their names, a map of all views and a search over all texts. Each
    group has a page with what marks it, its members and its neighbors. Below are a table of all entities, which can be
    downloaded, and how the result was made. Jupyter shows the report as the value of a cell.

    Parameters
    ----------
    model : estimator
        Fitted, with `labels_`; `view_labels_`, `agreement_`, `history_`, `view_weights_`, `view_information_` and
        `runner_up_` are shown if it has them.
    views : Views, or blocks as `Views` takes them
        The data that the model was fitted on, in the same order.
    title : str, optional
        Heading of the page.
    labels : array-like of shape (n_entities,), optional
        Known classes, for scoring only; None, NaN or an empty string where a class is not known.
    class_names : sequence, optional
        Names of the classes, if `labels` are their numbers from 0.
    comparison : Table, optional
        Other methods on the same data, one row per method, such as `consilience.compare` returns.
    command : str, optional
        The command that repeats the analysis.
    notes : sequence of str, optional
        Sentences about how the data was read.
    texts : mapping of view name to sequence of str, optional
        The original texts of the entities, shown with examples and searched.
    thumbnails : sequence of bytes, or callable, optional
        A small picture of each entity, as the content of a JPEG, PNG, GIF or WebP file of up to 30 kB; None if it has
        none. A function gets the position of an entity, and is called only for those that the page shows: the page
        has up to 2,000 pictures, and up to 5 MB of them. With more entities only typical and contested ones have one.
    settings : mapping, optional
        Further settings to list, such as how the columns were scaled.
    confidence : array-like of shape (n_entities,), optional
        Confidence in each entity's cluster, 0 to 1, NaN if unknown; by default that of the assessment. Without either
        the page shows none.
    clarity : array-like of shape (n_entities,), optional
        What orders entities of equal or unknown confidence; by default `consilience.explain.clarity`.
    assessment : Assessment, optional
        How reliable the clusters are, by `consilience.assess`. The page then begins with its verdict.
    selection : Selection, optional
        How the number of clusters was chosen, by `consilience.select_n_clusters`.
    names : sequence of str, optional
        A name for each cluster; by default from `consilience.explain.name_clusters`.
    columns : sequence of OriginalColumn, optional
        Columns of the data in their units, which describe the clusters.
    layout : array-like of shape (n_entities, 2), optional
        Positions on the map; by default from `consilience.explain.joint_map`.
    hierarchy : Hierarchy, optional
        How clusters merge; by default from `consilience.explain.build_hierarchy`.
    level_names : mapping of int to sequence of str, optional
        Names of the groups at each level of the hierarchy; by default from `consilience.explain.name_levels`.
    noun : str, default='items'
        What the entities are, in the plural, such as 'products'.
    second_choice : array-like of int, shape (n_entities,), optional
        The cluster that suits each entity best after its own, -1 for none; by default from the model's `predict_proba`.
    reason_not_assessed : str, optional
        Sentence in place of the verdict if there is no assessment; by default how to get one.
    extra_sections : sequence of callables, optional
        Functions that take `report.ReportFacts` and return a `report.Section`, or None for no section.

    Examples
    --------
    >>> import consilience as cs
    >>> from consilience.report import Report
    >>> views, y = cs.datasets.make_gaussian_views(60, separation=8, random_state=0)
    >>> model = cs.MultiViewKMeans(3, random_state=0).fit(views)
    >>> html = Report(model, views, title="Three groups", labels=y).to_html()
    >>> html[:15], "Three groups" in html
    ('<!doctype html>', True)
    """

    def __init__(
        self,
        model: Any,
        views: Any,
        *,
        title: str | None = None,
        labels: Any = None,
        class_names: Sequence[Any] | None = None,
        comparison: Mapping[str, Any] | None = None,
        command: str | None = None,
        notes: Sequence[str] = (),
        texts: Mapping[str, Sequence[Any] | None] | None = None,
        thumbnails: Sequence[bytes | None] | Callable[[int], bytes | None] | None = None,
        settings: Mapping[str, Any] | None = None,
        confidence: Any = None,
        clarity: Any = None,
        assessment: Assessment | None = None,
        selection: Selection | None = None,
        names: Sequence[str] | None = None,
        columns: Sequence[OriginalColumn] = (),
        layout: Any = None,
        hierarchy: Hierarchy | None = None,
        level_names: Mapping[int, Sequence[str]] | None = None,
        noun: str = "items",
        second_choice: Any = None,
        reason_not_assessed: str | None = None,
        extra_sections: Sequence[SectionBuilder] = (),
    ) -> None:
        self._extra_sections = extra_sections
        self._facts = ReportFacts(
            model,
            views if isinstance(views, Views) else Views(views),
            custom_title=title,
            known_classes=labels,
            class_names=class_names,
            comparison=comparison,
            command=command,
            notes=notes,
            texts=texts,
            thumbnails=thumbnails,
            settings=settings,
            custom_confidence=confidence,
            custom_clarity=clarity,
            assessment=assessment,
            selection=selection,
            custom_names=names,
            columns=columns,
            custom_layout=layout,
            custom_hierarchy=hierarchy,
            custom_level_names=level_names,
            noun=noun,
            custom_second_choice=second_choice,
            reason_not_assessed=reason_not_assessed,
        )

    def to_html(self) -> str:
        """Return the page. Equal clusterings give equal pages, except for the date."""
        return build_page(self._facts, self._extra_sections)

    def _repr_html_(self) -> str:
        """Return the page in a frame, so that a notebook shows it without mixing its styles with the notebook's."""
        page = escape(self.to_html())
        return f'<iframe srcdoc="{page}" width="100%" height="700" style="border: 0" title="Report"></iframe>'

    def save(self, path: str | os.PathLike[str], *, overwrite: bool = False) -> Path:
        """Write the page to a file, completely or not at all.

        Parameters
        ----------
        path : path
            The file, such as ``report.html``.
        overwrite : bool, default=False
            Whether to replace an existing file.

        Returns
        -------
        Path
            The file.
        """
        target = Path(path)
        check_output_file(target, overwrite)  # before the work
        content = self.to_html().encode("utf-8")
        with stage_file(target, overwrite) as temporary:
            temporary.write_bytes(content)
        return target
