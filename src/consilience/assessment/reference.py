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
WORDS = (("sure", 0.9), ("likely", 0.7), ("doubtful", 0.5), ("a guess", 0.0))  # with the least confidence of each
WORD_TYPE = f"<U{max(len(word) for word, _ in WORDS)}"
LEAST_CONFIDENCE, MOST_CONFIDENCE = 0.01, 0.99  # nothing is certain
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
    """Return the probability that entities belong to the majority of their cluster, by the ranks of their margins.

    It is rounded to whole percents, so that the word for it follows from the number that is shown.
    """
    probability = 1 / (1 + np.exp(-(RIGHT_INTERCEPT + RIGHT_RANK * ranks + RIGHT_AMBIGUITY * ambiguity)))
    return np.round(np.clip(probability, LEAST_CONFIDENCE, MOST_CONFIDENCE), 2)


def choose_words(confidence: np.ndarray) -> np.ndarray:
    """Return the word for each confidence: all words for how sure a cluster is come from here; empty for NaN.

    Examples
    --------
    >>> choose_words(np.array([0.9, 0.89, 0.5, 0.49, np.nan])).tolist()
    ['sure', 'likely', 'doubtful', 'a guess', '']
    """
    words = np.full(np.shape(confidence), "", dtype=WORD_TYPE)
    for word, least in reversed(WORDS):
        words[confidence >= least] = word
    return words


def describe_words() -> str:
    """Return which word follows from which confidence.

    Examples
    --------
    >>> describe_words()
    'sure from 90%, likely from 70%, doubtful from 50%, a guess below'
    """
    return ", ".join(f"{word} from {least:.0%}" if least else f"{word} below" for word, least in WORDS)
