"""Parts of docstrings that several functions and classes share.

A docstring names a shared part by ``%(name)s`` on a line of its own, and `fill_docstrings` puts the part there,
indented like that line. Other percent signs are left alone. Indented lines after the placeholder continue the part.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any, TypeVar

T = TypeVar("T")
PLACEHOLDER = re.compile(r"^(?P<indent> *)%\((?P<name>\w+)\)s$", re.MULTILINE)
DEFAULT = "<default>"  # in a part: stands for ", default=..." as in the signature


def fill_docstrings(parts: Mapping[str, str]) -> Callable[[T], T]:
    """Return a decorator that fills in the shared parts of a function's, or of a class's and its methods', docstring.

    Parameters
    ----------
    parts : mapping of str to str
        The text of each part, not indented. ``<default>`` in the first line of a parameter stands for its default value
        in the signature of the function or class.
    """

    def fill(decorated: T) -> T:
        for documented in find_documented(decorated):
            text = documented.__doc__
            if text and PLACEHOLDER.search(text):
                documented.__doc__ = fill_placeholders(text, parts, documented)
        return decorated

    return fill


def find_documented(decorated: Any) -> Iterator[Any]:
    """Yield a function, or a class and its methods, with the functions that decorators wrap."""
    for member in [decorated, *vars(decorated).values()] if inspect.isclass(decorated) else [decorated]:
        yield member
        for attribute in ("__wrapped__", "__func__", "fn"):  # of functools.wraps, classmethod, available_if
            if (wrapped := getattr(member, attribute, None)) is not None:
                yield wrapped


def fill_placeholders(text: str, parts: Mapping[str, str], documented: Any) -> str:
    """Replace each placeholder by its part."""

    def replace(match: re.Match[str]) -> str:
        if match["name"] not in parts:
            raise KeyError(f"docstring of {documented.__qualname__}: no shared part {match['name']!r}")
        part = parts[match["name"]].strip("\n")
        if DEFAULT in part:
            function = getattr(documented, "fn", documented)  # what `available_if` wraps
            parameter = inspect.signature(function).parameters[part.partition(" : ")[0]]
            part = part.replace(DEFAULT, f", default={parameter.default!r}")
        return "\n".join(match["indent"] + line if line else line for line in part.split("\n"))

    return PLACEHOLDER.sub(replace, text)
