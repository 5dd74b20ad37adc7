"""How it was made, so that it can be made again."""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator
from typing import Any

import numpy as np
import scipy.sparse as sp

from ..charts import build_row, build_table
from ..facts import ReportFacts
from ..markup import Html, clean_text, join_html, mark_user_text, tag, truncate
from ..versions import list_versions
from .section import Section

MOST_LETTERS = 160  # of a setting's value
ADDRESS = re.compile(r" at 0x[0-9a-fA-F]+")  # of an object in memory, another each time


def build_method(facts: ReportFacts) -> Section:
    """The method, its settings, the versions, the notes and the command."""
    kind = type(facts.model).__name__
    about = (inspect.getdoc(type(facts.model)) or "").partition("\n")[0]
    body = join_html(
        (
            tag("p", tag("code", kind), f": {about}" if about else None),
            _show_command(facts.command),
            _list_notes(facts.notes),
            _tabulate_settings(facts),
            build_table(
                "Versions",
                ("Package", "Version"),
                [build_row(*own) for own in list_versions().items()],
                class_="narrow",
            ),
        )
    )
    return Section("method", "Method", "Method and settings", body)


def _show_command(command: str | None) -> Html | None:
    if not command:
        return None
    copy = tag("button", "Copy", type="button", id="copy", class_="needs-js")
    block = tag("pre", tag("code", clean_text(command, lines=True), id="command"), tabindex="0", aria_label="Command")
    return join_html((tag("h3", "To run it again"), tag("div", block, copy, class_="command")))


def _list_notes(notes: tuple[str, ...]) -> Html | None:
    if not notes:
        return None
    return join_html(
        (tag("h3", "How the data was read"), tag("ul", (tag("li", mark_user_text(note, 600)) for note in notes)))
    )


def _tabulate_settings(facts: ReportFacts) -> Html:
    rows = [
        [
            tag("th", tag("code", mark_user_text(name)), scope="row"),
            tag("td", tag("code", mark_user_text(_write_value(value), MOST_LETTERS))),
            tag("td", what, class_="changed" if what == "changed" else None),
        ]
        for name, value, what in _list_settings(facts)
    ]
    return join_html((tag("h3", "Settings"), build_table("Settings", ("Setting", "Value", "Default"), rows)))


def _list_settings(facts: ReportFacts) -> Iterator[tuple[str, Any, str]]:
    """(name, value, whether it is the default) of every setting, the changed ones first."""
    model = facts.model
    values = model.get_params(deep=False) if hasattr(model, "get_params") else {}
    defaults = {name: own.default for name, own in inspect.signature(type(model)).parameters.items()} if values else {}
    changed = {name: not _is_default(value, defaults.get(name)) for name, value in values.items()}
    yield from ((name, value, "given") for name, value in facts.settings.items())
    for wanted in (True, False):
        for name, value in values.items():
            if changed[name] is wanted:
                yield name, value, "changed" if wanted else "default"


def _is_default(value: Any, default: Any) -> bool:
    if isinstance(value, np.ndarray) or sp.issparse(value) or isinstance(default, np.ndarray):
        return False
    return type(value) is type(default) and bool(value == default)


def _write_value(value: Any) -> str:
    """A value as one would write it; of arrays their shape."""
    if isinstance(value, np.ndarray) or sp.issparse(value):
        return f"array of shape {value.shape}"
    if isinstance(value, np.random.Generator | np.random.RandomState):
        return type(value).__name__  # whose state is not to be read
    if isinstance(value, dict):
        return "{" + ", ".join(f"{clean_text(name)}: {_write_value(own)}" for name, own in value.items()) + "}"
    written = value if isinstance(value, str) else ADDRESS.sub("", repr(value))
    return truncate(clean_text(written), 2000)
