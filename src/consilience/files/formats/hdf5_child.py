"""Read an H5AD or H5MU file and write its content to standard output, or add results to such a file.

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
RESULT_NAMES = {"obs": "consilience", "obsm": "X_consilience"}  # what the names of results start with
BY_VIEW = "consilience_by_"  # what the names of clusters by single views start with


def run_job() -> None:
    """Do with a file what the only argument describes."""
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
        match job["task"]:
            case "read":
                header = read_annotated(job["path"], job["package"], job["block"], arrays)
            case "find-conflicts":
                header = {"conflicts": find_conflicts(job["path"])}
            case "add-results":
                header = add_results(job["path"], job["results"], job["facts"])
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


def read_annotated(path: str, package: str, block_name: str | None, arrays: list[Any]) -> dict[str, Any]:
    """Read the file, or one block of it; append its arrays to `arrays` and return the header."""
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
    header = split_annotated(data, block_name)
    for block in header["blocks"].values():
        block.update(describe(block.pop("values")))
    return header


def split_annotated(data: Any, block_name: str | None = None) -> dict[str, Any]:
    """Split a MuData or AnnData object into blocks of values, the columns of `obs`, and the names of all cells.

    Blocks that are views only if they are named, which are layers, `raw` and embeddings (X_pca), are just listed,
    unless `block_name` names one: then it is the only block.
    """
    blocks: dict[str, Any] = {}
    optional: dict[str, Any] = {}
    modalities = getattr(data, "mod", None)
    for name, part in ({"X": data} if modalities is None else modalities).items():
        prefix = "" if modalities is None else f"{name}/"
        ids = {} if modalities is None else {"ids": as_texts(part.obs_names)}
        hints = {"modality": "" if modalities is None else str(name)}
        features = as_texts(part.var_names)
        if part.X is not None:
            types = as_texts(part.var["feature_types"]) if "feature_types" in part.var else []
            type_names = dict.fromkeys(types)
            raw = {"raw_block": f"{prefix}counts"} if "counts" in part.layers else {}
            whole = ids | hints | raw | {"features": features, "values": part.X}
            if len(type_names) > 1:  # genes and proteins of a 10x file: a block for each type of feature
                for type_name in type_names:
                    positions = [i for i, other in enumerate(types) if other == type_name]
                    chosen = {"features": [features[i] for i in positions], "values": part.X[:, positions]}
                    blocks[f"{prefix}{type_name}"] = whole | chosen | {"modality": type_name}
            else:
                blocks[str(name)] = whole | {"modality": " ".join([hints["modality"], *type_names])}
        for key, values in part.layers.items():
            if key is None:  # X, which recent versions of anndata list with the layers
                continue
            optional[f"{prefix}{key}"] = ids | hints | {"features": features, "values": values}
        if part.raw is not None:
            names = {"features": as_texts(part.raw.var_names)}
            optional[f"{prefix}raw"] = ids | hints | names | {"values": part.raw.X}
        for key, values in part.obsm.items():
            is_view = modalities is None and not key.startswith("X_")
            (blocks if is_view else optional)[f"{prefix}{key}"] = ids | {"modality": key, "values": values}
    if modalities is not None:
        optional |= {key: {"values": values} for key, values in data.obsm.items() if key not in modalities}
    if not blocks:
        blocks, optional = optional, {}
    if block_name is not None:
        blocks = {block_name: (blocks | optional)[block_name]}
    columns = {}
    for name in data.obs.columns:
        column = data.obs[name]
        pairs = zip(column, column.isna(), strict=True)
        columns[str(name)] = [None if is_missing else str(value) for value, is_missing in pairs]
    return {"ids": as_texts(data.obs_names), "columns": columns, "blocks": blocks, "optional": list(optional)}


def as_texts(names: Any) -> list[str]:
    """Names as text."""
    return [str(name) for name in names]


def find_conflicts(path: str) -> list[str]:
    """List the columns of obs and entries of obsm whose names results would take, but that are no earlier results."""
    import h5py

    check_sizes(path)
    with h5py.File(path, "r") as file:
        written = list_written(file)
        return [
            f"{place}[{name!r}]"
            for table in list_tables(file)
            for place in ("obs", "obsm")
            if place in table
            for name in open_group(table, place)
            if name.startswith(RESULT_NAMES[place]) and name not in written
        ]


def list_tables(file: Any) -> list[Any]:
    """List the groups that have obs: the file, and each modality in it."""
    if "mod" not in file:
        return [file]
    modalities = open_group(file, "mod")
    return [file, *(open_group(modalities, name) for name in modalities)]


def open_group(parent: Any, name: str) -> Any:
    """Open a group that is stored in the file itself; a link could lead into another file, and change that."""
    import h5py

    link = parent.get(name, getlink=True)
    group = parent[name] if type(link) is h5py.HardLink else None
    if type(group) is not h5py.Group:
        raise ValueError(f"{parent.name.rstrip('/')}/{name} is not a group of the file: save the file again")
    return group


def read_texts(parent: Any, name: str) -> Any:
    """Read texts, which recent versions of anndata store as a group of values and a mask of missing ones."""
    import h5py

    item = parent[name]
    return (item["values"] if type(item) is h5py.Group else item).asstr()[()]


def list_written(file: Any) -> list[str]:
    """List the columns of obs and entries of obsm that were written as results before."""
    if "uns" not in file or "consilience" not in open_group(file, "uns"):
        return []
    facts = open_group(file["uns"], "consilience")
    names = read_texts(facts, "written") if "written" in facts else ()
    return [name for name in names if name.startswith(tuple(RESULT_NAMES.values()))]


def add_results(path: str, results_path: str, facts: dict[str, Any]) -> dict[str, Any]:
    """Add results to obs, obsm and uns of a file, in place of those that were written before."""
    import h5py
    import numpy as np
    from anndata.io import write_elem

    with np.load(results_path) as stored:
        results = dict(stored)
    conflicts = find_conflicts(path)
    if conflicts:
        raise ValueError(f"{conflicts[0]} was not written by consilience")
    row_of = {str(name): row for row, name in enumerate(results.pop("ids"))}
    n_matched = 0
    written_now: dict[str, Any] = {}
    with h5py.File(path, "r+") as file:
        written = list_written(file)
        for table in list_tables(file):
            obs = open_group(table, "obs")
            cells = read_texts(obs, obs.attrs["_index"])
            rows = np.array([row_of.get(cell.strip(), -1) for cell in cells], dtype=np.int64)
            n_matched = max(n_matched, int((rows >= 0).sum()))
            if "obsm" not in table:
                write_elem(table, "obsm", {})
            columns, blocks = select_results(results, rows, is_modality=table is not file)
            written_now |= columns | blocks
            for group, values in ((obs, columns), (open_group(table, "obsm"), blocks)):
                for name in {*written, *values} & {*group}:
                    del group[name]
                for name, value in values.items():
                    write_elem(group, name, value)
            order = [name for name in as_texts(obs.attrs["column-order"]) if name not in {*written, *columns}]
            obs.attrs["column-order"] = np.array([*order, *columns], dtype=h5py.string_dtype())
        if "uns" not in file:
            write_elem(file, "uns", {})
        uns = open_group(file, "uns")
        if "consilience" in uns:
            del uns["consilience"]
        write_elem(uns, "consilience", facts | {"written": np.array(list(written_now), dtype=object)})
    return {"n_matched": n_matched}


def select_results(
    results: dict[str, Any], rows: Any, is_modality: bool = False
) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the columns of obs and the entries of obsm for these rows of the results; -1 is a cell without any.

    Results are numbers ("number:NAME"), matrices ("matrix:NAME"), or categories ("code:NAME" and "category:NAME"). A
    modality gets no clusters by single views.
    """
    import numpy as np
    import pandas as pd

    has_row = rows >= 0
    columns, blocks = {}, {}
    for key, values in results.items():
        kind, _, name = key.partition(":")
        if is_modality and name.startswith(BY_VIEW):
            continue
        if kind == "code":
            codes = np.where(has_row, values[rows], -1)
            columns[name] = pd.Categorical.from_codes(codes, results[f"category:{name}"].astype(object))
        elif kind == "number":
            columns[name] = np.where(has_row, values[rows], np.nan)
        elif kind == "matrix":
            blocks[name] = np.where(has_row[:, None], values[rows], np.nan)
    return columns, blocks


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
