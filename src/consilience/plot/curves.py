"""Results of methods under several conditions, beside published numbers."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from ._docs import share_docs
from ._figure import (
    COLORS,
    MARKERS,
    NEUTRAL_COLOR,
    Axes,
    escape_name,
    get_axes_grid,
    line_style,
    luminance,
    require_matplotlib,
    wrap_text,
)
from .paper import save_figure

Runs = Mapping[str, Mapping[Any, Sequence[float]]]  # values of the runs by method and condition
Published = Mapping[str, Mapping[Any, float]]

FIGURE_WIDTH, PANEL_HEIGHT = 9.6, 2.7  # inches
MAX_ERROR_BARS = 15  # per line; with more points a band is drawn
HATCHES = ("", "//", "..", "xx", "\\\\")  # of bars, when the colors repeat
HOLLOW: dict[str, Any] = {"ms": 8, "mew": 1.1, "zorder": 5}  # marker around the point of a line
DIAMOND: dict[str, Any] = {**HOLLOW, "marker": "D", "ms": 4.5, "mfc": "white", "mec": "black"}  # marker on a bar
GROUP_WIDTH = 0.84  # share of the distance between two groups that the bars of a group take


@share_docs
class CurvesDisplay:
    """Lines over conditions that are numbers, or groups of bars over conditions that are names, in panels.

    Heights are means over runs, with their errors. Published numbers are hollow markers.

    Parameters
    ----------
    panels : mapping of str to mapping of str to mapping of condition to sequence of float
        By panel, method and condition: one value per run.
    published : mapping of str to mapping of str to mapping of condition to float, optional
        Published numbers, by the same keys.
    %(xy)s
    %(bars)s
    %(deviations)s

    Attributes
    ----------
    ax_ : ndarray of Axes, shape (n_panels,)
        One per panel.
    %(figure_)s
    drawn_ : dict of (str, str) to Line2D or BarContainer
        The line or the bars of each panel and method.
    published_ : dict of (str, str) to Line2D
        The hollow markers.
    legend_ : Legend or None
        The legend of the methods.

    Examples
    --------
    >>> from consilience.plot import CurvesDisplay
    >>> entropy = {"co-EM": {2: [0.5, 0.7], 4: [0.3, 0.3]}, "EM": {2: [0.9, 0.9], 4: [0.8, 0.6]}}
    >>> display = CurvesDisplay.from_runs(entropy, published={"co-EM": {4: 0.25}}, x="clusters", y="entropy")
    >>> display.drawn_["", "co-EM"].get_ydata().tolist()
    [0.6, 0.3]
    """

    def __init__(
        self,
        panels: Mapping[str, Runs],
        *,
        published: Mapping[str, Published] | None = None,
        x: str = "",
        y: str = "",
        bars: bool = False,
        deviations: bool = False,
    ) -> None:
        self.panels = panels
        self.published = published or {}
        self.x = x
        self.y = y
        self.bars = bars
        self.deviations = deviations

    def plot(self, ax: Any = None) -> CurvesDisplay:
        """Draw the panels.

        %(section_axes_returns_self)s
        """
        self._check_values()
        shape = self._grid_shape() if ax is None or not np.ndim(ax) else (1, len(self.panels))
        self.figure_, grid = get_axes_grid(ax, shape, self._size())
        self._draw_panels(grid)
        self._draw_legend(is_new_figure=ax is None)
        return self

    def save(self, stem: str | os.PathLike[str]) -> list[Path]:
        """Draw without pyplot, and write ``<stem>.svg`` and ``<stem>.png`` with the same bytes each time.

        Parameters
        ----------
        stem : path
            Name of the files, without their suffix.

        Returns
        -------
        list of Path
            The files.
        """
        self._check_values()
        require_matplotlib()
        from matplotlib.figure import Figure

        self.figure_ = Figure(figsize=self._size(), layout="constrained")
        self._draw_panels(self.figure_.subplots(*self._grid_shape(), squeeze=False))
        self._draw_legend(is_new_figure=True)
        files = [Path(f"{os.fspath(stem)}.{ending}") for ending in ("svg", "png")]
        for file in files:
            save_figure(self.figure_, file)
        return files

    def _check_values(self) -> None:
        """Refuse empty panels, and values that cannot be drawn."""
        if not self.panels or not all(map(_list_conditions, self.panels.values())):
            raise ValueError("there is nothing to draw: give at least one panel, each with a method and its values")
        for panel, runs in self.panels.items():
            for method, values in runs.items():
                if any(np.size(numbers) == 0 for numbers in values.values()):
                    raise ValueError(f"{method!r} in panel {panel!r} has an empty list of values: leave it out")
                if any(np.isinf(np.asarray(numbers, dtype=np.float64)).any() for numbers in values.values()):
                    raise ValueError(f"{method!r} in panel {panel!r} has an infinite value: use NaN where a run failed")

    @property
    def _methods(self) -> list[str]:
        """All methods in the order of the panels, so that each has the same style in every panel."""
        return list(dict.fromkeys(method for panel in self.panels.values() for method in panel))

    def _uses_bars(self, panel: Runs) -> bool:
        """Whether bars are requested, or there are fewer than two numbers to draw a line through."""
        return self.bars or sum(_parse_condition(condition) is not None for condition in _list_conditions(panel)) < 2

    def _max_bars(self) -> int:
        panels = self.panels.values()
        return max(len(panel) * len(_list_conditions(panel)) if self._uses_bars(panel) else 0 for panel in panels)

    def _grid_shape(self) -> tuple[int, int]:
        """Numbers of rows and columns of panels: fewer columns if a panel has many bars."""
        n, n_bars = len(self.panels), self._max_bars()
        n_columns = min(n, 3 if n_bars <= 8 else 2 if n_bars <= 16 else 1)
        n_columns = 2 if (n, n_columns) == (4, 3) else n_columns
        return -(-n // n_columns), n_columns

    def _width(self) -> float:
        return FIGURE_WIDTH if self._grid_shape()[1] > 1 or self._max_bars() > 16 else 0.67 * FIGURE_WIDTH

    def _size(self) -> tuple[float, float]:
        legend = 0.35 + 0.25 * -(-len(self._methods) // self._legend_columns())
        return self._width(), self._grid_shape()[0] * PANEL_HEIGHT + legend

    def _draw_panels(self, grid: np.ndarray) -> None:
        """Draw each panel into its axes, and leave the remaining axes empty."""
        axes, n_columns = grid.ravel(), grid.shape[1]
        self.ax_ = axes[: len(self.panels)]
        self.drawn_: dict[tuple[str, str], Any] = {}
        self.published_: dict[tuple[str, str], Any] = {}
        for unused in axes[len(self.panels) :]:
            unused.set_axis_off()
        for i, (ax, (name, panel)) in enumerate(zip(self.ax_, self.panels.items(), strict=True)):
            draw = self._draw_bars if self._uses_bars(panel) else self._draw_lines
            draw(ax, name, panel, self.published.get(name, {}))
            letters = min(80, int((12 if n_columns > 2 else 10) * FIGURE_WIDTH / n_columns))
            title = wrap_text(escape_name(name, 2 * letters - 10), letters) if name else ""
            ax.set_title(title, fontsize="small" if n_columns > 2 else "medium", loc="left")
            ax.set_axisbelow(True)
            ax.spines[["top", "right"]].set_visible(False)
            if self.y and i % n_columns == 0:
                ax.set_ylabel(escape_name(self.y, 40))
            if self.x and i + n_columns >= len(self.panels):
                ax.set_xlabel(escape_name(self.x, 60))

    def _draw_lines(self, axes: Axes, name: str, panel: Runs, published: Published) -> None:
        """Draw one line per method; conditions that are not numbers, such as "auto", are points on the right."""
        positions, others = _place_conditions(_list_conditions(panel))
        for method, values in panel.items():
            i = self._methods.index(method)
            color, dashes = line_style(i)
            style: dict[str, Any] = {"color": color, "marker": MARKERS[i % len(MARKERS)]}
            for part, linestyle in ((set(values) - set(others), dashes), (set(values) & set(others), "none")):
                x, means, errors = self._compute_points(values, {condition: positions[condition] for condition in part})
                (line,) = axes.plot(x, means, linestyle=linestyle, ms=4.5, **style)
                self.drawn_.setdefault((name, method), line)
                _draw_errors(axes, x, means, errors, color)
            if points := _find_published(published, method, positions):
                (self.published_[name, method],) = axes.plot(*points, linestyle="none", mfc="none", **HOLLOW, **style)
        axes.margins(0.05, 0.1)
        axes.grid(alpha=0.3)
        if others:
            numbers = [position for condition, position in positions.items() if condition not in others]
            ticks = [tick for tick in axes.get_xticks() if min(numbers) <= tick <= max(numbers)]
            names = [*(f"{tick:g}" for tick in ticks), *(escape_name(condition, 12) for condition in others)]
            axes.set_xticks([*ticks, *(positions[condition] for condition in others)], names)
        elif all(position == int(position) for position in positions.values()):
            axes.locator_params(axis="x", integer=True)

    def _draw_bars(self, axes: Axes, name: str, panel: Runs, published: Published) -> None:
        """Draw one group of bars per condition, with one bar per method."""
        conditions, width = _list_conditions(panel), GROUP_WIDTH / len(panel)
        for i, (method, values) in enumerate(panel.items()):
            offset = (i + 0.5) * width - GROUP_WIDTH / 2
            positions = {condition: j + offset for j, condition in enumerate(conditions)}
            x, means, errors = self._compute_points(values, {condition: positions[condition] for condition in values})
            style = _choose_bar_style(self._methods.index(method))
            self.drawn_[name, method] = axes.bar(x, means, 0.94 * width, **style)
            _draw_errors(axes, x, means, errors, NEUTRAL_COLOR)  # visible on black bars and on white
            if points := _find_published(published, method, positions):
                (self.published_[name, method],) = axes.plot(*points, linestyle="none", **DIAMOND)
        max_letters = max(5, int(FIGURE_WIDTH / self._grid_shape()[1] * 11 / len(conditions)))
        is_crowded = any(len(str(condition)) > max_letters for condition in conditions)
        rotation: dict[str, Any] = {"rotation": 25, "ha": "right"} if is_crowded else {}
        names = [escape_name(condition) for condition in conditions]
        axes.set_xticks(range(len(conditions)), names, fontsize="small", **rotation)
        axes.axhline(0, color="black", linewidth=0.8)
        axes.grid(alpha=0.3, axis="y")

    def _compute_points(
        self, values: Mapping[Any, Sequence[float]], positions: Mapping[Any, float]
    ) -> tuple[Any, Any, Any]:
        """Compute positions from left to right with the means and their errors; NaN means are left out."""
        points = sorted((x, *_summarize(values[condition], self.deviations)) for condition, x in positions.items())
        kept = np.array([point for point in points if np.isfinite(point[1])]).reshape(-1, 3)
        return kept[:, 0], kept[:, 1], kept[:, 2]

    def _draw_legend(self, *, is_new_figure: bool) -> None:
        """Draw the legend of methods below the panels of a new figure, otherwise in the last panel."""
        from matplotlib.lines import Line2D

        first = {method: drawn for (_, method), drawn in reversed(self.drawn_.items())}
        names = {method: first[method] for method in self._methods}
        entries = [(drawn, escape_name(method, 44)) for method, drawn in names.items()]
        if self.published_:
            only_bars = all(map(self._uses_bars, self.panels.values()))
            marker = DIAMOND if only_bars else {"marker": "o", "mec": NEUTRAL_COLOR, **HOLLOW}
            entries.append((Line2D([], [], linestyle="none", **{**marker, "mfc": "white"}), "published"))
        self.legend_ = None
        if len(entries) < 2:
            return
        handles, labels = zip(*entries, strict=True)
        runs = (run for panel in self.panels.values() for values in panel.values() for run in values.values())
        has_errors = any(np.size(run) > 1 for run in runs)
        title = f"with one standard {'deviation' if self.deviations else 'error'}" if has_errors else None
        style: dict[str, Any] = {"fontsize": "small", "title": title, "title_fontsize": "small"}
        if is_new_figure:
            style |= {"loc": "outside lower center", "ncols": self._legend_columns(), "frameon": False}
            self.legend_ = self.figure_.legend(handles, labels, **style)
        else:
            self.legend_ = self.ax_[-1].legend(handles, labels, **style)

    def _legend_columns(self) -> int:
        """Number of columns of the legend: those that fit, distributed evenly over the lines."""
        longest, n = min(44, max(map(len, self._methods))), len(self._methods) + bool(self.published)
        fit = max(1, min(n, int(self._width() / (0.066 * longest + 0.6))))
        return -(-n // -(-n // fit))

    @classmethod
    def from_runs(
        cls,
        runs: Runs,
        *,
        published: Published | None = None,
        x: str = "",
        y: str = "",
        bars: bool = False,
        deviations: bool = False,
        ax: Any = None,
    ) -> CurvesDisplay:
        """Draw one panel.

        Parameters
        ----------
        runs : mapping of str to mapping of condition to sequence of float
            By method and condition: one value per run.
        published : mapping of str to mapping of condition to float, optional
            Published numbers, by the same keys.
        %(xy)s
        %(bars)s
        %(deviations)s
        %(ax_returns_display)s
        """
        by_panel = {"": published} if published else None
        return cls({"": runs}, published=by_panel, x=x, y=y, bars=bars, deviations=deviations).plot(ax)


def _list_conditions(panel: Runs) -> list[Any]:
    return list(dict.fromkeys(condition for values in panel.values() for condition in values))


def _parse_condition(condition: Any) -> float | None:
    """Convert a condition to a number, or return None if it is a name."""
    try:
        number = float(condition)
    except (TypeError, ValueError):
        return None
    return number if np.isfinite(number) else None


def _place_conditions(conditions: Iterable[Any]) -> tuple[dict[Any, float], list[Any]]:
    """Return the position of each condition, and the names among them, which are placed right of all numbers."""
    numbers = {condition: x for condition in conditions if (x := _parse_condition(condition)) is not None}
    others = [condition for condition in conditions if condition not in numbers]
    low, high = min(numbers.values()), max(numbers.values())
    step = 0.12 * ((high - low) or 1.0)
    return {**numbers, **{condition: high + step * (i + 1) for i, condition in enumerate(others)}}, others


def _summarize(values: Sequence[float], deviations: bool) -> tuple[float, float]:
    """Return the mean and its error, NaN for a single run."""
    runs = np.atleast_1d(np.asarray(values, dtype=np.float64))
    error = runs.std(ddof=1) / (1 if deviations else np.sqrt(len(runs))) if len(runs) > 1 else np.nan
    return float(runs.mean()), float(error)


def _find_published(
    published: Published, method: str, positions: Mapping[Any, float]
) -> tuple[list[float], list[float]] | None:
    """Return positions and heights of the published numbers of a method, if the panel has their conditions."""
    points = [(positions[name], y) for name, y in published.get(method, {}).items() if name in positions]
    return ([x for x, _ in points], [y for _, y in points]) if points else None


def _draw_errors(axes: Axes, x: np.ndarray, means: np.ndarray, errors: np.ndarray, color: str) -> None:
    """Draw error bars, or a band if there are many points; points without an error are left out."""
    finite = np.isfinite(errors)
    x, means, errors = x[finite], means[finite], errors[finite]
    if len(x) > MAX_ERROR_BARS:
        axes.fill_between(x, means - errors, means + errors, color=color, alpha=0.18, linewidth=0)
    elif len(x):
        axes.errorbar(x, means, errors, fmt="none", ecolor=color, elinewidth=1.1, capsize=2)


def _choose_bar_style(i: int) -> dict[str, Any]:
    """Choose the color of the i-th bar, and a contrasting hatch when the colors repeat."""
    from matplotlib.colors import to_rgb

    color = COLORS[i % len(COLORS)]
    edge = "white" if luminance(to_rgb(color)) < 60 else "#444444"
    return {"color": color, "edgecolor": edge, "linewidth": 0.5, "hatch": HATCHES[i // len(COLORS) % len(HATCHES)]}
