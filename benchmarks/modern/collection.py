"""Every multi-view set in a folder of ``.npz`` files, as it is or with one useless view added.

The folder is named by the environment variable CONSILIENCE_DATA. Each file holds ``labels``, ``view_names`` and, for
each view, either ``NAME__dense`` or the parts of a CSR matrix: ``NAME__data``, ``NAME__indices``, ``NAME__indptr`` and
``NAME__shape``. Files with fewer than two views are left out. A set with more than `MAX_ENTITIES` entities is reduced
to a random sample of that size, and classes that are absent from the sample do not count.

A useless view says nothing about the classes:

- *noise*: 20 columns of standard normal numbers
- *blobs*: an unrelated partition into as many well separated clusters of equal size as there are classes
- *year*: one column of whole numbers, uniform from 1950 to 2020
"""

from __future__ import annotations

import os
import zlib
from collections.abc import Callable, Iterable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

FOLDER = "CONSILIENCE_DATA"
MAX_ENTITIES = 1_200
PLUS = " + "  # between the name of a set and the kind of a useless view
USELESS = ("noise", "blobs", "year")  # kinds
USELESS_SETS = ("mfeat", "bbc_4view", "ngs_500", "orl_4view", "msrc_v1", "tcga_breast")

Set = tuple[dict[str, Any], np.ndarray]  # views by name, and the classes


def find_sets(folder: Path | None = None) -> dict[str, Callable[[], Set]]:
    """Return a loader for each multi-view set in the folder, by the name of its file."""
    folder = folder or get_data_folder()
    paths = [path for path in sorted(folder.glob("*.npz")) if len(read_view_names(path)) >= 2]
    return {path.stem: partial(load_set, path) for path in paths}


def add_useless_views(sets: dict[str, Callable[[], Set]]) -> dict[str, Callable[[], Set]]:
    """Return a loader for each set with each kind of useless view, named ``mfeat + noise`` and so on."""
    return {
        f"{name}{PLUS}{kind}": partial(load_with_useless, name, load, kind)
        for name, load in sets.items()
        for kind in USELESS
    }


def is_case(name: str) -> bool:
    """Tell whether a name is that of a set with a useless view."""
    return PLUS in name


def choose_useless_cases(names: Iterable[str]) -> list[str]:
    """Pick the cases that are run by default: the sets in `USELESS_SETS` with each kind of useless view."""
    return [name for name in names if is_case(name) and name.partition(PLUS)[0] in USELESS_SETS]


def get_data_folder() -> Path:
    """Return the folder that CONSILIENCE_DATA names."""
    folder = os.environ.get(FOLDER)
    if not folder:
        raise FileNotFoundError(f"set the environment variable {FOLDER} to the folder of .npz files")
    if not Path(folder).is_dir():
        raise FileNotFoundError(f"{FOLDER} names no folder: {folder}")
    return Path(folder)


def read_view_names(path: Path) -> list[str]:
    """Return the names of the views in a file, without reading the views."""
    with np.load(path, allow_pickle=False) as file:
        return [str(name) for name in file["view_names"]] if "view_names" in file else []


def load_set(path: Path) -> Set:
    """Read the views, sparse as CSR and dense as float64, and the classes; sample the rows if there are too many."""
    with np.load(path, allow_pickle=False) as file:
        labels = file["labels"]
        views = {str(name): _read_view(file, str(name)) for name in file["view_names"]}
    n = len(labels)
    if n > MAX_ENTITIES:
        rows = np.sort(np.random.default_rng(0).choice(n, MAX_ENTITIES, replace=False))
        views, labels = {name: X[rows] for name, X in views.items()}, labels[rows]
    return views, labels


def _read_view(file: Any, name: str) -> Any:
    if f"{name}__dense" in file:
        return file[f"{name}__dense"].astype(np.float64)
    data, indices, indptr, shape = (file[f"{name}__{part}"] for part in ("data", "indices", "indptr", "shape"))
    parts = data.astype(np.float64), indices.astype(np.int32), indptr.astype(np.int32)
    return sp.csr_array(parts, shape=tuple(shape))


def load_with_useless(name: str, load: Callable[[], Set], kind: str) -> Set:
    """Load a set and add a useless view, drawn with a seed that depends on the names of the set and of the kind."""
    views, labels = load()
    rng = np.random.default_rng(zlib.crc32(f"{name}{PLUS}{kind}".encode()))
    return {**views, kind: draw_useless(kind, rng, len(labels), len(np.unique(labels)))}, labels


def draw_useless(kind: str, rng: np.random.Generator, n: int, n_clusters: int) -> np.ndarray:
    """Draw a useless view of n rows; n_clusters is the number of blobs."""
    if kind == "noise":
        return rng.normal(size=(n, 20))
    if kind == "blobs":
        clusters = rng.permutation(n) % n_clusters
        return 5 * rng.normal(size=(n_clusters, 10))[clusters] + rng.normal(size=(n, 10))
    if kind == "year":
        return rng.integers(1950, 2021, size=(n, 1)).astype(np.float64)
    raise ValueError(f"no kind of useless view: {kind}")
