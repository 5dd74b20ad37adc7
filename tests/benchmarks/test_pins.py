"""The files of the environments in which other libraries run, where consilience is installed without dependencies."""

import tomllib
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from packaging.version import Version

ROOT = Path(__file__).parents[2]
DEPENDENCIES = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["dependencies"]


def read_lowest(lines):
    """Return the lowest version that each requirement allows, by name."""
    requirements = [Requirement(line) for line in lines]
    lowest = {}
    for requirement in requirements:
        bounds = [Version(bound.version) for bound in requirement.specifier if bound.operator in (">=", "==")]
        lowest[canonicalize_name(requirement.name)] = max(bounds, default=Version("0"))
    return lowest


def list_requirements(path):
    """Return the lines of a file of requirements that are not empty and no comments."""
    return [line for line in path.read_text(encoding="utf-8").splitlines() if line.strip() and not line.startswith("#")]


@pytest.mark.parametrize("name", ["peers.txt", "peers-modern.txt"])
def test_pins_contain_the_dependencies_of_consilience(name):
    pinned = read_lowest(list_requirements(ROOT / "benchmarks" / name))
    for dependency, bound in read_lowest(DEPENDENCIES).items():
        assert pinned.get(dependency, Version("0")) >= bound, f"{name}: {dependency} is not at least {bound}"
