"""Arrays in model files: numpy arrays as members of a zip file, sparse matrices as several of them."""

from __future__ import annotations

import hashlib
import re
import zipfile
from math import prod
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

KINDS = "biufcSUmM"  # kinds of dtypes whose bytes are the values
NUMBERS = "biufc"
DTYPE = re.compile(r"[<>|=][biufcSUmM]\d{1,9}(\[\w{1,9}\])?")
MAGIC = b"\x93NUMPY\x01\x00"  # start of a .npy file whose header length takes two bytes
CHUNK_BYTES = 1 << 20
MAX_DIMENSIONS = 32
SPARSE_PARTS = {
    "csr": ("data", "indices", "indptr"),
    "csc": ("data", "indices", "indptr"),
    "coo": ("data", "row", "col"),
    "dia": ("data", "offsets"),
}
SPARSE_TYPES: dict[str, Any] = {
    f"{layout}_{kind}": getattr(sp, f"{layout}_{kind}") for layout in SPARSE_PARTS for kind in ("array", "matrix")
}


class ArrayHeader(NamedTuple):
    """What the JSON document says about an array."""

    dtype: np.dtype
    shape: tuple[int, ...]
    fortran: bool
    sha256: str

    @property
    def nbytes(self) -> int:
        return prod(self.shape) * self.dtype.itemsize

    def to_json(self) -> dict[str, Any]:
        return {**self._asdict(), "dtype": self.dtype.str, "shape": list(self.shape)}

    @classmethod
    def from_json(cls, node: Any) -> ArrayHeader:
        dtype, shape = parse_dtype(node["dtype"]), parse_shape(node["shape"])
        if not dtype.itemsize and 0 not in shape:  # an array of any length takes no bytes in the file
            raise ValueError(f"cells of {dtype.str} take no bytes, but the shape is {shape}")
        return cls(dtype, shape, node["fortran"] is True, str(node["sha256"]))


def parse_dtype(text: Any) -> np.dtype:
    """Return the dtype that a file names, if it is one of numbers or text."""
    if not isinstance(text, str) or not DTYPE.fullmatch(text):
        raise ValueError(f"{text!r} is not a dtype of numbers or text")
    return np.dtype(text)


def parse_shape(node: Any) -> tuple[int, ...]:
    """Return the shape that a file names."""
    if not isinstance(node, list) or len(node) > MAX_DIMENSIONS or any(type(n) is not int or n < 0 for n in node):
        raise ValueError(f"{str(node)[:50]} is not the shape of an array")
    return tuple(node)


class HashingFile:
    """File that computes the SHA-256 of everything that is written to it or read from it."""

    def __init__(self, file: Any) -> None:
        self.file, self.sha256 = file, hashlib.sha256()

    def write(self, data: bytes) -> int:
        self.sha256.update(data)
        return self.file.write(data)

    def fill(self, buffer: np.ndarray) -> None:
        """Read as many bytes as the buffer holds."""
        for start in range(0, len(buffer), CHUNK_BYTES):
            chunk = buffer[start : start + CHUNK_BYTES]
            data = self.file.read(len(chunk))
            self.sha256.update(data)
            chunk[:] = np.frombuffer(data, np.uint8)


def write_array(file: Any, array: np.ndarray) -> ArrayHeader:
    """Write an array as a .npy file and return its header for the JSON document."""
    hashing = HashingFile(file)
    np.lib.format.write_array(hashing, array, version=(1, 0), allow_pickle=False)
    fortran = array.flags.f_contiguous and not array.flags.c_contiguous
    return ArrayHeader(array.dtype, array.shape, bool(fortran), hashing.sha256.hexdigest())


def read_array(archive: zipfile.ZipFile, name: str, header: ArrayHeader) -> np.ndarray:
    """Read the array of a member; its size is checked before memory is allocated, its digest afterwards."""
    size = archive.getinfo(name).file_size
    with archive.open(name) as file:
        hashing = HashingFile(file)
        start = np.empty(len(MAGIC) + 2, np.uint8)
        hashing.fill(start)
        npy_header = np.empty(int(start[-2]) + 256 * int(start[-1]), np.uint8)  # repeats what `header` says
        if start[:-2].tobytes() != MAGIC or size != len(start) + len(npy_header) + header.nbytes:
            raise ValueError(f"{name} has {size:,} bytes, which does not match an array of shape {header.shape}")
        hashing.fill(npy_header)
        values = np.empty(header.nbytes, np.uint8)
        hashing.fill(values)
    if hashing.sha256.hexdigest() != header.sha256:
        raise ValueError(f"the content of {name} does not match its digest")
    if not header.nbytes:
        return np.zeros(header.shape, header.dtype)
    return values.view(header.dtype).reshape(header.shape, order="F" if header.fortran else "C")


def split_sparse(matrix: Any) -> list[np.ndarray]:
    """Return the arrays that make up a sparse matrix."""
    is_supported = SPARSE_TYPES.get(type(matrix).__name__) is type(matrix)
    if not is_supported or matrix.ndim != 2 or matrix.dtype.kind not in NUMBERS:
        raise TypeError(f"a {type(matrix).__name__} of {matrix.dtype} cannot be saved: make it a csr_array of numbers")
    return [getattr(matrix, part) for part in SPARSE_PARTS[matrix.format]]


def build_sparse(kind: str, shape: tuple[int, ...], data: np.ndarray, *indices: np.ndarray) -> Any:
    """Build a sparse matrix; refuse indices out of bounds, because compiled code does not check them."""
    if len(shape) != 2 or data.dtype.kind not in NUMBERS or any(part.dtype.kind != "i" for part in indices):
        raise ValueError("a sparse matrix needs numbers, integer indices and two dimensions")
    matrix = SPARSE_TYPES[kind]((data, indices) if kind.startswith("coo") else (data, *indices), shape=shape)
    if kind.startswith("cs"):
        matrix.check_format(full_check=True)
    return matrix
