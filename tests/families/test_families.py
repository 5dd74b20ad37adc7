"""What every family promises: statistics add up, maximise is stationary, log_prob is that of scipy."""

from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse as sp
from scipy import stats
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

K, N, D = 3, 60, 4


def counts(rng):
    return rng.poisson(3.0, (N, D)).astype(float)


def zeros_and_ones(rng):
    return (rng.random((N, D)) < 0.4).astype(float)


def codes(rng):
    X = rng.integers(4, size=(N, D)).astype(float)
    X[:, 0] = np.minimum(X[:, 0], 1)
    return X


def real(rng):
    return rng.normal(size=(N, D)) @ rng.normal(size=(D, D)) + 5


def params_of(name, rng):
    """Parameters that no M-step had a hand in."""
    root = rng.normal(size=(K, D, D))
    covariances = root @ root.transpose(0, 2, 1) + np.eye(D)
    directions = rng.normal(size=(K, D))
    levels = np.array([2, 4, 4, 4])
    p = rng.random((K, D, 4)) * (np.arange(4) < levels[:, None])
    return {
        "multinomial": {"probabilities": rng.dirichlet(np.ones(D), K)},
        "bernoulli": {"probabilities": rng.random((K, D))},
        "poisson": {"rates": 5 * rng.random((K, D))},
        "categorical": {"probabilities": p / p.sum(axis=2, keepdims=True)},
        "gaussian": {"means": rng.normal(size=(K, D)), "covariances": 0.5 + rng.random((K, D))},
        "gaussian-full": {"means": rng.normal(size=(K, D)), "covariances": covariances},
        "gaussian-tied": {"means": rng.normal(size=(K, D)), "covariances": covariances[0]},
        "gaussian-spherical": {"means": rng.normal(size=(K, D)), "covariances": 0.5 + rng.random(K)},
        "von-mises-fisher": {
            "directions": directions / np.linalg.norm(directions, axis=1, keepdims=True),
            "concentrations": 20 * rng.random(K),
        },
    }[name]


def scipy_log_prob(name, X, params, j):
    """The log-density of all rows under cluster j, by scipy.stats, a row at a time."""
    own = {
        key: value if name == "gaussian-tied" and key == "covariances" else value[j] for key, value in params.items()
    }
    if name == "multinomial":
        total = X.sum(axis=1).astype(int)
        coefficient = stats.multinomial.logpmf(X, total, np.full(D, 1 / D)) + total * np.log(D)
        return stats.multinomial.logpmf(X, total, own["probabilities"]) - coefficient  # left out: the same for all j
    if name == "bernoulli":
        return stats.bernoulli.logpmf(X, own["probabilities"]).sum(axis=1)
    if name == "poisson":
        return stats.poisson.logpmf(X, own["rates"]).sum(axis=1)
    if name == "categorical":
        return np.log([[own["probabilities"][c, int(x)] for c, x in enumerate(row)] for row in X]).sum(axis=1)
    if name == "von-mises-fisher":
        unit = X / np.linalg.norm(X, axis=1, keepdims=True)
        return stats.vonmises_fisher(own["directions"], own["concentrations"]).logpdf(unit)
    covariance = {1: np.diag, 0: lambda s: s * np.eye(D)}.get(np.ndim(own["covariances"]), np.asarray)(
        own["covariances"]
    )
    return stats.multivariate_normal(own["means"], covariance).logpdf(X)


DATA = {"multinomial": counts, "poisson": counts, "bernoulli": zeros_and_ones, "categorical": codes}
SPARSE = ["multinomial", "bernoulli", "poisson", "gaussian", "gaussian-spherical", "von-mises-fisher"]
every_family = pytest.mark.parametrize("name", FAMILIES)


def case(name, seed=0):
    rng = np.random.default_rng(seed)
    X = DATA.get(name, real)(rng)
    X[:, 0] += name == "multinomial"  # no row without words
    family = FAMILIES[name](**({"smoothing": 0} if hasattr(FAMILIES[name], "smoothing") else {}))
    family = family.bind(X, np.ones(N, bool))
    return family, X, rng.dirichlet(np.ones(K), N), rng


@every_family
def test_log_prob_is_that_of_scipy(name):
    family, X, _, rng = case(name)
    params = params_of(name, rng)
    expected = np.stack([scipy_log_prob(name, X, params, j) for j in range(K)], axis=1)
    np.testing.assert_allclose(family.log_prob(X, params), expected, rtol=1e-9, atol=1e-9)


@every_family
def test_statistics_add_up_over_blocks_of_rows(name):
    family, X, R, _ = case(name)
    whole = family.statistics(X, R)
    parts = add_statistics(
        add_statistics(family.statistics(X[:7], R[:7]), family.statistics(X[7:40], R[7:40])),
        family.statistics(X[40:], R[40:]),
    )
    for key, value in whole.items():
        np.testing.assert_allclose(parts[key], value, rtol=1e-10, atol=1e-10)
    a, b = family.maximize(whole), family.maximize(parts)
    for key, value in a.items():
        np.testing.assert_allclose(b[key], value, rtol=1e-8, atol=1e-10)


def moved(name, params, rng, size):
    """Parameters of the same kind nearby."""
    shifted = {key: value + size * rng.normal(size=np.shape(value)) for key, value in params.items() if key != "length"}
    if name in ("multinomial", "categorical"):
        p = np.where(params["probabilities"] > 0, np.abs(shifted["probabilities"]), 0)
        return {"probabilities": p / p.sum(axis=-1, keepdims=True)}
    if name == "bernoulli":
        return {"probabilities": np.clip(shifted["probabilities"], 1e-9, 1 - 1e-9)}
    if name == "poisson":
        return {"rates": np.abs(shifted["rates"])}
    if name == "von-mises-fisher":
        lengths = np.linalg.norm(shifted["directions"], axis=1, keepdims=True)
        return {"directions": shifted["directions"] / lengths, "concentrations": np.abs(shifted["concentrations"])}
    covariances = shifted["covariances"]
    if name in ("gaussian", "gaussian-spherical"):
        return {**shifted, "covariances": np.abs(covariances)}
    noise = size * rng.normal(size=np.shape(covariances))
    return {**shifted, "covariances": params["covariances"] + noise @ np.swapaxes(noise, -1, -2)}


@every_family
def test_maximise_is_where_the_likelihood_is_largest(name):
    family, X, R, rng = case(name)
    best = family.maximize(family.statistics(X, R))
    reached = (R * family.log_prob(X, best)).sum()
    for size in (1e-4, 1e-2, 0.3):
        for _ in range(20):
            assert (R * family.log_prob(X, moved(name, best, rng, size))).sum() <= reached + 1e-9 * abs(reached)


@every_family
def test_shapes_are_those_of_the_parameters(name):
    family, X, R, _ = case(name)
    params = family.maximize(family.statistics(X, R))
    for key, shape in family.shapes(K, D).items():
        assert params[key].shape == shape


@every_family
def test_kinds_of_arrays(name, to_kind):
    family, X, R, _ = case(name)
    params = family.maximize(family.statistics(X, R))
    expected = family.log_prob(X, params)
    bound = FAMILIES[name](**({"smoothing": 0} if hasattr(family, "smoothing") else {}))
    bound = bound.bind(to_kind(X), to_kind(np.ones(N, bool)))
    found = bound.maximize(bound.statistics(to_kind(X), to_kind(R)))
    for key, value in params.items():
        np.testing.assert_allclose(to_numpy(found[key]), value, rtol=1e-9, atol=1e-12)
    log_prob = bound.log_prob(to_kind(X), found)
    assert namespace(log_prob) is namespace(to_kind(X))
    np.testing.assert_allclose(to_numpy(log_prob), expected, rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(to_numpy(bound.log_prob(to_kind(X), params)), expected, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("name", SPARSE)
@pytest.mark.parametrize("make", [sp.csr_array, sp.csc_matrix])
def test_sparse_equals_dense(name, make):
    family, X, R, rng = case(name)
    X = np.where(rng.random(X.shape) < 0.5, X, 0.0)
    X[:, 0] += 1
    family = FAMILIES[name]()
    dense, sparse = (family.statistics(rows, R) for rows in (X, make(X)))
    for key, value in dense.items():
        np.testing.assert_allclose(sparse[key], value, rtol=1e-10)
    params = family.maximize(dense)
    np.testing.assert_allclose(family.log_prob(make(X), params), family.log_prob(X, params), rtol=1e-8, atol=1e-9)


@pytest.mark.parametrize("name", ["gaussian-full", "gaussian-tied", "categorical"])
def test_families_that_need_dense_rows_say_so(name):
    X = sp.csr_array(np.eye(6))
    with pytest.raises(ValueError, match=rf"view 'links': family '{name}' needs .*dense.*Use"):
        cs.CoEM(2, families=name).fit({"links": X})


@every_family
def test_float32_stays_and_is_near(name):
    family, X, R, _ = case(name)
    single = X.astype(np.float32)
    bound = FAMILIES[name](**({"smoothing": 0} if hasattr(family, "smoothing") else {})).bind(single, np.ones(N, bool))
    params, near = (f.maximize(f.statistics(rows, R)) for f, rows in ((family, X), (bound, single)))
    for key, value in params.items():
        np.testing.assert_allclose(near[key], value, rtol=2e-3, atol=1e-4)
    log_prob = bound.log_prob(single, params)
    assert log_prob.dtype == np.float32
    np.testing.assert_allclose(log_prob, family.log_prob(X, params), rtol=1e-4, atol=1e-3)


@pytest.mark.parametrize("name", [name for name in FAMILIES if name.startswith("gaussian")])
def test_gaussians_far_from_zero_in_float32(name):
    rng = np.random.default_rng(0)
    X = (rng.normal(size=(500, 3)) + 2000).astype(np.float32)
    R = rng.dirichlet(np.ones(2), 500)
    family = FAMILIES[name]().bind(X, np.ones(500, bool))
    exact = FAMILIES[name]().bind(X.astype(np.float64), np.ones(500, bool))
    found, expected = (f.maximize(f.statistics(rows, R)) for f, rows in ((family, X), (exact, X.astype(np.float64))))
    np.testing.assert_allclose(found["covariances"], expected["covariances"], rtol=1e-3, atol=1e-3)
    np.testing.assert_allclose(family.log_prob(X, found), exact.log_prob(X.astype(np.float64), found), atol=1e-2)


@every_family
def test_a_cluster_of_no_weight_is_finite(name):
    family, X, R, _ = case(name)
    R = R.copy()
    R[:, 1] = 0
    R /= R.sum(axis=1, keepdims=True)
    params = family.maximize(family.statistics(X, R))
    assert all(np.isfinite(value).all() for value in params.values())
    assert np.isfinite(family.log_prob(X, params)).all()


@every_family
def test_samples_look_like_what_they_are_drawn_from(name):
    family, X, R, _ = case(name)
    params = family.maximize(family.statistics(X, R))
    labels = np.arange(6000) % K
    drawn = family.sample(params, labels, np.random.default_rng(1))
    assert drawn.shape == (6000, D)
    again = replace(family, **({"smoothing": 0} if hasattr(family, "smoothing") else {}))
    found = again.maximize(again.statistics(drawn, np.eye(K)[labels]))
    for key, value in params.items():
        scale = np.abs(value).max()
        np.testing.assert_allclose(found[key], value, atol=0.12 * scale)


@every_family
def test_number_of_parameters(name):
    family, X, R, _ = case(name)
    params = family.maximize(family.statistics(X, R))
    expected = {
        "multinomial": K * (D - 1),
        "bernoulli": K * D,
        "poisson": K * D,
        "categorical": K * (1 + 3 + 3 + 3),
        "gaussian": 2 * K * D,
        "gaussian-full": K * D + K * D * (D + 1) // 2,
        "gaussian-tied": K * D + D * (D + 1) // 2,
        "gaussian-spherical": K * D + K,
        "von-mises-fisher": K * D,
    }
    assert family.n_parameters(params) == expected[name]


@pytest.mark.parametrize("family", [Gaussian(), GaussianFull(), GaussianTied(), GaussianSpherical()])
def test_no_gaussian_collapses_onto_a_row(family):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(50, 3)) * [1, 100, 0.01]
    R = np.zeros((50, 2))
    R[0, 0] = 1
    R[1:, 1] = 1
    params = family.maximize(family.statistics(X, R))
    log_prob = family.log_prob(X, params)
    assert np.isfinite(log_prob).all()
    assert log_prob.max() < 60


def test_the_floor_does_not_touch_variances_above_it():
    rng = np.random.default_rng(0)
    X, R = rng.normal(size=(50, 3)), rng.dirichlet(np.ones(2), 50)
    for family in (Gaussian, GaussianFull, GaussianTied, GaussianSpherical):
        params = [family(floor=floor).maximize(family(floor=floor).statistics(X, R)) for floor in (1e-9, 1e-3)]
        np.testing.assert_array_equal(params[0]["covariances"], params[1]["covariances"])


def test_a_direction_below_the_floor_is_raised_to_it():
    rng = np.random.default_rng(0)
    x = rng.normal(size=(100, 1))
    X = np.hstack([x, x + 1e-6 * rng.normal(size=(100, 1))])  # two columns that are nearly one
    params = GaussianFull(floor=1e-3).maximize(GaussianFull().statistics(X, np.ones((100, 1))))
    values = np.linalg.eigvalsh(params["covariances"][0])
    assert values[0] == pytest.approx(1e-3 * X.var(axis=0).mean(), rel=0.05)
    assert values[1] == pytest.approx(2 * X.var(axis=0).mean(), rel=0.05)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_a_word_never_seen_rules_a_cluster_out_and_zero_of_it_does_not(dtype):
    params = {"probabilities": np.array([[0.5, 0.5, 0.0], [0.2, 0.3, 0.5]])}
    X = np.array([[3, 2, 0], [3, 2, 1], [0, 0, 40]], dtype)
    for rows in (X, sp.csr_array(X)):
        log_prob = Multinomial().log_prob(rows, params)
        assert log_prob[0, 0] == pytest.approx(5 * np.log(0.5))
        assert np.array_equal(log_prob == -np.inf, [[False, False], [True, False], [True, False]])


def test_rows_without_words_say_nothing():
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
@pytest.mark.parametrize("make", [np.asarray, sp.csr_array])
def test_what_auto_chooses(values, name, why, make):
    family, reason = choose(as_rows(make(np.array(values))))
    assert family.name == name
    assert why in reason


@pytest.mark.parametrize(
    ("family", "block", "message"),
    [
        ("multinomial", [[1.0, -2.0]] * 9, "needs counts, none of them negative, got -2. Use family 'gaussian'"),
        ("poisson", [[1.0, -2.0]] * 9, "needs counts, none of them negative, got -2"),
        ("bernoulli", [[1.0, 2.0]] * 9, "needs zeros and ones, got 2. Use 'multinomial' or 'poisson'"),
        ("categorical", [[1.0, 0.5]] * 9, "needs codes 0, 1, 2, ..., got 0.5.*OrdinalEncoder"),
        ("von-mises-fisher", [[1.0]] * 9, "needs two columns or more"),
        ("multinomial", [[0.0, 0.0]] * 9, None),
    ],
)
def test_data_that_a_family_cannot_explain(family, block, message):
    message = (
        f"view 'a': family '{family}' {message}" if message else "view 'a' is all zeros, of which family 'multinomial'"
    )
    with pytest.raises(ValueError, match=message):
        cs.CoEM(2, families=family).fit({"a": np.array(block)})


def test_an_unknown_family_is_listed_with_the_known():
    with pytest.raises(ValueError, match=r"view 'a': no family 'normal': give 'auto', one of 'multinomial', .*"):
        cs.CoEM(2, families="normal").fit({"a": np.eye(5)})


def test_an_unknown_code_in_predict_is_refused():
    X = np.array([[0, 1], [1, 0], [2, 1], [0, 0]] * 5)
    model = cs.CoEM(2, families="categorical", random_state=0).fit(X)
    with pytest.raises(ValueError, match="family 'categorical' knows codes 0 to 2 in column 0, got 7"):
        model.predict(np.array([[7, 1]]))


@pytest.mark.parametrize("family", [Multinomial, Bernoulli, Poisson, Categorical])
def test_negative_smoothing(family):
    with pytest.raises(ValueError, match="smoothing must be a number, 0 or more, got -1"):
        family(smoothing=-1)


@pytest.mark.parametrize("family", [Gaussian, GaussianFull, GaussianTied, GaussianSpherical, VonMisesFisher])
@pytest.mark.parametrize("floor", [0, 1, -1])
def test_floors_that_are_none(family, floor):
    with pytest.raises(ValueError, match=r"floor must be .* below 1, got"):
        family(floor=floor)


@pytest.mark.parametrize("d", [2, 3, 30, 99, 100, 101, 200])
def test_the_bessel_function_for_few_and_for_many_columns(d):
    c = np.array([1e-9, 1e-3, 0.5, 10.0, 300.0])
    for order in (d / 2 - 1, d / 2):
        expected = iv(order, c)
        told = expected > 1e-300
        np.testing.assert_allclose(log_bessel(order, c, d)[told], np.log(expected[told]), rtol=1e-8)
        assert np.isfinite(log_bessel(order, c, d)).all()
    assert np.isfinite(log_bessel(20_000.0, np.array([1.0, 1e4, 1e6]), 40_002)).all()


@pytest.mark.parametrize("d", [2, 3, 10, 45, 60, 100, 101, 500, 30_000])
def test_concentration_solves_its_equation(d):
    resultant = np.array([1e-10, 1e-4, 0.01, 0.3, 0.9, 0.99, 1 - 1e-6])
    c = solve_concentration(resultant, d)
    ratio = np.exp(log_bessel(d / 2, c, d) - log_bessel(d / 2 - 1, c, d))
    np.testing.assert_allclose(ratio, resultant, rtol=1e-6, atol=1e-10)


@pytest.mark.parametrize("d", [3, 45, 60, 101])
def test_directions_that_cancel_have_no_concentration_and_no_nan(d):
    A = np.random.default_rng(0).normal(size=(20, d))
    model = cs.CoEM(1, families="von-mises-fisher").fit(np.r_[A, -A])
    assert model.params_["view0"]["concentrations"][0] < 1e-6
    uniform = -np.log(2) - d / 2 * np.log(np.pi) + gammaln(d / 2)  # one over the surface of the sphere
    assert model.cost_ == pytest.approx(-40 * uniform)


def test_smoothing_is_what_it_says():
    X, R = np.array([[1.0, 0.0, 1.0], [1.0, 0.0, 0.0]]), np.ones((2, 1))

    def found(family):
        return next(iter(family.maximize(family.statistics(X, R)).values()))

    np.testing.assert_allclose(found(Multinomial(smoothing=2)), [[4 / 9, 2 / 9, 3 / 9]])
    np.testing.assert_allclose(found(Bernoulli(smoothing=2)), [[4 / 6, 2 / 6, 3 / 6]])
    two = np.array([[1.0, 0.0], [0.0, 1.0]])
    rates = Poisson(smoothing=2).maximize(Poisson().statistics(np.array([[4.0], [0.0]]), two))["rates"]
    np.testing.assert_allclose(rates, [[(4 + 2 * 2) / 3], [2 * 2 / 3]])  # two rows of the average, 2, to each
    levels = Categorical(smoothing=2, n_levels=(2, 3, 2))
    np.testing.assert_allclose(found(levels)[0, :, :], [[2 / 6, 4 / 6, 0], [4 / 8, 2 / 8, 2 / 8], [3 / 6, 3 / 6, 0]])


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("family", ["gaussian", "gaussian-full", "gaussian-spherical"])
def test_one_row_far_out_does_not_widen_the_floor(family, dtype):
    rng = np.random.default_rng(0)
    y = np.arange(300) % 3
    X = np.r_[rng.normal(size=(300, 3)) + 6 * np.eye(3)[y], [[1e5] * 3]].astype(dtype)
    model = cs.CoEM(4, families=family, init=np.r_[y, 3]).fit(X)
    assert np.array_equal(model.labels_, np.r_[y, 3])
    assert model.params_["view0"]["covariances"][:3].max() < 3


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("name", [name for name in FAMILIES if name.startswith("gaussian")])
def test_a_constant_column_far_from_zero_is_no_evidence(name, dtype):
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
            {"directions": np.eye(3)[:2], "concentrations": np.array([-1.0, 1])},
            "'concentrations' must be 0 or more",
        ),
    ],
)
def test_parameters_that_are_none(family, params, message):
    assert family.params_complaint(params) == message


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Multinomial(smoothing="a"), "smoothing must be a number, 0 or more, got 'a'"),
        (lambda: Multinomial(smoothing=np.inf), "smoothing must be a number, 0 or more, got inf"),
        (lambda: Gaussian(floor="a"), "floor must be a share of the variance"),
        (lambda: Categorical(n_levels=5), "n_levels must be whole numbers, one a column, got 5"),
    ],
)
def test_families_refuse_what_they_cannot_use(make, message):
    with pytest.raises(ValueError, match=message):
        make()


@pytest.mark.parametrize(
    ("family", "X", "message"),
    [
        ("categorical", [[5e7, 0], [1, 1]], r"needs codes 0, 1, 2, ..., got 5e\+07 in 2 rows. OrdinalEncoder"),
        (Categorical(n_levels=(2, 2, 2)), [[0, 1], [1, 1]], "was given n_levels for 3 columns, got 2"),
    ],
)
def test_codes_that_are_none(family, X, message):
    with pytest.raises(ValueError, match=message):
        cs.CoEM(2, families=family).fit(np.array(X, float))


def test_gaussian_with_a_mean_far_from_zero_and_a_tiny_variance_does_not_overflow():
    X = np.full((1, 1), 1e150)
    params = {"means": np.array([[1e150]]), "covariances": np.array([[1e-200]])}
    assert np.isfinite(cs.families.Gaussian().build_density(X, params)(X)).all()
