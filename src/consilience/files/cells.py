"""Raw counts of single cells: what was measured, and how the counts of genes and proteins become comparable."""

from __future__ import annotations

import re
import warnings
from typing import Any

import numpy as np
import scipy.sparse as sp

from .._saving import save_as
from .._tuning import Tuning
from ..arrays import available_memory
from .encoders import NumbersEncoder, fill_empty_counts, find_measured_rows, order_columns

# Words in the names of modalities, views and feature types that tell what was measured.
MODALITY_WORDS = {
    "peaks": ("atac", "peak", "chromatin"),
    "proteins": ("prot", "adt", "antibod", "cite"),
    "genes": ("rna", "gex", "gene", "expression"),
}
MODALITY_KINDS = {"genes": "expression", "proteins": "proteins", "peaks": "counts"}
GENOMIC_INTERVAL = re.compile(r"[\w.]+[:_-]\d+[_-]\d+")  # as in chr1:10109-10357, the name of a peak
LARGEST_COUNT = 2**53  # larger floating-point numbers do not count one by one
tuning = Tuning(n_genes=2000)
LARGEST_SCORE = 10.0  # standardized values beyond are cut off, as single-cell packages do
OVERDISPERSION = 1 / 100  # of counts within a cell type, as in Lause, Berens & Kobak 2021
LARGEST_SHARE_MISSING = 0.5  # of the genes that the model uses
ROWS_AT_A_TIME = 4096


def find_modality(hints: str) -> str | None:
    """Return what was measured by the names that a file or the user has for it, None if they do not tell."""
    hints = hints.lower()
    return next((name for name, words in MODALITY_WORDS.items() if any(word in hints for word in words)), None)


def detect_modality(hints: str, features: np.ndarray | None) -> tuple[str, str]:
    """Return the kind of raw counts in a single-cell file, and the reason.

    `hints` are the names of the modality, of the view and of the feature types. Peaks are also recognized by their
    names. Counts are taken for those of genes if nothing says otherwise.
    """
    measured = find_modality(hints)
    if measured is None:
        names = [] if features is None else features[:100].tolist()
        n_intervals = sum(GENOMIC_INTERVAL.fullmatch(name) is not None for name in names)
        measured = "peaks" if n_intervals > len(names) / 2 else "genes"
    return MODALITY_KINDS[measured], f"raw counts of {measured}"


def are_raw_counts(values: np.ndarray) -> np.ndarray:
    """Return which values are empty, or whole numbers that can be counted."""
    return np.isnan(values) | ((values == np.floor(values)) & (values <= LARGEST_COUNT))


def prepare_raw_counts(X: Any) -> Any:
    """Return counts in double precision, with 0 for empty cells; refuse normalized data."""
    counts = fill_empty_counts(X)
    values = counts.data if sp.issparse(counts) else counts
    wrong = values[~are_raw_counts(values)]
    if wrong.size:
        raise ValueError(
            f"{wrong[0]:g} is not a raw count of molecules: give raw counts. Normalized data are of the kind numbers"
        )
    return counts


@save_as("encoder-expression")
class ExpressionEncoder:
    """Encode raw counts of genes: scaled per cell, logged, and standardized, for the most variable genes.

    Each cell is scaled to the median number of molecules of the cells in the fit, which removes the depth to which it
    was sequenced. Genes are ranked by their squared deviations from the counts that cells of one type would have, as
    a multiple of the expected ones.
    """

    kind = "expression"
    present = staticmethod(find_measured_rows)

    def fit(self, data: Any) -> ExpressionEncoder:
        """Learn the median number of molecules per cell, the most variable genes, and their means and deviations."""
        X, self.genes = data
        self.n_columns = X.shape[1]
        X = sp.csr_array(prepare_raw_counts(X))
        totals = np.asarray(X.sum(axis=1))
        if not totals.any():
            raise ValueError("every count is 0")
        self.target = float(np.median(totals[totals > 0]))
        scores = score_variability(X, totals)
        n_genes = min(tuning.n_genes, int((scores >= 0).sum()))
        self.selected = np.sort(np.argsort(-scores, kind="stable")[:n_genes])
        self.features = None if self.genes is None else self.genes[self.selected]
        logged = self._scale_and_log(X[:, self.selected], totals)[totals > 0]
        self.mean = np.asarray(logged.mean(axis=0))
        variance = np.asarray(logged.multiply(logged).mean(axis=0)) - self.mean**2
        self.scale = np.where(variance > 1e-12, np.sqrt(np.maximum(variance, 0.0)), 1.0)
        return self

    def transform(self, data: Any) -> np.ndarray:
        """Encode cells in single precision; cells without any molecule become NaN.

        Genes are matched by their names. Those that the fit did not have are ignored, and those that are missing count
        as not detected, with a warning; if more than half of the genes that are used are missing, the cells are
        refused.
        """
        X = self._match_genes(data)
        n_bytes, free = 4 * X.shape[0] * len(self.selected), available_memory()
        if free is not None and n_bytes > free:
            raise MemoryError(
                f"the {len(self.selected):,} most variable genes of {X.shape[0]:,} cells take "
                f"{n_bytes / 2**30:.1f} GiB of memory, but {free / 2**30:.1f} GiB are free: use the kind counts, whose "
                "matrix stays sparse"
            )
        totals = np.asarray(X.sum(axis=1))
        logged = self._scale_and_log(X[:, self.selected], totals)
        encoded = np.empty(logged.shape, dtype=np.float32)
        for start in range(0, len(encoded), ROWS_AT_A_TIME):
            rows = slice(start, start + ROWS_AT_A_TIME)
            encoded[rows] = np.clip((logged[rows].toarray() - self.mean) / self.scale, -LARGEST_SCORE, LARGEST_SCORE)
        encoded[totals == 0] = np.nan
        return encoded

    @property
    def note(self) -> str:
        """What was done with the counts."""
        n_genes, n_selected = self.n_columns, len(self.selected)
        chosen = f", {n_selected:,} most variable of {n_genes:,} genes" if n_selected < n_genes else ""
        return f"scaled per cell, logged{chosen}"

    def _scale_and_log(self, X: sp.csr_array, totals: np.ndarray) -> sp.csr_array:
        return sp.csr_array(X.multiply((self.target / np.where(totals > 0, totals, 1.0))[:, None])).log1p()

    def _match_genes(self, data: Any) -> sp.csr_array:
        """Put the columns into the order of the fit, with zeros for genes that are missing."""
        X, names = data
        if names is None or self.genes is None or np.array_equal(names, self.genes):
            return sp.csr_array(prepare_raw_counts(order_columns((X, None), None, self.n_columns)))
        position = {name: i for i, name in enumerate(names.tolist())}
        columns = np.array([position.get(name, -1) for name in self.genes.tolist()])
        absent = np.flatnonzero(columns[self.selected] < 0)
        if len(absent):
            text = f"{len(absent):,} of the {len(self.selected):,} genes that the model uses are missing"
            example = repr(str(self.genes[self.selected[absent[0]]]))
            if len(absent) > LARGEST_SHARE_MISSING * len(self.selected):
                raise ValueError(f"{text}, such as {example}: do the names of the genes match those of the fit?")
            warnings.warn(f"{text}, such as {example}: they count as not detected", UserWarning, stacklevel=2)
        is_present = columns >= 0
        shape = (len(names), len(columns))
        pick = sp.csr_array((np.ones(is_present.sum()), (columns[is_present], np.flatnonzero(is_present))), shape=shape)
        return sp.csr_array(sp.csr_array(prepare_raw_counts(X)) @ pick)


def score_variability(X: sp.csr_array, totals: np.ndarray) -> np.ndarray:
    """Return how much more each gene varies than if it had the same share of the molecules of every cell.

    The sum of squared deviations from the expected counts mu, divided by that of their variances, mu + mu**2 / 100; it
    is about 1 for a gene that does not vary, and -1 for a gene without any molecule.
    """
    sums = np.asarray(X.sum(axis=0))
    shares, total_squares = sums / totals.sum(), totals @ totals
    squares = np.asarray(X.multiply(X).sum(axis=0)) - 2 * shares * (totals @ X) + shares**2 * total_squares
    expected = sums + OVERDISPERSION * shares**2 * total_squares
    return np.where(sums > 0, np.maximum(squares, 0.0) / np.where(sums > 0, expected, 1.0), -1.0)


@save_as("encoder-proteins")
class ProteinsEncoder:
    """Encode raw counts of proteins by their centered log-ratio per cell, standardized per protein."""

    kind = "proteins"
    note = "centered log-ratio per cell"
    present = staticmethod(find_measured_rows)

    def fit(self, data: Any) -> ProteinsEncoder:
        """Learn mean and deviation of each protein."""
        X, self.features = data
        self.n_columns = X.shape[1]
        self.numbers = NumbersEncoder().fit((compute_log_ratios(X), None))
        return self

    def transform(self, data: Any) -> np.ndarray:
        """Encode cells; those without any count become NaN."""
        X = order_columns(data, self.features, self.n_columns)
        return self.numbers.transform((compute_log_ratios(X), None))


def compute_log_ratios(X: Any) -> np.ndarray:
    """Return log(1 + count) minus its mean over the proteins of the cell; NaN for cells without any count."""
    logged = np.log1p(prepare_raw_counts(X.toarray() if sp.issparse(X) else X))
    is_empty = ~logged.any(axis=1)
    return np.where(is_empty[:, None], np.nan, logged - logged.mean(axis=1, keepdims=True))
