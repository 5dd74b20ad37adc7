"""The settings of a run, which the command line, `consilience.cluster` and ``run.toml`` share."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any

from ..explain.namer import Namer


@dataclass(frozen=True)
class RunOptions:
    """The settings of a run, called like the options of ``consilience cluster``."""

    view: Sequence[str] = ()  # NAME=FILE:COLUMNS, or a file that may hold several views
    id: str | None = None
    mapping: Sequence[str] = ()
    kind: Sequence[str] = ()  # NAME=KIND
    encode: Mapping[str, Any] | Sequence[str] = ()  # NAME=ENCODING
    delimiter: str | None = None
    labels: str | None = None
    constraints: str | None = None
    seeds: str | None = None
    describe: Sequence[str] = ()  # columns that are not clustered: COLUMNS, TIME/EVENT, FILE or FILE:COLUMNS
    method: str = "auto"
    settings: Mapping[str, Any] | Sequence[str] = ()  # options of the method, NAME=VALUE
    k: str = "auto"  # a number, auto or small-groups
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
