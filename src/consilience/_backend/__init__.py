"""Arrays, and nothing of clustering: the namespace of an array, the verbs the standard lacks, chunks on threads."""

from . import csr_verbs, numpy_verbs  # noqa: F401  they register themselves with the verbs
from .csr import CSR
from .namespace import Array, is_array, like, namespace, to_numpy, where, zeros
from .parallel import blocks, chunks, map_chunks, stored, threads
from .random import generator
from .verbs import (
    Scorer,
    add_label_sums,
    count_labels,
    dense_rows,
    largest,
    nearest,
    only_rows,
    row_is_finite,
    scale_rows,
    scorer,
    scores_of,
    squared_norms,
    weighted_sums,
)

__all__ = [
    "CSR",
    "Array",
    "Scorer",
    "add_label_sums",
    "blocks",
    "chunks",
    "count_labels",
    "dense_rows",
    "generator",
    "is_array",
    "largest",
    "like",
    "map_chunks",
    "namespace",
    "nearest",
    "only_rows",
    "row_is_finite",
    "scale_rows",
    "scorer",
    "scores_of",
    "squared_norms",
    "stored",
    "threads",
    "to_numpy",
    "weighted_sums",
    "where",
    "zeros",
]
