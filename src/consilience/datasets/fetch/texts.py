"""Collections of documents as counts of words: BBC news, CLUTO, newsgroups and Reuters."""

from __future__ import annotations

import io
import re
from collections.abc import Mapping
from dataclasses import replace
from functools import partial

import numpy as np
import scipy.sparse as sp
from scipy.io import mminfo, mmread

from ...arrays import Seed, make_generator
from ...data.inputs import ViewInput
from ..dataset import Dataset
from .load import load_remote
from .remote import ExpectedSizes, ParsedData, RemoteDataset, build_csr, count_words, decode_lines, to_whole_numbers

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

    Examples
    --------
    >>> import consilience as cs
    >>> bbc = cs.datasets.fetch_bbc(n_segments=4)  # doctest: +SKIP
    >>> bbc.views.names  # doctest: +SKIP
    ('seg1', 'seg2', 'seg3', 'seg4')
    >>> len(bbc.views), len(bbc.target_names)  # doctest: +SKIP
    (685, 5)
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

    Examples
    --------
    >>> import consilience as cs
    >>> bbcsport = cs.datasets.fetch_bbcsport()  # doctest: +SKIP
    >>> bbcsport.views.names  # doctest: +SKIP
    ('seg1', 'seg2')
    >>> sorted(bbcsport.target_names)  # doctest: +SKIP
    ['athletics', 'cricket', 'football', 'rugby', 'tennis']
    """
    return load_remote(BBCSPORT)


def parse_segments(files: Mapping[str, bytes], collection: str, n_segments: int) -> ParsedData:
    """Parse one matrix of terms by documents per segment with their names, and the list of documents per class.

    Entities are the documents that have all segments.
    """
    stems = _list_stems(collection, n_segments)
    documents = [decode_lines(files[f"{stem}.docs"]) for stem in stems]
    shared = [name for name in documents[0] if all(name in names for names in map(set, documents[1:]))]
    lists = [line.partition(":") for line in decode_lines(files[f"{collection}.clist"])]  # sport: sport.001,sport.002
    classes = {name.strip(): label.strip() for label, _, names in lists for name in names.split(",") if name.strip()}
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
    counts = sp.coo_array(mmread(io.BytesIO(content), spmatrix=False))
    values = to_whole_numbers(f"counts of {name}", counts.data)
    matrix = sp.csr_array((values, counts.coords[::-1]), shape=counts.shape[::-1])
    matrix.eliminate_zeros()
    return matrix


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

    `make_random_splits` makes several views of it, `make_paired_views` views that are independent given
    the class.

    Parameters
    ----------
    name : {"re0", "fbis", "la1", "hitech", "tr11", "wap"}
        Name of the collection.

    Returns
    -------
    Dataset
        One view, ``text``, without the columns that no document has.

    Examples
    --------
    >>> import consilience as cs
    >>> reuters = cs.datasets.fetch_cluto("re0")  # doctest: +SKIP
    >>> reuters.views.shape, len(reuters.target_names)  # doctest: +SKIP
    ((1504, 2886), 13)
    >>> halves = cs.datasets.make_random_splits(reuters.views["text"], n_views=2, random_state=0)  # doctest: +SKIP
    >>> len(halves), len(halves.names)  # doctest: +SKIP
    (1504, 2)
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


SUBJECT = re.compile(r"^subject:(.*(?:\n[ \t].*)*)", flags=re.IGNORECASE | re.MULTILINE)
SIZES = (799, 973, 985, 982, 963, 988, 975, 990, 996, 994, 999, 991, 984, 990, 987, 997, 910, 940, 775, 628)


def fetch_newsgroups() -> Dataset:
    """Fetch 18,846 messages to twenty newsgroups.

    Returns
    -------
    Dataset
        Views ``body`` (words of at least five messages) and ``subject`` (words of at least two). Quotations are kept,
        headers other than the subject are not. The messages of the training set come first, by group.

    Examples
    --------
    >>> import consilience as cs
    >>> newsgroups = cs.datasets.fetch_newsgroups()  # doctest: +SKIP
    >>> newsgroups.views.names  # doctest: +SKIP
    ('body', 'subject')
    >>> newsgroups.target_names[:3]  # doctest: +SKIP
    ('alt.atheism', 'comp.graphics', 'comp.os.ms-windows.misc')
    """
    return load_remote(NEWSGROUPS)


def parse_newsgroups(files: Mapping[str, bytes], min_body: int = 5, min_subject: int = 2) -> ParsedData:
    """Parse one message per file, ``20news-bydate-train/GROUP/NUMBER`` or ``20news-bydate-test/GROUP/NUMBER``."""
    split_paths = [(*path.split("/")[-3:], path) for path in files]
    paths = sorted(((part.endswith("test"), group, int(number)), path) for part, group, number, path in split_paths)
    names = tuple(sorted({group for (_, group, _), _ in paths}))
    split = [files[path].decode("latin-1").replace("\r\n", "\n").partition("\n\n") for _, path in paths]
    subjects = [match[1] if (match := SUBJECT.search(header)) else "" for header, _, _ in split]
    blocks = {
        "body": count_words([body for _, _, body in split], min_body),
        "subject": count_words(subjects, min_subject),
    }
    return ParsedData(blocks, np.array([names.index(group) for (_, group, _), _ in paths]), names)


NEWSGROUPS = RemoteDataset(
    name="newsgroups",
    file="20news-bydate.tar.gz",
    url="https://ndownloader.figshare.com/files/5975967",
    members=(),
    parse=parse_newsgroups,
    facts=ExpectedSizes(18_846, SIZES),
    description="20 Newsgroups, by date: messages to twenty newsgroups, words of their bodies and of their subjects.",
    citation="K. Lang: NewsWeeder: learning to filter netnews. ICML 1995. J. Rennie: 20 Newsgroups, sorted by date.",
    license="no license is stated",
    copy="newsgroups20",
    sha256="8f1b2514ca22a5ade8fbb9cfa5727df95fa587f4c87b786e15c759fa66d95610",
)


LANGUAGES = {"EN": 21531, "FR": 24893, "GR": 34279, "IT": 15506, "SP": 11547}  # with the size of their vocabulary
DOCUMENTS = 18758  # of English origin


def fetch_reuters(n_samples: int = 1200, random_state: Seed = 0) -> Dataset:
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

    Examples
    --------
    >>> import consilience as cs
    >>> reuters = cs.datasets.fetch_reuters(n_samples=600)  # doctest: +SKIP
    >>> reuters.views.names  # doctest: +SKIP
    ('EN', 'FR', 'GR', 'IT', 'SP')
    >>> len(reuters.views), len(reuters.target_names)  # doctest: +SKIP
    (600, 6)
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
    random_state: Seed = 0,
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
    blocks = {}
    for name, texts in lines.items():
        cells = [[cell.split(":") for cell in texts[i].split()[1:]] for i in rows]
        columns = np.array([int(column) for row in cells for column, _ in row], dtype=np.int64) - 1
        weights = np.array([float(weight) for row in cells for _, weight in row])
        matrix = build_csr(weights, columns, np.cumsum([0, *map(len, cells)]), (len(rows), widths[name]))
        matrix.sum_duplicates()
        blocks[name] = ViewInput(matrix)
    return ParsedData(blocks, target[rows], tuple(names.tolist()))


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
