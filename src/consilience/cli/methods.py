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
    if options.method is None:
        terminal.print_result(list_methods(), always=True)
        terminal.print_json([collect_facts(declaration) for declaration in list_estimators().values()])
    else:
        declaration = find_estimator(options.method)
        terminal.print_result(describe_method(declaration), always=True)
        terminal.print_json({**collect_facts(declaration), "options": collect_options(declaration)})


def collect_facts(declaration: EstimatorDeclaration) -> dict[str, Any]:
    """Return the name of a method, its title and a line about it."""
    return {"name": declaration.name, "title": declaration.title, "description": get_first_line(declaration)}


def collect_options(declaration: EstimatorDeclaration) -> list[dict[str, Any]]:
    """Return the options of a method that --set takes: default, values, and a line about each."""
    parameters = read_parameters(declaration.estimator_class)
    options = []
    for option in list_options(declaration):
        constraints, is_per_view = get_constraints(declaration, option)
        values = describe_choices(option, constraints) if constraints else None
        if option == WRAPPED and declaration.wraps is not None:
            values = ", ".join(name for name, method in list_estimators().items() if method.wraps is None)
        options.append(
            {
                "name": option,
                "default": write_default(declaration, option),
                "values": values,
                "per_view": is_per_view,
                "description": parameters[option].summary.replace("``", "") if option in parameters else None,
            }
        )
    return options


def list_methods() -> str:
    """Return the name and title of each method, with a line about it."""
    lines = []
    for name, declaration in list_estimators().items():
        lines += [*textwrap.wrap(f"{name}: {declaration.title}", WIDTH), *wrap_indented(get_first_line(declaration))]
    return "\n".join([*lines, "", "Options of a method: consilience methods METHOD"])


def describe_method(declaration: EstimatorDeclaration) -> str:
    """Return the options of a method that --set takes, with defaults and a line about each."""
    name, options = declaration.name, collect_options(declaration)
    parameters = read_parameters(declaration.estimator_class)
    lines = [*textwrap.wrap(f"{name}: {declaration.title}", WIDTH), *wrap_indented(get_first_line(declaration))]
    lines += ["", "Options for --set:" if options else "It has no options for --set."]
    for option in options:
        form = f"  {option['name']}={option['default']}"
        lines.append(f"{form}, or {option['name']}.VIEW=VALUE for one view" if option["per_view"] else form)
        lines += wrap_indented(option["description"] or "")
        is_wrapped = option["name"] == WRAPPED and declaration.wraps is not None
        if option["values"] is not None:
            inner = f". Options of it: {WRAPPED}.NAME=VALUE" if is_wrapped else ""
            lines += wrap_indented(f"Values: {option['values']}{inner}")
        for kind, names in list_objects(option["name"], get_constraints(declaration, option["name"])[0]).items():
            lines += wrap_indented(f"{kind}({', '.join(f'{name}=...' for name in names)})")
    only_python = dict.fromkeys(list_python_options(declaration), "only in Python")
    flags = [f"{option}: {remedy}." for option, remedy in (FLAGS | only_python).items() if option in parameters]
    lines += ["", "Not for --set:", *(f"  {flag}" for flag in flags)] if flags else []
    examples = [declaration.example or f"{option['name']}={option['default']}" for option in options[:1]]
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
