"""Similarities between the entities."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

from ..._saving import save_as


@save_as("encoder-similarities")
class SimilaritiesEncoder:
    """Keep a square matrix of similarities; `ids` are the entities of its columns."""

    kind = "similarities"

    def __init__(self, ids: np.ndarray | None = None) -> None:
        self.ids: Any = ids

    def fit(self, data: Any) -> SimilaritiesEncoder:
        """Remember the number of entities, which new ones are compared with."""
        self.features = self.ids
        self.n_columns = data[0].shape[1]
        return self

    def transform(self, data: Any) -> Any:
        """Return rows of similarities to the fitted entities."""
        X, names = data
        if self.ids is not None and names is not None:
            X = self._order_columns(X, names)
        if X.shape[1] != self.n_columns:
            raise ValueError(
                f"{X.shape[1]} columns, but the model was fitted to {self.n_columns} entities: give the similarity of "
                "each new entity to all of them, in their order"
            )
        return sp.csr_array(X) if sp.issparse(X) else np.asarray(X, dtype=np.float64)

    def present(self, values: Any) -> np.ndarray:
        """Mark all rows as present, also those of entities without similarity to others."""
        return np.ones(values.shape[0], bool)

    def _order_columns(self, X: Any, names: np.ndarray) -> Any:
        """Find the column of each fitted entity by its name; 0 if there is none."""
        if np.array_equal(names, self.ids):
            return X
        position = {name: i for i, name in enumerate(names.tolist())}
        columns = np.array([position.get(name, -1) for name in self.ids.tolist()])
        if (columns < 0).all():
            raise ValueError("no column is an entity that the model was fitted to: do the ids match?")
        ordered = sp.csr_array(X)[:, np.maximum(columns, 0)].multiply(columns >= 0)
        return sp.csr_array(ordered) if sp.issparse(X) else ordered.toarray()
