"""Sizes and limits of a module, which can have other values for a while."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any


class Tuning:
    """Sizes and limits that a module looks up when it needs them.

    Parameters
    ----------
    **values : float
        The values by name.

    Examples
    --------
    >>> tuning = Tuning(block=1000, most_blocks=16)
    >>> with tuning.set(block=10):
    ...     print(tuning.block)
    10
    >>> tuning.block
    1000
    """

    def __init__(self, **values: float) -> None:
        vars(self).update(values)

    def __getattr__(self, name: str) -> Any:  # the types of the values are not checked
        raise AttributeError(f"no size or limit has the name {name!r}: give one of {', '.join(vars(self))}")

    @contextmanager
    def set(self, **values: float) -> Iterator[None]:
        """Use other values within a `with` block, in all threads of this process."""
        before = {name: getattr(self, name) for name in values}
        vars(self).update(values)
        try:
            yield
        finally:
            vars(self).update(before)
