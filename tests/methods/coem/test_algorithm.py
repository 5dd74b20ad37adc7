"""Co-EM compared with a literal version of the paper, and with scikit-learn on one view."""

import warnings

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.spatial.distance import cdist
from sklearn.exceptions import ConvergenceWarning
from sklearn.mixture import GaussianMixture

import consilience as cs
import literal
from consilience.datasets import make_gaussian_views, make_text_views
from consilience.families import Gaussian, Multinomial
from consilience.methods.coem.algorithm import ViewPosterior, blend_posteriors, compute_posteriors
from consilience.methods.coem.estimator import SCHEDULES
from consilience.rows import ViewRows
from equality import is_identical
from pairs import cover_pairs

pytestmark = pytest.mark.quick


def rounds(n, **options):
    """Return an estimator that stops after this many rounds without a warning."""
    return cs.CoEM(**{"n_clusters": 3, "eta": 1.0, "tol": 0, "patience": 10_000, "max_iter": n, **options})


def fit_quietly(model, views, y=None):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return model.fit(views, y)


def text(n_views, missing, seed=0, n=40):
    views, _ = make_text_views(
        n, n_clusters=3, n_words=(12, 9, 15)[:n_views], length=8, missing=missing, random_state=seed
    )
    return views


def measurements(n_views, missing, seed=0, n=40):
    views, _ = make_gaussian_views(n, n_clusters=3, n_features=(3, 2, 4)[:n_views], missing=missing, random_state=seed)
    return views


def make_mixed(n_views, missing, seed=0):
    a, b = measurements(n_views, 0.0, seed), text(n_views, 0.0, seed)
    present = measurements(n_views, missing, seed).present
    return cs.Views({name: (a if i % 2 else b)[name] for i, name in enumerate(a.names)}, present=present)


def dense(views):
    return [np.nan_to_num(X.toarray() if sp.issparse(X) else X) for _, X in views.items()]


def start_of(views, k=3, seed=1):
    rng = np.random.default_rng(seed)
    return {name: rng.dirichlet(np.ones(k), len(views)) for name in views.names}


MAKERS = {"multinomial": text, "gaussian": measurements}


@cover_pairs(
    family=MAKERS,
    shape=[(1, 0.0), (2, 0.0), (2, 0.4), (3, 0.0), (3, 0.4)],
    eta=[0.0, 0.3, 1.0],
    priors=["global", "view", "uniform"],
    has_classes=[False, True],
)
def test_equals_the_paper_row_by_row(family, shape, eta, priors, has_classes):
    """Entities of a known class have its posterior from the start on."""
    views = MAKERS[family](*shape)
    classes = np.where(np.arange(40) % 4, -1, np.arange(40) % 3) if has_classes else np.full(40, -1)
    start = start_of(views)
    families = {"multinomial": Multinomial(smoothing=0.3), "gaussian": Gaussian()}[family]
    model = fit_quietly(rounds(4, families=families, eta=eta, priors=priors, init=start), views, classes)
    clamped = [np.where(classes[:, None] >= 0, np.eye(3)[classes], values) for values in start.values()]
    names = [family] * len(clamped)
    expected = literal.co_em(
        dense(views), views.present, names, clamped, 3, [eta] * 4, priors, smoothing=0.3, fixed=classes
    )
    assert_same(model, views, *expected)


def test_random_responsibilities_equal_the_paper():
    """All views start from one draw, from the flat Dirichlet distribution, in the order of the entities."""
    views = text(3, 0.4)
    draws = np.random.default_rng(5).spawn(1)[0].standard_exponential((40, 3))
    start = draws / draws.sum(axis=1, keepdims=True)
    options = {"families": Multinomial(smoothing=0.3), "eta": 0.5, "n_init": 1, "random_state": 5}
    model = fit_quietly(rounds(4, init="random-responsibilities", **options), views)
    expected = literal.co_em(
        dense(views), views.present, ["multinomial"] * 3, [start] * 3, 3, [0.5] * 4, "global", smoothing=0.3
    )
    assert_same(model, views, *expected)


def test_starts_of_random_responsibilities_differ():
    """Several starts are drawn, each from its own random numbers, and the best is kept."""
    options = {"init": "random-responsibilities", "random_state": 0}
    single, several = (fit_quietly(rounds(2, n_init=n, **options), text(2, 0.0)).cost_ for n in (1, 8))
    assert several < single


def assert_same(model, views, theta, alpha, posteriors, history):
    for v, name in enumerate(views.names):
        params = model.params_[name]
        np.testing.assert_allclose(params["weights"], alpha[v], rtol=1e-8)
        if "probabilities" in params:
            np.testing.assert_allclose(params["probabilities"], theta[v], rtol=1e-7, atol=1e-12)
        else:
            np.testing.assert_allclose(params["means"], [mean for mean, _ in theta[v]], rtol=1e-7)
            np.testing.assert_allclose(params["covariances"], [variance for _, variance in theta[v]], rtol=1e-7)
        has_view = np.flatnonzero(views.present[:, v])
        assert sorted(posteriors[v]) == has_view.tolist()
        np.testing.assert_allclose(
            model.responsibilities_[name][has_view], [posteriors[v][i] for i in has_view], rtol=1e-7, atol=1e-10
        )
        assert not model.responsibilities_[name][~views.present[:, v]].any()
    for t, (q, delta, likelihoods) in enumerate(history):
        assert model.history_["q"][t] == pytest.approx(q, rel=1e-9)
        assert model.history_["delta"][t] == pytest.approx(delta, rel=1e-7, abs=1e-9)
        for name, value in zip(views.names, likelihoods, strict=True):
            assert model.history_[f"log_likelihood_{name}"][t] == pytest.approx(value, rel=1e-10)


def test_equals_the_paper_with_one_family_per_view_and_annealing():
    views = make_mixed(3, 0.4)
    start = start_of(views)
    etas = [1.0, 0.6, 0.2, 0.0]
    families = {"view0": Multinomial(smoothing=0.3), "view1": "gaussian", "view2": Multinomial(smoothing=0.3)}
    model = fit_quietly(rounds(6, families=families, anneal=etas, init=start), views)
    names, etas = ["multinomial", "gaussian", "multinomial"], [*etas, 0.0, 0.0]
    result = literal.co_em(dense(views), views.present, names, list(start.values()), 3, etas, "global", smoothing=0.3)
    assert_same(model, views, *result)
    assert model.history_["eta"].tolist() == etas


def test_unsmoothed_multinomials_equal_the_paper_with_infinities():
    views, _ = make_text_views(30, n_clusters=3, n_words=(60, 50), length=4, random_state=0)
    labels = np.random.default_rng(0).integers(3, size=30)
    start = dict.fromkeys(views.names, np.eye(3)[labels])
    model = fit_quietly(rounds(3, families=Multinomial(smoothing=0), init=start), views)
    with np.errstate(divide="ignore"):
        theta, alpha, posteriors, history = literal.co_em(
            dense(views), views.present, ["multinomial"] * 2, list(start.values()), 3, [1.0] * 3, "global"
        )
    assert any(np.isinf(q) for q, _, _ in history)  # the trap is there
    assert not any(np.isnan(model.history_[name]).any() for name in model.history_)
    assert_same(model, views, theta, alpha, posteriors, history)


@pytest.mark.parametrize(
    ("kind", "family"),
    [("full", "gaussian-full"), ("tied", "gaussian-tied"), ("diag", "gaussian"), ("spherical", "gaussian-spherical")],
)
def test_one_view_equals_scikit_learn(kind, family):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 4)) @ rng.normal(size=(4, 4)) + 3 * rng.normal(size=(3, 4))[np.arange(300) % 3]
    start = rng.dirichlet(np.ones(3), 300)
    reference = GaussianMixture(3, covariance_type=kind, reg_covar=0, tol=0, max_iter=10)
    reference._initialize_parameters = lambda X, *_, **__: reference._initialize(X, start)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        reference.fit(X)
    model = fit_quietly(rounds(10, families=family, init=start), X)
    params = model.params_["view0"]
    np.testing.assert_allclose(params["means"], reference.means_, rtol=1e-9)
    np.testing.assert_allclose(params["covariances"], reference.covariances_, rtol=1e-8, atol=1e-10)
    np.testing.assert_allclose(model.cluster_weights_, reference.weights_, rtol=1e-9)
    np.testing.assert_allclose(model.predict_proba(X), reference.predict_proba(X), atol=1e-9)
    np.testing.assert_allclose(model.score_samples(X), reference.score_samples(X), rtol=1e-9)
    assert model.bic(X) == pytest.approx(reference.bic(X))
    assert model.aic(X) == pytest.approx(reference.aic(X))
    assert np.array_equal(model.labels_, reference.predict(X))


def test_multinomial_2004_equals_the_paper():
    """Table 1 of 2004: M-step in a view on the posteriors of the other, then E-step in it, from view 2 alone."""
    views = text(2, 0.0)
    first = np.random.default_rng(0).dirichlet(np.ones(12), 3), np.random.default_rng(1).dirichlet(np.ones(9), 3)
    start = {"view1": {"probabilities": first[1]}}
    model = fit_quietly(cs.CoEM.multinomial_2004(3, init=start, max_iter=5, tol=0, patience=99), views)
    blocks, theta = dense(views), [None, first[1]]

    def posterior(v):
        result, _ = literal.local_posteriors(
            blocks[v], np.ones(40), np.full(3, 1 / 3), theta[v], literal.multinomial_log_prob
        )
        return np.array([result[i] for i in range(40)])

    for _ in range(5):
        for v in (0, 1):
            theta[v] = literal.multinomial_m_step(blocks[v], posterior(1 - v), 1.0)
    for v, name in enumerate(views.names):
        np.testing.assert_allclose(model.params_[name]["probabilities"], theta[v], rtol=1e-8)
    assert np.array_equal(model.labels_, (posterior(0) + posterior(1)).argmax(axis=1))  # Eq 7


@settings(max_examples=10)
@given(seed=st.integers(0, 10_000), eta=st.floats(0, 1), family=st.sampled_from(sorted(MAKERS)))
def test_m_step_never_lowers_the_criterion(seed, eta, family):
    """Theorem 1: at fixed blended posteriors a view's M-step maximizes its share of Q^MV (Eq 12)."""
    views = MAKERS[family](3, 0.3, seed=seed)
    blocks = dict(zip(views.names, dense(views), strict=True))
    model = {"multinomial": Multinomial(smoothing=0), "gaussian": Gaussian()}[family]
    rng = np.random.default_rng(seed)
    posteriors = [{i: p for i, p in enumerate(rng.dirichlet(np.ones(3), 40)) if views.present[i, v]} for v in range(3)]
    for v, (name, X) in enumerate(blocks.items()):
        has_view = np.flatnonzero(views.present[:, v])
        blended = np.array([literal.blend_posteriors(posteriors, v, i, eta) for i in has_view])
        best = model.maximize(model.statistics(X[has_view], blended))

        def share(params, X=X, has_view=has_view, blended=blended):
            return float((blended * model.log_prob(X[has_view], params)).sum())

        reached = share(best)
        for actual in range(3):
            rows = rng.dirichlet(np.ones(3), len(has_view))
            before = model.maximize(model.statistics(X[has_view], rows))
            assert reached >= share(before) - 1e-9 * abs(reached), (name, actual)


def test_joint_assignment_is_equation_19():
    views = text(3, 0.4)
    model = fit_quietly(rounds(5, families=Multinomial(smoothing=0.3), init=start_of(views)), views)
    probabilities, scores, blocks = model.predict_proba(views), model.score_samples(views), dense(views)
    for i in range(len(views)):
        log_joint = np.log(model.cluster_weights_)
        for v in np.flatnonzero(views.present[i]):
            theta = model.params_[views.names[v]]["probabilities"]
            log_joint = log_joint + [literal.multinomial_log_prob(blocks[v][i], t) for t in theta]
        assert model.labels_[i] == np.argmax(log_joint)
        evidence = np.logaddexp.reduce(log_joint)
        np.testing.assert_allclose(probabilities[i], np.exp(log_joint - evidence), atol=1e-10)
        assert scores[i] == pytest.approx(evidence)


def test_average_assignment_is_the_mean_posterior():
    views = text(3, 0.4)
    model = fit_quietly(rounds(5, assignment="average", init=start_of(views)), views)
    stacked = np.stack([np.where(p.any(axis=1, keepdims=True), p, np.nan) for p in model.responsibilities_.values()])
    mean = np.nanmean(stacked, axis=0)
    np.testing.assert_allclose(model.predict_proba(views), mean, atol=1e-12)
    assert np.array_equal(model.labels_, mean.argmax(axis=1))


def test_joint_prior_is_the_mean_of_view_priors():
    views = text(2, 0.0)
    model = fit_quietly(rounds(3, priors="view", init=start_of(views)), views)
    values = [model.params_[name]["weights"] for name in views.names]
    assert np.abs(values[0] - values[1]).max() > 1e-6
    np.testing.assert_allclose(model.cluster_weights_, np.mean(values, axis=0))


@pytest.mark.parametrize("priors", ["global", "view", "uniform"])
def test_parameters_as_init_continue_a_run(priors):
    views = make_mixed(3, 0.3)
    straight = fit_quietly(rounds(9, priors=priors, init=start_of(views)), views)
    half = fit_quietly(rounds(4, priors=priors, init=start_of(views)), views)
    rest = fit_quietly(rounds(5, priors=priors, init=half.params_, random_state=1), views)
    assert np.array_equal(straight.labels_, rest.labels_)
    for name in views.names:
        np.testing.assert_allclose(rest.responsibilities_[name], straight.responsibilities_[name], atol=1e-12)


def test_labels_as_init_equal_hard_responsibilities_whatever_the_seed():
    views = make_mixed(3, 0.3)
    labels = np.random.default_rng(0).integers(3, size=40)
    starts = labels, np.eye(3)[labels], dict.fromkeys(views.names, np.eye(3)[labels])
    first, *others = (fit_quietly(rounds(5, init=init, random_state=s), views) for s, init in enumerate(starts))
    for other in others:
        assert is_identical(other.responsibilities_, first.responsibilities_)
        assert other.cost_ == first.cost_


def test_centers_as_init():
    """Those of multinomials are their parameters; to others, entities are assigned by the nearest center."""
    views = text(2, 0.0)
    theta = {name: np.random.default_rng(0).dirichlet(np.ones(views[name].shape[1]), 3) for name in views.names}
    parameters = {name: {"probabilities": values} for name, values in theta.items()}
    X = measurements(1, 0.0)["view0"]
    nearest = cdist(X, X[:3]).argmin(axis=1)
    by_center = {"view0": X[:3]}
    for data, family, *starts in ((views, "multinomial", theta, parameters), (X, "gaussian", by_center, nearest)):
        first, second = (fit_quietly(rounds(3, families=family, init=init), data).cost_ for init in starts)
        assert first == second


@pytest.mark.parametrize("name", sorted(SCHEDULES))
def test_annealing_ends_at_zero_before_convergence(name):
    views, _ = make_text_views(100, n_clusters=3, topic_share=0.6, random_state=0)
    model = cs.CoEM(3, eta=1, anneal=name, n_init=1, random_state=0, patience=1).fit(views)
    etas = model.history_["eta"]
    assert etas[0] == 1
    assert etas[-1] == 0
    assert np.all(np.diff(etas) <= 0)
    assert model.n_iter_ > 25
    assert model.converged_


def test_steps_of_the_schedules():
    assert np.allclose(np.diff(cs.CoEM(eta=0.8, anneal="linear")._make_etas()), -0.8 / 25)
    falling = np.array(cs.CoEM(eta=0.8, anneal="geometric")._make_etas())
    assert np.allclose(falling[1:-1] / falling[:-2], falling[1] / falling[0])
    assert falling[-1] == 0


def test_blending_leaves_out_missing_views():
    def make_posterior(posterior, present):
        present = np.array(present)
        return ViewPosterior(None, np.array([posterior] * 4, float) * present[:, None], None, present, complete=False)

    posteriors = {
        "a": make_posterior([1, 0], [True, True, True, False]),
        "b": make_posterior([0, 1], [True, False, True, True]),
        "c": make_posterior([0.5, 0.5], [True, False, False, True]),
    }
    views = {name: ViewRows(np.zeros((4, 1)), view.present) for name, view in posteriors.items()}
    blend = blend_posteriors(views, posteriors, "a", 0.5, slice(0, 4))
    np.testing.assert_allclose(blend, [[0.5 + 0.5 * 0.25, 0.5 * 0.75], [1, 0], [0.5, 0.5], [0, 0]])
    views["a"] = ViewRows(np.zeros((4, 1)), np.ones(4, bool))
    del posteriors["a"]  # it has no parameters yet, so the others determine the blend
    blend = blend_posteriors(views, posteriors, "a", 0.5, slice(0, 4))
    np.testing.assert_allclose(blend, [[0.25, 0.75], [0, 0], [0, 1], [0.25, 0.75]])


def test_patience_counts_rounds_without_a_higher_likelihood_in_any_view():
    views, _ = make_gaussian_views(200, separation=6, random_state=0)
    model = cs.CoEM(3, patience=4, tol=1e-4, n_init=1, random_state=0).fit(views)
    best, since = {}, {}
    for t in range(model.n_iter_):
        for name in views.names:
            value = model.history_[f"log_likelihood_{name}"][t]
            if name not in best or value - best[name] > 1e-4 * abs(best[name]):
                best[name], since[name] = value, t
    assert model.n_iter_ - 1 - max(since.values()) == 4
    assert model.converged_


@pytest.mark.parametrize(("dtype", "apart"), [(np.float64, 712.0), (np.float32, 90.0)])
def test_subnormal_posteriors_are_zero(dtype, apart):
    log_prob = np.array([[0.0, -apart], [0.0, -1.0]], dtype)
    posterior, evidence = compute_posteriors(log_prob, np.log([0.5, 0.5]))
    assert np.exp(dtype(-apart)) > 0  # it would not have vanished by itself
    assert posterior[0].tolist() == [1.0, 0.0]
    np.testing.assert_allclose(posterior[1], np.exp([0, -1]) / np.exp([0, -1]).sum(), rtol=1e-6)
    np.testing.assert_allclose(evidence, np.log(0.5) + np.log1p(np.exp([-apart, -1])), rtol=1e-6)


def test_clusters_impossible_in_one_or_two_views():
    """Eq 19 is 0/0 if every cluster is impossible in some view: the prior is used."""
    theta = {"a": np.array([[1.0, 0.0, 0.0], [0.0, 0.5, 0.5]]), "b": np.array([[0.0, 1.0], [0.0, 1.0]])}
    words = {"a": np.array([[0, 1, 2], [3, 0, 0], [0, 2, 1]]), "b": np.array([[0, 2], [0, 1], [0, 3]])}
    init = {name: {"probabilities": values, "weights": [0.3, 0.7]} for name, values in theta.items()}
    model = fit_quietly(rounds(1, n_clusters=2, families=Multinomial(smoothing=0), init=init), words)
    new = {"a": np.array([[1, 1, 0]]), "b": np.array([[1, 0]])}
    assert (model.params_["b"]["probabilities"][:, 0] == 0).all()
    np.testing.assert_allclose(model.predict_proba(new)[0], model.cluster_weights_)
    assert model.score_samples(new)[0] == -np.inf
