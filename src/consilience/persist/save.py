"""Write a model to a file."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from ..files.write import check_free, whole_file
from .archive import write_archive
from .encode import Encoder


def save(model: Any, path: str | os.PathLike[str], *, overwrite: bool = False) -> None:
    """Write a fitted model, or a tree of models, arrays and settings, to one file that `load` reads.

    The file holds numbers and text, no code: a zip of numpy arrays and of one JSON, with a digest of each. It appears
    whole or not at all.

    Parameters
    ----------
    model : estimator, Views, Table, Constraints, array, or dict, list or tuple of such
        What to save. All that consilience makes can be, and plain values, numpy arrays and scipy sparse matrices
        within. What is not is refused: objects of other libraries, such as a scikit-learn estimator in
        `baselines.ConcatenatedViews` or a transformer in `PerView`, functions, and arrays of other array libraries.
    path : str or path
        Where to.
    overwrite : bool, default=False
        Whether a file that is there already may be replaced.

    Notes
    -----
    A `random_state` that is a generator is saved as None: a fitted model has no more use for it, and a new fit would
    have drawn other numbers anyway. A whole number is kept.

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
    ...     back = load(f"{folder}/model.zip")
    >>> bool(np.all(back["estimator"].predict(X) == model.labels_)), back["settings"]
    (True, {'unit': 'cm'})
    """
    check_free(Path(path), overwrite)
    encoder = Encoder()
    try:
        tree = encoder.encode(model)
    except RecursionError as error:
        raise ValueError("what is to be saved is nested too deeply: make it flatter") from error
    with whole_file(path, overwrite) as temporary:
        write_archive(temporary, tree, encoder.arrays)
