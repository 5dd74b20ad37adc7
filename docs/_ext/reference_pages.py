"""The members that a page of the API reference describes."""

from __future__ import annotations

import inspect
import re
from importlib import import_module
from typing import Any

from sklearn.base import BaseEstimator
from sphinx import addnodes
from sphinx.application import Sphinx
from sphinx.domains.python import PyObject
from sphinx.environment import BuildEnvironment
from sphinx.errors import PycodeError
from sphinx.locale import _
from sphinx.pycode import ModuleAnalyzer
from sphinx.transforms import SphinxTransform
from sphinx.util.docfields import Field
from sphinx.util.nodes import make_refnode

ROUTING = re.compile(r"(get_metadata_routing|set_\w+_request)$")  # methods that scikit-learn adds for metadata


def find_object(module: str, name: str) -> Any:
    """Import the object of a page."""
    value = import_module(module)
    for part in name.split("."):
        value = getattr(value, part)
    return value


def find_owner(cls: type, member: str) -> type | None:
    """Return the class that defines a member, or annotates it as a field."""
    owners = (base for base in cls.__mro__ if member in vars(base) or member in vars(base).get("__annotations__", {}))
    return next(owners, None)


def list_fields(cls: type) -> set[str]:
    """Return the names that the class's docstring describes as parameters or attributes."""
    lines = (inspect.getdoc(cls) or "").splitlines()
    return {name for line in lines if re.match(r"[\w, ]+ : ", line) for name in line.partition(" : ")[0].split(", ")}


def list_commented(cls: type) -> set[str]:
    """Return the attributes that a comment of the form ``#:`` describes."""
    names = set()
    for base in cls.__mro__:
        if base.__module__.startswith("consilience"):
            try:
                comments = ModuleAnalyzer.for_module(base.__module__).find_attr_docs()
            except PycodeError:
                continue
            names |= {name for owner, name in comments if owner == base.__qualname__}
    return names


def list_members(module: str, name: str) -> list[str]:
    """Return the public members that the page of a class describes, in the order of their definition.

    These are members of classes of consilience with a docstring or a comment ``#:``, without those that the class's
    docstring describes. A class that is not an estimator leaves out what a public base class describes.
    """
    cls = find_object(module, name)
    bases = () if issubclass(cls, BaseEstimator) else [base for base in cls.__mro__[1:] if is_public(base)]
    commented, fields = list_commented(cls), list_fields(cls)
    members = []
    for member in dict.fromkeys([*(name for base in cls.__mro__ for name in vars(base)), *sorted(commented)]):
        owner = find_owner(cls, member)
        if member.startswith("_") or member in fields or ROUTING.match(member) or owner is None:
            continue
        if not owner.__module__.startswith("consilience") or any(hasattr(base, member) for base in bases):
            continue
        value = inspect.getattr_static(cls, member, None)
        if isinstance(value, property | classmethod | staticmethod) or inspect.isfunction(value):
            if inspect.getdoc(getattr(cls, member)):
                members.append(member)
        elif member in commented:
            members.append(member)
    return members


def is_public(cls: type) -> bool:
    """Return whether a class has a page of its own."""
    parent = import_module(cls.__module__.rpartition(".")[0]) if cls.__module__.startswith("consilience.") else None
    return parent is not None and cls.__name__ in getattr(parent, "__all__", ())


def list_inherited(module: str, name: str) -> list[str]:
    """Return the methods that an estimator has from scikit-learn."""
    cls = find_object(module, name)
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


class ExactReferences(SphinxTransform):
    """Let the words of a type be links to classes of that name only, not to members of a similar name."""

    default_priority = 10

    def apply(self, **_: Any) -> None:
        """Take back the search for similar names."""
        for reference in list(self.document.findall(addnodes.pending_xref)):
            if reference.get("refdomain") == "py" and reference.attributes.pop("refspecific", False):
                name = reference["reftarget"].rpartition(".")[2]
                if not name[:1].isupper():
                    reference.replace_self(reference.children)


def find_public(app: Sphinx, env: BuildEnvironment, reference: Any, content: Any) -> Any:
    """Resolve a name of consilience that a docstring of another module mentions."""
    name = f"consilience.{reference.get('reftarget', '')}"
    target = env.domains.python_domain.objects.get(name)
    if reference.get("refdomain") != "py" or target is None:
        return None
    return make_refnode(app.builder, reference["refdoc"], target.docname, target.node_id, content, name)


def setup(app: Sphinx) -> dict[str, bool]:
    """Give the templates of autosummary the members, and call attributes so."""
    app.config.autosummary_context |= {"list_members": list_members, "list_inherited": list_inherited}
    app.add_transform(ExactReferences)
    app.connect("missing-reference", find_public)
    app.connect("autodoc-process-docstring", shorten_foreign, priority=100)  # before napoleon
    app.connect("autodoc-process-docstring", split_attributes, priority=100)
    app.connect("autodoc-process-docstring", escape_names, priority=900)  # after napoleon
    for field in PyObject.doc_field_types:
        if isinstance(field, Field) and field.name == "variable":
            field.label = _("Attributes")
    return {"parallel_read_safe": True, "parallel_write_safe": True}
