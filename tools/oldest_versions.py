"""Print the lowest version that pyproject.toml allows of each dependency, in the form of a pip constraints file.

``make test-oldest`` installs exactly these versions and runs the tests with them. Usage::

    python tools/oldest_versions.py > constraints.txt
    pip install --constraint constraints.txt --editable '.[test]'
"""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

PROJECT_FILE = Path(__file__).parents[1] / "pyproject.toml"
REQUIREMENT = re.compile(r"(?P<name>[\w.-]+)(\[[\w,.-]+\])?>=(?P<version>\d+(\.\d+)*)")


def read_lower_bounds(project_file: Path = PROJECT_FILE) -> dict[str, str]:
    """Return the lower bound of each dependency, with those of all optional dependencies.

    Raises ValueError if a dependency has no lower bound or two different ones.
    """
    project = tomllib.loads(project_file.read_text(encoding="utf-8"))["project"]
    requirements = list(project["dependencies"])
    for group in project["optional-dependencies"].values():
        requirements += group
    bounds: dict[str, str] = {}
    for requirement in requirements:
        if requirement.startswith(f"{project.get('name')}["):  # an extra that consists of others
            continue
        match = REQUIREMENT.fullmatch(requirement)
        if match is None:
            raise ValueError(f"{requirement!r} in {project_file.name} is not of the form 'name>=version'")
        name, version = match["name"], match["version"]
        if bounds.setdefault(name, version) != version:
            raise ValueError(f"{project_file.name} declares both {name}>={bounds[name]} and {name}>={version}")
    return bounds


if __name__ == "__main__":
    for name, version in read_lower_bounds().items():
        print(f"{name}=={version}")
