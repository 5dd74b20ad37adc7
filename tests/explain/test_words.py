"""Words and phrases of texts."""

import re
from itertools import pairwise

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from consilience.explain.words import STOP_WORDS, find_words


def find_literally(texts):
    """Return the sets of terms of plain lowercase texts: words, and pairs of neighbors in three or more texts."""
    words = [re.findall("[a-z]+|[.]", text) for text in texts]

    def is_term(word):
        return len(word) > 1 and word not in STOP_WORDS

    pairs = [{f"{a} {b}" for a, b in pairwise(row) if is_term(a) and is_term(b) and a != b} for row in words]
    frequent = {pair for row in pairs for pair in row if sum(pair in other for other in pairs) >= 3}
    return [set(filter(is_term, row)) | (row_pairs & frequent) for row, row_pairs in zip(words, pairs, strict=True)]


@settings(max_examples=30, deadline=None)
@given(st.lists(st.lists(st.sampled_from(["cat", "dog", "the", "a", "sea", "of", "."]), max_size=8), max_size=12))
def test_words_and_phrases_are_those_of_a_literal_search(tokens):
    texts = [" ".join(row) for row in tokens]
    has, terms, _ = find_words(texts)
    assert has.shape == (len(texts), len(terms))
    assert set(np.unique(has.data)) <= {1.0}
    assert [set(terms[has[[i]].indices]) for i in range(len(texts))] == find_literally(texts)


def test_beginning_of_each_text_is_read_and_addresses_and_codes_are_no_words(tune):
    words = f"see https://a.example/b?c=d or me@example.org, pixel_17, x7, 1945 and {'q' * 60} knife"
    assert find_words([words])[1].tolist() == ["knife"]
    tune("explain.words", most_tokens=5)
    terms = find_words(["one1 alpha beta gamma delta epsilon zeta"])[1]
    assert terms.tolist() == ["one1", "alpha", "beta", "gamma", "delta"]
