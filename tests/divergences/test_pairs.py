"""Divergences of rows and rows: each against two loops, its density against scipy's, its refusals by message."""

import pickle
from itertools import product

import numpy as np
import pytest
import scipy.sparse as sp
from scipy import stats
from scipy.spatial.distance import cdist
from scipy.special import gammaln, kl_div, rel_entr

from consilience.arrays import CSR, as_rows, as_rows_like, to_numpy
from consilience.divergences import (
    DIVERGENCES,
    Bernoulli,
    Cosine,
    ItakuraSaito,
    Kernel,
    KullbackLeibler,
    Likelihood,
    Mahalanobis,
    NoDivergenceError,
    Precomputed,
    SquaredEuclidean,
)

pytestmark = pytest.mark.quick

COVARIANCE = np.array([[2.0, 0.6, 0.0], [0.6, 1.0, -0.3], [0.0, -0.3, 0.5]])


def measurements(n=25, seed=0):
    mixing = [[2.0, 1.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.5, 0.3]]
    return np.random.default_rng(seed).standard_normal((n, 3)) @ mixing + 1


def counts():
    return np.random.default_rng(1).poisson(1.5, (25, 6)).astype(float)


def make_filled_counts():
    return np.random.default_rng(2).dirichlet(np.full(6, 2.0), 25)


def shares():
    X = np.random.default_rng(3).uniform(-0.3, 1.3, (25, 6))
    return np.clip(X, 0, 1)  # many zeros and ones


def make_zeros_and_ones():
    return np.random.default_rng(4).integers(0, 2, (25, 6)).astype(float)


def spectra():
    return np.random.default_rng(5).lognormal(0, 2, (25, 6))


def asymmetric():
    D = cdist(measurements(), measurements(), "sqeuclidean")
    return D * np.random.default_rng(6).uniform(0.5, 1, D.shape)


def similarities():
    return measurements() @ measurements().T


def pair_by_pair(function):
    """A function of two rows as a function of a table: two loops."""
    return lambda X: np.array([[function(x, y) for y in X] for x in X])


def relative_entropy(smoothing):
    return lambda X: pair_by_pair(lambda x, y: kl_div(x + smoothing(X), y + smoothing(X)).sum())(X)


def logistic(margin):
    def of_two(x, y):
        x, y = (np.clip(row, margin, 1 - margin) for row in (x, y))
        return (rel_entr(x, y) + rel_entr(1 - x, 1 - y)).sum()

    return pair_by_pair(of_two)


def mahalanobis(X, C):
    return pair_by_pair(lambda x, y: (x - y) @ np.linalg.solve(C, x - y))(X)


def from_similarities(K):
    n = len(K)
    return np.array([[K[i, i] + K[j, j] - 2 * K[i, j] for j in range(n)] for i in range(n)])


CASES = {
    "squared-euclidean": (SquaredEuclidean(), measurements, lambda X: cdist(X, X, "sqeuclidean")),
    "cosine": (Cosine(), measurements, lambda X: cdist(X, X, "cosine")),
    "kl": (KullbackLeibler(), counts, relative_entropy(np.mean)),
    "kl-smoothed": (KullbackLeibler(0.3), counts, relative_entropy(lambda _: 0.3)),
    "kl-positive": (KullbackLeibler(), make_filled_counts, relative_entropy(lambda _: 0.0)),
    "kl-positive-smoothed": (KullbackLeibler(0.01), make_filled_counts, relative_entropy(lambda _: 0.01)),
    "bernoulli": (Bernoulli(), shares, logistic(1e-3)),
    "bernoulli-binary": (Bernoulli(1e-6), make_zeros_and_ones, logistic(1e-6)),
    "bernoulli-wide-margin": (Bernoulli(0.2), shares, logistic(0.2)),
    "itakura-saito": (ItakuraSaito(), spectra, pair_by_pair(lambda x, y: (x / y - np.log(x / y) - 1).sum())),
    "mahalanobis": (Mahalanobis(), measurements, lambda X: mahalanobis(X, np.cov(X.T))),
    "mahalanobis-given": (Mahalanobis(COVARIANCE), measurements, lambda X: mahalanobis(X, COVARIANCE)),
    "precomputed": (Precomputed(), asymmetric, np.copy),
    "kernel": (Kernel(), similarities, from_similarities),
}
SPARSE = [name for name in CASES if name.startswith(("squared", "cosine", "kl", "bernoulli"))]
every_divergence = pytest.mark.parametrize(("divergence", "rows", "reference"), CASES.values(), ids=CASES)
every_sparse_one = pytest.mark.parametrize(("divergence", "rows"), [CASES[name][:2] for name in SPARSE], ids=SPARSE)


def all_pairs(divergence, X):
    """The measure, and all divergences of the rows of the fit."""
    measure = divergence.learn(X)
    return measure, -to_numpy(measure.tile(measure.points(X), measure.exemplars(X)))


@every_divergence
def test_equals_reference_pair_by_pair(divergence, rows, reference):
    X = rows()
    measure, result = all_pairs(divergence, X)
    expected = reference(X)
    size = expected.max()
    np.testing.assert_allclose(result, expected, rtol=1e-10, atol=1e-12 * size)
    np.testing.assert_allclose(np.diag(result), 0, atol=1e-13 * size)
    points, exemplars = measure.points(X), measure.exemplars(X)
    assert measure.total(points, exemplars) == pytest.approx(expected.sum(), rel=1e-10)
    part = measure.tile(points.slice_rows(slice(3, 9)), exemplars.take(np.array([20, 1, 4])))
    np.testing.assert_allclose(-part, expected[3:9][:, [20, 1, 4]], rtol=1e-10, atol=1e-12 * size)
    if not divergence.columns_are_entities:
        total = measure.total(measure.points(X[:7]), measure.exemplars(X[5:]))
        assert total == pytest.approx(expected[:7, 5:].sum(), rel=1e-10)


@every_divergence
def test_likelihood_is_at_most_one_and_rows_are_not_modified(divergence, rows, reference):
    X = rows()
    measure, result = all_pairs(divergence, X)
    points, exemplars = measure.points(X), measure.exemplars(X)
    for beta in (0.01, 1.0, 1e4):
        likelihood = Likelihood(measure, beta).tile(points, exemplars)
        np.testing.assert_allclose(likelihood, np.exp(-beta * np.maximum(result, 0)), rtol=1e-12)
        assert likelihood.max() <= 1
        np.testing.assert_allclose(np.diag(likelihood), 1, atol=1e-13 * beta * result.max())
    assert np.array_equal(X, rows())
    assert np.array_equal(-measure.tile(points, exemplars), result)
    again = pickle.loads(pickle.dumps(measure))
    assert np.array_equal(-again.tile(again.points(X), again.exemplars(X)), result)


KINDS = ["torch", "array_api_strict"]


@pytest.mark.parametrize(
    ("name", "to_kind"), [(name, KINDS[i % 2]) for i, name in enumerate(CASES)], indirect=["to_kind"]
)
def test_all_array_kinds_give_equal_results(name, to_kind):
    divergence, rows, _ = CASES[name]
    X = rows()
    _, expected = all_pairs(divergence, X)
    measure = divergence.learn(to_kind(X))
    points, exemplars = measure.points(to_kind(X)), measure.exemplars(to_kind(X))
    tile = measure.tile(points, exemplars)
    assert type(tile) is type(to_kind(X))
    np.testing.assert_allclose(-to_numpy(tile), expected, rtol=1e-10, atol=1e-12 * expected.max())
    assert measure.total(points, exemplars) == pytest.approx(expected.sum(), rel=1e-10)
    likelihood = to_numpy(Likelihood(measure, 0.7).tile(points, exemplars))
    np.testing.assert_allclose(likelihood, np.exp(-0.7 * expected), atol=1e-12)
    of_numpy = divergence.learn(X)
    np.testing.assert_allclose(
        to_numpy(measure.tile(measure.new_points(to_kind(X)), exemplars)),
        of_numpy.tile(of_numpy.new_points(X), of_numpy.exemplars(X)),
        rtol=1e-10,
        atol=1e-12 * expected.max(),
    )
    assert np.array_equal(to_numpy(divergence.comparable(to_kind(X))), divergence.comparable(X))


@every_divergence
def test_float32_is_close_to_float64(divergence, rows, reference):
    X = rows().astype(np.float32)
    measure, single = all_pairs(divergence, X)
    _, double = all_pairs(divergence, X.astype(np.float64))
    assert single.dtype == (np.float32 if divergence.has_kernel else np.float64)  # logarithms of counts would cancel
    np.testing.assert_allclose(single, double, rtol=1e-4, atol=2e-6 * double.max())
    total = measure.total(measure.points(X), measure.exemplars(X))
    assert total == pytest.approx(double.sum(), rel=1e-5)


@every_sparse_one
def test_sparse_rows_equal_dense_rows(divergence, rows):
    X = rows()
    if divergence in (SquaredEuclidean(), Cosine()):
        X[X < 1] = 0
        X[4] = 0
    S = as_rows(sp.csr_array(X))
    _, expected = all_pairs(divergence, X)
    sparse, result = all_pairs(divergence, S)
    assert isinstance(sparse.points(S).X, CSR)
    assert isinstance(sparse.exemplars(S).X, CSR)
    np.testing.assert_allclose(result, expected, rtol=1e-10, atol=1e-12 * expected.max())
    assert sparse.total(sparse.points(S), sparse.exemplars(S)) == pytest.approx(expected.sum(), rel=1e-10)
    single = as_rows(sp.csr_array(X.astype(np.float32)))
    np.testing.assert_allclose(all_pairs(divergence, single)[1], expected, rtol=1e-4, atol=1e-5 * expected.max())


def test_stored_zeros_count_as_zeros():
    X = counts()
    stored = sp.csr_array(X + 1)
    stored.data -= 1
    assert stored.nnz == X.size
    _, result = all_pairs(KullbackLeibler(), as_rows(stored))
    np.testing.assert_allclose(result, CASES["kl"][2](X), rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize(
    ("divergence", "dtype"),
    [
        (SquaredEuclidean(), np.float32),
        (SquaredEuclidean(), np.float64),
        (Mahalanobis(), np.float32),
        (Mahalanobis(COVARIANCE), np.float64),
    ],
)
def test_rows_far_from_zero_do_not_cancel(divergence, dtype):
    X = np.round(measurements() * 64) / 64  # float32 has room for these, here and there
    far = (X + 1e4).astype(dtype)
    assert np.array_equal(far - dtype(1e4), X)
    measure, result = all_pairs(divergence, far)
    _, expected = all_pairs(divergence, X)
    accuracy = 100 * float(np.finfo(dtype).eps)
    np.testing.assert_allclose(result, expected, rtol=accuracy, atol=accuracy * expected.max())
    total = measure.total(measure.points(far), measure.exemplars(far))
    assert total == pytest.approx(expected.sum(), rel=accuracy)


def test_mahalanobis_ignores_directions_without_variance():
    X = measurements()[:, :2]
    wide = np.column_stack([X, X @ [1.0, -2.0], np.full(len(X), 7.0)])
    _, result = all_pairs(Mahalanobis(), wide)
    np.testing.assert_allclose(result, mahalanobis(X, np.cov(X.T)), rtol=1e-8, atol=1e-10)


def test_kl_of_new_rows_with_zeros_where_the_fit_had_none():
    X, others = make_filled_counts(), counts()
    for new_rows in (others, as_rows(sp.csr_array(others))):
        measure = KullbackLeibler().learn(X)
        result = -measure.tile(measure.new_points(new_rows), measure.exemplars(X))
        expected = np.array([[kl_div(x, y).sum() for y in X] for x in others])
        np.testing.assert_allclose(result, expected, rtol=1e-10, atol=1e-12)


def test_rows_of_zeros_are_all_equal():
    for X in (np.zeros((4, 3)), as_rows(sp.csr_array((4, 3)))):
        _, result = all_pairs(KullbackLeibler(), X)
        np.testing.assert_array_equal(result, 0)


def test_row_of_zeros_has_no_direction():
    X = measurements()
    X[3] = 0
    assert np.flatnonzero(~Cosine().comparable(X)).tolist() == [3]
    _, result = all_pairs(Cosine(), X)
    np.testing.assert_allclose(result[3], 1)
    assert all(divergence().comparable(X).all() for name, divergence in DIVERGENCES.items() if name != "cosine")


def test_new_entities_of_precomputed_matrices():
    X, new = measurements(), measurements(6, seed=9)
    gaussian = np.exp(-cdist(X, X, "sqeuclidean"))
    measure = Kernel().learn(gaussian)
    points = measure.new_points(np.exp(-cdist(new, X, "sqeuclidean")))
    expected = 2 - 2 * np.exp(-cdist(new, X, "sqeuclidean"))
    np.testing.assert_allclose(-measure.tile(points, measure.exemplars(gaussian)), expected, atol=1e-14)
    apart = cdist(X, X)
    measure = Precomputed().learn(apart)
    result = measure.tile(measure.new_points(cdist(new, X)), measure.exemplars(apart))
    np.testing.assert_array_equal(-result, cdist(new, X))
    with pytest.raises(NoDivergenceError, match=r"needs distances, and one is negative, -0\.5"):
        measure.new_points(np.full((1, 25), -0.5))


def test_kernel_with_unequal_diagonal_bounds_the_diagonal_of_new_entities():
    K = similarities()
    measure = Kernel().learn(K)
    of_the_fit = -measure.tile(measure.new_points(K[:4]), measure.exemplars(K))
    np.testing.assert_allclose(of_the_fit, np.diag(K)[:4, None] + np.diag(K) - 2 * K[:4], atol=1e-12)
    others = -measure.tile(measure.new_points(K[:4] / 2), measure.exemplars(K))
    np.testing.assert_allclose(others, np.diag(K)[:4, None] / 4 + np.diag(K) - K[:4], atol=1e-12)


@every_divergence
def test_divergences_with_a_kernel_are_squared_distances_without_a_caveat(divergence, rows, reference):
    D = reference(rows())
    centring = np.eye(len(D)) - 1 / len(D)
    least = np.linalg.eigvalsh(-centring @ (D + D.T) @ centring / 4)[0]
    embeds = np.allclose(D, D.T) and least > -1e-9 * D.max()
    if isinstance(divergence, Precomputed):
        assert divergence.has_kernel  # what is given is taken to be one
    else:
        assert divergence.has_kernel == (embeds and rows is not make_zeros_and_ones)  # which depends on the rows
    assert divergence.columns_are_entities == isinstance(divergence, Precomputed | Kernel)
    symmetric = (rows() + rows().T) / 2 if isinstance(divergence, Precomputed) else rows()
    assert divergence.learn(symmetric).caveat is None


def mass(divergence, X, grid, beta):
    """What C(x) exp(-beta d(x, y)) gives at each row of a grid, for each y of the fit."""
    measure = divergence.learn(X)
    grid = as_rows_like(grid, X)
    d = -measure.tile(measure.new_points(grid), measure.exemplars(X))
    return np.exp(measure.log_normalizer(grid, beta)[:, None] - beta * d)


def plane(low, high, steps):
    axis = np.linspace(low, high, steps)
    return np.array(list(product(axis, axis))), (axis[1] - axis[0]) ** 2


@pytest.mark.parametrize("beta", [0.3, 7.0])
def test_gaussian_densities_integrate_to_one(beta):
    X = measurements(8)[:, :2]
    reach = 12 + 14 / beta**0.5
    grid, cell = plane(-reach, reach, 281)
    for divergence in (SquaredEuclidean(), Mahalanobis(), Mahalanobis([[2.0, 0.8], [0.8, 0.7]])):
        np.testing.assert_allclose(mass(divergence, X, grid, beta).sum(axis=0) * cell, 1, atol=1e-8)
    line = np.linspace(-60, 60, 6001)[:, None]
    for divergence in (SquaredEuclidean(), Mahalanobis()):
        np.testing.assert_allclose(mass(divergence, X[:, :1], line, beta).sum(axis=0) * 0.02, 1, atol=1e-8)


def test_gaussian_densities_equal_scipy():
    X, beta = measurements(), 0.8
    for divergence, C in ((SquaredEuclidean(), np.eye(3)), (Mahalanobis(COVARIANCE), COVARIANCE)):
        expected = np.array([stats.multivariate_normal(y, C / (2 * beta)).pdf(X) for y in X]).T
        np.testing.assert_allclose(mass(divergence, X, X, beta), expected, rtol=1e-9)


def test_degenerate_gaussian_has_its_density_on_the_plane():
    flat, beta = measurements(8)[:, :2], 0.8
    basis, _ = np.linalg.qr(np.random.default_rng(0).standard_normal((3, 2)))
    grid, cell = plane(-20, 20, 161)
    result = mass(Mahalanobis(), flat @ basis.T, grid @ basis.T, beta)
    np.testing.assert_allclose(result.sum(axis=0) * cell, 1, atol=1e-8)


@pytest.mark.parametrize("beta", [0.3, 12.5])
def test_itakura_saito_density_is_gamma(beta):
    X, grid = spectra(), np.random.default_rng(8).lognormal(0, 1, (30, 6))
    expected = [[stats.gamma(beta, scale=y / beta).logpdf(x).sum() for y in X] for x in grid]
    with np.errstate(under="ignore"):
        np.testing.assert_allclose(mass(ItakuraSaito(), X, grid, beta), np.exp(expected), rtol=1e-8, atol=1e-300)
    log = np.linspace(-40, 12, 20_001)[:, None]  # in one column, over the logarithm
    result = mass(ItakuraSaito(), X[:4, :1], np.exp(log), max(beta, 1.0)) * np.exp(log)
    np.testing.assert_allclose(result.sum(axis=0) * (52 / 20_000), 1, atol=1e-8)


def test_cosine_density_is_von_mises_fisher():
    for d, beta in ((2, 4.0), (3, 300.0), (10, 0.5), (150, 300.0), (150, 4.0)):
        rng = np.random.default_rng(d)
        X, grid = rng.standard_normal((5, d)), rng.standard_normal((30, d))
        grid /= np.linalg.norm(grid, axis=1, keepdims=True)
        measure = Cosine().learn(X)
        result = measure.log_normalizer(grid, beta)[:, None] + beta * measure.tile(
            measure.points(grid), measure.exemplars(X)
        )
        expected = np.array([stats.vonmises_fisher(y / np.linalg.norm(y), beta).logpdf(grid) for y in X]).T
        np.testing.assert_allclose(result, expected, rtol=1e-8, atol=1e-6)


def test_cosine_density_without_weight_is_uniform():
    for d in (2, 3, 99, 150):
        log_area = np.log(2) + d / 2 * np.log(np.pi) - gammaln(d / 2)
        result = Cosine().learn(np.ones((2, d))).log_normalizer(np.ones((2, d)), 1e-9)
        np.testing.assert_allclose(result, -log_area, atol=1e-7)


def test_cosine_density_integrates_to_one():
    angles = np.linspace(0, 2 * np.pi, 2000, endpoint=False)
    circle = np.column_stack([np.cos(angles), np.sin(angles)])
    for beta in (1e-6, 4.0, 300.0):
        result = mass(Cosine(), measurements(5)[:, :2], circle, beta)
        np.testing.assert_allclose(result.sum(axis=0) * (2 * np.pi / 2000), 1, atol=1e-9)


@pytest.mark.parametrize(("margin", "beta"), [(1e-3, 0.1), (1e-3, 30.0), (0.3, 1.0)])
def test_bernoulli_density_sums_to_one(margin, beta):
    every = np.array(list(product([0.0, 1.0], repeat=6)))
    for X in (make_zeros_and_ones(), as_rows(sp.csr_array(make_zeros_and_ones()))):
        np.testing.assert_allclose(mass(Bernoulli(margin), X, every, beta).sum(axis=0), 1, rtol=1e-10)


@pytest.mark.parametrize(
    ("divergence", "rows", "message"),
    [
        (KullbackLeibler(), counts, "the Kullback-Leibler divergence has a different sum for every row, so that"),
        (Bernoulli(), shares, "of numbers between 0 and 1 has a different sum for every row, so that"),
        (Precomputed(), asymmetric, "the number of columns behind given distances is not known, so that"),
        (Kernel(), similarities, "the number of dimensions behind a kernel is not known, so that"),
        (Cosine(), lambda: np.ones((4, 1)), "one column has no direction to spread over: use normalizer=False"),
    ],
)
def test_missing_normalizer_is_refused(divergence, rows, message):
    with pytest.raises(NoDivergenceError, match=message) as caught:
        divergence.learn(rows()).log_normalizer(rows(), 1.0)
    assert str(caught.value).endswith("use normalizer=False")


def change(X, at, value):
    X[at] = value
    return X


def as_csr(X):
    return as_rows(sp.csr_array(X))


@pytest.mark.parametrize(
    ("divergence", "X", "message"),
    [
        (KullbackLeibler(), change(counts(), (2, 3), -1), "'kl' needs counts or shares, none negative: use divergence"),
        (KullbackLeibler(), as_csr(change(counts(), (2, 3), -1)), "'kl' needs counts or shares, none negative"),
        (KullbackLeibler(0), counts(), "smoothing=0 puts rows infinitely far from those that have a zero where they"),
        (KullbackLeibler(0.0), as_csr(counts()), "smoothing=0 puts rows infinitely far .* give smoothing= a number"),
        (Bernoulli(), change(shares(), (2, 3), 1.01), "'bernoulli' needs numbers from 0 to 1: use divergence 'kl'"),
        (Bernoulli(), change(shares(), (2, 3), -0.01), "'bernoulli' needs numbers from 0 to 1"),
        (Bernoulli(), as_csr(counts()), "'bernoulli' needs numbers from 0 to 1"),
        (ItakuraSaito(), change(spectra(), (2, 3), 0), "'itakura-saito' needs positive .* are zero or less.* or drop"),
        (ItakuraSaito(), as_csr(spectra()), "'itakura-saito' needs positive numbers, and some are zero or less"),
        (Mahalanobis(), as_csr(measurements()), "needs dense rows, got a sparse matrix: reduce the view first"),
        (Mahalanobis(), measurements(3), "3 entities do not determine the covariance of 3 columns: reduce the view"),
        (Mahalanobis(), np.ones((9, 2)), "^no column varies: leave the view out$"),
        (Mahalanobis(np.eye(2)), measurements(), r"must be a symmetric matrix, 3 x 3, got shape \(2, 2\)"),
        (Mahalanobis(np.triu(np.ones((3, 3)))), measurements(), "must be a symmetric matrix, 3 x 3, got shape"),
        (Mahalanobis(np.diag([1.0, 1.0, -1.0])), measurements(), "has negative variances: give a positive definite"),
        (Precomputed(), as_csr(asymmetric()), r"all distances are needed, got a sparse matrix: give toarray\(\) of it"),
        (Precomputed(), asymmetric()[:3], r"a square matrix of distances is needed, got shape \(3, 25\)"),
        (Precomputed(), change(asymmetric(), (4, 2), -1.5), "needs distances, and one is negative, -1.5"),
        (Precomputed(), change(asymmetric(), (4, 4), 1), "entity 4 is at a distance from itself: turn similarities"),
        (Precomputed(), change(asymmetric(), (4, 4), -1), "entity 4 is at a distance from itself"),
        (Kernel(), as_csr(similarities()), r"all similarities are needed, got a sparse matrix: give toarray\(\) of it"),
        (Kernel(), similarities()[:3], r"a square matrix of similarities is needed, got shape \(3, 25\)"),
        (Kernel(), change(similarities(), (4, 2), 9), "'kernel' needs a symmetric matrix: average it with its"),
        (Kernel(), np.array([[1.0, 2.0], [2.0, 1.0]]), "entities 0 and 1 are more similar to each other than"),
    ],
)
def test_refuses(divergence, X, message):
    with pytest.raises(NoDivergenceError, match=message):
        divergence.learn(X)


def test_most_similar_pair_is_named_wherever_it_is():
    K = np.eye(400)
    K[300, 310] = K[310, 300] = 1.5
    with pytest.raises(NoDivergenceError, match="entities 300 and 310 are more similar to each other than to"):
        Kernel().learn(K)


@pytest.mark.parametrize(
    ("divergence", "rows", "message"),
    [
        (KullbackLeibler(), counts, "none negative"),
        (Bernoulli(), shares, "needs numbers from 0 to 1"),
        (ItakuraSaito(), spectra, "needs positive numbers"),
    ],
)
def test_unsuitable_new_rows_are_refused(divergence, rows, message):
    measure = divergence.learn(rows())
    with pytest.raises(NoDivergenceError, match=message):
        measure.new_points(-1 - rows())


@pytest.mark.parametrize(
    ("divergence", "option", "message"),
    [
        (KullbackLeibler, -0.1, "smoothing=-0.1 must be 0 or more"),
        (KullbackLeibler, np.inf, "smoothing=inf must be 0 or more"),
        (KullbackLeibler, np.nan, "smoothing=nan must be 0 or more"),
        (Bernoulli, 0, "margin=0 must be above 0 and below 0.5"),
        (Bernoulli, 0.5, "margin=0.5 must be above 0 and below 0.5"),
        (Bernoulli, np.nan, "margin=nan must be above 0 and below 0.5"),
    ],
)
def test_invalid_options_are_refused(divergence, option, message):
    with pytest.raises(NoDivergenceError, match=message):
        divergence(option)


def test_rounding_errors_have_no_caveat():
    noise = 1e-7 * np.random.default_rng(0).uniform(-1, 1, (25, 25))
    D = cdist(measurements(), measurements())
    assert Precomputed().learn(D + noise * D.max()).caveat is None
    K = similarities()
    assert Kernel().learn(K + noise * K.max()).caveat is None


def test_asymmetric_distances_have_a_caveat():
    assert "is not symmetric: its rows are used as points, its columns as" in Precomputed().learn(asymmetric()).caveat
    D = np.zeros((600, 600))
    D[599, 3] = 1
    assert "average it with its transpose" in Precomputed().learn(D).caveat


@pytest.mark.parametrize(("n", "dtype"), [(3, np.float32), (999, np.float32), (1200, np.float64)])
def test_indefinite_kernel_has_a_caveat(n, dtype):
    K = np.eye(n, dtype=dtype) - dtype(1.5) / n  # one eigenvalue -0.5, the others 1
    measure = Kernel().learn(K)
    assert "is not positive semidefinite" in measure.caveat
    result = -measure.tile(measure.points(K), measure.exemplars(K).slice_rows(slice(0, 2)))
    np.testing.assert_allclose(result, 2 - 2 * np.eye(n)[:, :2], atol=1e-6)


@pytest.mark.parametrize("n", [60, 300])
def test_small_negative_eigenvalue_among_zeros_has_a_caveat(n):
    vectors, _ = np.linalg.qr(np.random.default_rng(0).standard_normal((n, 6)))
    K = (vectors * [-0.05, n, n, n, n, n]) @ vectors.T
    assert "is not positive semidefinite" in Kernel().learn((K + K.T) / 2).caveat


@pytest.mark.parametrize("n", [800, 1500])
def test_low_rank_and_smooth_kernels_have_no_caveat(n):
    X = np.random.default_rng(0).standard_normal((n, 5)).astype(np.float32)
    assert Kernel().learn(X @ X.T).caveat is None
    X = measurements(n)
    assert Kernel().learn(np.exp(-cdist(X, X, "sqeuclidean") / 20).astype(np.float32)).caveat is None


def test_divergences_by_name():
    assert {type(divergence) for divergence, _, _ in CASES.values()} == set(DIVERGENCES.values())
    for name, divergence in DIVERGENCES.items():
        assert divergence() is not None, name
