"""Save models to files, and load them."""

from __future__ import annotations

import errno
import os
import zipfile
from pathlib import Path
from typing import Any

from .. import affinities, assessment, baselines, divergences, explain, families, files, selection  # noqa: F401
from ..files.formats import InputFiles
from ..files.write import check_output_file, stage_file
from ..methods import *  # noqa: F403
from ..methods.common import renumbered  # noqa: F401
from .archive import UnreadableError, read_archive, write_archive
from .decode import Decoder
from .encode import Encoder

# Packages and estimators are imported so that every class of consilience has declared its name before a file is read.


def save(model: Any, path: str | os.PathLike[str], *, overwrite: bool = False) -> None:
    """Write a fitted model, or a tree of models, arrays and settings, to one file that `load` reads.

    The file holds numbers and text, no code: a zip of numpy arrays and one JSON document, with a digest of each. It
    is written completely or not at all.

    Parameters
    ----------
    model : estimator, Views, Table, Constraints, array, or dict, list or tuple of these
        The object to save. Everything that consilience creates except reports can be saved, and plain values, numpy
        arrays and scipy sparse matrices within it. Other objects are refused: objects of other libraries, such as a
        scikit-learn estimator in `baselines.ConcatenatedViews` or a transformer in `PerView`, functions, and arrays
        of other array libraries. Classes of your own can be saved if they are declared with `persist.save_as`.
    path : str or path
        The file to write.
    overwrite : bool, default=False
        Whether to replace an existing file.

    Notes
    -----
    A `random_state` that is a generator is saved as None, because a fitted model no longer needs it. An integer is
    kept.

    Examples
    --------
    >>> import tempfile
    >>> import numpy as np
    >>> from consilience import MultiViewKMeans
    >>> from consilience.persist import load
    >>> X = {"size": [[1.0], [1.1], [5.0]], "weight": [[2.0], [2.2], [9.0]]}
    >>> model = MultiViewKMeans(2, random_state=0).fit(X)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     save({"estimator": model, "settings": {"unit": "cm"}}, f"{folder}/model.zip")
    ...     loaded = load(f"{folder}/model.zip")
    >>> bool(np.all(loaded["estimator"].predict(X) == model.labels_)), loaded["settings"]
    (True, {'unit': 'cm'})
    """
    check_output_file(Path(path), overwrite)
    tree, arrays = _encode(model)
    with stage_file(path, overwrite) as temporary:
        write_archive(temporary, tree, arrays)


def check_savable(model: Any) -> None:
    """Raise TypeError if `save` would refuse the model as it is now, fitted or not.

    Parameters
    ----------
    model : object
        What `save` would get: an estimator, or a dict, list or array of what can be saved.

    Examples
    --------
    >>> import consilience as cs
    >>> cs.persist.check_savable(cs.MultiViewKMeans(3))
    >>> cs.persist.check_savable({"transform": print})  # doctest: +ELLIPSIS
    Traceback (most recent call last):
        ...
    TypeError: attribute transform: the function print cannot be saved...
    """
    _encode(model)


def _encode(model: Any) -> tuple[Any, list[Any]]:
    encoder = Encoder()
    try:
        return encoder.encode(model), encoder.arrays
    except RecursionError as error:
        raise ValueError("the object to save is nested too deeply: make it flatter") from error


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
