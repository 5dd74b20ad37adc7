"""All data sets that can be fetched, by name."""

from collections.abc import Callable

from ..dataset import Dataset
from .linqs import CITESEER, CORA, WEBKB_LINQS
from .load import find_files, load_remote
from .remote import RemoteDataset
from .texts import BBC_2, BBC_4, BBCSPORT, CLUTO, NEWSGROUPS, REUTERS_600, REUTERS_1200
from .uci import ADS_998, ADS_FULL, DIGITS, LETTERS, PENDIGITS
from .webkb import WEBKB

REMOTE_DATASETS: dict[str, RemoteDataset] = {
    remote.name: remote
    for remote in (
        *(DIGITS, LETTERS, PENDIGITS, ADS_FULL, ADS_998, BBC_4, BBC_2, BBCSPORT, REUTERS_1200, REUTERS_600),
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

    Examples
    --------
    >>> import consilience as cs
    >>> "cora" in cs.datasets.FETCHERS
    True
    >>> cs.datasets.where("cora")  # doctest: +SKIP
    'to be downloaded (https://linqs-data.soe.ucsc.edu/public/lbc/cora.tgz)'
    """
    if name not in REMOTE_DATASETS:
        raise ValueError(f"there is no data set {name!r} to fetch: choose from {', '.join(REMOTE_DATASETS)}")
    remote = REMOTE_DATASETS[name]
    files = find_files(remote)
    if files is not None:
        return files.description
    return f"to be downloaded ({remote.url})" if remote.file else f"to be downloaded by hand ({remote.url})"
