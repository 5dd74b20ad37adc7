"""Data sets that were converted: one ``.npz`` file each, without Python objects.

It holds ``labels`` (class of each row), ``class_names``, ``view_names``, and for each view either ``NAME__dense`` or
``NAME__data``, ``NAME__indices``, ``NAME__indptr`` and ``NAME__shape``. Names of columns (``NAME__features``) and rows
(``sample_ids``) are bytes of UTF-8, one name a line.
"""

from __future__ import annotations

import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from ...data.coerce import Block
from .home import Parsed


def read_copy(path: Path, called: Mapping[str, str] | None = None) -> Parsed:
    """Read one; `called` gives views another name than they have there, and then only those are taken."""
    try:
        with np.load(path, allow_pickle=False) as held:
            target = held["labels"].astype(np.int64)
            ids = distinct(_lines(held["sample_ids"])) if "sample_ids" in held else None
            names = dict(called or {str(name): str(name) for name in held["view_names"]})
            blocks = {name: Block(_values(held, own), ids, _columns(held, own)) for own, name in names.items()}
            classes = tuple(str(name) for name in held["class_names"])
            _check(blocks, target, classes)
    except (KeyError, ValueError, TypeError, OSError, EOFError, AttributeError, zipfile.BadZipFile) as error:
        raise ValueError(f"{path} is no converted copy that can be read ({error}): see docs/data.md") from error
    return Parsed(blocks, target, classes)


def distinct(ids: list[str]) -> np.ndarray:
    """Names of rows, told apart where one comes twice."""
    seen: dict[str, int] = {}
    for i, name in enumerate(ids):
        seen[name] = seen.get(name, 0) + 1
        if seen[name] > 1:
            ids[i] = f"{name} ({seen[name]})"
    return np.array(ids)


def _values(held: Any, name: str) -> np.ndarray | sp.csr_array:
    if f"{name}__dense" in held:
        return held[f"{name}__dense"].astype(np.float64)
    data, indices, indptr, shape = (held[f"{name}__{part}"] for part in ("data", "indices", "indptr", "shape"))
    data = data.astype(np.float64 if data.dtype.kind == "f" else np.int64)
    made = sp.csr_array((data, indices.astype(np.int32), indptr.astype(np.int32)), shape=tuple(shape.tolist()))
    made.check_format(full_check=True)
    made.eliminate_zeros()
    return made


def _columns(held: Any, name: str) -> np.ndarray | None:
    return np.array(_lines(held[f"{name}__features"])) if f"{name}__features" in held else None


def _lines(packed: np.ndarray) -> list[str]:
    return packed.tobytes().decode().split("\n")


def _check(blocks: Mapping[str, Block], target: np.ndarray, classes: tuple[str, ...]) -> None:
    for name, block in blocks.items():
        if block.values.ndim != 2 or block.values.shape[0] != len(target):
            raise ValueError(f"view {name!r} has shape {block.values.shape} for {len(target)} labels")
        if block.columns is not None and len(block.columns) != block.values.shape[1]:
            raise ValueError(f"view {name!r} has {len(block.columns)} names for {block.values.shape[1]} columns")
    if target.ndim != 1 or (len(target) and not 0 <= target.min() <= target.max() < len(classes)):
        raise ValueError(f"its labels are not numbers of its {len(classes)} classes")
