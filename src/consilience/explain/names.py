"""Short names of clusters, made of the terms that mark them."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from sklearn.feature_extraction.text import ENGLISH_STOP_WORDS, CountVectorizer

from ..arrays import available_memory, to_host
from ..data import Views
from ..rows import read_whole

NO_CLUSTER = "no cluster"  # name for the label -1
MIN_TERMS, USUAL_TERMS, MAX_TERMS = 2, 3, 4  # per name; more than the usual ones only to tell two clusters apart
THIRD_TERM = 0.4  # score relative to the first term from which the third is part of the name
N_CANDIDATES = 20  # terms per view and cluster that are considered
MIN_ERRORS = 2.0  # standard errors by which the share of a term within a cluster exceeds that outside
PRIOR = 5.0  # entities of average terms that are added to each cluster, so that few entities do not make a rare term
SOME, MOST = 0.05, 0.5  # least share of the entities of a cluster that have a word or a category which names it
HIGH = 0.5  # standard deviations above the mean from which a number is high; low numbers are as far below
MAX_LENGTH = 30  # characters of a term

AFFIRMED, NEGATED = {"true", "yes", "y", "t", "1"}, {"false", "no", "n", "f", "0"}
LIGHT_WORDS = (
    "use used uses using having does did doing done just like really know think want say says said writes wrote thanks "
    "make makes made making get gets getting got way thing things don didn doesn isn wasn aren couldn wouldn shouldn "
    "hasn haven hadn weren ain ll ve re im"
)
STOP_WORDS = ENGLISH_STOP_WORDS.union(LIGHT_WORDS.split())
NUMBERED_WORDS = (
    "img|image|pixel|px|pc|dim|dimension|emb|embedding|feature|feat|f|x|v|var|variable|col|column|component|comp|latent|"
    "factor|lsa|svd|pca|umap|tsne|topic|unnamed|vector|vec|value"
)
ANONYMOUS = re.compile(  # pixel_17, PC1, column 12; title[3]; 1945; addresses and identifiers such as bird.n.01
    rf"(?:.*[\W_])?(?:{NUMBERED_WORDS})[\W_]*\d+|.*\[\d+\]|[\W\d_]*|.*(?:://|@|[.:/]\d|\d[.:/]).*", re.IGNORECASE
)
NUMBERED = re.compile(r"(.*?)(\d+)")
MIN_BLOCK = 3  # consecutively numbered features that are anonymous
WORD_PATTERN = r"(?u)\b[^\W\d_][\w-]*\w\b"


class EntityTerms(NamedTuple):
    """Which entity has which term."""

    has: sp.csr_array  # (n_entities, n_terms), 1 where an entity has a term
    names: np.ndarray
    min_share: float  # of the entities of a cluster that must have a term which names it


def name_clusters(labels: Any, views: Views, texts: Mapping[str, Sequence[str | None]] | None = None) -> list[str]:
    """Name each cluster by two to four terms that many of its entities have and few others.

    Terms are words and other features of sparse views, categories, and columns of numbers that are high or low in the
    cluster. They are ranked by class-based tf-idf: the share p of the cluster's entities that have the term, times
    log(p / share of all entities). Singular and plural count as one term. Stop words and features without a meaning
    for readers, such as pixel_17 or PC1, are left out.

    Parameters
    ----------
    labels : array-like of int, shape (n_entities,)
        Clusters, numbered from 0; -1 for none.
    views : Views
        The data, with the names of features.
    texts : mapping of str to sequence of str or None, optional
        The string of each entity. Their words are used for views of the same name whose features have no meaning for
        readers, and for names that are no view: texts that are encoded as vectors or by their letters.

    Returns
    -------
    list of str
        A different name for each cluster. A cluster that no term marks is called "cluster 3". The label -1 is called
        `NO_CLUSTER`, so that ``np.append(names, NO_CLUSTER)[labels]`` has the name for each entity.

    Examples
    --------
    >>> import consilience as cs
    >>> shop = {
    ...     "title": ["steel knife", "bread knives", "sharp steel knife", "red apple", "sweet red apples", "apple"],
    ...     "price": [20, 30, 25, 1, 2, 1],
    ... }
    >>> views = cs.Views.from_frame(shop, text="title", numbers="price")
    >>> cs.explain.name_clusters([0, 0, 0, 1, 1, 1], views)
    ['high price, knife, steel', 'apple, low price, red']
    """
    labels = np.asarray(labels)
    if labels.shape != (len(views),):
        raise ValueError(f"labels must have one cluster per entity, shape ({len(views)},), got {labels.shape}")
    scores: list[dict[str, float]] = [{} for _ in range(int(labels.max(initial=-1)) + 1)]
    for terms in _collect_terms(views, texts or {}):
        for cluster, ranked in enumerate(_score_terms(_merge_plurals(terms), labels, len(scores))):
            for term, score in ranked:
                scores[cluster][term] = max(score, scores[cluster].get(term, 0.0))
    return _join_terms([_rank_terms(by_term) for by_term in scores])


def _collect_terms(views: Views, texts: Mapping[str, Sequence[str | None]]) -> Iterator[EntityTerms]:
    """Yield the terms of each view with readable features, and the words of the other texts."""
    readable = {name: _find_readable(views.feature_names(name)) for name in views.names}
    for name, columns in readable.items():
        if len(columns):
            values = to_host(read_whole(name, views[name], available_memory()))
            list_terms = _list_stored if sp.issparse(values) else _list_marked
            yield list_terms(values[:, columns], np.asarray(views.feature_names(name))[columns])
    for name, strings in texts.items():
        if not len(readable.get(name, ())):
            counter = CountVectorizer(binary=True, stop_words=list(STOP_WORDS), token_pattern=WORD_PATTERN)
            try:
                counts = counter.fit_transform(["" if text is None else text for text in strings])
            except ValueError:  # there are no words, as in phone numbers
                continue
            yield EntityTerms(sp.csr_array(counts, dtype=np.float64), counter.get_feature_names_out(), SOME)


def _find_readable(features: np.ndarray | None) -> np.ndarray:
    """Return the positions of features that a reader understands; none of a view of pieces of words."""
    names = [] if features is None else features.tolist()
    if any(name != name.strip() for name in names):  # three letters in a row, some of them at the end of a word
        names = []
    numbers: dict[str, set[int]] = {}
    for match in filter(None, map(NUMBERED.fullmatch, names)):
        numbers.setdefault(match[1], set()).add(int(match[2]))
    blocks = {
        prefix for prefix, n in numbers.items() if len(n) >= MIN_BLOCK and max(n) - min(n) == len(n) - 1
    }  # img_0 to img_511
    positions = [
        i
        for i, name in enumerate(names)
        if len(name) > 1
        and name.lower() not in STOP_WORDS
        and not ANONYMOUS.fullmatch(name)
        and not ((numbered := NUMBERED.fullmatch(name)) and numbered[1] in blocks)
    ]
    return np.array(positions, dtype=np.intp)


def _list_stored(values: Any, features: np.ndarray) -> EntityTerms:
    """List the positive values of a sparse view as terms."""
    X = sp.csr_array(values)
    has = sp.csr_array(((X.data > 0).astype(np.float64), X.indices, X.indptr), shape=X.shape)
    return EntityTerms(has, _describe_features(features), SOME)


def _list_marked(values: np.ndarray, features: np.ndarray) -> EntityTerms:
    """List the categories, counts above 0, and high and low numbers of a dense view as terms."""
    numbers = np.asarray(values, dtype=np.float64)
    is_present = ~np.isnan(numbers)
    n_present = np.maximum(is_present.sum(axis=0), 1)
    low = np.fmin.reduce(numbers, axis=0, initial=np.inf)
    high = np.fmax.reduce(numbers, axis=0, initial=-np.inf)
    mean = np.where(is_present, numbers, 0.0).sum(axis=0) / n_present
    deviation = np.sqrt(np.where(is_present, (numbers - mean) ** 2, 0.0).sum(axis=0) / n_present)
    is_category = np.char.find(features.astype(str), "=") > 0
    has_two = ((numbers == low) | (numbers == high) | ~is_present).all(axis=0) & (low < high)
    is_count = ~has_two & (low == 0) & (2 * (numbers == 0).sum(axis=0) >= n_present)
    is_number = ~has_two & ~is_count
    names = _describe_features(features)
    blocks = [  # the word before the name of a column, the columns, and the cells that have the term
        ("", has_two, numbers == high),
        ("not ", has_two & ~is_category, numbers == low),
        ("", is_count, numbers > 0),
        ("high ", is_number, numbers > mean + HIGH * deviation),
        ("low ", is_number, numbers < mean - HIGH * deviation),
    ]
    has = sp.hstack([sp.csr_array(cells[:, columns], dtype=np.float64) for _, columns, cells in blocks], format="csr")
    terms = [f"{word}{name}" for word, columns, _ in blocks for name in names[columns]]
    return EntityTerms(sp.csr_array(has), np.array(terms, dtype=object), MOST)


def _describe_features(features: np.ndarray) -> np.ndarray:
    """Return features as a reader would say them: the category of color=red, and blanks in place of underscores."""
    pairs = [str(feature).partition("=") for feature in features]
    times = Counter(value.lower() for _, _, value in pairs)
    others = {column for column, mark, value in pairs if mark and value.lower() not in AFFIRMED | NEGATED}  # f and m
    described = []
    for column, mark, value in pairs:
        if not mark:
            name = column
        elif column not in others:
            name = f"not {column}" if value.lower() in NEGATED else column
        else:  # a number, or a category of several columns, needs the name of its column
            is_clear = times[value.lower()] == 1 and not value.replace(".", "").isdigit()
            name = value if is_clear else f"{column} {value}"
        name = " ".join(name.replace("_", " ").split())
        described.append(name if len(name) <= MAX_LENGTH else f"{name[:MAX_LENGTH].rstrip()}…")
    return np.array(described, dtype=object)


def _merge_plurals(terms: EntityTerms) -> EntityTerms:
    """Join terms that differ by a plural ending only, under the name that is more frequent."""
    _, group = np.unique([_stem(name) for name in terms.names], return_inverse=True)
    n_groups = int(group.max(initial=-1)) + 1
    n_entities = np.asarray(terms.has.sum(axis=0)).ravel()
    names = np.empty(n_groups, dtype=object)
    order = np.argsort(n_entities, kind="stable")
    names[group[order]] = terms.names[order]  # the last one is assigned last
    pick = sp.csr_array((np.ones(len(group)), (np.arange(len(group)), group)), shape=(len(group), n_groups))
    has = sp.csr_array(terms.has @ pick)
    has.data = (has.data > 0).astype(np.float64)
    return EntityTerms(has, names, terms.min_share)


def _stem(term: str) -> str:
    """Return a term in lower case without the ending of a plural: knives and knife become knif."""
    stem = term.lower()
    if stem.endswith("ies") and len(stem) > 4:
        return f"{stem[:-3]}y"
    if stem.endswith("s") and not stem.endswith(("ss", "us", "is")) and len(stem) > 3:
        stem = stem[:-1]
    stem = stem.removesuffix("e")
    return f"{stem[:-1]}f" if stem.endswith("v") else stem


def _score_terms(terms: EntityTerms, labels: np.ndarray, n_clusters: int) -> Iterator[list[tuple[str, float]]]:
    """Yield the terms of each cluster with the highest scores."""
    rows = np.flatnonzero(labels >= 0)
    member = sp.csr_array((np.ones(len(rows)), (labels[rows], rows)), shape=(n_clusters, len(labels)))
    sizes = np.bincount(labels[rows], minlength=n_clusters)
    counts = sp.csr_array(member @ terms.has)
    totals = np.asarray(counts.sum(axis=0)).ravel()
    for cluster, size in enumerate(sizes.tolist()):
        span = slice(counts.indptr[cluster], counts.indptr[cluster + 1])
        columns, count = counts.indices[span], counts.data[span]
        inside, outside = count / max(size, 1), (totals[columns] - count) / max(len(rows) - size, 1)
        error = np.sqrt(inside * (1 - inside) / max(size, 1) + outside * (1 - outside) / max(len(rows) - size, 1))
        is_marked = (inside - outside > MIN_ERRORS * error) & (inside > terms.min_share) & (count >= min(2, size))
        share = totals[columns] / max(len(rows), 1)
        smoothed = (count + PRIOR * share) / (size + PRIOR)
        scores = np.where(is_marked & (count > 0), smoothed * np.log(smoothed / np.where(count > 0, share, 1.0)), 0.0)
        best = np.lexsort((columns, -scores))[:N_CANDIDATES]
        yield [(str(terms.names[columns[i]]), float(scores[i])) for i in best if scores[i] > 0]


def _rank_terms(scores: Mapping[str, float]) -> list[tuple[str, float]]:
    """Order the terms of a cluster by their scores, without those whose words earlier terms have already."""
    ranked: list[tuple[str, float]] = []
    stems: set[str] = set()
    for term, score in sorted(scores.items(), key=lambda pair: (-pair[1], pair[0])):
        words = {_stem(word) for word in term.split()}
        if not words <= stems:
            ranked.append((term, score))
            stems |= words
    return ranked


def _join_terms(ranked: Sequence[Sequence[tuple[str, float]]]) -> list[str]:
    """Join the first terms of each cluster, and further ones where two clusters have the same."""
    n_terms = []
    for terms in ranked:
        third = terms[MIN_TERMS][1] if len(terms) > MIN_TERMS else 0.0
        n_terms.append(USUAL_TERMS if third and third >= THIRD_TERM * terms[0][1] else MIN_TERMS)
    for n_least in (*range(MIN_TERMS + 1, MAX_TERMS + 1), 0):
        chosen = [[term for term, _ in terms[:n]] for terms, n in zip(ranked, n_terms, strict=True)]
        keys = [", ".join(sorted(terms)) for terms in chosen]  # two orders of the same terms would be confused
        times = Counter(keys)
        is_shared = [times[key] > 1 for key in keys]
        n_terms = [max(n, n_least) if shared else n for n, shared in zip(n_terms, is_shared, strict=True)]
    names = []
    for cluster, (parts, shared) in enumerate(zip(chosen, is_shared, strict=True)):
        name = ", ".join(parts)
        number = f"cluster {cluster} ({name})" if name else f"cluster {cluster}"
        names.append(number if shared or not name else name)
    return names
