"""Every line of docs/variants.md runs, and the Python call and the command line of a row set the same options."""

import re
import shlex
import warnings
from contextlib import chdir
from pathlib import Path

import pytest

import consilience as cs
from stage import run_successfully

PAGE = (Path(__file__).parents[1] / "docs" / "variants.md").read_text(encoding="utf-8")
NOT_COMPARED = {"n_clusters", "random_state", "n_jobs", "verbose", "views"}
WRAPPERS = {"MergedViews", "ConcatenatedViews"}
MISSING = "—"


def parse_rows():
    lines = [line for line in PAGE.splitlines() if line.startswith("|")]
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]
    return [row for row in rows if row[0] != "variant" and set(row[0]) != {"-"}]


ROWS = parse_rows()


def read_code(cell):
    assert cell.startswith("`")
    assert cell.endswith("`")
    return cell.strip("`")


@pytest.fixture(scope="module")
def prepared(tmp_path_factory):
    """The names that the page defines, its shell variables, and the folder with its files."""
    folder, names = tmp_path_factory.mktemp("variants"), {}
    with chdir(folder):
        exec(re.search(r"```python\n(.*?)```", PAGE, flags=re.DOTALL)[1], names)
    return names, dict(re.findall(r'^    ([A-Z]+)="(.*)"$', PAGE, flags=re.MULTILINE)), folder


def unify(value):
    """Return a parameter without distinctions that make no difference: one value per view, lists and tuples."""
    match value:
        case dict() if len(set(map(str, value.values()))) == 1:
            return str(next(iter(value.values())))
        case list() | tuple():
            return str(list(map(float, value)))
        case int() | float() if not isinstance(value, bool):
            return str(float(value))
        case dict():
            return {name: unify(item) for name, item in sorted(value.items())}
    return {"estimator": list_options(value)} if hasattr(value, "get_params") else str(value)


def list_options(estimator):
    parameters = estimator.get_params(deep=False)
    return {
        "class": type(estimator).__name__,
        **{name: unify(value) for name, value in parameters.items() if name not in NOT_COMPARED},
    }


@pytest.mark.parametrize("row", ROWS, ids=[row[0].replace(" ", "-") for row in ROWS])
def test_python_and_command_line_run_the_same_variant(row, prepared, tmp_path):
    names, variables, folder = prepared
    assert len(row) == 3
    with chdir(folder), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the data is small
        model = eval(read_code(row[1]), dict(names))
        assert len(set(model.labels_ if hasattr(model, "labels_") else model[-1].labels_)) >= 2
        if row[2] == MISSING:
            return
        line = re.sub(r"\$([A-Z]+)", lambda variable: variables[variable[1]], read_code(row[2]))
        program, command, *arguments = shlex.split(line)
        assert (program, command) == ("consilience", "cluster")
        run_successfully(command, *arguments, "--no-assess", "--out", tmp_path / "out")
    built = cs.load(tmp_path / "out" / "model.zip")["estimator"]
    expected = model[-1] if hasattr(model, "steps") else model
    while type(expected) is not type(built) and type(expected).__name__ in WRAPPERS:
        expected = expected.estimator  # views that one --view merges
    assert list_options(built) == list_options(expected)


def test_every_method_of_the_papers_is_on_the_page():
    from consilience.registry import list_estimators

    commands = " ".join(row[2] for row in ROWS)
    assert [name for name in list_estimators() if f"--method {name}" not in commands] == ["consilience"]
