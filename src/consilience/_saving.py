"""Declared names of the classes and functions in model files.

A declaration stands beside the class, so that moving or renaming the class does not change the files:

    @save_as("co-em", version=1)
    class CoEM: ...

`consilience.save` refuses objects without a declaration. Increase the version when the attributes change, and give an
`upgrade` function if files of earlier versions should still load.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple, TypeVar

T = TypeVar("T")
Upgrade = Callable[[dict[str, Any], int], dict[str, Any]]  # (attributes, their version) -> attributes of this version


class Declaration(NamedTuple):
    """A class or function, and the name and version that model files store in its place."""

    declared: Any
    name: str
    version: int
    upgrade: Upgrade | None = None


class DeclaredNames:
    """Classes or functions by the name they have in model files."""

    def __init__(self) -> None:
        self.by_name: dict[str, Declaration] = {}
        self._by_identity: dict[int, Declaration] = {}

    def add(self, declaration: Declaration) -> None:
        """Add a declaration; a class or function that is defined again replaces its earlier definition."""
        earlier = self.by_name.get(declaration.name)
        if earlier is not None and _full_name(earlier.declared) != _full_name(declaration.declared):
            raise ValueError(
                f"{declaration.name!r} is already the name of {_full_name(earlier.declared)} in model files: choose "
                f"another name for {_full_name(declaration.declared)}"
            )
        self.by_name[declaration.name] = declaration
        self._by_identity[id(declaration.declared)] = declaration

    def find(self, declared: Any) -> Declaration | None:
        """Return the declaration of exactly this class or function, None if there is none."""
        return self._by_identity.get(id(declared))


def _full_name(declared: Any) -> str:
    return f"{declared.__module__}.{declared.__qualname__}"


SAVED_CLASSES = DeclaredNames()  # their instances are saved as attributes
SAVED_REFERENCES = DeclaredNames()  # functions, and classes called like functions, that saved objects refer to


def save_as(name: str, *, version: int = 1, upgrade: Upgrade | None = None) -> Callable[[T], T]:
    """Decorate a class: model files store its instances under this name, as their attributes.

    Parameters
    ----------
    name : str
        Name in model files, which must not change afterwards.
    version : int, default=1
        Version of the attributes.
    upgrade : callable, optional
        Called with the attributes of an earlier version and its number; returns attributes of this version. Files of
        earlier versions are refused without it.

    Examples
    --------
    >>> import tempfile
    >>> import consilience as cs
    >>> @cs.persist.save_as("example-scale")
    ... class Scale:
    ...     def __init__(self, factor):
    ...         self.factor = factor
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     cs.save(Scale(2.5), f"{folder}/scale.zip")
    ...     cs.load(f"{folder}/scale.zip").factor
    2.5
    """
    return _declare(SAVED_CLASSES, name, version, upgrade)


def refer_as(name: str, *, version: int = 1) -> Callable[[T], T]:
    """Decorate a function: model files refer to it by this name.

    Parameters
    ----------
    name : str
        Name of the function in model files, which must stay when the function moves.
    version : int, default=1
        Version of what the function does; a file of a later version is refused.

    Examples
    --------
    >>> import tempfile
    >>> import consilience as cs
    >>> @cs.persist.refer_as("example-halve")
    ... def halve(number):
    ...     return number / 2
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     cs.save({"transform": halve}, f"{folder}/settings.zip")
    ...     cs.load(f"{folder}/settings.zip")["transform"](3)
    1.5
    """
    return _declare(SAVED_REFERENCES, name, version, None)


def _declare(names: DeclaredNames, name: str, version: int, upgrade: Upgrade | None) -> Callable[[T], T]:
    def declare(declared: T) -> T:
        names.add(Declaration(declared, name, version, upgrade))
        return declared

    return declare
