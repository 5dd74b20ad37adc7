"""Arrays, and nothing of clustering: the namespace of an array, the verbs the standard lacks, chunks on threads."""

from . import csr_verbs, device_csr_verbs, lazy_verbs, numpy_verbs  # noqa: F401  they register themselves with the verbs
from .csr import CSR
from .csr_verbs import sum_shared_columns
from .cuts import split_slice
from .device_csr import DeviceCSR, is_device_sparse
from .host import is_on_host, true_unless_known_false
from .lazy import Source, plan_reads, read_ahead
from .memory import available_device_memory, available_memory, explain_out_of_memory
from .middle import compute_origin, find_origin, sample_rows, shift_rows_and_norms
from .namespace import Array, asarray_like, float64_zeros, is_array, keep_where, namespace, to_numpy
from .pairwise import KernelMatrix, KernelRows, RowKernel, fits_in_memory, itemsize, machine_epsilon
from .parallel import (
    choose_block_size,
    count_stored,
    cut_into_blocks,
    cut_into_chunks,
    cut_into_shards,
    map_chunks,
    single_openmp_thread,
    use_threads,
)
from .random import make_generator
from .rows import as_csr, as_rows, as_rows_like, is_sparse, to_host
from .scratch import create_scratch_array
from .sphere import log_bessel, log_sphere_integral
from .verbs import (
    Scorer,
    add_label_sums,
    all_rows_equal,
    argmax_scores,
    build_scorer,
    compute_scores,
    count_labels,
    exp_nonpositive,
    inner_products,
    map_values,
    mask_rows,
    max_abs,
    row_is_finite,
    row_sums,
    scale_rows,
    squared_norms,
    stored_values,
    take_dense_rows,
    take_rows,
    weighted_sums,
)

__all__ = [
    "CSR",
    "Array",
    "DeviceCSR",
    "KernelMatrix",
    "KernelRows",
    "RowKernel",
    "Scorer",
    "Source",
    "add_label_sums",
    "all_rows_equal",
    "argmax_scores",
    "as_csr",
    "as_rows",
    "as_rows_like",
    "asarray_like",
    "available_device_memory",
    "available_memory",
    "build_scorer",
    "choose_block_size",
    "compute_origin",
    "compute_scores",
    "count_labels",
    "count_stored",
    "create_scratch_array",
    "cut_into_blocks",
    "cut_into_chunks",
    "cut_into_shards",
    "exp_nonpositive",
    "explain_out_of_memory",
    "find_origin",
    "fits_in_memory",
    "float64_zeros",
    "inner_products",
    "is_array",
    "is_device_sparse",
    "is_on_host",
    "is_sparse",
    "itemsize",
    "keep_where",
    "log_bessel",
    "log_sphere_integral",
    "machine_epsilon",
    "make_generator",
    "map_chunks",
    "map_values",
    "mask_rows",
    "max_abs",
    "namespace",
    "plan_reads",
    "read_ahead",
    "row_is_finite",
    "row_sums",
    "sample_rows",
    "scale_rows",
    "shift_rows_and_norms",
    "single_openmp_thread",
    "split_slice",
    "squared_norms",
    "stored_values",
    "sum_shared_columns",
    "take_dense_rows",
    "take_rows",
    "to_host",
    "to_numpy",
    "true_unless_known_false",
    "use_threads",
    "weighted_sums",
]
