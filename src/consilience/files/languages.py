"""The languages of texts, by their function words and scripts; no model is needed."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from sklearn.feature_extraction.text import ENGLISH_STOP_WORDS

from .stop_words import FUNCTION_WORDS


class Evidence(NamedTuple):
    """What a text must have, at least, to be in a language."""

    n_words: int  # different function words of the language
    lead: int  # by which they outnumber those of each other candidate
    share: float  # of the different words of the text; lists of products and codes have fewer


# A wrong language is worse than none: titles and loan words bring single function words into texts of other languages,
# and related languages share most of theirs. So several words of a text must speak for one language. The languages that
# such texts prove to be there are then recognized by fewer words, if these are much of a text.
ALONE, AMONG_OTHERS = Evidence(3, 2, 0.1), Evidence(2, 1, 0.2)
MAX_MIXED = 0.5  # words of another language only, per word of this language only; texts with more are mixtures
MIN_CHARACTERS = 8  # of a Chinese, Japanese or Korean text
MIN_SCRIPT = 0.5  # of the letters of a text that are of the script of its language
MIN_KANA = 0.1  # of the characters of a Japanese text; in sentences it is about half

# A few texts in another language, such as quotations, do not make a collection one of several languages.
MIN_TEXTS = 5  # in a language that is there
PRESENT, PREVALENT = 0.01, 0.05  # shares of the texts in a language that is there, and in one that is not negligible

TOTAL_CHARACTERS = 20_000_000  # that are read from all texts
LEAST_CHARACTERS, MOST_CHARACTERS = 200, 2000  # that are read from a text

POSITIONS = {word: i for i, word in enumerate(sorted(frozenset().union(*FUNCTION_WORDS.values())))}
IS_FUNCTION_WORD = np.zeros((len(POSITIONS), len(FUNCTION_WORDS)), dtype=np.float32)  # of each language
for _column, _words in enumerate(FUNCTION_WORDS.values()):
    IS_FUNCTION_WORD[[POSITIONS[word] for word in _words], _column] = 1
# letters and digits, and what \w lacks: accents, vowel signs of Arabic and Hindi, and joiners within words
WORD = re.compile(r"[\w\u0300-\u036f\u064b-\u0652\u0670\u0900-\u0903\u093a-\u094f\u0962\u0963\u200c\u200d]+")
HAN, KANA, HANGUL = "\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff", "ぁ-ゖァ-ヺー", "\uac00-\ud7a3"
EAST_ASIAN = re.compile(f"[{HAN}]|([{KANA}])|([{HANGUL}])")


def fold_case(text: str) -> str:
    r"""Return a text in lower case and in the composed form of Unicode, so that equal words have equal characters.

    Examples
    --------
    >>> fold_case("CAFE\u0301"), fold_case("İÇİN")
    ('café', 'için')
    """
    if text.isascii():
        return text.lower()
    return unicodedata.normalize("NFC", text).lower().replace("i\u0307", "i")  # which Turkish İ becomes


def detect_languages(texts: Iterable[Any]) -> np.ndarray:
    """Return the name of the language of each text, '' if it is not clear, None if there is no text.

    Examples
    --------
    >>> texts = ["The cat sleeps in the garden of my aunt", "Le chat dort dans le jardin de ma tante", "SKU 4711", " "]
    >>> detect_languages(texts).tolist()
    ['English', 'French', '', None]
    """
    strings = ["" if text is None or text != text else str(text) for text in texts]
    has, n_words, by_script = _find_function_words(strings)
    detected = np.where(by_script == "", recognize_languages(has, n_words), by_script)
    detected[[not text.strip() for text in strings]] = None
    return detected


def recognize_languages(has: Any, n_words: np.ndarray) -> np.ndarray:
    """Return the name of the language of each text by its function words, '' if it is not clear.

    Parameters
    ----------
    has : csr_array of shape (n_texts, n_function_words)
        1 where a text has a word, with a column per word of `POSITIONS`.
    n_words : ndarray of shape (n_texts,)
        Number of different words of each text.
    """
    recognized = _classify(has, n_words, ALONE, list(FUNCTION_WORDS))
    present = list_languages(recognized, PRESENT)
    return np.where(recognized == "", _classify(has, n_words, AMONG_OTHERS, present), recognized)


def list_languages(detected: np.ndarray, least_share: float = PREVALENT) -> dict[str, int]:
    """Return how many texts are in each language that is not negligible, the most frequent first.

    Examples
    --------
    >>> list_languages(np.array(["French"] * 30 + ["English"] * 60 + ["Czech"] + [""] * 9, dtype=object))
    {'English': 60, 'French': 30}
    """
    counts = Counter(name for name in detected.tolist() if name is not None)
    least = max(MIN_TEXTS, least_share * counts.total())
    by_frequency = sorted(counts.items(), key=lambda pair: (-pair[1], pair[0]))
    return {name: n for name, n in by_frequency if name and n >= least}


def list_stop_words(languages: Iterable[str]) -> frozenset[str]:
    """Return the words that say nothing about the content of texts in any of some languages."""
    words = [ENGLISH_STOP_WORDS if name == "English" else FUNCTION_WORDS.get(name, frozenset()) for name in languages]
    return frozenset().union(*words)


def _find_function_words(texts: Sequence[str]) -> tuple[sp.csr_array, np.ndarray, np.ndarray]:
    """Return which text has which function word, the numbers of different words, and languages by the script."""
    limit = int(np.clip(TOTAL_CHARACTERS // max(len(texts), 1), LEAST_CHARACTERS, MOST_CHARACTERS))
    columns: list[int] = []
    ends, n_words = np.zeros(len(texts) + 1, dtype=np.intp), np.zeros(len(texts))
    by_script = np.full(len(texts), "", dtype=object)
    for row, text in enumerate(texts):
        folded = fold_case(text[:limit])
        words = set(WORD.findall(folded))
        columns += [POSITIONS[word] for word in words if word in POSITIONS]
        ends[row + 1], n_words[row] = len(columns), len(words)
        if EAST_ASIAN.search(folded):
            by_script[row] = _recognize_script(folded)
    cells = np.ones(len(columns), dtype=np.float32), np.array(columns, dtype=np.intp), ends
    return sp.csr_array(cells, shape=(len(texts), len(POSITIONS))), n_words, by_script


def _recognize_script(text: str) -> str:
    """Return Chinese, Japanese or Korean if a text is mostly written in their scripts, otherwise ''."""
    scripts = Counter(match.lastindex for match in EAST_ASIAN.finditer(text))
    n = scripts.total()
    if n < MIN_CHARACTERS or n < MIN_SCRIPT * sum(map(str.isalpha, text)):
        return ""
    if scripts[2] >= MIN_SCRIPT * n:
        return "Korean"
    return "Japanese" if scripts[1] >= MIN_KANA * n else "Chinese"


def _classify(has: sp.csr_array, n_words: np.ndarray, least: Evidence, candidates: Collection[str]) -> np.ndarray:
    """Return the candidate that has most of the function words of each text, '' if this is not clear."""
    names = list(FUNCTION_WORDS)
    classified = np.full(len(n_words), "", dtype=object)
    chosen = [i for i, name in enumerate(names) if name in candidates]
    if not chosen:
        return classified
    counts = has @ IS_FUNCTION_WORD  # (texts, languages)
    best = np.array(chosen)[counts[:, chosen].argmax(axis=1)]
    for language in chosen:
        rows = np.flatnonzero(best == language)
        n_shared = has[rows] @ (IS_FUNCTION_WORD * IS_FUNCTION_WORD[:, [language]])  # with this language
        n_only, n_others_only = counts[rows][:, [language]] - n_shared, counts[rows] - n_shared
        rivals = [i for i in chosen if i != language]
        is_clear = counts[rows, language] >= np.maximum(least.n_words, least.share * n_words[rows])
        is_clear &= (n_only - n_others_only >= least.lead)[:, rivals].all(axis=1)
        is_clear &= (n_others_only <= MAX_MIXED * n_only).all(axis=1)
        classified[rows[is_clear]] = names[language]
    return classified
