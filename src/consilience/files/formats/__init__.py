"""Which file is read how: by the ending of its name."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from .annotated import read_h5ad, read_h5mu
from .arrays import read_npy, read_npz
from .cells import is_missing, is_number, spoken
from .delimited import read_delimited
from .jsonl import read_jsonl
from .market import read_market, read_svmlight
from .parquet import read_parquet
from .source import Collection, Frame, Matrix, Source

TABLES: dict[str, Callable[..., Frame]] = {
    ".csv": read_delimited,
    ".tsv": read_delimited,
    ".txt": read_delimited,
    ".jsonl": read_jsonl,
    ".ndjson": read_jsonl,
    ".parquet": read_parquet,
    ".pq": read_parquet,
}
MATRICES: dict[str, Callable[[Path], Any]] = {
    ".npy": read_npy,
    ".npz": read_npz,
    ".mtx": read_market,
    ".svm": read_svmlight,
    ".svmlight": read_svmlight,
    ".libsvm": read_svmlight,
    ".h5ad": read_h5ad,
    ".h5mu": read_h5mu,
}


def read_source(path: Path, as_text: frozenset[str] = frozenset(), delimiter: str | None = None) -> Source:
    """What a file holds; columns named in `as_text` are never taken for numbers."""
    if not path.exists():
        raise FileNotFoundError(f"there is no file {path}")
    if path.is_dir():
        raise IsADirectoryError(f"{path} is a folder: name a file in it")
    if not path.stat().st_size:
        raise ValueError(f"{path} is empty")
    ending = _ending(path)
    if ending in TABLES:
        return TABLES[ending](path, as_text, delimiter)
    return MATRICES[ending](path)


def is_table(path: Path) -> bool:
    """Whether the file has named columns."""
    return _ending(path) in TABLES


def _ending(path: Path) -> str:
    endings = [one.lower() for one in path.suffixes]
    if endings and endings[-1] == ".gz":
        endings.pop()
    ending = endings[-1] if endings else ""
    if ending not in TABLES and ending not in MATRICES:
        known = ", ".join([*TABLES, *MATRICES])
        raise ValueError(f"{path}: files are known by their ending, which must be one of {known}")
    return ending


__all__ = ["Collection", "Frame", "Matrix", "Source", "is_missing", "is_number", "is_table", "read_source", "spoken"]
