"""The file itself: a zip of arrays, of one JSON that says what they are for, and of its digest.

Nothing is compressed. Numbers hardly shrink, and a member can then never hold more than the file does.
"""

from __future__ import annotations

import hashlib
import json
import zipfile
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NoReturn

import numpy as np

from ..files.formats import InputFile
from .arrays import Described, read_array, write_array

FORMAT = "consilience model"
VERSION = 1  # of the format: raised when older versions of this library cannot read what is written
JSON, DIGEST = "model.json", "model.json.sha256"
LONG_AGO = (1980, 1, 1, 0, 0, 0)  # one date for all, so that the same model is the same file


class UnreadableError(ValueError):
    """A file that is whole, but not for us; the message says why and what to do."""


def library_version() -> str:
    """The version of this library."""
    from .._version import __version__

    return __version__


def write_archive(path: Path, tree: Any, arrays: Sequence[np.ndarray]) -> None:
    """Write a tree of JSON values, and the arrays that it refers to by number."""
    with zipfile.ZipFile(path, "w", zipfile.ZIP_STORED) as archive:
        described = []
        for i, array in enumerate(arrays):
            with archive.open(zipfile.ZipInfo(_member(i), LONG_AGO), "w", force_zip64=True) as file:
                described.append(write_array(file, array).as_json())
        head = {"format": FORMAT, "version": VERSION, "consilience": library_version()}
        text = json.dumps({**head, "arrays": described, "tree": tree}, allow_nan=False).encode()
        archive.writestr(zipfile.ZipInfo(JSON, LONG_AGO), text)
        archive.writestr(zipfile.ZipInfo(DIGEST, LONG_AGO), hashlib.sha256(text).hexdigest())


def read_archive(path: InputFile) -> tuple[dict[str, Any], list[np.ndarray]]:
    """What was written: the JSON, and the arrays, none of which has a byte that was changed."""
    _check_start(path)
    with zipfile.ZipFile(path) as archive:
        _check_members(path, archive)
        content = _read_json(path, archive)
        described = [Described.of_json(node) for node in content["arrays"]]
        strange = set(archive.namelist()) - {JSON, DIGEST, *(_member(i) for i in range(len(described)))}
        if strange:
            raise ValueError(f"it holds {min(strange)!r}, which is no part of a model")
        return content, [read_array(archive, _member(i), own) for i, own in enumerate(described)]


def _member(i: int) -> str:
    return f"arrays/{i}.npy"


def _check_start(path: InputFile) -> None:
    """Refuse what is no zip file at all."""
    with path.open() as file:
        start = file.read(4)
    if start.startswith(b"\x80"):
        raise UnreadableError(
            f"{path} looks like a pickle, which runs code when it is loaded, so it is not: load it with pickle if you "
            "trust whoever wrote it, and save the model with consilience.persist.save"
        )
    if not start.startswith(b"PK"):
        raise UnreadableError(f"{path} is no file of consilience.persist.save: give one that save has written")


def _check_members(path: InputFile, archive: zipfile.ZipFile) -> None:
    """Refuse members that are squeezed, repeated or overlapping, before any is read."""
    members = archive.infolist()
    if JSON not in archive.namelist():
        raise UnreadableError(
            f"{path} is a zip file without {JSON}: give one that consilience.persist.save has written"
        )
    name, times = Counter(archive.namelist()).most_common(1)[0]
    if times > 1:
        raise ValueError(f"it holds {name!r} {times} times")
    for member in members:
        if member.compress_type != zipfile.ZIP_STORED or member.compress_size != member.file_size:
            raise ValueError(f"{member.filename!r} is compressed, which save never does")
    if sum(member.file_size for member in members) > path.n_bytes:
        raise ValueError("its members claim to be larger than the file")


def _read_json(path: InputFile, archive: zipfile.ZipFile) -> dict[str, Any]:
    text = archive.read(JSON)
    if hashlib.sha256(text).hexdigest().encode() != archive.read(DIGEST):
        raise ValueError(f"{JSON} is not what was written")
    content = json.loads(text, parse_constant=_no_constant)
    if not isinstance(content, dict) or content.get("format") != FORMAT or type(content.get("version")) is not int:
        raise ValueError(f"{JSON} does not describe a model")
    version = str(content["version"])
    if content["version"] < 1:
        raise UnreadableError(
            f"{path} has format {version[:20]}, which consilience never wrote (the first is 1): save the "
            "model again with consilience.persist.save"
        )
    if content["version"] > VERSION:
        raise UnreadableError(
            f"{path} has format {version[:20]}, written by consilience {content.get('consilience')}; "
            f"this is consilience {library_version()}, which reads formats up to {VERSION}: upgrade consilience"
        )
    return content


def _no_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is no JSON")
