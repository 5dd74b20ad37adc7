"""Versions of the software that made a clustering."""

from __future__ import annotations

import platform
from importlib.metadata import version

from .._version import __version__


def list_versions() -> dict[str, str]:
    """Return the versions of consilience, of the libraries it uses, and of Python."""
    libraries = {name: version(name) for name in ("numpy", "scipy", "scikit-learn")}
    return {"consilience": __version__, **libraries, "Python": platform.python_version()}
