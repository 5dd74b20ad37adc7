"""Old names of public attributes and parameters, which work with a warning until a stated version removes them."""

from __future__ import annotations

import functools
import inspect
import re
import sys
import warnings
from collections.abc import Callable
from typing import Any, NamedTuple, ParamSpec, TypeVar, cast

from ._warnings import find_stack_level

P = ParamSpec("P")
R = TypeVar("R")
T = TypeVar("T", bound=Callable[..., Any])


class Deprecation(NamedTuple):
    """A name that will be removed, and what replaces it."""

    subject: str
    replacement: str
    since: str
    removed: str

    def warn(self) -> None:
        """Warn the code that uses the name."""
        message = f"{self.subject} is deprecated since version {self.since} and will be removed in {self.removed}: use "
        warnings.warn(message + self.replacement, FutureWarning, stacklevel=find_stack_level())

    def is_overdue(self, version: str) -> bool:
        """Whether the given version of the package must not have the name anymore."""
        return parse_version(version) >= parse_version(self.removed)


DEPRECATIONS: list[Deprecation] = []  # of the modules that are imported
LEAST_MINOR_VERSIONS = 2  # in which a deprecated name still works


def parse_version(version: str) -> tuple[int, ...]:
    """Return the numbers of a version such as "0.3.0" or "0.3.0rc1", for comparisons."""
    match = re.match(r"\d+(\.\d+)*", version)
    if match is None:
        raise ValueError(f"{version!r} is not a version such as '0.3.0'")
    return tuple(map(int, match.group().split(".")))


def _record(deprecation: Deprecation) -> Deprecation:
    since, removed = parse_version(deprecation.since)[:2], parse_version(deprecation.removed)[:2]
    if removed < (since[0], since[1] + LEAST_MINOR_VERSIONS):
        raise ValueError(
            f"{deprecation.subject}, deprecated in {deprecation.since}, cannot be removed in {deprecation.removed}: it "
            f"must work in {LEAST_MINOR_VERSIONS} minor versions"
        )
    DEPRECATIONS.append(deprecation)
    return deprecation


def deprecate_name(module: str, old: str, new: str, *, since: str, removed: str) -> None:
    """Make `old` another name of the attribute `new` of a module; using it gives a FutureWarning.

    A module calls this with its own ``__name__``, below the definition of its ``__getattr__`` if it has one.

    Parameters
    ----------
    module : str
        Full name of the module.
    old, new : str
        Names of the attribute. `old` must not be defined otherwise.
    since, removed : str
        The version that warns first, and the version that does not have `old` anymore.
    """
    namespace = vars(sys.modules[module])
    if old in namespace:
        raise ValueError(f"{module}.{old} is defined, so that its use would give no warning: delete the definition")
    old_names = namespace.setdefault("_old_names", {})
    old_names[old] = _record(Deprecation(f"{module}.{old}", f"{module}.{new}", since, removed)), new
    if len(old_names) > 1:
        return  # `__getattr__` is there already
    find_other = namespace.get("__getattr__")

    def __getattr__(name: str) -> Any:
        if name in old_names:
            deprecation, replacement = old_names[name]
            deprecation.warn()
            return getattr(sys.modules[module], replacement)
        if find_other is None:
            raise AttributeError(f"module {module!r} has no attribute {name!r}")
        return find_other(name)

    namespace["__getattr__"] = __getattr__


def deprecate_parameter(old: str, new: str, *, since: str, removed: str) -> Callable[[T], T]:
    """Make `old` another keyword for the parameter `new` of a function; using it gives a FutureWarning.

    This decorates functions, methods and estimators. The signature has `new` only. An estimator accepts `old` when it
    is constructed and in ``set_params``, and so in the grids of ``GridSearchCV``.

    Parameters
    ----------
    old, new : str
        Names of the parameter.
    since, removed : str
        The version that warns first, and the version that does not accept `old` anymore.
    """

    def decorate(target: T) -> T:
        if new not in inspect.signature(target).parameters:
            raise ValueError(f"{target.__qualname__} has no parameter {new!r} that could replace {old!r}")
        name = f"{target.__module__}.{target.__qualname__}"
        deprecation = _record(Deprecation(f"parameter {old!r} of {name}", repr(new), since, removed))

        def rename(function: Callable[P, R]) -> Callable[P, R]:
            @functools.wraps(function)
            def call(*args: P.args, **kwargs: P.kwargs) -> R:
                if old in kwargs:
                    if new in kwargs:
                        raise TypeError(f"{name} got both {new!r} and its deprecated name {old!r}: pass {new!r} only")
                    deprecation.warn()
                    kwargs[new] = kwargs.pop(old)
                return function(*args, **kwargs)

            return call

        if not inspect.isclass(target):
            return cast(T, rename(target))
        for method in ("__init__", "set_params"):
            setattr(target, method, rename(getattr(target, method)))
        return target

    return decorate
