"""Matrices as text: Matrix Market and SVMlight."""

from __future__ import annotations

import os
import warnings

import numpy as np
import scipy.sparse as sp
from sklearn.datasets import load_svmlight_file

from .inputs import InputFile
from .source import Matrix
from .text import BROKEN, lines, opened

SHAPES, FIELDS = ("coordinate", "array"), ("real", "integer", "pattern", "double", "unsigned-integer")
SYMMETRIES = {"general": 0, "symmetric": 1, "skew-symmetric": -1}


def read_market(path: InputFile) -> Matrix:
    """Matrix Market, read by numpy: scipy's own reader ends the whole program on files that break off."""
    with opened(path) as text:
        source = (line for line in lines(path, text))
        words = next(source, "").lower().split()
        known = len(words) == 5 and words[0] == "%%matrixmarket" and words[1] == "matrix"
        if not (known and words[2] in SHAPES and words[3] in FIELDS and words[4] in SYMMETRIES):
            raise ValueError(f"{path} cannot be read as a Matrix Market file: it starts with {' '.join(words)[:60]!r}")
        body = (line for line in source if line.strip() and not line.lstrip().startswith("%"))
        try:
            sizes = [int(word) for word in next(body, "").split()]
            with warnings.catch_warnings():
                warnings.simplefilter("error")  # numpy warns where it reads nothing
                cells = np.loadtxt(body, ndmin=2) if sizes[-1] else np.zeros((0, 3))
            make = _coordinates if words[2] == "coordinate" else _dense
            return Matrix(path, make(sizes, cells, words[3] == "pattern", SYMMETRIES[words[4]]))
        except (ValueError, IndexError, OverflowError, UserWarning) as error:
            raise ValueError(f"{path} cannot be read as a Matrix Market file: {error}") from error


def _coordinates(sizes: list[int], cells: np.ndarray, pattern: bool, symmetry: int) -> sp.csr_array:
    n, m, stored = sizes
    if len(cells) != stored or (stored and cells.shape[1] != (2 if pattern else 3)):
        raise ValueError(f"{stored} entries are announced, {len(cells)} are there")
    at = cells[:, :2].astype(np.intp) - 1
    if stored and (at.min() < 0 or (at >= (n, m)).any()):
        raise ValueError(f"an entry lies outside the {n} rows and {m} columns")
    values = np.ones(stored) if pattern or not stored else cells[:, 2]
    found = sp.csr_array((values, (at[:, 0], at[:, 1])), shape=(n, m))
    return found if not symmetry else sp.csr_array(found + symmetry * (found - sp.diags_array(found.diagonal())).T)


def _dense(sizes: list[int], cells: np.ndarray, pattern: bool, symmetry: int) -> np.ndarray:
    n, m = sizes
    if pattern or symmetry:
        raise ValueError("of dense matrices only general ones are read")
    if cells.size != n * m:
        raise ValueError(f"{n * m} numbers are announced, {cells.size} are there")
    return cells.reshape(m, n).T


def read_svmlight(path: InputFile) -> Matrix:
    """SVMlight: the numbers alone; the labels that it starts lines with are not looked at."""
    try:
        values, _ = load_svmlight_file(os.fspath(path), zero_based="auto")
    except (ValueError, OverflowError, *BROKEN) as error:
        raise ValueError(f"{path} cannot be read as an SVMlight file: {error}") from error
    return Matrix(path, sp.csr_array(values))
