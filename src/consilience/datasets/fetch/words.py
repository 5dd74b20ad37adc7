"""Texts as counts of their words."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import scipy.sparse as sp
from sklearn.feature_extraction.text import CountVectorizer

from ...data.coerce import ViewInput


def count_words(texts: Sequence[str], min_df: int = 1) -> ViewInput:
    """Words of two letters or more, without case; those that at least `min_df` texts have."""
    vectorizer = CountVectorizer(token_pattern="[a-z]{2,}", min_df=min_df)
    counts = sp.csr_array(vectorizer.fit_transform(texts))
    return ViewInput(counts, columns=np.array(vectorizer.get_feature_names_out(), dtype=str))
