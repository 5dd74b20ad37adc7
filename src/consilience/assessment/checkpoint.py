"""A file that keeps finished steps of a long computation."""

from __future__ import annotations

import copy
import hashlib
import os
import re
import zipfile
import zlib
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

Arrays = Mapping[str, np.ndarray]
IRRELEVANT = ("n_jobs", "verbose")  # parameters that do not change results
ADDRESS = re.compile(r" at 0x[0-9A-Fa-f]+")  # in memory, which differs between processes


class Checkpoint:
    """Results of finished steps, in memory or in an ``.npz`` file from which a later call can go on.

    Parameters
    ----------
    path : path or None
        The file; None keeps nothing after the call.
    fingerprint : str
        Identifies the computation. Steps in a file with another fingerprint are not used.
    """

    def __init__(self, path: str | os.PathLike[str] | None, fingerprint: str) -> None:
        self.path = None if path is None else Path(path)
        self.fingerprint = fingerprint
        self.prefix = ""
        self.arrays: dict[str, np.ndarray] = {}
        if self.path is not None and not self.path.parent.is_dir():
            raise ValueError(f"the checkpoint cannot be written: there is no folder {self.path.parent}")
        if self.path is not None and self.path.exists():
            self.arrays = self._read(self.path)

    def nest(self, name: str) -> Checkpoint:
        """Return a checkpoint that keeps steps in the same file, under names that begin with a name."""
        nested = copy.copy(self)  # which shares the arrays
        nested.prefix = f"{self.prefix}{name}, "
        return nested

    def run(self, step: str, compute: Callable[[], Arrays]) -> dict[str, np.ndarray]:
        """Return the arrays of a step, computed now unless they are already there."""
        prefix = f"{self.prefix}{step}/"
        if not any(name.startswith(prefix) for name in self.arrays):
            self.arrays.update({f"{prefix}{name}": np.asarray(array) for name, array in compute().items()})
            self._write()
        return {name.removeprefix(prefix): array for name, array in self.arrays.items() if name.startswith(prefix)}

    def _read(self, path: Path) -> dict[str, np.ndarray]:
        try:
            # np.load leaves a damaged file open that it has opened itself
            with path.open("rb") as stream, np.load(stream, allow_pickle=False) as file:
                arrays = dict(file)
        except (OSError, ValueError, EOFError, zipfile.BadZipFile, zlib.error) as error:
            raise ValueError(
                f"{path} is not a checkpoint of an assessment, or is damaged: delete it or choose another file"
            ) from error
        if str(arrays.pop("fingerprint", "")) != self.fingerprint:
            raise ValueError(
                f"{path} is the checkpoint of another model, data or seed: delete it or choose another file"
            )
        return arrays

    def _write(self) -> None:
        if self.path is None:
            return
        temporary = self.path.with_name(f"{self.path.name}.part")
        with temporary.open("wb") as file:
            np.savez(file, fingerprint=np.asarray(self.fingerprint), **self.arrays)  # type: ignore[arg-type]
        temporary.replace(self.path)


def compute_fingerprint(*parts: Any) -> str:
    """Return a digest of arrays and of anything with a repr that does not depend on the process."""
    digest = hashlib.sha256()
    for part in parts:
        if isinstance(part, np.ndarray):
            digest.update(repr((part.dtype.str, part.shape)).encode() + np.ascontiguousarray(part).tobytes())
        else:
            digest.update(repr(part).encode())
    return digest.hexdigest()


def describe_parameters(value: Any) -> Iterator[Any]:
    """Yield what identifies an estimator or a parameter in every process: names, arrays and texts."""
    if isinstance(value, type):
        yield value.__qualname__
    elif hasattr(value, "get_params"):
        yield type(value).__qualname__
        for name, parameter in sorted(value.get_params(deep=False).items()):
            if name not in IRRELEVANT:
                yield name
                yield from describe_parameters(parameter)
    elif sp.issparse(value):
        rows = value.tocsr()
        yield from (value.shape, rows.indptr, rows.indices, rows.data)
    elif isinstance(value, Mapping):
        for name, item in value.items():
            yield name
            yield from describe_parameters(item)
    elif hasattr(value, "must_link"):  # constraints
        yield from (*value.must, *value.cannot)
    elif isinstance(value, list | tuple):
        yield len(value)
        for item in value:
            yield from describe_parameters(item)
    elif isinstance(value, np.ndarray) and value.dtype.kind != "O":
        yield value
    elif hasattr(value, "__array__") and np.ndim(value) > 0:
        yield from describe_parameters(np.asarray(value).tolist())
    else:
        yield ADDRESS.sub("", repr(value))
