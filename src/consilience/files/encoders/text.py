"""Text as bags of words, and short names as bags of three letters."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.feature_extraction.text import ENGLISH_STOP_WORDS, CountVectorizer

from ..._saving import save_as
from .base import find_nonzero_rows
from .counts import TermWeighting

ANALYZERS: dict[str, dict[str, Any]] = {
    "text": {"analyzer": "word"},
    "names": {"analyzer": "char_wb", "ngram_range": (3, 3)},
}
MAX_TERMS = 50_000
MAX_SHARE = 0.5  # of the texts; words in more of them, such as "the", do not tell texts apart
ENGLISH_SHARE = 0.2  # of English stop words among all words, above which a text is taken for English
MIN_TEXTS = 20  # number of texts from which words must be in at least two of them and not in too many


@save_as("encoder-text")
class TextEncoder:
    """Bags of words, or of three letters each, by scikit-learn's CountVectorizer.

    Parameters
    ----------
    kind : {'text', 'names'}
        Words, or three letters in a row for names and other short strings that seldom share whole words.
    rare : bool
        Whether terms are weighted by their rarity.
    """

    present = staticmethod(find_nonzero_rows)

    def __init__(self, kind: str, rare: bool) -> None:
        self.kind = kind
        self.weighting = TermWeighting(rare)

    def fit(self, texts: np.ndarray) -> TextEncoder:
        """Learn the terms: those in at least two texts and in at most half of them, without English stop words."""
        present = [text for text in texts if text is not None]
        limits: dict[str, Any] = {"min_df": 2, "max_df": MAX_SHARE} if len(present) >= MIN_TEXTS else {}
        if self.kind == "text" and _is_english(present):
            limits["stop_words"] = "english"
        counter = CountVectorizer(max_features=MAX_TERMS, **ANALYZERS[self.kind], **limits)
        try:
            counts = counter.fit_transform(present)
        except ValueError as error:
            raise ValueError(
                "no word is in two of the texts, or all are in more than half of them: give another kind (--kind)"
            ) from error
        self.features = np.array(counter.get_feature_names_out(), dtype=object)
        self.weighting.fit(counts)
        return self

    def transform(self, texts: np.ndarray) -> sp.csr_array:
        """Encode one row per text, empty if the text is missing."""
        counter = CountVectorizer(vocabulary=list(self.features), **ANALYZERS[self.kind])
        counts = sp.csr_array(counter.transform(["" if text is None else text for text in texts]), dtype=np.float64)
        return self.weighting.transform(counts)


def _is_english(texts: list[str]) -> bool:
    """Whether so many words are English stop words that these are best left out."""
    words = [word for text in texts[:1000] for word in text.lower().split()]
    return sum(word in ENGLISH_STOP_WORDS for word in words) > ENGLISH_SHARE * len(words)
