"""The report on one clustering."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from ..assessment import Assessment
from ..data import Views
from ..files.write import check_output_file, stage_file
from ..selection import Selection
from .facts import collect_facts
from .page import build_page


class Report:
    """A clustering as one HTML file that explains itself and needs nothing else: no network, no other file.

    What the data is, what marks each cluster, how far the views agree, which entities are
    contested, a map of each view, and a table of all entities to search in.

    Parameters
    ----------
    model : estimator
        Fitted, with `labels_`; `view_labels_`, `agreement_`, `history_`, `view_weights_`,
        `view_information_` and `runner_up_` are shown where it has them.
    views : Views
        What the model was fitted on, in the same order.
    title : str, optional
        Heading of the page.
    labels : array-like of shape (n_entities,), optional
        Known classes, for scoring only; None, NaN or an empty string where a class is not known.
    class_names : sequence, optional
        Names of the classes, if `labels` are their numbers from 0.
    comparison : Table, optional
        Other methods on the same data, one row a method, such as `consilience.compare` makes it.
    command : str, optional
        The command that does it all again.
    notes : sequence of str, optional
        Sentences about how the data was read.
    texts : mapping of view name to sequence of str, optional
        What the entities' texts were before they became numbers, shown where an entity is named as an example.
    settings : mapping, optional
        Further settings to list, such as how the columns were scaled.
    confidence : array-like of shape (n_entities,), optional
        How sure the model is of each entity, 0 to 1; by default `consilience.explain.confidence`.
    assessment : Assessment, optional
        How far the clusters can be relied on, by `consilience.assess`. The page then opens with its verdict.
    selection : Selection, optional
        How the number of clusters was chosen, by `consilience.select_n_clusters`.

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
        views: Views,
        *,
        title: str | None = None,
        labels: Any = None,
        class_names: Sequence[Any] | None = None,
        comparison: Mapping[str, Any] | None = None,
        command: str | None = None,
        notes: Sequence[str] = (),
        texts: Mapping[str, Sequence[Any] | None] | None = None,
        settings: Mapping[str, Any] | None = None,
        confidence: Any = None,
        assessment: Assessment | None = None,
        selection: Selection | None = None,
    ) -> None:
        self._facts = collect_facts(
            model,
            views,
            title=title,
            labels=labels,
            class_names=class_names,
            comparison=comparison,
            command=command,
            notes=notes,
            texts=texts,
            settings=settings,
            confidence=confidence,
            assessment=assessment,
            selection=selection,
        )

    def to_html(self) -> str:
        """The page. The same clustering gives the same page, but for the date in it."""
        return build_page(self._facts)

    def save(self, path: str | os.PathLike[str], *, overwrite: bool = False) -> Path:
        """Write the page to a file, whole or not at all.

        Parameters
        ----------
        path : path
            The file, such as ``report.html``.
        overwrite : bool, default=False
            Take the place of a file that is there already, which is refused otherwise.

        Returns
        -------
        Path
            The file.
        """
        final = Path(path)
        check_output_file(final, overwrite)  # before the work, not after
        content = self.to_html().encode("utf-8")
        with stage_file(final, overwrite) as file:
            file.write_bytes(content)
        return final
