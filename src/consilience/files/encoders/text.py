"""Text: words, or for short names the letters in threes."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.feature_extraction.text import ENGLISH_STOP_WORDS, CountVectorizer

from ..._saving import save_as
from .presence import find_nonzero_rows
from .weighting import TermWeighting

ANALYZERS: dict[str, dict[str, Any]] = {
    "text": {"analyzer": "word"},
    "names": {"analyzer": "char_wb", "ngram_range": (3, 3)},
}
MOST_TERMS = 50_000
TOO_COMMON = 0.5  # share of the texts; words in more of them, such as «the», tell nothing apart
ENGLISH = 0.2  # share of the words that are English stop words from which on the text is taken for English
ENOUGH = 20  # texts from which on a word must be in two of them, and not in too many


def _is_english(texts: list[str]) -> bool:
    """Whether so many words are English ones that tell nothing apart that they are best left out."""
    words = [word for text in texts[:1000] for word in text.lower().split()]
    return sum(word in ENGLISH_STOP_WORDS for word in words) > ENGLISH * len(words)


@save_as("encoder-text")
class TextEncoder:
    """Bags of words (or of three letters each) by scikit-learn's CountVectorizer, weighed.

    Parameters
    ----------
    kind : {'text', 'names'}
        Words, or letters in threes for names and other short strings that seldom share whole words.
    rare : bool
        Whether terms are weighed by their rarity.
    """

    present = staticmethod(find_nonzero_rows)

    def __init__(self, kind: str, rare: bool) -> None:
        self.kind = kind
        self.weighting = TermWeighting(rare)

    def fit(self, texts: np.ndarray) -> TextEncoder:
        """Learn the terms: in two texts or more, in not more than half of them, and no English stop words."""
        there = [text for text in texts if text is not None]
        limits: dict[str, Any] = {"min_df": 2, "max_df": TOO_COMMON} if len(there) >= ENOUGH else {}
        if self.kind == "text" and _is_english(there):
            limits["stop_words"] = "english"
        counter = CountVectorizer(max_features=MOST_TERMS, **ANALYZERS[self.kind], **limits)
        try:
            counts = counter.fit_transform(there)
        except ValueError as error:
            raise ValueError(
                "no word is in two of the texts, or all are in more than half of them: give another kind (--kind)"
            ) from error
        self.features = np.array(counter.get_feature_names_out(), dtype=object)
        self.weighting.fit(counts)
        return self

    def transform(self, texts: np.ndarray) -> sp.csr_array:
        """A row a text; empty where there is none."""
        counter = CountVectorizer(vocabulary=list(self.features), **ANALYZERS[self.kind])
        counts = sp.csr_array(counter.transform(["" if text is None else text for text in texts]), dtype=np.float64)
        return self.weighting.transform(counts)
