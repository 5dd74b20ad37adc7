"""What several parsers of published files need."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.feature_extraction.text import CountVectorizer

from ...data.inputs import ViewInput


def decode_lines(content: bytes) -> list[str]:
    """Return the lines of a Latin-1 text that are not blank, without blanks around them."""
    return [line.strip() for line in content.decode("latin-1").splitlines() if line.strip()]


def count_words(texts: Sequence[str], min_df: int = 1) -> ViewInput:
    """Count words of two letters or more in lower case, if at least `min_df` texts have them."""
    vectorizer = CountVectorizer(token_pattern="[a-z]{2,}", min_df=min_df)
    counts = sp.csr_array(vectorizer.fit_transform(texts))
    return ViewInput(counts, columns=np.array(vectorizer.get_feature_names_out(), dtype=str))


def build_csr(values: np.ndarray, columns: Any, indptr: Any, shape: tuple[int, ...]) -> sp.csr_array:
    """Build a sparse matrix from arrays of a file; refuse arrays that contradict each other."""
    matrix = sp.csr_array((values, columns, indptr), shape=shape)
    matrix.check_format(full_check=True)
    matrix.eliminate_zeros()
    return matrix


def link_entities(links: Sequence[tuple[int, int]], n: int) -> sp.csr_array:
    """Build the matrix with 1 for each link (row, column), however often it is listed."""
    rows, columns = np.array(links, dtype=np.int64).reshape(-1, 2).T
    matrix = sp.csr_array((np.ones(len(rows), dtype=np.int64), (rows, columns)), shape=(n, n))
    matrix.data[:] = 1
    return matrix


def make_unique(ids: list[str]) -> np.ndarray:
    """Number the repetitions of an id, so that all ids differ."""
    taken, times = set(ids), dict.fromkeys(ids, 0)
    for i, name in enumerate(ids):
        times[name] += 1
        if times[name] > 1:
            while f"{name} ({times[name]})" in taken:
                times[name] += 1
            ids[i] = f"{name} ({times[name]})"
            taken.add(ids[i])
    return np.array(ids)


def to_whole_numbers(what: str, values: Any, maximum: int = 2**53) -> np.ndarray:
    """Convert to integers; refuse values that are not whole numbers from 0 to `maximum`."""
    values = np.asarray(values)
    if values.dtype.kind not in "biuf":
        raise ValueError(f"{what} are {values.dtype}, not whole numbers")
    wrong = ~((values >= 0) & (values <= maximum) & (values == np.floor(values)))  # NaN is wrong too
    if wrong.any():
        raise ValueError(f"{what} hold {values[wrong][0]}, which is not a whole number from 0 to {maximum}")
    return values.astype(np.int64)
