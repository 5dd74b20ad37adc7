"""What assessments were worth on reference sets: constants that ``python -m benchmarks.reliability.verdict`` prints.

They come from 28 labeled sets with two to twelve views and at most 1,200 entities each, clustered by `Consilience`
with the true number of clusters: 56 results, two seeds per set. Doubt is the mean of disagreement and ambiguity (see
`Assessment`). Records are counted with limits that were fitted to the other sets.
"""

from __future__ import annotations

import numpy as np

INTERCEPT, SLOPE = -0.08, 1.03  # impurity = INTERCEPT + SLOPE * doubt
BELOW = 0.15  # by which the impurity was lower than estimated in one result of ten
CEILING = 1.35  # multiple of the doubt that the impurity exceeded in one result of ten

STABLE_DISAGREEMENT = 0.10  # a stable result has at most this disagreement ...
STABLE_DOUBT = 0.16  # ... and at most this doubt
UNRELIABLE_DOUBT = 0.40  # above this doubt a result is not to be relied on
LEAST_SUPPORT = 0.05  # below which no other view confirms a view
LEAST_SHARED = 20  # entities that two views must share to be compared
WORDS = (("sure", 0.9), ("likely", 0.7), ("doubtful", 0.5), ("a guess", 0.0))  # with the least probability of each
RIGHT_INTERCEPT, RIGHT_RANK, RIGHT_AMBIGUITY = 3.28, 2.41, -9.00  # log-odds that an entity is in the right cluster
ENTITIES_PER_CLUSTER = 20  # with fewer, halves are too small and disagreement is overstated


RECORDS = {
    "stable": "at most 10% of the entities were in a wrong cluster in 15 of 16 results of the default method on "
    "reference sets",
    "mixed": "between 0% and 67% of the entities were in a wrong cluster in 28 results of the default method on "
    "reference sets",
    "do not rely": "more than 30% of the entities were in a wrong cluster in 17 of 18 results of the default method on "
    "reference sets",
}
FOLLOWED = (  # of results whose clusters follow an unconfirmed view
    "more than 30% of the entities were in a wrong cluster in 3 of 3 results of the default method on reference sets "
    "with a useless view added"
)


def estimate_impurity(doubt: float) -> tuple[float, tuple[float, float]]:
    """Return the estimated impurity for a doubt, and the range of eight in ten results on reference sets."""
    estimate = min(1.0, max(0.0, INTERCEPT + SLOPE * doubt))
    return estimate, (max(0.0, estimate - BELOW), min(1.0, max(estimate, CEILING * doubt)))


def estimate_right(ranks: np.ndarray, ambiguity: float) -> np.ndarray:
    """Return the probability that entities belong to the majority of their cluster, by the ranks of their margins."""
    return 1 / (1 + np.exp(-(RIGHT_INTERCEPT + RIGHT_RANK * ranks + RIGHT_AMBIGUITY * ambiguity)))
