"""Pairs of columns that say how long entities were observed, and whether an event has happened at the end."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from ..explain import OriginalColumn
from ..files.formats.columns import format_cell, is_number
from ..files.spec import list_names
from .log import count_noun

WORD = re.compile(r"[^\W\d_]+|\d+")
CAMEL_CASE = re.compile(r"(?<=[a-z])(?=[A-Z])")
TIME_WORDS, LINKING_WORDS, OTHER_TIMES, EVENT_WORDS, OPPOSITE_WORDS, TRUTHS, HAPPENED, NOT_HAPPENED = (
    frozenset(words.split())
    for words in (
        # in the names of columns: of times, beside them, of times that are no follow-up, of events, of their opposites
        "time times days weeks months years duration survival followup tte",
        "to until in of the last follow up fu since",
        "age birth born diagnosis onset education experience old start date year",
        "event events status dead death died deceased vital alive survived censored censor censoring relapsed relapse "
        "recurred progressed churned failed",
        "censored censor censoring alive survived",
        # in cells: truth values, words for an event, and words for none
        "1 true yes y t 0 false no n f",
        "1 true yes y t dead died deceased death event relapsed relapse recurred recurrence progressed progression "
        "failed failure churned",
        "0 false no n f not alive living censored lost ongoing active free survived none",
    )
)


@dataclass(frozen=True)
class EventColumn:
    """A column that says whether an event has happened, and the cell that says so; None if it has not for any."""

    column: OriginalColumn
    happened: str | None

    @classmethod
    def read(cls, column: OriginalColumn) -> EventColumn | None:
        """Find out which of two values is the event; None if they do not tell.

        Of two numbers it is the larger one. In columns with a name such as censored, yes and 1 mean no event.
        """
        values = sorted(set(_list_cells(column)) - {""})
        if not 1 <= len(values) <= 2:
            return None
        has_happened = [_classify_cell(value) for value in values]
        if len(values) == 2 and all(map(is_number, values)):
            has_happened = [float(value) == max(map(float, values)) for value in values]
        if len(values) == 2 and None in has_happened:
            other = next((answer for answer in has_happened if answer is not None), None)
            has_happened = [
                (None if other is None else not other) if answer is None else answer for answer in has_happened
            ]
        is_plain = all(is_number(value) or value.lower() in TRUTHS for value in values)
        if is_plain and OPPOSITE_WORDS.intersection(split_words(column.name)):
            has_happened = [None if answer is None else not answer for answer in has_happened]
        if None in has_happened or (len(values) == 2 and len(set(has_happened)) == 1):
            return None
        return cls(column, next((value for value, answer in zip(values, has_happened, strict=True) if answer), None))

    def mark(self) -> tuple[np.ndarray, np.ndarray]:
        """Return which entities have had the event, and for which this is known."""
        cells = np.array(_list_cells(self.column), dtype=object)
        return (cells == self.happened).astype(bool), (cells != "").astype(bool)


def _list_cells(column: OriginalColumn) -> list[str]:
    """List the cells of a column as text, '' for empty ones."""
    return ["" if cell is None or cell != cell else format_cell(cell).strip() for cell in column.values.tolist()]


def _classify_cell(text: str) -> bool | None:
    """Whether a cell such as '1:DECEASED' or 'no event' says that the event has happened; None if it does not tell."""
    words = split_words(text)
    words = [word for word in words if not word.isdigit()] or words
    if NOT_HAPPENED.intersection(words):
        return False
    return True if HAPPENED.intersection(words) else None


def split_words(name: str) -> list[str]:
    """Split a name into words in lower case.

    Examples
    --------
    >>> split_words("OS.time"), split_words("daysToLast_followUp")
    (['os', 'time'], ['days', 'to', 'last', 'follow', 'up'])
    """
    return WORD.findall(CAMEL_CASE.sub(" ", name).lower())


def pair_follow_up(
    columns: Sequence[OriginalColumn], events: Mapping[str, str]
) -> tuple[list[OriginalColumn], list[str]]:
    """Join times with the column that says whether the event has happened, and return notes for the user.

    Parameters
    ----------
    columns : sequence of OriginalColumn
        The descriptions.
    events : mapping of str to str
        The names of event columns by those of times, as the user paired them. Other pairs are recognized by names.

    Returns
    -------
    list of OriginalColumn
        The columns; in place of a pair a column such as 'months/event', whose `event` is set.
    list of str
        What was paired.
    """
    by_name = {column.name: column for column in columns}
    pairs = {time: _check_pair(by_name[time], by_name[event]) for time, event in events.items()}
    used = {*events, *events.values()}
    detected, notes = _detect_pairs([column for column in columns if column.name not in used])
    joined: dict[str, OriginalColumn] = {}
    for time, event in (pairs | detected).items():
        column, note = _join_pair(by_name[time], event)
        joined[time] = column
        notes.append(note)
    replaced = {event.column.name for event in (pairs | detected).values()}
    return [joined.get(column.name, column) for column in columns if column.name not in replaced], notes


def _check_pair(time: OriginalColumn, event: OriginalColumn) -> EventColumn:
    """Refuse a pair that the user named and that cannot be times and events."""
    pair = f"{time.name}/{event.name} (--describe)"
    if not all(is_number(cell) for cell in _list_cells(time) if cell):
        raise ValueError(f"{pair}: the first column must hold times as numbers, but {time.name!r} does not")
    if time.kind == "date":
        raise ValueError(f"{pair}: {time.name!r} holds dates: give the time from the start to the event as a number")
    times = _to_times(time)
    if np.nanmin(times, initial=0.0) < 0:
        row = int(np.nanargmin(times))
        raise ValueError(
            f"{pair}: {time.name!r} has the negative time {times[row]:g} ({int((times < 0).sum())} in all): correct or "
            "empty these cells"
        )
    read = EventColumn.read(event)
    if read is None:
        values = sorted(set(_list_cells(event)) - {""})
        raise ValueError(
            f"{pair}: {event.name!r} must have two values that say whether the event has happened, such as 0 and 1; it "
            f"has {list_names(values, 5) or 'none'}"
        )
    return read


def _to_times(column: OriginalColumn) -> np.ndarray:
    return np.array([float(cell) if cell else np.nan for cell in _list_cells(column)])


def _detect_pairs(columns: Sequence[OriginalColumn]) -> tuple[dict[str, EventColumn], list[str]]:
    """Find pairs by their names: the only time with the only event, or os_time with os_status and OS.time with OS."""
    words = {column.name: frozenset(split_words(column.name)) for column in columns}
    times = [
        column.name
        for column in columns
        if words[column.name] & TIME_WORDS
        and not words[column.name] & OTHER_TIMES
        and column.kind == "number"
        and np.nanmin(column.values, initial=0.0) >= 0
    ]
    rest = {name: words[name] - TIME_WORDS - LINKING_WORDS for name in times}
    events = {}
    for column in columns:
        is_called_event = words[column.name] & EVENT_WORDS or words[column.name] in rest.values()
        read = EventColumn.read(column) if is_called_event and column.name not in times else None
        if read is not None and len(set(_list_cells(column)) - {""}) == 2:
            events[column.name] = read
    if len(times) == len(events) == 1:
        return {times[0]: next(iter(events.values()))}, []
    pairs: dict[str, EventColumn] = {}
    for name in times:
        alike = [event for event in events if words[event] == rest[name] or words[event] - EVENT_WORDS == rest[name]]
        rivals = [other for other in times if rest[other] == rest[name]]
        if len(alike) == len(rivals) == 1:
            pairs[name] = events[alike[0]]
    notes = []
    if times and events and not pairs:
        notes.append(
            f"The columns {list_names([*times, *events], 6)} may be times and events. To compare survival, name the "
            f"pair: --describe '{times[0]}/{next(iter(events))}'."
        )
    return pairs, notes


def _join_pair(time: OriginalColumn, event: EventColumn) -> tuple[OriginalColumn, str]:
    """Return times with their events as a column, and a note that says which value is the event."""
    times, (has_happened, is_known) = _to_times(time), event.mark()
    is_complete = is_known & ~np.isnan(times)
    n_incomplete = int((~is_complete).sum())
    name = f"{time.name}/{event.column.name}"
    happened = "no entity has had the event" if event.happened is None else f"{event.happened!r} is the event"
    note = f"Survival: {time.name!r} is the time and {event.column.name!r} says whether the event has happened "
    note += f"({happened}, {int((has_happened & is_complete).sum()):,} of {int(is_complete.sum()):,})."
    if n_incomplete:
        note += f" {count_noun(n_incomplete, 'entity', 'entities')} without a time or an event are left out of it."
    values = np.where(is_complete, times, np.nan)
    return replace(time, name=name, values=values, kind="number", event=has_happened & is_complete), note
