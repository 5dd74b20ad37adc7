"""Parameters that may differ from view to view."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any


def resolve_per_view(parameter: str, value: Any, names: Iterable[str], *, partial: bool = False) -> dict[str, Any]:
    """Find the value of a parameter for each view: from a mapping by name, a list by position, or one value for all.

    Parameters
    ----------
    parameter : str
        Name of the parameter, for error messages.
    value : mapping, list, tuple or anything else
        What the user gave.
    names : iterable of str
        The views, in order.
    partial : bool, default=False
        Whether a mapping may leave views out.

    Examples
    --------
    >>> resolve_per_view("family", {"b": 2, "a": 1}, ["a", "b"])
    {'a': 1, 'b': 2}
    >>> resolve_per_view("family", 7, ["a", "b"])
    {'a': 7, 'b': 7}
    """
    names = list(names)
    listed = ", ".join(map(repr, names))
    if isinstance(value, Mapping):
        unknown = [name for name in value if name not in names]
        if unknown:
            raise ValueError(f"{parameter} names view {unknown[0]!r}; the views are {listed}")
        missing = [name for name in names if name not in value]
        if missing and not partial:
            raise ValueError(f"{parameter} has nothing for view {missing[0]!r}: name every one of {listed}")
        return {name: value[name] for name in names if name in value}
    if isinstance(value, list | tuple):
        if len(value) != len(names):
            raise ValueError(f"{parameter} lists {len(value)} values for {len(names)} views ({listed}): give one each")
        return dict(zip(names, value, strict=True))
    return dict.fromkeys(names, value)
