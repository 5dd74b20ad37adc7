"""What marks one cluster, in the units of the data."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..explain import Difference, OriginalColumn, find_differences
from ._docs import share_docs
from ._figure import Axes, escape_name, get_axes, marker_style, shorten_names

ELSEWHERE_COLOR = "#BBBBBB"
SCALE = (2, 98)  # percentiles of a column at the ends of its row


@share_docs
class GroupProfileDisplay:
    r"""What marks one cluster: the columns in which it differs most, inside it and elsewhere, in their units.

    Each row has a scale of its own. Of numbers and dates a bar reaches from the first to the third quartile, with a
    line at the median; of categories and words it is the share of the entities that have it, from 0% to 100%. The
    upper bar is the cluster, the lower gray one all other entities; their values are written beside them.

    Parameters
    ----------
    differences : sequence of Difference
        What marks the cluster, the strongest first: an element of what `consilience.explain.find_differences` returns.
    columns : sequence of OriginalColumn
        The columns that were compared.
    labels : array-like of int, shape (n_entities,)
        Clusters of the entities; -1 for none.
    cluster : int
        Number of the cluster.
    name : str, optional
        Name of the cluster; by default its number.

    Attributes
    ----------
    %(ax_)s
    inside_bars_, other_bars_ : BarContainer
        The bars of the cluster and of all other entities, from top to bottom.

    Examples
    --------
    >>> import numpy as np
    >>> from consilience.explain import OriginalColumn
    >>> from consilience.plot import GroupProfileDisplay
    >>> price = OriginalColumn("price", np.arange(40.0), "number", unit="$")
    >>> display = GroupProfileDisplay.from_labels(np.repeat([0, 1], 20), [price], 0)
    >>> [text.get_text() for text in display.ax_.texts]
    ['5–14 \\$', '25–34 \\$']
    """

    def __init__(
        self,
        differences: Sequence[Difference],
        columns: Sequence[OriginalColumn],
        labels: Any,
        cluster: int,
        name: str | None = None,
    ) -> None:
        self.differences, self.columns = list(differences), {column.name: column for column in columns}
        self.labels, self.cluster = np.asarray(labels), int(cluster)
        self.name = f"cluster {cluster}" if name is None else str(name)
        if not (self.labels == self.cluster).any():
            raise ValueError(f"there is no cluster {cluster}: {_name_range(self.labels)}")
        if unknown := [d.column for d in self.differences if d.column not in self.columns]:
            raise ValueError(f"column {unknown[0]!r} of a difference is not among the columns")

    def plot(self, ax: Axes | None = None, *, n_top: int = 8) -> GroupProfileDisplay:
        """Draw the bars.

        Parameters
        ----------
        %(ax)s
        n_top : int, default=8
            Maximum number of columns.

        %(returns_self)s
        """
        shown = self.differences[:n_top]
        self.figure_, self.ax_ = get_axes(ax, (6.4, 0.8 + 0.4 * max(len(shown), 2)))
        ax, n = self.ax_, len(shown)
        spans = np.array([self._measure(difference) for difference in shown]).reshape(-1, 2, 3)
        (left, middle, right), y = np.moveaxis(spans, 2, 0), np.arange(n)
        color = marker_style(self.cluster)[0]
        style: dict[str, Any] = {"height": 0.36, "linewidth": 0.5, "edgecolor": "#444444"}
        self.inside_bars_ = ax.barh(y - 0.2, (right - left)[:, 0], left=left[:, 0], color=color, **style)
        self.other_bars_ = ax.barh(y + 0.2, (right - left)[:, 1], left=left[:, 1], color=ELSEWHERE_COLOR, **style)
        for side, offset in ((0, -0.2), (1, 0.2)):
            ax.vlines(middle[:, side], y + offset - 0.18, y + offset + 0.18, color="white", linewidth=2.4)
            ax.vlines(middle[:, side], y + offset - 0.18, y + offset + 0.18, color="black", linewidth=1.2)
        beside: dict[str, Any] = {"transform": ax.get_yaxis_transform(), "va": "center", "fontsize": "small"}
        for i, difference in enumerate(shown):
            ax.text(1.02, i - 0.2, escape_name(difference.text, 40), **beside)
            ax.text(1.02, i + 0.2, escape_name(difference.elsewhere, 40), color="#666666", **beside)
        if not n:
            ax.text(0.5, 0.5, "no column differs from elsewhere by more than chance", transform=ax.transAxes,
                    ha="center", va="center", fontsize="small")  # fmt: skip
        ax.set_yticks(y, [escape_name(_name_row(difference), 30) for difference in shown])
        ax.tick_params(axis="y", length=0, labelsize="small")
        ax.set(xlim=(-0.01, 1.01), ylim=(max(n, 2) - 0.4, -0.6), xticks=[])
        ax.spines[["top", "right", "bottom"]].set_visible(False)
        n_inside, n_all = int((self.labels == self.cluster).sum()), int((self.labels >= 0).sum())
        ax.set_title(f"{shorten_names([self.name], 44)[0]} ({n_inside:,} of {n_all:,})", fontsize="medium", loc="left")
        return self

    def _measure(self, difference: Difference) -> list[tuple[float, float, float]]:
        """Return start, middle and end of both bars on a scale from 0 to 1; shares have no middle."""
        if difference.kind in ("category", "text"):
            percentages = [text.split()[-1].strip("<>%") for text in (difference.text, difference.elsewhere)]
            return [(0.0, np.nan, float(number) / 100) for number in percentages]  # of 'red 81%' or '<1%'
        values = np.asarray(self.columns[difference.column].values, dtype=np.float64)
        is_filled = np.isfinite(values) & (self.labels >= 0)
        low, high = np.percentile(values[is_filled], SCALE)
        is_inside = self.labels == self.cluster
        quartiles = [np.percentile(values[is_filled & rows], [25, 50, 75]) for rows in (is_inside, ~is_inside)]
        low, high = min(low, *(q[0] for q in quartiles)), max(high, *(q[2] for q in quartiles))
        return [tuple((q - low) / (high - low or 1.0)) for q in quartiles]

    @classmethod
    def from_labels(
        cls,
        labels: Any,
        columns: Sequence[OriginalColumn],
        cluster: int,
        name: str | None = None,
        *,
        n_top: int = 8,
        ax: Axes | None = None,
    ) -> GroupProfileDisplay:
        """Find what marks a cluster, and draw it.

        Parameters
        ----------
        labels : array-like of int, shape (n_entities,)
            Clusters of the entities; -1 for none.
        columns : sequence of OriginalColumn
            The columns to compare.
        cluster : int
            Number of the cluster.
        name : str, optional
            Name of the cluster; by default its number.
        n_top : int, default=8
            Maximum number of columns.
        %(ax_returns_display)s
        """
        if not (np.asarray(labels) == cluster).any():
            raise ValueError(f"there is no cluster {cluster}: {_name_range(np.asarray(labels))}")
        differences = find_differences(labels, columns, n_top)[cluster]
        return cls(differences, columns, labels, cluster, name).plot(ax, n_top=n_top)

    @classmethod
    def from_result(cls, result: Any, cluster: int, *, n_top: int = 8, ax: Axes | None = None) -> GroupProfileDisplay:
        """Draw what marks a cluster of a result of `consilience.cluster`.

        Parameters
        ----------
        %(result)s
        cluster : int
            Number of the cluster.
        n_top : int, default=8
            Maximum number of columns.
        %(ax_returns_display)s
        """
        names = dict(enumerate(result.names))
        return cls.from_labels(result.model.labels_, result.columns, cluster, names.get(cluster), n_top=n_top, ax=ax)


def _name_range(labels: np.ndarray) -> str:
    clusters = np.unique(labels[labels >= 0])
    return f"they are {clusters[0]} to {clusters[-1]}" if len(clusters) else "all labels are -1"


def _name_row(difference: Difference) -> str:
    """Return the column, or the word whose share is shown."""
    if difference.kind != "text":
        return difference.column
    return difference.sentence.removesuffix(f" in {difference.text} of texts, elsewhere {difference.elsewhere}")
