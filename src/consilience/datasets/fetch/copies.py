"""Data sets that were converted: one ``.npz`` file each, without Python objects.

It holds ``labels`` (class of each row), ``class_names``, ``view_names``, and for each view either ``NAME__dense`` or
``NAME__data``, ``NAME__indices``, ``NAME__indptr`` and ``NAME__shape``. Names of columns (``NAME__features``) and rows
(``sample_ids``) are bytes of UTF-8, one name a line.
"""

from __future__ import annotations

import re
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from ...data.coerce import ViewInput
from .archive import MAX_ARCHIVE_BYTES, MAX_MEMBER_BYTES
from .home import ParsedData, to_whole_numbers

SIMPLE = re.compile(r"[\w-][\w.-]*")  # a name that files can have
WIDEST = 2**31 - 1  # for 32 bits


def read_copy(path: Path, called: Mapping[str, str] | None = None) -> ParsedData:
    """Read one; `called` gives views another name than they have there, and then only those are taken."""
    try:
        _check_size(path)
        with np.load(path, allow_pickle=False) as held:
            parsed = _parsed(held, called)
        parsed.check()
    except PermissionError:
        raise  # the copy may well be sound
    except Exception as error:  # a broken file breaks numpy, zipfile and what they call in many ways
        said = str(error).partition("\n")[0] or type(error).__name__
        reason = "it holds Python objects" if "allow_pickle" in said else said  # and not numpy's advice to load them
        raise ValueError(f"{path} is no converted copy that can be read ({reason}): see docs/data.md") from error
    return parsed


def _check_size(path: Path) -> None:
    with zipfile.ZipFile(path) as archive:
        sizes = [info.file_size for info in archive.infolist()]
    if max(sizes, default=0) > MAX_MEMBER_BYTES or sum(sizes) > MAX_ARCHIVE_BYTES:
        raise ValueError(f"it says it holds {sum(sizes):,} bytes, more than a data set does")


def _parsed(held: Any, called: Mapping[str, str] | None) -> ParsedData:
    ids = make_unique(_lines(held["sample_ids"])) if "sample_ids" in held else None
    names = dict(called or {str(name): str(name) for name in held["view_names"]})
    for name in names.values():
        if not SIMPLE.fullmatch(name):
            raise ValueError(f"a view is called {name!r}: names have letters, digits, '_', '-', and '.' not first")
    blocks = {name: ViewInput(_values(held, own), ids, _columns(held, own)) for own, name in names.items()}
    return ParsedData(
        blocks, to_whole_numbers("labels", held["labels"]), tuple(str(name) for name in held["class_names"])
    )


def make_unique(ids: list[str]) -> np.ndarray:
    """Names of rows, told apart where one comes twice."""
    taken, seen = set(ids), dict.fromkeys(ids, 0)
    for i, name in enumerate(ids):
        seen[name] += 1
        if seen[name] > 1:
            while f"{name} ({seen[name]})" in taken:
                seen[name] += 1
            ids[i] = f"{name} ({seen[name]})"
            taken.add(ids[i])
    return np.array(ids)


def _values(held: Any, name: str) -> np.ndarray | sp.csr_array:
    if f"{name}__dense" in held:
        return _numbers(held[f"{name}__dense"]).astype(np.float64)
    data, indices, indptr, shape = (held[f"{name}__{part}"] for part in ("data", "indices", "indptr", "shape"))
    data = _numbers(data).astype(np.float64 if data.dtype.kind == "f" else np.int64)
    indices, indptr, shape = (
        to_whole_numbers(f"{name}__{part}", own, WIDEST)
        for part, own in (("indices", indices), ("indptr", indptr), ("shape", shape))
    )
    made = sp.csr_array((data, indices.astype(np.int32), indptr.astype(np.int32)), shape=tuple(shape.tolist()))
    made.check_format(full_check=True)
    made.eliminate_zeros()
    return made


def _numbers(values: np.ndarray) -> np.ndarray:
    if values.dtype.kind not in "biuf":
        raise ValueError(f"{values.dtype} are no real numbers")
    return values


def _columns(held: Any, name: str) -> np.ndarray | None:
    return np.array(_lines(held[f"{name}__features"])) if f"{name}__features" in held else None


def _lines(packed: np.ndarray) -> list[str]:
    if packed.dtype != np.uint8:
        raise ValueError(f"names are bytes of UTF-8, not {packed.dtype}")
    return packed.tobytes().decode().split("\n")
