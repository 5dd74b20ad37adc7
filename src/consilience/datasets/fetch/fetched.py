"""From a home to a data set."""

from __future__ import annotations

import hashlib

from ..dataset import Dataset
from .archive import read_members
from .copies import read_copy
from .home import ParsedData, RemoteDataset
from .place import LocalFiles, download, find


def load_remote(home: RemoteDataset) -> Dataset:
    """Read it where it is nearest: the folder that is named, the cache, its home."""
    place = find(home) or download(home)
    is_copy = place.kind == "copy"
    try:
        parsed = read_copy(place.paths[0], home.copy_views) if is_copy else read_original(home, place)
    except PermissionError as error:
        raise PermissionError(f"{home.name}: {_called(place)} cannot be read: change the permissions") from error
    return Dataset(
        name=home.name,
        views=parsed.views(),
        target=parsed.target,
        target_names=parsed.names,
        description=" ".join(filter(None, [home.description, home.of_copy if is_copy else ""])),
        citation=home.citation,
        license=home.license,
        source=f"{home.url} (converted copy {home.copy}.npz)" if is_copy else home.url,
    )


def read_original(home: RemoteDataset, place: LocalFiles) -> ParsedData:
    """Read the files as their home has them, and see that they are the known ones."""
    if place.kind == "loose":
        files = {path.name: path.read_bytes() for path in place.paths}
    else:
        _check_sum(home, place)
        files = read_members(place.paths[0], home.members, home.inner)
    try:
        parsed = home.parse(files)
        parsed.check()
    except Exception as error:  # a broken file breaks a reader, and what it calls, in many ways
        reason = str(error).partition("\n")[0] or type(error).__name__
        raise ValueError(
            f"{home.name}: {_called(place)} is not in the format of {home.url} ({reason}): get the published version"
        ) from error
    home.facts.check(home.name, home.url, _called(place), parsed)
    return parsed


def _check_sum(home: RemoteDataset, place: LocalFiles) -> None:
    """Refuse an archive that is damaged, or another one, wherever it was found."""
    if home.sha256 is None:
        return
    with place.paths[0].open("rb") as file:
        found = hashlib.file_digest(file, "sha256").hexdigest()
    if found != home.sha256:
        raise ValueError(
            f"{place.paths[0]} is not the file that {home.name} is known to be, by its checksum: it is damaged, or "
            f"another one. Get it again from {home.url}"
        )


def _called(place: LocalFiles) -> str:
    """The file; or all of them, for a reader does not tell which is broken."""
    first, *others = place.paths
    return f"{', '.join(path.name for path in place.paths)} in {first.parent}" if others else str(first)
