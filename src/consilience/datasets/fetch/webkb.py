"""Web pages of computer science departments, from the HTML that the World Wide Knowledge Base project collected."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from contextlib import suppress
from html.parser import HTMLParser
from typing import NamedTuple
from urllib.parse import urldefrag, urljoin

import numpy as np
import scipy.sparse as sp

from ...data.coerce import ViewInput
from ..dataset import Dataset
from .copies import make_unique
from .fetched import load_remote
from .home import ExpectedSizes, ParsedData, RemoteDataset
from .words import count_words

CLASSES = ("course", "department", "faculty", "project", "staff", "student")  # "other" only links
HEADER = re.compile(r"\A(?:HTTP/[^\n]*\n)?(?:[\w-]+:[^\n]*\n)+\r?\n")
LARGEST = 2**21  # bytes of a page that are read: its parser is slow on some broken ones


def fetch_webkb() -> Dataset:
    """Fetch 4,518 pages of universities by their text, the words of links to them, and their links.

    Returns
    -------
    Dataset
        Views ``text`` (words that three pages have at least), ``anchor`` (words of the links that point to the page, on
        any of the 8,282 pages that were collected), ``inbound`` (pages that link to it) and ``outbound`` (pages that it
        links to). Many pages have no link to them: keep those with the views you need by ``views.present``.
    """
    return load_remote(WEBKB)


class Page(NamedTuple):
    """A page: its class, its address, what it says, and where its links lead with what words."""

    kind: str
    url: str
    text: str
    links: list[tuple[str, str]]


class PageParser(HTMLParser):
    """Collects the text of a page, and its links with theirs."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.text: list[str] = []
        self.links: list[tuple[str, list[str]]] = []
        self.base = ""
        self._hidden = self._linked = False

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        href = dict(attrs).get("href")
        if tag == "base" and href:
            self.base = href
        elif tag == "a":
            self._linked = bool(href)
            if href:
                self.links.append((href, []))
        self._hidden = self._hidden or tag in ("script", "style")

    def handle_endtag(self, tag: str) -> None:
        if tag == "a":
            self._linked = False
        if tag in ("script", "style"):
            self._hidden = False

    def handle_data(self, data: str) -> None:
        if self._hidden:
            return
        self.text.append(data)
        if self._linked:
            self.links[-1][1].append(data)


def parse_webkb(files: Mapping[str, bytes], min_df: int = 3) -> ParsedData:
    """A page a file, ``CLASS/UNIVERSITY/ADDRESS`` with ``^`` for the address's slashes."""
    places = sorted((*path.split("/")[-3:-1], path.split("/")[-1].replace("^", "/"), path) for path in files)
    pages = [read_page(kind, url, files[path]) for kind, _, url, path in places if url]
    kept = [i for i, page in enumerate(pages) if page.kind in CLASSES]
    ids = make_unique([pages[i].url for i in kept])
    words, sources, targets = _links(pages)
    linked = sp.csr_array((np.ones(len(sources), dtype=np.int64), (sources, targets)), shape=(len(pages),) * 2)
    linked.data[:] = 1  # however often
    urls = np.array([page.url for page in pages])
    blocks = {
        "text": count_words([pages[i].text for i in kept], min_df),
        "anchor": count_words([" ".join(words[i]) for i in kept]),
        "inbound": _used(linked.T.tocsr()[kept], urls),
        "outbound": _used(linked[kept], urls),
    }
    target = np.array([CLASSES.index(pages[i].kind) for i in kept])
    return ParsedData({name: ViewInput(b.values, ids, b.columns) for name, b in blocks.items()}, target, CLASSES)


def read_page(kind: str, url: str, content: bytes) -> Page:
    """The page without the header that the server sent before it; links lead to whole addresses."""
    reader = PageParser()
    with suppress(AssertionError):  # the parser gives up on some broken declarations: what came before counts
        reader.feed(HEADER.sub("", content[:LARGEST].decode("latin-1")))
        reader.close()
    links = []
    for href, words in reader.links:
        with suppress(ValueError):  # no address at all
            links.append((_plain(urljoin(urljoin(url, reader.base), href.strip())), " ".join(words)))
    return Page(kind, url, " ".join(reader.text), links)


def _plain(url: str) -> str:
    return urldefrag(url).url.rstrip("/")


def _links(pages: Sequence[Page]) -> tuple[list[list[str]], list[int], list[int]]:
    """Words of the links to each page from others, and the two ends of each."""
    at: dict[str, list[int]] = {}
    for i, page in enumerate(pages):
        at.setdefault(_plain(page.url), []).append(i)
    words: list[list[str]] = [[] for _ in pages]
    ends = []
    for i, page in enumerate(pages):
        others = [link for link in page.links if link[0] != _plain(page.url)]
        for url, said in others:
            for j in at.get(url, []):
                words[j].append(said)
                ends.append((i, j))
    sources, targets = np.array(ends, dtype=np.int64).reshape(-1, 2).T
    return words, sources.tolist(), targets.tolist()


def _used(links: sp.csr_array, urls: np.ndarray) -> ViewInput:
    """Without the pages that no entity is linked with."""
    used = np.unique(links.indices)
    return ViewInput(links[:, used], columns=urls[used])


WEBKB = RemoteDataset(
    name="webkb",
    file="webkb-data.gtar.gz",
    url="http://www.cs.cmu.edu/afs/cs.cmu.edu/project/theo-20/www/data/webkb-data.gtar.gz",
    members=(),
    parse=parse_webkb,
    facts=ExpectedSizes(4518, (930, 182, 1124, 504, 137, 1641)),
    description=(
        "WebKB: pages of computer science departments in 1997, of six kinds, without those of the kind other; words of "
        "their texts, words of the links to them, links."
    ),
    citation=(
        "M. Craven, D. DiPasquo, D. Freitag, A. McCallum, T. Mitchell, K. Nigam, S. Slattery: Learning to extract "
        "symbolic knowledge from the World Wide Web. AAAI 1998."
    ),
    license="no licence is stated",
    copy="webkb",
)
