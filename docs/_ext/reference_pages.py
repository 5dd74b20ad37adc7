"""The pages of the API reference: the members that they describe, and how docstrings are put into them."""

from __future__ import annotations

import inspect
import re
from typing import Any

from reference_members import (
    PUBLIC,
    ROUTING,
    find_object,
    find_owner,
    find_undocumented,
    list_members,
    list_public_bases,
)
from sklearn.base import BaseEstimator
from sphinx.application import Sphinx
from sphinx.domains.python import PyObject
from sphinx.locale import _
from sphinx.util import logging
from sphinx.util.docfields import Field

logger = logging.getLogger(__name__)


def check_docstrings(_app: Sphinx) -> None:
    """Warn about public names that nothing describes."""
    for name, value in PUBLIC.items():
        for undocumented in find_undocumented(name):
            location = f"{inspect.getsourcefile(value)}:{inspect.getsourcelines(value)[1]}"
            logger.warning("%s has no docstring", undocumented, location=location, type="reference_pages")


def list_bases(cls: type) -> list[str]:
    """Return the names of the pages that describe members which a class has from its base classes."""
    bases = list_public_bases(cls)
    return [name for name, value in PUBLIC.items() if value in bases]


def list_inherited(cls: type) -> list[str]:
    """Return the methods that an estimator has from scikit-learn."""
    if not issubclass(cls, BaseEstimator):
        return []
    names = (member for member in dir(cls) if not member.startswith("_") and not ROUTING.match(member))
    return [name for name in names if find_owner(cls, name).__module__.startswith("sklearn")]


def shorten_foreign(_app: Sphinx, _what: str, _name: str, documented: Any, _options: Any, lines: list[str]) -> None:
    """Cut the docstring of a function of scikit-learn before its references, which lead to pages of scikit-learn."""
    module = getattr(documented, "__module__", None) or ""
    if not module.startswith("sklearn."):
        return
    headings = ("See Also", "References")
    cut = [i for i, line in enumerate(lines[1:]) if lines[i].strip() in headings and line.strip().startswith("---")]
    kept = [line for line in lines[: min(cut, default=len(lines))] if "User Guide <" not in line]
    kept = [re.sub(r":\w+:`([^`<]*?)`", r"``\1``", line) for line in kept]
    lines[:] = [kept[0], "", f"This is ``{module.split('._')[0]}.{documented.__name__}``.", *kept[1:]]


def split_attributes(_app: Sphinx, what: str, _name: str, _documented: Any, _options: Any, lines: list[str]) -> None:
    """Describe each attribute of a line that names several, such as ``n_iter_, converged_ : int, bool``."""
    if what != "class" or "Attributes" not in lines:
        return
    position = lines.index("Attributes") + 2
    while position < len(lines) and not lines[position].startswith("---"):
        names, colon, types = lines[position].partition(" : ")
        end = next((i for i in range(position + 1, len(lines)) if not lines[i].startswith(" ")), len(lines))
        if colon and ", " in names and not names.startswith(" "):
            kinds = types.split(", ") if types.count(", ") == names.count(", ") else [types] * (names.count(", ") + 1)
            entries = zip(names.split(", "), kinds, strict=True)
            lines[position:end] = [
                line for name, kind in entries for line in (f"{name} : {kind}", *lines[position + 1 : end])
            ]
        position += 1


def escape_names(_app: Sphinx, _what: str, _name: str, _documented: Any, _options: Any, lines: list[str]) -> None:
    """Keep the underscore at the end of attributes, which would make a link of the name."""
    lines[:] = [re.sub(r"^:(ivar|vartype) (\w+)_:", r":\1 \2\\_:", line) for line in lines]


def setup(app: Sphinx) -> dict[str, bool]:
    """Check the docstrings, give the templates of autosummary the members, and put docstrings into shape."""
    functions = (find_object, list_members, list_bases, list_inherited)
    app.config.autosummary_context |= {function.__name__: function for function in functions}
    app.connect("builder-inited", check_docstrings)
    app.connect("autodoc-process-docstring", shorten_foreign, priority=100)  # before napoleon
    app.connect("autodoc-process-docstring", split_attributes, priority=100)
    app.connect("autodoc-process-docstring", escape_names, priority=900)  # after napoleon
    for field in PyObject.doc_field_types:
        if isinstance(field, Field) and field.name == "variable":
            field.label = _("Attributes")
    return {"parallel_read_safe": True, "parallel_write_safe": True}
