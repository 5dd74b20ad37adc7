"""Parts of docstrings that several functions and classes share.

A docstring names a shared part by ``%(name)s`` on a line of its own, and `fill_docstrings` puts the part there,
indented like that line. Other percent signs are left alone. Indented lines after the placeholder continue the part.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple, TypeVar

T = TypeVar("T")
PLACEHOLDER = re.compile(r"^(?P<indent> *)%\((?P<name>\w+)\)s$", re.MULTILINE)
DEFAULT = "<default>"  # in a part: stands for ", default=..." as in the signature
FIRST_SENTENCE = re.compile(r".*?(?:\.(?= [^a-z0-9(])|$)")
DEFAULT_TEXT = re.compile(r",? ?(?:default=.*|optional)$")  # at the end of what a parameter may be


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


class ParameterText(NamedTuple):
    """What a docstring says about a parameter."""

    type: str  #: what it may be, without the default
    description: str

    @property
    def summary(self) -> str:
        """First sentence of the description."""
        return FIRST_SENTENCE.match(self.description)[0] if self.description else ""  # type: ignore[index]


def read_parameters(documented: Any) -> dict[str, ParameterText]:
    """Return the parameters that the docstring of a function or class describes, in its order."""
    _, _, section = (inspect.getdoc(documented) or "").partition("\nParameters\n----------\n")
    section = re.split(r"\n\n(?=\S[^\n]*\n---)", section, maxsplit=1)[0]
    parameters: dict[str, ParameterText] = {}
    for entry in re.split(r"\n(?=\S)", section.strip("\n")):
        head, _, body = entry.partition("\n")
        names, _, type_text = head.partition(" : ")
        text = ParameterText(DEFAULT_TEXT.sub("", type_text), " ".join(body.split()))
        parameters |= dict.fromkeys(names.split(", "), text)
    return {name: text for name, text in parameters.items() if name}
