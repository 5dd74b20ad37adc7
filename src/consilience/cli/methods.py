"""``consilience methods``: list the methods, or the options of one method, from the docstrings of the estimators."""

from __future__ import annotations

import argparse
import inspect
import textwrap
from typing import Any

from .._docstrings import read_parameters
from ..pipeline.settings import (
    FLAGS,
    WRAPPED,
    describe_choices,
    get_constraints,
    list_objects,
    list_options,
    list_python_options,
)
from ..registry import EstimatorDeclaration, find_estimator, list_estimators
from .terminal import Terminal

WIDTH = 80
INDENT = " " * 6


def run_methods(options: argparse.Namespace, terminal: Terminal) -> None:
    """Print the list of methods, or the options of one."""
    text = list_methods() if options.method is None else describe_method(find_estimator(options.method))
    terminal.print_result(text, always=True)


def list_methods() -> str:
    """Return the name and title of each method, with a line about it."""
    lines = []
    for name, declaration in list_estimators().items():
        lines += [*textwrap.wrap(f"{name}: {declaration.title}", WIDTH), *wrap_indented(get_first_line(declaration))]
    return "\n".join([*lines, "", "Options of a method: consilience methods METHOD"])


def describe_method(declaration: EstimatorDeclaration) -> str:
    """Return the options of a method that --set takes, with defaults and a line about each."""
    name, options = declaration.name, list_options(declaration)
    parameters = read_parameters(declaration.estimator_class)
    lines = [*textwrap.wrap(f"{name}: {declaration.title}", WIDTH), *wrap_indented(get_first_line(declaration))]
    lines += ["", "Options for --set:" if options else "It has no options for --set."]
    for option in options:
        constraints, is_per_view = get_constraints(declaration, option)
        form = f"  {option}={write_default(declaration, option)}"
        lines.append(f"{form}, or {option}.VIEW=VALUE for one view" if is_per_view else form)
        if option in parameters:
            lines += wrap_indented(parameters[option].summary.replace("``", ""))
        if option == WRAPPED and declaration.wraps is not None:
            methods = [name for name, method in list_estimators().items() if method.wraps is None]
            lines += wrap_indented(f"Values: {', '.join(methods)}. Options of it: {WRAPPED}.NAME=VALUE")
        elif constraints:
            lines += wrap_indented(f"Values: {describe_choices(option, constraints)}")
        for kind, names in list_objects(option, constraints).items():
            lines += wrap_indented(f"{kind}({', '.join(f'{name}=...' for name in names)})")
    only_python = dict.fromkeys(list_python_options(declaration), "only in Python")
    flags = [f"{option}: {remedy}." for option, remedy in (FLAGS | only_python).items() if option in parameters]
    lines += ["", "Not for --set:", *(f"  {flag}" for flag in flags)] if flags else []
    examples = [declaration.example or f"{option}={write_default(declaration, option)}" for option in options[:1]]
    command = " ".join([f"--method {name}", *(f"--set {example}" for example in examples)])
    start = "consilience cluster --view a=a.csv --view b=b.csv -k 3 \\"
    return "\n".join([*lines, "", "Example:", f"  {start}", f"      {command}"])


def get_first_line(declaration: EstimatorDeclaration) -> str:
    """Return the first line of the docstring of a method's class."""
    return (inspect.getdoc(declaration.estimator_class) or "").partition("\n")[0]


def write_default(declaration: EstimatorDeclaration, option: str) -> str:
    """Write the default of an option as the command line takes it."""
    if declaration.wraps is not None and option == WRAPPED:
        return declaration.wraps.name
    default = inspect.signature(declaration.estimator_class).parameters[option].default
    chosen = declaration.choose_options({"view": "numbers"}).get(option, default)
    if type(chosen) is dict:
        return "(by the kind of the view)"
    return ",".join(map(write_literal, chosen)) if type(chosen) in (list, tuple) else write_literal(chosen)


def write_literal(value: Any) -> str:
    """Write a value as --set takes it."""
    return str(value).lower() if value is None or type(value) is bool else str(value)


def wrap_indented(text: str) -> list[str]:
    """Wrap a text below its heading."""
    return textwrap.wrap(text, WIDTH, initial_indent=INDENT, subsequent_indent=INDENT, break_on_hyphens=False)
