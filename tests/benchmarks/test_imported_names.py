"""Names that benchmarks import from consilience exist, even if other dependencies are not installed."""

import ast
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path

import pytest

BENCHMARKS = Path(__file__).parents[2] / "benchmarks"


def list_imports(path):
    """Return the (module, name) pairs that a file imports from consilience."""
    nodes = ast.walk(ast.parse(path.read_text(encoding="utf-8")))
    imports = [node for node in nodes if isinstance(node, ast.ImportFrom) and not node.level]
    return [
        (node.module, alias.name)
        for node in imports
        for alias in node.names
        if node.module.partition(".")[0] == "consilience"
    ]


@pytest.mark.parametrize("path", sorted(BENCHMARKS.rglob("*.py")), ids=lambda path: path.stem)
def test_imported_names_exist(path):
    for module, name in list_imports(path):
        assert hasattr(import_module(module), name) or find_spec(f"{module}.{name}"), f"{module} has no {name}"
