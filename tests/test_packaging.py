"""Declarations of the package: dependencies, extras, and the contents of the wheel and the sdist."""

import ast
import os
import re
import subprocess
import sys
import tarfile
import textwrap
import tomllib
from contextlib import suppress
from email import message_from_bytes
from importlib.metadata import PackageNotFoundError, distribution, packages_distributions
from pathlib import Path
from runpy import run_path
from zipfile import ZipFile

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

import consilience
from oldest_versions import read_lower_bounds
from text_networks import write_onnx

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
EXTRAS = PROJECT["optional-dependencies"]
FOR_DEVELOPMENT = {"dev", "docs", "test"}
SOURCE_FOLDERS = ["benchmarks", "docs", "examples", "reproduction", "src", "tests", "tools"]
DATA_FILES = {".css", ".gz", ".html", ".js", ".npz", ".py", ".txt", ".typed"}


def needs_build(test):
    """Mark a test of the distributions, which takes time to build them."""
    return pytest.mark.protocol(pytest.mark.xdist_group("distributions")(test))


def build(target, source, folder):
    """Build a distribution of the source folder; return its path."""
    command = [sys.executable, "-m", "hatchling", "build", "--target", target, "--directory", str(folder)]
    environment = {**os.environ, "SOURCE_DATE_EPOCH": "1700000000"}
    subprocess.run(command, cwd=source, env=environment, capture_output=True, text=True, check=True)
    (path,) = folder.iterdir()
    return path


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    """A wheel that was built from the checkout."""
    return build("wheel", ROOT, tmp_path_factory.mktemp("wheel"))


@pytest.fixture(scope="module")
def sdist(tmp_path_factory):
    """A source distribution that was built from the checkout."""
    return build("sdist", ROOT, tmp_path_factory.mktemp("sdist"))


@pytest.fixture(scope="module")
def metadata(wheel):
    """The metadata of the wheel."""
    with ZipFile(wheel) as archive:
        (name,) = [name for name in archive.namelist() if name.endswith(".dist-info/METADATA")]
        return message_from_bytes(archive.read(name))


@needs_build
def test_wheel_contains_the_package_only(wheel):
    with ZipFile(wheel) as archive:
        names = archive.namelist()
        assert archive.testzip() is None
    information = f"consilience-{consilience.__version__}.dist-info"
    licenses = [
        f"licenses/{path.relative_to(ROOT).as_posix()}" for glob in PROJECT["license-files"] for path in ROOT.glob(glob)
    ]
    assert len(licenses) == 3
    assert {name for name in names if not name.startswith("consilience/")} == {
        f"{information}/{name}" for name in ("METADATA", "RECORD", "WHEEL", "entry_points.txt", *licenses)
    }
    folder = ROOT / "src" / "consilience"
    expected = {path.relative_to(folder.parent).as_posix() for path in folder.rglob("*") if path.suffix in DATA_FILES}
    assert {name for name in names if name.startswith("consilience/")} == expected
    assert {Path(name).suffix for name in expected} == DATA_FILES


@needs_build
def test_sdist_contains_what_tests_need_and_nothing_else(sdist):
    with tarfile.open(sdist) as archive:
        names = [Path(*Path(member.name).parts[1:]) for member in archive.getmembers() if member.isfile()]
    assert {name.parts[0] for name in names if len(name.parts) > 1} == set(SOURCE_FOLDERS)
    assert {str(name) for name in names if len(name.parts) == 1} == {
        ".gitignore",
        "CHANGELOG.md",
        "CITATION.cff",
        "CONTRIBUTING.md",
        "LICENSE",
        "Makefile",
        "PKG-INFO",
        "README.md",
        "RELEASING.md",
        "pyproject.toml",
    }
    assert not [name for name in names if "__pycache__" in name.parts or name.suffix in (".nbi", ".nbc", ".pyc")]
    needed = [path.relative_to(ROOT) for folder in ("docs", "tests") for path in (ROOT / folder).rglob("*.[mp][dy]")]
    assert set(needed) <= set(names)


@needs_build
def test_builds_are_reproducible_and_need_no_repository(wheel, sdist, tmp_path):
    with tarfile.open(sdist) as archive:
        archive.extractall(tmp_path / "unpacked", filter="data")
    (source,) = (tmp_path / "unpacked").iterdir()
    assert build("wheel", source, tmp_path / "wheel").read_bytes() == wheel.read_bytes()
    assert build("sdist", source, tmp_path / "sdist").read_bytes() == sdist.read_bytes()


@needs_build
def test_metadata_are_complete(metadata):
    assert metadata["Name"] == "consilience"
    assert metadata["Version"] == consilience.__version__
    assert metadata["License-Expression"] == PROJECT["license"]
    assert metadata["Requires-Python"] == PROJECT["requires-python"]
    assert metadata["Description-Content-Type"] == "text/markdown"
    addresses = dict(entry.split(", ") for entry in metadata.get_all("Project-URL"))
    assert set(addresses) == {"Homepage", "Documentation", "Source", "Issues", "Changelog"}
    classifiers = metadata.get_all("Classifier")
    assert "Typing :: Typed" in classifiers
    assert not [classifier for classifier in classifiers if classifier.startswith("License ::")]
    minor = sys.version_info.minor
    assert f"Programming Language :: Python :: 3.{minor}" in classifiers


def test_citation_has_the_version():
    assert f"\nversion: {consilience.__version__}\n" in (ROOT / "CITATION.cff").read_text(encoding="utf-8")


TARGET = r'\]\(\s*<?([^)\s>]+)|\b(?:src|href)="([^"]+)|srcset="([^"\s]+)|^\[[^\]]+\]:\s*(\S+)'


@needs_build
def test_links_of_the_readme_work_outside_of_the_repository(metadata):
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    text = metadata.get_payload(decode=True).decode("utf-8")
    links = ["".join(match) for match in re.findall(TARGET, text, flags=re.MULTILINE)]
    assert links
    base = "https://github.com/consilience-clustering/consilience"
    for link in links:
        assert re.match("https?:", link), f"PyPI cannot resolve {link}"
        if link.startswith((f"{base}/blob/", f"{base}/raw/")):
            kind, version, path = re.match(rf"{base}/(blob|raw)/([^/]+)/([^#]*)", link).groups()
            assert version == f"v{consilience.__version__}"
            assert (ROOT / path).exists(), f"{link}: the repository does not have {path}"
            assert (kind == "raw") == (Path(path).suffix in (".png", ".svg", ".gif", ".jpg"))
    code = r"^```.*?^```$|`[^`\n]+`"
    assert re.findall(code, text, flags=re.DOTALL | re.MULTILINE) == re.findall(
        code, readme, flags=re.DOTALL | re.MULTILINE
    )


def test_installed_package_does_not_need_the_repository():
    pattern = re.compile(r"^\s*(from|import) (reproduction|benchmarks|examples|tools)\b", flags=re.MULTILINE)
    sources = (ROOT / "src").rglob("*.py")
    assert [path.name for path in sources if pattern.search(path.read_text(encoding="utf-8"))] == []


# What each extra is for: code that runs where nothing else is installed than the package with this extra.
USES = {
    "dask": """
        import dask.array, dask.dataframe, distributed
        rows = dask.array.from_array(X, chunks=(20, 2))
        cs.MultiViewKMeans(2, n_init=1).fit(cs.Views({"a": rows, "b": rows}))
        dask.dataframe.from_dask_array(rows, columns=["a", "b"]).to_parquet("rows")
        frame = dask.dataframe.read_parquet("rows")
        cs.MultiViewKMeans(2, n_init=1).fit(cs.Views({"a": frame, "b": frame}))
    """,
    "excel": """
        cluster({"a": X}).save("run")
        cluster("run/groups.xlsx")
    """,
    "fetch": """
        import os
        from dataclasses import replace
        from functools import partial
        from hashlib import sha256
        from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
        from threading import Thread
        from consilience.datasets.fetch.load import download
        from consilience.datasets.fetch.uci import DIGITS
        os.environ |= {"HOME": os.getcwd(), "XDG_CACHE_HOME": os.getcwd(), "no_proxy": "*"}
        os.mkdir("site")
        Path("site", DIGITS.file).write_bytes(b"digits")
        server = ThreadingHTTPServer(("127.0.0.1", 0), partial(SimpleHTTPRequestHandler, directory="site"))
        Thread(target=server.serve_forever, daemon=True).start()
        address = f"http://127.0.0.1:{server.server_port}/{DIGITS.file}"
        files = download(replace(DIGITS, url=address, sha256=sha256(b"digits").hexdigest()))
        assert files.paths[0].is_relative_to(os.getcwd()) and files.paths[0].read_bytes() == b"digits"
    """,
    "frames": """
        import pandas, polars
        columns = {"a": X[:, 0], "b": X[:, 1]}
        assert "cluster" in cluster(polars.DataFrame(columns)).frame
        assert "cluster" in cluster(pandas.DataFrame(columns)).frame
        assert len(cluster({"a": X}).frame.to_pandas()) == 60
    """,
    "hdf5": """
        import h5py
        with h5py.File("rows.h5", "w") as file:
            file["X"] = X
            cs.MultiViewKMeans(2, n_init=1).fit({"a": file["X"], "b": file["X"]})
    """,
    "images": """
        from PIL import Image
        Path("pictures").mkdir()
        for i in range(40):
            Image.new("RGB", (16, 16), (5 * i + 50 * (i % 2), 90, 90)).save(f"pictures/{i}.png")
        cluster("pictures")
    """,
    "mudata": """
        import anndata
        cells = anndata.AnnData(X.copy(), obsm={"X_pca": X, "X_other": X})
        cells.write_h5ad("cells.h5ad")
        cs.MultiViewKMeans(2, n_init=1).fit(cs.Views.from_mudata(cells))
        cluster("cells.h5ad")
    """,
    "onnx": """
        from consilience.files.text_models import open_text_model
        model = open_text_model("network")
        assert model.embed(["a cat"]).shape == (1, 5)
    """,
    "parquet": """
        import pyarrow, pyarrow.parquet
        table = pyarrow.table({
            "id": [f"P{i}" for i in range(60)],
            "a": X[:, 0],
            "b": X[:, 1],
            "whole": pyarrow.array([None, *range(59)], pyarrow.int64()),
            "time": pyarrow.array([86_400 * 10**9 * i for i in range(60)], pyarrow.timestamp("ns", "UTC")),
        })
        pyarrow.parquet.write_table(table, "table.parquet")
        views = cs.Views.from_parquet("table.parquet", {"a": ["a", "whole"], "b": ["a", "b"]})
        cs.MultiViewKMeans(2, n_init=1).fit(cs.Views.from_parquet("table.parquet", {"a": ["a"], "b": ["a", "b"]}))
        result = cluster("table.parquet")
        assert len(result.predict("table.parquet")) == 60
        assert pyarrow.table(cluster(table).frame).num_rows == pyarrow.table(result.frame).num_rows == 60
        assert main(["cluster", "table.parquet", "-k", "2", "--out", "run", "--no-assess", "--quiet"]) == 0
    """,
    "plot": """
        import matplotlib
        matplotlib.use("Agg")
        views = {"a": X, "b": X}
        cs.plot.EmbeddingDisplay.from_estimator(cs.MultiViewKMeans(2, n_init=1).fit(views), views)
    """,
    "semantic": """
        from consilience.files.text_models import open_text_model
        open_text_model("semantic")
    """,
    "torch": """
        import torch
        cs.MultiViewKMeans(2, n_init=1).fit({"a": torch.asarray(X), "b": torch.asarray(X)})
    """,
    "transformers": """
        from sentence_transformers import SentenceTransformer
        assert callable(SentenceTransformer.encode)
    """,
    "umap": """
        cs.explain.joint_map(X, method="umap")
    """,
    "zarr": """
        import zarr
        stored = zarr.array(X, chunks=(20, 2))
        cs.MultiViewKMeans(2, n_init=1).fit({"a": stored, "b": stored})
    """,
}
PRELUDE = """
import sys
from functools import partial
from importlib.machinery import PathFinder


class VisibleFinder(PathFinder):
    @classmethod
    def find_spec(cls, name, path=None, target=None):
        return None if name.partition(".")[0] in HIDDEN else super().find_spec(name, path, target)


sys.meta_path[sys.meta_path.index(PathFinder)] = VisibleFinder
from pathlib import Path
import numpy as np
import consilience as cs
from consilience.cli.command import main
cluster = partial(cs.cluster, n_clusters=2, assess=False)
X = np.random.default_rng(0).normal(size=(60, 2)) + 6 * (np.arange(60) % 2)[:, None]
"""


def list_requirements(extra):
    """Return the names of the distributions that pip installs for the package with an extra."""
    pending = [Requirement(line) for line in [*PROJECT["dependencies"], *EXTRAS[extra]]]
    names, seen = set(), set()
    while pending:
        requirement = pending.pop()
        name = canonicalize_name(requirement.name)
        if (name, *sorted(requirement.extras)) in seen:
            continue
        seen.add((name, *sorted(requirement.extras)))
        names.add(name)
        with suppress(PackageNotFoundError):
            for line in distribution(name).requires or ():
                part = Requirement(line)
                if part.marker is None or any(part.marker.evaluate({"extra": x}) for x in ["", *requirement.extras]):
                    pending.append(part)
    return names


@pytest.mark.protocol
@pytest.mark.parametrize("extra", USES)
def test_extra_suffices_for_its_use(extra, tmp_path):
    modules = {module: set(map(canonicalize_name, names)) for module, names in packages_distributions().items()}
    if missing := {canonicalize_name(Requirement(line).name) for line in EXTRAS[extra]}.difference(*modules.values()):
        pytest.skip(f"not installed: {', '.join(missing)}")
    if extra == "onnx":
        write_onnx(tmp_path / "network")
    requirements = list_requirements(extra)
    hidden = {module for module, names in modules.items() if not requirements & names} - {"consilience"}
    code = f"HIDDEN = {hidden!r}\n{PRELUDE}{textwrap.dedent(USES[extra])}"
    result = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True)
    assert result.returncode == 0, result.stderr


def test_every_extra_has_a_use_and_is_part_of_all():
    assert set(USES) | {"all"} | FOR_DEVELOPMENT >= set(EXTRAS)
    assert set(USES) <= set(EXTRAS)
    (everything,) = EXTRAS["all"]
    assert Requirement(everything).extras == set(USES) - {"torch", "transformers"}  # the second needs the first


def test_messages_and_pages_name_existing_extras():
    pages = [ROOT / "README.md", *(ROOT / "docs").rglob("*.md")]
    sources = [
        path for folder in ("src", "examples", "benchmarks", "reproduction") for path in (ROOT / folder).rglob("*.py")
    ]
    quoted = {
        (path.relative_to(ROOT).as_posix(), extra)
        for path in [*pages, *sources]
        for extras in re.findall(r"consilience\[([a-z0-9,]+)\]", path.read_text(encoding="utf-8"))
        for extra in extras.split(",")
    }
    assert [place for place in sorted(quoted) if place[1] not in EXTRAS] == []
    assert {extra for path, extra in quoted if path.startswith("src/")} >= {
        "excel",
        "fetch",
        "images",
        "parquet",
        "plot",
    }


def test_messages_name_the_extra_that_has_the_package():
    pattern = r"need(?:s)? ([\w{}-]+): pip install 'consilience\[(\w+)\]'"
    messages = {
        match
        for path in (ROOT / "src").rglob("*.py")
        for match in re.findall(pattern, path.read_text(encoding="utf-8"))
    }
    assert len(messages) > 8
    for package, extra in messages - {("{missing}", "semantic"), ("{package}", "mudata")}:
        assert canonicalize_name(package) in {canonicalize_name(Requirement(line).name) for line in EXTRAS[extra]}


# distributions of modules that are called otherwise
DISTRIBUTIONS = {"PIL": "pillow", "sklearn": "scikit-learn", "umap": "umap-learn", "distributed": "dask"}
# modules of no extra: CuPy has a distribution per version of CUDA, and triton comes with torch
NOT_DECLARED = {"cupyx", "triton"}


def list_imported_modules(folder):
    """Return the modules outside of the standard library that the source imports, also within functions."""
    imported = set()
    for path in sorted(folder.rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            match node:
                case ast.Import():
                    imported |= {alias.name.partition(".")[0] for alias in node.names}
                case ast.ImportFrom(level=0):
                    imported.add(node.module.partition(".")[0])
    return imported - set(sys.stdlib_module_names)


def test_every_imported_module_is_of_a_declared_dependency():
    lines = [*PROJECT["dependencies"], *(line for extra in set(EXTRAS) - FOR_DEVELOPMENT for line in EXTRAS[extra])]
    declared = {canonicalize_name(Requirement(line).name) for line in lines}
    imported = list_imported_modules(ROOT / "src")
    assert {"numpy", "sklearn", "requests"} <= imported
    assert {
        name for name in imported - NOT_DECLARED if canonicalize_name(DISTRIBUTIONS.get(name, name)) not in declared
    } == set()


def test_oldest_versions_cover_all_dependencies(capsys):
    requirements = [Requirement(line) for group in [PROJECT["dependencies"], *EXTRAS.values()] for line in group]
    expected = {f"{part.name}=={bound.version}" for part in requirements for bound in part.specifier}
    run_path(ROOT / "tools" / "oldest_versions.py", run_name="__main__")
    printed = capsys.readouterr().out.splitlines()
    assert sorted(printed) == sorted(expected)
    assert {line.split("==")[0] for line in printed} == {part.name for part in requirements} - {"consilience"}


@pytest.mark.parametrize(
    ("requirement", "message"),
    [
        ("rich", "'rich' in pyproject.toml is not of the form 'name>=version'"),
        ("rich<14", "'rich<14' in pyproject.toml is not of the form 'name>=version'"),
        ("numpy>=1.26", "pyproject.toml declares both numpy>=2.1 and numpy>=1.26"),
    ],
)
def test_dependency_without_a_single_lower_bound_is_refused(tmp_path, requirement, message):
    path = tmp_path / "pyproject.toml"
    path.write_text(
        f'[project]\ndependencies = ["numpy>=2.1"]\n[project.optional-dependencies]\nextra = ["{requirement}"]\n'
    )
    with pytest.raises(ValueError, match=message):
        read_lower_bounds(path)
