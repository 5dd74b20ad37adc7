"""Load a published data set from a folder, from the cache of downloads, or from its address."""

from __future__ import annotations

import hashlib
import os
import sys
from importlib.util import find_spec
from pathlib import Path
from typing import NamedTuple

from ..dataset import Dataset
from .archive import read_copy, read_members
from .remote import ParsedData, RemoteDataset

FOLDER = "CONSILIENCE_DATA"  # environment variable that names a folder with data sets
TIMEOUT = 10  # seconds


class LocalFiles(NamedTuple):
    """Files of a data set on this machine: a converted copy, an archive, or the single members of an archive."""

    kind: str
    paths: tuple[Path, ...]
    description: str

    def __str__(self) -> str:
        first, *others = self.paths
        return f"{', '.join(path.name for path in self.paths)} in {first.parent}" if others else str(first)


def load_remote(remote: RemoteDataset) -> Dataset:
    """Load a data set from the folder that the user named, from the cache, or from its address."""
    files = find_files(remote) or download(remote)
    is_copy = files.kind == "copy"
    try:
        parsed = read_copy(files.paths[0], remote.copy_views) if is_copy else _read_original(remote, files)
    except PermissionError as error:
        raise PermissionError(f"{remote.name}: {files} cannot be read: change the permissions") from error
    return Dataset(
        name=remote.name,
        views=parsed.views(),
        target=parsed.target,
        target_names=parsed.names,
        description=" ".join(filter(None, [remote.description, remote.of_copy if is_copy else ""])),
        citation=remote.citation,
        license=remote.license,
        source=f"{remote.url} (converted copy {remote.copy}.npz)" if is_copy else remote.url,
    )


def _read_original(remote: RemoteDataset, files: LocalFiles) -> ParsedData:
    """Read the published files, and check that they are the expected ones."""
    if files.kind == "loose":
        contents = {path.name: path.read_bytes() for path in files.paths}
    else:
        with files.paths[0].open("rb") as file:
            checksum = None if remote.sha256 is None else hashlib.file_digest(file, "sha256").hexdigest()
        if checksum != remote.sha256:
            raise ValueError(
                f"the checksum of {files} is not that of {remote.name}: it is damaged, or another file. Get it again "
                f"from {remote.url}"
            )
        contents = read_members(files.paths[0], remote.members, remote.inner)
    try:
        parsed = remote.parse(contents)
        parsed.check()
    except Exception as error:  # a damaged file can raise any exception
        reason = str(error).partition("\n")[0] or type(error).__name__
        raise ValueError(
            f"{remote.name}: {files} is not in the format of {remote.url} ({reason}): get the published version"
        ) from error
    remote.facts.check(remote.name, remote.url, str(files), parsed)
    return parsed


def find_files(remote: RemoteDataset) -> LocalFiles | None:
    """Look for the files in the folder that the user named and in the cache."""
    named = os.environ.get(FOLDER, "")
    if named and not os.path.isdir(named):
        raise NotADirectoryError(f"{FOLDER} is set to {named!r}, which is not a folder: set it to one, or unset it")
    folders = ((f"in {FOLDER}", Path(named) if named else None, True), ("in the cache", _cache(), False))
    for description, folder, has_copies in folders:
        if folder is None:
            continue
        if os.path.isdir(folder) and not os.access(folder, os.X_OK):
            raise PermissionError(f"the files {description} cannot be read: change the permissions of {folder}")
        if has_copies and remote.copy and os.path.isfile(path := folder / f"{remote.copy}.npz"):
            return LocalFiles("copy", (path,), description)
        if remote.file and os.path.isfile(path := folder / remote.file):
            return LocalFiles("archive", (path,), description)
        loose = tuple(folder / name for name in remote.members)
        if loose and all(map(os.path.isfile, loose)):
            return LocalFiles("loose", loose, description)
    return None


def download(remote: RemoteDataset) -> LocalFiles:
    """Download the file into the cache."""
    remedy = f"put {remote.file or ', '.join(remote.members)} into a folder and set {FOLDER} to it"
    if not remote.file:
        raise FileNotFoundError(f"{remote.name} has to be downloaded by hand: see {remote.url}, {remedy}")
    try:
        import pooch
        import requests
    except ImportError as error:
        raise ImportError(
            f"downloading {remote.name} needs pooch: pip install 'consilience[fetch]', or {remedy}"
        ) from error
    checksum = f"sha256:{remote.sha256}" if remote.sha256 else None
    has_progress = sys.stderr.isatty() and find_spec("tqdm") is not None
    downloader = pooch.HTTPDownloader(progressbar=has_progress, timeout=TIMEOUT)
    logger = pooch.get_logger()
    previous_level = logger.level
    logger.setLevel("WARNING")  # pooch would advise to write down the checksum
    try:
        path = pooch.retrieve(remote.url, checksum, fname=remote.file, path=_cache(), downloader=downloader)
    except (requests.RequestException, ConnectionError, TimeoutError) as error:
        response = getattr(error, "response", None)
        reason = error.strerror or "no connection" if response is None else f"it answers {response.status_code}"
        raise ConnectionError(
            f"{remote.name} is not on this machine and cannot be downloaded from {remote.url} "
            f"({reason}): {remedy}, or connect to the network"
        ) from error
    except OSError as error:
        raise OSError(
            f"{remote.name} cannot be stored: the cache {_cache()} cannot be written "
            f"({error.strerror or type(error).__name__}). Change its permissions or free some space there, or {remedy}"
        ) from error
    except ValueError as error:
        raise ValueError(
            f"the checksum of what {remote.url} sends is not that of {remote.name}: try again, or {remedy}"
        ) from error
    finally:
        logger.setLevel(previous_level)
    mask = os.umask(0)
    os.umask(mask)
    Path(path).chmod(0o644 & ~mask)  # pooch gives permissions to the owner alone
    return LocalFiles("archive", (Path(path),), "in the cache")


def _cache() -> Path | None:
    """Return the folder of downloads, if pooch is installed."""
    if find_spec("pooch") is None:
        return None
    import pooch

    return Path(pooch.os_cache("consilience"))
