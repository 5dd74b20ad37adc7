"""What importing the package costs, and what it leaves to be imported when needed."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

CODE = """
import sys
import sklearn.cluster  # scikit-learn itself imports pandas and rich where they are installed
theirs = set(sys.modules)
import consilience
heavy = {"matplotlib", "pandas", "polars", "dask", "torch", "numba", "llvmlite", "rich", "mudata", "anndata"}
print(sorted(heavy & (set(sys.modules) - theirs)))
import numpy as np
consilience.MultiViewKMeans(2, n_init=1).fit(np.random.default_rng(0).random((20, 2)))
print(sorted(heavy & (set(sys.modules) - theirs)))
"""


def test_import_and_a_dense_fit_load_nothing_heavy():
    done = subprocess.run([sys.executable, "-c", CODE], capture_output=True, text=True, check=True)
    assert done.stdout.split("\n")[:2] == ["[]", "[]"]


def test_every_public_name_is_there():
    import consilience

    assert all(hasattr(consilience, name) for name in consilience.__all__)
    assert consilience.__version__.count(".") == 2
    assert set(consilience.__all__) <= set(dir(consilience))
    with pytest.raises(AttributeError, match="module 'consilience' has no attribute 'KMeans'"):
        _ = consilience.KMeans


def read_static_imports(code):
    """Return the names that the module imports for type checkers only, with the module that each comes from."""
    (block,) = [node for node in ast.parse(code).body if isinstance(node, ast.If)]
    imports = [node for node in block.body if isinstance(node, ast.ImportFrom)]
    assert all(node.level == 1 for node in imports)
    return {alias.name: node.module for node in imports for alias in node.names}


def test_lists_of_public_names_agree():
    import consilience

    path = Path(consilience.__file__)
    static = read_static_imports(path.read_text(encoding="utf-8"))
    subpackages = {name for name, module in static.items() if module is None}
    assert {name: module for name, module in static.items() if module is not None} == consilience._MODULES
    assert subpackages <= set(consilience._SUBPACKAGES)
    assert sorted({*static, "__version__"}) == sorted(consilience.__all__)
    folders = {folder.parent.name for folder in path.parent.glob("[a-z]*/__init__.py")}
    assert folders - {"arrays", "cli", "rows"} == set(consilience._SUBPACKAGES)


LAZY = """
import sys
import consilience
print(sorted(name for name in sys.modules if name.partition(".")[0] in ("numpy", "scipy", "sklearn")))
names = sorted({*consilience.__all__, "data", "methods", "persist", "report"})
for name in names:
    value = getattr(consilience, name)
    assert value is getattr(consilience, name), name
assert not set(names) - set(dir(consilience))
from consilience import *
assert all(name in globals() for name in consilience.__all__)
print("complete")
"""


def test_public_names_are_imported_on_first_use():
    done = subprocess.run([sys.executable, "-c", LAZY], capture_output=True, text=True, check=True)
    assert done.stdout.split("\n")[:2] == ["[]", "complete"]
