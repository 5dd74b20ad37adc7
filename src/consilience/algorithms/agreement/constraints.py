"""Constraints that refinement must not break."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..._backend import Array, like, namespace, take_rows, zeros
from ...data import Constraints, components


@dataclass(frozen=True, eq=False)
class HeldConstraints:
    """Pairs that stay together, or apart, once they are."""

    group: np.ndarray  # (n,) a number for each set of entities that must-links tie together
    apart: np.ndarray  # (pairs, 2) entities that must not share a cluster

    @classmethod
    def of(cls, constraints: Constraints, labels: np.ndarray) -> HeldConstraints:
        """Keep those of the constraints, by position, that the labels satisfy."""
        must, cannot = constraints.must_link, constraints.cannot_link
        together = labels[must[:, 0]] == labels[must[:, 1]]
        separate = labels[cannot[:, 0]] != labels[cannot[:, 1]]
        return cls(components(must[together], len(labels)), cannot[separate])

    def pool(self, votes: Array) -> Array:
        """Return votes summed over entities that stay together, so that they choose the same cluster."""
        n_groups = int(self.group.max()) + 1
        if n_groups == len(self.group):
            return votes
        xp = namespace(votes)
        sums = zeros((n_groups, votes.shape[1]), votes)
        group = like(self.group, votes)
        if isinstance(votes, np.ndarray):
            np.add.at(sums, self.group, votes)
        else:
            onto = xp.astype(group[None, :] == xp.arange(n_groups)[:, None], votes.dtype)
            sums = onto @ votes
        return xp.astype(take_rows(sums, group), votes.dtype)

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
