"""What a clustering was made with."""

from __future__ import annotations

import platform
from importlib.metadata import version

from .._version import __version__


def list_versions() -> dict[str, str]:
    """Versions of the library, of those that it rests on, and of Python."""
    theirs = {name: version(name) for name in ("numpy", "scipy", "scikit-learn")}
    return {"consilience": __version__, **theirs, "Python": platform.python_version()}
