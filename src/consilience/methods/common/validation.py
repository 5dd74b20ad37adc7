"""Validation of parameters: the only module that imports scikit-learn's private `_param_validation`.

An estimator declares what its parameters may be in `_parameter_constraints`, as scikit-learn's estimators do, and
decorates `fit` with `check_parameters`. `share_constraints` returns the constraints of parameters that many estimators
have; functions are decorated with `validate_params`::

    _parameter_constraints = {
        **share_constraints("n_clusters", "views", "random_state"),
        "eta": [Interval(Real, 0, 1, closed="both")],
    }
"""

from __future__ import annotations

import functools
import inspect
import re
from collections.abc import Callable, Mapping, Sequence
from numbers import Integral, Real
from typing import Any

import numpy as np
from sklearn.base import _fit_context
from sklearn.utils._param_validation import HasMethods, Interval, InvalidParameterError, StrOptions, make_constraint
from sklearn.utils._param_validation import validate_params as check_arguments

from ..._describe import MAX_SHOWN, describe_value

__all__ = [
    "NON_NEGATIVE",
    "OUTLIERS",
    "POSITIVE_INTEGER",
    "RANDOM_STATE",
    "HasMethods",
    "Interval",
    "SequenceOf",
    "StrOptions",
    "check_all_parameters",
    "check_parameters",
    "is_satisfied",
    "share_constraints",
    "validate_params",
]


class SequenceOf(HasMethods):
    """Constraint: a sequence that is not empty and whose items satisfy a constraint."""

    def __init__(self, item: Interval | StrOptions) -> None:
        super().__init__(["__len__", "__iter__"])
        self.item = item

    def is_satisfied_by(self, val: Any) -> bool:
        """Whether a value satisfies the constraint."""
        return super().is_satisfied_by(val) and len(val) > 0 and all(map(self.item.is_satisfied_by, val))

    def __str__(self) -> str:
        return f"a sequence, not empty, each item {self.item}"


POSITIVE_INTEGER = Interval(Integral, 1, None, closed="left")
NON_NEGATIVE = Interval(Real, 0, None, closed="left")
RANDOM_STATE = [Interval(Integral, 0, None, closed="left"), np.random.RandomState, np.random.Generator, None]
OUTLIERS = [Interval(Real, 0, 0.5, closed="neither"), StrOptions({"auto"}), None]
CONSTRAINTS: dict[str, list[Any]] = {
    "n_clusters": [POSITIVE_INTEGER],
    "views": [dict, None],
    "n_init": [POSITIVE_INTEGER],
    "max_iter": [POSITIVE_INTEGER],
    "tol": [NON_NEGATIVE],
    "patience": [POSITIVE_INTEGER],
    "outliers": OUTLIERS,
    "random_state": RANDOM_STATE,
    "n_jobs": [Integral, None],
    "verbose": ["verbose"],
}

Decorator = Callable[[Callable[..., Any]], Callable[..., Any]]
PARAMETER, GOT = re.compile(r"The '(\w+)' parameter"), ". Got "


def validate_params(parameter_constraints: Mapping[str, Any], *, prefer_skip_nested_validation: bool) -> Decorator:
    """Check the arguments of a function, as scikit-learn does, without writing data that was passed into the error."""
    return _shorten_errors(
        check_arguments(parameter_constraints, prefer_skip_nested_validation=prefer_skip_nested_validation)
    )


def _shorten_errors(decorator: Decorator) -> Decorator:
    """Shorten what the function of a decorator says about values: scikit-learn writes whole arrays and frames."""

    def decorate(function: Callable[..., Any]) -> Callable[..., Any]:
        checked = decorator(function)

        @functools.wraps(checked)
        def call(*args: Any, **kwargs: Any) -> Any:
            try:
                return checked(*args, **kwargs)
            except InvalidParameterError as error:
                arguments = inspect.signature(function).bind(*args, **kwargs).arguments
                estimator = arguments.get("self")
                message = shorten_value(str(error), arguments if estimator is None else vars(estimator))
                if message == str(error):
                    raise
                raise InvalidParameterError(message) from None

        return call

    return decorate


def shorten_value(message: str, arguments: Mapping[str, Any]) -> str:
    """Describe the value at the end of a message about a parameter if it is long."""
    head, got, shown = message.partition(GOT)
    shown = shown.removesuffix(" instead.")
    if not got or (len(shown) <= MAX_SHOWN and "\n" not in shown):
        return message
    parameter = PARAMETER.match(message)
    value = arguments.get(parameter[1]) if parameter else None
    described = describe_value(value) if repr(value) == shown else f"{shown.splitlines()[0][:MAX_SHOWN]}..."
    return f"{head}{GOT}{described} instead."


# Decorators of `fit` that check the estimator's parameters; the second also checks those of estimators fitted within.
check_parameters = _shorten_errors(_fit_context(prefer_skip_nested_validation=True))
check_all_parameters = _shorten_errors(_fit_context(prefer_skip_nested_validation=False))


def share_constraints(*names: str) -> dict[str, list[Any]]:
    """Return the constraints of some of the parameters that many estimators have."""
    return {name: CONSTRAINTS[name] for name in names}


def is_satisfied(constraints: Sequence[Any], value: Any) -> bool:
    """Whether a value satisfies one of the constraints of a parameter."""
    return any(make_constraint(constraint).is_satisfied_by(value) for constraint in constraints)
