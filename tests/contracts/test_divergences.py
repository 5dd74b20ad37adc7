"""What every divergence promises."""

import numpy as np
import pytest
import scipy.sparse as sp

from consilience.arrays import CSR, argmax_scores, build_scorer, to_numpy
from consilience.divergences import Cosine, SquaredEuclidean
from consilience.methods.common.statistics import compute_divergences


def squared_euclidean(X, C):
    return ((X[:, None, :] - C[None, :, :]) ** 2).sum(axis=2)


def one_minus_cosine(X, C):
    X, C = (Z / np.linalg.norm(Z, axis=1, keepdims=True) for Z in (X, C))
    return 1 - X @ C.T


DIVERGENCES = [(SquaredEuclidean(), squared_euclidean), (Cosine(), one_minus_cosine)]
every_divergence = pytest.mark.parametrize(("divergence", "formula"), DIVERGENCES)


def data(seed=0):
    rng = np.random.default_rng(seed)
    return rng.standard_normal((40, 5)) + 3, rng.standard_normal((6, 5)) + 3


@every_divergence
def test_equals_its_formula(divergence, formula, to_kind):
    X, C = data()
    view = divergence.prepare(to_kind(X), to_kind(np.ones(40, bool)))
    centres = divergence.centers(to_kind(C), to_kind(np.ones(6)))
    np.testing.assert_allclose(to_numpy(compute_divergences(view, divergence, centres)), formula(X, C), atol=1e-12)


@every_divergence
def test_equals_its_formula_on_sparse_rows_and_is_finite_for_empty_clusters(divergence, formula):
    X, C = data()
    X[X < 3] = 0
    view = divergence.prepare(CSR.from_scipy(sp.csr_array(X)), np.ones(40, bool))
    centres = divergence.centers(C, np.ones(6))
    np.testing.assert_allclose(compute_divergences(view, divergence, centres), formula(X, C), atol=1e-12)
    assert np.array_equal(divergence.centers(np.zeros((1, 3)), np.zeros(1)), np.zeros((1, 3)))


@every_divergence
def test_nearest_center_has_smallest_divergence(divergence, formula):
    X, C = data()
    view = divergence.prepare(X, np.ones(40, bool))
    labels, value = argmax_scores(
        view.X, build_scorer(view.X, *divergence.affine(divergence.centers(C, np.ones(6)), view.origin))
    )
    assert np.array_equal(labels, formula(X, C).argmin(axis=1))
    np.testing.assert_allclose(view.row_term - divergence.scale * value, formula(X, C).min(axis=1), atol=1e-12)


@every_divergence
def test_center_minimizes_total_divergence(divergence, formula):
    X, _ = data()
    view = divergence.prepare(X, np.ones(40, bool))
    centre = divergence.centers(view.X.sum(axis=0)[None, :], np.array([40.0]))
    least = formula(X, centre).sum()
    rng = np.random.default_rng(1)
    for step in (1e-3, 1e-1, 1.0):
        for _ in range(20):
            assert formula(X, centre + step * rng.standard_normal(centre.shape)).sum() >= least


def test_distances_by_name():
    values = np.array([0.0, 0.25, 1.0])
    np.testing.assert_allclose(SquaredEuclidean().distance(values), [0, 0.5, 1])
    np.testing.assert_allclose(Cosine().distance(values), np.arccos([1, 0.75, 0]))
    assert Cosine().distance(np.array([2.0 + 1e-9]))[0] == pytest.approx(np.pi)  # clipped, not NaN


def test_only_rows_that_are_not_of_unit_length_are_copied_for_cosine():
    X, _ = data()
    unit = X / np.linalg.norm(X, axis=1, keepdims=True)
    assert Cosine().prepare(unit, np.ones(40, bool)).X is unit
    assert Cosine().prepare(unit.astype(np.float32), np.ones(40, bool)).X.dtype == np.float32
    assert not np.shares_memory(Cosine().prepare(X, np.ones(40, bool)).X, X)
    assert SquaredEuclidean().prepare(X, np.ones(40, bool)).X is X
