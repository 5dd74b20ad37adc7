"""How much of a long computation is done, for a display that reads it from another thread.

Long work opens a task and counts its units. Work within a unit may open a task of its own, whose share counts as a part
of that unit. A display opens the outermost task; without one, tasks are counted and never read.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

_current: ContextVar[Task | None] = ContextVar("current task", default=None)


class Task:
    """Work of a number of units, of which some are done.

    Parameters
    ----------
    n_units : float, default=1
        Units of the work; units that take longer may count more.
    span : float, default=1
        Units of the outer task that this task is about to do.

    Examples
    --------
    >>> with open_task(4) as outer:
    ...     outer.advance()
    ...     with open_task(10) as inner:
    ...         inner.advance(5)
    ...         print(outer.share)
    0.375
    """

    def __init__(self, n_units: float = 1.0, span: float = 1.0) -> None:
        self.n_units, self.span = n_units, span
        self.detail = ""  # what is being done, in a few words
        # units that are done, and the first task that was opened within the next; one attribute, read by other threads
        self.state: tuple[float, Task | None] = 0.0, None
        outer = _current.get()
        if outer is not None and outer.state[1] is None:
            outer.state = outer.state[0], self

    @property
    def share(self) -> float:
        """The part of the work that is done, from 0 to 1."""
        n_done, part = self.state
        within = 0.0 if part is None else part.span * part.share
        return min(1.0, (n_done + within) / self.n_units)

    def advance(self, n_units: float = 1.0) -> None:
        """Count units that are done."""
        self.state = self.state[0] + n_units, None

    def set_done(self, n_units: float) -> None:
        """Say how many units are done by now."""
        self.state = n_units, None

    def describe(self) -> str:
        """Return the detail of this task, or of the first within it that has one."""
        part = self.state[1]
        return self.detail or ("" if part is None else part.describe())


@contextmanager
def open_task(n_units: float = 1.0, span: float = 1.0) -> Iterator[Task]:
    """Open a task, within which other tasks are parts of its units."""
    task = Task(n_units, span)
    token = _current.set(task)
    try:
        yield task
    finally:
        _current.reset(token)
