"""Similarities between the entities themselves."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp


class SimilaritiesEncoder:
    """A square matrix as it is; `ids` are those of its columns."""

    kind = "similarities"

    def __init__(self, ids: np.ndarray | None = None) -> None:
        self.ids = ids

    def fit(self, data: Any) -> SimilaritiesEncoder:
        """Remember the number of entities: new ones are compared with these."""
        self.features = self.ids
        self.n_columns = data[0].shape[1]
        return self

    def transform(self, data: Any) -> Any:
        """Rows of similarities to the fitted entities."""
        X = data[0]
        if X.shape[1] != self.n_columns:
            raise ValueError(
                f"{X.shape[1]} columns, but the model knows {self.n_columns} entities: give each new entity's "
                "similarity to every one of these, in their order"
            )
        return sp.csr_array(X) if sp.issparse(X) else np.asarray(X, dtype=np.float64)
