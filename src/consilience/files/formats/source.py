"""The content of a file, before its meaning is decided."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from .inputs import InputFile


@dataclass(frozen=True, eq=False)
class FileTable:
    """Named columns of one length: numbers (NaN where empty), texts (None where empty), bags of terms, or vectors."""

    path: InputFile
    columns: dict[str, np.ndarray]


@dataclass(frozen=True, eq=False)
class FileMatrix:
    """One block of numbers, dense or sparse, and names of its rows and columns where the file had any."""

    path: InputFile
    values: Any
    ids: np.ndarray | None = None
    features: np.ndarray | None = None


@dataclass(frozen=True, eq=False)
class FileCollection:
    """Several blocks in one file, over entities with ids; `about` holds columns that describe the entities."""

    path: InputFile
    blocks: dict[str, FileMatrix]
    about: dict[str, np.ndarray] = field(default_factory=dict)
    ids: np.ndarray | None = None


FileContent = FileTable | FileMatrix | FileCollection
