"""The settings of a run, which the command line, `consilience.cluster` and ``run.toml`` share."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from typing import Any, Literal

from ..explain.namer import Namer
from ..files.spec import split_pair
from .log import UsageError

PAIRS = {  # settings that the command line and files write as texts, their option, and the form of a text
    "kind": ("--kind", "NAME=KIND"),
    "encode": ("--encode", "NAME=ENCODING"),
    "settings": ("--set", "NAME=VALUE"),
}


@dataclass(frozen=True)
class RunOptions:
    """The settings of a run, called like the options of ``consilience cluster``."""

    view: Sequence[str] = ()  # NAME=FILE:COLUMNS, or a file that may hold several views
    id: str | None = None
    mapping: Sequence[str] = ()
    kind: Mapping[str, str] = field(default_factory=dict)  # by the name of the view
    encode: Mapping[str, Any] = field(default_factory=dict)  # encodings and functions, by the name of the view
    delimiter: str | None = None
    labels: str | None = None
    constraints: str | None = None
    seeds: str | None = None
    describe: Sequence[str] = ()  # columns that are not clustered: COLUMNS, TIME/EVENT, FILE or FILE:COLUMNS
    method: str = "auto"
    settings: Mapping[str, Any] = field(default_factory=dict)  # options of the method: NAME, or NAME.VIEW for one view
    k: int | Literal["auto", "small-groups"] = "auto"
    seed: int = 0
    outliers: float | str | None = None
    assess: bool = True
    title: str | None = None
    names: str | Mapping[Any, str] | None = None  # a file, or names by the number or present name of a cluster
    namer: Namer | None = None
    command_line: str | None = None  # for the report

    @classmethod
    def select(cls, values: Mapping[str, Any]) -> RunOptions:
        """Build from a mapping that may hold other entries, such as the parsed arguments of a command."""
        names = [field.name for field in fields(cls)]
        return cls(**{name: values[name] for name in names if name in values})

    @classmethod
    def parse(cls, values: Mapping[str, Any]) -> RunOptions:
        """Build from the texts of a command line."""
        return cls.select(parse_texts(values))


def parse_texts(values: Mapping[str, Any]) -> dict[str, Any]:
    """Return settings as they are in memory: texts such as NAME=KIND, of the command line or a file, as mappings."""
    texts = {name: values[name] for name in PAIRS if values.get(name) is not None}
    return {**values, **{name: parse_pairs(name, pairs) for name, pairs in texts.items()}}


def parse_pairs(setting: str, texts: Sequence[str]) -> dict[str, str]:
    """Parse the texts of a setting that is given once per name, such as NAME=KIND."""
    option, form = PAIRS[setting]
    pairs: dict[str, str] = {}
    for text in texts:
        name, value = split_pair(text)
        if not (name.strip() and value and value.strip()):
            raise UsageError(f"{option} needs the form {form}, got {text!r}")
        name = name if text.startswith('"') else name.strip()
        value = value.strip()
        if pairs.setdefault(name, value) != value:
            raise UsageError(f"{option} {name} is given twice: {pairs[name]} and {value}")
    return pairs
