"""From a home to a data set."""

from __future__ import annotations

from ..dataset import Dataset
from .archive import read_members
from .copies import read_copy
from .home import Home, Parsed
from .place import Place, download, find


def fetched(home: Home) -> Dataset:
    """Read it where it is nearest: the folder that is named, the cache, its home."""
    place = find(home) or download(home)
    is_copy = place.kind == "copy"
    parsed = read_copy(place.paths[0], home.copy_views) if is_copy else read_original(home, place)
    return Dataset(
        name=home.name,
        views=parsed.views(),
        target=parsed.target,
        target_names=parsed.names,
        description=" ".join(filter(None, [home.description, home.of_copy if is_copy else ""])),
        citation=home.citation,
        licence=home.licence,
        source=f"{home.url} (converted copy {home.copy}.npz)" if is_copy else home.url,
    )


def read_original(home: Home, place: Place) -> Parsed:
    """Read the files as their home has them, and see that they are the known ones."""
    if place.kind == "loose":
        files = {path.name: path.read_bytes() for path in place.paths}
    else:
        files = read_members(place.paths[0], home.members, home.inner)
    try:
        parsed = home.parse(files)
    except (ValueError, IndexError, KeyError, TypeError) as error:
        raise ValueError(
            f"{home.name}: {place.paths[0]} is not in the format of {home.url} ({error}): delete it and get it again"
        ) from error
    home.facts.check(home.name, home.url, parsed)
    return parsed
