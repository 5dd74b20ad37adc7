"""How far each two views agree."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ._axes import get_axes
from ._heatmap import draw_heatmap, heatmap_size, label_cells
from ._model import get_fitted_attribute
from ._text import escape_name

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.image import AxesImage
    from matplotlib.text import Text


class AgreementDisplay:
    """Share of entities that each two views put into the same cluster, as a map.

    Parameters
    ----------
    agreement : array-like of shape (n_views, n_views)
        The shares, NaN for two views that no entity has both of; an estimator's ``agreement_``.
    names : sequence of str
        The views.

    Attributes
    ----------
    ax_, figure_ : Axes, Figure
        Where it is drawn.
    image_, texts_ : AxesImage, list of Text
        The cells and the numbers in them.

    Examples
    --------
    >>> import consilience as cs
    >>> from consilience.plot import AgreementDisplay
    >>> views, _ = cs.datasets.make_gaussian_views(100, random_state=0)
    >>> display = AgreementDisplay.from_estimator(cs.MultiViewKMeans(3, random_state=0).fit(views))
    >>> display.image_.get_array().shape
    (2, 2)
    """

    ax_: Axes
    figure_: Figure
    image_: AxesImage
    texts_: list[Text]

    def __init__(self, agreement: Any, names: Sequence[str]) -> None:
        self.agreement = _check_agreement(agreement)
        self.names = list(names)
        if self.agreement.shape != (len(self.names), len(self.names)):
            raise ValueError(
                f"{len(self.names)} names need an agreement of shape ({len(self.names)}, {len(self.names)}), got "
                f"{self.agreement.shape}: give a row, a column and a name per view"
            )

    def plot(self, ax: Axes | None = None) -> AgreementDisplay:
        """Draw the map.

        Parameters
        ----------
        ax : Axes, optional
            Where to; by default in a figure of its own.

        Returns
        -------
        self
            The display.
        """
        n = len(self.names)
        self.figure_, self.ax_ = get_axes(ax, heatmap_size(n, n))
        names = [escape_name(name) for name in self.names]
        self.image_ = draw_heatmap(self.ax_, self.agreement, names, names, vmin=0, vmax=1)
        shown = [["–" if np.isnan(share) else f"{share:.2f}" for share in row] for row in self.agreement]
        self.texts_ = label_cells(self.ax_, self.image_, shown)
        self.figure_.colorbar(self.image_, ax=self.ax_, label="share in the same cluster")
        self.ax_.set_title("Agreement between views", fontsize="medium")
        return self

    @classmethod
    def from_estimator(cls, model: Any, *, ax: Axes | None = None) -> AgreementDisplay:
        """Draw what a fitted model says.

        Parameters
        ----------
        model : estimator
            Fitted, with ``agreement_``.
        ax : Axes, optional
            Where to draw.

        Returns
        -------
        AgreementDisplay
            Drawn.
        """
        agreement = get_fitted_attribute(model, "agreement_")
        return cls(agreement, list(get_fitted_attribute(model, "view_labels_"))).plot(ax)


def _check_agreement(agreement: Any) -> np.ndarray:
    """Convert the shares to an array, or raise an error."""
    try:
        return np.asarray(agreement, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise ValueError(f"agreement must be a matrix of shares between 0 and 1: {error}") from error
