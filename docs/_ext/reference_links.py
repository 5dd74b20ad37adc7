"""Links from docstrings to pages of the reference; a name in backticks that names nothing is a warning."""

from __future__ import annotations

import builtins
import inspect
from collections.abc import Iterator
from functools import cache
from importlib import import_module
from typing import Any

from docutils import nodes
from reference_members import find_object, list_commented, list_fields
from sphinx import addnodes
from sphinx.application import Sphinx
from sphinx.environment import BuildEnvironment
from sphinx.transforms import SphinxTransform
from sphinx.util.nodes import make_refnode, traverse_parent

import consilience
from consilience.registry import list_estimators


class ExactReferences(SphinxTransform):
    """Let the words of a type be links to classes of that name only, not to members of a similar name.

    A type is a phrase such as "array-like of shape (n_entities,)", so its words need not be names.
    """

    default_priority = 10

    def apply(self, **_: Any) -> None:
        """Take back the search for similar names."""
        for reference in list(self.document.findall(addnodes.pending_xref)):
            if reference.get("refdomain") == "py" and reference.attributes.pop("refspecific", False):
                name = reference["reftarget"].rpartition(".")[2]
                if not name[:1].isupper():
                    reference.replace_self(reference.children)
                else:
                    reference["in_type"] = reference["reftype"] != "exc"  # "Raises" has names only


def link_public(app: Sphinx, env: BuildEnvironment, reference: Any, content: Any) -> Any:
    """Resolve a name of consilience that a docstring of another module mentions."""
    name = f"consilience.{reference.get('reftarget', '')}"
    target = env.domains.python_domain.objects.get(name)
    if reference.get("refdomain") != "py" or target is None:
        return None
    return make_refnode(app.builder, reference["refdoc"], target.docname, target.node_id, content, name)


def list_documented(reference: nodes.Node) -> Iterator[Any]:
    """Yield what the docstring with a reference documents, from the innermost: a method, its class, their module."""
    for parent in traverse_parent(reference, addnodes.desc):
        if parent.get("domain") == "py":
            signature = parent.next_node(addnodes.desc_signature)
            names = signature["fullname"].split(".")
            for n in range(len(names), 0, -1):
                try:
                    yield find_object(signature["module"], ".".join(names[:n]))
                except AttributeError:  # an attribute of instances
                    continue
            yield import_module(signature["module"])
            return


def is_name_in(documented: Any, name: str) -> bool:
    """Return whether a name in a docstring is a parameter or an attribute of the documented object."""
    if inspect.isclass(documented) and name in list_fields(documented, "Parameters", "Attributes"):
        return True
    if inspect.isclass(documented) and name in list_commented(documented):
        return True
    if inspect.isroutine(documented) and name in inspect.signature(documented).parameters:
        return True
    try:
        for part in name.split("."):
            documented = getattr(documented, part)
    except AttributeError:
        return False
    return True


@cache
def list_estimator_names() -> set[str]:
    """Return the parameters, attributes and methods of the estimators, which functions that take a model mention."""
    names: set[str] = set()
    for declaration in list_estimators().values():
        cls = declaration.estimator_class
        names |= {*dir(cls), *list_fields(cls, "Parameters", "Attributes")}
    return names


def accept_names(_app: Sphinx, _domain: Any, reference: Any) -> bool:
    """Return whether a reference without a page is accepted: a word of a type, a parameter or another known name.

    An entry of "See Also" must have a page. Text outside of docstrings may put any word into backticks.
    """
    in_list = any(traverse_parent(reference, addnodes.seealso))
    if reference.get("refdomain") != "py" or in_list:
        return False
    name = reference["reftarget"].removeprefix("consilience.")
    documented = list(list_documented(reference))
    in_docstring = bool(documented) or name != reference["reftarget"]
    if reference.get("in_type") or not in_docstring or name in list_estimator_names():
        return True
    return any(is_name_in(scope, name) for scope in (*documented, consilience, builtins))


def setup(app: Sphinx) -> dict[str, bool]:
    """Connect the checks."""
    app.add_transform(ExactReferences)
    app.connect("missing-reference", link_public)
    app.connect("warn-missing-reference", accept_names)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
