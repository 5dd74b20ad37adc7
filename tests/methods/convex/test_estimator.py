"""Tests of ConvexMixture: against the paper's equations, results, warnings and errors."""

import pickle
import re
import warnings
from dataclasses import replace
from itertools import islice, pairwise

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import example, given, settings
from hypothesis import strategies as st
from scipy.optimize import brentq
from scipy.spatial.distance import cdist
from scipy.special import kl_div, softmax
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import adjusted_rand_score, calinski_harabasz_score

import consilience as cs
import literal_convex as literal
from consilience.arrays import KernelMatrix
from consilience.datasets import make_corrupted_views, make_gaussian_views, make_text_views
from consilience.divergences import Bernoulli, Mahalanobis
from consilience.divergences.squared_euclidean import EuclideanMeasure
from consilience.methods.convex import algorithm as convex_mixture
from consilience.methods.convex import kernel_kmeans
from consilience.methods.convex.algorithm import MixtureProblem, solve_with_learned_weights, solve_with_uniform_weights
from consilience.methods.convex.inputs import build_likelihoods, prepare_comparisons, resolve_divergences
from consilience.methods.convex.kernel_kmeans import DistanceSpace, PairwiseDistances
from transfers import count_transfers, put_on_device

MODES = {
    "learned": {},
    "uniform": {"weights": "uniform"},
    "refined": {"refine": "kernel-kmeans"},
    "all": {"n_clusters": None},
    "normalizer": {"normalizer": True},
    "bounded": {"min_weight": 0.3},
    "em": {"solver": "em", "inner_tol": 1e-3},
}


def make_views(n=60, n_views=2, missing=0.0, separation=4, seed=0):
    return make_gaussian_views(
        n, n_clusters=3, n_features=(2, 3, 4)[:n_views], separation=separation, missing=missing, random_state=seed
    )


def fit_model(views, n_clusters=3, **options):
    return cs.ConvexMixture(n_clusters, **options).fit(views)


def fit_in_mode(mode, views, **options):
    return cs.ConvexMixture(**({"n_clusters": 3} | MODES[mode] | options)).fit(views)


def fit_rounds(views, n_rounds, n_clusters=3, **options):
    """Fit exactly `n_rounds` rounds of EM, each solved up to rounding."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return fit_model(views, n_clusters, max_iter=n_rounds, tol=0.0, **options)


def squares(views):
    return {name: cdist(X, X, "sqeuclidean") for name, X in views.items()}


def weights_of(model):
    return np.array(list(model.view_weights_.values()))


def tables_of(views, factor):
    """Return the literal likelihoods of complete or incomplete views, and the sharpness of each."""
    distances = list(squares(views).values())
    present = [np.flatnonzero(rows) for rows in views.present.T]
    betas = [factor * literal.beta_0(D, rows) for D, rows in zip(distances, present, strict=True)]
    return literal.likelihoods(distances, betas, views.present), betas


# comparison with the paper


def assert_clusters_match(model, views, chosen, P, atol):
    """Assert that exemplars, labels and probabilities follow from the literal posteriors."""
    assert np.array_equal(model.exemplars_, chosen)
    assert np.array_equal(model.labels_, literal.assign_to_exemplars(P, chosen))
    P = P / P.sum(axis=1, keepdims=True)
    P[chosen] = np.eye(3)
    np.testing.assert_allclose(model.predict_proba(views), P, atol=atol)


@pytest.mark.parametrize(
    ("n_views", "missing", "factor", "normalizer"),
    [
        (1, 0.0, 2.0, True),
        (2, 0.0, 0.5, False),
        (2, 0.3, 1.0, True),
        (3, 0.0, 1.0, True),
        (3, 0.3, 2.0, False),
        (3, 0.3, 0.5, False),
    ],
)
def test_rounds_match_literal_algorithm_1(n_views, missing, factor, normalizer):
    views, _ = make_views(30, n_views, missing, seed=2)
    tables, betas = tables_of(views, factor)
    model = fit_rounds(views, 3, beta=factor, normalizer=normalizer)
    np.testing.assert_allclose(list(model.betas_.values()), betas, rtol=1e-12)
    sizes = [X.shape[1] for _, X in views.items()]
    log_C = list(map(literal.gaussian_log_normalizer, sizes, betas)) if normalizer else None
    pi, q, history = literal.run_weighted_rounds(tables, views.present, model.n_iter_, log_C=log_C)
    assert model.n_iter_ == (3 if n_views > 1 else 1)
    np.testing.assert_allclose(model.history_["log_likelihood"], history, atol=1e-6)
    np.testing.assert_allclose(weights_of(model), pi, atol=1e-5)
    np.testing.assert_allclose(model.exemplar_weights_, q, atol=1e-4)
    chosen = literal.exemplars(q, 3)
    assert_clusters_match(
        model, views, chosen, literal.posteriors(tables, views.present, q, pi, chosen, log_C), atol=1e-4
    )


def test_init_matches_literal_algorithm_1():
    views, _ = make_views(30, seed=2)
    tables, _ = tables_of(views, 1.0)
    pi, q, history = literal.run_weighted_rounds(tables, views.present, 2, pi=[0.9, 0.1])
    for init in ({"view1": 0.1, "view0": 0.9}, [9, 1], (1.8, 0.2), np.array([0.9, 0.1])):
        model = fit_rounds(views, 2, init=init)
        np.testing.assert_allclose(model.history_["log_likelihood"], history, atol=1e-6)
        np.testing.assert_allclose(weights_of(model), pi, atol=1e-5)
        np.testing.assert_allclose(model.exemplar_weights_, q, atol=1e-4)
    assert not np.allclose(weights_of(fit_rounds(views, 2)), pi, atol=1e-3)


@pytest.mark.parametrize(("n_views", "missing", "factor"), [(1, 0.0, 2.0), (2, 0.0, 0.5), (2, 0.3, 1.0), (3, 0.3, 2.0)])
def test_uniform_weights_match_equation_7(n_views, missing, factor):
    views, _ = make_views(40, n_views, missing, seed=1)
    tables, betas = tables_of(views, factor)
    model = fit_model(views, weights="uniform", beta=factor)
    q = literal.uniform(tables, views.present)
    np.testing.assert_allclose(list(model.betas_.values()), betas, rtol=1e-12)
    best = literal.uniform_objective(tables, views.present, q)
    assert best - 1e-6 <= model.history_["log_likelihood"][-1] <= best + 1e-8
    np.testing.assert_allclose(model.exemplar_weights_, q, atol=2e-3)
    chosen = literal.exemplars(q, 3)
    assert_clusters_match(model, views, chosen, literal.mean_posteriors(tables, views.present, q, chosen), atol=5e-3)
    assert set(model.view_weights_.values()) == {1 / n_views}


def test_beta_forms_and_units():
    views, _ = make_views(50, 2, 0.4)
    a, b = tables_of(views, 1.0)[1]
    factors = {"view1": 0.5, "view0": 1.5}
    assert fit_model(views).betas_ == pytest.approx({"view0": a, "view1": b}, rel=1e-12)
    by_name = fit_model(views, beta=factors)
    assert factors == {"view1": 0.5, "view0": 1.5}
    assert by_name.betas_ == pytest.approx({"view0": 1.5 * a, "view1": 0.5 * b}, rel=1e-12)
    assert fit_model(views, beta=[1.5, np.float32(0.5)]).betas_ == pytest.approx(by_name.betas_, rel=1e-12)
    itself = fit_model(views, beta=(1.5 * a, 0.5 * b), beta_unit="absolute")
    assert itself.betas_ == pytest.approx(by_name.betas_, rel=1e-12)
    assert np.array_equal(itself.labels_, by_name.labels_)
    assert fit_model(views, beta=0.3, beta_unit="absolute").betas_ == {"view0": 0.3, "view1": 0.3}


@pytest.mark.parametrize("weights", ["learned", "uniform"])
def test_refinement_matches_kernel_kmeans(weights):
    views, _ = make_views(50, separation=2, seed=1)
    before = fit_model(views, weights=weights)
    model = fit_model(views, weights=weights, refine="kernel-kmeans")
    K = literal.combine_linear_kernels([X for _, X in views.items()], weights_of(before))
    labels, costs = literal.kernel_kmeans(K, before.labels_, 3)
    assert len(costs) > 2
    assert np.array_equal(model.labels_, labels)
    assert model.cost_ == pytest.approx(costs[-1], rel=1e-9)
    assert np.array_equal(model.exemplars_, before.exemplars_)
    assert model.view_weights_ == before.view_weights_


@pytest.mark.parametrize(("n_views", "missing", "inner_tol"), [(1, 0.0, 1e-2), (2, 0.0, 1e-4), (3, 0.3, 1e-1)])
def test_em_stops_where_printed_algorithm_1_stops(n_views, missing, inner_tol):
    views, _ = make_views(30, n_views, missing, separation=2, seed=2)
    tables, _ = tables_of(views, 1.0)
    pi, q, weights, n_updates = literal.run_algorithm_1(tables, views.present, 1e-3, inner_tol)
    model = fit_model(views, solver="em", inner_tol=inner_tol, tol=1e-3)
    assert max(n_updates) > 1
    assert model.n_iter_ == len(weights)
    assert model.converged_
    history = np.stack([model.history_[f"weight_{name}"] for name in views.names], axis=1)
    np.testing.assert_allclose(history, weights, atol=1e-10)
    np.testing.assert_allclose(weights_of(model), pi, atol=1e-10)
    np.testing.assert_allclose(model.exemplar_weights_, q, atol=1e-10)
    chosen = literal.exemplars(q, 3)
    P = literal.posteriors(tables, views.present, q, pi, chosen)
    assert np.array_equal(model.labels_, literal.assign_to_exemplars(P, chosen))


def test_em_with_uniform_weights_stops_by_change():
    views, _ = make_views(40, 2, 0.3, seed=1)
    tables, _ = tables_of(views, 1.0)
    rows = [f[views.present[:, v]] for v, f in enumerate(tables)]
    q, change, n_updates = np.full(40, 1 / 40), np.inf, 0
    while change >= 1e-2:
        before, q = q, q * sum((1 / (f @ q)) @ f for f in rows) / views.present.sum()  # Eq 7
        change, n_updates = np.abs(q - before).sum(), n_updates + 1
    model = fit_model(views, weights="uniform", solver="em", inner_tol=1e-2)
    assert model.n_iter_ == n_updates > 3
    np.testing.assert_allclose(model.exemplar_weights_, q, atol=1e-12)
    factors = sum((1 / (f @ q)) @ f for f in rows) / views.present.sum()
    assert model.gap_ == pytest.approx(factors.max() - 1, abs=1e-12)
    assert set(model.view_weights_.values()) == {0.5}


def test_em_does_not_notice_exemplars_that_regain_weight():
    """An exemplar weight that an early round has made tiny grows too little per update to count as a change."""
    views, _ = make_views(40, 2, seed=3)
    newton, em = fit_model(views, tol=1e-9), fit_model(views, tol=1e-9, solver="em", inner_tol=1e-6)
    assert em.converged_  # without a warning
    assert em.gap_ > 1e-3 > newton.gap_
    assert em.cost_ > newton.cost_ + 1e-3


def test_noisy_views_of_paper():
    """A safe version of the paper's experiment."""
    views, y = make_corrupted_views(n_views=5, n_noisy=2, random_state=0)
    model = fit_model(views)
    assert len(set(y[model.exemplars_])) == 3
    *clean, noisy0, noisy1 = weights_of(model)
    assert min(clean) > max(noisy0, noisy1)
    alone, uniform = fit_model(views[["view0"]]), fit_model(views, weights="uniform")
    entropy, *others = (cs.metrics.average_entropy(y, fit.labels_) for fit in (model, alone, uniform))
    assert entropy < min(others)


# guarantees


@st.composite
def problems(draw):
    n, n_views = draw(st.integers(4, 25)), draw(st.integers(1, 3))
    rng = np.random.default_rng(draw(st.integers(0, 2**20)))
    blocks = [rng.standard_normal((n, d)) + 3 * rng.integers(0, 2, (n, 1)) for d in (1, 2, 3)[:n_views]]
    present = rng.random((n, n_views)) < draw(st.sampled_from([0.6, 1.0]))
    present[np.arange(n), rng.integers(n_views, size=n)] = True
    present[:2] = True
    least = draw(st.sampled_from([0.0, 0.0, 0.5, 1.0])) / n_views
    return cs.Views(blocks, present=present), draw(st.sampled_from([0.3, 1.0, 3.0, 10.0])), least


@settings(max_examples=25, deadline=None)
@given(problems())
def test_likelihood_rises_and_gap_closes(problem):
    views, beta, least = problem
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        model = cs.ConvexMixture(2, beta=beta, min_weight=least, max_iter=30, n_jobs=1).fit(views)
    assert all(b >= a - 1e-9 for a, b in pairwise(model.history_["log_likelihood"]))
    assert model.history_["gap"].max() <= 1e-6
    assert model.gap_ == model.history_["gap"][-1]
    assert model.exemplar_weights_.min() >= 0
    assert model.exemplar_weights_.sum() == pytest.approx(1)
    assert weights_of(model).sum() == pytest.approx(1)
    if least == 0:
        tables, _ = tables_of(views, beta)
        reached = literal.log_likelihood(
            tables, views.present, model.exemplar_weights_, weights_of(model), np.zeros(views.n_views)
        )
        assert model.history_["log_likelihood"][-1] == pytest.approx(reached, abs=1e-9)
    assert (weights_of(model) >= least * views.present.mean(axis=0) - 2e-5).all()


@pytest.mark.parametrize(
    ("n", "d", "beta", "weights"),
    [(60, 2, 0.3, "learned"), (100, 2, 5.0, "uniform"), (250, 2, 1.0, "learned"), (300, 1, 30.0, "learned")],
)
def test_gap_is_correct(n, d, beta, weights):
    """With one view, the gap follows from its definition; learned weights have no effect on a single view."""
    X = np.random.default_rng(n).standard_normal((n, d))
    model = cs.ConvexMixture(weights=weights, beta=beta).fit(X)
    f = np.exp(-model.betas_["view0"] * cdist(X, X, "sqeuclidean"))
    gap = (f / (f @ model.exemplar_weights_)[:, None]).mean(axis=0).max() - 1
    assert gap <= 1e-6
    assert model.gap_ == pytest.approx(gap, abs=1e-9)
    assert model.converged_


def test_tol_matters():
    views, _ = make_views()
    loose, default, tight = (fit_model(views, tol=tol) for tol in (1e-2, 1e-4, 1e-7))
    assert loose.n_iter_ < default.n_iter_ < tight.n_iter_
    history = default.history_
    assert list(history) == ["round", "log_likelihood", "gap", "exemplars", "weight_view0", "weight_view1"]
    assert history["round"].tolist() == list(range(1, default.n_iter_ + 1))
    assert history["exemplars"][-1] == np.count_nonzero(default.exemplar_weights_)
    rises = np.diff(history["log_likelihood"])
    assert (rises[:-1] >= 1e-4).all()
    assert rises[-1] < 1e-4
    assert fit_model(views, tol=1e-12, weights="uniform").gap_ <= 1e-12
    limited = fit_model(views, tol=0.0, weights="uniform")  # rounding ends it
    assert limited.gap_ < 1e-12
    assert limited.converged_


@pytest.mark.parametrize("mode", MODES)
def test_finds_clear_clusters(mode):
    views, y = make_corrupted_views(90, n_views=3, n_corrupted=0, random_state=0)
    model = fit_in_mode(mode, views)
    assert len(set(y[model.exemplars_[:3]])) == 3
    if mode != "all":
        assert adjusted_rand_score(y, model.labels_) == 1.0
        assert model.agreement_.min() > 0.95
    assert np.array_equal(model.labels_[model.exemplars_], np.arange(model.n_clusters_))
    assert np.array_equal(model.exemplars_, literal.exemplars(model.exemplar_weights_, model.n_clusters_))


def test_default_clusters_are_all_exemplars():
    views, _ = make_views()
    model, fewer = (cs.ConvexMixture(beta=beta).fit(views) for beta in (1.0, 0.3))
    assert model.n_clusters_ == np.count_nonzero(model.exemplar_weights_) == len(model.exemplars_)
    assert set(model.labels_) == set(range(model.n_clusters_))
    assert fewer.n_clusters_ < model.n_clusters_


def test_view_labels():
    views, _ = make_views(60, 2, 0.3)
    model = fit_model(views)
    order = model.exemplars_
    for v, (name, D) in enumerate(squares(views.map(np.nan_to_num)).items()):
        present = views.present[:, v]
        with np.errstate(divide="ignore"):
            scores = np.log(model.exemplar_weights_[order] * present[order]) - model.betas_[name] * D[:, order]
        assert np.array_equal(model.view_labels_[name][present], scores.argmax(axis=1)[present])
        assert (model.view_labels_[name][~present] == -1).all()


# every mode


@pytest.fixture(scope="module", params=MODES)
def fitted(request):
    """A mode, views of which entities lack some, and a model."""
    views, _ = make_views(60, 3, 0.3, separation=3)
    return request.param, views, fit_in_mode(request.param, views)


def test_model_repeats_its_labels_and_score(fitted):
    mode, views, model = fitted
    again = pickle.loads(pickle.dumps(model))
    assert np.array_equal(again.predict(views), model.labels_)
    assert np.array_equal(model.predict(views[20:35]), model.labels_[20:35])
    assert model.predict(views[:0]).shape == (0,)
    assert np.array_equal(clone(model).fit_predict(views), model.labels_)
    if mode != "bounded":  # with an active bound, the cost differs
        assert model.score(views) == pytest.approx(-model.cost_, rel=1e-9)
    assert model.score(views[:30]) != model.score(views[30:])


def test_order_names_and_missing_values_do_not_matter(fitted):
    """Permute the entities and the views, rename the views, and fill in what is missing, all at once."""
    mode, views, straight = fitted
    order = np.random.default_rng(0).permutation(60)
    old_names = {"b": "view2", "z": "view0", "a": "view1"}
    blocks = {name: np.nan_to_num(views[old], nan=99.0)[order] for name, old in old_names.items()}
    turned = fit_in_mode(mode, cs.Views(blocks, present=views.present[order][:, [2, 0, 1]]))
    assert np.array_equal(order[turned.exemplars_], straight.exemplars_)
    assert np.array_equal(turned.labels_, straight.labels_[order])
    np.testing.assert_allclose(turned.exemplar_weights_, straight.exemplar_weights_[order], atol=1e-5)
    renamed = {old_names[name]: weight for name, weight in turned.view_weights_.items()}
    assert renamed == pytest.approx(straight.view_weights_, abs=1e-6)


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.filterwarnings("ignore::UserWarning")
def test_few_entities(mode):
    for n in (1, 2, 3):
        views, _ = make_views(n)
        model = fit_in_mode(mode, views, **({} if mode == "all" else {"n_clusters": 1}))
        assert model.exemplar_weights_.sum() == pytest.approx(1)
        assert np.isfinite(weights_of(model)).all()
        assert np.array_equal(model.predict(views), model.labels_)


# ways to compare rows


def assert_same_fit(model, plain):
    assert model.betas_ == pytest.approx(plain.betas_)
    assert model.view_weights_ == pytest.approx(plain.view_weights_, abs=1e-6)
    np.testing.assert_allclose(model.exemplar_weights_, plain.exemplar_weights_, atol=1e-5)
    assert np.array_equal(model.exemplars_, plain.exemplars_)
    assert np.array_equal(model.labels_, plain.labels_)


@pytest.mark.parametrize("mode", ["learned", "uniform", "refined"])
def test_distances_agree_with_features(mode):
    views, _ = make_views(90, separation=2, seed=5)
    old, new = views[:60], views[60:]
    blocks = squares(old)
    before = {name: D.copy() for name, D in blocks.items()}
    plain, model = fit_in_mode(mode, old), fit_in_mode(mode, blocks, divergence="precomputed")
    assert_same_fit(model, plain)
    distances = {name: cdist(new[name], old[name], "sqeuclidean") for name in views.names}
    assert np.array_equal(pickle.loads(pickle.dumps(model)).predict(distances), plain.predict(new))
    assert np.array_equal(model.predict({"view1": distances["view1"]}), plain.predict(new[["view1"]]))
    if mode != "refined":
        P = plain.predict_proba(new)
        assert np.array_equal(P.argmax(axis=1), plain.predict(new))
        np.testing.assert_allclose(P.sum(axis=1), 1)
        np.testing.assert_allclose(model.predict_proba(distances), P, atol=1e-4)
    assert all(np.array_equal(D, before[name]) for name, D in blocks.items())


@pytest.mark.parametrize("mode", ["learned", "refined"])
def test_kernels_agree_with_features(mode):
    views, _ = make_views(60, separation=3, seed=4)
    blocks = {name: X @ X.T for name, X in views.items()}
    before = {name: K.copy() for name, K in blocks.items()}
    model = fit_in_mode(mode, blocks, divergence="kernel")
    assert_same_fit(model, fit_in_mode(mode, views))
    assert np.array_equal(pickle.loads(pickle.dumps(model)).predict(blocks), model.predict(blocks))
    assert all(np.array_equal(K, before[name]) for name, K in blocks.items())


def test_predict_from_kernel_with_constant_diagonal():
    views, _ = make_views(90, separation=2, seed=5)
    units = views.map(lambda X: X / np.linalg.norm(X, axis=1, keepdims=True))
    old, new = units[:60], units[60:]
    plain = fit_model(old)
    model = fit_model({name: X @ X.T for name, X in old.items()}, divergence="kernel")
    assert np.array_equal(model.predict({name: X @ old[name].T for name, X in new.items()}), plain.predict(new))


@pytest.mark.parametrize("weights", ["learned", "uniform"])
def test_predict_from_kernel_of_one_view(weights):
    """With one view, the similarity of an entity to itself cancels out of its posterior."""
    X = make_views(90, 1, separation=4, seed=2)[0]["view0"] + 3
    plain = fit_model(X[:60], weights=weights)
    model = fit_model(X[:60] @ X[:60].T, weights=weights, divergence="kernel")
    assert np.array_equal(model.labels_, plain.labels_)
    assert np.array_equal(model.predict(X[:60] @ X[:60].T), model.labels_)
    assert np.array_equal(model.predict(X[60:] @ X[:60].T), plain.predict(X[60:]))


def test_asymmetric_distances_have_points_as_rows():
    P = np.random.default_rng(0).dirichlet(np.full(5, 0.5), 60) * 0.9 + 0.02
    D = kl_div(P[:, None], P[None]).sum(axis=2)
    plain = fit_model(P[:40], divergence="kl")
    with pytest.warns(UserWarning, match="view 'view0': the matrix of distances is not symmetric: its rows") as told:
        model = fit_model(D[:40, :40], divergence="precomputed")
    assert [warning.filename for warning in told] == [__file__]
    assert_same_fit(model, plain)
    assert np.array_equal(model.predict(D[40:, :40]), plain.predict(P[40:]))


def test_precomputed_with_missing_entities():
    views, _ = make_views(60, 2, 0.3)
    blocks = squares(views.map(np.nan_to_num))
    for v, D in enumerate(blocks.values()):
        D[~views.present[:, v]] = D[:, ~views.present[:, v]] = np.nan
    precomputed = cs.Views(blocks, present=views.present)
    plain, model = fit_model(views), fit_model(precomputed, divergence="precomputed")
    assert_same_fit(model, plain)
    assert np.array_equal(model.predict(precomputed), model.labels_)


def test_selected_rows_of_matrix_views():
    views, _ = make_views(60, separation=2)
    precomputed = cs.Views(squares(views))
    rows = np.random.default_rng(0).permutation(60)[:40]
    others = np.setdiff1d(np.arange(60), rows)
    plain, model = fit_model(views[rows]), fit_model(precomputed[rows], divergence="precomputed")
    assert np.array_equal(model.labels_, plain.labels_)
    assert np.array_equal(model.predict(precomputed[rows][:7]), model.labels_[:7])
    assert np.array_equal(model.predict(precomputed[others]), plain.predict(views[others]))


def draw_groups(seed):
    rng = np.random.default_rng(seed)
    return rng, rng.permutation(np.arange(60) % 3)


def tags(seed=0):
    rng, y = draw_groups(seed)
    return (rng.random((60, 24)) < np.where(np.arange(24) // 8 == y[:, None], 0.95, 0.05)).astype(float), y


def spectra(seed=0):
    rng, y = draw_groups(seed)
    return np.array([[1, 20, 5], [30, 1, 2], [4, 2, 40]])[y] * rng.gamma(20, 1 / 20, (60, 3)), y


def counts(seed=0):
    rng, y = draw_groups(seed)
    return rng.poisson(np.where(np.arange(24) // 8 == y[:, None], 6.0, 0.5)).astype(float), y


def places(seed=0):
    views, y = make_corrupted_views(60, n_views=1, n_corrupted=0, random_state=seed)
    return views["view0"], y


@pytest.mark.parametrize(
    ("divergence", "make", "weights"),
    [
        ("squared-euclidean", places, "uniform"),
        ("mahalanobis", places, "learned"),
        ("cosine", counts, "uniform"),
        ("kl", counts, "learned"),
        ("bernoulli", tags, "uniform"),
        ("itakura-saito", spectra, "learned"),
    ],
)
def test_divergences_on_suitable_data(divergence, make, weights):
    X, y = make()
    views = {"a": X, "b": X[:, ::-1]}
    model = fit_model(views, divergence=divergence, weights=weights)
    assert adjusted_rand_score(y, model.labels_) > 0.94
    assert np.array_equal(model.predict(views), model.labels_)


def test_divergence_per_view():
    (a, y), (b, other) = places(), tags()
    b = b[np.argsort(other, kind="stable")][np.argsort(np.argsort(y, kind="stable"))]  # in the order of y
    for divergence in ({"tags": "bernoulli", "places": Mahalanobis()}, [Mahalanobis(), "bernoulli"]):
        model = fit_model({"places": a, "tags": b}, divergence=divergence)
        assert adjusted_rand_score(y, model.labels_) == 1.0


# kinds of arrays


@pytest.mark.parametrize(
    ("divergence", "mode"),
    [
        ("squared-euclidean", "refined"),
        ("cosine", "refined"),
        ("cosine", "learned"),
        ("kl", "uniform"),
        ("bernoulli", "learned"),
    ],
)
def test_sparse_equals_dense(divergence, mode):
    whole = {"a": counts(seed=1)[0], "b": counts(seed=2)[0] + counts(seed=1)[0][:, ::-1]}
    if divergence == "bernoulli":
        whole = {name: (X > 1).astype(float) for name, X in whole.items()}
    views = cs.Views({name: sp.csr_array(X) for name, X in whole.items()})
    sparse, dense = (fit_in_mode(mode, X, divergence=divergence) for X in (views, whole))
    assert np.count_nonzero(dense.exemplar_weights_) < 40
    assert_same_fit(sparse, dense)
    assert np.array_equal(sparse.predict(whole), dense.labels_)
    assert np.array_equal(dense.predict(views), dense.labels_)


@pytest.mark.parametrize("mode", ["learned", "refined", "normalizer"])
def test_float32(mode):
    views, _ = make_views(60, separation=4)
    single = views.map(lambda X: X.astype(np.float32))
    double, model = fit_in_mode(mode, views), fit_in_mode(mode, single)
    assert np.array_equal(model.labels_, double.labels_)
    assert model.view_weights_ == pytest.approx(double.view_weights_, abs=1e-3)
    assert model.gap_ == pytest.approx(double.gap_, abs=1e-6)
    assert np.array_equal(model.predict(single), model.labels_)


def make_positive_views():
    return make_views(60)[0].map(lambda X: np.clip(np.abs(np.asarray(X)) / 20, 0.01, 1))


def make_distances():
    return cs.Views(squares(make_views(60)[0]))


def make_similarities():
    return make_distances().map(lambda D: np.exp(-np.asarray(D) / 20))


def make_missing_views():
    return make_views(60, 3, 0.3)[0]


DENSE = {"many": 5, "largest_set": 0.01}  # sizes of sets above which conjugate gradients take over


@pytest.mark.parametrize(
    ("to_kind", "make", "options", "sizes"),
    [
        *(("array_api_strict", make_missing_views, MODES[mode], {}) for mode in MODES if mode != "all"),
        *(("torch", make_missing_views, MODES[mode], {}) for mode in ("all", "uniform", "refined")),
        ("array_api_strict", make_positive_views, {"divergence": "cosine"}, {}),
        ("array_api_strict", make_positive_views, {"divergence": "kl", "weights": "uniform"}, {}),
        ("torch", make_positive_views, {"divergence": "bernoulli"}, {}),
        ("torch", make_positive_views, {"divergence": "itakura-saito", "weights": "uniform"}, {}),
        ("array_api_strict", make_positive_views, {"divergence": "mahalanobis"}, {}),
        ("array_api_strict", make_distances, {"divergence": "precomputed", "refine": "kernel-kmeans"}, {}),
        ("torch", make_similarities, {"divergence": "kernel", "refine": "kernel-kmeans"}, {}),
        ("array_api_strict", lambda: make_views(60, 2, 0.2, 2)[0], {"beta": 3.0}, DENSE),
        ("torch", lambda: make_views(60, 2, 0.2, 2)[0], {"beta": 3.0, "weights": "uniform"}, DENSE),
    ],
    indirect=["to_kind"],
)
def test_array_types(to_kind, make, options, sizes, tune):
    tune("methods.convex.proportions", **sizes)
    views = make()
    kind = cs.Views({name: to_kind(np.array(X)) for name, X in views.items()}, present=views.present)
    plain, other = (cs.ConvexMixture(**({"n_clusters": 3} | options)).fit(data) for data in (views, kind))
    assert_same_fit(other, plain)
    assert np.array_equal(other.predict(kind), other.labels_)
    assert other.n_iter_ == plain.n_iter_


def test_float32_products_reach_gap(to_kind, tune):
    tune("methods.convex.proportions", **DENSE)
    X = np.random.default_rng(0).standard_normal((400, 3)).astype(np.float32)
    plain, other = (fit_model([kind(X)], beta=4.0, weights="uniform") for kind in (np.asarray, to_kind))
    assert other.gap_ <= 1e-6
    assert other.history_["log_likelihood"][-1] == pytest.approx(plain.history_["log_likelihood"][-1], abs=1e-6)


def problem_on_device(n, missing, beta):
    views, _ = make_views(n, 2, missing, separation=2)
    kind = cs.Views({name: put_on_device(np.array(X)) for name, X in views.items()}, present=views.present)
    prepared, usable = prepare_comparisons(kind, resolve_divergences("squared-euclidean", kind.names))
    A = build_likelihoods(prepared, {name: beta * view.beta_0 for name, view in prepared.items()}, len(usable))
    return MixtureProblem(A, put_on_device(np.zeros(A.shape[0])), np.full(2, 0.5), 1e-6, 1e-4, 0.3), prepared


@pytest.mark.parametrize(
    ("states", "missing", "inner_tol", "sizes"),
    [
        (solve_with_uniform_weights, 0.0, 0.1, {}),
        (solve_with_uniform_weights, 0.3, None, {}),
        (solve_with_uniform_weights, 0.3, None, DENSE),
        (solve_with_learned_weights, 0.0, None, {}),
        (solve_with_learned_weights, 0.3, 0.1, {}),
        (solve_with_learned_weights, 0.3, None, DENSE),
    ],
)
def test_long_arrays_stay_on_device(states, missing, inner_tol, sizes, tune):
    tune("methods.convex.proportions", **sizes)
    problem = replace(problem_on_device(n=300, missing=missing, beta=2.0)[0], inner_tol=inner_tol)
    with count_transfers() as fetched:
        rounds = [state.record for state in islice(states(problem), 3)]
    assert rounds[-1]["log_likelihood"] > rounds[0]["log_likelihood"]
    assert [shape for shape in fetched.arrays if max(shape) >= 300] == []


@pytest.mark.parametrize("missing", [0.0, 0.3])
def test_long_arrays_stay_on_device_in_refinement(missing):
    spaces = []
    for view in problem_on_device(n=300, missing=missing, beta=1.0)[1].values():
        distances = PairwiseDistances.between(view.measure, view.points, view.exemplars, cached=True)
        spaces.append(DistanceSpace(view.entities, distances, 0.5))
    start = put_on_device(np.arange(300) % 4)
    with count_transfers() as fetched:
        costs = [state.cost for state in islice(kernel_kmeans.iterate_kernel_kmeans(spaces, start, 4), 4)]
    assert costs[-1] < costs[0]
    assert [shape for shape in fetched.arrays if max(shape) >= 300] == []


def test_explains_full_device(monkeypatch):
    class OutOfMemoryError(RuntimeError):
        pass

    def raise_full(self, left, right):
        raise OutOfMemoryError("tried to allocate 40 GiB")

    views, _ = make_views(60)
    model = fit_model(views)
    monkeypatch.setattr(EuclideanMeasure, "tile", raise_full)
    advice = r"does not fit the device: give fewer entities \(views\[rows\]\), or numbers in float32"
    for compare, others in ((model.fit, "each other"), (model.predict, "the exemplars")):
        with pytest.raises(MemoryError, match=f"the comparison of 60 entities with {others} {advice}"):
            compare(views)


@pytest.mark.parametrize("mode", ["learned", "uniform", "refined"])
def test_result_does_not_depend_on_threads(mode, tune):
    tune("arrays.pairwise", tile=500)
    tune("methods.convex.proportions", chunk=500)
    views, _ = make_views(90, 2, 0.2, separation=2)
    first, *others = (fit_in_mode(mode, views, n_jobs=n) for n in (1, 2, 5))
    for other in others:
        for name in ("exemplar_weights_", "labels_"):
            assert np.array_equal(getattr(first, name), getattr(other, name))
        assert first.history_["log_likelihood"].tolist() == other.history_["log_likelihood"].tolist()


@pytest.mark.parametrize(
    ("mode", "divergence"),
    [
        ("learned", "squared-euclidean"),
        ("uniform", "precomputed"),
        ("refined", "squared-euclidean"),
        ("refined", "precomputed"),
    ],
)
def test_blocks_equal_whole(mode, divergence, monkeypatch, tune):
    views, _ = make_views(90, 2, separation=2)
    data = views if divergence == "squared-euclidean" else cs.Views(squares(views))
    whole = fit_in_mode(mode, data, divergence=divergence)
    tune("arrays.pairwise", max_cached_bytes=0, tile=700)
    monkeypatch.setattr(KernelMatrix, "_table", property(lambda _: pytest.fail("a table is held")))
    blocks = fit_in_mode(mode, data, divergence=divergence)
    np.testing.assert_allclose(blocks.exemplar_weights_, whole.exemplar_weights_, atol=1e-9)
    assert blocks.view_weights_ == pytest.approx(whole.view_weights_)
    assert np.array_equal(blocks.labels_, whole.labels_)
    assert np.array_equal(blocks.predict(data), whole.labels_)


# identical rows


@pytest.mark.parametrize(("mode", "dtype"), [("learned", np.float64), ("uniform", np.float32), ("all", np.float64)])
def test_first_of_identical_rows_is_exemplar(mode, dtype):
    rng = np.random.default_rng(0)
    X = np.repeat(rng.standard_normal((25, 2)), 3, axis=0)[rng.permutation(75)].astype(dtype)
    model = fit_in_mode(mode, {"a": X, "b": X[:, ::-1] * 2 + 1})
    _, first, group = np.unique(X, axis=0, return_index=True, return_inverse=True)
    assert set(np.flatnonzero(model.exemplar_weights_)) <= set(first)
    assert np.array_equal(model.labels_, model.labels_[first][group])


def test_copies_of_exemplar_share_its_cluster():
    """This holds even if another exemplar of much larger weight has the higher posterior."""
    X = np.array([[0.0]] * 20 + [[0.5], [0.5], [4.0], [4.1], [3.9]])
    model = cs.ConvexMixture(beta=9.6, beta_unit="absolute").fit(X)
    order = model.exemplars_.tolist()
    posterior = np.log(model.exemplar_weights_[order]) - model.betas_["view0"] * (X[order, 0] - 0.5) ** 2
    assert {0, 20} <= set(order)
    assert 21 not in order
    assert posterior[order.index(0)] > posterior[order.index(20)]
    assert model.labels_[20] == model.labels_[21] == order.index(20)


@pytest.mark.parametrize("lacking", [slice(0, 30), slice(30, 60)])
def test_copy_lacking_view_is_distinct(lacking):
    """Weights are not merged, so the likelihood is that of the exemplar weights that are returned."""
    views, _ = make_views(30, seed=2)
    blocks = {name: np.concatenate([X, X]) for name, X in views.items()}
    present = np.ones((60, 2), dtype=bool)
    present[lacking, 1] = False
    copied = cs.Views(blocks, present=present)
    model = cs.ConvexMixture().fit(copied)
    tables, _ = tables_of(copied, 1.0)
    reached = literal.log_likelihood(tables, present, model.exemplar_weights_, weights_of(model), [0, 0])
    assert model.history_["log_likelihood"][-1] == pytest.approx(reached, abs=1e-9)
    assert present[model.exemplars_].all()  # entities with more views explain more


# predict


def test_refuses_probabilities():
    views, _ = make_views()
    refined, every = fit_model(views, refine="kernel-kmeans"), fit_model(views, None)
    for model, why in (
        (refined, "refine='kernel-kmeans' leaves clusters without probabilities: use predict"),
        (every, "predict_proba needs the number of clusters: call set_params(n_clusters=model.n_clusters_) after fit"),
    ):
        assert not hasattr(model, "predict_proba")
        with pytest.raises(AttributeError, match="has no attribute 'predict_proba'") as error:
            model.predict_proba(views)
        assert str(error.value.__cause__) == why
    P = every.set_params(n_clusters=every.n_clusters_).predict_proba(views)
    assert P.shape == (60, every.n_clusters_)
    assert np.array_equal(P.argmax(axis=1), every.labels_)


def test_predict_with_some_views():
    """Compute Eq 14 over the available views from the attributes alone."""
    views, _ = make_views(90, 3, separation=2, seed=3)
    model = fit_model(views[:60])
    order = model.exemplars_

    def posterior(rows, names):
        joint = np.zeros((len(rows), 3))
        for name in names:
            D = cdist(views[name][rows], views[name][order], "sqeuclidean")
            joint += model.view_weights_[name] * np.exp(-model.betas_[name] * D) * model.exemplar_weights_[order]
        return joint / joint.sum(axis=1, keepdims=True)

    new = np.arange(60, 90)
    for names in (["view0"], ["view2", "view1"], ["view0", "view1", "view2"]):
        np.testing.assert_allclose(model.predict_proba(views[new][names]), posterior(new, names), atol=1e-6)
    expected = posterior(order, ["view0"])  # with only one view, an entity is not known to be the exemplar
    np.testing.assert_allclose(model.predict_proba(views[order][["view0"]]), expected, atol=1e-6)
    assert expected.max(axis=1).min() < 0.999
    present = np.tile([[True, False, True], [False, True, True], [False, False, True]], (10, 1))
    mixed = cs.Views(dict(views[60:].items()), present=present)
    for kind in range(3):
        names = [name for name, has_view in zip(views.names, present[kind], strict=True) if has_view]
        assert np.array_equal(model.predict(mixed)[kind::3], model.predict(views[60:][names])[kind::3])


def make_complementary_views():
    """Two clusters far apart in the first view; no entity of the second has the other view, which is noise."""
    X, other, noise = (np.random.default_rng(seed).standard_normal((n, 2)) for seed, n in enumerate((20, 20, 40)))
    present = np.ones((40, 2), dtype=bool)
    present[20:, 1] = False
    return cs.Views({"a": np.concatenate([X, other + 9]), "b": 3 * noise}, present=present), np.repeat([0, 1], 20)


@pytest.mark.parametrize(("mode", "scale"), [("learned", 1e6), ("refined", 1e-6)])
def test_view_of_zero_weight_does_not_exclude_cluster(mode, scale):
    views, y = make_complementary_views()
    model = fit_in_mode(mode, views.map(lambda X: scale * X), n_clusters=2)
    assert adjusted_rand_score(y, model.labels_) == 1.0
    new = {"a": scale * (views["a"][20:] + 0.1), "b": scale * np.random.default_rng(1).standard_normal((20, 2))}
    assert set(model.predict({"a": new["a"]})) == {model.labels_[20]}
    assert set(model.predict(new)) == {model.labels_[20]}


def test_view_weight_of_zero():
    views, y = make_complementary_views()
    model = fit_model(views, 2, beta=[0.05, 1e3], tol=0.0, refine="kernel-kmeans")
    assert model.view_weights_["b"] < 1e-20
    assert adjusted_rand_score(y, model.labels_) == 1.0
    assert model.n_iter_ < 200  # rounds end without a change
    assert model.converged_


@pytest.mark.parametrize("mode", ["learned", "uniform", "refined"])
def test_predict_treats_rows_independently(mode):
    views, _ = make_complementary_views()
    model = fit_in_mode(mode, views, n_clusters=2, beta=0.5)
    rng = np.random.default_rng(3)
    new = {"a": rng.uniform(3, 6, (50, 2)), "b": rng.standard_normal((50, 2))}
    far = {name: np.concatenate([X, np.full((1, 2), 1e3)]) for name, X in new.items()}
    assert np.array_equal(model.predict(far)[:-1], model.predict(new))


@pytest.mark.parametrize("mode", ["learned", "refined"])
@pytest.mark.filterwarnings("ignore::UserWarning")
def test_entities_without_shared_view_stay_apart(mode):
    rng = np.random.default_rng(0)
    views = cs.Views([rng.standard_normal((2, 3)), rng.standard_normal((2, 3))], present=np.eye(2, dtype=bool))
    assert sorted(fit_in_mode(mode, views, n_clusters=2).labels_) == [0, 1]


@pytest.mark.parametrize("mode", ["learned", "uniform", "refined", "bounded"])
@pytest.mark.parametrize("far", [1e3, 1e8, 1e150])
def test_predict_distant_entity(mode, far):
    views, _ = make_views()
    model, distant = fit_in_mode(mode, views), views[:2].map(lambda X: np.full_like(X, far))
    assert set(model.predict(distant)) <= {0, 1, 2}
    if mode != "refined":
        np.testing.assert_allclose(model.predict_proba(distant).sum(axis=1), 1)


@pytest.mark.parametrize("mode", ["learned", "uniform", "em"])
@pytest.mark.filterwarnings("ignore::UserWarning")
def test_fit_with_outlier(mode):
    views = make_views()[0].map(lambda X: np.where(np.arange(60)[:, None] == 7, 1e4, X))
    model = fit_in_mode(mode, views, beta=100.0)
    assert np.isfinite(model.exemplar_weights_).all()
    assert np.isfinite(weights_of(model)).all()
    assert model.gap_ <= (1e-3 if mode == "em" else 1e-6)
    assert model.exemplar_weights_[7] > 0


def test_warns_of_entities_without_shared_view():
    """Two halves without a shared view: entities with none of the exemplars' views are placed by weight alone."""
    X = np.concatenate([make_views(30, 1, separation=9)[0]["view0"], make_views(12, 1, seed=1)[0]["view0"]])
    present = np.zeros((42, 2), dtype=bool)
    present[:30, 0] = present[30:, 1] = True
    with pytest.warns(UserWarning, match=r"entity 30 shares no view with any cluster's exemplar \(12 such\)"):
        model = fit_model(cs.Views([X, X], present=present), 2)
    assert (model.exemplars_ < 30).all()
    assert (model.labels_[30:] == 0).all()
    assert (model.view_labels_["view1"] == -1).all()
    with pytest.warns(UserWarning, match=r"entity 0 shares no view with any cluster's exemplar \(3 such\)") as told:
        assert model.predict({"view1": X[:3]}).tolist() == [0, 0, 0]
    assert [warning.filename for warning in told] == [__file__]


def test_score_ignores_entities_without_usable_view():
    views, _ = make_text_views(60, n_clusters=2, random_state=0)
    model = fit_model(views, 2, divergence="cosine", beta=0.5)
    empty = {name: sp.vstack([views[name][:10], sp.csr_array((1, views[name].shape[1]))]) for name in views.names}
    with pytest.warns(UserWarning, match="is all zeros in every view it has"):
        assert model.score(empty) == pytest.approx(model.score(views[:10]))


# weights of views


def test_min_weight_is_respected():
    views, _ = make_corrupted_views(200, n_views=2, n_noisy=2, n_corrupted=15, random_state=0)
    assert min(fit_model(views).view_weights_.values()) < 0.01
    for least in (0.05, 0.25):
        model = fit_model(views, min_weight=least)
        assert min(model.view_weights_.values()) == pytest.approx(least, abs=1e-6)
        assert np.array_equal(model.predict(views), model.labels_)
        assert all(b >= a - 1e-9 for a, b in pairwise(model.history_["log_likelihood"]))
    np.testing.assert_allclose(weights_of(model), 0.25, atol=1e-6)


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 2**20))
@example(27)
@example(14975)
def test_min_weight_projects_posteriors(seed):
    """Optimality conditions: floors hold, lifts are nonnegative, and only views at their floor are lifted."""
    rng = np.random.default_rng(seed)
    n, n_views = int(rng.integers(2, 30)), int(rng.integers(2, 5))
    scores = rng.standard_normal((n, n_views)) * 10 ** rng.uniform(-1, 2)
    least = rng.uniform(0, 1 / n_views)
    P, lift = convex_mixture.compute_view_posteriors(scores, least)
    spare = P.mean(axis=0) - least
    np.testing.assert_allclose(P, softmax(scores + lift, axis=1))
    assert spare.min() >= -1e-9
    assert lift.min() >= 0
    assert np.abs(lift * spare).max() < 1e-6


def test_view_without_finite_score_needs_no_weight():
    scores = np.array([[0.0, -50.0, -np.inf], [0.0, -60.0, -np.inf]])
    P, lift = convex_mixture.compute_view_posteriors(scores, 0.01)
    np.testing.assert_allclose(P.mean(axis=0), [0.99, 0.01, 0.0], atol=1e-9)
    assert np.isfinite(lift).all()


def test_min_weight_is_accurate():
    rng = np.random.default_rng(117)
    n, n_views = rng.integers(4, 60), rng.integers(2, 6)
    sizes = range(1, n_views + 1)
    blocks = [rng.standard_normal((n, d)) * rng.uniform(0.1, 9) + 3 * rng.integers(0, 2, (n, 1)) for d in sizes]
    model = fit_model(blocks, 2, min_weight=0.5 / n_views)
    assert min(model.view_weights_.values()) >= 0.5 / n_views - 1e-6


def test_min_weight_applies_to_placement():
    """Placement uses Eq 14 with view weights under which a view explains exactly its minimum share."""
    views, _ = make_corrupted_views(120, n_views=1, n_noisy=1, n_corrupted=10, random_state=1)
    model = fit_model(views, min_weight=0.3, tol=1e-9)
    assert model.view_weights_["noisy0"] == pytest.approx(0.3, abs=1e-6)
    tables, _ = tables_of(views, 1.0)
    Q = literal.view_likelihoods(tables, views.present, model.exemplar_weights_, [0.0, 0.0])
    explained = brentq(lambda t: np.mean(np.exp(t) * Q[:, 1] / (Q[:, 0] + np.exp(t) * Q[:, 1])) - 0.3, -30, 30)
    assert np.exp(explained) > 1.2 * 0.3 / 0.7  # the weight must exceed the share itself
    weights = np.array([1.0, np.exp(explained)])
    P = literal.posteriors(tables, views.present, model.exemplar_weights_, weights, model.exemplars_)
    assert_clusters_match(model, views, model.exemplars_, P, atol=1e-4)


def test_inactive_min_weight_changes_nothing():
    views, _ = make_corrupted_views(200, n_views=3, n_corrupted=15, random_state=0)
    free, bounded = fit_model(views), fit_model(views, min_weight=0.2)
    assert min(free.view_weights_.values()) > 0.2
    assert bounded.view_weights_ == free.view_weights_
    assert np.array_equal(bounded.labels_, free.labels_)


def test_normalizers_outweigh():
    """With normalizers, a view with the same information in more columns gets more weight."""
    X, _ = places()
    wide = np.hstack([X, X, X])
    plain, dense = (fit_model({"a": X, "b": wide}, normalizer=normalizer) for normalizer in (False, True))
    assert plain.view_weights_["a"] == pytest.approx(0.5)
    assert dense.view_weights_["a"] != pytest.approx(0.5, abs=0.01)
    with pytest.raises(ValueError, match=r"view 'b': exp.* of the Kullback-Leibler divergence has a different sum"):
        fit_model({"a": X, "b": np.abs(X)}, divergence=["squared-euclidean", "kl"], normalizer=True)


# beta='auto'


def test_beta_by_separation():
    views, y = make_views(separation=5, seed=3)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        model = fit_model(views, beta="auto")
        table = model.beta_search_
        best = table["separation"].argmax()
        chosen = fit_model(views, beta=table["beta"][best])
        again = cs.ConvexMixture(3, beta="auto").fit(views, np.random.default_rng(0).permutation(y))
    assert list(table) == ["beta", "clusters", "separation"]
    assert (table["beta"].min(), table["beta"].max()) == (0.5, 3.0)
    assert model.betas_ == pytest.approx(chosen.betas_)
    assert np.array_equal(model.labels_, chosen.labels_)
    assert table["clusters"][best] == model.n_clusters_
    assert np.array_equal(again.labels_, model.labels_)
    assert np.array_equal(again.beta_search_["separation"], table["separation"])
    assert not hasattr(model.set_params(beta=1.0).fit(views), "beta_search_")


def test_separation_equals_calinski_harabasz():
    X = make_views(60, 1, separation=3)[0]["view0"]
    table = fit_model(X, None, beta="auto").beta_search_
    for beta, n_clusters, separation in zip(*table.values(), strict=True):
        labels = cs.ConvexMixture(beta=beta).fit(X).labels_
        assert len(set(labels)) == n_clusters
        assert separation == pytest.approx(calinski_harabasz_score(X, labels), rel=1e-9)


@pytest.mark.parametrize("options", [{"beta": "auto"}, {"normalizer": True}, {"min_weight": 0.5}, MODES["uniform"]])
def test_view_of_one_entity(options):
    views, _ = make_views(30)
    present = np.ones((30, 2), dtype=bool)
    present[1:, 1] = False
    model = fit_model(cs.Views(dict(views.items()), present=present), **options)
    assert np.isfinite(model.exemplar_weights_).all()
    alone = fit_model(views[["view0"]], beta=model.betas_["view0"], beta_unit="absolute")
    assert np.array_equal(model.exemplars_, alone.exemplars_)


# scikit-learn conventions


def test_failed_fit_keeps_earlier_fit():
    views, _ = make_views()
    model = fit_model(views)
    labels = model.labels_
    with pytest.raises(ValueError, match="view 'view0': init=-1 must be a weight"):
        model.set_params(init=[-1, 1]).fit(views)
    assert model.labels_ is labels
    assert np.array_equal(model.predict(views), labels)


def test_verbose(capfd):
    views, _ = make_views()
    fit_model(views, refine="kernel-kmeans")
    assert capfd.readouterr() == ("", "")
    model = fit_model(views, refine="kernel-kmeans", verbose=True)
    lines = capfd.readouterr().err
    assert re.search(r"ConvexMixture: start 1 of 1, round 1: log_likelihood -\d\.\d+, gap .*weight_view0 0\.\d+", lines)
    assert f"round {model.n_iter_}: " in lines
    assert re.search(r"kernel k-means: start 1 of 1, round 1: cost \d", lines)


def interrupt_at(call, function):
    """Return the function with a Ctrl-C in one of its calls."""
    calls = []

    def wrapped(*args, **options):
        calls.append(None)
        if len(calls) == call:
            raise KeyboardInterrupt("by hand")
        return function(*args, **options)

    return wrapped


def test_interrupt_keeps_last_round(monkeypatch):
    views, _ = make_views()
    straight, model = fit_model(views), cs.ConvexMixture(3)
    solve = convex_mixture.mixture_proportions
    monkeypatch.setattr(convex_mixture, "mixture_proportions", interrupt_at(4, solve))
    with pytest.raises(KeyboardInterrupt, match="stopped early: the model holds the best result so far"):
        model.fit(views)
    assert model.n_iter_ == 3 < straight.n_iter_
    assert not model.converged_
    assert model.history_["log_likelihood"].tolist() == straight.history_["log_likelihood"][:3].tolist()
    assert np.array_equal(model.predict(views), model.labels_)
    labels = model.labels_
    monkeypatch.setattr(convex_mixture, "mixture_proportions", interrupt_at(1, solve))
    with pytest.raises(KeyboardInterrupt, match="by hand"):
        model.fit(views)
    assert model.labels_ is labels  # there is no whole round to keep


@pytest.mark.parametrize(
    ("module", "function", "call", "options"),
    [
        (convex_mixture, "mixture_proportions", 3, {"beta": "auto"}),
        (convex_mixture, "mixture_proportions", 40, {"beta": "auto"}),
        (kernel_kmeans, "compute_kernel_means", 3, {"refine": "kernel-kmeans"}),
    ],
)
def test_interrupt_of_search_and_refinement(module, function, call, options, monkeypatch):
    monkeypatch.setattr(module, function, interrupt_at(call, getattr(module, function)))
    with pytest.raises(KeyboardInterrupt, match="stopped early: the model holds the best result so far"):
        fit_model(make_views(separation=2)[0], **options)


# errors and warnings


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"weights": "equal"}, "The 'weights' parameter of ConvexMixture must be"),
        ({"divergence": "sausage"}, "The 'divergence' parameter of ConvexMixture must be"),
        ({"divergence": ["kl", "sausage"]}, "view 'view1': no divergence 'sausage'; choose from 'squared-euclidean'"),
        ({"divergence": {"view0": "kl"}}, "divergence has nothing for view 'view1': name every one of 'view0'"),
        ({"divergence": {"view0": "kl", "b": "kl"}}, "divergence names view 'b'; the views are 'view0', 'view1'"),
        ({"divergence": ["kl"]}, r"divergence lists 1 values for 2 views \('view0', 'view1'\): give one each"),
        ({"divergence": Mahalanobis}, "divergence=<class .*: give an object such as consilience.*smoothing=0.1"),
        ({"divergence": ["cosine", None]}, "view 'view1': divergence=None is neither a name nor a divergence"),
        ({"divergence": "kl"}, "view 'view0': divergence 'kl' needs counts or shares, none negative: use divergence"),
        ({"divergence": "precomputed"}, r"='precomputed' or 'kernel' needs a square matrix, .*got shape \(60, 2\)"),
        ({"beta": 0}, "The 'beta' parameter of ConvexMixture must be"),
        ({"beta": "automatic"}, "The 'beta' parameter of ConvexMixture must be"),
        ({"beta": [1.0, 0]}, "view 'view1': beta=0 must be a number above 0"),
        ({"beta": [1.0, np.inf]}, "view 'view1': beta=inf must be a number above 0"),
        ({"beta": ["auto", 1.0]}, "view 'view0': beta='auto' must be a number above 0"),
        ({"beta": {"view0": 1.0}}, "beta has nothing for view 'view1': name every one of 'view0', 'view1'"),
        ({"beta": "auto", "beta_unit": "absolute"}, "beta='auto' tries factors: use beta_unit='beta0'"),
        ({"beta_unit": "none"}, "The 'beta_unit' parameter of ConvexMixture must be"),
        ({"min_weight": 0.51}, "min_weight=0.51 is more than 2 views can all have: at most 0.5"),
        ({"min_weight": -0.1}, "The 'min_weight' parameter of ConvexMixture must be"),
        ({"init": [1.0]}, r"init lists 1 values for 2 views \('view0', 'view1'\): give one each"),
        ({"init": {"view0": 1, "view1": 0}}, "view 'view1': init=0 must be a weight, a number above 0"),
        ({"init": ["a", "b"]}, "view 'view0': init='a' must be a weight, a number above 0"),
        ({"init": np.ones((2, 2))}, r"view 'view0': init=\[1.0, 1.0\] must be a weight, a number above 0"),
        ({"refine": "k-means"}, "The 'refine' parameter of ConvexMixture must be"),
        (
            {"divergence": ["cosine", Bernoulli()], "refine": "kernel-kmeans"},
            r"'view1': refine='kernel-kmeans' needs squared distances, which .*Bernoulli.* is not: use refine=None, or",
        ),
        ({"solver": "sqp"}, "The 'solver' parameter of ConvexMixture must be"),
        ({"solver": "em", "inner_tol": 0}, "The 'inner_tol' parameter of ConvexMixture must be"),
        ({"inner_tol": 0.01}, r"inner_tol=0.01 is not used with solver='newton', only with solver='em': leave it out"),
        ({"solver": "em", "n_clusters": None}, "'em' leaves every entity a positive weight.*: give n_clusters, or"),
        ({"max_iter": 0}, "The 'max_iter' parameter of ConvexMixture must be"),
        ({"tol": -1.0}, "The 'tol' parameter of ConvexMixture must be"),
    ],
)
def test_refuses(options, message):
    with pytest.raises((ValueError, TypeError), match=message):
        cs.ConvexMixture(**({"n_clusters": 3} | options)).fit(make_views()[0])


def test_refuses_uninformative_views():
    X = make_views()[0]["view0"]
    same = "view 'b' is the same for every entity: leave the view out"
    indistinct = "view 'b' does not distinguish any two entities: leave the view out"
    parallel = [rng.uniform(1, 2, (60, 1)) * rng.random((1, 4)) for rng in map(np.random.default_rng, range(3))]
    for block, divergence, message in (
        (np.full((60, 2), 3.0), "squared-euclidean", same),
        (sp.csr_array(np.full((60, 2), 3.0)), "squared-euclidean", same),
        (np.zeros((60, 2)), "squared-euclidean", same),
        (np.ones((60, 60)), "kernel", same),
        (np.zeros((60, 60)), "kernel", same),
        (np.zeros((60, 2)), "cosine", "view 'b' is all zeros, which have no direction: leave the view out"),
        *((rows, "cosine", indistinct) for rows in (np.arange(1.0, 61)[:, None], *parallel)),
    ):
        with pytest.raises(ValueError, match=message):
            fit_model({"a": X, "b": block}, divergence=["squared-euclidean", divergence])


def test_refuses_invalid_matrices():
    X = make_views(30, 1)[0]["view0"]
    D, K = cdist(X, X, "sqeuclidean"), X @ X.T
    for matrix, divergence, message in (
        (-D, "precomputed", "needs distances, and one is negative"),
        (sp.csr_array(D), "precomputed", r"all distances are needed, got a sparse matrix: give toarray\(\) of it"),
        (D[:, :20], "precomputed", r"needs a square matrix, 30 x 30, got shape \(30, 20\): give one"),
        (K[:20], "kernel", r"needs a square matrix, 20 x 20, got shape \(20, 30\): give one"),
    ):
        with pytest.raises(ValueError, match="view 'view0': .*" + message):
            fit_model(matrix, divergence=divergence)
    model = fit_model({"a": D}, divergence="precomputed")
    with pytest.raises(ValueError, match="view 'a': divergence='precomputed' needs distances, and one is negative"):
        model.predict({"a": -D})


def test_warns_of_indefinite_kernel():
    K = np.eye(30)
    K[0, 1] = K[1, 0] = K[0, 2] = K[2, 0] = 0.9
    with pytest.warns(UserWarning, match=r"view 'view0': the matrix of similarities is not positive semidefinite"):
        model = fit_model(K, divergence="kernel")
    assert model.gap_ <= 1e-6


def test_warns_of_zero_rows():
    blocks = {"view0": counts()[0], "view1": counts(seed=1)[0]}
    for X in blocks.values():
        X[[5, 20]] = 0
    blocks["view0"][7] = 0
    message = r"entity 5 is all zeros in every view it has \(2 such\): it takes no part in the clustering and gets"
    with pytest.warns(UserWarning, match=message + " the cluster of the largest exemplar weight") as told:
        model = fit_model(blocks, divergence="cosine")
    assert [warning.filename for warning in told] == [__file__]
    assert model.labels_[[5, 20]].tolist() == [0, 0]
    assert model.exemplar_weights_[[5, 20]].tolist() == [0, 0]
    assert model.view_labels_["view0"][7] == -1
    keep = np.setdiff1d(np.arange(60), [5, 20])
    without = fit_model(cs.Views(blocks)[keep], divergence="cosine")
    assert np.array_equal(model.labels_[keep], without.labels_)
    assert np.array_equal(model.exemplars_, keep[without.exemplars_])
    with pytest.warns(UserWarning, match=r"entity 0 is all zeros in every view it has \(2 such\): it takes no part"):
        assert model.predict({name: np.zeros((2, 24)) for name in blocks}).tolist() == [0, 0]


def test_rounds_that_end_by_the_limit_of_updates_do_not_converge(tune):
    tune("methods.convex.algorithm", max_updates=2)
    with pytest.warns(ConvergenceWarning, match="no convergence in 3 rounds"):
        model = cs.ConvexMixture(3, solver="em", inner_tol=1e-9, tol=1e9, max_iter=3).fit(make_views()[0])
    assert not model.converged_


@pytest.mark.parametrize(("weights", "beta"), [("learned", 1e3), ("learned", 1e300), ("uniform", 1e10)])
def test_warns_of_large_beta(weights, beta):
    views, _ = make_views()
    message = "every one of the 60 entities is an exemplar: beta is so large .* Lower beta"
    with pytest.warns(UserWarning, match=message) as told:
        model = cs.ConvexMixture(weights=weights, beta=beta).fit(views)
    assert [warning.filename for warning in told] == [__file__]
    np.testing.assert_allclose(model.exemplar_weights_, 1 / 60, atol=1e-6)
    assert sorted(model.labels_) == list(range(60))
    assert np.isfinite(weights_of(model)).all()
    assert np.array_equal(model.predict(views), model.labels_)


@pytest.mark.parametrize("beta", [1e-4, 1e-12])
def test_warns_of_small_beta(beta):
    """The remedy is the same whether one exemplar has all weight or equal weights are within the gap."""
    with pytest.warns(UserWarning, match="[Rr]aise beta"):
        model = fit_model(make_views()[0], beta=beta)
    assert np.isfinite(weights_of(model)).all()


def test_warns_of_fewer_exemplars_than_clusters():
    views, _ = make_views()
    message = "only 1 exemplars have positive weight, so only 1 of the n_clusters=3 requested"
    with pytest.warns(UserWarning, match=message) as told:
        model = cs.ConvexMixture(3, beta=0.01, weights="uniform").fit(views)
    assert {warning.filename for warning in told} == {__file__}
    assert model.n_clusters_ == len(model.exemplars_) == 1
    assert model.predict_proba(views).tolist() == [[1]] * 60


@pytest.mark.parametrize(
    ("weights", "solver", "raised"),
    [("learned", "newton", "tol"), ("uniform", "newton", "tol"), ("uniform", "em", "inner_tol")],
)
def test_warns_of_too_few_rounds(weights, solver, raised):
    message = rf"no convergence in 2 rounds, the gap is .*: raise max_iter, or {raised} \(now "
    with pytest.warns(ConvergenceWarning, match=message) as told:
        model = cs.ConvexMixture(3, weights=weights, solver=solver, max_iter=2).fit(make_views()[0])
    assert {warning.filename for warning in told} == {__file__}
    assert model.n_iter_ == 2
    assert not model.converged_


# numbers of extreme size


def test_scale_and_offset_do_not_matter():
    views, _ = make_views(seed=1)
    plain = fit_model(views)
    for scale, shift in ((1e-100, 0.0), (1e100, 0.0), (1.0, 1e6)):
        moved = fit_model({name: scale * X + shift for name, X in views.items()})
        assert np.array_equal(moved.labels_, plain.labels_)
        assert np.array_equal(moved.exemplars_, plain.exemplars_)


@pytest.mark.parametrize(("seed", "beta"), [(0, 1e6), (3, 1e200)])
def test_rounding_errors_count_as_zero_for_large_beta(seed, beta):
    X = np.random.default_rng(seed).random((1, 2)) * 1e15  # rounding makes an entity differ from itself
    model = cs.ConvexMixture(1, divergence="kl", beta=beta).fit([X])
    assert model.labels_.tolist() == [0]
    assert model.cost_ == pytest.approx(0, abs=1e-9)
