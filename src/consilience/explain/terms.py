"""Terms that mark clusters: words and phrases, categories, and columns of numbers that are high or low."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from .._tuning import Tuning
from ..arrays import available_memory, to_host
from ..data import Views
from ..files.encoders import OTHERS
from ..rows import read_whole
from .words import ANONYMOUS, HAN_START, STOP_WORDS, find_words

tuning = Tuning(max_entities=30_000)  # whose terms are counted, about as many of each cluster
N_CANDIDATES = 20  # terms per view and cluster that are considered
MIN_ERRORS = 2.0  # standard errors by which the share of a term within a cluster exceeds that outside
PRIOR = 5.0  # entities of average terms that are added to each cluster, so that few entities do not make a rare term
SOME, MOST = 0.02, 0.5  # least share of the entities of a cluster that have a word or a category which names it
MIN_RATIO = 1.5  # of the shares of a word inside and outside; function words of any language have less
HIGH = 0.5  # standard deviations above the mean from which a number is high; low numbers are as far below
LEVELS = ("high ", "low ", "late ", "early ")  # words before the name of a column of numbers, dates or times
WEAKER, STRONGER = 0.75, 0.5  # scores relative to its words from which a phrase replaces them
MAX_LENGTH = 30  # characters of a term

UNCLEAR = re.compile(  # categories that say nothing without their column
    r"[\d.]+|[A-Za-z]|[IVX]+|(?:very )?(?:high|low|medium|middle|small|large|big|good|bad|poor|new|old|other|others"
    r"|none|unknown|missing|left|right|open|closed|active|inactive|positive|negative|normal)",
    re.IGNORECASE,
)
AFFIRMED, NEGATED = {"true", "yes", "y", "t", "1"}, {"false", "no", "n", "f", "0"}
NUMBERED = re.compile(r"(.*?)(\d+)")
MIN_BLOCK = 3  # consecutively numbered features that are anonymous


class EntityTerms(NamedTuple):
    """Which entity has which term."""

    has: sp.csr_array  # (n_entities, n_terms), 1 where an entity has a term
    names: np.ndarray
    min_share: float  # of the entities of a cluster that must have a term which names it
    is_level: np.ndarray  # whether a term is a high or low number
    is_text: bool = False  # whether terms are words and phrases of texts
    is_function: bool = False  # whether terms are function words, for clusters that nothing else marks


class TermCounts(NamedTuple):
    """How many entities of each cluster have a term."""

    counts: sp.csr_array  # (n_clusters, n_terms)
    totals: np.ndarray  # of all clusters
    terms: EntityTerms  # without the entities


@dataclass(frozen=True)
class Term:
    """A term that marks a cluster."""

    name: str  #: as in the name of a cluster
    score: float  #: class-based tf-idf
    inside: float  #: share of the cluster's entities that have the term
    outside: float  #: share of the entities of other clusters
    is_level: bool = False  #: whether it is a column of high or low numbers, or of late or early times
    parts: tuple[str, ...] = ()  #: stems of the terms that a phrase consists of

    @property
    def stem(self) -> str:
        """The term in lower case and without the ending of a plural."""
        return stem(self.name)


@dataclass(frozen=True, eq=False)
class ClusterTerms:
    """Terms of the entities, counted per cluster."""

    sources: tuple[TermCounts, ...]  # one per view or text
    sizes: np.ndarray  # entities of each cluster
    n_counted: np.ndarray  # entities of each cluster whose terms are counted

    def merge(self, groups: np.ndarray) -> ClusterTerms:
        """Return the terms of groups of clusters; `groups` has the group of each cluster, -1 for none."""
        n_groups = int(groups.max(initial=-1)) + 1
        clusters = np.flatnonzero(groups >= 0)
        cells = (np.ones(len(clusters)), (groups[clusters], clusters))
        member = sp.csr_array(cells, shape=(n_groups, len(self.sizes)))
        sources = tuple(source._replace(counts=sp.csr_array(member @ source.counts)) for source in self.sources)
        return ClusterTerms(sources, member @ self.sizes, member @ self.n_counted)

    def rank(self, cluster: int) -> list[Term]:
        """Return the terms that mark a cluster, the best first; phrases where they mark it better.

        Function words are returned only if no other term marks the cluster.
        """
        return self._rank(cluster, False) or self._rank(cluster, True)

    def _rank(self, cluster: int, is_function: bool) -> list[Term]:
        """Return the function words, or the other terms, that mark a cluster, the best first."""
        best: dict[str, Term] = {}
        for source in self.sources:
            if source.terms.is_function == is_function:
                for term in self._score(source, cluster):
                    if term.stem not in best or term.score > best[term.stem].score:
                        best[term.stem] = term
        return _drop_repeated(_replace_parts(best))

    def _score(self, source: TermCounts, cluster: int) -> Iterator[Term]:
        """Yield the terms of a view with the highest scores, which mark the cluster beyond chance."""
        counts, totals, terms = source
        size, n_others = self.sizes[cluster], self.sizes.sum() - self.sizes[cluster]
        n_inside, n_outside = self.n_counted[cluster], self.n_counted.sum() - self.n_counted[cluster]
        if not n_inside or not n_outside:
            return
        span = slice(counts.indptr[cluster], counts.indptr[cluster + 1])
        columns, count = counts.indices[span], counts.data[span]
        inside, outside = np.clip([count / size, (totals[columns] - count) / n_others], 0.0, 1.0)  # but for rounding
        error = np.sqrt(inside * (1 - inside) / n_inside + outside * (1 - outside) / n_outside)
        is_marked = (inside - outside > MIN_ERRORS * error) & (inside > terms.min_share)
        is_marked &= count * n_inside / size >= min(2, n_inside) - 0.5
        if terms.min_share < MOST:  # words
            is_marked &= (inside > MIN_RATIO * outside) & (outside <= MOST)
        share = totals[columns] / self.sizes.sum()
        smoothed = (count + PRIOR * share) / (size + PRIOR)
        scores = np.where(is_marked, smoothed * np.log(smoothed / np.where(is_marked, share, 1.0)), 0.0)
        for i in np.lexsort((columns, -scores))[:N_CANDIDATES]:
            if scores[i] > 0:
                name = str(terms.names[columns[i]])
                parts = _list_parts(name) if terms.is_text else ()
                shares = float(inside[i]), float(outside[i])
                yield Term(name, float(scores[i]), *shares, bool(terms.is_level[columns[i]]), parts)


def count_terms(
    labels: Any,
    views: Views,
    texts: Mapping[str, Sequence[str | None]] | None = None,
    times: Mapping[str, Collection[str]] | None = None,
) -> ClusterTerms:
    """Count the terms of views and texts per cluster; those of a sample, if there are many entities.

    `times` has the columns of each view that hold dates or times of day.
    """
    labels = np.asarray(labels)
    if labels.shape != (len(views),):
        raise ValueError(f"labels must have one cluster per entity, shape ({len(views)},), got {labels.shape}")
    n_clusters = int(labels.max(initial=-1)) + 1
    rows = _choose_entities(labels, n_clusters)
    sizes = np.bincount(labels[labels >= 0], minlength=n_clusters)
    n_counted = np.bincount(labels[rows], minlength=n_clusters)
    weights = (sizes / np.maximum(n_counted, 1))[labels[rows]]  # entities that each one stands for
    member = sp.csr_array((weights, (labels[rows], np.arange(len(rows)))), shape=(n_clusters, len(rows)))
    sources = []
    for terms in _collect_terms(views, texts or {}, times or {}, rows, weights):
        merged = _merge_plurals(terms)
        counts = sp.csr_array(member @ merged.has)
        totals = np.asarray(counts.sum(axis=0)).ravel()
        sources.append(TermCounts(counts, totals, merged._replace(has=sp.csr_array((0, 0)))))
    return ClusterTerms(tuple(sources), sizes, n_counted)


def _choose_entities(labels: np.ndarray, n_clusters: int) -> np.ndarray:
    """Return the positions of the entities in clusters, or of as many of each cluster as are counted."""
    rows = np.flatnonzero(labels >= 0)
    if len(rows) <= tuning.max_entities:
        return rows
    shuffled = np.random.default_rng(0).permutation(len(labels))  # the same entities as long as clusters hardly change
    shuffled = shuffled[labels[shuffled] >= 0]
    by_cluster = shuffled[np.argsort(labels[shuffled], kind="stable")]
    sizes = np.bincount(labels[rows], minlength=n_clusters)
    rank = np.arange(len(rows)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    return np.sort(by_cluster[rank < max(1, tuning.max_entities // int(np.count_nonzero(sizes)))])


def _collect_terms(
    views: Views,
    texts: Mapping[str, Sequence[str | None]],
    times: Mapping[str, Collection[str]],
    rows: np.ndarray,
    weights: np.ndarray,
) -> Iterator[EntityTerms]:
    """Yield the words of texts, and the terms of views with readable features, unless these are the words of texts."""
    seen: set[int] = set()
    for strings in texts.values():
        if id(strings) not in seen:  # views may share their texts
            seen.add(id(strings))
            has, names, is_function = find_words([strings[row] for row in rows.tolist()])
            for kind in np.unique(is_function).tolist():
                chosen = np.flatnonzero(is_function == kind)
                is_level = np.zeros(len(chosen), dtype=bool)
                yield EntityTerms(sp.csr_array(has[:, chosen]), names[chosen], SOME, is_level, True, kind)
    for name in views.names:
        columns = _find_readable(views.feature_names(name))
        if len(columns) and not (name in texts and sp.issparse(views[name])):
            chosen = views[[name]] if len(rows) == len(views) else views[[name]][rows]
            values = to_host(read_whole(name, chosen[name], available_memory()))[:, columns]
            features = np.asarray(views.feature_names(name))[columns]
            if sp.issparse(values):
                yield _list_stored(values, features)
            else:
                is_time = np.isin(features.astype(str), list(times.get(name, ())))
                yield _list_marked(values, features, is_time, weights)


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
    return EntityTerms(has, _describe_features(features), SOME, np.zeros(len(features), dtype=bool))


def _list_marked(values: np.ndarray, features: np.ndarray, is_time: np.ndarray, weights: np.ndarray) -> EntityTerms:
    """List the categories, counts above 0, high and low numbers, and late and early times of a dense view as terms."""
    numbers = np.asarray(values, dtype=np.float64)
    is_present = ~np.isnan(numbers)
    n_present = np.maximum(weights @ is_present, 1e-300)
    low = np.fmin.reduce(numbers, axis=0, initial=np.inf)
    high = np.fmax.reduce(numbers, axis=0, initial=-np.inf)
    mean = weights @ np.where(is_present, numbers, 0.0) / n_present
    deviation = np.sqrt(weights @ np.where(is_present, (numbers - mean) ** 2, 0.0) / n_present)
    is_category = np.array([str(feature).find("=") > 0 for feature in features], dtype=bool)
    is_rest = np.array([str(feature).endswith(f"={OTHERS}") for feature in features], dtype=bool)  # says nothing
    has_two = ((numbers == low) | (numbers == high) | ~is_present).all(axis=0) & (low < high) & ~is_time
    is_count = ~has_two & (low == 0) & (2 * (weights @ (numbers == 0)) >= n_present) & ~is_time
    is_number = ~has_two & ~is_count & ~is_time
    is_high, is_low = numbers > mean + HIGH * deviation, numbers < mean - HIGH * deviation
    names = _describe_features(features)
    blocks = [  # the word before the name of a column, the columns, and the cells that have the term
        ("", has_two & ~is_rest, numbers == high),
        ("not ", has_two & ~is_category, numbers == low),
        ("", is_count, numbers > 0),
        ("high ", is_number, is_high),
        ("low ", is_number, is_low),
        ("late ", is_time, is_high),
        ("early ", is_time, is_low),
    ]
    has = sp.hstack([sp.csr_array(cells[:, columns], dtype=np.float64) for _, columns, cells in blocks], format="csr")
    terms = [f"{word}{name}" for word, columns, _ in blocks for name in names[columns]]
    is_level = np.concatenate([np.full(columns.sum(), word in LEVELS) for word, columns, _ in blocks])
    return EntityTerms(sp.csr_array(has), np.array(terms, dtype=object), MOST, is_level)


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
        else:  # a number, a category of several columns, or one such as high or II needs the name of its column
            is_clear = times[value.lower()] == 1 and not UNCLEAR.fullmatch(value)
            name = value if is_clear else f"{column} {value}"
        name = " ".join(name.replace("_", " ").split())
        described.append(name if len(name) <= MAX_LENGTH else f"{name[:MAX_LENGTH].rstrip()}…")
    return np.array(described, dtype=object)


def _merge_plurals(terms: EntityTerms) -> EntityTerms:
    """Join terms that differ by a plural ending only, under the name that is more frequent."""
    stems = [stem(name) for name in terms.names.tolist()]
    numbers = {name: number for number, name in enumerate(dict.fromkeys(stems))}
    group = np.array([numbers[name] for name in stems], dtype=np.intp)
    n_groups = len(numbers)
    n_entities = np.asarray(terms.has.sum(axis=0)).ravel()
    names = np.empty(n_groups, dtype=object)
    order = np.argsort(n_entities, kind="stable")
    names[group[order]] = terms.names[order]  # the last one is assigned last
    pick = sp.csr_array((np.ones(len(group)), (np.arange(len(group)), group)), shape=(len(group), n_groups))
    has = sp.csr_array(terms.has @ pick)
    has.data = (has.data > 0).astype(np.float64)
    is_level = np.zeros(n_groups, dtype=bool)
    is_level[group] = terms.is_level
    return terms._replace(has=has, names=names, is_level=is_level)


def stem(term: str) -> str:
    """Return a term in lower case without the ending of a plural: knives and knife become knif."""
    base = term.lower()
    if base.endswith("ies") and len(base) > 4:
        return f"{base[:-3]}y"
    if base.endswith("s") and not base.endswith(("ss", "us", "is")) and len(base) > 3:
        base = base[:-1]
    base = base.removesuffix("e")
    return f"{base[:-1]}f" if base.endswith("v") else base


def _list_parts(name: str) -> tuple[str, ...]:
    """List the stems of the terms that a phrase, or a term of several Han characters, consists of."""
    if HAN_START.match(name):
        return tuple(name[i : i + n] for n in range(1, len(name)) for i in range(len(name) - n + 1))
    words = name.split()
    return tuple(stem(word) for word in words) if len(words) > 1 else ()


def _replace_parts(best: Mapping[str, Term]) -> list[Term]:
    """Replace words by the phrases that consist of them if these mark the cluster better, and drop other phrases.

    If all words of a phrase mark the cluster, the phrase must score about as well; otherwise better than its words. It
    takes the place of its best word in the order. Phrases may share their first word, or their last, as in "Old World"
    and "New World"; "York Times" is dropped beside "New York".
    """
    replaced: dict[str, int] = {}  # positions of the words that phrases replace
    kept = []
    for term in sorted(best.values(), key=lambda term: (-len(term.parts), -term.score, term.name)):
        words = [part for part in term.parts if part not in replaced]
        scores = [best[word].score if word in best else 0.0 for word in words] or [0.0]
        is_better = term.score > max(scores)
        if min(scores) > 0:
            is_better = term.score >= WEAKER * min(scores) and term.score >= STRONGER * max(scores)
        positions = {part: position for position, part in enumerate(term.parts)}
        is_free = [
            part not in replaced or (" " in term.name and replaced[part] == at) for part, at in positions.items()
        ]
        if is_better and term.stem not in replaced and all(is_free):
            replaced |= positions
            kept.append(replace(term, score=max(term.score, *scores)))
    return sorted(kept, key=lambda term: (-term.score, term.name))


def _drop_repeated(terms: Sequence[Term]) -> list[Term]:
    """Drop terms whose words earlier terms have already."""
    kept: list[Term] = []
    stems: set[str] = set()
    for term in terms:
        words = {stem(word) for word in term.name.split()}
        if not words <= stems:
            kept.append(term)
            stems |= words
    return kept
