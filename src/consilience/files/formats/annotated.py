"""Single-cell files: AnnData (.h5ad) and MuData (.h5mu), read in a child process.

HDF5 can loop or crash on a damaged file. In a child process it can be interrupted and limited, and a crash becomes an
error message.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import IO, Any, TypeVar

import numpy as np
import scipy.sparse as sp

from ..._tuning import Tuning
from .base import FileCollection, FileFormat, FileMatrix, InputFile
from .columns import to_objects
from .hdf5_child import split_annotated

T = TypeVar("T")

PIPE_BYTES = 2**20  # the most that Linux allows every user
CHILD = Path(__file__).with_name("hdf5_child.py")
tuning = Tuning(start_seconds=30)  # processor time that reading a file of any length may take
BYTES_PER_SECOND = 10**6  # slowest reading that is allowed; undamaged files are read at 50 times this speed or more


def read_h5mu(path: InputFile) -> FileCollection:
    """Read X of each modality as a matrix; the columns of `obs` describe all cells."""
    collection = _read_in_child(path, "mudata")
    if not collection.matrices:
        raise ValueError(f"{path} holds no modalities")
    return collection


def read_h5ad(path: InputFile) -> FileCollection:
    """Read X and each entry of obsm as a matrix, except for embeddings (X_pca, X_umap)."""
    collection = _read_in_child(path, "anndata")
    if not collection.matrices:
        raise ValueError(f"{path} holds neither X nor entries in obsm")
    return collection


def _read_in_child(path: InputFile, package: str, block: str | None = None) -> FileCollection:
    """Let a child process read the file, or a block of it, and take over the arrays that it sends through a pipe."""

    def build(header: dict[str, Any], stream: IO[bytes]) -> FileCollection:
        return _build_collection(
            header, partial(_receive_values, stream=stream), partial(_read_in_child, path, package)
        )

    return _run_child(path, package, {"task": "read", "block": block}, build)


def list_conflicts(path: InputFile) -> list[str]:
    """List what a single-cell file has under the names of results, unless it was written as such."""
    return _run_child(path, "anndata", {"task": "find-conflicts"}, lambda header, _: header["conflicts"])


def insert_results(path: InputFile, results: Path, facts: dict[str, Any]) -> int:
    """Let a child process add results to a single-cell file; return how many of its cells have any.

    `results` is an .npz file with the arrays that `select_results` takes, and the `ids` of the cells.
    """
    job = {"task": "add-results", "results": os.fspath(results), "facts": facts}
    return _run_child(path, "anndata", job, lambda header, _: header["n_matched"])


def _run_child(
    path: InputFile, package: str, job: dict[str, Any], build: Callable[[dict[str, Any], IO[bytes]], T]
) -> T:
    """Let a child process work on the file, and return what `build` makes of its answer."""
    seconds = tuning.start_seconds + path.n_bytes // BYTES_PER_SECOND
    job |= {"path": os.fspath(path), "package": package, "seconds": seconds}
    job |= {"parent": os.getpid(), "sys_path": sys.path}
    # -P keeps the folder of the script, whose modules have common names, out of the child's sys.path.
    command = [sys.executable, "-P", str(CHILD), json.dumps(job)]
    environment = os.environ | {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}  # reading needs no threads
    devnull = subprocess.DEVNULL
    with subprocess.Popen(command, stdin=devnull, stdout=subprocess.PIPE, stderr=devnull, env=environment) as child:
        assert child.stdout is not None
        if sys.platform == "linux":  # a larger pipe, so that the processes alternate less often
            import fcntl

            with suppress(OSError):
                fcntl.fcntl(child.stdout, fcntl.F_SETPIPE_SZ, PIPE_BYTES)
        try:
            header = json.loads(_receive(child.stdout, int.from_bytes(_receive(child.stdout, 8), "little")))
            if "error" not in header:
                return build(header, child.stdout)
        except EOFError:
            code = child.wait()
            if -code in (signal.SIGINT, signal.SIGTERM):  # the signal was meant for this process too
                raise KeyboardInterrupt from None
            raise ValueError(f"{path}: {_explain_end(code, seconds)}") from None
        finally:
            child.kill()
    if header["error"] == "import":
        raise ImportError(f"{path}: these files need {package}: pip install 'consilience[mudata]'")
    if header["error"] == "memory":
        raise MemoryError(f"{path} does not fit into memory, or is damaged")
    raise ValueError(f"{path} cannot be read as {path.suffix}: {header['message']}")


def _explain_end(code: int, seconds: int) -> str:
    """Say why the child ended before it had sent everything."""
    if code >= 0:
        return f"took longer than {seconds} s to read, or the reader failed: it is probably damaged"
    name = signal.Signals(-code).name
    if name == "SIGXCPU":
        return f"took longer than {seconds} s to read: it is probably damaged"
    if name == "SIGKILL":
        return "the reader was killed (SIGKILL), most likely because memory ran out: it is too large or damaged"
    return f"the reader crashed ({name}): it is probably damaged"


def read_annotated_object(name: str, data: Any) -> FileCollection:
    """Take an AnnData or MuData object in memory apart as a file of it is."""
    data = data.to_memory() if getattr(data, "isbacked", False) else data

    def read_block(block: str | None = None) -> FileCollection:
        return _build_collection(split_annotated(data, block), lambda header: header["values"], read_block)

    collection = read_block()
    if not collection.matrices:
        raise ValueError(f"view {name!r} holds neither modalities nor X nor entries in obsm")
    return collection


def _build_collection(
    header: dict[str, Any], read_values: Callable[[dict[str, Any]], Any], read_block: Callable[[str], FileCollection]
) -> FileCollection:
    ids = to_objects(header["ids"])
    matrices = {}
    for name, block in header["blocks"].items():
        values = read_values(block)
        block_ids = to_objects(block["ids"]) if "ids" in block else ids
        features = to_objects(block["features"]) if "features" in block else None
        values = sp.csr_array(values) if sp.issparse(values) else np.asarray(values)
        hints = {key: block[key] for key in ("modality", "raw_block") if key in block}
        matrices[name] = FileMatrix(values, block_ids, features, is_expression=features is not None, **hints)
    columns = {name: to_objects(column) for name, column in header["columns"].items()}
    optional: dict[str, Callable[[], FileMatrix]] = {
        name: lambda name=name: read_block(name).matrices[name]  # type: ignore[misc]
        for name in header["optional"]
    }
    return FileCollection(matrices, columns, ids, optional)


def _receive_values(block: dict[str, Any], stream: IO[bytes]) -> Any:
    parts = [np.empty(tuple(shape), dtype=dtype) for dtype, shape in block["parts"]]
    for part in parts:
        _fill(stream, part.reshape(-1).view(np.uint8).data)
    shape = block["sparse_shape"]
    return parts[0] if shape is None else sp.csr_array(tuple(parts), shape=tuple(shape))


def _receive(stream: IO[bytes], n_bytes: int) -> bytearray:
    buffer = bytearray(n_bytes)
    _fill(stream, memoryview(buffer))
    return buffer


def _fill(stream: IO[bytes], buffer: memoryview) -> None:
    """Read exactly as many bytes as the buffer takes."""
    start = 0
    while start < len(buffer):
        n_bytes = stream.readinto(buffer[start:])  # type: ignore[attr-defined]
        if not n_bytes:
            raise EOFError
        start += n_bytes


H5AD = FileFormat((".h5ad",), read_h5ad, detect=lambda start: start.startswith(b"\x89HDF"))
H5MU = FileFormat((".h5mu",), read_h5mu, detect=lambda start: start.startswith(b"MuData"))  # before the HDF5 signature
