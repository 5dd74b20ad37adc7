"""Typical columns of each cluster in each view."""

from __future__ import annotations

import textwrap
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ..explain import Mark, profile
from ._docs import share_docs
from ._figure import COLORS, Axes, escape_name, get_axes_grid, pluralize
from ._model import check_fitted_views, check_names

MAX_CLUSTERS = 10  # that are drawn by default
MORE, LESS = COLORS[0], COLORS[1]


@share_docs
class ProfileDisplay:
    """The columns that distinguish each cluster, with one row of panels per cluster and one column per view.

    A bar shows the difference of the means inside and outside the cluster, in standard errors of that difference: to
    the right if the cluster has more, to the left and hatched if it has less.

    Parameters
    ----------
    marks : mapping of str to list of list of Mark
        The marks of each view and cluster, from `consilience.explain.profile`.
    sizes : sequence of int
        Number of entities per cluster.
    %(names)s

    Attributes
    ----------
    ax_ : ndarray of Axes, shape (n_shown, n_views)
        The panels.
    %(figure_)s
    bars_ : dict of (int, str) to BarContainer
        The bars of each cluster and view.

    Examples
    --------
    >>> import consilience as cs
    >>> from consilience.plot import ProfileDisplay
    >>> views, y = cs.datasets.make_text_views(100, random_state=0)
    >>> display = ProfileDisplay.from_labels(views, y, n_top=4)
    >>> display.ax_.shape, len(display.bars_[0, "view1"])
    ((3, 2), 4)
    """

    def __init__(
        self, marks: Mapping[str, Sequence[Sequence[Mark]]], sizes: Sequence[int], names: Sequence[str] | None = None
    ) -> None:
        self.marks = {name: [list(cluster) for cluster in clusters] for name, clusters in marks.items()}
        self.sizes = [int(size) for size in sizes]
        self.names = check_names(names, len(self.sizes)) or [f"cluster {c}" for c in range(len(self.sizes))]

    def plot(self, ax: Any = None, *, clusters: Sequence[int] | None = None) -> ProfileDisplay:
        """Draw the panels.

        Parameters
        ----------
        %(axes)s
        clusters : sequence of int, optional
            Clusters to draw; by default the first ten.

        %(returns_self)s
        """
        shown = list(range(len(self.sizes)))[:MAX_CLUSTERS] if clusters is None else list(clusters)
        if unknown := [c for c in shown if not 0 <= c < len(self.sizes)]:
            raise ValueError(f"there is no cluster {unknown[0]}: they are 0 to {len(self.sizes) - 1}")
        if not shown:
            raise ValueError("no clusters to draw: give clusters=[0, ...], or labels that are not all -1")
        longest = max((len(marks) for clusters in self.marks.values() for marks in clusters), default=1)
        shape = len(shown), len(self.marks)
        size = min(40.0, 3.1 * shape[1] + 0.5), min(60.0, shape[0] * (0.4 + 0.19 * max(longest, 3)) + 0.9)
        self.figure_, self.ax_ = get_axes_grid(ax, shape, size, sharex="col")
        self.bars_ = {
            (c, name): _draw_marks(self.ax_[r, v], view_marks[c], longest)
            for r, c in enumerate(shown)
            for v, (name, view_marks) in enumerate(self.marks.items())
        }
        self._label(shown)
        return self

    def _label(self, shown: list[int]) -> None:
        """Name the views at the top and the clusters on the left, and note if clusters are left out."""
        for panel, name in zip(self.ax_[0], self.marks, strict=True):
            panel.set_title(escape_name(name), fontsize="medium")
        for panel in self.ax_[-1]:
            panel.set_xlabel("standard errors", fontsize="small")
        for panel, c in zip(self.ax_[:, 0], shown, strict=True):
            name = "\n".join(textwrap.wrap(escape_name(self.names[c], 40), 20))
            panel.set_ylabel(f"{name}\n({self.sizes[c]:,})", rotation=0, ha="right", va="center", labelpad=8)
        left_out = len(self.sizes) - len(set(shown))
        if left_out:
            note = f"{pluralize(left_out, 'cluster')} not shown"
            self.ax_[-1, 0].annotate(
                note, (0, 0), (0, -42), xycoords="axes fraction", textcoords="offset points", fontsize="small"
            )

    @classmethod
    def from_labels(
        cls,
        views: Any,
        labels: Any,
        *,
        n_top: int = 5,
        clusters: Sequence[int] | None = None,
        names: Sequence[str] | None = None,
        ax: Any = None,
    ) -> ProfileDisplay:
        """Draw what distinguishes clusters given by labels.

        Parameters
        ----------
        views : Views
            The data.
        labels : array-like of int, shape (n_entities,)
            Clusters, numbered from 0; -1 for none.
        n_top : int, default=5
            Maximum number of columns per cluster and view.
        clusters : sequence of int, optional
            Clusters to draw; by default the first ten.
        %(names)s
        %(axes_returns_display)s
        """
        labels = np.asarray(labels)
        sizes = np.bincount(labels[labels >= 0])
        return cls(profile(views, labels, n_top), sizes.tolist(), names).plot(ax, clusters=clusters)

    @classmethod
    def from_estimator(
        cls,
        model: Any,
        views: Any,
        *,
        n_top: int = 5,
        clusters: Sequence[int] | None = None,
        names: Sequence[str] | None = None,
        ax: Any = None,
    ) -> ProfileDisplay:
        """Draw what distinguishes the clusters of a fitted model.

        Parameters
        ----------
        %(model)s
        views : Views, or whatever `fit` was given
            The entities that the model was fitted to; columns without names are shown by number.
        n_top : int, default=5
            Maximum number of columns per cluster and view.
        clusters : sequence of int, optional
            Clusters to draw; by default the first ten.
        %(names)s
        %(axes_returns_display)s
        """
        views = check_fitted_views(model, views)
        return cls.from_labels(views, model.labels_, n_top=n_top, clusters=clusters, names=names, ax=ax)


def _draw_marks(panel: Axes, marks: Sequence[Mark], longest: int) -> Any:
    """Draw one cluster in one view; every panel has space for `longest` bars, so that all are equally thick."""
    strengths = [mark.strength for mark in marks]
    is_more = [strength >= 0 for strength in strengths]
    bars = panel.barh(
        range(len(marks)),
        strengths,
        height=0.75,
        color=[MORE if up else LESS for up in is_more],
        hatch=["" if up else "////" for up in is_more],
        edgecolor="white",
        linewidth=0,
    )
    panel.set_yticks(range(len(marks)), [escape_name(mark.feature, 18) for mark in marks], fontsize=7)
    panel.set_ylim(max(longest, 3) - 0.5, -0.5)
    panel.axvline(0, color="black", linewidth=0.6)
    panel.tick_params(axis="y", length=0)
    panel.tick_params(axis="x", labelsize=7)
    panel.spines[["top", "right", "left"]].set_visible(False)
    if not marks:
        panel.text(0.5, 0.5, "no typical columns", transform=panel.transAxes, ha="center", va="center", fontsize=7)
    return bars
