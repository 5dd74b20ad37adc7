"""Where to draw: axes given, or a new figure."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


def require_matplotlib() -> None:
    """Say what to install where matplotlib is not there; all other files may then import it."""
    try:
        import matplotlib as mpl  # noqa: F401
    except ImportError as error:
        raise ImportError("consilience.plot needs matplotlib: pip install 'consilience[plot]'") from error


def get_axes(ax: Any, size: tuple[float, float]) -> tuple[Figure, Axes]:
    """The axes given, or those of a new figure."""
    figure, grid = get_axes_grid(ax, (1, 1), size)
    return figure, grid[0, 0]


def get_axes_grid(
    ax: Any,
    shape: tuple[int, int],
    size: tuple[float, float],
    *,
    sharex: Any = False,
    widths: Sequence[float] | None = None,
) -> tuple[Figure, Any]:
    """Axes in rows and columns, as an array: those given, those cut out of the one given, or those of a new figure."""
    require_matplotlib()
    from matplotlib.axes import Axes

    if ax is None:
        import matplotlib.pyplot as plt

        return plt.subplots(
            *shape, figsize=size, layout="constrained", squeeze=False, sharex=sharex, width_ratios=widths
        )
    n = shape[0] * shape[1]
    if isinstance(ax, Axes):
        if n == 1:
            return figure_of(ax), np.array([[ax]])
        return figure_of(ax), _cut(ax, shape, sharex, widths)
    given = np.asarray(ax, dtype=object).ravel()
    wrong = next((item for item in given if not isinstance(item, Axes)), None)
    if wrong is not None:
        raise TypeError(
            f"ax must be matplotlib axes or a sequence of them, got {type(wrong).__name__}: use plt.subplots()"
        )
    if len(given) != n:
        raise ValueError(f"{n} axes are needed ({shape[0]} rows of {shape[1]}), got {len(given)}: give so many, or one")
    return figure_of(given[0]), given.reshape(shape)


def figure_of(ax: Any) -> Figure:
    """The figure that holds the axes, or the part of one."""
    return ax.figure


def _cut(ax: Axes, shape: tuple[int, int], sharex: Any, widths: Sequence[float] | None) -> Any:
    """Axes in the place of one, which is left empty."""
    place = ax.get_subplotspec()
    if place is None:
        raise ValueError(
            f"{shape[0] * shape[1]} axes are needed, and the one given has no place in a grid that could be cut up: "
            "give a list of axes, or one made by subplots"
        )
    ax.set_axis_off()
    return place.subgridspec(*shape, width_ratios=widths).subplots(squeeze=False, sharex=sharex)
