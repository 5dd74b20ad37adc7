"""Public objects, the members of classes, and what describes them. Needs no Sphinx, so that the tests use it too."""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator
from functools import cache, cached_property
from importlib import import_module
from pathlib import Path
from typing import Any

from reference_names import read_reference
from sklearn.base import BaseEstimator

ROUTING = re.compile(r"(get_metadata_routing|set_\w+_request)$")  # methods that scikit-learn adds for metadata
ENTRY = re.compile(r"\*{1,2}\w+$|\*{0,2}\w+(?:, \*{0,2}\w+)* : ")  # of a section: one or several names and their type
COMMENTED = re.compile(r"^ +(\w+)\b.*  #: |^ +#: .*\n(?: +#: .*\n)* +(\w+)\b", flags=re.MULTILINE)


def find_object(module: str, name: str) -> Any:
    """Import an object of a module, such as ``Views.items``."""
    value = import_module(module)
    for part in name.split("."):
        value = getattr(value, part)
    return value


def find_public(name: str) -> Any:
    """Import an object by its name in the reference, such as ``metrics.evaluate``."""
    module, _, attribute = f"consilience.{name}".rpartition(".")
    return find_object(module, attribute)


PUBLIC = {name: find_public(name) for name in read_reference(Path(__file__).parents[1] / "api" / "index.md")}


def find_owner(cls: type, member: str) -> type | None:
    """Return the class that defines a member, or annotates it as a field."""
    owners = (base for base in cls.__mro__ if member in vars(base) or member in vars(base).get("__annotations__", {}))
    return next(owners, None)


def list_fields(documented: Any, *sections: str) -> set[str]:
    """Return the names that sections of a docstring describe, by default those of all sections."""
    names: set[str] = set()
    for section, text in split_sections(documented).items():
        if not sections or section in sections:
            entries = [line.partition(" : ")[0] for line in text.splitlines() if ENTRY.match(line)]
            names |= {name.lstrip("*") for entry in entries for name in entry.split(", ")}
    return names


def split_sections(documented: Any) -> dict[str, str]:
    """Return the sections of a docstring by their headings."""
    parts = re.split(r"^(\w[\w ]*)\n-{3,}\n", inspect.getdoc(documented) or "", flags=re.MULTILINE)
    return dict(zip(parts[1::2], parts[2::2], strict=True))


@cache
def list_commented(cls: type) -> frozenset[str]:
    """Return the attributes that a comment of the form ``#:`` describes."""
    sources = [inspect.getsource(base) for base in cls.__mro__ if base.__module__.startswith("consilience")]
    return frozenset(first or second for source in sources for first, second in COMMENTED.findall(source))


def list_public_bases(cls: type) -> list[type]:
    """Return the base classes that have a page; an estimator describes all members on its own page."""
    return [] if issubclass(cls, BaseEstimator) else [base for base in cls.__mro__[1:] if base in PUBLIC.values()]


def list_members(cls: type) -> list[str]:
    """Return the public members that the page of a class describes, in the order of their definition.

    These are the members of classes of consilience, without those that the docstring of the class or the page of a
    public base class describes.
    """
    bases, described = list_public_bases(cls), list_fields(cls, "Parameters", "Attributes")
    names = [name for base in cls.__mro__ for name in (*vars(base), *vars(base).get("__annotations__", {}))]
    members = []
    for member in dict.fromkeys(names):
        owner = find_owner(cls, member)
        if member.startswith("_") or member in described or ROUTING.match(member) or owner is None:
            continue
        if owner.__module__.startswith("consilience") and not any(find_owner(base, member) for base in bases):
            members.append(member)
    return members


def has_description(cls: type, member: str) -> bool:
    """Return whether a member has a docstring, perhaps that of a base class, or a comment of the form ``#:``."""
    if member in list_commented(cls):
        return True
    value = inspect.getattr_static(cls, member, None)
    is_wrapper = hasattr(value, "__wrapped__")  # of classmethod, staticmethod, available_if
    has_docstring = callable(value) or is_wrapper or isinstance(value, property | cached_property)
    return has_docstring and bool(inspect.getdoc(getattr(cls, member)))


def find_undocumented(name: str) -> Iterator[str]:
    """Yield the name of a public object, and of the members of a public class, that nothing describes."""
    value = PUBLIC[name]
    doc = value.__doc__ or ""
    if callable(value) and (not doc or doc.startswith(f"{name.rpartition('.')[2]}(")):  # a signature by dataclass
        yield name
    for member in list_members(value) if inspect.isclass(value) else ():
        if not has_description(value, member):
            yield f"{name}.{member}"
