"""Describe values that users gave, for messages."""

from __future__ import annotations

from typing import Any

MAX_SHOWN = 60  # characters of a value that is shown as it is written


def describe_value(value: Any) -> str:
    """Describe a value for a message: a short one as it is written, and data by its type and size.

    Examples
    --------
    >>> import numpy as np
    >>> describe_value("three"), describe_value(np.zeros((20, 3))), describe_value(list(range(1000)))
    ("'three'", 'ndarray of shape (20, 3)', 'list of 1,000 items')
    """
    kind, shape = type(value).__name__, getattr(value, "shape", None)
    if isinstance(shape, tuple) and shape:
        return f"{kind} of shape {shape}"
    is_long = hasattr(value, "__len__") and len(value) > MAX_SHOWN
    text = "" if is_long and not isinstance(value, str) else repr(value)
    if text and len(text) <= MAX_SHOWN and "\n" not in text:
        return text
    if isinstance(value, str):
        return f"{value[: MAX_SHOWN // 2]!r}... of {len(value):,} characters"
    if hasattr(value, "__len__"):
        return f"{kind} of {len(value):,} item{'s' * (len(value) != 1)}"
    return f"an object of type {kind}"
