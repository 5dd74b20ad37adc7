"""H5MU files: sound ones of every make come back as they were written, damaged ones are refused."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

import consilience as cs

from .case import Case, call, quiet, require
from .files import damage_bytes, run_command

NAMES = ("rna", "protein", "a b", "größe", "x:y", "=1", "X" * 80)


def check(case: Case) -> str:
    """Write a random file, damage it half of the time, and give it to the command and to `Views.from_mudata`."""
    with quiet():
        data, path = random_mudata(case)
    damaged = case.chance(0.5)
    if damaged:
        path.write_bytes(damage_bytes(case, path.read_bytes(), text=False))
    else:
        check_views(data)
    out = case.folder / "out"
    command = ["cluster", "--view", str(path), "-k", "2", "--out", str(out), "--quiet"]
    command += ["--labels", "kind"] if case.chance(0.3) else []
    return run_command(case, command, path.name)


def random_mudata(case: Case) -> tuple[Any, Any]:
    """Draw modalities, dense or sparse, that share some of their cells; write them to a file."""
    import anndata
    import mudata
    import pandas as pd

    rng, n = case.rng, int(case.choose([3, 12, 30]))
    names = rng.permutation(NAMES[:2] if case.chance(0.7) else NAMES).tolist()[: int(case.choose([1, 2, 2, 3]))]
    cells = np.array([f"cell{i}" for i in range(n)])
    parts, words = {}, []
    for name in names:
        present = np.sort(rng.permutation(n)[: int(case.choose([n, n, max(1, n - 2), max(1, n // 2)]))])
        values = rng.normal(size=(len(present), int(case.choose([1, 2, 5])))) + 4 * (present % 2)[:, None]
        values = np.abs(values).astype(case.choose(["float32", "float64", "int32"]))
        make = case.choose([np.asarray, sp.csr_matrix, sp.csc_matrix, sp.csr_array])
        if case.chance(0.1) and values.dtype.kind == "f":
            values[rng.integers(len(present))] = np.nan
        obs = pd.DataFrame({"kind": pd.Categorical([f"k{i % 2}" for i in present])}, index=cells[present])
        parts[name] = anndata.AnnData(make(values), obs=obs)
        if case.chance(0.2):
            parts[name].obsm["pca"] = rng.normal(size=(len(present), 2))
        words.append(f"{name!r}: {make.__name__} {values.dtype} {values.shape}")
    case.note(modalities=words)
    data = mudata.MuData(parts)
    if case.chance(0.5):
        kinds = np.array(["x", "y"])[rng.integers(2, size=data.n_obs)]
        data.obs["kind"] = kinds if case.chance(0.8) else pd.Categorical(kinds, categories=["x"])
    path = case.folder / "cells.h5mu"
    data.write(path)
    return data, path


def check_views(data: Any) -> None:
    """`Views.from_mudata` keeps the cells and the numbers."""
    views = call(cs.Views.from_mudata, data)
    require(list(views.names) == list(data.mod), f"the views are {views.names}")
    require(list(views.ids) == list(data.obs_names), "the cells have other names or another order")
    for j, (name, part) in enumerate(data.mod.items()):
        rows = data.obs_names.get_indexer(part.obs_names)
        require(set(np.flatnonzero(views.present[:, j])) <= set(rows), f"view {name!r} is present in other cells")
        block, values = views[name], part.X
        dense = block.toarray() if sp.issparse(block) else np.asarray(block)
        expected = values.toarray() if sp.issparse(values) else np.asarray(values)
        require(np.array_equal(dense[rows], expected, equal_nan=True), f"the numbers of view {name!r} differ")
