"""Every multi-view set in a folder of ``.npz`` files, as it is or with one useless view added.

The folder is named by the environment variable CONSILIENCE_DATA. Each file holds ``labels``, ``view_names`` and, for
each view, either ``NAME__dense`` or the parts of a CSR matrix: ``NAME__data``, ``NAME__indices``, ``NAME__indptr`` and
``NAME__shape``. Files with fewer than two views are left out. A set with more than `MAX_ENTITIES` entities is reduced
to a random sample of that size, and classes that are absent from the sample do not count.

Views named inbound, outbound or links are matrices of links between the entities. Their columns are the entities, or
what ``NAME__features`` names as ``sample_ids`` names the entities. `load_with_links` returns them also as a list.

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

from .sets import Links

FOLDER = "CONSILIENCE_DATA"
MAX_ENTITIES = 1_200
PLUS = " + "  # between the name of a set and the kind of a useless view
USELESS = ("noise", "blobs", "year")  # kinds
USELESS_SETS = ("mfeat", "bbc_4view", "ngs_500", "orl_4view", "msrc_v1", "tcga_breast")

LINK_VIEWS = ("inbound", "outbound", "links")  # the columns of the first are sources of links, of the others targets
SAMPLE, REST, WHOLE = "sample", "rest", "whole"  # parts of a set
PART_SIGN = ", "  # between the name of a set and a part other than the usual sample
MOST_WHOLE = 5_000  # entities of a set that is also run as a whole

Set = tuple[dict[str, Any], np.ndarray]  # views by name, and the classes


def find_sets(folder: Path | None = None, load: Callable[..., Any] | None = None) -> dict[str, Callable[..., Any]]:
    """Return a loader for each multi-view set in the folder, by the name of its file; by default `load_set`."""
    folder = folder or get_data_folder()
    paths = [path for path in sorted(folder.glob("*.npz")) if len(read_view_names(path)) >= 2]
    return {path.stem: partial(load or load_set, path) for path in paths}


def find_parts(part: str, folder: Path | None = None) -> dict[str, Callable[[], Any]]:
    """Return a loader for another part of each set that is sampled, named ``cora, rest`` and so on, with its links.

    *rest* is a sample of the entities that the usual sample leaves out, if they are as many as the sample; *whole* are
    all entities, if they are not too many.
    """
    parts = {}
    for name, load in find_sets(folder, load_with_links).items():
        with np.load(load.args[0], allow_pickle=False) as file:
            n_entities = len(file["labels"])
        if (part == REST and n_entities >= 2 * MAX_ENTITIES) or (
            part == WHOLE and MAX_ENTITIES < n_entities <= MOST_WHOLE
        ):
            parts[f"{name}{PART_SIGN}{part}"] = partial(load, part=part)
    return parts


def add_useless_views(sets: dict[str, Callable[[], Any]]) -> dict[str, Callable[[], Any]]:
    """Return a loader for each set with each kind of useless view, named ``mfeat + noise`` and so on."""
    return {
        f"{name}{PLUS}{kind}": partial(load_with_useless, name, load, kind)
        for name, load in sets.items()
        for kind in USELESS
    }


def is_part(name: str) -> bool:
    """Tell whether a name is that of another part of a set than the usual sample."""
    return PART_SIGN in name


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


def load_set(path: Path, part: str = SAMPLE) -> Set:
    """Read the views, sparse as CSR and dense as float64, and the classes; sample the rows if there are too many."""
    with np.load(path, allow_pickle=False) as file:
        labels = file["labels"]
        views = {str(name): _read_view(file, str(name)) for name in file["view_names"]}
    rows = sample_rows(len(labels), part)
    return {name: X[rows] for name, X in views.items()}, labels[rows]


def load_with_links(path: Path, part: str = SAMPLE) -> tuple[dict[str, Any], np.ndarray, Links | None]:
    """Like `load_set`, and the links of a set that has any."""
    views, labels = load_set(path, part)
    names = tuple(name for name in views if name in LINK_VIEWS)
    if not names or len(names) == len(views):
        return views, labels, None
    with np.load(path, allow_pickle=False) as file:
        n_entities = len(file["labels"])
        columns = {name: _read_names(file, f"{name}__features", views[name].shape[1]) for name in names}
        has_features = all(f"{name}__features" in file for name in names)  # otherwise the columns are the entities
        ids = _read_names(file, "sample_ids" if has_features else "", n_entities)[sample_rows(n_entities, part)]
    repeated = np.setdiff1d(np.arange(len(ids)), np.unique(ids, return_index=True)[1])
    ids[repeated] += [f"#{row}" for row in repeated]  # entities with equal ids stay apart
    pairs = set()
    for name in names:
        rows, others = views[name].nonzero()
        ends = ids[rows].tolist(), columns[name][others].tolist()
        pairs.update(zip(*(reversed(ends) if name == "inbound" else ends), strict=True))
    sources, targets = np.array(sorted(pairs), dtype=object).reshape(-1, 2).T
    return views, labels, Links(names, ids, sources, targets)


def sample_rows(n_entities: int, part: str = SAMPLE) -> np.ndarray:
    """Return the rows of a part of a set, in their order: of a random sample, or all rows if there are few."""
    if part == WHOLE or n_entities <= MAX_ENTITIES:
        return np.arange(n_entities)
    rows = np.random.default_rng(0).choice(n_entities, MAX_ENTITIES, replace=False)
    if part == REST:
        rest = np.setdiff1d(np.arange(n_entities), rows)
        rows = np.random.default_rng(1).choice(rest, MAX_ENTITIES, replace=False)
    return np.sort(rows)


def _read_names(file: Any, key: str, n_names: int) -> np.ndarray:
    """Return the names that are stored as bytes in lines, or the numbers of the rows or columns."""
    names = bytes(file[key]).decode().split("\n") if key in file else [str(i) for i in range(n_names)]
    return np.array(names, dtype=object)


def _read_view(file: Any, name: str) -> Any:
    if f"{name}__dense" in file:
        return file[f"{name}__dense"].astype(np.float64)
    data, indices, indptr, shape = (file[f"{name}__{part}"] for part in ("data", "indices", "indptr", "shape"))
    parts = data.astype(np.float64), indices.astype(np.int32), indptr.astype(np.int32)
    return sp.csr_array(parts, shape=tuple(shape))


def load_with_useless(name: str, load: Callable[[], Any], kind: str) -> Any:
    """Load a set and add a useless view, drawn with a seed that depends on the names of the set and of the kind."""
    views, labels, *links = load()
    rng = np.random.default_rng(zlib.crc32(f"{name}{PLUS}{kind}".encode()))
    return {**views, kind: draw_useless(kind, rng, len(labels), len(np.unique(labels)))}, labels, *links


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
