"""Links between entities."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

from ..._saving import save_as
from .base import find_nonzero_rows
from .counts import TermWeighting


@save_as("encoder-links")
class LinksEncoder:
    """Encode the links of each entity in one direction, with one column per entity at the other end.

    Parameters
    ----------
    direction : {'out', 'in'}
        Whether a row holds the targets of the entity's links, or the sources of the links to it.
    rare : bool
        Whether links with entities that have few links count more.
    """

    kind = "links"
    present = staticmethod(find_nonzero_rows)

    def __init__(self, direction: str, rare: bool) -> None:
        self.direction = direction
        self.weighting = TermWeighting(rare)

    def fit(self, data: Any) -> LinksEncoder:
        """Learn the entities at the other ends."""
        (sources, targets, _), _ = data
        self.features = np.array(
            list(dict.fromkeys((targets if self.direction == "out" else sources).tolist())), dtype=object
        )
        counts = self._build_matrix(data)
        self.n_links = counts.nnz
        self.weighting.fit(counts)
        return self

    def transform(self, data: Any) -> sp.csr_array:
        """Encode the links of each entity; ends that were not seen in `fit` are ignored."""
        return self.weighting.transform(self._build_matrix(data))

    def _build_matrix(self, data: Any) -> sp.csr_array:
        (sources, targets, weights), ids = data
        near, far = (sources, targets) if self.direction == "out" else (targets, sources)
        rows, columns = _find_positions(near, ids), _find_positions(far, self.features)
        kept = (rows >= 0) & (columns >= 0)
        return sp.csr_array((weights[kept], (rows[kept], columns[kept])), shape=(len(ids), len(self.features)))


def _find_positions(names: np.ndarray, within: np.ndarray) -> np.ndarray:
    """Position of each name in another array, -1 if it is not there."""
    position = {name: i for i, name in enumerate(within.tolist())}
    return np.array([position.get(name, -1) for name in names.tolist()], dtype=np.intp)
