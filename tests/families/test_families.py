"""Contracts of every family: statistics add up, maximize is stationary, log_prob equals scipy."""

from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.special import gammaln, iv

import consilience as cs
from consilience.arrays import as_rows, log_bessel, namespace, to_numpy
from consilience.families import (
    FAMILIES,
    Bernoulli,
    Categorical,
    Gaussian,
    GaussianFull,
    GaussianSpherical,
    GaussianTied,
    Multinomial,
    Poisson,
    VonMisesFisher,
    choose,
)
from consilience.families.von_mises_fisher import solve_concentration
from consilience.methods.coem.algorithm import add_statistics
from family_cases import CASES, DENSE_FAMILIES, SPARSE_FAMILIES

pytestmark = pytest.mark.quick

K, N, D = 3, 60, 4
every_family = pytest.mark.parametrize("name", FAMILIES)


def make_family(name, X):
    """A family without smoothing that has seen the rows."""
    family = FAMILIES[name](**({"smoothing": 0} if hasattr(FAMILIES[name], "smoothing") else {}))
    return family.bind(X, namespace(X).ones(N, dtype=namespace(X).bool))


def make_problem(name, seed=0):
    """A family, rows that it can explain, their responsibilities, and the random generator."""
    rng = np.random.default_rng(seed)
    X = CASES[name].make_rows(rng, N, D)
    return make_family(name, X), X, rng.dirichlet(np.ones(K), N), rng


def test_every_family_has_a_test_case():
    assert CASES.keys() == FAMILIES.keys()


def test_docstring_of_coem_names_every_family():
    assert [name for name in FAMILIES if f"'{name}'" not in cs.CoEM.__doc__] == []


@every_family
def test_log_prob_equals_scipy(name):
    family, X, _, rng = make_problem(name)
    params = CASES[name].make_params(rng, K, D)
    expected = CASES[name].reference(X, params, K)
    np.testing.assert_allclose(family.log_prob(X, params), expected, rtol=1e-9, atol=1e-9)


@every_family
def test_statistics_add_up_over_blocks(name):
    family, X, R, _ = make_problem(name)
    whole = family.statistics(X, R)
    parts = add_statistics([family.statistics(X[rows], R[rows]) for rows in (slice(7), slice(7, 40), slice(40, None))])
    for key, value in whole.items():
        np.testing.assert_allclose(parts[key], value, rtol=1e-10, atol=1e-10)
    a, b = family.maximize(whole), family.maximize(parts)
    for key, value in a.items():
        np.testing.assert_allclose(b[key], value, rtol=1e-8, atol=1e-10)


@every_family
def test_maximize_finds_the_largest_likelihood(name):
    family, X, R, rng = make_problem(name)
    best = family.maximize(family.statistics(X, R))
    assert family.n_parameters(best) == CASES[name].n_parameters(K, D)
    likelihood = (R * family.log_prob(X, best)).sum()
    learned = {key: best[key] for key in family.shapes(K, D)}
    assert {key: value.shape for key, value in learned.items()} == family.shapes(K, D)
    for size in (1e-4, 1e-2, 0.3):
        for _ in range(10):
            moved = {key: value + size * rng.normal(size=np.shape(value)) for key, value in learned.items()}
            nearby = CASES[name].perturb(learned, moved)
            assert (R * family.log_prob(X, nearby)).sum() <= likelihood + 1e-9 * abs(likelihood)


@every_family
@pytest.mark.parametrize("to_kind", ["torch"], indirect=True)
def test_torch_gives_equal_results(name, to_kind):
    family, X, R, _ = make_problem(name)
    params = family.maximize(family.statistics(X, R))
    expected = family.log_prob(X, params)
    bound = make_family(name, to_kind(X))
    converted = bound.maximize(bound.statistics(to_kind(X), to_kind(R)))
    for key, value in params.items():
        np.testing.assert_allclose(to_numpy(converted[key]), value, rtol=1e-9, atol=1e-12)
    log_prob = bound.log_prob(to_kind(X), converted)
    assert namespace(log_prob) is namespace(to_kind(X))
    np.testing.assert_allclose(to_numpy(log_prob), expected, rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(to_numpy(bound.log_prob(to_kind(X), params)), expected, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("name", SPARSE_FAMILIES)
def test_sparse_equals_dense(name):
    _, X, R, rng = make_problem(name)
    X = np.where(rng.random(X.shape) < 0.5, X, 0.0)
    X[:, 0] += 1
    family = FAMILIES[name]()
    dense = family.statistics(X, R)
    params = family.maximize(dense)
    for make in (sp.csr_array, sp.csc_matrix):
        sparse = family.statistics(make(X), R)
        for key, value in dense.items():
            np.testing.assert_allclose(sparse[key], value, rtol=1e-10)
        np.testing.assert_allclose(family.log_prob(make(X), params), family.log_prob(X, params), rtol=1e-8, atol=1e-9)


@pytest.mark.parametrize("name", DENSE_FAMILIES)
def test_families_without_sparse_support_refuse_sparse_views(name):
    X = sp.csr_array(np.eye(6))
    message = rf"view 'links': family '{name}' needs dense rows, got a sparse matrix \(6, 6\). Use .*'multinomial'.*SVD"
    with pytest.raises(ValueError, match=message):
        cs.CoEM(2, families=name).fit({"links": X})


@every_family
def test_float32_is_kept_and_close_to_float64(name):
    family, X, R, _ = make_problem(name)
    single = X.astype(np.float32)
    bound = make_family(name, single)
    params, near = (f.maximize(f.statistics(rows, R)) for f, rows in ((family, X), (bound, single)))
    for key, value in params.items():
        np.testing.assert_allclose(near[key], value, rtol=2e-3, atol=1e-4)
    log_prob = bound.log_prob(single, params)
    assert log_prob.dtype == np.float32
    np.testing.assert_allclose(log_prob, family.log_prob(X, params), rtol=1e-4, atol=1e-3)


@pytest.mark.parametrize("name", [name for name in FAMILIES if name.startswith("gaussian")])
def test_gaussians_are_accurate_far_from_zero_in_float32(name):
    rng = np.random.default_rng(0)
    X = (rng.normal(size=(500, 3)) + 2000).astype(np.float32)
    R = rng.dirichlet(np.ones(2), 500)
    family = FAMILIES[name]().bind(X, np.ones(500, bool))
    exact = FAMILIES[name]().bind(X.astype(np.float64), np.ones(500, bool))
    params, expected = (f.maximize(f.statistics(rows, R)) for f, rows in ((family, X), (exact, X.astype(np.float64))))
    np.testing.assert_allclose(params["covariances"], expected["covariances"], rtol=1e-3, atol=1e-3)
    np.testing.assert_allclose(family.log_prob(X, params), exact.log_prob(X.astype(np.float64), params), atol=1e-2)


@every_family
def test_empty_cluster_gets_finite_parameters(name):
    family, X, R, _ = make_problem(name)
    R = R.copy()
    R[:, 1] = 0
    R /= R.sum(axis=1, keepdims=True)
    params = family.maximize(family.statistics(X, R))
    assert all(np.isfinite(value).all() for value in params.values())
    assert np.isfinite(family.log_prob(X, params)).all()


@every_family
def test_samples_reproduce_the_parameters(name):
    family, X, R, _ = make_problem(name)
    params = family.maximize(family.statistics(X, R))
    labels = np.arange(6000) % K
    drawn = family.sample(params, labels, np.random.default_rng(1))
    assert drawn.shape == (6000, D)
    again = replace(family, **({"smoothing": 0} if hasattr(family, "smoothing") else {}))
    estimated = again.maximize(again.statistics(drawn, np.eye(K)[labels]))
    for key, value in params.items():
        scale = np.abs(value).max()
        np.testing.assert_allclose(estimated[key], value, atol=0.12 * scale)


@pytest.mark.parametrize("family", [Gaussian(), GaussianFull(), GaussianTied(), GaussianSpherical()])
def test_gaussians_do_not_collapse_onto_a_row(family):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(50, 3)) * [1, 100, 0.01]
    R = np.zeros((50, 2))
    R[0, 0] = 1
    R[1:, 1] = 1
    params = family.maximize(family.statistics(X, R))
    log_prob = family.log_prob(X, params)
    assert np.isfinite(log_prob).all()
    assert log_prob.max() < 60


def test_floor_does_not_change_larger_variances():
    rng = np.random.default_rng(0)
    X, R = rng.normal(size=(50, 3)), rng.dirichlet(np.ones(2), 50)
    for family in (Gaussian, GaussianFull, GaussianTied, GaussianSpherical):
        params = [family(floor=floor).maximize(family(floor=floor).statistics(X, R)) for floor in (1e-9, 1e-3)]
        np.testing.assert_array_equal(params[0]["covariances"], params[1]["covariances"])


def test_direction_below_the_floor_is_raised_to_it():
    rng = np.random.default_rng(0)
    x = rng.normal(size=(100, 1))
    X = np.hstack([x, x + 1e-6 * rng.normal(size=(100, 1))])  # two columns that are nearly one
    params = GaussianFull(floor=1e-3).maximize(GaussianFull().statistics(X, np.ones((100, 1))))
    values = np.linalg.eigvalsh(params["covariances"][0])
    assert values[0] == pytest.approx(1e-3 * X.var(axis=0).mean(), rel=0.05)
    assert values[1] == pytest.approx(2 * X.var(axis=0).mean(), rel=0.05)


@pytest.mark.parametrize("make", [np.asarray, sp.csr_array])
def test_only_an_occurring_impossible_word_rules_a_cluster_out(make):
    params = {"probabilities": np.array([[0.5, 0.5, 0.0], [0.2, 0.3, 0.5]])}
    log_prob = Multinomial().log_prob(make(np.array([[3, 2, 0], [3, 2, 1], [0, 0, 40]], np.float32)), params)
    assert log_prob[0, 0] == pytest.approx(5 * np.log(0.5))
    assert np.array_equal(log_prob == -np.inf, [[False, False], [True, False], [True, False]])


def test_rows_of_zeros_are_uninformative_to_some_families():
    X = np.array([[1.0, 0.0], [0.0, 0.0]])
    assert Multinomial().informative_rows(as_rows(X)).tolist() == [True, False]
    assert VonMisesFisher().informative_rows(as_rows(X)).tolist() == [True, False]
    assert Poisson().informative_rows(as_rows(X)) is None


@pytest.mark.parametrize(
    ("values", "name", "why"),
    [
        ([[0.0, 1.0], [1.0, 1.0]], "bernoulli", "0 or 1"),
        ([[0, 3], [1, 1]], "multinomial", "counts"),
        ([[0.5, 3], [1, 1]], "gaussian", "real"),
        ([[-1, 3], [1, 1]], "gaussian", "real"),
        ([[1e100, 3e100], [2e100, 1e100]], "gaussian", "real"),  # whole only because they are huge
    ],
)
def test_automatic_choice(values, name, why):
    for make in (np.asarray, sp.csr_array):
        family, reason = choose(as_rows(make(np.array(values))))
        assert family.name == name
        assert why in reason


@pytest.mark.parametrize(
    ("family", "X", "message"),
    [
        ("multinomial", [[1.0, -2.0]] * 9, "family 'multinomial' needs counts, none of them negative, got -2. Use"),
        ("multinomial", [[0.0, 0.0]] * 9, "is all zeros, of which family 'multinomial'"),
        ("poisson", [[1.0, -2.0]] * 9, "family 'poisson' needs counts, none of them negative, got -2"),
        ("bernoulli", [[1.0, 2.0]] * 9, "'bernoulli' needs zeros and ones, got 2. Use 'multinomial' or 'poisson'"),
        ("categorical", [[1.0, 0.5]] * 9, "'categorical' needs codes 0, 1, 2, ..., got 0.5.*OrdinalEncoder"),
        ("categorical", [[5e7, 0], [1, 1]], r"needs codes 0, 1, 2, ..., got 5e\+07 in 2 rows. OrdinalEncoder"),
        (Categorical(n_levels=(2, 2, 2)), [[0, 1], [1, 1]], "needs as many columns as n_levels, 3, got 2"),
        ("von-mises-fisher", [[1.0]] * 9, "family 'von-mises-fisher' needs two columns or more"),
        ("normal", np.eye(5), "no family 'normal': give 'auto', one of 'multinomial', .*"),
    ],
)
def test_unsuitable_data_is_refused(family, X, message):
    with pytest.raises(ValueError, match="view 'a'.* " + message):
        cs.CoEM(2, families=family).fit({"a": np.array(X, float)})


def test_unknown_code_in_predict_is_refused():
    X = np.array([[0, 1], [1, 0], [2, 1], [0, 0]] * 5)
    model = cs.CoEM(2, families="categorical", random_state=0).fit(X)
    with pytest.raises(ValueError, match="family 'categorical' knows codes 0 to 2 in column 0, got 7"):
        model.predict(np.array([[7, 1]]))


def test_log_bessel_equals_scipy():
    for d in (2, 3, 30, 100, 101):
        c = np.array([1e-9, 1e-3, 0.5, 10.0, 300.0])
        for order in (d / 2 - 1, d / 2):
            expected = iv(order, c)
            positive = expected > 1e-300
            np.testing.assert_allclose(log_bessel(order, c, d)[positive], np.log(expected[positive]), rtol=1e-8)
            assert np.isfinite(log_bessel(order, c, d)).all()
        assert np.isfinite(log_bessel(20_000.0, np.array([1.0, 1e4, 1e6]), 40_002)).all()


def test_concentration_solves_its_equation():
    for d in (2, 3, 60, 100, 101, 30_000):
        resultant = np.array([1e-10, 1e-4, 0.01, 0.3, 0.9, 0.99, 1 - 1e-6])
        c = solve_concentration(resultant, d)
        ratio = np.exp(log_bessel(d / 2, c, d) - log_bessel(d / 2 - 1, c, d))
        np.testing.assert_allclose(ratio, resultant, rtol=1e-6, atol=1e-10)


@pytest.mark.parametrize("d", [3, 101])
def test_cancelling_directions_have_zero_concentration(d):
    A = np.random.default_rng(0).normal(size=(20, d))
    model = cs.CoEM(1, families="von-mises-fisher").fit(np.r_[A, -A])
    assert model.params_["view0"]["concentrations"][0] < 1e-6
    uniform = -np.log(2) - d / 2 * np.log(np.pi) + gammaln(d / 2)  # one over the surface of the sphere
    assert model.cost_ == pytest.approx(-40 * uniform)


def test_smoothing_adds_the_documented_counts():
    X, R = np.array([[1.0, 0.0, 1.0], [1.0, 0.0, 0.0]]), np.ones((2, 1))

    def learn(family):
        return next(iter(family.maximize(family.statistics(X, R)).values()))

    np.testing.assert_allclose(learn(Multinomial(smoothing=2)), [[4 / 9, 2 / 9, 3 / 9]])
    np.testing.assert_allclose(learn(Bernoulli(smoothing=2)), [[4 / 6, 2 / 6, 3 / 6]])
    two = np.array([[1.0, 0.0], [0.0, 1.0]])
    rates = Poisson(smoothing=2).maximize(Poisson().statistics(np.array([[4.0], [0.0]]), two))["rates"]
    np.testing.assert_allclose(rates, [[(4 + 2 * 2) / 3], [2 * 2 / 3]])  # two rows of the average, 2, to each
    levels = Categorical(smoothing=2, n_levels=(2, 3, 2))
    np.testing.assert_allclose(learn(levels)[0, :, :], [[2 / 6, 4 / 6, 0], [4 / 8, 2 / 8, 2 / 8], [3 / 6, 3 / 6, 0]])


@pytest.mark.parametrize(
    ("family", "dtype"), [("gaussian", np.float64), ("gaussian-full", np.float32), ("gaussian-spherical", np.float64)]
)
def test_outlier_does_not_raise_the_floor(family, dtype):
    rng = np.random.default_rng(0)
    y = np.arange(300) % 3
    X = np.r_[rng.normal(size=(300, 3)) + 6 * np.eye(3)[y], [[1e5] * 3]].astype(dtype)
    model = cs.CoEM(4, families=family, init=np.r_[y, 3]).fit(X)
    assert np.array_equal(model.labels_, np.r_[y, 3])
    assert model.params_["view0"]["covariances"][:3].max() < 3


@pytest.mark.parametrize(
    ("name", "dtype"),
    [
        ("gaussian", np.float32),
        ("gaussian-full", np.float64),
        ("gaussian-tied", np.float32),
        ("gaussian-spherical", np.float32),
    ],
)
def test_constant_column_far_from_zero_is_no_evidence(name, dtype):
    rng = np.random.default_rng(0)
    X = np.c_[rng.normal(size=(60, 2)), np.full(60, 1234.567)].astype(dtype)
    family = FAMILIES[name]().bind(X[:, :2], np.ones(60, bool))  # an origin that does not know the column
    family = replace(family, origin=None, spread=None)
    params = family.maximize(family.statistics(X, rng.dirichlet(np.ones(2), 60)))
    log_prob = family.log_prob(X, params)
    assert np.isfinite(log_prob).all()
    if name != "gaussian-spherical":  # there all columns share a variance
        without = family.maximize(family.statistics(X[:, :2], rng.dirichlet(np.ones(2), 60)))
        assert np.isfinite(family.log_prob(X[:, :2], without)).all()
        assert np.ptp(log_prob[:, 0] - log_prob[:, 1]) < 50


@pytest.mark.parametrize(
    ("family", "params", "message"),
    [
        (Multinomial(), {"probabilities": np.full((2, 3), 7.0)}, "'probabilities' must be 0 or more and sum to 1"),
        (Bernoulli(), {"probabilities": np.full((2, 3), 2.0)}, "'probabilities' must be from 0 to 1"),
        (Poisson(), {"rates": -np.ones((2, 3))}, "'rates' must be 0 or more"),
        (Categorical(), {"probabilities": np.ones((2, 3, 2))}, "'probabilities' must be 0 or more and sum to 1"),
        (Gaussian(), {"covariances": np.zeros((2, 3))}, "'covariances' must be above 0"),
        (GaussianSpherical(), {"covariances": -np.ones(2)}, "'covariances' must be above 0"),
        (GaussianFull(), {"covariances": np.array([[[1, 2], [0, 1.0]]] * 2)}, "'covariances' must be symmetric"),
        (GaussianTied(), {"covariances": np.array([[1, 2], [2, 1.0]])}, "'covariances' must be positive definite"),
        (VonMisesFisher(), {"directions": np.ones((2, 3))}, "'directions' must be of length 1"),
        (
            VonMisesFisher(),
            {"directions": np.eye(2), "concentrations": -np.ones(2)},
            "'concentrations' must be 0 or more",
        ),
    ],
)
def test_invalid_parameters_are_refused(family, params, message):
    assert family.params_complaint(params) == message


@pytest.mark.parametrize(
    ("families", "options", "message"),
    [
        ([Multinomial, Bernoulli, Poisson, Categorical], {"smoothing": -1}, "a number, 0 or more, got -1"),
        ([Multinomial], {"smoothing": "a"}, "smoothing must be a number, 0 or more, got 'a'"),
        ([Multinomial], {"smoothing": np.inf}, "smoothing must be a number, 0 or more, got inf"),
        ([Gaussian, GaussianFull, GaussianTied, GaussianSpherical, VonMisesFisher], {"floor": 0}, "below 1, got 0"),
        ([Gaussian, VonMisesFisher], {"floor": 1}, r"floor must be .* below 1, got 1"),
        ([Gaussian, VonMisesFisher], {"floor": -1}, r"floor must be .* below 1, got -1"),
        ([Gaussian], {"floor": "a"}, "floor must be a share of the variance"),
        ([Categorical], {"n_levels": 5}, "n_levels must be whole numbers, one per column, got 5"),
    ],
)
def test_invalid_options_are_refused(families, options, message):
    for family in families:
        with pytest.raises(ValueError, match=message):
            family(**options)


def test_gaussian_with_distant_mean_and_tiny_variance_does_not_overflow():
    X = np.full((1, 1), 1e150)
    params = {"means": np.array([[1e150]]), "covariances": np.array([[1e-200]])}
    assert np.isfinite(cs.families.Gaussian().build_density(X, params)(X)).all()


def test_spread_of_gaussians_is_the_variance_by_quartiles():
    for n in (1, 2, 3, 4, 101):
        X = np.random.default_rng(0).standard_normal((n, 3))
        low, high = np.quantile(X, [0.25, 0.75], axis=0)
        spread = Gaussian().bind(X, np.ones(n, bool)).spread
        np.testing.assert_allclose(spread, ((high - low) / 1.349) ** 2, rtol=1e-12)
