"""Shared parts of docstrings are filled in, and the docstrings of public functions and classes describe parameters."""

import inspect
from dataclasses import fields, is_dataclass

import pytest

from consilience._docstrings import PLACEHOLDER, fill_docstrings, read_parameters
from reference import PUBLIC, list_commented, list_fields, list_members

# Classes whose objects functions return: users do not call the constructor.
RETURNED = {"Result"}


def test_shared_parts_are_filled_in_with_defaults_of_the_signature():
    @fill_docstrings({"k": "k : int<default>\n    Number of clusters.", "returns": "Returns\n-------\nself"})
    class Estimator:
        """Cluster, 100% of the time.

        %(k)s
            At least 1.
        """

        def __init__(self, k=8):
            self.k = k

        @classmethod
        def preset(cls):
            """%(returns)s"""

    filled = "Cluster, 100% of the time.\n\nk : int, default=8\n    Number of clusters.\n    At least 1."
    assert inspect.getdoc(Estimator) == filled
    assert inspect.getdoc(Estimator.preset) == "Returns\n-------\nself"


def test_unknown_part_is_an_error():
    with pytest.raises(KeyError, match="no shared part 'missing'"):

        @fill_docstrings({})
        def function():
            """Do.

            %(missing)s
            """


def test_no_placeholder_is_left():
    objects = {name: value for name, value in PUBLIC.items() if not inspect.isclass(value)} | METHODS | CLASSES
    assert [name for name, value in objects.items() if PLACEHOLDER.search(str(value.__doc__))] == []


def list_methods(cls):
    members = {name: getattr(cls, name, None) for name in list_members(cls)}
    return {name: member for name, member in members.items() if callable(member)}


def list_parameters(function):
    return {name for name in inspect.signature(function).parameters if name != "self" and not name.startswith("_")}


CLASSES = {name: value for name, value in PUBLIC.items() if inspect.isclass(value)}
FUNCTIONS = {name: value for name, value in PUBLIC.items() if callable(value) and name not in CLASSES}
METHODS = {
    f"{name}.{method}": function for name, cls in CLASSES.items() for method, function in list_methods(cls).items()
}
CONSTRUCTED = {
    name: cls
    for name, cls in CLASSES.items()
    if name not in RETURNED and not issubclass(cls, Exception | str | dict) and not getattr(cls, "_is_protocol", False)
}


def test_docstrings_describe_the_parameters():
    differences = {
        name: list_fields(function, "Parameters") ^ list_parameters(function)
        for name, function in (FUNCTIONS | METHODS).items()
    }
    assert {name: names for name, names in differences.items() if names} == {}


def test_docstrings_of_classes_describe_the_parameters_and_fields():
    lacking, superfluous = {}, {}
    for name, cls in CONSTRUCTED.items():
        parameters, described = list_parameters(cls), list_fields(cls, "Parameters", "Attributes") | list_commented(cls)
        public = {field.name for field in fields(cls) if field.name[0] != "_"} if is_dataclass(cls) else set()
        lacking[name] = (parameters | public) - described
        superfluous[name] = list_fields(cls, "Parameters") - parameters
    assert {name: names for name, names in lacking.items() if names} == {}
    assert {name: names for name, names in superfluous.items() if names} == {}


def test_parameters_are_read_with_type_and_first_sentence():
    def function():
        """Do.

        Parameters
        ----------
        first : {'a', 'b'}, default='a'
            What is done, as in Eq. 2 or by Function.of(x). More
            about it.
        second, third : int, optional
            Numbers.
        fourth : bool

        Returns
        -------
        other : int
            Not a parameter.
        """

    parameters = read_parameters(function)
    assert list(parameters) == ["first", "second", "third", "fourth"]
    assert [text.type for text in parameters.values()] == ["{'a', 'b'}", "int", "int", "bool"]
    assert parameters["first"].summary == "What is done, as in Eq. 2 or by Function.of(x)."
    assert parameters["first"].description.endswith(" More about it.")
    assert parameters["third"].summary == "Numbers."
    assert parameters["fourth"].summary == ""
