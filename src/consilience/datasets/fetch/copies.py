"""Converted copies of data sets: one ``.npz`` file each, without Python objects.

It holds ``labels`` (class of each row), ``class_names``, ``view_names``, and for each view either ``NAME__dense`` or
``NAME__data``, ``NAME__indices``, ``NAME__indptr`` and ``NAME__shape``. Names of columns (``NAME__features``) and rows
(``sample_ids``) are bytes of UTF-8, one name per line.
"""

from __future__ import annotations

import re
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from ...data.inputs import ViewInput
from .archive import MAX_ARCHIVE_BYTES, MAX_MEMBER_BYTES
from .remote import ParsedData, build_csr, make_unique, to_whole_numbers

SIMPLE_NAME = re.compile(r"[\w-][\w.-]*")  # a name that files can have
MAX_INDEX = 2**31 - 1  # for 32 bits


def read_copy(path: Path, view_names: Mapping[str, str] | None = None) -> ParsedData:
    """Read a copy; `view_names` selects views of the copy and gives them other names."""
    try:
        with zipfile.ZipFile(path) as archive:
            sizes = [info.file_size for info in archive.infolist()]
        if max(sizes, default=0) > MAX_MEMBER_BYTES or sum(sizes) > MAX_ARCHIVE_BYTES:
            raise ValueError(f"it claims to hold {sum(sizes):,} bytes, more than a data set does")
        with np.load(path, allow_pickle=False) as arrays:
            parsed = _parse_copy(arrays, view_names)
        parsed.check()
    except PermissionError:
        raise  # the copy may be intact
    except Exception as error:  # a damaged file can raise any exception
        message = str(error).partition("\n")[0] or type(error).__name__
        reason = "it holds Python objects" if "allow_pickle" in message else message  # not numpy's advice to load them
        raise ValueError(f"{path} is not a readable converted copy ({reason}): see docs/data.md") from error
    return parsed


def _parse_copy(arrays: Any, view_names: Mapping[str, str] | None) -> ParsedData:
    ids = make_unique(_unpack_names(arrays["sample_ids"])) if "sample_ids" in arrays else None
    view_names = dict(view_names or {str(name): str(name) for name in arrays["view_names"]})
    blocks = {}
    for stored_name, name in view_names.items():
        if not SIMPLE_NAME.fullmatch(name):
            raise ValueError(f"a view is called {name!r}: names have letters, digits, '_', '-', and '.' not first")
        key = f"{stored_name}__features"
        columns = np.array(_unpack_names(arrays[key])) if key in arrays else None
        blocks[name] = ViewInput(_read_block(arrays, stored_name), ids, columns)
    class_names = tuple(str(name) for name in arrays["class_names"])
    return ParsedData(blocks, to_whole_numbers("labels", arrays["labels"]), class_names)


def _read_block(arrays: Any, name: str) -> np.ndarray | sp.csr_array:
    is_dense = f"{name}__dense" in arrays
    values = arrays[f"{name}__dense" if is_dense else f"{name}__data"]
    if values.dtype.kind not in "biuf":
        raise ValueError(f"{values.dtype} are not real numbers")
    if is_dense:
        return values.astype(np.float64)
    indices, indptr, shape = (
        to_whole_numbers(f"{name}__{part}", arrays[f"{name}__{part}"], MAX_INDEX)
        for part in ("indices", "indptr", "shape")
    )
    values = values.astype(np.float64 if values.dtype.kind == "f" else np.int64)
    return build_csr(values, indices.astype(np.int32), indptr.astype(np.int32), tuple(shape.tolist()))


def _unpack_names(packed: np.ndarray) -> list[str]:
    if packed.dtype != np.uint8:
        raise ValueError(f"names are bytes of UTF-8, not {packed.dtype}")
    return packed.tobytes().decode().split("\n")
