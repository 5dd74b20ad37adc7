"""The model file: a zip of arrays, a JSON document that refers to them, and the digest of the JSON.

Nothing is compressed: numbers hardly shrink, and an uncompressed member cannot be larger than the file.
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

from .._version import __version__
from ..files.formats import InputFile
from .arrays import ArrayHeader, read_array, write_array

FORMAT = "consilience model"
FORMAT_VERSION = 2  # increased when older versions of this library cannot read the files
JSON, DIGEST = "model.json", "model.json.sha256"
FIXED_DATE = (1980, 1, 1, 0, 0, 0)  # of all members, so that equal models give equal files


class UnreadableError(ValueError):
    """An intact file that this version cannot read; the message says why and what to do."""


def write_archive(path: Path, tree: Any, arrays: Sequence[np.ndarray]) -> None:
    """Write a tree of JSON values, and the arrays that it refers to by number."""
    with zipfile.ZipFile(path, "w", zipfile.ZIP_STORED) as archive:
        headers = []
        for i, array in enumerate(arrays):
            with archive.open(zipfile.ZipInfo(_member_name(i), FIXED_DATE), "w", force_zip64=True) as file:
                headers.append(write_array(file, array).to_json())
        content = {"format": FORMAT, "version": FORMAT_VERSION, "consilience": __version__, "arrays": headers}
        text = json.dumps({**content, "tree": tree}, allow_nan=False).encode()
        archive.writestr(zipfile.ZipInfo(JSON, FIXED_DATE), text)
        archive.writestr(zipfile.ZipInfo(DIGEST, FIXED_DATE), hashlib.sha256(text).hexdigest())


def read_archive(path: InputFile) -> tuple[dict[str, Any], list[np.ndarray]]:
    """Return the JSON document and the arrays, after checking the digest of each."""
    _check_start(path)
    with zipfile.ZipFile(path) as archive:
        _check_members(path, archive)
        content = _read_json(path, archive)
        headers = [ArrayHeader.from_json(node) for node in content["arrays"]]
        unexpected = set(archive.namelist()) - {JSON, DIGEST, *(_member_name(i) for i in range(len(headers)))}
        if unexpected:
            raise ValueError(f"it contains {min(unexpected)!r}, which is not part of a model")
        return content, [read_array(archive, _member_name(i), header) for i, header in enumerate(headers)]


def _member_name(i: int) -> str:
    return f"arrays/{i}.npy"


def _check_start(path: InputFile) -> None:
    """Refuse files that are not zip files."""
    with path.open() as file:
        start = file.read(4)
    if start.startswith(b"\x80"):
        raise UnreadableError(
            f"{path} looks like a pickle, which runs code when it is loaded, so it was not loaded: use pickle if you "
            "trust its source, and save the model with consilience.save"
        )
    if not start.startswith(b"PK"):
        raise UnreadableError(f"{path} is not a model file: give a file written by consilience.save")


def _check_members(path: InputFile, archive: zipfile.ZipFile) -> None:
    """Refuse members that are compressed, repeated or overlapping, before any is read."""
    if JSON not in archive.namelist():
        raise UnreadableError(f"{path} is a zip file without {JSON}: give a file written by consilience.save")
    name, times = Counter(archive.namelist()).most_common(1)[0]
    if times > 1:
        raise ValueError(f"it contains {name!r} {times} times")
    members = archive.infolist()
    for member in members:
        if member.compress_type != zipfile.ZIP_STORED or member.compress_size != member.file_size:
            raise ValueError(f"{member.filename!r} is compressed, which model files never are")
    if sum(member.file_size for member in members) > path.n_bytes:
        raise ValueError("its members claim to be larger than the file")


def _read_json(path: InputFile, archive: zipfile.ZipFile) -> dict[str, Any]:
    text = archive.read(JSON)
    if hashlib.sha256(text).hexdigest().encode() != archive.read(DIGEST):
        raise ValueError(f"the content of {JSON} does not match its digest")
    content = json.loads(text, parse_constant=_refuse_constant)
    if not isinstance(content, dict) or content.get("format") != FORMAT or type(content.get("version")) is not int:
        raise ValueError(f"{JSON} does not describe a model")
    version, writer = content["version"], content.get("consilience")
    if version == 1:
        raise UnreadableError(
            f"{path} was written by consilience {writer}, an earlier version whose model files can no longer be read: "
            "fit and save the model again, or load it with the version that wrote it"
        )
    if version < 1:
        raise UnreadableError(
            f"{path} has format {str(version)[:20]}, which consilience never wrote: save the model again with "
            "consilience.save"
        )
    if version > FORMAT_VERSION:
        raise UnreadableError(
            f"{path} has format {str(version)[:20]}, written by consilience {writer}; this is consilience "
            f"{__version__}, which reads format {FORMAT_VERSION}: upgrade consilience"
        )
    return content


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not valid JSON")
