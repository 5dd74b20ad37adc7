"""Data sets that are downloaded from public addresses and cached."""

from collections.abc import Callable

from ..dataset import Dataset
from .bbc import BBC_2, BBC_4, BBCSPORT, fetch_bbc, fetch_bbcsport
from .cluto import CLUTO, fetch_cluto
from .linqs import CITESEER, CORA, WEBKB_LINQS, fetch_citeseer, fetch_cora, fetch_webkb_linqs
from .load import find_files, load_remote
from .newsgroups import NEWSGROUPS, fetch_newsgroups
from .remote import RemoteDataset
from .reuters import REUTERS_600, REUTERS_1200, fetch_reuters
from .uci import ADS_998, ADS_FULL, DIGITS, LETTERS, fetch_digits_views, fetch_internet_ads, fetch_letters
from .webkb import WEBKB, fetch_webkb

REMOTE_DATASETS: dict[str, RemoteDataset] = {
    remote.name: remote
    for remote in (
        *(DIGITS, LETTERS, ADS_FULL, ADS_998, BBC_4, BBC_2, BBCSPORT, REUTERS_1200, REUTERS_600),
        *(WEBKB, WEBKB_LINQS, CORA, CITESEER, NEWSGROUPS, *CLUTO.values()),
    )
}
FETCHERS: dict[str, Callable[[], Dataset]] = {
    name: lambda name=name: load_remote(REMOTE_DATASETS[name])  # type: ignore[misc]
    for name in REMOTE_DATASETS
}


def where(name: str) -> str:
    """Describe where a data set is, without reading it.

    Parameters
    ----------
    name : str
        One of ``FETCHERS``.

    Returns
    -------
    str
        ``in CONSILIENCE_DATA``, ``in the cache``, or ``to be downloaded`` with the address.
    """
    if name not in REMOTE_DATASETS:
        raise ValueError(f"there is no data set {name!r} to fetch: choose from {', '.join(REMOTE_DATASETS)}")
    remote = REMOTE_DATASETS[name]
    files = find_files(remote)
    if files is not None:
        return files.description
    return f"to be downloaded ({remote.url})" if remote.file else f"to be downloaded by hand ({remote.url})"


__all__ = [
    "FETCHERS",
    "REMOTE_DATASETS",
    "fetch_bbc",
    "fetch_bbcsport",
    "fetch_citeseer",
    "fetch_cluto",
    "fetch_cora",
    "fetch_digits_views",
    "fetch_internet_ads",
    "fetch_letters",
    "fetch_newsgroups",
    "fetch_reuters",
    "fetch_webkb",
    "fetch_webkb_linqs",
    "where",
]
