"""Axes to draw into: those of the user, or new ones."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from matplotlib.axes import Axes as Axes
    from matplotlib.figure import Figure
else:
    Axes = Any  # for annotations: matplotlib is not imported before a figure is drawn


def require_matplotlib() -> None:
    """Raise an error that names the package to install if matplotlib is missing."""
    try:
        import matplotlib as mpl  # noqa: F401
    except ImportError as error:
        raise ImportError("consilience.plot needs matplotlib: pip install 'consilience[plot]'") from error


def get_axes(ax: Any, size: tuple[float, float]) -> tuple[Figure, Axes]:
    """Return the axes of the user, or those of a new figure."""
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
    """Return an array of axes: those of the user, parts of the one axes of the user, or those of a new figure."""
    require_matplotlib()
    from matplotlib.axes import Axes

    if ax is None:
        import matplotlib.pyplot as plt

        return plt.subplots(
            *shape, figsize=size, layout="constrained", squeeze=False, sharex=sharex, width_ratios=widths
        )
    n = shape[0] * shape[1]
    if isinstance(ax, Axes):
        figure: Any = ax.figure
        return figure, np.array([[ax]]) if n == 1 else _divide(ax, shape, sharex, widths)
    axes = np.asarray(ax, dtype=object).ravel()
    wrong = next((item for item in axes if not isinstance(item, Axes)), None)
    if wrong is not None:
        raise TypeError(
            f"ax must be matplotlib axes or a sequence of them, got {type(wrong).__name__}: use plt.subplots()"
        )
    if len(axes) != n:
        raise ValueError(f"{n} axes are needed ({shape[0]} rows of {shape[1]}), got {len(axes)}: give {n}, or one")
    return axes[0].figure, axes.reshape(shape)


def _divide(ax: Axes, shape: tuple[int, int], sharex: Any, widths: Sequence[float] | None) -> Any:
    """Put several axes in the place of one, which is left empty."""
    spec = ax.get_subplotspec()
    if spec is None:
        raise ValueError(
            f"{shape[0] * shape[1]} axes are needed, but the given one is not part of a grid that could be divided: "
            "give a list of axes, or one made by subplots"
        )
    ax.set_axis_off()
    return spec.subgridspec(*shape, width_ratios=widths).subplots(squeeze=False, sharex=sharex)
