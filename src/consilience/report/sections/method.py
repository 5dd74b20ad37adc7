"""Section: the method, its settings and versions, so that the run can be repeated."""

from __future__ import annotations

import inspect
import platform
import re
from collections.abc import Iterator
from importlib.metadata import version
from typing import Any

import numpy as np
import scipy.sparse as sp

from ..._version import __version__
from ..charts import build_row, build_table
from ..facts import ReportFacts
from ..markup import Html, clean_text, mark_user_text, say_items, tag, truncate
from .section import Section

MAX_VALUE = 160  # characters of a setting
MAX_NOTE = 600  # characters of a note
ADDRESS = re.compile(r" at 0x[0-9a-fA-F]+")  # memory addresses differ between runs


def build_method(facts: ReportFacts) -> Section:
    """Return the method, the command, the notes, the settings and the versions."""
    cls = type(facts.model)
    description = (inspect.getdoc(cls) or "").partition("\n")[0]
    versions = [build_row(*item) for item in list_versions().items()]
    notes = (tag("li", mark_user_text(say_items(note), MAX_NOTE)) for note in facts.notes)
    settings = [
        [
            tag("th", tag("code", mark_user_text(name)), scope="row"),
            tag("td", tag("code", mark_user_text(write_value(value), MAX_VALUE))),
            tag("td", origin, class_="changed" if origin == "changed" else None),
        ]
        for name, value, origin in _list_settings(facts)
    ]
    return Section.build(
        "method",
        "Method",
        "Method and settings",
        tag("p", tag("code", cls.__name__), f": {say_items(description)}" if description else None),
        *(_show_command(facts.command) if facts.command else ()),
        *((tag("h3", "How the data was read"), tag("ul", notes)) if facts.notes else ()),
        tag("h3", "Settings"),
        build_table("Settings", ("Setting", "Value", "Default"), settings),
        build_table("Versions", ("Package", "Version"), versions, class_="narrow"),
    )


def _show_command(command: str) -> tuple[Html, Html]:
    copy = tag("button", "Copy", type="button", id="copy", class_="needs-js")
    block = tag("pre", tag("code", clean_text(command, lines=True), id="command"), tabindex="0", aria_label="Command")
    return tag("h3", "To run it again"), tag("div", block, copy, class_="command")


def _list_settings(facts: ReportFacts) -> Iterator[tuple[str, Any, str]]:
    """Yield name, value and origin (given, changed, default) of every setting, in this order of origins."""
    yield from ((name, value, "given") for name, value in (facts.settings or {}).items())
    if not hasattr(facts.model, "get_params"):
        return
    values = facts.model.get_params(deep=False)
    parameters = inspect.signature(type(facts.model)).parameters
    defaults = {
        name: _is_default(value, getattr(parameters.get(name), "default", None)) for name, value in values.items()
    }
    for origin in ("changed", "default"):
        yield from ((name, value, origin) for name, value in values.items() if defaults[name] == (origin == "default"))


def _is_default(value: Any, default: Any) -> bool:
    if type(value) is not type(default) or hasattr(value, "shape"):
        return False
    return bool(value == default)


def write_value(value: Any) -> str:
    """Write a value as in code; an array as its shape."""
    match value:
        case np.ndarray() | sp.sparray() | sp.spmatrix():
            return f"array of shape {value.shape}"
        case np.random.Generator() | np.random.RandomState():
            return type(value).__name__
        case dict():
            return "{" + ", ".join(f"{clean_text(name)}: {write_value(item)}" for name, item in value.items()) + "}"
        case str():
            return truncate(clean_text(value), 2000)
    return truncate(clean_text(ADDRESS.sub("", repr(value))), 2000)


def list_versions() -> dict[str, str]:
    """Return the versions of consilience, of the libraries it uses, and of Python."""
    libraries = {name: version(name) for name in ("numpy", "scipy", "scikit-learn")}
    return {"consilience": __version__, **libraries, "Python": platform.python_version()}
