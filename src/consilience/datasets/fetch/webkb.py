"""Web pages of computer science departments, as HTML from the World Wide Knowledge Base project."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from contextlib import suppress
from html.parser import HTMLParser
from typing import NamedTuple
from urllib.parse import urldefrag, urljoin

import numpy as np
import scipy.sparse as sp

from ...data.inputs import ViewInput
from ..dataset import Dataset
from .load import load_remote
from .remote import ExpectedSizes, ParsedData, RemoteDataset, count_words, link_entities, make_unique

CLASSES = ("course", "department", "faculty", "project", "staff", "student")  # of "other" only the links are used
HEADER = re.compile(r"\A(?:HTTP/[^\n]*\n)?(?:[\w-]+:[^\n]*\n)+\r?\n")
MAX_PAGE_BYTES = 2**21  # that are read, because the parser is slow on some malformed pages


def fetch_webkb() -> Dataset:
    """Fetch 4,518 pages of universities by their text, the words of links to them, and their links.

    Returns
    -------
    Dataset
        Views ``text`` (words of at least three pages), ``anchor`` (words of the links to the page, on any of the 8,282
        collected pages), ``inbound`` (pages that link to it) and ``outbound`` (pages that it links to). No links lead
        to many pages: select those with the views you need by ``views.present``.

    Examples
    --------
    >>> import consilience as cs
    >>> webkb = cs.datasets.fetch_webkb()  # doctest: +SKIP
    >>> webkb.views.names  # doctest: +SKIP
    ('text', 'anchor', 'inbound', 'outbound')
    >>> len(webkb.views), len(webkb.target_names)  # doctest: +SKIP
    (4518, 6)
    """
    return load_remote(WEBKB)


class Page(NamedTuple):
    """A page: its class, address and text, and the addresses and words of its links."""

    kind: str
    url: str
    text: str
    links: list[tuple[str, str]]


class PageParser(HTMLParser):
    """Collect the text of a page, and its links with their texts."""

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
    """Parse one page per file, ``CLASS/UNIVERSITY/ADDRESS`` with ``^`` for the slashes of the address."""
    paths = sorted((*path.split("/")[-3:-1], path.split("/")[-1].replace("^", "/"), path) for path in files)
    pages = [read_page(kind, url, files[path]) for kind, _, url, path in paths if url]
    kept = [i for i, page in enumerate(pages) if page.kind in CLASSES]
    ids = make_unique([pages[i].url for i in kept])
    words, links = _resolve_links(pages)
    linked = link_entities(links, len(pages))
    urls = np.array([page.url for page in pages])
    blocks = {
        "text": count_words([pages[i].text for i in kept], min_df),
        "anchor": count_words([" ".join(words[i]) for i in kept]),
        "inbound": _drop_unlinked(linked.T.tocsr()[kept], urls),
        "outbound": _drop_unlinked(linked[kept], urls),
    }
    target = np.array([CLASSES.index(pages[i].kind) for i in kept])
    return ParsedData({name: ViewInput(b.values, ids, b.columns) for name, b in blocks.items()}, target, CLASSES)


def read_page(kind: str, url: str, content: bytes) -> Page:
    """Parse a page without the header of the server's response; links get absolute addresses."""
    parser = PageParser()
    with suppress(AssertionError):  # the parser stops at some malformed declarations: the text before counts
        parser.feed(HEADER.sub("", content[:MAX_PAGE_BYTES].decode("latin-1")))
        parser.close()
    links = []
    for href, words in parser.links:
        with suppress(ValueError):  # not an address
            links.append((_normalize_url(urljoin(urljoin(url, parser.base), href.strip())), " ".join(words)))
    return Page(kind, url, " ".join(parser.text), links)


def _normalize_url(url: str) -> str:
    return urldefrag(url).url.rstrip("/")


def _resolve_links(pages: Sequence[Page]) -> tuple[list[list[str]], list[tuple[int, int]]]:
    """Return the words of the links to each page from other pages, and the links as (source, target)."""
    positions: dict[str, list[int]] = {}
    for i, page in enumerate(pages):
        positions.setdefault(_normalize_url(page.url), []).append(i)
    words: list[list[str]] = [[] for _ in pages]
    links = []
    for i, page in enumerate(pages):
        for url, text in page.links:
            if url != _normalize_url(page.url):
                for j in positions.get(url, []):
                    words[j].append(text)
                    links.append((i, j))
    return words, links


def _drop_unlinked(links: sp.csr_array, urls: np.ndarray) -> ViewInput:
    """Drop the columns of pages without a link with an entity."""
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
    license="no license is stated",
    copy="webkb",
)
