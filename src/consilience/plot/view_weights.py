"""Weights of the views."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from ._docs import share_docs
from ._figure import COLORS, Axes, escape_name, get_axes
from ._model import get_fitted_attribute


@share_docs
class ViewWeightsDisplay:
    """Bar chart of the weights of the views, the largest on top.

    Parameters
    ----------
    weights : mapping of str to float
        Weight of each view; an estimator's ``view_weights_``.

    Attributes
    ----------
    %(ax_)s
    bars_ : BarContainer
        The bars, the largest first.

    Examples
    --------
    >>> from consilience.plot import ViewWeightsDisplay
    >>> display = ViewWeightsDisplay({"text": 0.3, "links": 0.7}).plot()
    >>> [float(bar.get_width()) for bar in display.bars_]
    [0.7, 0.3]
    """

    def __init__(self, weights: Mapping[str, float]) -> None:
        self.weights = dict(weights)
        wrong = next((name for name, weight in self.weights.items() if not np.isfinite(weight)), None)
        if wrong is not None:
            raise ValueError(
                f"the weight of view {wrong!r} is {self.weights[wrong]}: give a finite number, or leave it out"
            )

    def plot(self, ax: Axes | None = None) -> ViewWeightsDisplay:
        """Draw the bars.

        %(section_ax_returns_self)s
        """
        ordered = sorted(self.weights.items(), key=lambda item: -item[1])
        self.figure_, self.ax_ = get_axes(ax, (6.4, 1.2 + min(10.0, 0.35 * len(ordered))))
        positions = range(len(ordered))
        texts = ["< 0.001" if 0 < weight < 0.001 else f"{weight:.3f}" for _, weight in ordered]
        self.bars_ = self.ax_.barh(positions, [weight for _, weight in ordered], color=COLORS[0], height=0.7)
        self.ax_.set_yticks(positions, [escape_name(name) for name, _ in ordered])
        self.ax_.bar_label(self.bars_, texts, padding=3, fontsize="small")
        self.ax_.invert_yaxis()
        self.ax_.margins(x=0.12)
        self.ax_.set_xlabel("weight of view")
        self.ax_.spines[["top", "right"]].set_visible(False)
        return self

    @classmethod
    def from_estimator(cls, model: Any, *, ax: Axes | None = None) -> ViewWeightsDisplay:
        """Draw the weights of a fitted model.

        Parameters
        ----------
        %(model)s
        %(ax_returns_display)s
        """
        return cls(get_fitted_attribute(model, "view_weights_")).plot(ax)
