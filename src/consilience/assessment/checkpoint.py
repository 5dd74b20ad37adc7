"""A file that keeps finished steps of a long computation."""

from __future__ import annotations

import hashlib
import os
import re
import zipfile
import zlib
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, Protocol

import numpy as np
import scipy.sparse as sp

Arrays = Mapping[str, np.ndarray]
IRRELEVANT = ("n_jobs", "verbose")  # parameters that do not change results
ADDRESS = re.compile(r" at 0x[0-9A-Fa-f]+")  # in memory, which is another one in the next process


class Steps(Protocol):
    """Results of finished steps."""

    def run(self, step: str, compute: Callable[[], Arrays]) -> dict[str, np.ndarray]:
        """Return the arrays of a step, computed now unless they are there already."""
        ...

    def nest(self, name: str) -> Steps:
        """Return the steps of a part of the computation, whose names do not collide with others."""
        ...


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
        self.arrays: dict[str, np.ndarray] = {}
        if self.path is not None and not self.path.parent.is_dir():
            raise ValueError(f"the checkpoint cannot be written: there is no folder {self.path.parent}")
        if self.path is not None and self.path.exists():
            self.arrays = self._read(self.path)

    def _read(self, path: Path) -> dict[str, np.ndarray]:
        try:
            # np.load leaves a damaged file open that it has opened itself
            with path.open("rb") as stream, np.load(stream, allow_pickle=False) as file:
                arrays = dict(file)
        except (OSError, ValueError, EOFError, zipfile.BadZipFile, zlib.error) as error:
            raise ValueError(
                f"{path} is no checkpoint of an assessment, or damaged: delete it or choose another file"
            ) from error
        if str(arrays.pop("fingerprint", "")) != self.fingerprint:
            raise ValueError(
                f"{path} is the checkpoint of another model, data or seed: delete it or choose another file"
            )
        return arrays

    def run(self, step: str, compute: Callable[[], Arrays]) -> dict[str, np.ndarray]:
        """Return the arrays of a step, computed now unless the file has them."""
        prefix = f"{step}/"
        if not any(name.startswith(prefix) for name in self.arrays):
            self.arrays |= {f"{prefix}{name}": np.asarray(array) for name, array in compute().items()}
            self._write()
        return {name.removeprefix(prefix): array for name, array in self.arrays.items() if name.startswith(prefix)}

    def nest(self, name: str) -> Steps:
        """Return steps that are kept in the same file, under names that begin with a name."""
        return NestedSteps(self, name)

    def _write(self) -> None:
        if self.path is None:
            return
        temporary = self.path.with_name(f"{self.path.name}.part")
        with temporary.open("wb") as file:
            np.savez(file, allow_pickle=False, fingerprint=np.asarray(self.fingerprint), **self.arrays)
        temporary.replace(self.path)


class NestedSteps:
    """Steps of a part of a computation, kept with the other steps.

    Parameters
    ----------
    steps : Steps
        Of the whole computation.
    name : str
        Begins the names of the steps of this part.
    """

    def __init__(self, steps: Steps, name: str) -> None:
        self.steps = steps
        self.name = name

    def run(self, step: str, compute: Callable[[], Arrays]) -> dict[str, np.ndarray]:
        """Return the arrays of a step, computed now unless they are there already."""
        return self.steps.run(f"{self.name}, {step}", compute)

    def nest(self, name: str) -> Steps:
        """Return the steps of a part of this part."""
        return NestedSteps(self, name)


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
