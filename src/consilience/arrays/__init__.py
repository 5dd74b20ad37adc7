"""Arrays and nothing of clustering: the namespace of an array, the verbs the standard lacks, chunks on threads."""

from . import csr_verbs, dense_verbs, device_csr_verbs  # noqa: F401  they register themselves with the verbs
from .csr import CSR
from .csr_verbs import sum_shared_columns
from .device_csr import DeviceCSR
from .fused import find_fused_loops
from .linalg import normalize_rows
from .memory import available_device_memory, available_memory, create_scratch_array, is_scratch_array
from .namespace import (
    Array,
    Seed,
    asarray_like,
    float64_zeros,
    is_array,
    is_device_sparse,
    itemsize,
    keep_where,
    machine_epsilon,
    make_generator,
    namespace,
    to_numpy,
)
from .nearest import Nearest, find_nearest
from .pairwise import (
    KernelMatrix,
    KernelRows,
    RowKernel,
    SymmetricKernelMatrix,
    add_terms,
    fits_in_memory,
    list_upper_tiles,
)
from .parallel import (
    add_arrays,
    choose_block_size,
    count_stored,
    explain_out_of_memory,
    get_thread_controller,
    map_chunks,
    map_slices,
    split_into_blocks,
    split_into_chunks,
    split_into_shards,
    split_slice,
    use_threads,
)
from .partition import find_nearly_nearest
from .special import log_bessel, log_sphere_integral
from .verbs import (
    Scorer,
    add_label_sums,
    all_rows_equal,
    argmax_scores,
    as_csr,
    as_rows,
    as_rows_like,
    build_scorer,
    compute_origin,
    compute_scores,
    count_labels,
    exp_nonpositive,
    find_origin,
    include_labels,
    inner_products,
    is_in_memory,
    is_on_host,
    is_sparse,
    map_values,
    mask_rows,
    max_abs,
    plan_reads,
    read_blocks,
    row_is_finite,
    row_sums,
    sample_rows,
    scale_rows,
    shift_rows,
    shift_rows_and_norms,
    squared_norms,
    stored_values,
    sum_costs,
    sum_of_squares,
    take_dense_rows,
    take_rows,
    to_host,
    true_unless_known_false,
    weighted_sums,
)

__all__ = [
    "CSR", "Array", "DeviceCSR", "KernelMatrix", "KernelRows", "Nearest", "RowKernel", "Scorer", "Seed",
    "SymmetricKernelMatrix", "add_arrays", "add_label_sums", "add_terms", "all_rows_equal", "argmax_scores", "as_csr",
    "as_rows", "as_rows_like", "asarray_like", "available_device_memory", "available_memory", "build_scorer",
    "choose_block_size", "compute_origin", "compute_scores", "count_labels", "count_stored", "create_scratch_array",
    "exp_nonpositive", "explain_out_of_memory", "find_fused_loops", "find_nearest", "find_nearly_nearest",
    "find_origin", "fits_in_memory", "float64_zeros", "get_thread_controller", "include_labels", "inner_products",
    "is_array", "is_device_sparse", "is_in_memory", "is_on_host", "is_scratch_array", "is_sparse", "itemsize",
    "keep_where", "list_upper_tiles", "log_bessel", "log_sphere_integral", "machine_epsilon", "make_generator",
    "map_chunks", "map_slices", "map_values", "mask_rows", "max_abs", "namespace", "normalize_rows", "plan_reads",
    "read_blocks", "row_is_finite", "row_sums", "sample_rows", "scale_rows", "shift_rows", "shift_rows_and_norms",
    "split_into_blocks", "split_into_chunks", "split_into_shards", "split_slice", "squared_norms", "stored_values",
    "sum_costs", "sum_of_squares", "sum_shared_columns", "take_dense_rows", "take_rows", "to_host", "to_numpy",
    "true_unless_known_false", "use_threads", "weighted_sums",
]  # fmt: skip
