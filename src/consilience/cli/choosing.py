"""Choose the method, and check that it takes the data and the options."""

from __future__ import annotations

import argparse
from collections.abc import Sequence

from ..files import ViewContent
from ..registry import DEFAULT_METHOD, find_estimator, list_estimators
from .terminal import UsageError

MAX_CONSTRAINED = 20_000  # entities up to which the default method takes constraints: it clusters a sample of more
SMALL_GROUPS = "small-groups"  # value of -k that finds duplicates


def choose_method(method: str, contents: Sequence[ViewContent], has_constraints: bool) -> tuple[str, str]:
    """Return the name of the method and why it was chosen; refuse one that cannot take the data or the constraints."""
    name, reason = method, "as you chose"
    if method == "auto":
        name = DEFAULT_METHOD
        reason = "the default, also with constraints" if has_constraints else "the default for all kinds of views"
    declaration = find_estimator(name)
    if has_constraints and not declaration.takes_constraints:
        raise UsageError(f"--method {name} takes no --constraints: use {_list_methods('takes_constraints')}")
    similarities = [content.name for content in contents if content.kind == "similarities"]
    if similarities and not declaration.takes_similarities:
        raise ValueError(
            f"view {similarities[0]!r} holds similarities, which --method {name} cannot take: use "
            f"{_list_methods('takes_similarities')}"
        )
    return name, reason


def check_n_entities(method: str, name: str, reason: str, n_entities: int, has_constraints: bool) -> tuple[str, str]:
    """Return the method and the reason again, once the number of entities is known."""
    if name != DEFAULT_METHOD or not has_constraints or n_entities <= MAX_CONSTRAINED:
        return name, reason
    if method == "auto":
        return "constrained", f"the default takes constraints for up to {MAX_CONSTRAINED:,} entities"
    raise ValueError(
        f"--method {name} takes --constraints for up to {MAX_CONSTRAINED:,} entities, got {n_entities:,}: "
        "use constrained"
    )


def check_outliers(options: argparse.Namespace) -> None:
    """Refuse `--outliers` for a method that puts every entity into a cluster."""
    name = DEFAULT_METHOD if options.method == "auto" else options.method
    if options.outliers is not None and not find_estimator(name).finds_outliers:
        raise UsageError(
            f"--method {name} takes no --outliers, because it puts every entity into a cluster: use "
            f"{_list_methods('finds_outliers')}"
        )


def check_small_groups(options: argparse.Namespace) -> None:
    """Refuse small groups with constraints, and by methods that cannot start from groups."""
    if options.k != SMALL_GROUPS:
        return
    if options.constraints is not None:
        raise UsageError(f"-k {SMALL_GROUPS} takes no --constraints: give -k N")
    if options.method not in ("auto", DEFAULT_METHOD):
        raise UsageError(f"-k {SMALL_GROUPS} works with --method {DEFAULT_METHOD}, not with {options.method}")


def _list_methods(ability: str) -> str:
    return " or ".join(name for name, declaration in list_estimators().items() if getattr(declaration, ability))
