"""The clusters of co-trained spectral clustering, round by round."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from sklearn.metrics import normalized_mutual_info_score

from ._docs import share_docs
from ._figure import Axes, escape_name, get_axes, limit_heights, line_style
from ._model import get_fitted_attribute


@share_docs
class RoundsDisplay:
    """Scores of the clusters per round of co-training, as in Figures 2 and 3 of Kumar & Daumé (2011).

    Parameters
    ----------
    scores : mapping of str to array-like
        A curve by its name: one score per round, the first before any round. Curves may end at different rounds.
    score_name : str, optional
        What the scores are, for the axis.
    kept : int, optional
        The round whose clusters the model has. It is marked if a curve goes on after it.

    Attributes
    ----------
    %(ax_)s
    lines_ : dict of str to Line2D
        The line of each curve.

    Examples
    --------
    >>> import consilience as cs
    >>> from consilience.plot import RoundsDisplay
    >>> views, y = cs.datasets.make_gaussian_views(100, separation=5, random_state=0)
    >>> model = cs.CoTrainedSpectral(3, affinity="gaussian", n_iter=4, random_state=0).fit(views)
    >>> list(RoundsDisplay.from_estimator(model, y).lines_)
    ['model', "view 'view0'", "view 'view1'"]
    >>> list(RoundsDisplay.from_estimator(model).lines_)
    ['same clusters as the kept round (NMI)', 'alignment of the views']
    """

    def __init__(self, scores: Mapping[str, Any], score_name: str | None = None, kept: int | None = None) -> None:
        self.scores = {name: np.asarray(values, dtype=float) for name, values in scores.items()}
        wrong = next((name for name, values in self.scores.items() if values.ndim != 1 or not len(values)), None)
        if wrong is not None or not self.scores:
            got = "no curves" if wrong is None else f"{wrong!r} of shape {self.scores[wrong].shape}"
            raise ValueError(f"a curve is a list of scores, one per round from round 0, got {got}")
        self.score_name, self.kept = score_name, kept

    def plot(self, ax: Axes | None = None) -> RoundsDisplay:
        """Draw the curves.

        %(section_ax_returns_self)s
        """
        self.figure_, self.ax_ = get_axes(ax, (6.4, 4.0))
        self.lines_ = {}
        for i, (name, values) in enumerate(self.scores.items()):
            color, dashes = line_style(i)
            (self.lines_[name],) = self.ax_.plot(
                range(len(values)), values, color=color, linestyle=dashes, marker="o", ms=4, label=escape_name(name, 50)
            )
        limit_heights(self.ax_)
        last = max(map(len, self.scores.values())) - 1
        if self.kept is not None and self.kept < last:
            self.ax_.axvline(self.kept, color="black", linewidth=0.8, linestyle=":", label="kept round", zorder=1)
        self.ax_.set_xlabel("round")
        locator: Any = self.ax_.xaxis.get_major_locator()
        locator.set_params(integer=True, min_n_ticks=1)
        if not last:
            self.ax_.set_xlim(-0.5, 0.5)  # one point, without fractions of a round around it
        if self.score_name:
            self.ax_.set_ylabel(escape_name(self.score_name, 50))
        self.ax_.legend(fontsize="small", loc="best")
        self.ax_.grid(alpha=0.3)
        return self

    @classmethod
    def from_estimator(cls, model: Any, y: Any = None, *, ax: Axes | None = None) -> RoundsDisplay:
        """Draw the rounds of a fitted `CoTrainedSpectral`; the clusters of the rounds are computed if they are not yet.

        Parameters
        ----------
        %(model)s
        y : array-like of shape (n_entities,), optional
            The known class of each entity: numbers or names. With them, normalized mutual information with the classes:
            of the model's clusters and of those of each view's own embedding, for the entities that have the view.
            Without them, how similar the clusters are to those of the kept round, and the columns of ``history_``:
            alignment of the views, and compactness if it was measured.
        %(ax_returns_display)s
        """
        labels = get_fitted_attribute(model, "labels_per_round_")
        kept = int(model.n_iter_)
        if y is None:
            scores = {"same clusters as the kept round (NMI)": score_rounds(labels[-1], labels)}
            titles = {"alignment": "alignment of the views", "compactness": "compactness of the clusters"}
            scores |= {titles[name]: column for name, column in model.history_.items() if name in titles}
            return cls(scores, None, kept).plot(ax)
        y = np.asarray(y)
        if y.shape != labels.shape[1:]:
            raise ValueError(
                f"y has shape {y.shape}, but {type(model).__name__} was fitted to {labels.shape[1]} entities: give one "
                "class per entity"
            )
        scores = {"model": score_rounds(y, labels)}
        for name, view_labels in model.view_labels_per_round_.items():
            has_view = view_labels[0] >= 0
            scores[f"view {name!r}"] = score_rounds(y[has_view], view_labels[:, has_view])
        return cls(scores, "NMI with the classes", kept).plot(ax)


def score_rounds(y: np.ndarray, labels: np.ndarray) -> np.ndarray:
    """Compute the normalized mutual information of classes with the clusters of each round."""
    return np.array([normalized_mutual_info_score(y, row) for row in labels])
