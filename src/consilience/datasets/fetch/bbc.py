"""News articles of the BBC, divided into segments that are the views (University College Dublin)."""

from __future__ import annotations

import io
from collections.abc import Mapping
from functools import partial

import numpy as np
import scipy.sparse as sp
from scipy.io import mminfo, mmread

from ...data.inputs import ViewInput
from ..dataset import Dataset
from .load import load_remote
from .parsing import decode_lines, to_whole_numbers
from .remote import ExpectedSizes, ParsedData, RemoteDataset

PAGE = "http://mlg.ucd.ie/datasets/segment.html"
CITATION = (
    "D. Greene, P. Cunningham: A matrix factorization approach for integrating multiple data views. ECML PKDD 2009."
)
LICENSE = "for non-commercial and research purposes only; the texts are the BBC's"


def fetch_bbc(n_segments: int = 4) -> Dataset:
    """Fetch news articles of the BBC as counts of words, divided into segments that are the views.

    Parameters
    ----------
    n_segments : {2, 4}, default=4
        Segments per article: 685 articles are long enough for four, 2,012 for two.

    Returns
    -------
    Dataset
        Views ``seg1``, ``seg2``, ...; the classes are business, entertainment, politics, sport and tech. The converted
        copy of two segments is a reconstruction, as its description says.
    """
    if n_segments not in BBC:
        raise ValueError(f"n_segments={n_segments!r} must be one of {', '.join(map(str, BBC))}")
    return load_remote(BBC[n_segments])


def fetch_bbcsport() -> Dataset:
    """Fetch 544 sports articles of the BBC as counts of words, divided into two segments that are the views.

    Returns
    -------
    Dataset
        Views ``seg1`` and ``seg2``; the classes are athletics, cricket, football, rugby and tennis.
    """
    return load_remote(BBCSPORT)


def parse_segments(files: Mapping[str, bytes], collection: str, n_segments: int) -> ParsedData:
    """Parse one matrix of terms by documents per segment with their names, and the list of documents per class.

    Entities are the documents that have all segments.
    """
    stems = _list_stems(collection, n_segments)
    documents = [decode_lines(files[f"{stem}.docs"]) for stem in stems]
    shared = [name for name in documents[0] if all(name in names for names in map(set, documents[1:]))]
    classes = _parse_classes(decode_lines(files[f"{collection}.clist"]))
    class_names = list(dict.fromkeys(classes.values()))
    blocks = {}
    for i, (stem, names) in enumerate(zip(stems, documents, strict=True)):
        row = {name: position for position, name in enumerate(names)}
        counts = _parse_matrix(f"{stem}.mtx", files[f"{stem}.mtx"])
        if counts.shape[0] != len(names):
            raise ValueError(f"{stem}.mtx has {counts.shape[0]} documents, {stem}.docs {len(names)}")
        terms = np.array(decode_lines(files[f"{stem}.terms"]))
        block = counts[[row[name] for name in shared]]
        blocks[f"seg{i + 1}"] = ViewInput(block, np.array(shared), terms if len(terms) == block.shape[1] else None)
    target = np.array([class_names.index(classes[name]) for name in shared])
    return ParsedData(blocks, target, tuple(class_names))


def _list_stems(collection: str, n_segments: int) -> list[str]:
    return [f"{collection}_seg{i + 1}of{n_segments}" for i in range(n_segments)]


def _parse_matrix(name: str, content: bytes) -> sp.csr_array:
    """Parse documents by terms; the file must be long enough for the sizes that its header declares."""
    if max(mminfo(io.BytesIO(content))[:3]) > len(content):
        raise ValueError(f"{name} declares more than it holds")
    counts = sp.coo_array(mmread(io.BytesIO(content)))
    values = to_whole_numbers(f"counts of {name}", counts.data)
    matrix = sp.csr_array((values, counts.coords[::-1]), shape=counts.shape[::-1])
    matrix.eliminate_zeros()
    return matrix


def _parse_classes(lines: list[str]) -> dict[str, str]:
    """Parse the class of each document from lines such as ``sport: sport.001,sport.002``."""
    split = [line.partition(":") for line in lines]
    return {name.strip(): label.strip() for label, _, names in split for name in names.split(",") if name.strip()}


def _declare_bbc(
    name: str, collection: str, n_segments: int, facts: ExpectedSizes, copy: str, content: str, of_copy: str = ""
) -> RemoteDataset:
    stems = _list_stems(collection, n_segments)
    return RemoteDataset(
        name=name,
        file="",  # the archive is unpacked by hand
        url=PAGE,
        members=(*(f"{stem}.{end}" for stem in stems for end in ("mtx", "terms", "docs")), f"{collection}.clist"),
        parse=partial(parse_segments, collection=collection, n_segments=n_segments),
        facts=facts,
        description=f"{content}, divided into {n_segments} segments each; counts of stemmed words.",
        citation=CITATION,
        license=LICENSE,
        copy=copy,
        of_copy=of_copy,
    )


BBC_4 = _declare_bbc(
    "bbc",
    "bbc",
    4,
    ExpectedSizes(685, (134, 82, 226, 70, 173), {"seg1": 4659, "seg2": 4633, "seg3": 4665, "seg4": 4684}),
    "bbc_4view",
    "News articles of the BBC of 2004 and 2005",
)
BBC_2 = _declare_bbc(
    "bbc-2",
    "bbc",
    2,
    ExpectedSizes(2012, (), {"seg1": 6838, "seg2": 6790}),
    "bbc_reseg_2view",
    "News articles of the BBC of 2004 and 2005",
    "This converted copy is a RECONSTRUCTION: the articles were divided again by the published rule, which gives the "
    "same 2,012 articles, but which segment went into which view cannot be recovered (6,919 and 6,965 columns instead "
    "of 6,838 and 6,790). Do not expect published figures to come out exactly.",
)
BBC = {2: BBC_2, 4: BBC_4}
BBCSPORT = _declare_bbc(
    "bbcsport",
    "bbcsport",
    2,
    ExpectedSizes(544, (62, 104, 193, 124, 61), {"seg1": 3183, "seg2": 3203}),
    "bbcsport_2view",
    "Sports articles of the BBC of 2004 and 2005",
)
