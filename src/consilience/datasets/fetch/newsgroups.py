"""Messages to twenty newsgroups, by their text and their subject."""

from __future__ import annotations

import re
from collections.abc import Mapping

import numpy as np

from ..dataset import Dataset
from .load import load_remote
from .parsing import count_words
from .remote import ExpectedSizes, ParsedData, RemoteDataset

SUBJECT = re.compile(r"^subject:(.*(?:\n[ \t].*)*)", flags=re.IGNORECASE | re.MULTILINE)
SIZES = (799, 973, 985, 982, 963, 988, 975, 990, 996, 994, 999, 991, 984, 990, 987, 997, 910, 940, 775, 628)


def fetch_newsgroups() -> Dataset:
    """Fetch 18,846 messages to twenty newsgroups.

    Returns
    -------
    Dataset
        Views ``body`` (words of at least five messages) and ``subject`` (words of at least two). Quotations are kept,
        headers other than the subject are not. The messages of the training set come first, by group.
    """
    return load_remote(NEWSGROUPS)


def parse_newsgroups(files: Mapping[str, bytes], min_body: int = 5, min_subject: int = 2) -> ParsedData:
    """Parse one message per file, ``20news-bydate-train/GROUP/NUMBER`` or ``20news-bydate-test/GROUP/NUMBER``."""
    paths = sorted((_sort_key(path), path) for path in files)
    names = tuple(sorted({group for (_, group, _), _ in paths}))
    split = [files[path].decode("latin-1").replace("\r\n", "\n").partition("\n\n") for _, path in paths]
    subjects = [match[1] if (match := SUBJECT.search(header)) else "" for header, _, _ in split]
    blocks = {
        "body": count_words([body for _, _, body in split], min_body),
        "subject": count_words(subjects, min_subject),
    }
    return ParsedData(blocks, np.array([names.index(group) for (_, group, _), _ in paths]), names)


def _sort_key(path: str) -> tuple[bool, str, int]:
    """Sort key: training messages first, then by group and number."""
    part, group, number = path.split("/")[-3:]
    return part.endswith("test"), group, int(number)


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
