"""Senses of nouns with their definitions, spellings and links, from WordNet 3.0.

The synsets are those of eight lexicographer files of concrete things (animal, artifact, body, food, location, person,
plant, substance) whose record points to at least seven other nouns, of whatever kind. This keeps the better connected
ones, about three thousand, by a rule that is the same for all kinds and independent of any clustering method.
``tools/build_word_senses.py`` applies it to the files of WordNet.
"""

from __future__ import annotations

import gzip
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.resources import files

import numpy as np
import scipy.sparse as sp
from sklearn.feature_extraction.text import CountVectorizer

from ..data import Views
from ..data.inputs import ViewInput
from ._docs import share_docs
from .dataset import Dataset


@dataclass(frozen=True, eq=False)
class WordSenses:
    """The columns of the file, one entry per synset, and the links.

    Parameters
    ----------
    ids : tuple of str
        First lemma and number of the sense: ``dog.n.01``.
    lemmas : tuple of str
        The synset's words, joined by a comma and a space.
    glosses : tuple of str
        Its definition, without the examples.
    kinds : tuple of str
        The lexicographer file: ``noun.animal``.
    links : tuple of (str, str)
        Ids of the source and the target: the target is a wider kind, a whole or a domain of the source.

    Examples
    --------
    >>> import consilience as cs
    >>> senses = cs.datasets.read_word_senses()
    >>> len(senses.ids), senses.ids[0], senses.kinds[0]
    (3015, 'abdomen.n.01', 'noun.body')
    """

    ids: tuple[str, ...]
    lemmas: tuple[str, ...]
    glosses: tuple[str, ...]
    kinds: tuple[str, ...]
    links: tuple[tuple[str, str], ...]


def read_word_senses() -> WordSenses:
    """Read the synsets as texts, links and kinds, from which other views can be built.

    Returns
    -------
    WordSenses
        With ``ids``, ``lemmas``, ``glosses``, ``kinds`` and ``links``.

    Examples
    --------
    >>> senses = read_word_senses()
    >>> row = senses.ids.index("dog.n.01")
    >>> senses.lemmas[row], senses.kinds[row]
    ('dog, domestic dog, Canis familiaris', 'noun.animal')
    >>> [target for source, target in senses.links if source == "dog.n.01"]
    ['canine.n.02', 'domestic_animal.n.01']
    """
    packed = (files(__package__) / "word_senses.tsv.gz").read_bytes()
    _, *lines = gzip.decompress(packed).decode().splitlines()
    ids, kinds, lemmas, glosses, targets = zip(*(line.split("\t") for line in lines), strict=True)
    links = tuple((source, target) for source, ends in zip(ids, targets, strict=True) for target in ends.split())
    return WordSenses(ids, lemmas, glosses, kinds, links)


@share_docs
def load_word_senses() -> Dataset:
    """Load some 3,000 senses of nouns described by their definition, their spelling and their links.

    Views, all sparse: ``gloss`` (counts of the definition's words, without English stop words), ``lemma`` (counts of
    three letters in a row within the synset's words, their ends included) and ``links`` (1 for each synset that it is
    linked with, in either direction: kinds, parts and domains). Words and letters that only one synset has are left
    out. A synset with an empty row lacks that view. The classes are WordNet's lexicographer files.

    %(returns_dataset)s

    Examples
    --------
    >>> data = load_word_senses()
    >>> data.views
    Views: 3,015 entities, 3 views
    name   kind          columns  density  present
    gloss  sparse int64    2,812     0.2%    98.9%
    lemma  sparse int64    2,915     0.5%   100.0%
    links  sparse int64    3,015     0.1%    92.3%
    >>> str(data.views.ids[0]), data.target_names[data.target[0]]
    ('abdomen.n.01', 'noun.body')
    """
    senses = read_word_senses()
    names, ids = sorted(set(senses.kinds)), np.array(senses.ids)
    row = {name: i for i, name in enumerate(senses.ids)}
    i, j = np.array([(row[source], row[target]) for source, target in senses.links]).T
    directed = sp.csr_array((np.ones(len(i), dtype=np.int64), (i, j)), shape=(len(ids), len(ids)))
    spellings = [lemmas.replace(",", "") for lemmas in senses.lemmas]
    blocks = {
        "gloss": _vectorize(CountVectorizer(stop_words="english", min_df=2), senses.glosses, ids),
        "lemma": _vectorize(CountVectorizer(analyzer="char_wb", ngram_range=(3, 3), min_df=2), spellings, ids),
        "links": ViewInput(directed.maximum(directed.T).tocsr(), ids, ids),
    }
    present = np.stack([np.diff(block.values.indptr) > 0 for block in blocks.values()], axis=1)
    return Dataset(
        name="word senses",
        views=Views(Views.from_inputs(blocks), present=present),
        target=np.searchsorted(names, senses.kinds),
        target_names=tuple(names),
        description=(
            "WordNet 3.0: noun synsets of eight kinds of concrete things, those linked with at least seven other "
            "nouns; definitions, spellings and links"
        ),
        citation=(
            "C. Fellbaum (ed.): WordNet: An Electronic Lexical Database. MIT Press, 1998. Princeton University: "
            "About WordNet, https://wordnet.princeton.edu, 2010."
        ),
        license="WordNet 3.0 license: WORDNET-LICENSE.txt beside the data",
        source="https://wordnet.princeton.edu, built by tools/build_word_senses.py",
    )


def _vectorize(vectorizer: CountVectorizer, texts: Sequence[str], ids: np.ndarray) -> ViewInput:
    counts = sp.csr_array(vectorizer.fit_transform(texts))
    return ViewInput(counts, ids, vectorizer.get_feature_names_out().astype(str))
