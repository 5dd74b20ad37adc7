"""consilience methods: the list of methods and of their options, from the docstrings."""

import inspect
import subprocess
import sys

from consilience._docstrings import read_parameters
from consilience.cli.methods import WIDTH, write_default
from consilience.pipeline.options import parse_pairs
from consilience.pipeline.settings import FLAGS, list_options, list_python_options, read_settings
from consilience.registry import EstimatorDeclaration, declare_estimator, list_estimators
from stage import run_command, run_successfully

DECLARATIONS = list_estimators()


def test_list_has_every_method_with_title_and_first_line():
    text = run_successfully("methods").out
    words = " ".join(text.split())
    for name, declaration in DECLARATIONS.items():
        assert f"{name}: {declaration.title} {inspect.getdoc(declaration.estimator_class).splitlines()[0]}" in words
    assert max(map(len, text.splitlines())) <= WIDTH


def test_every_option_has_default_and_line():
    for name, declaration in DECLARATIONS.items():
        text = run_successfully("methods", name).out
        assert max(map(len, text.splitlines())) <= WIDTH
        words = " ".join(text.split())
        texts = read_parameters(declaration.estimator_class)
        parameters = set(inspect.signature(declaration.estimator_class).parameters)
        only_python = list_python_options(declaration)
        assert only_python == (["init"] if name in ("consilience", "convex") else [])  # labels or weights to start from
        assert {*list_options(declaration), *only_python} | (parameters & set(FLAGS)) == parameters
        for option in only_python:
            assert f" {option}: only in Python." in words
        assert "``" not in words
        for option in list_options(declaration):
            assert len(texts[option].summary) > 10
            assert f" {option}={write_default(declaration, option)}" in words
            assert texts[option].summary.replace("``", "") in words
        for option in parameters & set(FLAGS):
            assert f" {option}: {FLAGS[option]}." in words
        assert f"--method {name} --set {declaration.example}" in words


def test_shown_defaults_and_examples_are_valid_settings():
    kinds = {"a": "numbers"}
    for name, declaration in DECLARATIONS.items():
        defaults = {option: write_default(declaration, option) for option in list_options(declaration)}
        shown = [f"{option}={text}" for option, text in defaults.items() if not text.startswith("(")]
        settings = read_settings(name, parse_pairs("settings", shown))
        built, default = (method.build(3, kinds) for method in (settings.declaration, declaration))
        for option in list_options(declaration):
            expected = getattr(default, option)
            expected = list(expected) if type(expected) is tuple else expected
            assert str(getattr(built, option)) == str(expected), (name, option)
        assert read_settings(name, parse_pairs("settings", [declaration.example])).declaration.build(3, kinds)


def test_values_of_options_are_shown():
    text = " ".join(run_successfully("methods", "spectral").out.split())
    assert "affinity=(by the kind of the view), or affinity.VIEW=VALUE for one view" in text
    assert "Values: auto, chi2, cosine, gaussian, intersection, landmarks, linear, nearest-neighbors, nystroem" in text
    assert "nearest-neighbors(n_neighbors=..., metric=..., approximate=...)" in text
    assert "Values: an int in the range [1, inf) or none" in text
    text = " ".join(run_successfully("methods", "concatenation").out.split())
    assert "estimator=k-means" in text
    assert "Options of it: estimator.NAME=VALUE" in text


def test_unknown_method_is_refused_with_the_names():
    ran = run_command("methods", "magic")
    assert ran.code == 2
    for name in DECLARATIONS:
        assert name in ran.error_line


def test_list_goes_through_a_pipe_that_is_closed_early():
    command = f"{sys.executable} -m consilience methods co-em | head -1"
    ran = subprocess.run(["bash", "-o", "pipefail", "-c", command], capture_output=True, text=True)
    assert ran.stdout == "co-em: co-EM\n"
    assert ran.stderr == ""


def test_quiet_still_prints_the_list():
    assert run_successfully("methods", "--quiet").out == run_successfully("methods").out


def test_method_without_options_or_docstring(monkeypatch):
    class Plain:
        def __init__(self, n_clusters, random_state=None):
            pass

    monkeypatch.setattr("consilience.registry._DECLARATIONS", list_estimators())
    declare_estimator(EstimatorDeclaration("plain", "a method without options", Plain))
    text = run_successfully("methods", "plain").out
    assert "It has no options for --set." in text
    assert text.endswith("--method plain\n")
