"""Methods under growing conditions, with the numbers that somebody else printed beside them."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ._axes import get_axes_grid, require_matplotlib
from ._style import COLORS, MARKERS, NEUTRAL_COLOR, line_style, luminance
from ._text import escape_name, wrap_text

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.legend import Legend

Runs = Mapping[str, Mapping[Any, Sequence[float]]]  # values of the runs by method and condition
Printed = Mapping[str, Mapping[Any, float]]

WIDTH, HEIGHT = 9.6, 2.7  # inches of a whole figure, and of a picture in it
MOST_ERROR_BARS = 15  # points of a line, beyond which a band takes their place
HATCHES = ("", "//", "..", "xx", "\\\\")  # of bars, where the colours come again
HOLLOW: dict[str, Any] = {"ms": 8, "mew": 1.1, "zorder": 5}  # around a point of ours
DIAMOND: dict[str, Any] = {
    "marker": "D",
    "ms": 4.5,
    "mfc": "white",
    "mec": "black",
    "mew": 1.1,
    "zorder": 5,
}  # on a bar
GROUP = 0.84  # of the room between two groups of bars that the bars take


class CurvesDisplay:
    """Lines over conditions that are numbers, or groups of bars over those that are names; one picture a panel.

    Heights are means over runs, with their error. Numbers that were published are hollow markers.

    Parameters
    ----------
    panels : mapping of str to mapping of str to mapping of condition to sequence of float
        By panel, method and condition: one value a run.
    published : mapping of str to mapping of str to mapping of condition to float, optional
        What was printed, by the same keys, where it was.
    x, y : str
        What the conditions and the values are.
    bars : bool
        Draw bars even where the conditions are numbers.
    deviations : bool
        Let the error be the standard deviation instead of the standard error of the mean. A single run has none.

    Attributes
    ----------
    ax_ : ndarray of Axes, shape (n_panels,)
        One a panel.
    figure_ : Figure
        Where it is drawn.
    drawn_ : dict of (str, str) to Line2D or BarContainer
        The line or the bars of a panel's method.
    published_ : dict of (str, str) to Line2D
        The hollow markers.
    legend_ : Legend or None
        Which method is which.

    Examples
    --------
    >>> from consilience.plot import CurvesDisplay
    >>> entropy = {"co-EM": {2: [0.5, 0.7], 4: [0.3, 0.3]}, "EM": {2: [0.9, 0.9], 4: [0.8, 0.6]}}
    >>> display = CurvesDisplay.from_runs(entropy, published={"co-EM": {4: 0.25}}, x="clusters", y="entropy")
    >>> display.drawn_["", "co-EM"].get_ydata().tolist()
    [0.6, 0.3]
    """

    ax_: np.ndarray
    figure_: Figure
    drawn_: dict[tuple[str, str], Any]
    published_: dict[tuple[str, str], Any]
    legend_: Legend | None

    def __init__(
        self,
        panels: Mapping[str, Runs],
        *,
        published: Mapping[str, Printed] | None = None,
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

        Parameters
        ----------
        ax : Axes or array of Axes, optional
            Where to: one a panel, or one that is cut up; by default a figure of its own.

        Returns
        -------
        self
            The display.
        """
        self._refuse_nothing()
        shape = self._shape() if ax is None or not np.ndim(ax) else (1, len(self.panels))
        self.figure_, grid = get_axes_grid(ax, shape, self._size())
        self._fill(grid)
        self._legend(whole=ax is None)
        return self

    def save(self, stem: str | os.PathLike[str]) -> list[Path]:
        """Draw apart from pyplot, and write ``<stem>.svg`` and ``<stem>.png``: the same bytes each time.

        Parameters
        ----------
        stem : path
            Name of the files, without their ending.

        Returns
        -------
        list of Path
            The files.
        """
        self._refuse_nothing()
        require_matplotlib()
        import matplotlib as mpl
        from matplotlib.figure import Figure

        self.figure_ = Figure(figsize=self._size(), layout="constrained")
        self._fill(self.figure_.subplots(*self._shape(), squeeze=False))
        self._legend(whole=True)
        # names in an SVG are drawn by lot and it bears the date, unless one says otherwise
        looks: dict[Any, Any] = {"svg.hashsalt": "consilience", "svg.fonttype": "none"}
        files = [Path(f"{os.fspath(stem)}.{ending}") for ending in ("svg", "png")]
        with mpl.rc_context(looks):
            self.figure_.savefig(files[0], metadata={"Date": None, "Creator": None})
        self.figure_.savefig(files[1], dpi=150, metadata={"Software": None})
        return files

    def _refuse_nothing(self) -> None:
        if not self.panels or not all(map(_conditions, self.panels.values())):
            raise ValueError("there is nothing to draw: give one panel or more, each with a method and its values")
        for panel, runs in self.panels.items():
            for method, values in runs.items():
                if any(np.size(numbers) == 0 for numbers in values.values()):
                    raise ValueError(f"{method!r} in panel {panel!r} has an empty list of values: leave it out")
                if any(np.isinf(np.asarray(numbers, dtype=np.float64)).any() for numbers in values.values()):
                    raise ValueError(f"{method!r} in panel {panel!r} has an infinite value: use NaN where a run failed")

    @property
    def _methods(self) -> list[str]:
        """All methods, in the order in which the panels have them: each looks the same in every panel."""
        return list(dict.fromkeys(method for panel in self.panels.values() for method in panel))

    def _as_bars(self, panel: Runs) -> bool:
        """Whether bars are wanted, or there are not two numbers to draw a line between."""
        return self.bars or sum(_number(one) is not None for one in _conditions(panel)) < 2

    def _most_bars(self) -> int:
        return max(len(own) * len(_conditions(own)) if self._as_bars(own) else 0 for own in self.panels.values())

    def _shape(self) -> tuple[int, int]:
        """Rows and columns of pictures: few across where there are many bars in one."""
        n, most = len(self.panels), self._most_bars()
        across = min(n, 3 if most <= 8 else 2 if most <= 16 else 1)
        across = 2 if (n, across) == (4, 3) else across
        return -(-n // across), across

    def _width(self) -> float:
        return WIDTH if self._shape()[1] > 1 or self._most_bars() > 16 else 0.67 * WIDTH

    def _size(self) -> tuple[float, float]:
        legend = 0.35 + 0.25 * -(-len(self._methods) // self._legend_columns())
        return self._width(), self._shape()[0] * HEIGHT + legend

    def _fill(self, grid: np.ndarray) -> None:
        """Draw each panel into its axes, and leave those over empty."""
        axes, across = grid.ravel(), grid.shape[1]
        self.ax_, self.drawn_, self.published_ = axes[: len(self.panels)], {}, {}
        for unused in axes[len(self.panels) :]:
            unused.set_axis_off()
        for i, (own, (name, panel)) in enumerate(zip(self.ax_, self.panels.items(), strict=True)):
            draw = self._draw_bars if self._as_bars(panel) else self._draw_lines
            draw(own, name, panel, self.published.get(name, {}))
            own.set_title(_title(name, across), fontsize="small" if across > 2 else "medium", loc="left")
            own.set_axisbelow(True)
            own.spines[["top", "right"]].set_visible(False)
            if self.y and i % across == 0:
                own.set_ylabel(escape_name(self.y, 40))
            if self.x and i + across >= len(self.panels):
                own.set_xlabel(escape_name(self.x, 60))

    def _draw_lines(self, axes: Axes, name: str, panel: Runs, printed: Printed) -> None:
        """A line a method through its numbers; a condition without one, such as "auto", stands apart on the right."""
        places, others = _places(_conditions(panel))
        for method, values in panel.items():
            i = self._methods.index(method)
            colour, dashes = line_style(i)
            look: dict[str, Any] = {"color": colour, "marker": MARKERS[i % len(MARKERS)]}
            for part, style in ((set(values) - set(others), dashes), (set(values) & set(others), "none")):
                x, means, errors = self._points(values, {one: places[one] for one in part})
                (line,) = axes.plot(x, means, linestyle=style, ms=4.5, **look)
                self.drawn_.setdefault((name, method), line)
                _draw_errors(axes, x, means, errors, colour)
            if points := _known(printed, method, places):
                (self.published_[name, method],) = axes.plot(*points, linestyle="none", mfc="none", **HOLLOW, **look)
        axes.margins(0.05, 0.1)
        axes.grid(alpha=0.3)
        if others:
            _label_others(axes, places, others)
        elif all(place == int(place) for place in places.values()):
            axes.locator_params(axis="x", integer=True)

    def _draw_bars(self, axes: Axes, name: str, panel: Runs, printed: Printed) -> None:
        """A group of bars a condition, one a method."""
        conditions, width = _conditions(panel), GROUP / len(panel)
        for place, (method, values) in enumerate(panel.items()):
            places = {one: j + (place + 0.5) * width - GROUP / 2 for j, one in enumerate(conditions)}
            x, means, errors = self._points(values, {one: places[one] for one in values})
            look = _bar_look(self._methods.index(method))
            self.drawn_[name, method] = axes.bar(x, means, 0.94 * width, **look)
            _draw_errors(axes, x, means, errors, NEUTRAL_COLOR)  # a grey that is seen on black bars and on white
            if points := _known(printed, method, places):
                (self.published_[name, method],) = axes.plot(*points, linestyle="none", **DIAMOND)
        letters = max(5, int(WIDTH / self._shape()[1] * 11 / len(conditions)))
        crowded = any(len(str(one)) > letters for one in conditions)
        turned: dict[str, Any] = {"rotation": 25, "ha": "right"} if crowded else {}
        axes.set_xticks(range(len(conditions)), [escape_name(one) for one in conditions], fontsize="small", **turned)
        axes.axhline(0, color="black", linewidth=0.8)
        axes.grid(alpha=0.3, axis="y")

    def _points(self, values: Mapping[Any, Sequence[float]], places: Mapping[Any, float]) -> tuple[Any, Any, Any]:
        """Places from left to right, the means there and their errors; conditions without a number are left out."""
        found = sorted((x, *_summary(values[one], self.deviations)) for one, x in places.items())
        kept = np.array([own for own in found if np.isfinite(own[1])]).reshape(-1, 3)
        return kept[:, 0], kept[:, 1], kept[:, 2]

    def _legend(self, whole: bool) -> None:
        """Which method is which: below a figure of its own, else in the last picture."""
        first = {method: drawn for (_, method), drawn in reversed(self.drawn_.items())}
        names = {method: first[method] for method in self._methods}
        entries = [(drawn, escape_name(method, 44)) for method, drawn in names.items()]
        if self.published_:
            entries.append((self._hollow(), "published"))
        self.legend_ = None
        if len(entries) < 2:
            return
        handles, labels = zip(*entries, strict=True)
        look: dict[str, Any] = {"fontsize": "small", "title": self._error_name(), "title_fontsize": "small"}
        if whole:
            look |= {"loc": "outside lower center", "ncols": self._legend_columns(), "frameon": False}
            self.legend_ = self.figure_.legend(handles, labels, **look)
        else:
            self.legend_ = self.ax_[-1].legend(handles, labels, **look)

    def _hollow(self) -> Any:
        """The marker of published numbers, of no method."""
        from matplotlib.lines import Line2D

        look = (
            DIAMOND
            if all(map(self._as_bars, self.panels.values()))
            else {"marker": "o", "mec": NEUTRAL_COLOR, **HOLLOW}
        )
        return Line2D([], [], linestyle="none", **{**look, "mfc": "white"})

    def _error_name(self) -> str | None:
        """What the error bars are, where there are any."""
        runs = (own for panel in self.panels.values() for values in panel.values() for own in values.values())
        if not any(np.size(own) > 1 for own in runs):
            return None
        return f"with one standard {'deviation' if self.deviations else 'error'}"

    def _legend_columns(self) -> int:
        """As many as fit by the longest name, and as few as fill the same lines."""
        longest, n = min(44, max(map(len, self._methods))), len(self._methods) + bool(self.published)
        fit = max(1, min(n, int(self._width() / (0.066 * longest + 0.6))))
        return -(-n // -(-n // fit))

    @classmethod
    def from_runs(
        cls,
        runs: Runs,
        *,
        published: Printed | None = None,
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
            By method and condition: one value a run.
        published : mapping of str to mapping of condition to float, optional
            What was printed, where it was.
        x, y : str
            What the conditions and the values are.
        bars : bool
            Draw bars even where the conditions are numbers.
        deviations : bool
            Let the error be the standard deviation instead of the standard error of the mean.
        ax : Axes, optional
            Where to draw.

        Returns
        -------
        CurvesDisplay
            Drawn.
        """
        own = {"": published} if published else None
        return cls({"": runs}, published=own, x=x, y=y, bars=bars, deviations=deviations).plot(ax)


def _conditions(panel: Runs) -> list[Any]:
    return list(dict.fromkeys(condition for values in panel.values() for condition in values))


def _number(condition: Any) -> float | None:
    """The number that a condition is, or None of a name."""
    try:
        number = float(condition)
    except (TypeError, ValueError):
        return None
    return number if np.isfinite(number) else None


def _places(conditions: Iterable[Any]) -> tuple[dict[Any, float], list[Any]]:
    """Where on the scale each condition is, and those that are no numbers: to the right of all that are."""
    numbers = {one: number for one in conditions if (number := _number(one)) is not None}
    others = [one for one in conditions if one not in numbers]
    low, high = min(numbers.values()), max(numbers.values())
    step = 0.12 * ((high - low) or 1.0)
    return {**numbers, **{one: high + step * (i + 1) for i, one in enumerate(others)}}, others


def _summary(values: Sequence[float], deviations: bool) -> tuple[float, float]:
    """The mean and its error, nan for a single run."""
    own = np.atleast_1d(np.asarray(values, dtype=np.float64))
    error = own.std(ddof=1) / (1 if deviations else np.sqrt(len(own))) if len(own) > 1 else np.nan
    return float(own.mean()), float(error)


def _known(printed: Printed, method: str, places: Mapping[Any, float]) -> tuple[list[float], list[float]] | None:
    """Places and heights of what was printed for a method, where the panel has a place for it."""
    found = [(places[one], y) for one, y in printed.get(method, {}).items() if one in places]
    return ([x for x, _ in found], [y for _, y in found]) if found else None


def _draw_errors(axes: Axes, x: np.ndarray, means: np.ndarray, errors: np.ndarray, colour: str) -> None:
    """Error bars, or a band where they would be many; nothing where no error is known."""
    known = np.isfinite(errors)
    x, means, errors = x[known], means[known], errors[known]
    if len(x) > MOST_ERROR_BARS:
        axes.fill_between(x, means - errors, means + errors, color=colour, alpha=0.18, linewidth=0)
    elif len(x):
        axes.errorbar(x, means, errors, fmt="none", ecolor=colour, elinewidth=1.1, capsize=2)


def _label_others(axes: Axes, places: Mapping[Any, float], others: Sequence[Any]) -> None:
    """Name the places beyond the numbers, on a scale that keeps its own ticks."""
    numbers = [place for one, place in places.items() if one not in others]
    ticks = [tick for tick in axes.get_xticks() if min(numbers) <= tick <= max(numbers)]
    names = [*(f"{tick:g}" for tick in ticks), *(escape_name(one, 12) for one in others)]
    axes.set_xticks([*ticks, *(places[one] for one in others)], names)


def _title(name: str, across: int) -> str:
    """A panel's name in two lines at most."""
    letters = min(80, int((12 if across > 2 else 10) * WIDTH / across))
    return wrap_text(escape_name(name, 2 * letters - 10), letters) if name else ""


def _bar_look(i: int) -> dict[str, Any]:
    """Colour of the i-th bar; a hatch from where the colours come again, in a shade that stands out."""
    from matplotlib.colors import to_rgb

    colour = COLORS[i % len(COLORS)]
    edge = "white" if luminance(to_rgb(colour)) < 60 else "#444444"
    return {"color": colour, "edgecolor": edge, "linewidth": 0.5, "hatch": HATCHES[i // len(COLORS) % len(HATCHES)]}
