"""Options of a method on the command line: ``--set NAME=VALUE``, checked before any file is read."""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from numbers import Integral
from typing import Any

import numpy as np

from .._docstrings import read_parameters
from .._suggest import suggest_name
from ..affinities import AFFINITIES
from ..divergences import DIVERGENCES
from ..families import FAMILIES
from ..files import parse_view
from ..files.spec import is_file, join_pair
from ..methods.common.validation import Interval, SequenceOf, StrOptions, is_satisfied
from ..registry import DEFAULT_METHOD, EstimatorDeclaration, find_estimator, list_estimators
from ..report.sections.method import write_value
from .log import UsageError
from .options import RunOptions

# parameters of estimators that the command line sets itself, and how
FLAGS = {
    "n_clusters": "use -k N",
    "random_state": "use --seed N",
    "views": "use --view NAME=FILE",
    "outliers": "use --outliers SHARE",
    "verbose": "a terminal shows progress unless --quiet is given",
}
WRAPPED = "estimator"  # the option that names the method within another
CATALOGS: dict[str, Mapping[str, type]] = {  # options whose values are objects, by name
    "affinity": AFFINITIES,
    "kernel": AFFINITIES,
    "families": FAMILIES,
    "divergence": DIVERGENCES,
}
ONLY_IN_PYTHON = ("covariance", "n_levels")  # options of objects that are arrays
WORDS = {"none": None, "true": True, "false": False}
NUMBER = re.compile(r"[-+]?(\d+\.?\d*|\.\d+)([eE][-+]?\d+)?")
CALL = re.compile(r"(?P<name>[^()]*)\((?P<options>.*)\)")
COMMA = re.compile(r",(?![^(]*\))")  # not within parentheses
SEQUENCES = (list, tuple, np.ndarray, "array-like")  # constraints of sequences whose items are not checked


@dataclass(frozen=True)
class Setting:
    """An option of a method and its value, for all views or for one."""

    text: str  # as the user gave it
    option: str
    view: str | None
    value: Any
    names_view: bool = False  # whether the value is the name of a view


@dataclass(frozen=True)
class Settings:
    """A method and the options that --set gives it."""

    declaration: EstimatorDeclaration  # builds estimators with these options
    settings: tuple[Setting, ...] = ()

    def check_views(self, names: Sequence[str], possible: Sequence[str] = ()) -> None:
        """Refuse a setting for a view that does not exist; `possible` are names that it may still turn out to have."""
        for setting in self.settings:
            view = setting.value if setting.names_view else setting.view
            if view in (None, *names, *possible):
                continue
            words = f"the views are {', '.join(map(repr, names))}"
            if setting.names_view:
                constraints, _ = get_constraints(self.declaration, setting.option)
                words += f"; {setting.option} may be {describe_choices(setting.option, constraints)}"
            raise UsageError(f"--set {setting.text}: there is no view {view!r}; {words}")


def check_settings(options: RunOptions) -> None:
    """Refuse settings that the method does not take, and views that --view does not name."""
    settings = read_settings(options.method, options.settings)
    specs = [parse_view(text) for text in options.view]
    # other files may hold several views, and data in memory is not read yet
    if specs and all(spec.selects_columns or not is_file(spec.path) for spec in specs):
        names = [spec.view_name for spec in specs]
        links = [f"{name}-{end}" for name in names for end in ("out", "in")]  # if the file turns out to hold links
        settings.check_views(names, links)


def read_settings(method: str, settings: Mapping[str, Any]) -> Settings:
    """Read the settings of a method by name; refuse those that it does not take."""
    return _apply_assignments(find_estimator(DEFAULT_METHOD if method == "auto" else method), settings)


def list_settings(settings: Mapping[str, Any]) -> list[str]:
    """Write the settings of a method as texts NAME=VALUE."""
    return [
        join_pair(name, value if isinstance(value, str) else write_value(value)) for name, value in settings.items()
    ]


def _apply_assignments(declaration: EstimatorDeclaration, assignments: Mapping[str, Any], prefix: str = "") -> Settings:
    """Return the method with the options that are assigned by name; `prefix` is what users write before the names."""
    if declaration.wraps is not None:
        inner = {name: value for name, value in assignments.items() if name.startswith(f"{WRAPPED}.")}
        assignments = {name: value for name, value in assignments.items() if name not in inner}
        choices = {name: method for name, method in list_estimators().items() if method.wraps is None}
        method = assignments.pop(WRAPPED, declaration.wraps.name)
        if method not in choices:
            raise UsageError(f"--set {WRAPPED}={method}: {WRAPPED} must be a method: {', '.join(choices)}")
        inner = {name.removeprefix(f"{WRAPPED}."): value for name, value in inner.items()}
        wrapped = _apply_assignments(choices[method], inner, f"{WRAPPED}.")
        for setting in wrapped.settings:
            if setting.view is not None or setting.names_view:
                remedy = "leave it out" if setting.names_view else f"use {WRAPPED}.{setting.option}=VALUE"
                raise UsageError(f"--set {setting.text}: the columns of all views are one view: {remedy}")
        declaration = replace(
            declaration,
            wraps=wrapped.declaration,
            title=f"{wrapped.declaration.title} of all columns side by side",
            takes_raw_counts=wrapped.declaration.takes_raw_counts,
            chooses_n_clusters=wrapped.declaration.chooses_n_clusters,
        )
    settings = []
    for name, value in assignments.items():
        text = f"{prefix}{name}={value}"
        try:
            settings.append(_parse_setting(declaration, text, name, value))
        except ValueError as error:
            raise UsageError(f"--set {text}: {error}") from error
    settings.sort(key=lambda setting: setting.view is not None)  # values for one view override those for all
    chosen = replace(declaration, choose_options=partial(_choose_options, declaration, settings))
    return Settings(chosen, tuple(settings))


def _choose_options(
    declaration: EstimatorDeclaration, settings: Sequence[Setting], kinds: Mapping[str, str]
) -> dict[str, Any]:
    """Return the constructor arguments for views of these kinds, with the settings in place of what kinds choose.

    A value for all views leaves views of similarities alone, which have no columns to compare. A value that names a
    view is left out if the view is not among these, as in the comparison with single views.
    """
    options = declaration.choose_options(kinds)
    for setting in settings:
        name, value = setting.option, setting.value
        if setting.names_view and value not in kinds:
            continue
        default = inspect.signature(declaration.estimator_class).parameters[name].default
        current = options.get(name, default)
        by_view = current if type(current) is dict else {}
        if setting.view is None:
            similarities = {view: by_view[view] for view in by_view if kinds[view] == "similarities"}
            options[name] = {**dict.fromkeys(kinds, value), **similarities} if similarities else value
        elif setting.view in kinds:
            for_others = default if by_view else current
            options[name] = {**dict.fromkeys(kinds, for_others), **by_view, setting.view: value}
    return options


def list_options(declaration: EstimatorDeclaration) -> list[str]:
    """Return the names of the options that --set takes, in the order of the constructor."""
    parameters = inspect.signature(declaration.estimator_class).parameters
    only_python = list_python_options(declaration)
    return [name for name in parameters if name not in FLAGS and name not in only_python]


def list_python_options(declaration: EstimatorDeclaration) -> list[str]:
    """Return the names of the options of which text can only express the default."""
    parameters = inspect.signature(declaration.estimator_class).parameters
    described = {name: describe_choices(name, get_constraints(declaration, name)[0]) for name in parameters}
    return [name for name, choices in described.items() if name not in FLAGS and choices in ("auto", "none")]


def get_constraints(declaration: EstimatorDeclaration, option: str) -> tuple[list[Any], bool]:
    """Return what a value of an option may be (nothing if the class does not say it), and whether views may differ.

    Arrays and values by view to start from (`init`) are for Python only.
    """
    constraints = list(getattr(declaration.estimator_class, "_parameter_constraints", {}).get(option, ()))
    if dict not in constraints and option != "init":
        return constraints, False
    values = [constraint for constraint in constraints if constraint not in (dict, *SEQUENCES)]
    return values, option != "init"


def _parse_setting(declaration: EstimatorDeclaration, text: str, name: str, value: Any) -> Setting:
    """Read a setting, and check its name, its type and its range."""
    option, dot, view = name.partition(".")
    if option in FLAGS and option in declaration.parameters:
        raise UsageError(f"{option} is not set by --set: {FLAGS[option]}")
    if option in list_python_options(declaration):
        raise UsageError(f"{option} is not set by --set: only Python can give it")
    options = list_options(declaration)
    if option not in options:
        others = [method.name for method in list_estimators().values() if option in list_options(method)]
        hint = f" (it is an option of {', '.join(others)})" if others else ""
        all_options = f"choose from {', '.join(options)}"
        remedy = all_options if others else suggest_name(option, options)
        raise UsageError(f"--method {declaration.name} has no option {option!r}{hint}: {remedy}")
    constraints, is_per_view = get_constraints(declaration, option)
    if dot and not view:
        raise UsageError(f"name the view after the dot, as in {option}.VIEW=VALUE")
    if dot and not is_per_view:
        by_view = [name for name in options if get_constraints(declaration, name)[1]]
        remedy = f"options per view are {', '.join(by_view)}" if by_view else "the method has no options per view"
        raise UsageError(f"{option} takes no value for a single view; {remedy}")
    if dot:  # what 'auto' alone chooses is one value for all views
        constraints = [item for item in constraints if getattr(item, "options", None) != {"auto"}]
    for candidate in _list_candidates(option, value):
        if _is_valid(option, candidate, constraints):
            words = [constraint for constraint in constraints if constraint is not str]
            names_view = str in constraints and option not in CATALOGS and not is_satisfied(words, candidate)
            return Setting(text, option, view if dot else None, candidate, names_view)
    objects = list_objects(option, constraints)
    example = next((f", also with options: {name}({names[0]}=...)" for name, names in objects.items()), "")
    raise UsageError(f"{option} must be {describe_choices(option, constraints)}{example}")


def _list_candidates(option: str, text: Any) -> Iterator[Any]:
    """Yield what a value may mean: an object, a word or a number, a string, or a list; only text is ambiguous."""
    if not isinstance(text, str):
        yield text
        return
    if option in CATALOGS and (call := CALL.fullmatch(text)):
        yield _build_object(CATALOGS[option], call["name"].strip(), call["options"])
        return
    literal = _parse_literal(text)
    yield literal
    if literal is not text:
        yield text  # such as transfer=none
    yield [_parse_literal(item.strip()) for item in text.split(",")]


def _parse_literal(text: str) -> Any:
    """Parse none, true, false or a number; anything else is a string."""
    if text.lower() in WORDS:
        return WORDS[text.lower()]
    if not NUMBER.fullmatch(text):
        return text
    return int(text) if text.lstrip("+-").isdecimal() else float(text)


def _is_valid(option: str, value: Any, constraints: Sequence[Any]) -> bool:
    """Whether the estimator takes a value; without constraints it takes anything."""
    match value:
        case bool() if constraints:
            return "boolean" in constraints  # to Python, true is a number
        case str() if option in CATALOGS and str in constraints:
            return value in ("auto", *CATALOGS[option])
    return not constraints or is_satisfied(constraints, value)


def _build_object(catalog: Mapping[str, type], name: str, options: str) -> Any:
    """Build an object from its name and its options, such as ``n_neighbors=15``."""
    if name not in catalog:
        raise UsageError(f"there is no {name!r}: {suggest_name(name, catalog)}")
    valid = [option for option in read_parameters(catalog[name]) if option not in ONLY_IN_PYTHON]
    values: dict[str, Any] = {}
    for text in filter(None, COMMA.split(options)):
        option, _, value = (part.strip() for part in text.partition("="))
        if option not in valid:
            raise UsageError(
                f"{name} has no option {option!r}: {suggest_name(option, valid) if valid else 'it has none'}"
            )
        values[option] = _parse_literal(value)
        if option in CATALOGS:
            call = CALL.fullmatch(value)
            values[option] = _build_object(
                CATALOGS[option], *((call["name"], call["options"]) if call else (value, ""))
            )
    try:
        return catalog[name](**values)
    except TypeError as error:
        raise UsageError(f"{name}({options}): {error}") from error


def describe_choices(option: str, constraints: Sequence[Any]) -> str:
    """Say what an option may be, as on the command line."""
    choices: list[str] = []
    catalog = CATALOGS.get(option, {})
    for constraint in constraints:
        match constraint:
            case StrOptions():
                choices += sorted(constraint.options)
            case Interval():
                choices.append(str(constraint))
            case SequenceOf():
                items = describe_choices("", [constraint.item])
                choices.append(f"a list separated by commas (each item {items})")
            case "boolean":
                choices += ["true", "false"]
            case None:
                choices.append("none")
            case type() if constraint is str:
                choices += ["auto", *catalog] if catalog else ["the name of a view"]
            case type() if constraint is Integral:
                choices.append("an integer")
    *first, last = choices or ["an object, which only Python can give"]
    return f"{', '.join(first)} or {last}" if first else last


def list_objects(option: str, constraints: Sequence[Any]) -> dict[str, list[str]]:
    """Return the names of objects that an option takes and that have options, with these."""
    objects = {}
    for name, kind in CATALOGS.get(option, {}).items():
        options = [parameter for parameter in read_parameters(kind) if parameter not in ONLY_IN_PYTHON]
        if options and is_satisfied(constraints, kind()):
            objects[name] = options
    return objects


def describe_parameters(estimator: Any) -> dict[str, Any]:
    """Return the parameters of an estimator as JSON can hold them; objects are written as in Python."""
    return {name: _describe_value(value) for name, value in estimator.get_params(deep=False).items()}


def _describe_value(value: Any) -> Any:
    match value:
        case None | bool() | int() | float() | str():
            return value
        case dict():
            return {name: _describe_value(item) for name, item in value.items()}
        case list() | tuple():
            return [_describe_value(item) for item in value]
    if hasattr(value, "get_params"):
        return {"class": type(value).__name__, **describe_parameters(value)}
    return write_value(value)
