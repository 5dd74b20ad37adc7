"""Entities that two views put into different clusters."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

import numpy as np

from ..assessment import Assessment
from ..explain import clarity, contested
from ..metrics import agreement_matrix
from ._docs import share_docs
from ._figure import COLORS, draw_heatmap, escape_name, get_axes_grid, heatmap_size, label_cells
from ._model import check_fitted_views, get_fitted_attribute


@share_docs
class ContestedDisplay:
    """Entities that two views put into different clusters: the pairs of clusters, and the least certain entities.

    On the left is a heat map of the clusters by one view and the clusters by the other. The diagonal, on which the
    views agree, is hatched, so that colors show the disagreements. On the right are the entities with the lowest
    confidence.

    Parameters
    ----------
    view_labels : mapping of str to array-like of int, shape (n_entities,)
        The cluster of each entity by each view, -1 if it lacks the view; a model's ``view_labels_``.
    sure : array-like of float, shape (n_entities,)
        How clearly the model decides for each label; from `consilience.explain.clarity`.
    ids : sequence, optional
        Names of the entities; by default their numbers.
    confirmed : collection of str, optional
        The views that another view confirms, an assessment's ``confirmed``. If there are two or more, the pair is
        chosen among them.

    Attributes
    ----------
    ax_ : ndarray of Axes, shape (2,)
        The heat map and the bars.
    %(figure_)s
    pair_ : tuple of str
        The two views.
    image_, texts_ : AxesImage, list of Text
        The cells, NaN on the diagonal, and the numbers in them.
    least_, bars_ : ndarray of int, BarContainer
        The contested entities that are least clear, and their bars.

    Examples
    --------
    >>> from consilience.plot import ContestedDisplay
    >>> labels = {"text": [0, 0, 1, 1], "links": [0, 1, 1, 0]}
    >>> display = ContestedDisplay(labels, sure=[0.9, 0.2, 0.8, 0.1]).plot()
    >>> display.pair_, display.least_.tolist()
    (('text', 'links'), [3, 1])
    """

    def __init__(
        self,
        view_labels: Mapping[str, Any],
        sure: Any,
        ids: Sequence[Any] | None = None,
        confirmed: Collection[str] | None = None,
    ) -> None:
        self.view_labels = {name: np.asarray(labels) for name, labels in view_labels.items()}
        self.sure = np.asarray(sure, dtype=np.float64)
        self.ids, self.confirmed = ids, confirmed

    def plot(self, ax: Any = None, *, pair: tuple[str, str] | None = None, n_least: int = 10) -> ContestedDisplay:
        """Draw the heat map and the bars.

        Parameters
        ----------
        %(axes)s
        pair : tuple of two str, optional
            The views; by default the two that disagree most, of those that are confirmed.
        n_least : int, default=10
            Number of entities to name.

        %(returns_self)s
        """
        self.pair_ = self._choose_pair(pair)
        first, second = (self.view_labels[name] for name in self.pair_)
        has_both = (first >= 0) & (second >= 0)
        k = 1 + max(int(labels.max(initial=0)) for labels in self.view_labels.values())
        counts = np.zeros((k, k), dtype=np.int64)
        np.add.at(counts, (first[has_both], second[has_both]), 1)
        width, height = heatmap_size(k, k)
        self.figure_, grid = get_axes_grid(
            ax, (1, 2), (width + 4.5, height), widths=(width, 3.2) if ax is None else (3, 2)
        )
        self.ax_ = grid.ravel()
        self._draw_map(counts)
        rows = np.flatnonzero(contested(self.view_labels, self.pair_))
        self.least_ = rows[np.lexsort((rows, self.sure[rows]))][:n_least]
        self._draw_bars(first, second)
        return self

    def _choose_pair(self, pair: tuple[str, str] | None) -> tuple[str, str]:
        """Check the pair of the user, or choose the two views that disagree most."""
        names = list(self.view_labels)
        if len(names) < 2:
            raise ValueError(f"there is one view, {', '.join(map(repr, names))}: two are needed")
        if pair is None:
            chosen = [name for name in names if self.confirmed is not None and name in self.confirmed]
            names = chosen if len(chosen) > 1 else names
            agreement = np.nan_to_num(agreement_matrix({name: self.view_labels[name] for name in names}), nan=1.0)
            np.fill_diagonal(agreement, 2.0)
            a, b = divmod(int(agreement.argmin()), len(names))
            return names[a], names[b]
        first, second = pair
        for name in pair:
            if name not in names:
                raise ValueError(f"no view {name!r}; the views are {', '.join(map(repr, names))}")
        if first == second:
            raise ValueError(f"pair names {first!r} twice: give two views")
        return first, second

    def _draw_map(self, counts: np.ndarray) -> None:
        """Draw the numbers of entities, with colors off the diagonal only."""
        from matplotlib.ticker import MaxNLocator

        ax, (first, second) = self.ax_[0], self.pair_
        apart = counts.astype(np.float64)
        np.fill_diagonal(apart, np.nan)
        most = np.nan_to_num(apart).max(initial=0)
        names = [str(c) for c in range(len(counts))]
        self.image_ = draw_heatmap(ax, apart, names, names, vmin=0, vmax=max(most, 1))
        self.texts_ = label_cells(ax, self.image_, [[f"{n:,}" if n else "" for n in row] for row in counts])
        self.figure_.colorbar(self.image_, ax=ax, label="contested entities", ticks=MaxNLocator(integer=True))
        ax.set(xlabel=f"cluster by {escape_name(second)}", ylabel=f"cluster by {escape_name(first)}")
        n, total = int(np.nansum(apart)), int(counts.sum())
        ax.set_title(f"{n:,} contested by these two views, of {total:,} with both", fontsize="medium")

    def _draw_bars(self, first: np.ndarray, second: np.ndarray) -> None:
        """Draw the clarity of the least clear entities, with the clusters by the two views."""
        ax, positions = self.ax_[1], range(len(self.least_))
        names = [escape_name(i if self.ids is None else self.ids[i]) for i in self.least_]
        texts = [f"{name}:  {first[i]} or {second[i]}" for name, i in zip(names, self.least_, strict=True)]
        self.bars_ = ax.barh(positions, self.sure[self.least_], color=COLORS[0], height=0.6)
        ax.bar_label(self.bars_, [f"{sure:.2f}" for sure in self.sure[self.least_]], padding=3, fontsize="small")
        ax.set_yticks(positions, texts, fontsize="small")
        ax.set_ylim(max(len(self.least_), 4) - 0.4, -0.6)
        ax.set_xlim(0, 1.15)
        ax.set_xticks([0, 0.5, 1])
        ax.set_xlabel("clarity")
        ax.set_title("least clear", fontsize="medium")
        ax.spines[["top", "right"]].set_visible(False)
        if not len(self.least_):
            ax.text(0.5, 0.5, "no entity is contested", transform=ax.transAxes, ha="center", va="center")

    @classmethod
    def from_estimator(
        cls,
        model: Any,
        views: Any,
        *,
        pair: tuple[str, str] | None = None,
        assessment: Assessment | None = None,
        n_least: int = 10,
        ax: Any = None,
    ) -> ContestedDisplay:
        """Draw the disagreements between views of a fitted model.

        Parameters
        ----------
        %(model)s
        %(views)s
        pair : tuple of two str, optional
            The views; by default the two that disagree most, of those that are confirmed.
        assessment : Assessment, optional
            From `consilience.assess`: it tells which views are confirmed. Without it all views count.
        n_least : int, default=10
            Number of entities to name.
        %(axes_returns_display)s
        """
        view_labels = get_fitted_attribute(model, "view_labels_")
        views = check_fitted_views(model, views)
        ids = None if views.ids is None else views.ids.tolist()
        confirmed = None if assessment is None else assessment.confirmed
        return cls(view_labels, clarity(model, views), ids, confirmed).plot(ax, pair=pair, n_least=n_least)
