"""Collections of documents that came with the CLUTO toolkit, with one view each."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial

import numpy as np
import scipy.sparse as sp

from ...data.inputs import ViewInput
from ..dataset import Dataset
from .load import load_remote
from .parsing import build_csr, decode_lines, to_whole_numbers
from .remote import ExpectedSizes, ParsedData, RemoteDataset

COLLECTIONS = {
    "re0": ("news of Reuters", 2886, (16, 608, 319, 42, 60, 219, 80, 20, 37, 39, 11, 38, 15)),
    "fbis": (
        "Foreign Broadcast Information Service",
        2000,
        (190, 125, 358, 92, 94, 506, 139, 65, 387, 119, 48, 46, 38, 46, 43, 121, 46),
    ),
    "la1": ("Los Angeles Times", 29714, (555, 341, 273, 943, 738, 354)),
    "hitech": ("San Jose Mercury on technology", 22498, (485, 116, 429, 603, 481, 187)),
    "tr11": ("TREC", 6429, (52, 132, 69, 21, 20, 11, 29, 6, 74)),
    "wap": (
        "pages of the WebACE project",
        8460,
        (168, 130, 341, 18, 15, 196, 76, 33, 54, 65, 97, 91, 91, 37, 5, 40, 44, 13, 35, 11),
    ),
}


def fetch_cluto(name: str) -> Dataset:
    """Fetch a collection of documents as counts of words, in one view.

    :func:`make_random_splits` makes several views of it, :func:`make_paired_views` views that are independent given
    the class.

    Parameters
    ----------
    name : {"re0", "fbis", "la1", "hitech", "tr11", "wap"}
        Name of the collection.

    Returns
    -------
    Dataset
        One view, ``text``, without the columns that no document has.
    """
    if name not in CLUTO:
        raise ValueError(f"there is no collection {name!r}: choose from {', '.join(map(repr, CLUTO))}")
    return load_remote(CLUTO[name])


def parse_cluto(files: Mapping[str, bytes], name: str) -> ParsedData:
    """Parse a matrix (numbers of rows, columns and entries; then per row: column, value, ...), classes and words."""
    first, *lines = files[f"{name}.mat"].decode("ascii").splitlines()
    n, d, n_entries = (int(word) for word in first.split())
    cells = [line.split() for line in lines[:n]]
    indptr = np.cumsum([0, *(len(row) // 2 for row in cells)])
    columns = np.array([int(cell) - 1 for row in cells for cell in row[::2]], dtype=np.int64)
    values = np.array([float(cell) for row in cells for cell in row[1::2]])
    if len(cells) != n or len(values) != n_entries:
        raise ValueError(f"{len(cells)} rows with {len(values)} entries, not {n} with {n_entries}")
    counts = build_csr(to_whole_numbers("counts", values), columns, indptr, (n, d))
    used, columns = np.unique(counts.indices, return_inverse=True)
    labels = decode_lines(files[f"{name}.mat.rclass"])
    words = np.array([line.strip() for line in files[f"{name}.mat.clabel"].decode("latin-1").splitlines()])
    if len(labels) != n:
        raise ValueError(f"{len(labels)} classes for {n} rows")
    names, target = np.unique(labels, return_inverse=True)
    block = ViewInput(
        sp.csr_array((counts.data, columns, counts.indptr), shape=(n, len(used))),
        columns=words[used] if len(words) == d else None,
    )
    return ParsedData({"text": block}, target, tuple(names.tolist()))


CLUTO = {
    name: RemoteDataset(
        name=f"cluto-{name}",
        file="datasets.tar.gz",
        url="https://karypis.github.io/glaros/files/sw/cluto/datasets.tar.gz",
        members=(f"{name}.mat", f"{name}.mat.rclass", f"{name}.mat.clabel"),
        parse=partial(parse_cluto, name=name),
        facts=ExpectedSizes(sum(sizes), sizes, {"text": width}),
        description=f"CLUTO's collection {name} ({content}): counts of words, one view.",
        citation=(
            "Y. Zhao, G. Karypis: Empirical and theoretical comparisons of selected criterion functions for document "
            "clustering. Machine Learning 55, 2004."
        ),
        license="no license is stated",
        copy=f"cluto_{name}",
        of_copy="The classes have no names in this converted copy.",
    )
    for name, (content, width, sizes) in COLLECTIONS.items()
}
