"""Shared parts of docstrings are filled in, and no placeholder is left in what `help` shows."""

import inspect

import pytest

import consilience as cs
from consilience._docstrings import PLACEHOLDER, fill_docstrings, read_parameters

PARTS = {"n_clusters": "n_clusters : int<default>\n    Number of clusters.", "returns": "Returns\n-------\nself"}


def make_estimator():
    @fill_docstrings(PARTS)
    class Estimator:
        """Cluster, 100% of the time.

        Parameters
        ----------
        %(n_clusters)s
            At least 1.
        """

        def __init__(self, n_clusters=8):
            self.n_clusters = n_clusters

        def fit(self):
            """Fit.

            %(returns)s
            """

        @classmethod
        def preset(cls):
            """Choose.

            %(returns)s
            """

    return Estimator


def test_parameter_gets_default_of_signature():
    doc = inspect.getdoc(make_estimator())
    assert "n_clusters : int, default=8\n    Number of clusters.\n    At least 1." in doc
    assert doc.startswith("Cluster, 100% of the time.")


@pytest.mark.parametrize("method", ["fit", "preset"])
def test_methods_are_filled(method):
    assert inspect.getdoc(getattr(make_estimator(), method)).endswith("Returns\n-------\nself")


def test_unknown_part_is_an_error():
    with pytest.raises(KeyError, match="no shared part 'missing'"):

        @fill_docstrings(PARTS)
        def function():
            """Do.

            %(missing)s
            """


def find_public_objects():
    for module in (cs, cs.baselines, cs.plot, cs.datasets, cs.explain, cs.metrics):
        for name in module.__all__:
            documented = getattr(module, name)
            if inspect.isclass(documented) or inspect.isfunction(documented):
                yield pytest.param(documented, id=name)


@pytest.mark.parametrize("documented", list(find_public_objects()))
def test_no_placeholder_is_left(documented):
    members = [member for _, member in inspect.getmembers(documented)] if inspect.isclass(documented) else []
    for text in (getattr(member, "__doc__", None) for member in [documented, *members]):
        assert not PLACEHOLDER.search(str(text))


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
    assert {name: text.type for name, text in parameters.items()} == {
        "first": "{'a', 'b'}",
        "second": "int",
        "third": "int",
        "fourth": "bool",
    }
    assert parameters["first"].summary == "What is done, as in Eq. 2 or by Function.of(x)."
    assert parameters["first"].description.endswith(" More about it.")
    assert parameters["third"].summary == "Numbers."
    assert parameters["fourth"].summary == ""


def test_function_without_docstring_has_no_parameters():
    assert read_parameters(lambda: None) == {}
