"""Single-cell files: AnnData (.h5ad) and MuData (.h5mu)."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

from .inputs import InputFile
from .source import Collection, Matrix


def read_h5mu(path: InputFile) -> Collection:
    """Each modality is a block; what describes the cells is about all of them."""
    data = _read(path, "mudata", "read_h5mu")
    blocks = {
        name: Matrix(path, _values(own.X), _texts(own.obs_names), _texts(own.var_names))
        for name, own in data.mod.items()
    }
    about = _about(data.obs)
    if len(blocks) == 0:
        raise ValueError(f"{path} holds no modalities")
    return Collection(path, blocks, about, _texts(data.obs_names))


def read_h5ad(path: InputFile) -> Collection:
    """X and each entry of obsm is a block."""
    data = _read(path, "anndata", "read_h5ad")
    ids = _texts(data.obs_names)
    blocks = {} if data.X is None else {"X": Matrix(path, _values(data.X), ids, _texts(data.var_names))}
    blocks |= {name: Matrix(path, _values(own), ids) for name, own in data.obsm.items()}
    if not blocks:
        raise ValueError(f"{path} holds neither X nor entries in obsm")
    return Collection(path, blocks, _about(data.obs), ids)


def _read(path: InputFile, package: str, function: str) -> Any:
    """The file's content, by the package that knows it."""
    import warnings

    try:
        if package == "mudata":
            import mudata as reader
        else:
            import anndata as reader
    except ImportError as error:
        raise ImportError(f"{path}: such files need {package}: pip install 'consilience[mudata]'") from error
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of their own defaults to come
        try:
            return getattr(reader, function)(path.location)
        except Exception as error:  # HDF5's and theirs
            what = (str(error).splitlines() or [type(error).__name__])[0]
            raise ValueError(f"{path} cannot be read as {path.suffix}: {what}") from error


def _values(block: Any) -> Any:
    return sp.csr_array(block) if sp.issparse(block) else np.asarray(block)


def _texts(names: Any) -> np.ndarray:
    return np.array([str(name) for name in names], dtype=object)


def _about(frame: Any) -> dict[str, np.ndarray]:
    """Columns as text: they are only ever labels."""
    columns = {}
    for name in frame.columns:
        values = frame[name]
        column = np.empty(len(values), dtype=object)
        column[:] = [None if missing else str(value) for value, missing in zip(values, values.isna(), strict=True)]
        columns[str(name)] = column
    return columns
