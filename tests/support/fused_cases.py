"""Cases for the fused kernels of numba and of Triton, compared with plain arithmetic.

As a program, compare those of Triton: on a GPU, or on the CPU if TRITON_INTERPRET=1 makes Triton interpret them.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import numpy as np

from consilience.arrays import namespace, to_numpy
from consilience.arrays.fused import FusedLoops
from consilience.families.base import log_zero, safe_log
from consilience.methods.coem import algorithm
from consilience.rows import ViewRows

ROW_CASES = ((300, 5, 3), (257, 32, 20), (130, 50, 3), (3000, 7, 33))
BLEND_CASES = list(itertools.product((1, 3), *[(False, True)] * 3))
Convert = Callable[[np.ndarray], Any]


def draw(rng: np.random.Generator, *shape: int) -> np.ndarray:
    """Draw normal numbers that float32 represents exactly."""
    return rng.standard_normal(shape).astype(np.float32).astype(np.float64)


def assert_near(actual: Any, expected: np.ndarray, dtype: Any, size: float = 1.0) -> None:
    tolerance = 100 * size * float(namespace(actual).finfo(dtype).eps)
    np.testing.assert_allclose(to_numpy(actual), expected, rtol=tolerance, atol=tolerance)


def check_rows(loops: type[FusedLoops], convert: Convert, dtype: Any, n: int, d: int, k: int) -> None:
    """Compare the kernels that take rows with products in float64."""
    rng = np.random.default_rng(n)
    X, origin, weights = draw(rng, n, d), draw(rng, d), rng.dirichlet(np.ones(k), n).astype(np.float32)
    rows, shifted = convert(X), X - origin
    whitening, shift, constant = draw(rng, k, d, d), draw(rng, k, d), draw(rng, k)
    white = np.einsum("nd,kde->nke", shifted, whitening) - shift
    arguments = (convert(values) for values in (whitening, shift, constant, origin))
    log_prob = loops.compute_whitened_log_prob(rows, *arguments)
    assert_near(log_prob, constant - (white**2).sum(-1) / 2, dtype, d * 10)
    products = np.einsum("nk,nd,ne->kde", weights, X, X, optimize=True)
    assert_near(loops.sum_cross_products(rows, convert(weights)), products, dtype, n)

    by_columns = convert(np.ascontiguousarray(X.T)).T
    assert_near(loops.sum_cross_products(by_columns, convert(weights)), products, dtype, n)

    linear, quadratic, bias = draw(rng, k, d), draw(rng, k, d), draw(rng, k)
    scores = shifted @ linear.T - bias + shifted**2 @ quadratic.T
    arguments = (convert(values) for values in (linear, quadratic, bias, origin))
    assert_near(loops.compute_quadratic_scores(rows, *arguments), scores, dtype, d)
    sums, squares = loops.sum_moments(rows, convert(weights), convert(origin))
    assert_near(sums, weights.T.astype(float) @ shifted, dtype, n)
    assert_near(squares, weights.T.astype(float) @ shifted**2, dtype, n)


def check_blend(
    loops: type[FusedLoops],
    convert: Convert,
    dtype: Any,
    n_views: int,
    has_missing: bool,
    has_fixed: bool,
    extremes: bool,
) -> None:
    """Compare the posteriors, sums and quality of all views with those of the functions that are applied in steps."""
    rng = np.random.default_rng([n_views, has_missing, has_fixed, extremes])
    for target in (-1, 0, n_views - 1):
        check_blend_target(
            loops, convert, dtype, rng, n_views, has_missing, has_fixed, extremes, target, rng.choice([0.0, 0.5, 1.0])
        )


def check_blend_target(
    loops: type[FusedLoops],
    convert: Convert,
    dtype: Any,
    rng: np.random.Generator,
    n_views: int,
    has_missing: bool,
    has_fixed: bool,
    extremes: bool,
    target: int,
    eta: float,
    n: int = 700,
) -> None:
    k, rows = int(rng.integers(2, 12)), slice(31, n)
    names = [f"view{i}" for i in range(n_views)]
    log_probs = 5 * draw(rng, n_views + 1, k, n)
    priors = rng.dirichlet(np.ones(k), n_views)
    if extremes:
        priors[0, 1] = 0
        bottom = log_zero(dtype)
        log_probs[:, :, 35], log_probs[:, 0, 37], log_probs[:, :, 39] = bottom, bottom, 50 * log_probs[:, :, 39]
    masks = rng.random((n_views + 1, n)) < (0.7 if has_missing else 2)
    fixed_labels = np.where(rng.random(n) < 0.2, rng.integers(0, k, n), -1) if has_fixed else None

    log_probs, arrays = convert(log_probs), [convert(mask) for mask in masks]
    fixed_array = None if fixed_labels is None else convert(fixed_labels)
    posteriors = {}
    for i, name in enumerate(names):
        values, present = log_probs[i, :, rows].T, arrays[i][rows]
        fixed = None if fixed_array is None else fixed_array[rows]
        posterior, evidence = algorithm.compute_posteriors(values, safe_log(convert(priors[i]), dtype), fixed)
        evidence[~present], posterior[~present] = 0.0, 0.0
        posteriors[name] = algorithm.ViewPosterior(values, posterior, evidence, present, not has_missing)
    views = {name: ViewRows(log_probs[0, :, :].T, mask) for name, mask in zip([*names, "new"], arrays, strict=True)}
    target_name = [*names, "new"][target]
    if target >= 0:
        del views["new"]
    expected = algorithm.blend_posteriors(views, posteriors, target_name, eta, rows)
    if has_fixed and target < 0:
        expected = algorithm.clamp_posteriors(expected + 0, fixed)
        expected[~arrays[-1][rows]] = 0.0
    terms = algorithm.compute_disagreement_terms(
        posteriors, {name: convert(prior) for name, prior in zip(names, priors, strict=True)}
    )
    terms |= algorithm.count_posterior_agreement(list(posteriors.values()), fixed if has_fixed else None)

    blended, sums, quality = loops.blend_views(
        log_probs,
        list(range(n_views)),
        safe_log(convert(priors), dtype),
        arrays[:-1] if has_missing else None,
        arrays[target],
        fixed_array,
        target,
        eta,
        log_zero(dtype) / 2,
        rows,
        with_quality=True,
    )
    assert_near(blended, to_numpy(expected), dtype)
    totals = [to_numpy(values).sum(0) for values in (*(view.posterior for view in posteriors.values()), expected)]
    assert_near(sums, np.stack(totals), dtype, n)
    likelihoods = [float(view.evidence.sum()) for view in posteriors.values()]
    assert_near(quality, np.array([*likelihoods, *(float(terms[key]) for key in algorithm.QUALITY)]), dtype, n)


def check_triton() -> None:
    import torch

    from consilience.arrays import triton_kernels
    from consilience.arrays.triton_kernels import TritonLoops

    def convert(values: np.ndarray) -> Any:
        array = torch.asarray(values, device="cuda" if torch.cuda.is_available() else "cpu")
        return array.float() if array.is_floating_point() else array

    for case in ROW_CASES[:3]:
        check_rows(TritonLoops, convert, torch.float32, *case)
    for blend_case in BLEND_CASES:
        check_blend(TritonLoops, convert, torch.float32, *blend_case)
    rng = np.random.default_rng(0)
    X, table, bias = draw(rng, 300, 5), draw(rng, 4, 5), draw(rng, 4)
    scores = X @ table.T - bias
    labels, best = triton_kernels.find_largest_scores(convert(X), convert(table), convert(bias))
    assert np.array_equal(to_numpy(labels), scores.argmax(1))
    assert_near(best, scores.max(1), torch.float32, 10)
    ties = triton_kernels.find_largest_scores(convert(X * 0), convert(table * 0), None)[0]
    assert not ties.any(), "the first on ties"
    labels[:5] = -1
    sums = np.stack([X[to_numpy(labels) == cluster].sum(0) for cluster in range(4)])
    assert_near(triton_kernels.sum_by_label(convert(X), labels, 4), sums, torch.float32, 100)
    assert np.array_equal(
        to_numpy(triton_kernels.count_rows(labels, 4)), np.bincount(to_numpy(labels)[5:], minlength=4)
    )
    row_term, present = draw(rng, 300) ** 2, rng.random(300) < 0.5
    cost = np.where(present, np.maximum(row_term - 2 * to_numpy(best), 0), 0).sum()
    total = triton_kernels.sum_row_costs(best, torch.asarray(row_term, device=best.device), convert(present), 2.0)
    assert_near(total, cost, torch.float64, 1e6)
    print("all kernels agree")


if __name__ == "__main__":
    check_triton()
