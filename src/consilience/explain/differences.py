"""What marks each cluster, in the units of the user's columns."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol

import numpy as np
import scipy.sparse as sp
from scipy.special import bdtr, bdtrc, log_ndtr
from scipy.stats import rankdata

from ..files.dates import format_days
from .columns import ColumnKind, OriginalColumn
from .comparisons import encode_categories
from .words import UNSPACED, find_words

MIN_ERRORS = 2.0  # standard errors by which a cluster differs, if there were a single comparison
MIN_SHARE = 0.02  # difference between the shares of a category or a term within and elsewhere
MIN_TEXTS = 3  # of all texts that have a term
REDUNDANT = 0.8  # share of the texts with a word that also have a phrase which contains it
UNLIKELY = 1 - 1e-6  # of two equal differences that with the larger share is listed first
QUARTILES = (0.25, 0.75)
SEPARATED_FROM = 10_000  # number from which thousands are separated, so that years are not
MANY_ZEROS = 0.5  # share of zeros from which the share of other numbers says more than quartiles


@dataclass(frozen=True)
class Difference:
    """What marks a cluster in a column, in the units of the column.

    Attributes
    ----------
    column : str
        Name of the column.
    kind : {'number', 'date', 'category', 'text'}
        What the cells of the column are.
    text : str
        The entities of the cluster: the range of the middle half of numbers and dates, such as '12–34 $'; the share of
        a category, such as 'red 81%'; or that of the texts with a word, such as '34%'. Of numbers that mostly are 0 the
        share of the others is written, and means if the ranges are equal.
    elsewhere : str
        The other entities, written in the same way.
    sentence : str
        All of this, such as 'price 12–34 $, elsewhere 3–9 $'.
    strength : float
        How different the cluster is, from 0 to 1: of numbers and dates Cliff's delta, the probability that an entity of
        the cluster has a larger number than another entity minus the probability of a smaller one, or the same of the
        distances from the median; of shares the difference of their arcsines, relative to that of 0% and 100%.

    Examples
    --------
    >>> import numpy as np
    >>> import consilience as cs
    >>> price = cs.explain.OriginalColumn("price", np.arange(40.0), "number", unit="$")
    >>> difference = cs.explain.find_differences(np.repeat([0, 1], 20), [price])[0][0]
    >>> difference.text, difference.elsewhere, difference.strength
    ('5–14 $', '25–34 $', 1.0)
    """

    column: str
    kind: ColumnKind
    text: str
    elsewhere: str
    sentence: str
    strength: float


def find_differences(labels: Any, columns: Sequence[OriginalColumn], n_top: int = 8) -> list[list[Difference]]:
    """Find in which columns each cluster differs most from all other entities, in the units of the columns.

    A difference is listed if it is larger than two standard errors, corrected for the number of clusters and features
    that are compared (Bonferroni's method).

    Parameters
    ----------
    labels : array-like of int, shape (n_entities,)
        Clusters, numbered from 0; entities with -1 are left out.
    columns : sequence of OriginalColumn
        The columns.
    n_top : int, default=8
        Largest number of differences per cluster.

    Returns
    -------
    list of list of Difference
        For each cluster number, the strongest first. Of numbers and dates the middle halves are compared, of
        categories the shares, of texts the shares of those that have a word or a phrase.

    Examples
    --------
    >>> import numpy as np
    >>> import consilience as cs
    >>> price = cs.explain.OriginalColumn("price", np.arange(40.0), "number", unit="$")
    >>> color = cs.explain.OriginalColumn("color", np.repeat(["red", "blue"], 20).astype(object), "category")
    >>> for difference in cs.explain.find_differences(np.repeat([0, 1], 20), [price, color])[0]:
    ...     print(difference.sentence)
    price 5–14 $, elsewhere 25–34 $
    color red in 100%, elsewhere 0%
    """
    labels = np.asarray(labels)
    for column in columns:
        if np.shape(column.values) != labels.shape:
            raise ValueError(
                f"column {column.name!r} must have one cell per entity, shape {labels.shape}, got "
                f"{np.shape(column.values)}"
            )
    n_clusters = int(labels.max(initial=-1)) + 1
    effects = [MEASURES[column.kind](labels, column, n_clusters) for column in columns if column.event is None]
    n_comparisons = sum(n_clusters * effect.n_features for effect in effects)
    # two standard errors on both sides, divided by the number of comparisons
    limit = np.log(2) + log_ndtr(-MIN_ERRORS) - np.log(max(n_comparisons, 1))
    return [_list_differences(cluster, effects, float(limit), n_top) for cluster in range(n_clusters)]


class Candidates(NamedTuple):
    """The features of a column in which a cluster may differ from the others."""

    features: np.ndarray  # positions
    strength: np.ndarray  # 0 to 1
    log_chance: np.ndarray  # logarithm of the probability of a difference that large by chance, on both sides


class ColumnEffects(Protocol):
    """How much clusters differ in the features of a column: the column itself, its categories, or its terms."""

    n_features: int
    at_most: int  # differences per cluster

    def measure(self, cluster: int) -> Candidates:
        """Return the features in which a cluster may differ."""

    def describe(self, cluster: int, feature: int, listed: Sequence[int]) -> Difference | None:
        """Describe the difference in a feature; None if the features that are listed already say as much."""


def _list_differences(cluster: int, effects: Sequence[ColumnEffects], limit: float, n_top: int) -> list[Difference]:
    """List the strongest differences of a cluster that are not due to chance."""
    ranked: list[tuple[float, int, int]] = []
    for i, effect in enumerate(effects):
        features, strength, log_chance = effect.measure(cluster)
        is_sure = (log_chance < limit) & (strength > 0)
        features, strength = features[is_sure], strength[is_sure]
        best = np.lexsort((features, -strength))[: 3 * n_top]
        ranked += [(-float(strength[j]), i, int(features[j])) for j in best]
    differences: list[Difference] = []
    listed: list[list[int]] = [[] for _ in effects]
    for _, i, feature in sorted(ranked):
        if len(differences) == n_top:
            break
        if len(listed[i]) < effects[i].at_most:
            difference = effects[i].describe(cluster, feature, listed[i])
            differences += [] if difference is None else [difference]
            listed[i] += [] if difference is None else [feature]
    return differences


class NumberEffects:
    """How much clusters differ in a column of numbers or dates."""

    n_features, at_most = 2, 1  # whether numbers are larger or smaller, and whether they are nearer to the median

    def __init__(self, labels: np.ndarray, column: OriginalColumn, n_clusters: int) -> None:
        self.column = column
        values = column.values.astype(np.float64)
        rows = np.flatnonzero((labels >= 0) & np.isfinite(values))
        group, values = labels[rows], values[rows]
        order = np.argsort(values, kind="stable")
        self.sorted = values[order]
        self.sizes = np.bincount(group, minlength=n_clusters)
        self.ends = np.cumsum(self.sizes)
        self.positions = np.argsort(group[order], kind="stable")  # in `sorted`, of the entities of each cluster
        n = len(values)
        n_pairs = np.maximum(self.sizes * (n - self.sizes), 1)
        ranks = rankdata(values) - (n + 1) / 2
        scores = np.stack([ranks, rankdata(np.abs(ranks)) - (n + 1) / 2])
        sums = np.stack([np.bincount(group, score, minlength=n_clusters) for score in scores], axis=1)
        variances = (scores**2).sum(axis=1) / max(n - 1, 1)
        self.strength = np.abs(2 * sums / n_pairs[:, None])
        errors = np.sqrt(n_pairs[:, None] * np.where(variances > 0, variances, 1.0) / max(n, 1))
        self.log_chance = np.log(2) + log_ndtr(-np.abs(sums) / errors)
        self.is_whole = bool(np.array_equal(self.sorted, np.floor(self.sorted)))
        has_zeros = n > 0 and self.sorted[0] >= 0 and np.mean(self.sorted == 0) >= MANY_ZEROS
        self.has_zeros = bool(has_zeros and column.kind == "number")

    def measure(self, cluster: int) -> Candidates:
        """Return the strength of the differences by ranks (Cliff's delta), and their chances (Mann and Whitney)."""
        return Candidates(np.arange(2), self.strength[cluster], self.log_chance[cluster])

    def describe(self, cluster: int, feature: int, listed: Sequence[int]) -> Difference | None:  # noqa: ARG002
        """Compare the quartiles, or the shares above 0 of numbers that mostly are 0, or else the means."""
        column = self.column
        members = self.positions[self.ends[cluster] - self.sizes[cluster] : self.ends[cluster]]
        n, n_inside = len(self.sorted), len(members)
        first = members - np.arange(n_inside)  # number of other entities before each member
        inside = self._find_quartiles(n_inside, lambda ranks: members[ranks])
        elsewhere = self._find_quartiles(n - n_inside, lambda ranks: ranks + np.searchsorted(first, ranks, "right"))
        before, after = "", ""
        if self.has_zeros and inside[0] == 0:
            counts = np.count_nonzero(self.sorted[members]), np.count_nonzero(self.sorted)
            texts = [write_share(counts[0] / n_inside), write_share((counts[1] - counts[0]) / (n - n_inside))]
            before = "above 0 in "
        elif column.kind == "date":
            texts = [format_dates(low, high) for low, high in (inside, elsewhere)]
        else:
            texts = [format_range(low, high, column.unit, self.is_whole) for low, high in (inside, elsewhere)]
        if texts[0] == texts[1] and column.kind == "number" and not before:  # whole numbers in a small range
            sums = self.sorted[members].sum(), self.sorted.sum()
            means = sums[0] / n_inside, (sums[1] - sums[0]) / (n - n_inside)
            step = 10.0 ** np.floor(np.log10(max(abs(means[0] - means[1]), 1e-9)))
            texts = [add_unit(write_number(mean, step), column.unit) for mean in means]
            after = " on average"
        if texts[0] == texts[1] or (feature and (before or after)):
            return None
        text, other = (f"{before}{text}{after}" for text in texts)
        sentence = f"{clean_name(column.name)} {text}, elsewhere {texts[1]}"
        return Difference(column.name, column.kind, text, other, sentence, float(self.strength[cluster, feature]))

    def _find_quartiles(self, n: int, locate: Callable[[np.ndarray], np.ndarray]) -> list[float]:
        """Return the quartiles of n entities; `locate` returns the places of ranks among them in `sorted`."""
        quartiles = []
        for rank in ((n - 1) * share for share in QUARTILES):
            low = np.floor(rank)
            start, end = self.sorted[locate(np.array([low, np.ceil(rank)], dtype=np.intp))].tolist()
            quartiles.append(start + (end - start) * float(rank - low))
        return quartiles


class ShareEffects:
    """How much clusters differ in the shares of entities that have a category or a term."""

    def __init__(
        self, column: OriginalColumn, names: Sequence[str], counts: Any, sizes: np.ndarray, at_most: int
    ) -> None:
        self.column, self.names, self.sizes, self.at_most = column, names, sizes, at_most
        self.counts = counts  # sparse for texts
        self.totals = np.asarray(counts.sum(axis=0)).ravel()
        self.n_features = len(names)
        self.n = int(sizes.sum())

    def measure(self, cluster: int) -> Candidates:
        """Return the differences of the arcsines of shares, and their chances by the binomial distribution.

        Of terms only those that are more frequent in the cluster are compared.
        """
        size = int(self.sizes[cluster])
        if self.column.kind == "text":
            span = slice(self.counts.indptr[cluster], self.counts.indptr[cluster + 1])
            features, count = self.counts.indices[span], self.counts.data[span]
        else:
            features, count = np.arange(self.n_features), self.counts[cluster]
        if not 0 < size < self.n:
            return Candidates(features, np.zeros(len(features)), np.zeros(len(features)))
        inside, outside = count / size, (self.totals[features] - count) / (self.n - size)
        share = self.totals[features] / self.n
        is_more = inside > outside
        chance = np.where(is_more, bdtrc(count - 1, size, share), bdtr(count, size, share))
        strength = np.abs(2 * np.arcsin(np.sqrt(inside)) - 2 * np.arcsin(np.sqrt(outside))) / np.pi
        strength = np.where(is_more, strength, 0.0 if self.column.kind == "text" else strength * UNLIKELY)
        strength = np.where(np.abs(inside - outside) < MIN_SHARE, 0.0, strength)
        with np.errstate(divide="ignore"):
            return Candidates(features, strength, np.log(2 * chance))

    def describe(self, cluster: int, feature: int, listed: Sequence[int]) -> Difference | None:
        """Compare the share of a category, or of a term that has no word in common with those listed."""
        words = {word for other in listed for word in self.names[other].split()}
        if self.column.kind == "text" and words.intersection(self.names[feature].split()):
            return None
        size = int(self.sizes[cluster])
        count, total = self.counts[cluster, feature], self.totals[feature]
        inside, elsewhere = write_share(count / size), write_share((total - count) / (self.n - size))
        candidates = self.measure(cluster)
        strength = float(candidates.strength[candidates.features == feature][0])
        column, name = self.column, clean_name(self.names[feature])
        if column.kind == "text":
            return Difference(
                column.name,
                "text",
                inside,
                elsewhere,
                f"'{name}' in {inside} of texts, elsewhere {elsewhere}",
                strength,
            )
        sentence = f"{clean_name(column.name)} {name} in {inside}, elsewhere {elsewhere}"
        return Difference(column.name, "category", f"{name} {inside}", f"{name} {elsewhere}", sentence, strength)


def _measure_shares(labels: np.ndarray, column: OriginalColumn, n_clusters: int) -> ShareEffects:
    """Count the categories of each cluster."""
    names, codes = encode_categories(column)
    rows = np.flatnonzero((labels >= 0) & (codes >= 0))
    n_names = max(len(names), 1)
    counts = np.bincount(labels[rows] * n_names + codes[rows], minlength=n_clusters * n_names)
    counts = counts.reshape(n_clusters, n_names)[:, : len(names)]
    return ShareEffects(column, names, counts, counts.sum(axis=1), 1 if len(names) <= 2 else 2)


def _measure_terms(labels: np.ndarray, column: OriginalColumn, n_clusters: int) -> ShareEffects:
    """Count the texts of each cluster that have each word, and each phrase of two words."""
    is_text = np.array([text is not None for text in column.values.tolist()], dtype=bool)
    rows = np.flatnonzero((labels >= 0) & is_text)
    sizes = np.bincount(labels[rows], minlength=n_clusters)
    has, names = _find_terms(column.values[rows].tolist())
    member = sp.csr_array((np.ones(len(rows)), (labels[rows], np.arange(len(rows)))), shape=(n_clusters, len(rows)))
    return ShareEffects(column, names, sp.csr_array(member @ has), sizes, 4)


def _find_terms(texts: Sequence[str]) -> tuple[sp.csr_array, list[str]]:
    """Return which text has which word or phrase, without words that hardly occur outside a phrase, and the terms."""
    has, names, is_function = find_words(texts)
    has, names = has[:, ~is_function], names[~is_function]
    n_texts = np.asarray(has.sum(axis=0)).ravel()
    is_kept = n_texts >= min(MIN_TEXTS, len(texts))
    position = {name: i for i, name in enumerate(names.tolist())}
    for i in np.flatnonzero(is_kept).tolist():
        for part in _list_parts(names[i], position):
            is_kept[position[part]] &= n_texts[i] < REDUNDANT * n_texts[position[part]]
    return sp.csr_array(has[:, is_kept]), names[is_kept].tolist()


def _list_parts(term: str, terms: Collection[str]) -> list[str]:
    """Return the words of a phrase, or the shorter terms within a term of a script without blanks."""
    if UNSPACED.search(term):
        slices = {term[i:j] for i in range(len(term)) for j in range(i + 1, len(term) + 1)}
        return sorted(slices.intersection(terms) - {term})
    words = term.split(" ")
    return words if len(words) > 1 else []


MEASURES: dict[str, Callable[[np.ndarray, OriginalColumn, int], ColumnEffects]] = {
    "number": NumberEffects,
    "date": NumberEffects,
    "category": _measure_shares,
    "text": _measure_terms,
}


def clean_name(name: str) -> str:
    """Return the name of a column or a category in one line of at most 60 characters."""
    words = " ".join(str(name).split())
    return words if len(words) <= 60 else f"{words[:59].rstrip()}…"


def write_share(share: float) -> str:
    """Write a share in percent; a share above 0% is never written as 0%, nor one below 100% as 100%."""
    percent = 100 * share
    if 0 < percent < 0.5:
        return "<1%"
    return ">99%" if 99.5 <= percent < 100 else f"{percent:.0f}%"


def format_range(low: float, high: float, unit: str = "", is_whole: bool = False) -> str:
    """Write a range of numbers with two digits of its width.

    Examples
    --------
    >>> format_range(12.31, 34.08, "$"), format_range(0.01234, 0.0456), format_range(2011, 2019, is_whole=True)
    ('12–34 $', '0.012–0.046', '2011–2019')
    >>> format_range(-5.2, 3.31, "%"), format_range(7, 7), format_range(12_345, 98_765.4)
    ('−5.2 to 3.3%', '7', '12,000–99,000')
    """
    width = high - low if high > low else abs(low) / 10
    step = 10.0 ** (np.floor(np.log10(width)) - 1) if width > 0 else 1.0
    step = max(step, 1.0) if is_whole else step
    ends = [write_number(end, step) for end in (low, high)]
    if all(end.endswith("0") and "." in end and not end.split(".")[1].strip("0") for end in ends):
        ends = [end.split(".")[0] for end in ends]
    text = ends[0] if ends[0] == ends[1] else (" to " if low < 0 else "–").join(ends)
    return add_unit(text, unit)


def add_unit(text: str, unit: str) -> str:
    """Write the unit after a number."""
    return f"{text}{'' if unit in ('', '%') else ' '}{unit}"


def write_number(value: float, step: float) -> str:
    """Write a number rounded to multiples of a power of ten; a number that is not 0 is never written as 0."""
    exponent = round(np.log10(step))
    rounded = round(value, -exponent)
    if rounded == 0 and value != 0:
        return f"{value:.1g}".replace("-", "−")
    decimals = max(0, min(-exponent, 300))
    text = f"{abs(rounded):,.{decimals}f}" if abs(rounded) >= SEPARATED_FROM else f"{abs(rounded):.{decimals}f}"
    return f"−{text}" if rounded < 0 else text


def format_dates(low: float, high: float) -> str:
    """Write a range of days since 1970-01-01 as dates."""
    first, last = (format_days(float(np.floor(days))) for days in (low, high))
    return first if first == last else f"{first} to {last}"
