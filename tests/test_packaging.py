"""Declarations of the package: dependencies and installed files."""

import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
from packaging.requirements import Requirement

from oldest_versions import read_lower_bounds

ROOT = Path(__file__).parents[1]


def test_installed_package_does_not_need_the_repository():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    assert project["tool"]["hatch"]["build"]["targets"]["wheel"]["packages"] == ["src/consilience"]
    pattern = re.compile(r"^\s*(from|import) (reproduction|benchmarks|examples|tools)\b", flags=re.MULTILINE)
    sources = (ROOT / "src").rglob("*.py")
    assert [path.name for path in sources if pattern.search(path.read_text(encoding="utf-8"))] == []


def test_oldest_versions_cover_all_dependencies():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    groups = [project["dependencies"], *project["optional-dependencies"].values()]
    requirements = [Requirement(requirement) for group in groups for requirement in group]
    expected = {
        f"{requirement.name}=={specifier.version}"
        for requirement in requirements
        for specifier in requirement.specifier
    }
    script = ROOT / "tools" / "oldest_versions.py"
    printed = subprocess.run([sys.executable, script], capture_output=True, text=True, check=True).stdout.splitlines()
    assert sorted(printed) == sorted(expected)
    assert {line.split("==")[0] for line in printed} == {requirement.name for requirement in requirements}


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
