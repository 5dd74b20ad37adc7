"""Texts that link to each other, in the format of the LINQS group: Cora, Citeseer, and WebKB of four universities."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial

import numpy as np
import scipy.sparse as sp

from ...data.inputs import ViewInput
from ..dataset import Dataset
from .load import load_remote
from .remote import ExpectedSizes, ParsedData, RemoteDataset, decode_lines, link_entities, make_unique, to_whole_numbers

PUBLIC = "https://linqs-data.soe.ucsc.edu/public/lbc"
SEN = (
    "P. Sen, G. Namata, M. Bilgic, L. Getoor, B. Gallagher, T. Eliassi-Rad: Collective classification in network data. "
    "AI Magazine 29(3), 2008."
)
UNIVERSITIES = ("cornell", "texas", "washington", "wisconsin")


def fetch_cora() -> Dataset:
    """Fetch 2,708 papers on machine learning by their words and citations.

    Returns
    -------
    Dataset
        Views ``text`` (1,433 words, 0 or 1), ``inbound`` (the papers that cite it) and ``outbound`` (those it cites).

    Examples
    --------
    >>> import consilience as cs
    >>> cora = cs.datasets.fetch_cora()  # doctest: +SKIP
    >>> cora.views.names  # doctest: +SKIP
    ('text', 'inbound', 'outbound')
    >>> len(cora.views), len(cora.target_names)  # doctest: +SKIP
    (2708, 7)
    """
    return load_remote(CORA)


def fetch_citeseer() -> Dataset:
    """Fetch 3,312 papers on computer science by their words and citations.

    Returns
    -------
    Dataset
        Views ``text`` (3,703 words, 0 or 1), ``inbound`` (the papers that cite it) and ``outbound`` (those it cites).
        124 papers cite themselves, which is kept; 17 citations of papers that are not there are left out.

    Examples
    --------
    >>> import consilience as cs
    >>> citeseer = cs.datasets.fetch_citeseer()  # doctest: +SKIP
    >>> citeseer.views.names  # doctest: +SKIP
    ('text', 'inbound', 'outbound')
    >>> len(citeseer.views), len(citeseer.target_names)  # doctest: +SKIP
    (3312, 6)
    """
    return load_remote(CITESEER)


def fetch_webkb_linqs() -> Dataset:
    """Fetch 877 web pages of four universities by their words and links.

    Returns
    -------
    Dataset
        Views ``text`` (1,703 words, 0 or 1), ``inbound`` (the pages that link to it) and ``outbound``.

    Examples
    --------
    >>> import consilience as cs
    >>> webkb = cs.datasets.fetch_webkb_linqs()  # doctest: +SKIP
    >>> webkb.views.names  # doctest: +SKIP
    ('text', 'inbound', 'outbound')
    >>> webkb.target_names  # doctest: +SKIP
    ('course', 'faculty', 'project', 'staff', 'student')
    """
    return load_remote(WEBKB_LINQS)


def parse_linqs(files: Mapping[str, bytes], parts: tuple[str, ...]) -> ParsedData:
    """Parse the contents (id, words as 0 and 1, class) and the links (id of target, id of source) of each part."""
    rows = [line.split() for part in parts for line in decode_lines(files[f"{part}.content"])]
    names, target = np.unique([row[-1] for row in rows], return_inverse=True)
    position = {row[0]: i for i, row in enumerate(rows)}
    links = [line.split() for part in parts for line in decode_lines(files[f"{part}.cites"])]
    inbound = link_entities(
        [(position[a], position[b]) for a, b in links if a in position and b in position], len(rows)
    )
    ids = make_unique([row[0] for row in rows])
    words = sp.csr_array(to_whole_numbers("words", np.array([row[1:-1] for row in rows], dtype=np.int64), maximum=1))
    blocks = {
        "text": ViewInput(words, ids),
        "inbound": ViewInput(inbound, ids, ids),
        "outbound": ViewInput(inbound.T.tocsr(), ids, ids),
    }
    return ParsedData(blocks, target, tuple(name.removeprefix("class_") for name in names.tolist()))


def _list_members(*parts: str) -> tuple[str, ...]:
    return tuple(f"{part}.{end}" for part in parts for end in ("content", "cites"))


CORA = RemoteDataset(
    name="cora",
    file="cora.tgz",
    url=f"{PUBLIC}/cora.tgz",
    members=_list_members("cora"),
    parse=partial(parse_linqs, parts=("cora",)),
    facts=ExpectedSizes(2708, (298, 418, 818, 426, 217, 180, 351), {"text": 1433, "inbound": 2708, "outbound": 2708}),
    description="Cora: papers on machine learning with the words of their texts and the citations among them.",
    citation=(
        f"{SEN} A. McCallum, K. Nigam, J. Rennie, K. Seymore: Automating the construction of Internet portals with "
        "machine learning. Information Retrieval 3, 2000."
    ),
    license="free for research; no license is stated",
    copy="cora",
    sha256="0d4ed463d1627bb7f3e8420effe8f5545fd492ae8f88dab44ce86cee7b26d7e8",
)
CITESEER = RemoteDataset(
    name="citeseer",
    file="citeseer.tgz",
    url=f"{PUBLIC}/citeseer.tgz",
    members=_list_members("citeseer"),
    parse=partial(parse_linqs, parts=("citeseer",)),
    facts=ExpectedSizes(3312, (249, 596, 701, 508, 668, 590), {"text": 3703, "inbound": 3312, "outbound": 3312}),
    description="Citeseer: papers on computer science with the words of their texts and the citations among them.",
    citation=f"{SEN} C.L. Giles, K. Bollacker, S. Lawrence: CiteSeer: an automatic citation indexing system. 1998.",
    license="no license is stated",
    copy="citeseer",
    sha256="b02ee7b5d83130f8fd45b59017a76fdae3e998629a1904c2c5e07343a9664685",
)
WEBKB_LINQS = RemoteDataset(
    name="webkb-linqs",
    file="WebKB.tgz",
    url=f"{PUBLIC}/WebKB.tgz",
    members=_list_members(*UNIVERSITIES),
    parse=partial(parse_linqs, parts=UNIVERSITIES),
    facts=ExpectedSizes(877, (218, 125, 80, 39, 415), {"text": 1703, "inbound": 877, "outbound": 877}),
    description="WebKB of LINQS: pages of computer science departments of four universities, their words and links.",
    citation=f"{SEN} Q. Lu, L. Getoor: Link-based classification. ICML 2003.",
    license="no license is stated",
    copy="webkb_linqs",
)
