"""Contingency table of known classes and clusters."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy.optimize import linear_sum_assignment
from sklearn.metrics.cluster import contingency_matrix

from ..metrics.classes import number_classes
from ._docs import share_docs
from ._figure import Axes, draw_heatmap, escape_name, get_axes, heatmap_size, label_cells
from ._model import check_names, get_fitted_attribute


@share_docs
class ContingencyDisplay:
    """Heat map of the number of entities of each known class in each cluster.

    Clusters are ordered so that the diagonal has as many entities as possible. Numbers are entities; colors are shares
    of the class, so that small classes are as visible as large ones.

    Parameters
    ----------
    table : array-like of int, shape (n_classes, n_clusters)
        Numbers of entities.
    classes : sequence
        Names of the rows.
    clusters : sequence
        Names of the columns.

    Attributes
    ----------
    %(ax_)s
    %(image_)s
    rows_, columns_ : ndarray of int
        The order in which classes and clusters are drawn.

    Examples
    --------
    >>> from consilience.plot import ContingencyDisplay
    >>> display = ContingencyDisplay.from_labels(["cat", "cat", "dog", "dog"], [1, 1, 0, 1])
    >>> display.columns_.tolist(), display.image_.get_array().tolist()
    ([1, 0], [[1.0, 0.0], [0.5, 0.5]])
    """

    def __init__(self, table: Any, classes: Sequence[Any], clusters: Sequence[Any]) -> None:
        self.table = np.asarray(table)
        self.classes = list(classes)
        self.clusters = list(clusters)

    def plot(self, ax: Axes | None = None) -> ContingencyDisplay:
        """Draw the map.

        %(section_ax_returns_self)s
        """
        matched = linear_sum_assignment(-self.table)  # pairs of classes and clusters; those without a match come last
        self.rows_, self.columns_ = (
            np.concatenate([pairs, np.setdiff1d(np.arange(n), pairs)])
            for n, pairs in zip(self.table.shape, matched, strict=True)
        )
        counts = self.table[self.rows_][:, self.columns_]
        share = counts / np.maximum(counts.sum(axis=1, keepdims=True), 1)
        self.figure_, self.ax_ = get_axes(ax, heatmap_size(*counts.shape))
        self.image_ = draw_heatmap(
            self.ax_,
            share,
            [escape_name(self.classes[i]) for i in self.rows_],
            [escape_name(self.clusters[i]) for i in self.columns_],
            vmin=0,
            vmax=1,
        )
        self.texts_ = label_cells(self.ax_, self.image_, [[f"{n:,}" if n else "" for n in row] for row in counts])
        self.figure_.colorbar(self.image_, ax=self.ax_, label="share of the class")
        self.ax_.set(xlabel="cluster", ylabel="class")
        total = int(counts.sum())
        self.ax_.set_title(f"{int(np.trace(counts)):,} of {total:,} entities on the diagonal", fontsize="medium")
        return self

    @classmethod
    def from_labels(
        cls, y: Any, labels: Any, *, names: Sequence[str] | None = None, ax: Axes | None = None
    ) -> ContingencyDisplay:
        """Draw known classes against cluster labels.

        Parameters
        ----------
        y : array-like of shape (n_entities,)
            The known class of each entity: numbers or names.
        labels : array-like of int, shape (n_entities,)
            The clusters.
        %(names)s
        %(ax_returns_display)s
        """
        y, labels = np.asarray(y), np.asarray(labels)
        if y.shape != labels.shape or y.ndim != 1:
            raise ValueError(f"classes have shape {y.shape}, clusters {labels.shape}: give one of each per entity")
        if not len(y):
            raise ValueError("there are no entities to count: give at least one")
        classes, y = number_classes(y.tolist()) if y.dtype.kind in "OU" else np.unique(y, return_inverse=True)
        clusters = np.unique(labels).tolist()
        named = check_names(names, clusters[-1] + 1)
        columns = clusters if named is None else [named[c] if c >= 0 else "none" for c in clusters]
        return cls(contingency_matrix(y, labels), list(classes), columns).plot(ax)

    @classmethod
    def from_estimator(
        cls, model: Any, y: Any, *, names: Sequence[str] | None = None, ax: Axes | None = None
    ) -> ContingencyDisplay:
        """Draw known classes against the clusters of a fitted model.

        Parameters
        ----------
        %(model)s
        y : array-like of shape (n_entities,)
            The known class of each entity: numbers or names.
        %(names)s
        %(ax_returns_display)s
        """
        return cls.from_labels(y, get_fitted_attribute(model, "labels_"), names=names, ax=ax)
