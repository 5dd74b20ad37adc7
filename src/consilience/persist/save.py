"""Write a model to a file."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from ..files.write import check_output_file, stage_file
from .archive import write_archive
from .encode import Encoder


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
    """Raise TypeError if `save` would refuse the model as it is now, fitted or not."""
    _encode(model)


def _encode(model: Any) -> tuple[Any, list[Any]]:
    encoder = Encoder()
    try:
        return encoder.encode(model), encoder.arrays
    except RecursionError as error:
        raise ValueError("the object to save is nested too deeply: make it flatter") from error
