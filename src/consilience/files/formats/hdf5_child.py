"""Read an H5AD or H5MU file and write its content to standard output.

`annotated.py` runs this file as a script, because HDF5 can loop or crash on damaged files, and neither a signal handler
nor a timer of Python runs while it loops. The script does not import consilience.

The output is the length of a JSON header (8 bytes), the header, and the bytes of the arrays that the header lists.
"""

from __future__ import annotations

import json
import os
import signal
import sys
import warnings
from typing import Any

COMPRESSION_RATIO = 1032  # the most that gzip can compress by
ALWAYS_ALLOWED = 2**28  # bytes per data set that a file of any length may announce
BASE_MEMORY = 4 * 2**30  # bytes that reading a file of any length may take


def run_job() -> None:
    """Read the file that the only argument describes."""
    job = json.loads(sys.argv[1])
    signal.signal(signal.SIGINT, signal.SIG_DFL)  # Ctrl-C ends this process at once, even in compiled code
    limit_process(job["parent"], job["seconds"], os.path.getsize(job["path"]))
    sys.path[:] = job["sys_path"]
    sys.modules["dask"] = None  # type: ignore[assignment]  # anndata would import it, for lazy reading only
    output = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # what other packages print must not get into the output
    warnings.simplefilter("ignore")
    arrays: list[Any] = []
    try:
        header = read_annotated(job["path"], job["package"], arrays)
    except Exception as error:  # HDF5, anndata and pandas raise many kinds
        lines = str(error).splitlines() or [type(error).__name__]
        kinds = {"import": ImportError, "memory": MemoryError}
        kind = next((name for name, group in kinds.items() if isinstance(error, group)), "content")
        header, arrays = {"error": kind, "message": lines[0]}, []
    text = json.dumps(header).encode()
    output.write(len(text).to_bytes(8, "little"))
    output.write(text)
    for array in arrays:
        output.write(memoryview(array.ravel().view("u1")))
    output.close()


def limit_process(parent: int, seconds: int, n_bytes: int) -> None:
    """Let the system end this process with its parent (Linux) or after `seconds`, and limit its memory (Linux).

    Seconds are processor time, or real time on Windows. Allocations fail if they are larger than anything that can be
    compressed to `n_bytes`, because some loops allocate in every step.
    """
    try:
        import resource
    except ImportError:
        import faulthandler

        faulthandler.dump_traceback_later(seconds, exit=True)
        return
    _, limit = resource.getrlimit(resource.RLIMIT_CPU)  # that this process may not exceed; negative if there is none
    resource.setrlimit(resource.RLIMIT_CPU, (seconds if limit < 0 else min(seconds, limit), limit))
    resource.setrlimit(resource.RLIMIT_CORE, (0, resource.getrlimit(resource.RLIMIT_CORE)[1]))
    if sys.platform == "linux":
        import ctypes

        ctypes.CDLL(None).prctl(1, signal.SIGKILL)  # PR_SET_PDEATHSIG
        if os.getppid() != parent:  # the parent ended before the call
            os._exit(1)
        limit = resource.getrlimit(resource.RLIMIT_DATA)[1]
        allowed = BASE_MEMORY + 2 * COMPRESSION_RATIO * n_bytes
        if limit < 0 or allowed < limit:
            resource.setrlimit(resource.RLIMIT_DATA, (allowed, limit))


def read_annotated(path: str, package: str, arrays: list[Any]) -> dict[str, Any]:
    """Read the file; append its arrays to `arrays` and return the header."""
    import numpy as np
    import scipy.sparse as sp

    def describe(values: Any) -> dict[str, Any]:
        if sp.issparse(values):
            values = sp.csr_array(values)
            parts, sparse_shape = [values.data, values.indices, values.indptr], values.shape
        else:
            values = np.asarray(values)
            parts, sparse_shape = [values.astype(str) if values.dtype.hasobject else values], None
        arrays.extend(parts)
        return {"parts": [[part.dtype.str, part.shape] for part in parts], "sparse_shape": sparse_shape}

    if package == "mudata":
        import mudata

        check_sizes(path)
        data = mudata.read_h5mu(path)
    else:
        import anndata

        check_sizes(path)
        data = anndata.read_h5ad(path)
    header = split_annotated(data)
    for block in header["blocks"].values():
        block.update(describe(block.pop("values")))
    return header


def split_annotated(data: Any) -> dict[str, Any]:
    """Split a MuData or AnnData object into blocks of values, the columns of `obs`, and the names of all cells."""
    blocks: dict[str, Any] = {}
    if hasattr(data, "mod"):
        for name, block in data.mod.items():
            names = {"ids": as_texts(block.obs_names), "features": as_texts(block.var_names)}
            blocks[name] = names | {"values": block.X}
    else:
        if data.X is not None:
            blocks["X"] = {"features": as_texts(data.var_names), "values": data.X}
        blocks |= {name: {"values": block} for name, block in data.obsm.items()}
    columns = {}
    for name in data.obs.columns:
        column = data.obs[name]
        pairs = zip(column, column.isna(), strict=True)
        columns[str(name)] = [None if is_missing else str(value) for value, is_missing in pairs]
    return {"ids": as_texts(data.obs_names), "columns": columns, "blocks": blocks}


def as_texts(names: Any) -> list[str]:
    """Names as text."""
    return [str(name) for name in names]


def check_sizes(path: str) -> None:
    """Refuse data sets that are larger than anything compressed to the length of the file."""
    import h5py

    limit = max(ALWAYS_ALLOWED, COMPRESSION_RATIO * os.path.getsize(path))

    def check(name: str, item: Any) -> None:
        n_bytes = item.size * item.dtype.itemsize if isinstance(item, h5py.Dataset) and item.size else 0
        if n_bytes > limit:
            raise ValueError(f"{name} announces {n_bytes:,} bytes, too many for a file of {os.path.getsize(path):,}")

    with h5py.File(path, "r") as file:
        file.visititems(check)


if __name__ == "__main__":
    run_job()
