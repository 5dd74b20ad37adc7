"""Read a model from a file."""

from __future__ import annotations

import errno
import os
import zipfile
from pathlib import Path
from typing import Any

from .. import affinities, assessment, baselines, divergences, families, files, methods, selection  # noqa: F401
from ..files.formats import InputFiles
from .archive import UnreadableError, read_archive
from .decode import Decoder

# The packages are imported so that every class of consilience has declared its name before a file is read.


def load(path: str | os.PathLike[str]) -> Any:
    """Read a file that `save` has written, without running any code of the file.

    Only classes that are declared for model files are created, by setting attributes, and only if every byte is
    unchanged. That a file is safe to load does not make its model a good one: a model from an unknown source may still
    assign arbitrary labels.

    Parameters
    ----------
    path : str or path
        The file, or a pipe that gives its content.

    Returns
    -------
    object
        The model, or the tree of models, that was saved.

    Raises
    ------
    ValueError
        If the file is damaged, was changed, was written by an incompatible version, or is not a model file.

    Examples
    --------
    >>> import tempfile
    >>> from consilience.persist import save
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     save({"n_clusters": 3, "scale": (1.0, float("inf"))}, f"{folder}/settings.zip")
    ...     load(f"{folder}/settings.zip")
    {'n_clusters': 3, 'scale': (1.0, inf)}
    """
    os.stat(path)  # raises the usual error if the file does not exist
    with InputFiles() as inputs:
        file = inputs.locate(Path(path))
        try:
            content, arrays = read_archive(file)
            origin = f"{file}, written by consilience {content.get('consilience')},"
            return Decoder(arrays, origin).decode(content["tree"])
        except (MemoryError, UnreadableError):
            raise
        except Exception as error:  # a damaged file can cause any error
            if isinstance(error, OSError) and error.errno != errno.EINVAL:  # EINVAL: seek to a negative position
                raise
            reason = str(error).partition("\n")[0].rstrip(".")
            if not isinstance(error, ValueError | zipfile.BadZipFile) or not reason:
                reason = f"{type(error).__name__} {reason}".strip()
            raise ValueError(
                f"{file} is damaged or was changed: {reason}. Copy it again from its source, or save the model again"
            ) from error
