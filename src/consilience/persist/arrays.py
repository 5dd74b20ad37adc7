"""Numpy arrays as members of a zip file: plain numbers and text, never pickled objects."""

from __future__ import annotations

import hashlib
import re
import zipfile
from math import prod
from typing import Any, NamedTuple

import numpy as np

KINDS = "biufcSUmM"  # what an array may hold: everything whose bytes are the value
DTYPE = re.compile(r"[<>|=][biufcSUmM]\d{1,9}(\[\w{1,9}\])?")
MAGIC = b"\x93NUMPY\x01\x00"  # of a .npy file with two bytes for the length of its header
CHUNK = 1 << 20  # bytes read at a time
MOST_DIMENSIONS = 32


class Described(NamedTuple):
    """What the file says of an array, beside its bytes."""

    dtype: np.dtype
    shape: tuple[int, ...]
    fortran: bool
    sha256: str

    @property
    def nbytes(self) -> int:
        return prod(self.shape) * self.dtype.itemsize

    def as_json(self) -> dict[str, Any]:
        return {**self._asdict(), "dtype": self.dtype.str, "shape": list(self.shape)}

    @classmethod
    def of_json(cls, node: Any) -> Described:
        return cls(dtype_of(node["dtype"]), shape_of(node["shape"]), node["fortran"] is True, str(node["sha256"]))


def dtype_of(text: Any) -> np.dtype:
    """The type a file names, if it is one of plain numbers or text."""
    if not isinstance(text, str) or not DTYPE.fullmatch(text):
        raise ValueError(f"{text!r} is no type of numbers or text")
    return np.dtype(text)


def shape_of(node: Any) -> tuple[int, ...]:
    """The shape a file names."""
    if not isinstance(node, list) or len(node) > MOST_DIMENSIONS or any(type(n) is not int or n < 0 for n in node):
        raise ValueError(f"{str(node)[:50]} is no shape of an array")
    return tuple(node)


class Hashed:
    """A file to write to, or to read from, that keeps the SHA-256 of what went through."""

    def __init__(self, file: Any) -> None:
        self.file, self.sha256 = file, hashlib.sha256()

    def write(self, data: bytes) -> int:
        self.sha256.update(data)
        return self.file.write(data)

    def fill(self, buffer: np.ndarray) -> None:
        """Read as many bytes as there are in the buffer."""
        for start in range(0, len(buffer), CHUNK):
            part = buffer[start : start + CHUNK]
            data = self.file.read(len(part))
            self.sha256.update(data)
            part[:] = np.frombuffer(data, np.uint8)


def write_array(file: Any, array: np.ndarray) -> Described:
    """Write an array as a .npy file; what is needed to read it again without a look at the header."""
    hashed = Hashed(file)
    np.lib.format.write_array(hashed, array, version=(1, 0), allow_pickle=False)
    fortran = array.flags.f_contiguous and not array.flags.c_contiguous
    return Described(array.dtype, array.shape, bool(fortran), hashed.sha256.hexdigest())


def read_array(archive: zipfile.ZipFile, name: str, wanted: Described) -> np.ndarray:
    """The array of a member, whose size is checked before memory is taken for it, and whose bytes after."""
    size = archive.getinfo(name).file_size
    with archive.open(name) as file:
        hashed = Hashed(file)
        head = np.empty(len(MAGIC) + 2, np.uint8)
        hashed.fill(head)
        header = np.empty(int(head[-2]) + 256 * int(head[-1]), np.uint8)  # says again what we know
        if head[:-2].tobytes() != MAGIC or size != len(head) + len(header) + wanted.nbytes:
            raise ValueError(f"{name} holds {size:,} bytes, which is not what an array of shape {wanted.shape} takes")
        hashed.fill(header)
        values = np.empty(wanted.nbytes, np.uint8)
        hashed.fill(values)
    if hashed.sha256.hexdigest() != wanted.sha256:
        raise ValueError(f"{name} is not what was written")
    if not wanted.nbytes:
        return np.zeros(wanted.shape, wanted.dtype)
    return values.view(wanted.dtype).reshape(wanted.shape, order="F" if wanted.fortran else "C")
