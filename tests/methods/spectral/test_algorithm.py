"""Co-trained spectral clustering without n x n matrices against the literal algorithm of the paper."""

from itertools import islice

import numpy as np
import pytest
from scipy.linalg import subspace_angles

import literal
from consilience.affinities import Cosine, Gaussian, Landmarks, Linear, NearestNeighbors, Precomputed
from consilience.arrays import normalize_rows
from consilience.datasets import load_digits_views, make_gaussian_views
from consilience.methods.spectral.algorithm import (
    compute_alignment,
    compute_compactness,
    embed_view,
    find_smallest_entry,
    place_entities,
    project_view,
    run_co_training,
)


def blocks_of(n_views):
    options = {"n_clusters": 4, "n_features": (5, 4, 6)[:n_views], "separation": 4, "random_state": 1}
    return [block for _, block in make_gaussian_views(150, **options)[0].items()]


def operators_of(affinity, blocks):
    return [affinity.build_operator(X, np.random.default_rng(0)) for X in blocks]


def rounds_of(operators, n_vectors, n_rounds, n_projections=None):
    rounds = run_co_training(operators, n_vectors, n_projections or n_vectors, np.random.default_rng(0))
    return list(islice(rounds, n_rounds + 1))


def sine(first, second):
    return float(np.sin(subspace_angles(first.astype(float), second.astype(float))).max())


@pytest.mark.parametrize(
    ("affinity", "n_views", "n_vectors", "shifted"),
    [
        (Gaussian("median"), 2, 4, True),
        (Gaussian("median"), 2, 6, True),
        (Gaussian("median"), 3, 4, False),
        (Gaussian("median"), 3, 6, False),
        (Gaussian(1.0), 2, 6, True),
        (Gaussian(1.0), 3, 4, True),
        (NearestNeighbors(15, "euclidean"), 2, 4, True),
        (NearestNeighbors(15, "euclidean"), 3, 6, True),
        (Linear(), 2, 4, False),
        (Cosine(), 3, 4, False),
    ],
)
def test_matches_the_literal_algorithm(affinity, n_views, n_vectors, shifted):
    blocks = blocks_of(n_views)
    operators = operators_of(affinity, blocks)
    kernels = [operator @ np.eye(150) for operator in operators]
    for n_rounds, views in enumerate(rounds_of(operators, n_vectors, 3)):
        expected, was_shifted = literal.co_trained_spectral(kernels, n_vectors, n_rounds)
        for view, U in zip(views, expected, strict=True):
            assert sine(view.U, U) < 1e-8
    assert was_shifted == shifted


@pytest.mark.parametrize(("width", "shifted"), [(1.0, False), (0.3, True)])
def test_matches_the_literal_algorithm_on_digits(width, shifted):
    views, _ = load_digits_views()
    blocks = [views[name][::4] for name in ("fou", "fac", "zer")]
    operators = [operators_of(Gaussian(width * Gaussian().learn(X).bandwidth), [X])[0] for X in blocks]
    expected, was_shifted = literal.co_trained_spectral([operator @ np.eye(500) for operator in operators], 10, 3)
    assert was_shifted == shifted
    for view, U in zip(rounds_of(operators, 10, 3)[-1], expected, strict=True):
        assert sine(view.U, U) < 1e-8


def test_rounds_do_not_depend_on_the_order_of_views():
    operators = operators_of(Gaussian(), blocks_of(3))
    straight = rounds_of(operators, 4, 2)[-1]
    turned = rounds_of(operators[::-1], 4, 2)[-1][::-1]
    assert max(sine(a.U, b.U) for a, b in zip(straight, turned, strict=True)) < 1e-8


def test_blocks_and_float32_give_the_same_embedding(tune):
    blocks = blocks_of(3)
    whole = rounds_of(operators_of(Gaussian(), blocks), 4, 2)[-1]
    single = rounds_of(operators_of(Gaussian(), [X.astype(np.float32) for X in blocks]), 4, 2)[-1]
    tune("arrays.pairwise", max_cached_bytes=0, symmetric_tile=1000)
    tune("methods.spectral.algorithm", search_block=1000)
    cut = rounds_of(operators_of(Gaussian(), blocks), 4, 2)[-1]
    for a, b, c in zip(whole, cut, single, strict=True):
        assert sine(a.U, b.U) < 1e-10
        assert c.U.dtype == np.float32
        assert sine(a.U, c.U) < 1e-3


@pytest.mark.parametrize("searched", [50, 1 << 22])
def test_find_smallest_entry(searched, tune):
    tune("methods.spectral.algorithm", search_block=searched)
    rng = np.random.default_rng(0)
    A, B = rng.standard_normal((2, 70, 3))
    S = (A @ B.T + B @ A.T) / 2
    assert find_smallest_entry(A, B, True, rng) == pytest.approx(S.min(), rel=1e-12)
    sampled = find_smallest_entry(A, B, False, rng)  # all rows are in the sample of so few
    assert sampled == pytest.approx(S.min(), rel=1e-12)
    tune("methods.spectral.algorithm", shift_sample=10)
    assert S.min() <= find_smallest_entry(A, B, False, rng) <= np.median(S)


@pytest.mark.parametrize(
    ("affinity", "n_rounds"),
    [
        (Gaussian(), 0),
        (Gaussian(), 3),
        (NearestNeighbors(15, "euclidean"), 1),
        (Landmarks(60, 5, "euclidean"), 3),
        (Linear(), 1),
    ],
)
def test_placing_fitted_entities_repeats_the_embedding(affinity, n_rounds):
    blocks = blocks_of(3)
    operators = operators_of(affinity, blocks)
    rounds = rounds_of(operators, 5, n_rounds)
    crosses = [operator.compare_with(X[30:50]) for operator, X in zip(operators, blocks, strict=True)]
    placed = place_entities(rounds, crosses, n_projections=5)
    for U, view in zip(placed, rounds[-1], strict=True):
        np.testing.assert_allclose(U, view.U[30:50], atol=1e-8)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_null_eigenvectors_are_zero(dtype):
    X = np.random.default_rng(0).random((50, 2)).astype(dtype)
    first, last = rounds_of([operators_of(affinity, [X])[0] for affinity in (Linear(), Gaussian())], 5, 1)
    assert np.count_nonzero(first[0].values) == 2
    assert not first[0].U[:, 2:].any()
    assert np.isfinite(last[0].U).all()


def test_isolated_entity_stays_at_zero():
    X = np.random.default_rng(0).random((30, 4)) * [1, 1, 0, 0]
    X[7] = [0, 0, 1, 0]  # shares no column with anyone; its cosine with itself is all it has
    lonely = np.random.default_rng(0).random((30, 30))
    lonely = lonely + lonely.T
    lonely[7] = lonely[:, 7] = 0
    first, last = rounds_of([*operators_of(Precomputed(), [lonely]), *operators_of(Cosine(), [X])], 3, 1)
    assert not first[0].U[7].any()
    assert all(np.isfinite(view.U).all() for view in [*first, *last])


@pytest.mark.parametrize("affinity", [Gaussian(), Gaussian(0.5), NearestNeighbors(15, "euclidean"), Linear()])
def test_first_eigenvectors_do_not_depend_on_the_solver(affinity, tune):
    (operator,) = operators_of(affinity, blocks_of(1))
    dense = embed_view(operator, 4, np.random.default_rng(0))
    tune("methods.spectral.eigen", max_dense=0)
    iterative = embed_view(operator, 4, np.random.default_rng(0))
    assert dense.converged
    assert iterative.converged
    np.testing.assert_allclose(dense.values, iterative.values, atol=1e-10)
    assert sine(dense.U, iterative.U) < 1e-7
    assert iterative.next_eigenvalue <= dense.next_eigenvalue + 1e-10


@pytest.mark.parametrize("max_dense", [0, 400])
def test_similarities_of_few_dimensions_leave_columns_of_zeros(max_dense, tune):
    tune("methods.spectral.eigen", max_dense=max_dense)
    (operator,) = operators_of(Linear(), [np.abs(blocks_of(1)[0][:, :2])])
    embedding = embed_view(operator, 6, np.random.default_rng(0))
    assert embedding.U.shape == (150, 6)
    assert not embedding.U[:, 2:].any()
    assert not embedding.values[2:].any()
    assert embedding.values[:2].all()


def test_compute_alignment():
    operators = operators_of(Gaussian(), blocks_of(2))
    first, second = rounds_of(operators, 4, 1)
    assert 0 <= compute_alignment(first, 4) < compute_alignment(second, 4) <= 1
    assert compute_alignment([first[0], first[0]], 4) == pytest.approx(1)
    assert compute_alignment([first[0]], 4) == 1


def test_compute_compactness():
    rng = np.random.default_rng(0)
    E, labels = rng.standard_normal((40, 3)), rng.integers(0, 4, 40)
    within = sum(np.sum((E[i] - E[labels == labels[i]].mean(axis=0)) ** 2) for i in range(40))
    total = sum(np.sum((row - E.mean(axis=0)) ** 2) for row in E)
    assert compute_compactness(E, labels, 4) == pytest.approx(1 - within / total)
    assert compute_compactness(E, labels, 9) == pytest.approx(1 - within / total)  # empty clusters do not count
    assert compute_compactness(np.eye(4)[labels], labels, 4) == pytest.approx(1)
    assert compute_compactness(E, np.zeros(40, int), 4) == pytest.approx(0)
    assert compute_compactness(np.ones((40, 3)), labels, 4) == 0


def test_projection_only_multiplies():
    """A projection only computes `K @ A`, so no n x n matrix is formed."""
    (K,) = operators_of(Gaussian(), blocks_of(1))
    products = []

    class Product:
        shape, dtype, exact = K.shape, K.dtype, True

        def __matmul__(self, U):
            products.append(U.shape)
            return K @ U

    A = np.linalg.qr(np.random.default_rng(0).standard_normal((150, 4)))[0]
    projected, expected = (project_view(operator, A, 4, np.random.default_rng(0)) for operator in (Product(), K))
    assert sine(projected.U, expected.U) < 1e-10
    assert products == [(150, 4)]


@pytest.mark.parametrize(("n_vectors", "n_projections"), [(4, 2), (7, 7), (4, 4)])
def test_number_of_projections(n_vectors, n_projections):
    blocks = blocks_of(3)
    operators = operators_of(Gaussian(), blocks)
    projected = rounds_of(operators, n_vectors, 1, n_projections)[-1]
    kernels = [operator @ np.eye(150) for operator in operators]
    U = [literal.spectral_embedding(K, n_projections) for K in kernels]
    for v, (view, K) in enumerate(zip(projected, kernels, strict=True)):
        P = sum(other @ other.T for i, other in enumerate(U) if i != v)
        S = (P @ K + K @ P) / 2
        assert sine(view.U, literal.spectral_embedding(S - min(S.min(), 0), n_vectors)) < 1e-8


def test_placing_entities_alone_or_together_is_equal():
    blocks = blocks_of(2)
    operators = operators_of(Gaussian(1.0), blocks)
    rounds = rounds_of(operators, 4, 1)
    new = [X[:40] * np.linspace(1, 6, 40)[:, None] for X in blocks]  # some of them similar to hardly any other
    together = place_entities(rounds, [K.compare_with(X) for K, X in zip(operators, new, strict=True)], 4)
    for i in range(40):
        alone = place_entities(rounds, [K.compare_with(X[i : i + 1]) for K, X in zip(operators, new, strict=True)], 4)
        for U, others in zip(alone, together, strict=True):
            np.testing.assert_allclose(U[0], others[i], rtol=1e-6, atol=1e-12)


def test_tiny_rows_are_scaled_to_unit_length():
    U = np.array([[3e-30, 4e-30], [0, 0], [3e-3, 4e-3]], np.float32)
    np.testing.assert_allclose(normalize_rows(U), [[0.6, 0.8], [0, 0], [0.6, 0.8]], rtol=1e-6)
