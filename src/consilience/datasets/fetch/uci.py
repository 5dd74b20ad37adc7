"""Tables of the UCI Machine Learning Repository: digits, letters, pen strokes and advertisements."""

from __future__ import annotations

import io
from collections.abc import Mapping
from dataclasses import replace
from string import ascii_uppercase

import numpy as np
import scipy.sparse as sp

from ...data.inputs import ViewInput
from ..dataset import Dataset
from .load import load_remote
from .remote import ExpectedSizes, ParsedData, RemoteDataset, to_whole_numbers

STATIC = "https://archive.ics.uci.edu/static/public"
DIGITS_VIEWS = {"fou": 76, "fac": 216, "kar": 64, "pix": 240, "zer": 47, "mor": 6}
ADS_VIEWS = {"geometry": 4, "url": 457, "origurl": 495, "ancurl": 472, "alt": 111, "caption": 19}
LETTER_COLUMNS = (
    *("x-box", "y-box", "width", "high", "onpix", "x-bar", "y-bar", "x2bar"),
    *("y2bar", "xybar", "x2ybr", "xy2br", "x-ege", "xegvy", "y-ege", "yegvx"),
)
LETTER_SIZES = (
    *(789, 766, 736, 805, 768, 775, 773, 734, 755, 747, 739, 761, 792),
    *(783, 753, 803, 783, 758, 748, 796, 813, 764, 752, 787, 786, 734),
)
PEN_FILES = ("pendigits.tra", "pendigits.tes")
PEN_COLUMNS = tuple(f"{axis}{point}" for point in range(1, 9) for axis in "xy")
PEN_SIZES = (1143, 1143, 1144, 1055, 1144, 1055, 1056, 1142, 1055, 1055)


def fetch_digits_views() -> Dataset:
    """Fetch the 2,000 handwritten digits of `load_digits_views` as they were published, unrounded.

    Returns
    -------
    Dataset
        Views ``fou``, ``fac``, ``kar``, ``pix``, ``zer`` and ``mor``; 200 of each digit.

    Examples
    --------
    >>> import consilience as cs
    >>> digits = cs.datasets.fetch_digits_views()  # doctest: +SKIP
    >>> digits.views.names  # doctest: +SKIP
    ('fou', 'fac', 'kar', 'pix', 'zer', 'mor')
    >>> digits.views.shape  # doctest: +SKIP
    (2000, 649)
    """
    return load_remote(DIGITS)


def parse_digits(files: Mapping[str, bytes]) -> ParsedData:
    """Parse six tables of numbers separated by blanks, with the digits in order."""
    blocks = {name: ViewInput(np.loadtxt(io.BytesIO(files[f"mfeat-{name}"]), ndmin=2)) for name in DIGITS_VIEWS}
    for name, block in blocks.items():
        if np.isnan(block.values).any():
            raise ValueError(f"mfeat-{name} holds numbers that are not finite")
    n = len(blocks["fou"].values)
    return ParsedData(blocks, np.repeat(np.arange(10), n // 10), tuple("0123456789"))


def fetch_letters() -> Dataset:
    """Fetch 20,000 printed letters, described by sixteen whole numbers.

    Returns
    -------
    Dataset
        One view, ``features``; the classes are the 26 capital letters.

    Examples
    --------
    >>> import consilience as cs
    >>> letters = cs.datasets.fetch_letters()  # doctest: +SKIP
    >>> letters.views.shape  # doctest: +SKIP
    (20000, 16)
    >>> letters.target_names[:3]  # doctest: +SKIP
    ('A', 'B', 'C')
    """
    return load_remote(LETTERS)


def parse_letters(files: Mapping[str, bytes]) -> ParsedData:
    """Parse one letter and sixteen numbers per line, separated by commas."""
    rows = [line.split(",") for line in files["letter-recognition.data"].decode("ascii").split()]
    values = to_whole_numbers("features", np.array([row[1:] for row in rows], dtype=np.float64)).astype(np.float64)
    target = np.array([ascii_uppercase.index(row[0]) for row in rows])
    return ParsedData({"features": ViewInput(values, columns=np.array(LETTER_COLUMNS))}, target, tuple(ascii_uppercase))


def fetch_pendigits() -> Dataset:
    """Fetch 10,992 digits written with a pen on a tablet, described by eight points of the stroke.

    Returns
    -------
    Dataset
        One view, ``strokes``: the coordinates ``x1``, ``y1`` to ``x8``, ``y8``, whole numbers from 0 to 100. Rows of
        the training file come first, then those of the test file, by other writers.

    Examples
    --------
    >>> import consilience as cs
    >>> pendigits = cs.datasets.fetch_pendigits()  # doctest: +SKIP
    >>> pendigits.views.names, pendigits.views.shape  # doctest: +SKIP
    (('strokes',), (10992, 16))
    """
    return load_remote(PENDIGITS)


def parse_pendigits(files: Mapping[str, bytes]) -> ParsedData:
    """Parse sixteen coordinates and the digit per line, separated by commas and blanks."""
    table = np.vstack([np.loadtxt(io.BytesIO(files[name]), delimiter=",", ndmin=2) for name in PEN_FILES])
    strokes = to_whole_numbers("strokes", table[:, :-1], maximum=100).astype(np.float64)
    target = to_whole_numbers("digits", table[:, -1], maximum=9)
    return ParsedData({"strokes": ViewInput(strokes, columns=np.array(PEN_COLUMNS))}, target, tuple("0123456789"))


def fetch_internet_ads(version: str = "full") -> Dataset:
    """Fetch images on web pages, advertisements or not, described in six ways.

    Views: ``geometry`` (height, width, their ratio, and whether the image is on the same server) and, as 0 and 1, terms
    of the image's address (``url``), of the page's address (``origurl``), of the address that it links to (``ancurl``),
    of its alternative text (``alt``) and of the words near it (``caption``). The geometry is missing if a part of it is
    unknown, as for many images; a view of terms is missing if it has none.

    Parameters
    ----------
    version : {"full", "998"}, default="full"
        All 3,279 images, or a subset: all 459 advertisements and 539 others, with all views.

    Returns
    -------
    Dataset
        The description says which views the copy on this machine has.

    Examples
    --------
    >>> import consilience as cs
    >>> ads = cs.datasets.fetch_internet_ads("998")  # doctest: +SKIP
    >>> ads.views.names  # doctest: +SKIP
    ('geometry', 'url', 'origurl', 'ancurl', 'alt', 'caption')
    >>> len(ads.views), sorted(ads.target_names)  # doctest: +SKIP
    (998, ['ad', 'nonad'])
    """
    if version not in ADS:
        raise ValueError(f"version={version!r} must be one of {', '.join(map(repr, ADS))}")
    return load_remote(ADS[version])


def parse_ads(files: Mapping[str, bytes]) -> ParsedData:
    """Parse columns separated by commas, with ``?`` for unknown values and ``ad.`` or ``nonad.`` at the end."""
    (content,) = files.values()
    rows = [[cell.strip() for cell in line.split(",")] for line in content.decode("latin-1").splitlines() if line]
    target = np.array([("nonad.", "ad.").index(row[-1]) for row in rows])
    table = np.array([[np.nan if cell == "?" else float(cell) for cell in row[:-1]] for row in rows])
    if table.shape[1] != sum(ADS_VIEWS.values()):
        raise ValueError(f"{table.shape[1]} columns before the class, not {sum(ADS_VIEWS.values())}")
    geometry, *terms = np.split(table, np.cumsum(list(ADS_VIEWS.values()))[:-1], axis=1)
    blocks = {"geometry": ViewInput(geometry, columns=np.array(["height", "width", "aratio", "local"]))}
    for name, block in zip(list(ADS_VIEWS)[1:], terms, strict=True):
        blocks[name] = ViewInput(sp.csr_array(to_whole_numbers(f"terms of {name}", block, maximum=1)))
    return ParsedData(blocks, target, ("nonad", "ad"))


DIGITS = RemoteDataset(
    name="digits",
    file="multiple+features.zip",
    url=f"{STATIC}/72/multiple+features.zip",
    members=tuple(f"mfeat-{name}" for name in DIGITS_VIEWS),
    parse=parse_digits,
    facts=ExpectedSizes(2000, (200,) * 10, DIGITS_VIEWS),
    description="UCI multiple features: handwritten numerals from Dutch utility maps, 200 of each digit, six views.",
    citation=(
        "M. van Breukelen, R.P.W. Duin, D.M.J. Tax, J.E. den Hartog: Handwritten digit recognition by combined "
        "classifiers. Kybernetika 34(4), 1998. R. Duin: Multiple Features, UCI Machine Learning Repository."
    ),
    license="CC BY 4.0",
    copy="mfeat",
)
LETTERS = RemoteDataset(
    name="letters",
    file="letter+recognition.zip",
    url=f"{STATIC}/59/letter+recognition.zip",
    members=("letter-recognition.data",),
    parse=parse_letters,
    facts=ExpectedSizes(20_000, LETTER_SIZES, {"features": 16}),
    description="UCI letter recognition: capital letters in twenty fonts, distorted, sixteen measurements of each.",
    citation=(
        "P.W. Frey, D.J. Slate: Letter recognition using Holland-style adaptive classifiers. Machine Learning 6, 1991."
    ),
    license="CC BY 4.0",
    copy="letter",
    sha256="3b5f07a334697b6cace4fbae22940393a18fee596e73f68d97ce5973d52dc60f",
)
PENDIGITS = RemoteDataset(
    name="pendigits",
    file="pen+based+recognition+of+handwritten+digits.zip",
    url=f"{STATIC}/81/pen+based+recognition+of+handwritten+digits.zip",
    members=PEN_FILES,
    parse=parse_pendigits,
    facts=ExpectedSizes(10_992, PEN_SIZES, {"strokes": 16}),
    description=("UCI pen-based recognition of handwritten digits: eight points of each stroke, by 44 writers."),
    citation=(
        "F. Alimoglu, E. Alpaydin: Methods of combining multiple classifiers based on different representations for "
        "pen-based handwriting recognition. TAINN 1996. E. Alpaydin, F. Alimoglu: Pen-Based Recognition of "
        "Handwritten Digits, UCI Machine Learning Repository."
    ),
    license="CC BY 4.0",
    copy="pendigits",
    sha256="1e02bea023613c2b11c9492f6f34caf975420455934f3527d270cee9a1f03b64",
)
ADS_FULL = RemoteDataset(
    name="internet-ads",
    file="internet+advertisements.zip",
    url=f"{STATIC}/51/internet+advertisements.zip",
    members=("ad.data",),
    parse=parse_ads,
    facts=ExpectedSizes(3279, (2820, 459), ADS_VIEWS),
    description="UCI internet advertisements: images on web pages, 459 of them advertisements.",
    citation="N. Kushmerick: Learning to remove Internet advertisements. Autonomous Agents, 1999.",
    license="CC BY 4.0",
    copy="ads_3view",
    copy_views={"url457": "url", "ancurl472": "ancurl", "alt111": "alt"},
    of_copy="This converted copy has three of the six views: geometry, origurl and caption are not in it.",
)
ADS_998 = replace(
    ADS_FULL,
    name="internet-ads-998",
    file="",
    url="https://github.com/smenon8/AdNonAdDataClassifier, whose data/ad.data must be renamed to ad_998.data",
    members=("ad_998.data",),
    facts=ExpectedSizes(998, (539, 459), ADS_VIEWS),
    description=(
        "UCI internet advertisements, 998 of the 3,279 images: all 459 advertisements and 539 others, all six views. "
        "How the others were chosen is unknown."
    ),
    copy="ads_998",
    copy_views={},
    of_copy="",
)
ADS = {"full": ADS_FULL, "998": ADS_998}
