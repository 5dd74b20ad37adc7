"""Words and phrases of texts in any script, for names of clusters."""

from __future__ import annotations

import html
import re
import unicodedata
from collections import defaultdict
from collections.abc import Sequence
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.feature_extraction.text import ENGLISH_STOP_WORDS

from .._tuning import Tuning
from ..files.languages import IS_FUNCTION_WORD, POSITIONS, fold_case, list_languages, recognize_languages
from ..files.stop_words import FUNCTION_WORDS

LIGHT_WORDS = (
    "use used uses using having does did doing done just like really know think want say says said writes wrote thanks "
    "make makes made making get gets getting got way thing things don didn doesn isn wasn aren couldn wouldn shouldn "
    "hasn haven hadn weren ain ll ve re im "
    "usually especially typically including various numerous containing consisting nbsp http https www com"
)
STOP_WORDS = ENGLISH_STOP_WORDS.union(LIGHT_WORDS.split())
NUMBERED_WORDS = (
    "img|image|pixel|px|pc|dim|dimension|emb|embedding|feature|feat|f|x|v|var|variable|col|column|component|comp|latent|"
    "factor|lsa|svd|pca|umap|tsne|topic|unnamed|vector|vec|value"
)
ANONYMOUS = re.compile(  # pixel_17, PC1, column 12; title[3]; 1945; addresses and identifiers such as bird.n.01
    rf"(?:.*[\W_])?(?:{NUMBERED_WORDS})[\W_]*\d+|.*\[\d+\]|[\W\d_]*|.*(?:://|@|[.:/]\d|\d[.:/]).*", re.IGNORECASE
)

TOTAL_TOKENS = 4_000_000  # that are read from all texts
tuning = Tuning(most_tokens=1000)  # that are read from a text
LEAST_TOKENS = 100  # that are read from a text
LETTERS = 8  # characters per token that are read
MARKUP = 4  # times as many characters are read before tags are removed
MAX_WORD = 40  # characters; longer ones are codes
MIN_PHRASE = 3  # texts that contain a phrase
MAX_GRAM = 4  # characters of a term in a script without blanks

TAGS = re.compile(  # of HTML, and addresses; a comment or script without end takes the rest of the text
    r"<!--.*?(?:-->|$)|<(script|style)\b.*?(?:</\1\s*>|$)|</?[a-zA-Z][^<>]*>"
    r"|\b(?:https?://|www\.)\S+|(?<![\w.+-])[\w.+-]{1,64}@[\w.-]+",
    re.DOTALL | re.IGNORECASE,
)
# vowel signs and accents, which \w lacks, and the joiners within words of Persian and Indic scripts
MARKS = "".join(chr(c) for c in range(0x300, 0xFB50) if unicodedata.category(chr(c))[0] == "M") + "\u200c\u200d"
HAN = "\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
RUNS = re.compile(rf"[{HAN}々]+|[ァ-ヺー]+|[ぁ-ゖ]+")
EMOJI = "[\u2600-\u27bf\u2b50\u2b55\U0001f300-\U0001faff]"
TOKENS = re.compile(
    rf"[\U0001f1e6-\U0001f1ff]{{2}}|{EMOJI}[\ufe0f\U0001f3fb-\U0001f3ff]*(?:\u200d{EMOJI}\ufe0f?)*"
    rf"|[^\W\d_](?:[\w{MARKS}]|-(?=[^\W_]))*|\w+|[^\w\s]"
)
HAS_DIGIT, HAN_START = re.compile(r"\d"), re.compile(f"[{HAN}]")
EMOJI_START = re.compile(rf"[\U0001f1e6-\U0001f1ff]|{EMOJI}")
UNSPACED = re.compile(rf"[{HAN}ぁ-ヺ]|{EMOJI_START.pattern}")


def find_words(texts: Sequence[Any]) -> tuple[sp.csr_array, np.ndarray, np.ndarray]:
    """Find which text has which words and phrases of two words.

    Tags of HTML and addresses are no words. Scripts without blanks have terms of one to four characters. The beginning
    of each text is read: 100 to 1000 words, fewer the more texts there are. English stop words are left out; function
    words of other languages that are recognized in the texts are terms of their own, beside the same letters in texts
    of other languages, and are no part of phrases.

    Parameters
    ----------
    texts : sequence of str or None
        A text per entity.

    Returns
    -------
    has : csr_array of shape (n_texts, n_terms)
        1 where a text has a term.
    terms : ndarray of str
        Words and phrases as most texts write them.
    is_function : ndarray of bool
        Which terms are function words.
    """
    row, form, forms = _number_tokens(texts)
    lowered = [written.lower() for written in forms]
    numbers = {word: number for number, word in enumerate(dict.fromkeys(lowered))}
    word_of_form = np.array([numbers[word] for word in lowered], dtype=np.intp)
    is_term = np.array([_is_term(word) for word in numbers], dtype=bool)
    is_part = is_term & np.array([not UNSPACED.search(word) for word in numbers], dtype=bool)  # of phrases
    names = _choose_forms(form, np.array(forms, dtype=object), word_of_form, len(numbers))
    word = word_of_form[form]
    is_function = _mark_function_words(row, word, list(numbers), len(texts))
    is_part_here = is_part[word] & ~is_function
    is_pair = (row[1:] == row[:-1]) & is_part_here[1:] & is_part_here[:-1] & (word[1:] != word[:-1])
    start = np.flatnonzero(is_pair)
    has_words, words = _mark_used(row, word, is_term[word] & ~is_function, len(texts))
    has_functions, functions = _mark_used(row, word, is_term[word] & is_function, len(texts))
    phrases, phrase = np.unique(word[start] * len(numbers) + word[start + 1], return_inverse=True)
    has_phrases = _mark_cells(row[start], phrase, (len(texts), len(phrases)))
    is_frequent = np.asarray(has_phrases.sum(axis=0)).ravel() >= MIN_PHRASE
    first, second = np.divmod(phrases[is_frequent], max(len(numbers), 1))
    has = sp.hstack([has_words, has_phrases[:, is_frequent], has_functions], format="csr")
    joined = [f"{a} {b}" for a, b in zip(names[first], names[second], strict=True)]
    terms = np.array([*names[words], *joined, *names[functions]], dtype=object)
    return sp.csr_array(has), terms, np.arange(len(terms)) >= len(terms) - len(functions)


def split_text(text: str, n_tokens: int) -> list[str]:
    """Split the beginning of a text into words, terms of scripts without blanks, emoji, numbers and other characters.

    Examples
    --------
    >>> split_text("<b>Steel</b> knives, x-ray &amp; 猫だ", 10)
    ['Steel', 'knives', ',', 'x-ray', '&', '猫', 'だ']
    """
    n_characters = LETTERS * n_tokens
    text = unicodedata.normalize("NFC", text[: MARKUP * n_characters])
    if any(sign in text for sign in ("<", "&", "@", "://", "www.")):
        text = html.unescape(TAGS.sub(" ", text))
    text = text[:n_characters]
    if UNSPACED.search(text):
        tokens = TOKENS.findall(RUNS.sub(r" \g<0> ", text))
        terms = []
        for token in tokens:
            ends = range(1, MAX_GRAM + 1) if HAN_START.match(token) else ()
            terms += [token[i : i + n] for i in range(len(token)) for n in ends if i + n <= len(token)] or [token]
        return terms[:n_tokens]
    return TOKENS.findall(text)[:n_tokens]


def _number_tokens(texts: Sequence[Any]) -> tuple[np.ndarray, np.ndarray, list[str]]:
    """Return the row of each token, the number of its form, and the forms."""
    n_tokens = int(np.clip(TOTAL_TOKENS // max(len(texts), 1), LEAST_TOKENS, tuning.most_tokens))
    forms: defaultdict[str, int] = defaultdict()
    forms.default_factory = forms.__len__  # the next number
    numbers: list[int] = []
    n_read = np.zeros(len(texts), dtype=np.intp)
    for row, text in enumerate(texts):
        if text is not None and text == text:
            tokens = split_text(str(text), n_tokens)
            numbers += [forms[token] for token in tokens]
            n_read[row] = len(tokens)
    return np.repeat(np.arange(len(texts)), n_read), np.array(numbers, dtype=np.intp), list(forms)


def _mark_function_words(row: np.ndarray, word: np.ndarray, words: Sequence[str], n_texts: int) -> np.ndarray:
    """Mark the tokens that are function words of the language of their text, unless this is English.

    In a text of unknown language they are those of any language that is not negligible in the texts. A word with
    hyphens, such as French "est-ce", is a function word if its parts are.
    """
    parts = [[POSITIONS.get(part, -1) for part in fold_case(name).split("-")] for name in words]
    is_listed = np.array([min(numbers) >= 0 for numbers in parts], dtype=bool)
    first = np.array([numbers[0] for numbers in parts], dtype=np.intp)
    is_word = np.array([name[0].isalnum() for name in words], dtype=bool)[word]
    n_words = np.asarray(_mark_cells(row[is_word], word[is_word], (n_texts, len(words))).sum(axis=1)).ravel()
    listed = is_listed[word]
    languages = recognize_languages(_mark_cells(row[listed], first[word[listed]], (n_texts, len(POSITIONS))), n_words)
    names = list(FUNCTION_WORDS)
    lists = IS_FUNCTION_WORD.astype(bool)
    lists[:, names.index("English")] = False  # whose stop words are left out of the terms of any text
    frequent = [names.index(name) for name in list_languages(languages)]
    lists = np.column_stack([lists, lists[:, frequent].any(axis=1)])
    is_function = np.zeros((len(words), lists.shape[1]), dtype=bool)  # in a text of each language, or of an unknown one
    for i in np.flatnonzero(is_listed).tolist():
        is_function[i] = lists[parts[i]].all(axis=0)
    language = np.array([names.index(name) if name else len(names) for name in languages], dtype=np.intp)
    return is_function[word, language[row]]


def _is_term(word: str) -> bool:
    """Whether a token in lower case can name a cluster: no stop word, number, code or single letter."""
    if len(word) == 1:
        return bool(HAN_START.match(word) or EMOJI_START.match(word))
    if not (word[0].isalpha() or EMOJI_START.match(word)) or len(word) > MAX_WORD or word in STOP_WORDS:
        return False
    return not (HAS_DIGIT.search(word) and ANONYMOUS.fullmatch(word))


def _choose_forms(form: np.ndarray, forms: np.ndarray, word_of_form: np.ndarray, n_words: int) -> np.ndarray:
    """Return how each word is written most often; in lower case if another form is no more frequent."""
    times = np.bincount(form, minlength=len(forms))
    is_lower = np.array([written.islower() for written in forms], dtype=bool)
    order = np.lexsort((is_lower, times))
    chosen = np.empty(n_words, dtype=object)
    chosen[word_of_form[order]] = forms[order]  # the last one is assigned last
    return chosen


def _mark_used(row: np.ndarray, word: np.ndarray, is_used: np.ndarray, n_texts: int) -> tuple[sp.csr_array, np.ndarray]:
    """Return which text has which of the words that are used anywhere, and the numbers of these words."""
    numbers, column = np.unique(word[is_used], return_inverse=True)
    return _mark_cells(row[is_used], column, (n_texts, len(numbers))), numbers


def _mark_cells(rows: np.ndarray, columns: np.ndarray, shape: tuple[int, int]) -> sp.csr_array:
    """Return a matrix with 1 in the listed cells."""
    has = sp.csr_array((np.ones(len(rows)), (rows, columns)), shape=shape)
    has.data[:] = 1.0
    return has
