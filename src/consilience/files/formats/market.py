"""Matrices as text: Matrix Market and SVMlight."""

from __future__ import annotations

import os
import re
import warnings
from collections.abc import Iterator

import numpy as np
import scipy.sparse as sp
from sklearn.datasets import load_svmlight_file

from .base import FileFormat, FileMatrix, InputFile, check_n_values, check_sparse_shape, max_content_bytes
from .text import READ_ERRORS, open_text, read_lines

SHAPES, FIELDS = ("coordinate", "array"), ("real", "integer", "pattern", "double", "unsigned-integer")
SYMMETRIES = {"general": 0, "symmetric": 1, "skew-symmetric": -1}
SVMLIGHT_LINE = re.compile(rb"[+-]?[\d.]+(e[+-]?\d+)?([ \t]+(qid|\d+):[^\s:]+)+[ \t]*(#.*)?\r?$", re.IGNORECASE)


def read_market(path: InputFile) -> FileMatrix:
    """Read a Matrix Market file with numpy, because scipy's reader ends the program on truncated files."""
    with open_text(path) as text:
        lines = read_lines(path, text)
        words = next(lines, "").lower().split()
        has_header = len(words) == 5 and words[0] == "%%matrixmarket" and words[1] == "matrix"
        if not (has_header and words[2] in SHAPES and words[3] in FIELDS and words[4] in SYMMETRIES):
            raise ValueError(f"{path} cannot be read as a Matrix Market file: it starts with {' '.join(words)[:60]!r}")
        body = (line for line in lines if line.strip() and not line.lstrip().startswith("%"))
        read = _read_coordinates if words[2] == "coordinate" else _read_dense
        try:
            sizes = [int(word) for word in next(body, "").split()]
            return FileMatrix(read(path, sizes, body, words[3] == "pattern", SYMMETRIES[words[4]]))
        except (ValueError, IndexError, OverflowError, UserWarning) as error:
            raise ValueError(f"{path} cannot be read as a Matrix Market file: {error}") from error


def _read_coordinates(
    path: InputFile, sizes: list[int], body: Iterator[str], pattern: bool, symmetry: int
) -> sp.csr_array:
    n_rows, n_columns, n_entries = sizes
    check_sparse_shape(path, n_rows, n_columns, max_content_bytes(path))
    check_n_values(path, n_entries, 4 if pattern else 6, "entries")
    cells = _read_numbers(body) if n_entries else np.zeros((0, 3))
    if len(cells) != n_entries or (n_entries and cells.shape[1] != (2 if pattern else 3)):
        raise ValueError(f"{n_entries} entries are announced, but the file has {len(cells)}")
    positions = cells[:, :2].astype(np.intp) - 1
    if n_entries and (positions.min() < 0 or (positions >= (n_rows, n_columns)).any()):
        raise ValueError(f"an entry lies outside the {n_rows} rows and {n_columns} columns")
    values = np.ones(n_entries) if pattern or not n_entries else cells[:, 2]
    matrix = sp.csr_array((values, (positions[:, 0], positions[:, 1])), shape=(n_rows, n_columns))
    if not symmetry:
        return matrix
    return sp.csr_array(matrix + symmetry * (matrix - sp.diags_array(matrix.diagonal())).T)


def _read_dense(path: InputFile, sizes: list[int], body: Iterator[str], pattern: bool, symmetry: int) -> np.ndarray:
    n_rows, n_columns = sizes
    if pattern or symmetry:
        raise ValueError("only general dense matrices are read, neither symmetric nor pattern matrices")
    check_n_values(path, n_rows * n_columns, 2, "numbers")
    cells = _read_numbers(body)
    if cells.size != n_rows * n_columns:
        raise ValueError(f"{n_rows * n_columns} numbers are announced, but the file has {cells.size}")
    return cells.reshape(n_columns, n_rows).T


def _read_numbers(body: Iterator[str]) -> np.ndarray:
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # numpy only warns if there are no lines
        return np.loadtxt(body, ndmin=2)


def read_svmlight(path: InputFile) -> FileMatrix:
    """Read the numbers of an SVMlight file; the labels that its lines start with are ignored."""
    try:
        values, _ = load_svmlight_file(os.fspath(path), zero_based="auto")
        n_rows, n_columns = values.shape
        check_sparse_shape(path, n_rows, n_columns, max_content_bytes(path))
    except (ValueError, OverflowError, *READ_ERRORS) as error:
        raise ValueError(f"{path} cannot be read as an SVMlight file: {error}") from error
    return FileMatrix(sp.csr_array(values))


def _is_svmlight(start: bytes) -> bool:
    lines = [line for line in start.splitlines() if line.strip() and not line.startswith(b"#")]
    return bool(lines) and SVMLIGHT_LINE.match(lines[0]) is not None


MATRIX_MARKET = FileFormat((".mtx",), read_market, detect=lambda start: start.startswith(b"%%MatrixMarket"))
SVMLIGHT = FileFormat((".svm", ".svmlight", ".libsvm"), read_svmlight, detect=_is_svmlight)
