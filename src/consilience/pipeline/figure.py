"""A figure of a run for a paper, and its caption."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any

import numpy as np

from .._version import __version__
from ..data import Table
from ..explain import OriginalColumn, compare_clusters, find_differences
from ..explain.comparisons import format_p
from ..plot import (
    DescribedDisplay,
    GroupProfileDisplay,
    HierarchyDisplay,
    JointMapDisplay,
    SurvivalDisplay,
    VerdictDisplay,
)
from ..plot.paper import compose_figure
from .log import count_noun

if TYPE_CHECKING:
    from .result import Result

FIGURE_KINDS = ("all", "map", "groups", "verdict", "survival", "hierarchy", "described")
DISPLAYS: dict[str, Any] = {  # of `Result.plot`
    "map": JointMapDisplay,
    "group": GroupProfileDisplay,
    "verdict": VerdictDisplay,
    "survival": SurvivalDisplay,
    "hierarchy": HierarchyDisplay,
    "described": DescribedDisplay,
}
MIN_WIDTH, MAX_WIDTH = 60.0, 400.0  # mm
NARROW = 130.0  # mm: panels of narrower figures are below each other
LINE = 4.1  # mm per line of text
N_PROFILES = 6  # groups whose profiles are drawn by default
N_MARKS = 6  # columns per profile
N_BARS = 15  # groups of the verdict beside a map, and of described columns
N_CURVES = 6  # groups of the survival beside a map
N_DESCRIBED = 3  # columns beside a map
BOXES = (
    "boxes reach from the first to the third quartile, with a line at the median and whiskers to the 5th and 95th "
    "percentile"
)


@dataclass(frozen=True)
class Panel:
    """A panel of a figure."""

    name: str
    draw: Callable[[Any], Any]  # takes axes, and returns the display
    height: float  # mm
    describe: Callable[[Any], str]  # takes the display, and returns its part of the caption
    is_wide: bool = False  # whether it is below the others


def check_figure_options(
    kind: str, groups: Sequence[int] | None, width: float, facts: Mapping[str, Any], assessment: Any
) -> None:
    """Refuse a figure that cannot be drawn, as far as the summary of the run tells, before the data is read."""
    if kind not in FIGURE_KINDS:
        raise ValueError(f"kind={kind!r}: choose from {', '.join(map(repr, FIGURE_KINDS))}")
    if not MIN_WIDTH <= width <= MAX_WIDTH:
        raise ValueError(f"a width of {width:g} mm is not between {MIN_WIDTH:g} and {MAX_WIDTH:g} mm")
    n_clusters = int(facts["clusters"])
    if groups is not None and not len(groups):
        raise ValueError("groups is empty: name at least one group by its number, or leave the option out")
    if wrong := [group for group in groups or () if not 0 <= group < n_clusters]:
        raise ValueError(f"there is no group {wrong[0]}: their numbers are 0 to {n_clusters - 1}")
    if kind == "verdict" and assessment is None:
        raise ValueError("the run was not assessed, so there is no verdict to draw: cluster again with the assessment")


def check_descriptions(kind: str, facts: Mapping[str, Any]) -> None:
    """Refuse a figure of described columns of a run on files that has none, before the data is read."""
    if kind in ("survival", "described") and not facts["inputs"].get("describe"):
        raise ValueError(
            f"the run has no described columns, which a figure of the kind {kind!r} shows: run `consilience cluster` "
            "again with --describe age,months,event"
        )


def draw_run(result: Result, kind: str = "all", *, groups: Sequence[int] | None = None, width: float = 180.0) -> Any:
    """Draw a figure of a run; its label is the caption."""
    check_figure_options(kind, groups, width, result.summary, result.assessment)
    panels = FigureBuilder(result, groups, width, is_alone=kind != "all").build(kind)
    letters = [chr(ord("a") + i) for i in range(len(panels))]
    mosaic, heights = arrange_panels(dict(zip(letters, panels, strict=True)), width)
    draw = {letter: panel.draw for letter, panel in zip(letters, panels, strict=True)}
    is_composed = kind == "all" and len(panels) > 1
    figure, displays = compose_figure(draw, mosaic, heights, width, is_composed=is_composed)
    figure.set_label(write_caption(result, dict(zip(letters, panels, strict=True)), displays))
    return figure


def arrange_panels(panels: Mapping[str, Panel], width: float) -> tuple[list[str], list[float]]:
    """Arrange panels in rows, and return a letter per column for each row, and the heights of the rows.

    The map is on the left of panels below each other, wide panels are below it, and profiles of groups are in two
    columns. In a narrow figure, all are below each other.
    """
    heights = {letter: panel.height for letter, panel in panels.items()}
    letters = list(panels)
    if width < NARROW or len(letters) == 1:
        return letters, list(heights.values())
    if all(panel.name == "group" for panel in panels.values()):
        rows = ["".join(letters[i : i + 2]).ljust(2, ".") for i in range(0, len(letters), 2)]
        return rows, [max(heights[letter] for letter in row if letter != ".") for row in rows]
    beside = [letter for letter, panel in panels.items() if panel.name != "map" and not panel.is_wide]
    below = [letter for letter, panel in panels.items() if panel.is_wide]
    if not beside:
        return letters, list(heights.values())
    total = sum(heights[letter] for letter in beside)
    stretch = max(1.0, heights[letters[0]] / total)  # to the height of the map
    rows = [f"{letters[0]}{letter}" for letter in beside] + [2 * letter for letter in below]
    return rows, [stretch * heights[letter] for letter in beside] + [heights[letter] for letter in below]


def write_caption(result: Result, panels: Mapping[str, Panel], displays: Mapping[str, Any]) -> str:
    """Write what the figure shows, of how many, by which tests, and how it was made."""
    run, noun = result._run, result.noun
    n_outliers = result.summary["outliers"]
    outliers = f", {n_outliers:,} in none" if n_outliers else ""
    views = [f"'{name}'" for name in result.summary["views"]]
    first = (
        f"{result.summary['entities']:,} {noun} in {count_noun(result.n_clusters, 'group')}{outliers}, by "
        f"{count_noun(len(views), 'view')}: {', '.join(views)}."
    )
    profiles = [panel for panel in panels.values() if panel.name == "group"]
    if profiles:
        parts = [PROFILE_CAPTION]
    elif len(panels) == 1:
        parts = [panel.describe(displays[letter]) for letter, panel in panels.items()]
    else:
        parts = [f"({letter}) {panel.describe(displays[letter])}" for letter, panel in panels.items()]
    last = f"Clusters by {run.data.declaration.title}, seed {run.options.seed}, consilience {__version__}."
    return " ".join([first, *parts, last])


PROFILE_CAPTION = (
    "What marks each group: the upper bar is the group, the lower gray bar all others. Bars of numbers and dates "
    "reach from the first to the third quartile, with a line at the median; those of categories and words are shares "
    "of 100%. Each row has its own scale. Only differences that are larger than two standard errors, corrected for "
    "the number of comparisons, are shown."
)


class FigureBuilder:
    """Builds the panels of a figure."""

    def __init__(self, result: Result, groups: Sequence[int] | None, width: float, *, is_alone: bool) -> None:
        self.result, self.groups, self.width, self.is_alone = result, groups, width, is_alone
        self.labels = np.asarray(result.model.labels_)

    def build(self, kind: str) -> list[Panel]:
        """Return the panels of a kind of figure; a figure of all kinds has those for which there is data."""
        builders: dict[str, Callable[[], Panel]] = {
            "map": self.build_map,
            "verdict": self.build_verdict,
            "survival": self.build_survival,
            "described": self.build_described,
            "hierarchy": self.build_hierarchy,
        }
        if kind == "groups":
            return self.build_profiles()
        if kind != "all":
            return [builders[kind]()]
        is_shown = {
            "map": True,
            "verdict": self.result.assessment is not None,
            "survival": bool(self.timed),
            "described": bool(self.described),
        }
        return [builders[name]() for name, shown in is_shown.items() if shown]

    @cached_property
    def timed(self) -> list[OriginalColumn]:
        """The times until an event."""
        return [column for column in self.result.columns if column.event is not None]

    @cached_property
    def described(self) -> list[OriginalColumn]:
        """The other columns that describe the groups and can be drawn."""
        return [c for c in self.result.columns if c.is_description and c.event is None and c.kind != "text"]

    @cached_property
    def tests(self) -> Table:
        """Tests of all columns that describe the groups."""
        return compare_clusters(self.labels, self.result.columns)

    def build_map(self) -> Panel:
        """Return the map of all views."""
        draw = partial(JointMapDisplay.from_result, self.result, clusters=self.groups)
        is_beside = not self.is_alone and self.width >= NARROW

        def describe(display: JointMapDisplay) -> str:
            n_named, n_groups = sum(label.get_visible() for label in display.labels_.values()), self.result.n_clusters
            named = "" if n_named == n_groups else f" ({n_named} of {n_groups} groups are named)"
            return (
                f"Map of all views: a point is one of the {self.result.noun}, and neighbors are similar in several "
                "views; distances between groups and their extents mean little. Names are terms that mark a group"
                f"{named}."
            )

        return Panel("map", lambda ax: draw(ax=ax), (0.47 if is_beside else 0.75) * self.width, describe)

    def build_verdict(self) -> Panel:
        """Return the stability of the groups and the support of the views."""
        assessment = self.result.assessment
        n_bars = min(self.result.n_clusters, 40 if self.is_alone else N_BARS)

        def draw(ax: Any) -> VerdictDisplay:
            display = VerdictDisplay(assessment, self.result.names).plot(ax, max_groups=n_bars)
            display.ax_[0].set_title("")  # the caption says it
            return display

        def describe(display: VerdictDisplay) -> str:
            shown = len(display.clusters_)
            largest = "" if shown == assessment.clusters.n_rows else f" of the {shown} largest groups"
            return (
                f"Stability{largest}: share of the {self.result.noun} of a group that a fit to the other half of the "
                f"data puts into it again ({assessment.n_assessed:,} {self.result.noun}, "
                f"{count_noun(assessment.n_splits, 'division')} into halves). Support: how well a view and the view "
                "that confirms it best predict each other's groups, from 0 (chance) to 1. "
                f"Verdict: {assessment.headline[0].lower()}{assessment.headline[1:]}"
            )

        return Panel("verdict", draw, (n_bars + assessment.views.n_rows + 2) * LINE + 20, describe)

    def build_survival(self) -> Panel:
        """Return the survival of the groups, by the first times until an event."""
        if not self.timed:
            raise ValueError(
                "no described columns are a time and an event, which a figure of the kind 'survival' needs: run "
                "`consilience cluster` again with --describe months,event"
            )
        column = self.timed[0]
        event = np.asarray(column.event)
        has_time = np.isfinite(column.values.astype(np.float64)) & (self.labels >= 0)
        sizes = np.bincount(self.labels[has_time], minlength=self.result.n_clusters)
        by_size = np.argsort(-sizes, kind="stable").tolist()
        groups = self.groups or [c for c in by_size if sizes[c]][: None if self.is_alone else N_CURVES]

        def draw(ax: Any) -> SurvivalDisplay:
            return SurvivalDisplay.from_labels(
                self.labels, column, self.result.names, tests=self.tests, clusters=groups, ax=ax
            )

        def describe(display: SurvivalDisplay) -> str:
            bands = " with 95% confidence bands" if display.bands_ else ""
            largest = "" if len(display.lines_) == len(display.curves) else f" of {len(display.lines_)} groups"
            n_events = int(event[has_time].sum())
            return (
                f"Kaplan-Meier estimates{largest} of the share without event by {display.time_name}{bands}; ticks are "
                f"censored, and the numbers at risk are below ({int(has_time.sum()):,} {self.result.noun}, "
                f"{n_events:,} events). {self.describe_tests([column])}"
            )

        return Panel("survival", draw, (len(groups) + 4) * LINE + 42, describe)

    def build_described(self) -> Panel:
        """Return the columns that describe the groups."""
        n_beside = N_DESCRIBED if self.width >= NARROW else N_DESCRIBED - 1
        columns = self.described if self.is_alone else self.described[:n_beside]
        if not columns:
            raise ValueError(
                "no described column has numbers, dates or categories, which a figure of the kind 'described' shows: "
                "run `consilience cluster` again with --describe and other columns"
            )

        by_size = np.argsort(-np.array(self.result.sizes), kind="stable")
        groups = self.groups or [c for c in by_size.tolist() if self.result.sizes[c]][:N_BARS]

        def draw(ax: Any) -> DescribedDisplay:
            return DescribedDisplay(columns, self.labels, self.result.names, self.tests).plot(ax, clusters=groups)

        def describe(display: DescribedDisplay) -> str:  # noqa: ARG001
            names = ", ".join(column.name for column in columns)
            n_groups = sum(size > 0 for size in self.result.sizes)
            largest = "" if len(groups) == n_groups else f" in {len(groups)} of {n_groups} groups"
            kinds = {column.kind for column in columns}
            boxes = f"; {BOXES}" if kinds - {"category"} else ""
            n_left = len(self.described) - len(columns)
            left_out = f" ({count_noun(n_left, 'further column')} not shown)" if n_left else ""
            return (
                f"Columns that were not used to find the groups{largest}: {names}{left_out}{boxes}. "
                f"{self.describe_tests(columns)}"
            )

        has_legend = any(column.kind == "category" for column in columns)
        height = max(len(groups), 2) * LINE + (28 if has_legend else 18)
        is_wide = len(columns) > 1 and not self.is_alone
        return Panel("described", draw, -(-len(columns) // 3) * height, describe, is_wide)

    def build_hierarchy(self) -> Panel:
        """Return the tree of the groups."""
        n_leaves = min(self.result.hierarchy.n_clusters, 40)

        def describe(display: HierarchyDisplay) -> str:  # noqa: ARG001
            return (
                "Tree that merges the groups, the most similar by all views first, with the number of "
                f"{self.result.noun}; positions are the order of merges."
            )

        return Panel(
            "hierarchy",
            lambda ax: HierarchyDisplay.from_result(self.result, ax=ax),
            (max(n_leaves, 3) + 3) * LINE,
            describe,
        )

    def build_profiles(self) -> list[Panel]:
        """Return what marks each group, by default the largest groups."""
        columns = self.result.columns
        if not columns:
            raise ValueError(
                "the data has no columns with names that could mark a group: draw another kind of figure, or give a "
                "table"
            )
        by_size = np.argsort(-np.array(self.result.sizes), kind="stable").tolist()
        groups = by_size[:N_PROFILES] if self.groups is None else list(self.groups)
        differences = find_differences(self.labels, columns, N_MARKS)

        def draw(cluster: int, ax: Any) -> GroupProfileDisplay:
            name = self.result.names[cluster]
            display = GroupProfileDisplay(differences[cluster], columns, self.labels, cluster, name).plot(ax)
            display.ax_.set_ylim(n_rows - 0.4, -0.6)  # bars of all groups are equally thick
            return display

        n_rows = max(2, *(len(differences[c]) for c in groups))
        return [Panel("group", partial(draw, c), n_rows * 2 * 3.4 + 10, str) for c in groups]

    def describe_tests(self, columns: Sequence[OriginalColumn]) -> str:
        """Write the tests of columns, with p-values that are adjusted for all tests of the run."""
        names = {column.name for column in columns}
        rows = [row for row in self.tests.rows() if row["column"] in names and not np.isnan(row["p"])]
        n_tests = int(np.isfinite(self.tests["p"]).sum())
        texts = [f"{row['column']}: {row['test']}, {format_p(row['p_adjusted'])}, n = {row['n']:,}" for row in rows]
        adjusted = f"; p-values are adjusted for {n_tests} tests by Holm's method" if n_tests > 1 and texts else ""
        return f"{'; '.join(texts)}{adjusted}." if texts else ""
