"""Constraints that refinement must not break."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...arrays import Array, asarray_like, namespace, to_numpy
from ...data import Constraints, label_components


@dataclass(frozen=True, eq=False)
class KeptConstraints:
    """Pairs that stay together, or apart, once they are."""

    group: np.ndarray  # (n,) a number for each set of entities that must-links tie together
    apart: np.ndarray  # (pairs, 2) entities that must not share a cluster

    @classmethod
    def of(cls, constraints: Constraints, labels: np.ndarray) -> KeptConstraints:
        """Keep those of the constraints, by position, that the labels satisfy."""
        must, cannot = constraints.must_link, constraints.cannot_link
        together = labels[must[:, 0]] == labels[must[:, 1]]
        separate = labels[cannot[:, 0]] != labels[cannot[:, 1]]
        return cls(label_components(must[together], len(labels)), cannot[separate])

    def pool(self, votes: Array) -> Array:
        """Return votes summed over entities that stay together, so that they choose the same cluster."""
        n_groups = int(self.group.max()) + 1
        if n_groups == len(self.group):
            return votes
        sums = np.zeros((n_groups, votes.shape[1]))
        np.add.at(sums, self.group, to_numpy(votes))
        return namespace(votes).astype(asarray_like(sums[self.group], votes), votes.dtype)

    def restore(self, chosen: np.ndarray, labels: np.ndarray) -> np.ndarray:
        """Return the chosen clusters, with groups put back where two entities that stay apart would meet.

        The previous labels satisfy all pairs, so putting groups back ends, at the latest with these.
        """
        chosen = chosen.copy()
        while True:
            met = self.apart[chosen[self.apart[:, 0]] == chosen[self.apart[:, 1]]]
            if not len(met):
                return chosen
            back = np.isin(self.group, self.group[met.ravel()])
            chosen[back] = labels[back]


def unite_linked(labels: np.ndarray, constraints: Constraints, n_clusters: int) -> np.ndarray:
    """Return labels in which entities that must-links tie together share the cluster that most of them have."""
    group = label_components(constraints.must_link, len(labels))
    if group.max() + 1 == len(labels):
        return labels
    counts = np.zeros((group.max() + 1, n_clusters))
    np.add.at(counts, (group, labels), 1)
    return np.argmax(counts, axis=1)[group]
