"""Loops over rows on a GPU, compiled by Triton, which comes with torch. Importing this file imports triton.

Library calls for these steps fill device memory with intermediate values, and its rate limits them. The kernels keep
the values in registers and read the rows once. They take float32. Partial sums are added in a fixed order, so that
results can be repeated.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
import triton
import triton.language as tl

from .fused import FusedLoops

TILE = 2048  # scores or posteriors that a warp keeps in registers; more warps would have to exchange partial results
N_PARTS = 1056  # parts of the rows with sums of their own: eight per multiprocessor of a large GPU
MOST_SUMS = 1 << 26  # numbers that the sums of all parts may have
PRECISION = tl.constexpr("tf32x3")  # products by the matrix units in three parts, as exact as those of float32
COLUMNS = 32  # columns of rows that are multiplied at a time, where there may be many


@triton.jit
def load_rows(X, origin, rows, columns, n, stride, D: tl.constexpr):
    """Return a tile of the rows, relative to the origin; zeros beyond the last row and column."""
    x = tl.load(X + rows[:, None] * stride + columns[None, :], (rows < n)[:, None] & (columns < D)[None, :], 0.0)
    return x - tl.load(origin + columns, columns < D, 0.0)[None, :]


@triton.jit
def log_prob_kernel(
    X, origin, whitening, shift, constant, out, n, stride, N_CLUSTERS: tl.constexpr, D: tl.constexpr,
    WIDTH: tl.constexpr, ROWS: tl.constexpr,
):  # fmt: skip
    """``out[j, i] = constant[j] - |(X[i] - origin) @ whitening[j] - shift[j]|^2 / 2`` for a block of rows."""
    rows, columns = tl.program_id(0).to(tl.int64) * ROWS + tl.arange(0, ROWS), tl.arange(0, WIDTH)
    is_column = columns < D
    is_entry = is_column[:, None] & is_column[None, :]
    x = load_rows(X, origin, rows, columns, n, stride, D)
    for j in range(N_CLUSTERS):
        table = tl.load(whitening + j * D * D + columns[:, None] * D + columns[None, :], is_entry, 0.0)
        white = tl.dot(x, table, input_precision=PRECISION)
        white -= tl.load(shift + j * D + columns, is_column, 0.0)[None, :]
        tl.store(out + j * n + rows, tl.load(constant + j) - tl.sum(white * white, 1) / 2, rows < n)


@triton.jit
def cross_products_kernel(
    X, origin, weights, out, n, n_part, stride, row_stride, cluster_stride, D: tl.constexpr, WIDTH: tl.constexpr,
    ROWS: tl.constexpr,
):  # fmt: skip
    """``out[part, j] = X.T @ diag(weights[:, j]) @ X`` over the rows of a part, relative to the origin."""
    part, j, columns = tl.program_id(0).to(tl.int64), tl.program_id(1), tl.arange(0, WIDTH)
    is_column = columns < D
    products = tl.zeros((WIDTH, WIDTH), tl.float32)
    for start in range(0, n_part, ROWS):
        rows = part * n_part + start + tl.arange(0, ROWS)
        x = load_rows(X, origin, rows, columns, n, stride, D)
        weight = tl.load(weights + rows * row_stride + j * cluster_stride, rows < n, 0.0)
        products += tl.dot(tl.trans(x * weight[:, None]), x, input_precision=PRECISION)
    at = ((part * tl.num_programs(1) + j) * D + columns[:, None]) * D + columns[None, :]
    tl.store(out + at, products, is_column[:, None] & is_column[None, :])


@triton.jit
def score_rows(
    X, origin, linear, quadratic, bias, rows, clusters, n, stride, N_CLUSTERS: tl.constexpr, D: tl.constexpr,
    HAS_SQUARES: tl.constexpr, WIDTH: tl.constexpr, ROWS: tl.constexpr, COLUMNS: tl.constexpr,
):  # fmt: skip
    """Return ``x . linear[j] + x^2 . quadratic[j] - bias[j]`` of a block of rows, (rows, clusters)."""
    scores = tl.zeros((ROWS, WIDTH), tl.float32)
    for start in range(0, D, COLUMNS):
        columns = start + tl.arange(0, COLUMNS)
        x = load_rows(X, origin, rows, columns, n, stride, D)
        at = clusters[None, :] * D + columns[:, None]
        is_weight = (clusters < N_CLUSTERS)[None, :] & (columns < D)[:, None]
        scores += tl.dot(x, tl.load(linear + at, is_weight, 0.0), input_precision=PRECISION)
        if HAS_SQUARES:
            scores += tl.dot(x * x, tl.load(quadratic + at, is_weight, 0.0), input_precision=PRECISION)
    return scores - tl.load(bias + clusters, clusters < N_CLUSTERS, 0.0)[None, :]


@triton.jit
def quadratic_scores_kernel(
    X, origin, linear, quadratic, bias, out, n, stride, N_CLUSTERS: tl.constexpr, D: tl.constexpr,
    HAS_SQUARES: tl.constexpr, WIDTH: tl.constexpr, ROWS: tl.constexpr, COLUMNS: tl.constexpr,
):  # fmt: skip
    """Write the scores of a block of rows, cluster by cluster."""
    rows, clusters = tl.program_id(0).to(tl.int64) * ROWS + tl.arange(0, ROWS), tl.arange(0, WIDTH)
    scores = score_rows(
        X, origin, linear, quadratic, bias, rows, clusters, n, stride, N_CLUSTERS, D, HAS_SQUARES, WIDTH, ROWS, COLUMNS
    )
    at = clusters[None, :].to(tl.int64) * n + rows[:, None]
    tl.store(out + at, scores, (clusters < N_CLUSTERS)[None, :] & (rows < n)[:, None])


@triton.jit
def label_rows_kernel(
    X, origin, linear, bias, labels, best, n, stride, N_CLUSTERS: tl.constexpr, D: tl.constexpr, WIDTH: tl.constexpr,
    ROWS: tl.constexpr, COLUMNS: tl.constexpr,
):  # fmt: skip
    """Write the cluster of the largest score of each row, the first on ties, and this score."""
    rows, clusters = tl.program_id(0).to(tl.int64) * ROWS + tl.arange(0, ROWS), tl.arange(0, WIDTH)
    scores = score_rows(
        X, origin, linear, linear, bias, rows, clusters, n, stride, N_CLUSTERS, D, False, WIDTH, ROWS, COLUMNS
    )
    scores = tl.where((clusters < N_CLUSTERS)[None, :], scores, float("-inf"))
    largest = tl.max(scores, 1)
    first = tl.min(tl.where(scores == largest[:, None], clusters[None, :], WIDTH - 1), 1)
    first = tl.where(first < N_CLUSTERS, first, 0)  # a score that is not a number equals nothing
    tl.store(labels + rows, first.to(tl.int64), rows < n)
    tl.store(best + rows, largest, rows < n)


@triton.jit
def sum_rows_kernel(
    X, origin, weights, sums, squares, n, n_part, stride, row_stride, cluster_stride, N_CLUSTERS: tl.constexpr,
    D: tl.constexpr, HAS_SQUARES: tl.constexpr, IS_LABELS: tl.constexpr, WIDTH: tl.constexpr, ROWS: tl.constexpr,
    COLUMNS: tl.constexpr,
):  # fmt: skip
    """Sum the rows of a part in each cluster, and their squares, by weights (rows, clusters) or by labels (rows,)."""
    part, clusters = tl.program_id(0).to(tl.int64), tl.arange(0, WIDTH)
    columns = tl.program_id(1) * COLUMNS + tl.arange(0, COLUMNS)
    is_cluster = clusters < N_CLUSTERS
    total = tl.zeros((WIDTH, COLUMNS), tl.float32)
    total_squares = tl.zeros((WIDTH, COLUMNS), tl.float32)
    for start in range(0, n_part, ROWS):
        rows = part * n_part + start + tl.arange(0, ROWS)
        x = load_rows(X, origin, rows, columns, n, stride, D)
        if IS_LABELS:
            weight = (tl.load(weights + rows, rows < n, -1)[None, :] == clusters[:, None]).to(tl.float32)
        else:
            at = rows[None, :] * row_stride + clusters[:, None].to(tl.int64) * cluster_stride
            weight = tl.load(weights + at, is_cluster[:, None] & (rows < n)[None, :], 0.0)
        total += tl.dot(weight, x, input_precision=PRECISION)
        if HAS_SQUARES:
            total_squares += tl.dot(weight, x * x, input_precision=PRECISION)
    at = (part * N_CLUSTERS + clusters[:, None]) * D + columns[None, :]
    is_sum = is_cluster[:, None] & (columns < D)[None, :]
    tl.store(sums + at, total, is_sum)
    if HAS_SQUARES:
        tl.store(squares + at, total_squares, is_sum)


def choose_tile(n_columns: int) -> tuple[int, int, int]:
    """Return the padded number of columns, the rows of a tile, and the warps: few, so that tiles stay in registers."""
    width = max(16, triton.next_power_of_2(n_columns))
    return (width, 128, 2) if width <= 32 else (width, 64, 4) if width == 64 else (width, 32, 8)


def make_row_major(X: Any) -> Any:
    """Return rows whose columns are side by side in memory, as the kernels read them."""
    return X if X.stride(1) == 1 else X.contiguous()


def make_origin(origin: Any, X: Any) -> Any:
    """Return the origin in the type of the rows; zeros for None."""
    return torch.zeros(X.shape[1], dtype=X.dtype, device=X.device) if origin is None else origin.to(X.dtype)


def split_into_parts(X: Any, n_rows: int, n_sums: int) -> tuple[int, int]:
    """Return the rows of a part, a multiple of `n_rows`, and the number of parts, each with `n_sums` sums."""
    most_parts = max(1, min(N_PARTS, MOST_SUMS // n_sums))
    n_part = n_rows * max(1, triton.cdiv(X.shape[0], most_parts * n_rows))
    return n_part, triton.cdiv(X.shape[0], n_part)


def find_largest_scores(X: Any, linear: Any, bias: Any, origin: Any = None) -> tuple[Any, Any]:
    """Return the index of the largest ``x . linear[j] - bias[j]`` of each row, the first on ties, and this score."""
    X = make_row_major(X)
    (n, d), k = X.shape, linear.shape[0]
    labels, best = torch.empty(n, dtype=torch.int64, device=X.device), torch.empty(n, dtype=X.dtype, device=X.device)
    bias = torch.zeros(k, dtype=X.dtype, device=X.device) if bias is None else bias.to(X.dtype)
    width, n_rows, n_warps = choose_score_tile(k)
    label_rows_kernel[(triton.cdiv(n, n_rows),)](
        X, make_origin(origin, X), linear.to(X.dtype).contiguous(), bias, labels, best, n, X.stride(0),
        k, d, width, n_rows, COLUMNS, num_warps=n_warps,
    )  # fmt: skip
    return labels, best


def choose_score_tile(n_clusters: int, most_rows: int = 128) -> tuple[int, int, int]:
    """Return the padded number of clusters, the rows of a tile, and the warps."""
    width = max(16, triton.next_power_of_2(n_clusters))
    n_rows = max(16, min(most_rows, TILE // width))
    return width, n_rows, max(1, width * n_rows // TILE)


def sum_by_label(X: Any, labels: Any, n_clusters: int) -> Any:
    """Return the sum of the rows of each label, in float64: (clusters, columns); negative labels are left out."""
    return sum_rows(X, labels.contiguous(), (0, 0), n_clusters, None, has_squares=False, is_labels=True)[0]


def sum_rows(
    X: Any, weights: Any, strides: Any, n_clusters: int, origin: Any, *, has_squares: bool, is_labels: bool
) -> tuple[Any, Any]:
    """Run `sum_rows_kernel` on all rows, and add up the sums of the parts."""
    X = make_row_major(X)
    (n, d), (width, n_rows, n_warps) = X.shape, choose_score_tile(n_clusters, most_rows=32)
    n_part, n_parts = split_into_parts(X, n_rows, n_clusters * d)
    sums = torch.empty((n_parts, n_clusters, d), dtype=X.dtype, device=X.device)
    squares = torch.empty_like(sums) if has_squares else sums
    sum_rows_kernel[(n_parts, triton.cdiv(d, COLUMNS))](
        X, make_origin(origin, X), weights, sums, squares, n, n_part, X.stride(0), *strides,
        n_clusters, d, has_squares, is_labels, width, n_rows, COLUMNS, num_warps=n_warps,
    )  # fmt: skip
    return sums.sum(0, dtype=torch.float64), squares.sum(0, dtype=torch.float64)


@triton.jit
def sum_costs_kernel(score, row_term, present, out, n, scale, ROWS: tl.constexpr):
    """Sum ``row_term - scale * score`` over a block of the rows that are present, where it is positive."""
    block = tl.program_id(0).to(tl.int64)
    rows = block * ROWS + tl.arange(0, ROWS)
    is_row = rows < n
    cost = tl.load(row_term + rows, is_row, 0.0) - scale * tl.load(score + rows, is_row, 0.0).to(tl.float64)
    counts = (tl.load(present + rows, is_row, 0) != 0) & (cost > 0)
    tl.store(out + block, tl.sum(tl.where(counts, cost, 0.0), 0))


@triton.jit
def count_labels_kernel(labels, out, n, N_CLUSTERS: tl.constexpr, WIDTH: tl.constexpr, ROWS: tl.constexpr):
    """Count the labels of a block of rows."""
    block, clusters = tl.program_id(0).to(tl.int64), tl.arange(0, WIDTH)
    rows = block * ROWS + tl.arange(0, ROWS)
    values = tl.load(labels + rows, rows < n, -1)
    counts = tl.sum((values[None, :] == clusters[:, None]).to(tl.int32), 1)
    tl.store(out + block * N_CLUSTERS + clusters, counts, clusters < N_CLUSTERS)


def sum_row_costs(score: Any, row_term: Any, present: Any, scale: float) -> Any:
    """Return the sum of ``row_term - scale * score`` over the rows that are present, where it is positive."""
    n_rows = 1024
    out = torch.empty(triton.cdiv(len(score), n_rows), dtype=torch.float64, device=score.device)
    sum_costs_kernel[(len(out),)](score, row_term, present, out, len(score), scale, n_rows)
    return out.sum()


def count_rows(labels: Any, n_clusters: int) -> Any:
    """Return the number of rows with each label, as float64; negative labels are not counted."""
    width = triton.next_power_of_2(n_clusters)
    n_rows = max(64, 8192 // width)
    out = torch.empty((triton.cdiv(len(labels), n_rows), n_clusters), dtype=torch.int32, device=labels.device)
    count_labels_kernel[(len(out),)](labels, out, len(labels), n_clusters, width, n_rows)
    return out.sum(0).double()


@triton.jit
def blend_views_kernel(
    first, offsets, log_priors, present, target_present, fixed_labels, blended, sums, quality, n, stride, eta, target,
    bottom, smallest, N_CLUSTERS: tl.constexpr, WIDTH: tl.constexpr, N_VIEWS: tl.constexpr, HAS_MISSING: tl.constexpr,
    HAS_FIXED: tl.constexpr, WITH_QUALITY: tl.constexpr, ROWS: tl.constexpr,
):  # fmt: skip
    """Compute the posteriors of a block of rows in each view, blend them, and sum what an M-step and a state need."""
    block = tl.program_id(0).to(tl.int64)
    rows, clusters = block * ROWS + tl.arange(0, ROWS), tl.arange(0, WIDTH)
    is_row, is_cluster = rows < n, clusters < N_CLUSTERS
    is_value = is_cluster[:, None] & is_row[None, :]
    labels = tl.zeros((ROWS,), tl.int32) - 1
    if HAS_FIXED:
        labels = tl.load(fixed_labels + rows, is_row, -1).to(tl.int32)
    is_target_row = is_row.to(tl.float32)
    n_present = tl.zeros((ROWS,), tl.float32)
    has_posterior = tl.zeros((ROWS,), tl.float32)
    if HAS_MISSING:
        is_target_row *= tl.load(target_present + rows, is_row, 0).to(tl.float32)
    for v in range(N_VIEWS):
        has_view = is_row.to(tl.float32)
        if HAS_MISSING:
            has_view *= tl.load(present + v * n + rows, is_row, 0).to(tl.float32)
        n_present += has_view
        has_posterior += tl.where(v == target, has_view, 0.0)
    n_others = n_present - has_posterior
    alone = (n_others == 0).to(tl.float32)
    shared = is_target_row * (1 - alone) * (1 - has_posterior * (1 - eta)) / (n_others + alone)
    kept = has_posterior * (1 - eta + eta * alone)

    blend = tl.zeros((WIDTH, ROWS), tl.float32)
    all_posteriors = tl.zeros((WIDTH, ROWS), tl.float32)
    all_logs = tl.zeros((WIDTH, ROWS), tl.float32)
    certainty = tl.zeros((ROWS,), tl.float64)
    lowest = tl.zeros((ROWS,), tl.int32) + N_CLUSTERS
    highest = tl.zeros((ROWS,), tl.int32) - 1
    for v in range(N_VIEWS):
        has_view = is_row.to(tl.float32)
        if HAS_MISSING:
            has_view *= tl.load(present + v * n + rows, is_row, 0).to(tl.float32)
        has_row = has_view > 0
        values = first + tl.load(offsets + v) + clusters[:, None].to(tl.int64) * stride + rows[None, :]
        prior = tl.load(log_priors + v * N_CLUSTERS + clusters, is_cluster, float("-inf"))[:, None]
        joint = tl.load(values, is_value, 0.0) + prior
        impossible = tl.max(joint, 0) <= bottom
        likely = tl.where(impossible[None, :], prior, joint)
        top = tl.max(likely, 0)
        posterior = tl.exp(likely - top[None, :])
        total = tl.sum(posterior, 0)
        posterior /= total[None, :]
        posterior = tl.where(posterior >= smallest, posterior, 0.0)
        evidence = top.to(tl.float64) + tl.log(total).to(tl.float64)
        evidence = tl.where(impossible, float("-inf"), evidence)
        if HAS_FIXED:
            is_class = clusters[:, None] == labels[None, :]
            of_class = tl.sum(tl.where(is_class, joint, 0.0), 0)
            of_class = tl.where(of_class > bottom, of_class.to(tl.float64), float("-inf"))
            evidence = tl.where(labels >= 0, of_class, evidence)
            posterior = tl.where(labels[None, :] >= 0, is_class.to(tl.float32), posterior)
        posterior *= has_view[None, :]
        blend += posterior * tl.where(v == target, kept, shared)[None, :]
        at = (block * (N_VIEWS + 1) + v) * N_CLUSTERS + clusters
        tl.store(sums + at, tl.sum(posterior, 1), is_cluster)

        if WITH_QUALITY:
            excluded = evidence == float("-inf")
            tl.store(quality + block * (N_VIEWS + 4) + v, tl.sum(tl.where(has_row, evidence, 0.0), 0))
            logs = tl.where(excluded[None, :], prior, joint) - tl.where(excluded, 0.0, evidence).to(tl.float32)[None, :]
            logs = tl.where(is_value & has_row[None, :], logs, 0.0)
            certainty += tl.sum(posterior * logs, 0).to(tl.float64)
            all_posteriors += posterior
            all_logs += logs
            best = tl.argmax(tl.where(is_cluster[:, None], posterior, -1.0), 0).to(tl.int32)
            lowest = tl.where(has_row, tl.minimum(lowest, best), lowest)
            highest = tl.where(has_row, tl.maximum(highest, best), highest)

    if HAS_FIXED:  # known classes count also in a view without parameters
        is_class = (clusters[:, None] == labels[None, :]).to(tl.float32) * is_target_row[None, :]
        blend = tl.where(labels[None, :] >= 0, is_class, blend)
    tl.store(blended + clusters[:, None].to(tl.int64) * n + rows[None, :], blend, is_value)
    tl.store(sums + (block * (N_VIEWS + 1) + N_VIEWS) * N_CLUSTERS + clusters, tl.sum(blend, 1), is_cluster)
    if WITH_QUALITY:
        ruled_out = all_logs <= bottom
        against = tl.max(tl.max((ruled_out & (all_posteriors > 0)).to(tl.int32), 0), 0)
        crossed = tl.sum(all_posteriors * tl.where(ruled_out, 0.0, all_logs), 0).to(tl.float64)
        several = n_present > 1
        per_pair = tl.where(several, 1 / tl.where(several, n_present - 1, 1.0), 0.0).to(tl.float64)
        delta = tl.sum(per_pair * (n_present.to(tl.float64) * certainty - crossed), 0)
        delta = tl.where(against > 0, float("inf"), delta)
        counted = several & (labels < 0)
        at = quality + block * (N_VIEWS + 4) + N_VIEWS
        tl.store(at, tl.sum(certainty, 0))
        tl.store(at + 1, delta)
        tl.store(at + 2, tl.sum(counted.to(tl.float64), 0))
        tl.store(at + 3, tl.sum((counted & (lowest == highest)).to(tl.float64), 0))


class TritonLoops(FusedLoops):
    """Loops over dense rows in float32 and posteriors on a GPU, compiled by Triton."""

    @staticmethod
    def compute_whitened_log_prob(X: Any, whitening: Any, shift: Any, constant: Any, origin: Any) -> Any:
        X = make_row_major(X)
        (n, d), k = X.shape, whitening.shape[0]
        out = torch.empty((k, n), dtype=X.dtype, device=X.device)
        width, n_rows, n_warps = choose_tile(d)
        log_prob_kernel[(triton.cdiv(n, n_rows),)](
            X, make_origin(origin, X), whitening.to(X.dtype).contiguous(), shift.contiguous(), constant, out, n,
            X.stride(0), k, d, width, n_rows, num_warps=n_warps,
        )  # fmt: skip
        return out.T

    @staticmethod
    def sum_cross_products(X: Any, weights: Any, origin: Any = None) -> Any:
        X, weights = make_row_major(X), weights.to(X.dtype)
        d, k = X.shape[1], weights.shape[1]
        width, n_rows, n_warps = choose_tile(d)
        n_part, n_parts = split_into_parts(X, n_rows, k * d * d)
        out = torch.empty((n_parts, k, d, d), dtype=X.dtype, device=X.device)
        cross_products_kernel[(n_parts, k)](
            X, make_origin(origin, X), weights, out, X.shape[0], n_part, X.stride(0), *weights.stride(),
            d, width, n_rows, num_warps=n_warps,
        )  # fmt: skip
        return out.sum(0, dtype=torch.float64)

    @staticmethod
    def compute_quadratic_scores(X: Any, linear: Any, quadratic: Any, bias: Any, origin: Any = None) -> Any:
        X = make_row_major(X)
        (n, d), k = X.shape, linear.shape[0]
        out = torch.empty((k, n), dtype=X.dtype, device=X.device)
        width, n_rows, n_warps = choose_score_tile(k)
        linear, quadratic, bias = (values.to(X.dtype).contiguous() for values in (linear, quadratic, bias))
        quadratic_scores_kernel[(triton.cdiv(n, n_rows),)](
            X, make_origin(origin, X), linear, quadratic, bias, out, n, X.stride(0), k, d, True, width, n_rows, COLUMNS,
            num_warps=n_warps,
        )  # fmt: skip
        return out.T

    @staticmethod
    def sum_moments(X: Any, weights: Any, origin: Any) -> tuple[Any, Any]:
        weights = weights.to(X.dtype)
        return sum_rows(X, weights, weights.stride(), weights.shape[1], origin, has_squares=True, is_labels=False)

    @staticmethod
    def blend_views(
        log_probs: Any,
        active: Sequence[int],
        log_priors: Any,
        present: Sequence[Any] | None,
        target_present: Any,
        fixed_labels: Any,
        target: int,
        eta: float,
        bottom: float,
        rows: slice,
        *,
        with_quality: bool,
    ) -> tuple[Any, Any, Any]:
        log_probs, target_present = log_probs[:, :, rows], target_present[rows]
        (_, k, n), n_views = log_probs.shape, len(active)
        device, dtype = log_probs.device, log_probs.dtype
        offsets = torch.tensor([view * log_probs.stride(0) for view in active], device=device)
        width = triton.next_power_of_2(k)
        n_rows = max(32, TILE // 2 // width)
        n_blocks = triton.cdiv(n, n_rows)
        blended = torch.empty((k, n), dtype=dtype, device=device)
        sums = torch.empty((n_blocks, n_views + 1, k), dtype=dtype, device=device)
        quality = torch.empty((n_blocks, n_views + 4), dtype=torch.float64, device=device)
        masks = target_present if present is None else torch.stack([mask[rows] for mask in present])
        classes = masks if fixed_labels is None else fixed_labels[rows]
        blend_views_kernel[(n_blocks,)](
            log_probs, offsets, log_priors.to(dtype), masks, target_present, classes, blended, sums, quality, n,
            log_probs.stride(1), eta, target, bottom, torch.finfo(dtype).smallest_normal,
            k, width, n_views, present is not None, fixed_labels is not None, with_quality, n_rows,
            num_warps=max(1, width * n_rows // TILE),
        )  # fmt: skip
        return blended.T, sums.sum(0, dtype=torch.float64), quality.sum(0)
