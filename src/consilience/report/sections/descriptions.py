"""Section: the groups compared in columns that were not used to find them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from ...explain import OriginalColumn, compare_clusters, compare_each_cluster, estimate_survival, find_differences
from ...explain.comparisons import SIGNIFICANT, describe_test, encode_categories, format_p, is_constant
from ...explain.differences import add_unit, format_dates, format_range, write_number
from ...files.formats.columns import is_number
from ..charts import build_row, build_table, draw_bar_with, shade_cell
from ..facts import ReportFacts
from ..markup import (
    Html,
    clean_text,
    format_count,
    format_decimal,
    format_integer,
    format_share,
    join_html,
    mark_user_text,
    say_items,
    tag,
    truncate,
)
from ..survival_chart import MAX_CURVES, GroupCurve, choose_ticks, draw_survival
from .section import Section

MAX_GROUPS = 30  # rows of a table, the largest groups
MAX_LEVELS = 6  # columns of a table of categories
MAX_TERMS = 4  # words per group
EDGE = 0.01  # share of the entities at either end of a column that its axis leaves out
EXPLANATION = (
    "These columns were not used to find the groups, so that their differences are evidence. A p-value is the "
    "probability of differences at least this large if the column had nothing to do with the groups. The more is "
    "compared, the more differences arise by chance: the adjusted p-values (Holm's method) take that into account, and "
    "those below .05 are called differences. Columns that were used to find the groups have no p-values: groups differ "
    "in them by construction."
)
EFFECTS = {  # measure of an effect -> its meaning, before and after the number
    "epsilon squared": ("The groups explain ", " of the variation of the ranks"),
    "Cramér's V": ("Strength of the relation (Cramér's V) ", ", where 0 is none and 1 means that the group decides"),
}


@dataclass(frozen=True, eq=False)
class GroupComparison:
    """A described column with its tests, and the groups that are shown."""

    facts: ReportFacts
    column: OriginalColumn
    test: Mapping[str, Any]  # a row of `compare_clusters`
    apart: dict[int, Mapping[str, Any]]  # a row of `compare_each_cluster` per cluster
    groups: Sequence[int]

    @property
    def has_tests(self) -> bool:
        """Whether single groups are compared with the others."""
        return any(row["p"] == row["p"] for row in self.apart.values())

    @cached_property
    def _has_value(self) -> np.ndarray:
        """Which entities have a value."""
        return np.array([cell is not None and cell == cell for cell in self.column.values.tolist()], dtype=bool)

    def find_rows(self, group: int | None) -> np.ndarray:
        """Return the entities of a group that have a value; of all groups if it is None."""
        labels = self.facts.labels
        return np.flatnonzero(self._has_value & (labels >= 0 if group is None else labels == group))

    def draw_p(self, group: int | None) -> Html | None:
        """Return the cell with the adjusted p-value of a group against all others; None if nothing is tested."""
        if not self.has_tests:
            return None
        row = None if group is None else self.apart.get(group)
        if row is None or row["p"] != row["p"]:
            return tag("td", "–" if group is not None else "")
        text = format_p(float(row["p_adjusted"]))
        return tag("td", tag("b", text) if row["p_adjusted"] < SIGNIFICANT else text, class_="figure")

    def build_head(self, *names: str) -> tuple[str, ...]:
        """Return the heads of a table with one row per group."""
        return ("Group", "Known", *names, *(("Against the others, adjusted",) if self.has_tests else ()))

    def build_table(self, caption: str, head: tuple[str, ...], rows: Sequence[Sequence[Html | None]]) -> Html:
        """Return a table with one row per group, and a note if some groups are left out."""
        cells = [[cell for cell in row if cell is not None] for row in rows]
        n_hidden = len(self.facts.sizes) - len(self.groups)
        hidden = f"{format_count(n_hidden, 'smaller group is', 'smaller groups are')} not shown."
        table = build_table(caption, head, cells, "described long" if len(cells) > 12 else "described")
        return join_html((table, tag("p", hidden, class_="note") if n_hidden else None))

    def draw_head(self, group: int | None, n: int) -> list[Html]:
        """Return the first cells of a row: the group, and how many of its entities have a value."""
        name = tag("span", "all") if group is None else self.facts.draw_group(group, 40)
        return [tag("th", name, scope="row"), tag("td", format_integer(n), class_="figure")]


def build_descriptions(facts: ReportFacts) -> Section | None:
    """Return the described columns, each with a table or curves of the groups and the result of its test."""
    described = [column for column in facts.columns if column.is_description]
    if not described:
        return None
    tests = compare_clusters(facts.labels, described).rows()
    apart: dict[str, dict[int, Mapping[str, Any]]] = {column.name: {} for column in described}
    for row in compare_each_cluster(facts.labels, described).rows():
        apart[row["column"]][int(row["cluster"])] = row
    groups = facts.largest_first[:MAX_GROUPS]
    blocks = [
        _build_block(GroupComparison(facts, column, test, apart[column.name], groups))
        for column, test in zip(described, tests, strict=True)
    ]
    overview = None
    if len(described) > 1:
        overview = build_table(
            "Described columns",
            ("Column", "Test", "p", "Adjusted p", "Known"),
            [
                _build_overview_row(i, column, test)
                for i, (column, test) in enumerate(zip(described, tests, strict=True))
            ],
            "described",
        )
    return Section.build(
        "descriptions",
        "Descriptions",
        "What describes the groups, and was not used to find them",
        tag("p", EXPLANATION),
        overview,
        (tag("section", block, id=f"described-{i}", class_="description") for i, block in enumerate(blocks)),
        is_result=True,
    )


def _build_overview_row(number: int, column: OriginalColumn, test: Mapping[str, Any]) -> list[Html]:
    link = tag("a", mark_user_text(column.name, 40), href=f"#described-{number}")
    if test["test"] == "none":
        return build_row(link, say_items(describe_test(column, test)), "–", "–", format_integer(test["n"]))
    adjusted = format_p(float(test["p_adjusted"]))
    adjusted = tag("b", adjusted) if test["p_adjusted"] < SIGNIFICANT else adjusted
    return build_row(link, test["test"], format_p(float(test["p"])), adjusted, format_integer(test["n"]))


def _build_block(comparison: GroupComparison) -> Html:
    """Return heading, sentence and table of a column."""
    column, test = comparison.column, comparison.test
    kind = "survival" if column.event is not None else column.kind
    body: Html | None = None
    if test["n"] and not is_constant(column):
        body = BODIES[kind](comparison)
    return join_html((tag("h3", mark_user_text(column.name)), tag("p", _write_sentence(comparison)), body))


def _write_sentence(comparison: GroupComparison) -> str:
    """Say whether groups differ, how large the difference is, and what the p-value means."""
    column, test = comparison.column, comparison.test
    n_missing = int((comparison.facts.labels >= 0).sum()) - int(test["n"])
    has = comparison.facts.count(n_missing, "has", "have")
    missing = f" {has} no value." if n_missing and test["n"] else ""
    if test["test"] == "none":
        sentence = say_items(describe_test(column, test))
        return f"{sentence[0].upper()}{sentence[1:]}.{missing}"
    adjusted = float(test["p_adjusted"])
    what = "survival" if column.event is not None else "this column"
    differs = adjusted < SIGNIFICANT
    verdict = f"The groups differ in {what}" if differs else f"There is no clear difference in {what}"
    chance = f"{test['test']} test, {format_p(float(test['p']))}, adjusted {format_p(adjusted)}"
    if differs:
        meaning = f"Differences this large would arise by chance in {_count_chances(adjusted)}."
    else:
        meaning = "Differences of this size also arise by chance, so they prove nothing."
    before, after = EFFECTS.get(test["measure"], ("", ""))
    effect = float(test["effect"])
    size = format_share(effect) if test["measure"] == "epsilon squared" else format_decimal(effect)
    strength = f" {before}{size}{after}." if before else ""
    return f"{verdict} ({chance}). {meaning}{strength}{missing}"


def _count_chances(p: float) -> str:
    """Write a probability as a frequency."""
    for n in (1000, 100):
        if p <= 1 / n:
            return f"fewer than 1 of {n:,} such data sets"
    return f"about {max(round(100 * p), 1)} of 100 such data sets"


def shorten(text: str, length: int = 60) -> str:
    """Return the beginning of a name from the data, without control characters."""
    return truncate(clean_text(text), length)


def _describe_numbers(comparison: GroupComparison) -> Html:
    """Return median and quartiles of each group, with a strip on a common axis."""
    column = comparison.column
    values = column.values.astype(np.float64)
    everything = values[comparison.find_rows(None)]
    low, high = np.quantile(everything, [EDGE, 1 - EDGE]).tolist()
    is_whole = bool(np.array_equal(everything, np.floor(everything)))
    rows: list[list[Html | None]] = []
    for group in (*comparison.groups, None):
        members = values[comparison.find_rows(group)]
        start = comparison.draw_head(group, len(members))
        if not len(members):
            rows.append([*start, tag("td"), tag("td", "–"), tag("td", "–"), comparison.draw_p(group)])
            continue
        first, median, last = np.quantile(members, [0.25, 0.5, 0.75]).tolist()
        if column.kind == "date":
            texts = format_dates(median, median), format_dates(first, last)
        else:
            texts = (
                _write_median(median, first, last, column.unit, is_whole),
                format_range(first, last, column.unit, is_whole),
            )
        strip = tag("td", draw_strip(*((end - low) / ((high - low) or 1.0) for end in (first, median, last))))
        rows.append([*start, strip, *(tag("td", text, class_="figure") for text in texts), comparison.draw_p(group)])
    ends = format_dates(low, high) if column.kind == "date" else format_range(low, high, column.unit, is_whole)
    head = comparison.build_head(f"Axis: {ends}", "Median", "Middle half")
    return comparison.build_table(f"{shorten(column.name)} by group", head, rows)


def _write_median(median: float, first: float, last: float, unit: str, is_whole: bool) -> str:
    """Write a median with as many digits as the quartiles."""
    width = last - first or abs(median) / 10 or 1.0
    step = 10.0 ** (np.floor(np.log10(width)) - 1)
    return add_unit(write_number(median, max(step, 1.0) if is_whole else step), unit)


def draw_strip(first: float, median: float, last: float) -> Html:
    """Draw the quartiles as a bar with a mark at the median, as shares of the axis."""
    start, middle, end = (100 * min(max(share, 0.0), 1.0) for share in (first, median, last))
    bar = tag("span", style=f"left:{start:.1f}%;width:{max(end - start, 0.5):.1f}%")
    return tag("span", bar, tag("i", style=f"left:{middle:.1f}%"), class_="strip", aria_hidden="true")


def _describe_categories(comparison: GroupComparison) -> Html:
    """Return the share of each category in each group; of two categories only one, as a bar."""
    column = comparison.column
    names, codes = encode_categories(column)
    codes = np.minimum(codes, MAX_LEVELS - 1) if len(names) > MAX_LEVELS else codes
    shown = [*names[: MAX_LEVELS - 1], f"{len(names) - MAX_LEVELS + 1} others"] if len(names) > MAX_LEVELS else names
    is_binary = len(names) == 2
    in_order = sorted(range(len(names)), key=lambda i: (float(names[i]) if is_number(names[i]) else np.inf, names[i]))
    chosen = [_choose_category(names)] if is_binary else in_order if shown is names else list(range(len(shown)))
    rows: list[list[Html | None]] = []
    for group in (*comparison.groups, None):
        members = codes[comparison.find_rows(group)]
        shares = np.bincount(members, minlength=len(shown)) / max(len(members), 1)
        if not len(members):
            cells = [tag("td", "–") for _ in chosen]
        elif is_binary:
            share = float(shares[chosen[0]])
            cells = [tag("td", draw_bar_with(share, format_share(share)))]
        else:
            cells = [shade_cell(format_share(float(shares[i])), float(shares[i])) for i in chosen]
        rows.append([*comparison.draw_head(group, len(members)), *cells, comparison.draw_p(group)])
    head = comparison.build_head(*(shorten(shown[i], 30) for i in chosen))
    return comparison.build_table(f"{shorten(column.name)}: share of each group", head, rows)


def _choose_category(names: Sequence[str]) -> int:
    """Return the one of two categories to show: 1, yes or true, or else the rarer one."""
    affirmed = [i for i, name in enumerate(names) if name.lower() in ("1", "yes", "true", "y", "t")]
    return affirmed[0] if affirmed else 1


def _describe_texts(comparison: GroupComparison) -> Html:
    """Return the words of each group that are more frequent than elsewhere."""
    terms = find_differences(comparison.facts.labels, [comparison.column], MAX_TERMS)
    rows: list[list[Html | None]] = [
        [
            *comparison.draw_head(group, len(comparison.find_rows(group))),
            tag("td", join_html(_list_sentences([term.sentence for term in terms[group]]))),
        ]
        for group in comparison.groups
    ]
    caption = f"{shorten(comparison.column.name)}: words that mark a group"
    return comparison.build_table(caption, ("Group", "Known", "Words"), rows)


def _list_sentences(sentences: Sequence[str]) -> list[Html]:
    lines = [join_html((mark_user_text(sentence, 100), tag("br"))) for sentence in sentences]
    return lines or [tag("small", "none stands out")]


def _describe_survival(comparison: GroupComparison) -> Html:
    """Return the curves of the largest groups, the numbers at risk, and a table of all groups that are shown."""
    facts, column = comparison.facts, comparison.column
    event = np.asarray(column.event)
    time_name = shorten(column.name.rpartition("/")[0] or column.name, 20)
    curves, rows = [], []
    for group in (*comparison.groups, None):
        members = comparison.find_rows(group)
        start = comparison.draw_head(group, len(members))
        if not len(members):
            rows.append([*start, tag("td", "–"), tag("td", "–"), tag("td", "–"), comparison.draw_p(group)])
            continue
        curve = estimate_survival(column.values[members], event[members])
        if group is not None:
            curves.append(GroupCurve(group, facts.names[group], curve, *facts.looks[group]))
        n_events = int(event[members].sum())
        events = f"{format_integer(n_events)} ({format_share(n_events / len(members))})"
        median = "not reached" if np.isnan(curve.median) else f"{curve.median:.4g} {time_name}"
        ratio = comparison.apart[group]["effect"] if group in comparison.apart else np.nan
        texts = (events, median, "" if group is None else format_decimal(float(ratio)))
        rows.append([*start, *(tag("td", text, class_="figure") for text in texts), comparison.draw_p(group)])
    shown = curves[:MAX_CURVES]
    end = max(float(curve.curve.times[-1]) for curve in shown)
    ticks = choose_ticks(end)
    at_risk = [
        [
            tag("th", facts.draw_group(curve.group, 40), scope="row"),
            *(tag("td", format_integer(n), class_="figure") for n in curve.curve.count_at_risk(ticks).tolist()),
        ]
        for curve in shown
    ]
    risk_head = ("Group", *(f"{tick:g} {time_name}" if i == 0 else f"{tick:g}" for i, tick in enumerate(ticks)))
    head = comparison.build_head("Events", "Median time", "Hazard ratio")
    n_hidden = len(curves) - len(shown)
    note = f"The curves are those of the {len(shown)} largest groups." if n_hidden else None
    return join_html(
        (
            draw_survival(shown, column.name, time_name),
            tag("p", note, class_="note") if note else None,
            build_table(
                f"Number at risk: {facts.noun} without an event that are still observed",
                risk_head,
                at_risk,
                "described",
            ),
            comparison.build_table(f"{shorten(column.name)} by group", head, rows),
            tag(
                "p",
                f"Curves show the share of {facts.noun} without an event (Kaplan and Meier's estimate), and bands "
                "their 95% confidence intervals. The hazard ratio is the rate of events in a group divided by the rate "
                "in all others: above 1, events come sooner.",
                class_="note",
            ),
        )
    )


BODIES: dict[str, Callable[[GroupComparison], Html]] = {
    "number": _describe_numbers,
    "date": _describe_numbers,
    "category": _describe_categories,
    "text": _describe_texts,
    "survival": _describe_survival,
}
