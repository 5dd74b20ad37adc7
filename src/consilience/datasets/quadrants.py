"""Four groups in a plane that form two clusters, which only constraints can tell (Eaton et al. 2010)."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.optimize import linear_sum_assignment
from scipy.spatial.distance import cdist

from ..arrays import make_generator
from ..data import Views, align
from ._docs import share_docs

QUADRANTS = np.array([[3.0, 3.0], [-3.0, 3.0], [-3.0, -3.0], [3.0, -3.0]])
CLUSTERS = np.array([1, 0, 0, 1])  # right and left; above and below would be just as plausible


@share_docs
def make_four_quadrants(
    n_samples: int = 200, *, mapped: float = 1.0, random_state: Any = None
) -> tuple[Views, np.ndarray]:
    """Make two sets of points around the corners of a square, partly mapped to each other.

    Points on the right are one cluster, points on the left the other. Each quadrant's points are divided between the
    two views, and points of one view are mapped one to one to near points of the other in the same quadrant.

    Parameters
    ----------
    n_samples : int, default=200
        Points in both views together; a multiple of 8.
    mapped : float, default=1.0
        Share of the points that are mapped to a point of the other view.
    %(random_state)s

    Returns
    -------
    views : Views
        Views ``a`` and ``b``; a mapped pair is one entity with both.
    y : ndarray of shape (n_entities,)
        The true cluster of each entity.

    Examples
    --------
    >>> views, y = make_four_quadrants(mapped=0.5, random_state=0)
    >>> len(views), views.present.sum(axis=0).tolist(), int(views.present.all(axis=1).sum())
    (150, [100, 100], 50)
    """
    if n_samples < 8 or n_samples % 8:
        raise ValueError(f"n_samples={n_samples} must be a multiple of 8: four quadrants in two views")
    if not 0 <= mapped <= 1:
        raise ValueError(f"mapped={mapped} must be a share from 0 to 1")
    rng = make_generator(random_state)
    quadrant = np.repeat(np.arange(4), n_samples // 8)
    a, b = (QUADRANTS[quadrant] + rng.standard_normal((len(quadrant), 2)) for _ in range(2))
    pairs = []
    for q in range(4):
        rows = np.flatnonzero(quadrant == q)
        left, right = linear_sum_assignment(cdist(a[rows], b[rows]))
        pairs.append(np.column_stack([rows[left], rows[right]]))
    mapping = np.vstack(pairs)[rng.permutation(len(quadrant))[: round(mapped * len(quadrant))]]
    views = align({"a": a, "b": b}, mapping={("a", "b"): mapping})
    row = views.rows.max(axis=1)  # both rows of an entity lie in one quadrant
    return views, CLUSTERS[quadrant[row]]
