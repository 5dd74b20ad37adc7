"""Where the files of a data set are: in the folder that is named, in the cache, or still at home."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NamedTuple

from .home import RemoteDataset

FOLDER = "CONSILIENCE_DATA"
SECONDS = 10  # without an answer, after which there is no connection


class LocalFiles(NamedTuple):
    """Files that were found: a converted copy, an archive, or the archive's members one by one."""

    kind: str
    paths: tuple[Path, ...]
    said: str


def find(home: RemoteDataset) -> LocalFiles | None:
    """Look into the folder and the cache."""
    for said, folder, copies in ((f"in {FOLDER}", _given(), True), ("in the cache", _cache(), False)):
        if folder is None:
            continue
        if os.path.isdir(folder) and not os.access(folder, os.X_OK):
            raise PermissionError(f"the files {said} cannot be read: change the permissions of {folder}")
        if copies and home.copy and os.path.isfile(path := folder / f"{home.copy}.npz"):
            return LocalFiles("copy", (path,), said)
        if home.file and os.path.isfile(path := folder / home.file):
            return LocalFiles("archive", (path,), said)
        loose = tuple(folder / name for name in home.members)
        if loose and all(map(os.path.isfile, loose)):
            return LocalFiles("loose", loose, said)
    return None


def where(home: RemoteDataset) -> str:
    """Where it is, without reading it."""
    found = find(home)
    if found is not None:
        return found.said
    return f"to be downloaded ({home.url})" if home.file else f"to be downloaded by hand ({home.url})"


def download(home: RemoteDataset) -> LocalFiles:
    """Get the file from its home into the cache."""
    remedy = f"put {home.wanted} into a folder and set {FOLDER} to it"
    if not home.file:
        raise FileNotFoundError(f"{home.name} has to be downloaded by hand: see {home.url}, {remedy}")
    try:
        import pooch
        import requests
    except ImportError as error:
        raise ImportError(
            f"downloading {home.name} needs pooch: pip install 'consilience[fetch]', or {remedy}"
        ) from error
    known = f"sha256:{home.sha256}" if home.sha256 else None
    shown = sys.stderr.isatty() and find_spec("tqdm") is not None
    load = pooch.HTTPDownloader(progressbar=shown, timeout=SECONDS)
    try:
        with _silent(pooch.get_logger()):
            path = pooch.retrieve(home.url, known, fname=home.file, path=_cache(), downloader=load)
    except (requests.RequestException, ConnectionError, TimeoutError) as error:
        raise ConnectionError(
            f"{home.name} is not on this machine and cannot be downloaded from {home.url} ({_reason(error)}): "
            f"{remedy}, or connect to the network"
        ) from error
    except OSError as error:
        raise OSError(
            f"{home.name} cannot be kept: the cache {_cache()} cannot be written "
            f"({error.strerror or type(error).__name__}). Change its permissions or make room there, or {remedy}"
        ) from error
    except ValueError as error:
        raise ValueError(
            f"what {home.url} sends is not the file that {home.name} is known to be, by its checksum: try again, or "
            f"{remedy}"
        ) from error
    mask = os.umask(0)
    os.umask(mask)
    Path(path).chmod(0o644 & ~mask)  # pooch's is for its owner alone
    return LocalFiles("archive", (Path(path),), "in the cache")


def _given() -> Path | None:
    named = os.environ.get(FOLDER, "")
    if not named:
        return None
    if not os.path.isdir(named):
        raise NotADirectoryError(f"{FOLDER} is set to {named!r}, which is no folder: set it to one, or unset it")
    return Path(named)


def _cache() -> Path | None:
    """The folder of downloads, which only pooch fills and knows."""
    if find_spec("pooch") is None:
        return None
    import pooch

    return Path(pooch.os_cache("consilience"))


@contextmanager
def _silent(logger: Any) -> Iterator[None]:
    """Without advice for those who write down checksums."""
    before = logger.level
    logger.setLevel("WARNING")
    try:
        yield
    finally:
        logger.setLevel(before)


def _reason(error: OSError) -> str:
    answer = getattr(error, "response", None)
    if answer is not None:
        return f"it answers {answer.status_code}"
    return error.strerror or "no connection"
