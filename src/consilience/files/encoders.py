"""Encoders from the content of a view to numbers, one per kind; new entities are encoded in the same way."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.feature_extraction.text import ENGLISH_STOP_WORDS, CountVectorizer
from sklearn.preprocessing import normalize

from .._describe import describe_value
from .._saving import save_as
from .amounts import convert_amounts
from .formats.columns import WHOLE, drop_zeros, is_missing, is_number
from .languages import detect_languages, fold_case, list_languages, list_stop_words
from .stop_words import FUNCTION_WORDS


def find_nonzero_rows(values: Any) -> np.ndarray:
    """Find the rows that are not all zero or NaN; the others are missing views, such as empty bags of words."""
    if sp.issparse(values):
        return np.asarray((values != 0).sum(axis=1)).ravel() > 0
    return (np.nan_to_num(values) != 0).any(axis=1)


def find_measured_rows(values: Any) -> np.ndarray:
    """Find the rows that are not all NaN: measurements may all be 0, unless the matrix is sparse."""
    return find_nonzero_rows(values) if sp.issparse(values) else np.logical_not(np.isnan(values).all(axis=1))


def order_columns(data: Any, features: np.ndarray | None, n_columns: int | None) -> Any:
    """Put the columns into the order of the fit if both have names; otherwise check their number."""
    X, names = data
    if names is not None and features is not None:
        position = {name: i for i, name in enumerate(names.tolist())}
        check_columns(features.tolist(), position)
        order = [position[name] for name in features.tolist()]
        X = X if order == list(range(X.shape[1])) else X[:, order]
    if n_columns is not None and X.shape[1] != n_columns:
        raise ValueError(f"{X.shape[1]} columns, but {n_columns} in the model: give the same columns in the same order")
    return X


def check_columns(expected: list[str], columns: Any) -> None:
    """Refuse new entities that lack a column of the fit."""
    missing = next((name for name in expected if name not in columns), None)
    if missing is not None:
        raise ValueError(f"there is no column {missing!r}, which the model was fitted on")


@save_as("encoder-numbers")
class NumbersEncoder:
    """Standardize columns to mean 0 and variance 1; empty cells in rows that have others get the column's median.

    Sparse matrices stay as they are, because subtracting the mean would fill them.
    """

    kind = "numbers"
    present = staticmethod(find_measured_rows)
    fill: Any  # per column, as mean and scale; None for a sparse matrix
    mean: Any
    scale: Any

    def fit(self, data: Any) -> NumbersEncoder:
        """Learn median, mean and standard deviation of each column."""
        X, self.features = data
        self.n_columns = X.shape[1]
        if sp.issparse(X):
            self.fill = self.mean = self.scale = None
            return self
        X = np.asarray(X, dtype=np.float64)
        rows = X[~np.isnan(X).all(axis=1)]
        if not len(rows):
            raise ValueError("every cell is empty")
        empty = np.isnan(rows).all(axis=0)
        # Sums and squares of huge or tiny numbers would overflow or vanish: scale columns by powers of two.
        _, exponents = np.frexp(np.abs(np.where(np.isnan(rows), 0.0, rows)).max(axis=0))
        scaled = np.ldexp(rows, -exponents)
        fill = np.zeros(X.shape[1])
        fill[~empty] = np.nanmedian(scaled[:, ~empty], axis=0)
        scaled = np.where(np.isnan(scaled), fill, scaled)
        mean, deviation = scaled.mean(axis=0), scaled.std(axis=0)
        varies = deviation > 1e-12 * np.abs(mean)
        self.fill, self.mean = np.ldexp(fill, exponents), np.ldexp(mean, exponents)
        scale = np.where(varies, np.ldexp(deviation, exponents), 1.0)
        self.scale = np.maximum(scale, 2 * np.finfo(np.float64).smallest_subnormal)  # half of it is not 0
        return self

    def transform(self, data: Any) -> Any:
        """Standardize the rows; rows without any value become NaN."""
        X = order_columns(data, self.features, self.n_columns)
        if self.fill is None:
            return sp.csr_array(X)
        X = np.asarray(X.toarray() if sp.issparse(X) else X, dtype=np.float64)
        missing = np.isnan(X).all(axis=1)
        filled = np.where(np.isnan(X), self.fill, X)
        standardized = (filled / 2 - self.mean / 2) / (self.scale / 2)  # a difference of huge numbers may overflow
        return np.where(missing[:, None], np.nan, standardized)


OTHERS = "(others)"
MAX_LEVELS = 100  # categories of a column that have a column each, the most frequent; the others share one
MIN_REPEATS = 5  # cells with the same value, from which it is a category
FEW_LEVELS = 20  # categories up to which the rare ones have a column each, too,
FEW_ROWS = 100  # and rows up to which they have


@save_as("encoder-categories", version=2)
class CategoriesEncoder:
    """Encode each category of each column as one column of 0 and 1; numbers beside them are standardized.

    Of a column with very many categories, the rarest share one column; so do those of many categories that only a few
    cells have, unless most cells do, because a column with hardly a 1 says nothing about other rows. Codes such as 012,
    12 and 12.0 are one category unless the fit tells them apart: programs write whole numbers in these ways.
    """

    kind = "categories"
    present = staticmethod(find_measured_rows)

    def fit(self, columns: dict[str, np.ndarray]) -> CategoriesEncoder:
        """Learn the categories of each column."""
        self.levels, self.codes, self.n_others = {}, {}, {}
        for name, cells in columns.items():
            if cells.dtype == object:
                counts = _count_levels(cells)
                times = Counter(map(drop_zeros, counts))
                self.codes[name] = {number: code for code in counts if times[number := drop_zeros(code)] == 1}
                levels = _choose_levels(counts, len(cells))
                self.levels[name] = np.array(sorted(levels), dtype=object)
                if len(counts) > len(levels):
                    self.n_others[name] = len(counts) - len(levels)
        self.numeric = [name for name, cells in columns.items() if cells.dtype != object]
        self.numbers = NumbersEncoder().fit((self._stack_numbers(columns), None)) if self.numeric else None
        indicators: list[str] = []
        for name, categories in self.levels.items():
            indicators += [f"{name}={category}" for category in categories.tolist()]
            indicators += [f"{name}={OTHERS}"] if name in self.n_others else []
        self.features = np.array([*indicators, *self.numeric], dtype=object)
        return self

    @property
    def note(self) -> str:
        """What was done with columns of very many categories, for the user."""
        return "; ".join(f"the {n:,} rarest values of {name!r} count as one" for name, n in self.n_others.items())

    def transform(self, columns: dict[str, np.ndarray]) -> np.ndarray:
        """Encode one row per entity; categories not seen in `fit` are 0 everywhere, and empty rows are NaN."""
        check_columns([*self.levels, *self.numeric], columns)
        n_rows = len(next(iter(columns.values())))
        encoded = np.hstack([np.zeros((n_rows, 0)), *(self._indicate(name, columns[name]) for name in self.levels)])
        is_empty = ~encoded.any(axis=1)
        if self.numbers is not None:
            standardized = self.numbers.transform((self._stack_numbers(columns), None))
            is_empty &= np.isnan(standardized).all(axis=1)
            encoded = np.hstack([encoded, np.nan_to_num(standardized)])
        encoded[is_empty] = np.nan
        return encoded

    def _indicate(self, name: str, cells: np.ndarray) -> np.ndarray:
        """Return a column of 0 and 1 per category, and one for all others if there were too many in `fit`."""
        position = {level: i for i, level in enumerate(self.levels[name].tolist())}
        others = len(position) if name in self.n_others else -1
        levels = self._find_levels(name, cells)
        codes = np.array([-1 if level is None else position.get(level, others) for level in levels], dtype=np.intp)
        indicators = np.zeros((len(cells), len(position) + (name in self.n_others)))
        rows = np.flatnonzero(codes >= 0)
        indicators[rows, codes[rows]] = 1.0
        return indicators

    def find_unseen(self, columns: dict[str, np.ndarray]) -> dict[str, list[str]]:
        """Find the cells whose value the fit has not seen, by column; those that count as others are not listed."""
        unseen = {}
        for name in self.levels.keys() - self.n_others.keys():
            fitted, cells = {None, *self.levels[name].tolist()}, columns[name].tolist()
            levels = self._find_levels(name, columns[name])
            unseen[name] = [cell for cell, level in zip(cells, levels, strict=True) if level not in fitted]
        return {name: unseen[name] for name in self.levels if unseen.get(name)}

    def _find_levels(self, name: str, cells: np.ndarray) -> list[Any]:
        """Return the category of each cell as the fit has written it."""
        fitted, codes = set(self.levels[name].tolist()), self.codes[name]
        levels: dict[Any, Any] = {}
        for cell in set(cells.tolist()) - {None}:
            level = cell if cell in fitted else _drop_decimals(cell)
            levels[cell] = level if level in fitted else codes.get(drop_zeros(cell), cell)
        return [levels.get(cell) for cell in cells.tolist()]

    def _stack_numbers(self, columns: dict[str, np.ndarray]) -> np.ndarray:
        return np.stack([_to_numbers(name, columns[name]) for name in self.numeric], axis=1)


def _count_levels(cells: np.ndarray) -> Counter[str]:
    """Count the values of a column; whole numbers that a program has written as 12.0, beside empty cells, are 12."""
    counts = Counter(cell for cell in cells.tolist() if cell is not None)
    if not all(map(WHOLE.fullmatch, counts)):
        return counts
    levels: Counter[str] = Counter()
    for cell, times in counts.items():
        levels[_drop_decimals(cell)] += times
    return levels


def _choose_levels(counts: Counter[str], n_rows: int) -> list[str]:
    """Choose the categories that have a column each: the most frequent ones, without those of a few cells."""
    ranked = sorted(counts, key=lambda level: (-counts[level], level))
    frequent = [level for level in ranked if counts[level] >= MIN_REPEATS]
    are_most = 2 * sum(counts[level] for level in frequent) > counts.total()
    are_many = len(ranked) > FEW_LEVELS and n_rows > FEW_ROWS
    return (frequent if are_many and are_most else ranked)[:MAX_LEVELS]


def _drop_decimals(cell: str) -> str:
    return cell.partition(".")[0] if WHOLE.fullmatch(cell) else cell


def _to_numbers(name: str, column: np.ndarray) -> np.ndarray:
    """Convert a column to numbers; it is read as text if the user says that the view holds categories."""
    if column.dtype != object:
        return column.astype(np.float64)
    wrong = next((cell for cell in column if not isinstance(cell, str | None)), None)
    if wrong is None and (converted := convert_amounts(name, column)) is not None:
        return converted.numbers
    cells = ["nan" if cell is None or (isinstance(cell, str) and is_missing(cell)) else cell for cell in column]
    wrong = next((cell for cell in cells if not isinstance(cell, str) or not is_number(cell)), wrong)
    if wrong is not None:
        raise ValueError(f"column {name!r} held numbers in the fit, and now holds {describe_value(wrong)}")
    return np.array(cells, dtype=np.float64)


@save_as("encoder-weighting")
class TermWeighting:
    """Raw counts, or tf-idf: logarithmic counts times the rarity of the term, in rows of unit length.

    Parameters
    ----------
    rare : bool
        Whether terms are weighted by their rarity; raw counts otherwise.
    """

    def __init__(self, rare: bool) -> None:
        self.rare = rare

    def fit(self, counts: Any) -> TermWeighting:
        """Learn how rare each term is."""
        n_documents = np.asarray((counts != 0).sum(axis=0)).ravel()
        self.idf = np.log((1 + counts.shape[0]) / (1 + n_documents)) + 1
        return self

    def transform(self, counts: Any) -> Any:
        """Weight the counts; sparse counts stay sparse."""
        if not self.rare:
            return counts
        if not sp.issparse(counts):
            return normalize(np.log1p(np.asarray(counts, dtype=np.float64)) * self.idf)
        X = sp.csr_array(counts)
        return normalize(sp.csr_array((np.log1p(X.data) * self.idf[X.indices], X.indices, X.indptr), shape=X.shape))


@save_as("encoder-counts")
class CountsEncoder:
    """Encode counts with one column per term; rows without any are missing views.

    Parameters
    ----------
    rare : bool
        Whether terms are weighted by their rarity.
    """

    kind = "counts"
    present = staticmethod(find_nonzero_rows)

    def __init__(self, rare: bool) -> None:
        self.weighting = TermWeighting(rare)

    def fit(self, data: Any) -> CountsEncoder:
        """Learn the terms and how rare they are."""
        if isinstance(data, np.ndarray):
            self.features = np.array(sorted({term for bag in data if bag is not None for term in bag}), dtype=object)
        else:
            self.features = data[1]
        self.weighting.fit(self._to_matrix(data))
        return self

    def transform(self, data: Any) -> Any:
        """Encode rows of counts; terms that were not seen in `fit` are ignored."""
        return self.weighting.transform(self._to_matrix(data, len(self.weighting.idf)))

    def _to_matrix(self, data: Any, n_columns: int | None = None) -> Any:
        """Count the terms of bags, or put the columns of a matrix in order, with 0 for empty cells."""
        if isinstance(data, np.ndarray):
            return _count_terms(data, self.features)
        return fill_empty_counts(order_columns(data, self.features, n_columns))


def fill_empty_counts(X: Any) -> Any:
    """Return counts in double precision, dense or sparse, with 0 for empty cells."""
    if sp.issparse(X):
        X = sp.csr_array(X, dtype=np.float64)
        return sp.csr_array((np.where(np.isnan(X.data), 0.0, X.data), X.indices, X.indptr), shape=X.shape)
    X = np.asarray(X, dtype=np.float64)
    return np.where(np.isnan(X), 0.0, X)


def _count_terms(bags: np.ndarray, terms: np.ndarray) -> sp.csr_array:
    """Build the matrix of counts with one row per bag and one column per term."""
    position = {term: i for i, term in enumerate(terms.tolist())}
    cells = [
        (row, position[term], count)
        for row, bag in enumerate(bags)
        if bag is not None
        for term, count in bag.items()
        if term in position
    ]
    rows, columns, values = np.array(cells).reshape(-1, 3).T if cells else np.zeros((3, 0))
    return sp.csr_array((values, (rows.astype(int), columns.astype(int))), shape=(len(bags), len(terms)))


ANALYZERS: dict[str, dict[str, Any]] = {
    "text": {"preprocessor": fold_case, "analyzer": "word"},
    "names": {"preprocessor": fold_case, "analyzer": "char_wb", "ngram_range": (3, 3)},
}
MAX_TERMS = 50_000
MAX_SHARE = 0.5  # of the texts; words in more of them, such as "the", do not tell texts apart
ENGLISH_SHARE = 0.2  # of English stop words among all words, above which texts are taken for English
MAX_LANGUAGE_TEXTS = 5000  # in which languages are detected
MIN_TEXTS = 20  # number of texts from which words must be in at least two of them and not in too many
MAX_EMPTIED = 0.05  # share of the texts that may have no other words than those in too many texts


@save_as("encoder-text", version=2)
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
    languages: list[str]  # whose stop words are left out

    def __init__(self, kind: str, rare: bool) -> None:
        self.kind = kind
        self.weighting = TermWeighting(rare)

    @property
    def note(self) -> str:
        """Say which stop words are left out, unless they are English ones alone."""
        return "" if self.languages in ([], ["English"]) else f"without stop words of {', '.join(self.languages)}"

    def fit(self, texts: np.ndarray) -> TextEncoder:
        """Learn the terms: those in at least two texts, and words in at most half of them, without stop words.

        Words in more texts count as well if many texts have no others: a text that most rows share is a group's mark.
        """
        present = [text for text in texts if text is not None]
        self.languages = _choose_stop_languages(present) if self.kind == "text" else []
        try:
            self._learn_terms(present)
        except ValueError:
            if not self.note:
                raise
            self.languages = []  # the texts have nothing but stop words, such as short answers
            self._learn_terms(present)
        return self

    def _learn_terms(self, texts: list[str]) -> None:
        """Learn the terms without the stop words of `languages`, and how rare they are."""
        limits: dict[str, Any] = {"min_df": 2} if len(texts) >= MIN_TEXTS else {}
        if self.languages:
            split = CountVectorizer().build_tokenizer()  # into what is compared with stop words
            limits["stop_words"] = sorted({part for word in list_stop_words(self.languages) for part in split(word)})
        counter = CountVectorizer(**ANALYZERS[self.kind], **limits)
        try:
            counts = sp.csr_array(counter.fit_transform(texts))
            chosen = self._choose_terms(counts)
            self.features = np.array(counter.get_feature_names_out(), dtype=object)[chosen]
        except ValueError as error:
            raise ValueError(
                "no word is in two of the texts, or all are in more than half of them: give another kind (--kind)"
            ) from error
        self.weighting.fit(counts[:, chosen])

    def _choose_terms(self, counts: sp.csr_array) -> np.ndarray:
        """Return the positions of the terms to use, at most `MAX_TERMS` of them."""
        n_texts = counts.shape[0]
        frequencies = np.asarray((counts > 0).sum(axis=0)).ravel()
        is_used = np.ones(len(frequencies), bool)
        if self.kind == "text" and n_texts >= MIN_TEXTS:
            is_used = frequencies <= MAX_SHARE * n_texts
            # Words in all texts tell nothing; those in most are the mark of these if they have no other words.
            n_marked, n_left = (
                np.count_nonzero(find_nonzero_rows(counts[:, columns])) for columns in (frequencies < n_texts, is_used)
            )
            if n_marked - n_left > MAX_EMPTIED * n_texts:
                is_used = frequencies < n_texts
        chosen = np.flatnonzero(is_used)
        if not len(chosen):
            raise ValueError("all terms are in too many texts")
        totals = np.asarray(counts[:, chosen].sum(axis=0)).ravel()
        return np.sort(chosen[np.argsort(-totals)[:MAX_TERMS]])

    def transform(self, texts: np.ndarray) -> sp.csr_array:
        """Encode one row per text, empty if the text is missing."""
        counter = CountVectorizer(vocabulary=list(self.features), **ANALYZERS[self.kind])
        counts = sp.csr_array(counter.transform(["" if text is None else text for text in texts]), dtype=np.float64)
        return self.weighting.transform(counts)


def _choose_stop_languages(texts: list[str]) -> list[str]:
    """List the languages whose stop words are left out of texts: those that are not negligible.

    If there is no other language than English, its share of all words decides, also if single texts are too short to
    tell.
    """
    sample = texts[:: max(1, -(-len(texts) // MAX_LANGUAGE_TEXTS))]
    languages = [name for name in list_languages(detect_languages(sample)) if name in FUNCTION_WORDS]
    if languages not in ([], ["English"]):
        return languages
    words = [word for text in texts[:1000] for word in text.lower().split()]
    n_stop_words = sum(word in ENGLISH_STOP_WORDS for word in words)
    return ["English"] if n_stop_words > ENGLISH_SHARE * len(words) else []


@save_as("encoder-links")
class LinksEncoder:
    """Encode the links of each entity in one direction, with one column per entity at the other end.

    Parameters
    ----------
    direction : {'out', 'in'}
        Whether a row holds the targets of the entity's links, or the sources of the links to it.
    rare : bool
        Whether links with entities that have few links count more.
    """

    kind = "links"
    present = staticmethod(find_nonzero_rows)

    def __init__(self, direction: str, rare: bool) -> None:
        self.direction = direction
        self.weighting = TermWeighting(rare)

    def fit(self, data: Any) -> LinksEncoder:
        """Learn the entities at the other ends."""
        (sources, targets, _), _ = data
        self.features = np.array(
            list(dict.fromkeys((targets if self.direction == "out" else sources).tolist())), dtype=object
        )
        counts = self._build_matrix(data)
        self.n_links = counts.nnz
        self.weighting.fit(counts)
        return self

    def transform(self, data: Any) -> sp.csr_array:
        """Encode the links of each entity; ends that were not seen in `fit` are ignored."""
        return self.weighting.transform(self._build_matrix(data))

    def _build_matrix(self, data: Any) -> sp.csr_array:
        (sources, targets, weights), ids = data
        near, far = (sources, targets) if self.direction == "out" else (targets, sources)
        rows, columns = _find_positions(near, ids), _find_positions(far, self.features)
        kept = (rows >= 0) & (columns >= 0)
        return sp.csr_array((weights[kept], (rows[kept], columns[kept])), shape=(len(ids), len(self.features)))


def _find_positions(names: np.ndarray, within: np.ndarray) -> np.ndarray:
    """Position of each name in another array, -1 if it is not there."""
    position = {name: i for i, name in enumerate(within.tolist())}
    return np.array([position.get(name, -1) for name in names.tolist()], dtype=np.intp)


@save_as("encoder-similarities")
class SimilaritiesEncoder:
    """Keep a square matrix of similarities; `ids` are the entities of its columns."""

    kind = "similarities"

    def __init__(self, ids: np.ndarray | None = None) -> None:
        self.ids: Any = ids

    def fit(self, data: Any) -> SimilaritiesEncoder:
        """Remember the number of entities, which new ones are compared with."""
        self.features = self.ids
        self.n_columns = data[0].shape[1]
        return self

    def transform(self, data: Any) -> Any:
        """Return rows of similarities to the fitted entities."""
        X, names = data
        if self.ids is not None and names is not None:
            X = self._order_columns(X, names)
        if X.shape[1] != self.n_columns:
            raise ValueError(
                f"{X.shape[1]} columns, but the model was fitted to {self.n_columns} entities: give the similarity of "
                "each new entity to all of them, in their order"
            )
        return sp.csr_array(X) if sp.issparse(X) else np.asarray(X, dtype=np.float64)

    def present(self, values: Any) -> np.ndarray:
        """Mark all rows as present, also those of entities without similarity to others."""
        return np.ones(values.shape[0], bool)

    def _order_columns(self, X: Any, names: np.ndarray) -> Any:
        """Find the column of each fitted entity by its name; 0 if there is none."""
        if np.array_equal(names, self.ids):
            return X
        position = {name: i for i, name in enumerate(names.tolist())}
        columns = np.array([position.get(name, -1) for name in self.ids.tolist()])
        if (columns < 0).all():
            raise ValueError("no column is an entity that the model was fitted to: do the ids match?")
        ordered = sp.csr_array(X)[:, np.maximum(columns, 0)].multiply(columns >= 0)
        return sp.csr_array(ordered) if sp.issparse(X) else ordered.toarray()
