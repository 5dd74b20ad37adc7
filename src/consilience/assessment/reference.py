"""What assessments were worth on reference sets: constants that ``python -m benchmarks.reliability.verdict`` prints.

They come from 28 labelled sets with two to twelve views and at most 1,200 entities each, clustered by `Consilience`
with the true number of clusters and two seeds. Doubt is the mean of disagreement and ambiguity (see `Assessment`).
"""

from __future__ import annotations

from typing import NamedTuple

INTERCEPT, SLOPE = -0.09, 1.15  # impurity = INTERCEPT + SLOPE * doubt
BELOW = 0.12  # by which the impurity was lower than estimated on one set in ten
CEILING = 1.36  # multiple of the doubt that the impurity exceeded on one set in ten

STABLE_DISAGREEMENT = 0.10  # a stable result has at most this disagreement ...
STABLE_DOUBT = 0.20  # ... and at most this doubt
UNRELIABLE_DOUBT = 0.40  # above this doubt a result is not to be relied on
LEAST_SUPPORT = 0.05  # below which no other view confirms a view
ENTITIES_PER_CLUSTER = 20  # with fewer, halves are too small and disagreement is overstated


class Record(NamedTuple):
    """How often a verdict was right on the reference sets."""

    n_sets: int
    worth: str


RECORDS = {
    "stable": Record(9, "at most 10% of the entities were in a wrong cluster on {n} of {n} reference sets"),
    "mixed": Record(12, "between 3% and 71% of the entities were in a wrong cluster on {n} reference sets"),
    "do not rely": Record(7, "more than 30% of the entities were in a wrong cluster on {n} of {n} reference sets"),
}


def estimate_impurity(doubt: float) -> tuple[float, tuple[float, float]]:
    """Return the estimated impurity for a doubt, and the range in which it was on eight of ten reference sets."""
    estimate = min(1.0, max(0.0, INTERCEPT + SLOPE * doubt))
    return estimate, (max(0.0, estimate - BELOW), min(1.0, max(estimate, CEILING * doubt)))
