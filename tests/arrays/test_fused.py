"""Compiled loops over all rows at once, against plain products and the functions that are applied in steps."""

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from consilience.arrays import add_label_sums, argmax_scores, build_scorer, sum_costs, use_threads
from consilience.arrays.dense_verbs import CompiledLoops
from consilience.arrays.fused import WORTH_COMPILED
from tests.support import fused_cases

ROOT = Path(__file__).parents[2]


def make_converter(dtype):
    return lambda values: values.astype(dtype) if values.dtype.kind == "f" else values


@pytest.mark.parametrize(
    ("case", "dtype"), list(zip(fused_cases.ROW_CASES, [np.float64, np.float32, np.float32, np.float64], strict=True))
)
def test_compiled_loops_over_rows_agree_with_plain_products(case, dtype):
    with use_threads(1):
        fused_cases.check_rows(CompiledLoops, make_converter(dtype), dtype, *case)


@pytest.mark.parametrize("case", fused_cases.BLEND_CASES)
def test_compiled_blend_agrees_with_the_steps(case):
    _, has_missing, has_fixed, _ = case
    dtype = np.float32 if has_missing == has_fixed else np.float64  # a kernel is compiled for each combination
    fused_cases.check_blend(CompiledLoops, make_converter(dtype), dtype, *case)


@pytest.mark.parametrize(
    ("order", "dtype", "has_origin"), [("C", np.float32, True), ("C", np.float64, False), ("F", np.float32, False)]
)
def test_many_rows_get_the_labels_costs_and_sums_of_few_rows(order, dtype, has_origin):
    rng = np.random.default_rng(0)
    X = np.asarray(rng.standard_normal((20_000, 9)) + 5, dtype, order=order)
    scorer = build_scorer(X, rng.standard_normal((7, 9)), rng.standard_normal(7), X[0] if has_origin else None)
    assert X.size >= WORTH_COMPILED
    labels, best = argmax_scores(X, scorer)
    parts = [argmax_scores(X[i : i + 1000], scorer) for i in range(0, len(X), 1000)]
    assert (labels == np.concatenate([part[0] for part in parts])).mean() > 0.999  # products may round differently
    np.testing.assert_allclose(best, np.concatenate([part[1] for part in parts]), rtol=1e-3, atol=1e-4)
    row_term, present = np.full(len(X), 3.0), rng.random(len(X)) < 0.8
    cost = np.where(present, np.maximum(3 - 2 * best.astype(float), 0), 0).sum()
    assert sum_costs(best, row_term, present, 2.0) == pytest.approx(cost, rel=1e-12)
    labels[::3] = -1
    sums = add_label_sums(X, labels, np.zeros((7, 9)))
    expected = [X[labels == cluster].astype(float).sum(0) for cluster in range(7)]
    np.testing.assert_allclose(sums, expected, rtol=1e-9, atol=1e-7)


def test_rows_without_scores_get_a_valid_label_and_the_first_of_equal_scores_wins():
    X = np.full((10_000, 8), np.nan)
    assert X.size >= WORTH_COMPILED
    labels, _ = argmax_scores(X, build_scorer(X, np.ones((7, 8))))
    assert ((labels >= 0) & (labels < 7)).all()
    labels, _ = argmax_scores(np.ones_like(X), build_scorer(X, np.ones((7, 8))))
    assert not labels.any()


def test_kernels_of_triton_agree_with_plain_arithmetic():
    pytest.importorskip("triton")
    environment = {**os.environ, "TRITON_INTERPRET": "1", "PYTHONPATH": str(ROOT)}
    command = [sys.executable, "-m", "tests.support.fused_cases"]
    result = subprocess.run(command, capture_output=True, text=True, env=environment, check=False, cwd=ROOT)
    assert "all kernels agree" in result.stdout, result.stderr
