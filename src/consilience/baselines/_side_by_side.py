"""Views side by side as one matrix, with something in place of what is missing."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp

from .._saving import save_as
from ..arrays import available_memory, to_host, to_numpy
from ..data import Views
from ..methods.common.input_checks import validate_blocks

Matrix = Any  # numpy array or scipy sparse array
Blocks = Mapping[str, tuple[Matrix, np.ndarray]]  # a view's rows, and which entities have it


def load_blocks(views: Views) -> dict[str, tuple[Matrix, np.ndarray]]:
    """Each view as numbers of numpy or scipy that can be trusted, and who has it; missing rows are zeros."""
    return {name: (to_host(X), to_numpy(there)) for name, (X, there) in validate_blocks(views).items()}


@save_as("missing-view-filler")
@dataclass(frozen=True, eq=False)
class MissingRowFiller:
    """What stands for a view that an entity lacks.

    The view's column means over the entities that have it; in a sparse view nothing, which is what a bag without
    words holds, and keeps it sparse.
    """

    rows: Mapping[str, Matrix]  # (1, columns) of each view

    @classmethod
    def learn(cls, blocks: Blocks) -> MissingRowFiller:
        return cls({name: make_fill_row(X, there) for name, (X, there) in blocks.items()})

    def whole(self, name: str, blocks: Blocks, n_entities: int) -> Matrix:
        """The rows of one view for all entities."""
        row = self.rows[name]
        if name not in blocks:
            return row[np.zeros(n_entities, int)]
        X, there = blocks[name]
        if sp.issparse(row) or there.all():  # missing rows are zeros already
            return X
        X = X.toarray() if sp.issparse(X) else X
        return np.where(there[:, None], X, row.astype(X.dtype))


def make_fill_row(X: Matrix, there: np.ndarray) -> Matrix:
    """One row to put in place of those that are missing."""
    if sp.issparse(X):
        return sp.csr_array((1, X.shape[1]), dtype=X.dtype)
    return np.mean(X[there], axis=0, keepdims=True, dtype=np.float64).astype(X.dtype)


def concatenate_columns(parts: Mapping[str, Matrix]) -> Matrix:
    """Columns side by side: sparse if all are, dense otherwise."""
    sparse = [name for name, X in parts.items() if sp.issparse(X)]
    if len(sparse) == len(parts):
        return sp.csr_array(sp.hstack(list(parts.values()), format="csr"))
    if sparse:
        check_dense_memory(parts, sparse)
    return np.hstack([X.toarray() if sp.issparse(X) else X for X in parts.values()])


def check_dense_memory(parts: Mapping[str, Matrix], sparse: Sequence[str]) -> None:
    """Refuse to make a dense table that does not fit."""
    wanted = sum(X.shape[0] * X.shape[1] * X.dtype.itemsize for X in parts.values())
    free = available_memory()
    if free is not None and wanted > free:
        dense = next(name for name in parts if name not in sparse)
        raise ValueError(
            f"view {sparse[0]!r} is sparse and view {dense!r} dense: side by side they are a dense table of "
            f"{wanted / 2**30:.1f} GiB, and {free / 2**30:.1f} are free. Make {dense!r} sparse too, or reduce "
            f"{sparse[0]!r} first (scikit-learn's TruncatedSVD in consilience.PerView)"
        )
