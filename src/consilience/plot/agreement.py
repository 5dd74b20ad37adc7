"""Agreement of each pair of views."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ._docs import share_docs
from ._figure import Axes, draw_heatmap, escape_name, get_axes, heatmap_size, label_cells
from ._model import get_fitted_attribute


@share_docs
class AgreementDisplay:
    """Heat map of the share of entities that two views put into the same cluster.

    Parameters
    ----------
    agreement : array-like of shape (n_views, n_views)
        The shares, NaN for two views that share no entity; an estimator's ``agreement_``.
    names : sequence of str
        Names of the views.

    Attributes
    ----------
    %(ax_)s
    %(image_)s

    Examples
    --------
    >>> import consilience as cs
    >>> from consilience.plot import AgreementDisplay
    >>> views, _ = cs.datasets.make_gaussian_views(100, random_state=0)
    >>> display = AgreementDisplay.from_estimator(cs.MultiViewKMeans(3, random_state=0).fit(views))
    >>> display.image_.get_array().shape
    (2, 2)
    """

    def __init__(self, agreement: Any, names: Sequence[str]) -> None:
        try:
            self.agreement = np.asarray(agreement, dtype=np.float64)
        except (TypeError, ValueError) as error:
            raise ValueError(f"agreement must be a matrix of shares between 0 and 1: {error}") from error
        self.names = list(names)
        if self.agreement.shape != (len(self.names), len(self.names)):
            raise ValueError(
                f"{len(self.names)} names need an agreement of shape ({len(self.names)}, {len(self.names)}), got "
                f"{self.agreement.shape}: give one row, one column and one name per view"
            )

    def plot(self, ax: Axes | None = None) -> AgreementDisplay:
        """Draw the map.

        %(section_ax_returns_self)s
        """
        n = len(self.names)
        self.figure_, self.ax_ = get_axes(ax, heatmap_size(n, n))
        names = [escape_name(name) for name in self.names]
        self.image_ = draw_heatmap(self.ax_, self.agreement, names, names, vmin=0, vmax=1)
        texts = [["–" if np.isnan(share) else f"{share:.2f}" for share in row] for row in self.agreement]
        self.texts_ = label_cells(self.ax_, self.image_, texts)
        self.figure_.colorbar(self.image_, ax=self.ax_, label="share in the same cluster")
        self.ax_.set_title("Agreement between views", fontsize="medium")
        return self

    @classmethod
    def from_estimator(cls, model: Any, *, ax: Axes | None = None) -> AgreementDisplay:
        """Draw the agreement of the views of a fitted model.

        Parameters
        ----------
        %(model)s
        %(ax_returns_display)s
        """
        agreement = get_fitted_attribute(model, "agreement_")
        return cls(agreement, list(get_fitted_attribute(model, "view_labels_"))).plot(ax)
