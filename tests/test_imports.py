"""What importing the package costs, and what it leaves to be imported when needed."""

import ast
import json
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest


def test_every_public_name_is_there():
    import consilience

    assert all(hasattr(consilience, name) for name in consilience.__all__)
    assert consilience.__version__.count(".") == 2
    assert set(consilience.__all__) <= set(dir(consilience))
    with pytest.raises(AttributeError, match="module 'consilience' has no attribute 'KMeans'"):
        _ = consilience.KMeans
    with pytest.raises(ImportError, match=r"cannot import name 'KMeans' from 'consilience\.methods'"):
        from consilience.methods import KMeans  # noqa: F401


def read_static_imports(code):
    """Return the names that the module imports for type checkers only, with the module that each comes from."""
    (block,) = [node for node in ast.parse(code).body if isinstance(node, ast.If)]
    imports = [node for node in block.body if isinstance(node, ast.ImportFrom)]
    assert all(node.level == 1 for node in imports)
    return {alias.name: node.module for node in imports for alias in node.names}


@pytest.mark.parametrize("package", ["consilience", "consilience.methods"])
def test_lists_of_public_names_agree(package):
    module = import_module(package)
    static = read_static_imports(Path(module.__file__).read_text(encoding="utf-8"))
    subpackages = {name for name, origin in static.items() if origin is None}
    names = {name: origin for origin, names in module._NAMES_BY_MODULE.items() for name in names}
    assert {name: origin for name, origin in static.items() if origin is not None} == names
    assert subpackages <= set(getattr(module, "_SUBPACKAGES", ()))
    assert {*static, "__version__"} == {*module.__all__, "__version__"}


def test_every_package_is_importable_by_name():
    import consilience

    folders = {folder.parent.name for folder in Path(consilience.__file__).parent.glob("[a-z]*/__init__.py")}
    assert folders - {"arrays", "cli", "rows", "workbench"} == set(consilience._SUBPACKAGES)


STAGES = """
import json, sys

def list_modules(*names):
    return sorted(name for name in sys.modules if name.partition(".")[0] in names)

facts = {}
import consilience, consilience.methods
facts["at first"] = list_modules("numpy", "scipy", "sklearn", "consilience")
assert "CoEM" in dir(consilience.methods)
import sklearn.cluster  # scikit-learn itself imports pandas and rich where they are installed
theirs = set(sys.modules)
from consilience import MultiViewKMeans
facts["of an estimator"] = list_modules("consilience")
import numpy as np
MultiViewKMeans(2, n_init=1).fit(np.random.default_rng(0).random((20, 2)))
consilience.MultiViewAgglomerative(2)
heavy = {"matplotlib", "pandas", "polars", "dask", "torch", "numba", "llvmlite", "rich", "mudata", "anndata"}
facts["heavy"] = sorted(heavy & (set(sys.modules) - theirs))
names = sorted({*consilience.__all__, "data", "methods", "persist", "report"})
for name in names:
    value = getattr(consilience, name)
    assert value is getattr(consilience, name), name
assert not set(names) - set(dir(consilience))
from consilience import *
assert all(name in globals() for name in consilience.__all__)
print(json.dumps(facts))
"""


def test_names_are_imported_on_first_use_and_an_estimator_with_its_own_method_only():
    done = subprocess.run([sys.executable, "-c", STAGES], capture_output=True, text=True, check=True)
    facts = json.loads(done.stdout)
    assert facts["at first"] == ["consilience", "consilience._lazy", "consilience._version", "consilience.methods"]
    assert facts["heavy"] == []
    modules = [name.split(".") for name in facts["of an estimator"]]
    others = {"affinities", "assessment", "baselines", "explain", "families", "pipeline", "plot", "report"}
    assert {parts[1] for parts in modules if len(parts) > 1} & others == set()
    assert [parts[2] for parts in modules if parts[1:2] == ["methods"] and len(parts) == 3] == ["common", "kmeans"]


LOAD = """
import sys
from consilience import load
print([type(model).__name__ for model in load(sys.argv[1])])
"""


def test_models_load_in_a_process_that_has_imported_no_estimator(tmp_path):
    import consilience

    models = [getattr(consilience, name)() for name in ("CoEM", "MultiViewSphericalKMeans", "COPKMeans")]
    consilience.save(models, tmp_path / "models.zip")
    command = [sys.executable, "-c", LOAD, str(tmp_path / "models.zip")]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert done.stdout == f"{[type(model).__name__ for model in models]}\n"


def test_every_package_has_quick_tests():
    """The tests that ``make quick`` runs."""
    tests, source = Path(__file__).parent, Path(__file__).parents[1] / "src" / "consilience"
    packages = [folder.parent for pattern in ("*", "methods/*") for folder in source.glob(f"{pattern}/__init__.py")]
    names = [package.relative_to(source).as_posix() for package in packages]
    files = {name: (tests / name).rglob("test_*.py") for name in names}
    marked = {name for name in names if any("mark.quick" in path.read_text(encoding="utf-8") for path in files[name])}
    assert sorted(set(names) - marked) == []
