"""Read a model from a file."""

from __future__ import annotations

import errno
import os
import zipfile
from pathlib import Path
from typing import Any

from ..files.formats import InputFile, InputFiles
from .archive import UnreadableError, read_archive
from .decode import Decoder


def load(path: str | os.PathLike[str]) -> Any:
    """Read what `save` has written. No code of the file's is run, whoever wrote it.

    Only classes of consilience are made, by setting attributes, and only if every byte is as it was written. That a
    file is safe to load does not make its model a good one: a stranger's model may still give any label to anything.

    Parameters
    ----------
    path : str or path
        The file, or a pipe that gives its content.

    Returns
    -------
    object
        The model or the tree of models that was saved, ready to predict.

    Raises
    ------
    ValueError
        If the file is damaged, was changed, was written by a newer version, or is something else altogether.

    Examples
    --------
    >>> import tempfile
    >>> from consilience.persist import save
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     save({"n_clusters": 3, "scale": (1.0, float("inf"))}, f"{folder}/settings.zip")
    ...     load(f"{folder}/settings.zip")
    {'n_clusters': 3, 'scale': (1.0, inf)}
    """
    os.stat(path)  # raises the usual error if there is no such file
    with InputFiles() as inputs:
        return _load(inputs.locate(Path(path)))


def _load(path: InputFile) -> Any:
    try:
        content, arrays = read_archive(path)
        origin = f"{path}, which consilience {content.get('consilience')} has written,"
        return Decoder(arrays, origin).decode(content["tree"])
    except (MemoryError, UnreadableError):
        raise
    except Exception as error:  # there is no telling what a spoiled file brings about
        if isinstance(error, OSError) and error.errno != errno.EINVAL:  # a place before the beginning
            raise
        raise ValueError(
            f"{path} is damaged or was changed: {_reason(error)}. Copy it again from where it came, or save the model "
            "again"
        ) from error


def _reason(error: Exception) -> str:
    """The first line of what went wrong, or its name."""
    text = str(error).partition("\n")[0].rstrip(".")
    return (
        text
        if isinstance(error, ValueError | zipfile.BadZipFile) and text
        else f"{type(error).__name__} {text}".strip()
    )
