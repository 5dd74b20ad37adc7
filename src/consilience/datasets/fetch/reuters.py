"""English news of Reuters with translations into four languages (Amini, Usunier & Goutte 2009)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
import scipy.sparse as sp

from ...arrays import make_generator
from ...data.inputs import ViewInput
from ..dataset import Dataset
from .load import load_remote
from .parsing import build_csr
from .remote import ExpectedSizes, ParsedData, RemoteDataset

LANGUAGES = {"EN": 21531, "FR": 24893, "GR": 34279, "IT": 15506, "SP": 11547}  # with the size of their vocabulary
DOCUMENTS = 18758  # of English origin


def fetch_reuters(n_samples: int = 1200, random_state: Any = 0) -> Dataset:
    """Fetch a sample of English news with their machine translations into four languages.

    The converted copies are samples from the literature: 1,200 documents by Grimal & Bisson with 2,000 words per
    language, 600 by Brbić & Kopriva. From the original archive a new sample is drawn, with the same number of documents
    per class.

    Parameters
    ----------
    n_samples : int, default=1200
        Number of documents, a multiple of 6. The converted copies hold 1,200 or 600.
    random_state : int, Generator, RandomState or None, default=0
        Seed of the sample from the original archive.

    Returns
    -------
    Dataset
        Views ``EN``, ``FR``, ``GR``, ``IT`` and ``SP`` of weighted words; in the copy of 1,200 the last two are called
        ``view4`` and ``view5``, because their order is not certain.
    """
    if n_samples < 6 or n_samples % 6:
        raise ValueError(f"n_samples={n_samples} must be a multiple of 6, for the six classes")
    home = REUTERS.get(n_samples, replace(REUTERS[1200], copy="", of_copy=""))
    parse = partial(parse_reuters, n_samples=n_samples, random_state=random_state)
    facts = ExpectedSizes(n_samples, (n_samples // 6,) * 6, LANGUAGES)
    return load_remote(replace(home, parse=parse, facts=facts))


def parse_reuters(
    files: Mapping[str, bytes],
    n_samples: int,
    random_state: Any = 0,
    n_documents: int = DOCUMENTS,
    widths: Mapping[str, int] = LANGUAGES,
) -> ParsedData:
    """Parse one document per line: its class, and ``column:weight`` per word, with columns from 1.

    Line i is the same document in all languages.
    """
    lines = {name: files[f"Index_EN-{name}"].decode("ascii").splitlines() for name in widths}
    lengths = {len(documents) for documents in lines.values()}
    if lengths != {n_documents}:
        raise ValueError(f"{sorted(lengths)} documents, not {n_documents}")
    classes = np.array([line.split(maxsplit=1)[0] for line in lines["EN"]])
    names, target = np.unique(classes, return_inverse=True)
    rng = make_generator(random_state)
    samples = [rng.permutation(np.flatnonzero(target == j))[: n_samples // len(names)] for j in range(len(names))]
    rows = np.sort(np.concatenate(samples))
    blocks = {name: ViewInput(_parse_weights([texts[i] for i in rows], widths[name])) for name, texts in lines.items()}
    return ParsedData(blocks, target[rows], tuple(names.tolist()))


def _parse_weights(lines: list[str], width: int) -> sp.csr_array:
    cells = [[cell.split(":") for cell in line.split()[1:]] for line in lines]
    indptr = np.cumsum([0, *map(len, cells)])
    columns = np.array([int(column) for row in cells for column, _ in row], dtype=np.int64) - 1
    weights = np.array([float(weight) for row in cells for _, weight in row])
    matrix = build_csr(weights, columns, indptr, (len(lines), width))
    matrix.sum_duplicates()
    return matrix


REUTERS_1200 = RemoteDataset(
    name="reuters",
    file="reuters+rcv1+rcv2+multilingual+multiview+text+categorization+test+collection.zip",
    url=(
        "https://archive.ics.uci.edu/static/public/259/"
        "reuters+rcv1+rcv2+multilingual+multiview+text+categorization+test+collection.zip"
    ),
    inner="rcv1rcv2aminigoutte.tar.bz2",
    members=tuple(f"Index_EN-{name}" for name in LANGUAGES),
    parse=partial(parse_reuters, n_samples=1200),
    facts=ExpectedSizes(1200, (200,) * 6, LANGUAGES),
    description="Reuters RCV1/RCV2 multilingual: English news and their translations by machine, weighted words.",
    citation=(
        "M.-R. Amini, N. Usunier, C. Goutte: Learning from multiple partially observed views: an application to "
        "multilingual text categorization. NIPS 2009."
    ),
    license="CC BY 4.0 (UCI Machine Learning Repository)",
    copy="reuters_1200",
    copy_views={"view1": "EN", "view2": "FR", "view3": "GR", "view4": "view4", "view5": "view5"},
    of_copy=(
        "This converted copy is the sample of C. Grimal and G. Bisson, with 2,000 words per language; which of view4 "
        "and view5 is Italian and which Spanish is not certain, nor is the order of the names of the classes."
    ),
)
REUTERS_600 = replace(
    REUTERS_1200,
    name="reuters-600",
    parse=partial(parse_reuters, n_samples=600),
    facts=ExpectedSizes(600, (100,) * 6, LANGUAGES),
    copy="reuters_600",
    copy_views={},
    of_copy="This converted copy is the sample of M. Brbić and I. Kopriva (2018); its classes have no names there.",
)
REUTERS = {1200: REUTERS_1200, 600: REUTERS_600}
