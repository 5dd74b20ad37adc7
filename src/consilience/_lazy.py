"""Packages whose names are imported when they are first used."""

from collections.abc import Callable, Collection, Mapping


def import_on_first_use(
    package: str, names_by_module: Mapping[str, Collection[str]], subpackages: Collection[str] = ()
) -> tuple[Callable[[str], object], Callable[[], list[str]]]:
    """Return the `__getattr__` and `__dir__` of a package that imports public names when they are first used.

    `names_by_module` has the names that each module of the package defines, by its name relative to the package.
    """
    modules = {name: module for module, names in names_by_module.items() for name in names}

    def __getattr__(name: str) -> object:
        import sys
        from importlib import import_module

        if name in subpackages:
            return import_module(f".{name}", package)
        if name in modules:
            value = getattr(import_module(f".{modules[name]}", package), name)
            setattr(sys.modules[package], name, value)
            return value
        raise AttributeError(f"module {package!r} has no attribute {name!r}")

    def __dir__() -> list[str]:
        import sys

        return sorted({*vars(sys.modules[package]), *modules, *subpackages})

    return __getattr__, __dir__
