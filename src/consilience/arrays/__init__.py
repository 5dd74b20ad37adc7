"""Arrays, and nothing of clustering: the namespace of an array, the verbs the standard lacks, chunks on threads."""

from . import csr_verbs, device_csr_verbs, lazy_verbs, numpy_verbs  # noqa: F401  they register themselves with the verbs
from .csr import CSR
from .csr_verbs import shared_sums
from .cuts import cut
from .device_csr import DeviceCSR, is_device_sparse
from .host import could_be, on_host
from .lazy import Source, plan_reads, read_ahead
from .memory import available_memory, device_memory, on_device
from .middle import measured_from, middle, origin_of, some_rows
from .namespace import Array, is_array, like, namespace, to_numpy, where, zeros
from .pairwise import Kernel, KernelMatrix, Points, fits_table, itemsize, rounding
from .parallel import blocks, chunks, map_chunks, shard_rows, single_openmp_thread, stored, threads, workspace
from .random import generator
from .rows import as_kind, as_plain, as_rows, as_sparse, is_sparse
from .scratch import scratch
from .sphere import log_bessel, log_sphere_integral
from .verbs import (
    Scorer,
    add_label_sums,
    count_labels,
    decay,
    dense_rows,
    largest,
    map_values,
    nearest,
    only_rows,
    products,
    row_is_finite,
    row_sums,
    rows_are_same,
    scale_rows,
    scorer,
    scores_of,
    squared_norms,
    stored_values,
    take_rows,
    weighted_sums,
)

__all__ = [
    "CSR",
    "Array",
    "DeviceCSR",
    "Kernel",
    "KernelMatrix",
    "Points",
    "Scorer",
    "Source",
    "add_label_sums",
    "as_kind",
    "as_plain",
    "as_rows",
    "as_sparse",
    "available_memory",
    "blocks",
    "chunks",
    "could_be",
    "count_labels",
    "cut",
    "decay",
    "dense_rows",
    "device_memory",
    "fits_table",
    "generator",
    "is_array",
    "is_device_sparse",
    "is_sparse",
    "itemsize",
    "largest",
    "like",
    "log_bessel",
    "log_sphere_integral",
    "map_chunks",
    "map_values",
    "measured_from",
    "middle",
    "namespace",
    "nearest",
    "on_device",
    "on_host",
    "only_rows",
    "origin_of",
    "plan_reads",
    "products",
    "read_ahead",
    "rounding",
    "row_is_finite",
    "row_sums",
    "rows_are_same",
    "scale_rows",
    "scorer",
    "scores_of",
    "scratch",
    "shard_rows",
    "shared_sums",
    "single_openmp_thread",
    "some_rows",
    "squared_norms",
    "stored",
    "stored_values",
    "take_rows",
    "threads",
    "to_numpy",
    "weighted_sums",
    "where",
    "workspace",
    "zeros",
]
