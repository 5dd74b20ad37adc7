"""Similarities between the entities themselves."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

from ..._saving import save_as


@save_as("encoder-similarities")
class SimilaritiesEncoder:
    """A square matrix as it is; `ids` are those of its columns."""

    kind = "similarities"

    def __init__(self, ids: np.ndarray | None = None) -> None:
        self.ids: Any = ids

    def fit(self, data: Any) -> SimilaritiesEncoder:
        """Remember the number of entities: new ones are compared with these."""
        self.features = self.ids
        self.n_columns = data[0].shape[1]
        return self

    def transform(self, data: Any) -> Any:
        """Rows of similarities to the fitted entities."""
        X, names = data
        if self.ids is not None and names is not None:
            X = self._in_order(X, names)
        if X.shape[1] != self.n_columns:
            raise ValueError(
                f"{X.shape[1]} columns, but the model knows {self.n_columns} entities: give each new entity's "
                "similarity to every one of these, in their order"
            )
        return sp.csr_array(X) if sp.issparse(X) else np.asarray(X, dtype=np.float64)

    def present(self, values: Any) -> np.ndarray:
        """Everybody who has a row, also one that is like nobody."""
        return np.ones(values.shape[0], bool)

    def _in_order(self, X: Any, names: np.ndarray) -> Any:
        """A column for each of the fitted entities, found by its name; 0 where there is none."""
        if np.array_equal(names, self.ids):
            return X
        at = {name: i for i, name in enumerate(names.tolist())}
        columns = np.array([at.get(name, -1) for name in self.ids.tolist()])
        if (columns < 0).all():
            raise ValueError("none of the columns is an entity that the model knows: do the ids match?")
        found = sp.csr_array(X)[:, np.maximum(columns, 0)].multiply(columns >= 0)
        return sp.csr_array(found) if sp.issparse(X) else found.toarray()
