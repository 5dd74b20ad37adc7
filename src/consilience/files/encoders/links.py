"""Links: who points to whom."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

from ..._saving import save_as
from .presence import find_nonzero_rows
from .weighting import TermWeighting


@save_as("encoder-links")
class LinksEncoder:
    """A row an entity, a column for everybody that it points to, or that points to it.

    Parameters
    ----------
    direction : {'out', 'in'}
        Whether a row holds whom the entity points to, or who points to it.
    rare : bool
        Whether links to those that few are linked with count more.
    """

    kind = "links"
    present = staticmethod(find_nonzero_rows)

    def __init__(self, direction: str, rare: bool) -> None:
        self.direction = direction
        self.weighting = TermWeighting(rare)

    def fit(self, data: Any) -> LinksEncoder:
        """Learn who is at the other ends."""
        _, others, _, _ = self._ends(data)
        self.features = np.array(list(dict.fromkeys(others)), dtype=object)
        counts = self._counts(data)
        self.n_links = counts.nnz
        self.weighting.fit(counts)
        return self

    def transform(self, data: Any) -> sp.csr_array:
        """The links of each entity; ends not known from `fit` are not looked at."""
        return self.weighting.transform(self._counts(data))

    def _counts(self, data: Any) -> sp.csr_array:
        own, others, weights, ids = self._ends(data)
        row, column = ({one: i for i, one in enumerate(names)} for names in (ids.tolist(), self.features.tolist()))
        pairs = (row, own), (column, others)
        at, to = (np.array([known.get(end, -1) for end in ends], dtype=np.intp) for known, ends in pairs)
        known = (at >= 0) & (to >= 0)
        cells = weights[known], (at[known], to[known])
        return sp.csr_array(cells, shape=(len(ids), len(self.features)))

    def _ends(self, data: Any) -> tuple[list[str], list[str], np.ndarray, np.ndarray]:
        """The entities' ends of the links, the other ends, the weights, and the entities."""
        (sources, targets, weights), ids = data
        own, others = (sources, targets) if self.direction == "out" else (targets, sources)
        return own.tolist(), others.tolist(), weights, ids
