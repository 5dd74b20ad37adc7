"""Short names of clusters, made of the terms that mark them."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from typing import Any

from ..data import Views
from .terms import ClusterTerms, Term, count_terms, stem

NO_CLUSTER = "no cluster"  # name for the label -1
MIN_TERMS, USUAL_TERMS, MAX_TERMS = 2, 3, 4  # per name; more than the usual ones only to tell two clusters apart
GOOD = 0.4  # score relative to the first term from which a term is part of the name as the third, or beside numbers
KEPT = 0.5  # score relative to the new terms from which the terms of a previous name are kept
MAX_USUAL_LENGTH = 50  # characters of a name up to which it gets a third term
NUMBER = re.compile(r" \(\d+\)$")  # at the end of a name that no term tells apart from another


def name_clusters(
    labels: Any,
    views: Views,
    texts: Mapping[str, Sequence[str | None]] | None = None,
    *,
    times: Mapping[str, Collection[str]] | None = None,
    previous: Sequence[str | None] | None = None,
) -> list[str]:
    """Name each cluster by two to four terms that many of its entities have and few others.

    Terms are words and phrases of texts, features of sparse views, categories, and columns of numbers that are high or
    low in the cluster. They are ranked by class-based tf-idf: the share p of the cluster's entities that have the term,
    times log(p / share of all entities). A phrase such as "machine learning" replaces its words if it scores about as
    well. Singular and plural count as one term. Stop words, words that most texts have, and features without a meaning
    for readers, such as pixel_17 or PC1, are left out. Of more than 30,000 entities, a sample of each cluster is
    counted.

    Parameters
    ----------
    labels : array-like of int, shape (n_entities,)
        Clusters, numbered from 0; -1 for none.
    views : Views
        The data, with the names of features.
    texts : mapping of str to sequence of str or None, optional
        The string of each entity. Their words replace the features of the sparse view of the same name.
    times : mapping of str to collection of str, optional
        The columns of each view that hold dates or times of day, which are early or late instead of low or high.
    previous : sequence of str or None, optional
        Earlier names of the clusters, by number. A cluster keeps its name as long as all terms of the name mark the
        cluster, and at least half as well as the terms that it would get now.

    Returns
    -------
    list of str
        A different name for each cluster. A cluster that no term marks is called "cluster 3"; clusters that no term
        tells apart have their number after the name, as in "faith, god (3)". The label -1 is called `NO_CLUSTER`, so
        that ``np.append(names, NO_CLUSTER)[labels]`` has the name for each entity.

    Examples
    --------
    >>> import consilience as cs
    >>> shop = {
    ...     "title": ["steel knife", "bread knives", "sharp steel knife", "red apple", "sweet red apples", "apple"],
    ...     "price": [20, 30, 25, 1, 2, 1],
    ... }
    >>> views = cs.Views.from_frame(shop, text="title", numbers="price")
    >>> cs.explain.name_clusters([0, 0, 0, 1, 1, 1], views)
    ['knife, steel, high price', 'apple, red, low price']
    """
    terms = count_terms(labels, views, texts, times)
    return choose_names(terms, previous)


def choose_names(terms: ClusterTerms, previous: Sequence[str | None] | None = None) -> list[str]:
    """Name clusters by their counted terms; see `name_clusters`."""
    ranked = [terms.rank(cluster) for cluster in range(len(terms.sizes))]
    names, is_shared = join_terms(ranked, keep_names(ranked, previous or ()))
    for cluster, name in enumerate(names):
        if is_shared[cluster]:
            names[cluster] = f"{name} ({cluster})"
    return [name or f"cluster {cluster}" for cluster, name in enumerate(names)]


def keep_names(ranked: Sequence[Sequence[Term]], previous: Sequence[str | None]) -> list[str | None]:
    """Return the previous names whose terms mark the clusters still, None for other clusters."""
    kept: list[str | None] = [None] * len(ranked)
    keys: set[str] = set()
    for cluster, (terms, name) in enumerate(zip(ranked, previous, strict=False)):
        parts = NUMBER.sub("", name or "").split(", ")
        scores = {term.stem: term.score for term in terms}
        part_scores = [scores.get(stem(part), 0.0) for part in parts]
        best = sum(term.score for term in _choose_terms(terms, len(parts)))
        key = _make_key(parts)
        if all(part_scores) and sum(part_scores) >= KEPT * best and key not in keys:
            kept[cluster] = ", ".join(parts)
            keys.add(key)
    return kept


def join_terms(ranked: Sequence[Sequence[Term]], kept: Sequence[str | None]) -> tuple[list[str], list[bool]]:
    """Join the first terms of each cluster, and further ones where two clusters have the same.

    Names in `kept` stay as they are; a cluster without terms has an empty name. Returns the names, and which clusters
    no term tells apart from another.
    """
    n_terms = [USUAL_TERMS if _has_third(terms) else MIN_TERMS for terms in ranked]
    for n_least in (*range(MIN_TERMS + 1, MAX_TERMS + 1), 0):
        chosen = [
            [term.name for term in _choose_terms(terms, n)] if name is None else name.split(", ")
            for terms, n, name in zip(ranked, n_terms, kept, strict=True)
        ]
        times = Counter(map(_make_key, chosen))
        is_shared = [
            bool(parts) and name is None and times[_make_key(parts)] > 1
            for parts, name in zip(chosen, kept, strict=True)
        ]
        n_terms = [max(n, n_least) if shared else n for n, shared in zip(n_terms, is_shared, strict=True)]
    return [", ".join(parts) for parts in chosen], is_shared


def _make_key(parts: Sequence[str]) -> str:
    """Return what is equal for names that a reader would confuse: other orders, plurals and capitals of the terms."""
    return ", ".join(sorted(stem(part) for part in ", ".join(parts).split(", ")))  # a term may contain a comma


def _has_third(terms: Sequence[Term]) -> bool:
    """Whether a name gets a third term: it marks the cluster well, and the name stays short."""
    chosen = _choose_terms(terms, USUAL_TERMS)
    is_good = len(chosen) == USUAL_TERMS and min(term.score for term in chosen) >= GOOD * terms[0].score
    return is_good and len(", ".join(term.name for term in chosen)) <= MAX_USUAL_LENGTH


def _choose_terms(terms: Sequence[Term], n: int) -> list[Term]:
    """Return the n best terms, words and categories before numbers; not only numbers if there is another good term."""
    chosen = list(terms[:n])
    if len(chosen) > 1 and all(term.is_level for term in chosen):
        others = [term for term in terms[n:] if not term.is_level and term.score >= GOOD * terms[0].score]
        chosen[-1:] = others[:1] or chosen[-1:]
    return sorted(chosen, key=lambda term: term.is_level)
