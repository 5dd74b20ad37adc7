"""The settings of a run as a file: ``run.toml``, which every run folder contains and ``--config`` reads."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Mapping, Sequence
from difflib import get_close_matches
from pathlib import Path
from typing import Any

from .._describe import describe_value

HEAD = """# The settings of this run. To repeat it, or to run it with edited settings:
#   consilience cluster --config run.toml --out FOLDER
# Files are named as in the first run, relative to the folder in which the command is run.
"""
MEMORY_HEAD = """# The settings of this run. Its data was in memory: give it to consilience.cluster(data, ...).
"""
# settings in the order of the file, with the option of the command line for each
FLAGS = {
    "view": "--view",
    "id": "--id",
    "mapping": "--mapping",
    "kind": "--kind",
    "encode": "--encode",
    "delimiter": "--delimiter",
    "labels": "--labels",
    "constraints": "--constraints",
    "seeds": "--seeds",
    "describe": "--describe",
    "method": "--method",
    "set": "--set",
    "k": "-k",
    "seed": "--seed",
    "outliers": "--outliers",
    "assess": "--no-assess",
    "title": "--title",
    "names": "--names",
}


def write_config(path: Path, inputs: Mapping[str, Any], n_clusters: int, origin: str | None = None) -> None:
    """Write the settings of a run; those that are not set are left out. `origin` is the run that it continues."""
    lines = [HEAD if inputs["view"] else MEMORY_HEAD]
    if origin is not None:
        lines.append(
            f"# It continues {_write_value(origin)}: only `consilience update` keeps the numbers of clusters.\n"
        )
    for name in FLAGS:
        value = inputs.get("settings" if name == "set" else name)
        if value in (None, [], ()):
            continue
        comment = f"  # {n_clusters} clusters were found" if name == "k" and value == "auto" else ""
        lines.append(f"{name} = {_write_value(value)}{comment}\n")
    path.write_text("".join(lines), encoding="utf-8", errors="replace")


def _write_value(value: Any) -> str:
    """Write a text, a number, a truth value or a list as TOML, whose notation is that of JSON for these.

    Only the character DEL, which JSON leaves as it is, must be escaped.
    """
    if type(value) in (list, tuple) and len(value) > 1:
        return "[\n" + "".join(f"  {_write_value(item)},\n" for item in value) + "]"
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")


def read_config(path: Path) -> list[str]:
    """Read settings as arguments of the command line, whose parser checks the values."""
    from ..files.formats import read_document  # loads numpy, which commands without --config load later

    content = read_document(path, tomllib.loads, "--config")
    arguments: list[str] = []
    for name, value in content.items():
        if name not in FLAGS:
            similar = get_close_matches(name, FLAGS, 1)
            remedy = f"did you mean {similar[0]!r}?" if similar else f"choose from {', '.join(FLAGS)}"
            raise ValueError(f"{path} (--config) has an unknown setting {name!r}: {remedy}")
        arguments += _list_arguments(path, name, value)
    return arguments


def _list_arguments(path: Path, name: str, value: Any) -> Sequence[str]:
    """Return a setting as arguments; lists repeat the option."""
    flag = FLAGS[name]
    match value:
        case bool() if name == "assess":
            return [] if value else [flag]
        case list() if all(type(item) is str for item in value):
            return [part for item in value for part in _list_arguments(path, name, item)]
        case str() | int() | float() if type(value) is not bool:
            return [f"{flag}={value}"] if flag.startswith("--") else [flag, str(value)]
    shown = describe_value(value)
    raise ValueError(f"{path} (--config): {name} must be a text, a number or a list of texts, got {shown}")
