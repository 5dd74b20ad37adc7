"""The entities whose number of clusters is looked for, as the estimator's last step sees them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.base import clone

from ..arrays import to_numpy
from ..assessment.assess import read_views
from ..data import Views
from ..methods.common.halves import ModelData, last_step


@dataclass(frozen=True, eq=False)
class ViewSource:
    """The data of an estimator, and the steps of a pipeline before its clusterer, which are fitted to what is read."""

    data: ModelData
    estimator: Any
    names: Sequence[str] | None = None  # views that are read; None: all

    @property
    def n_entities(self) -> int:
        return int(self.data.X.shape[0])

    def read(self) -> Views:
        """Return the views of all entities."""
        return self.read_halves(np.arange(self.n_entities), np.arange(0))[0]

    def read_halves(self, rows: np.ndarray, others: np.ndarray) -> tuple[Views, Views]:
        """Return the views of some entities and of others; steps before the clusterer are fitted to the first only."""
        first, second = self.data.take(rows), self.data.take(others)
        if hasattr(self.estimator, "steps") and len(self.estimator.steps) > 1:
            steps = clone(self.estimator[:-1]).fit(first)
            first = steps.transform(first)
            second = steps.transform(second) if len(others) else second
        clusterer = last_step(self.estimator)
        views = read_views(clusterer, first)
        other_views = read_views(clusterer, second) if len(others) else views[:0]
        if self.names is not None:
            return views[list(self.names)], other_views[list(self.names)]
        return views, other_views


def permute_rows(views: Views, rng: np.random.Generator) -> Views:
    """Return views in which the rows of each are permuted among the entities that have it."""
    blocks = {}
    for v, name in enumerate(views.names):
        order = np.arange(len(views))
        has_view = views.present[:, v]
        order[has_view] = rng.permutation(order[has_view])
        blocks[name] = views[order][name]
    return Views(blocks, present=views.present)


def permute_columns(views: Views, rng: np.random.Generator) -> Views:
    """Return a single view in which the numbers of each column are permuted, so that columns are independent."""
    name = views.names[0]
    rows = views[np.flatnonzero(views.present[:, 0])][name]
    if sp.issparse(rows):
        columns = sp.csc_array(rows, copy=True)
        for first, last in zip(columns.indptr[:-1].tolist(), columns.indptr[1:].tolist(), strict=True):
            columns.indices[first:last] = rng.choice(columns.shape[0], last - first, replace=False)
        columns.has_sorted_indices = False
        return Views({name: sp.csr_array(columns)})
    return Views({name: rng.permuted(to_numpy(rows), axis=0)})
