"""Canonical correlations against scikit-learn's and against dense generalized eigenproblems."""

import warnings

import numpy as np
import pytest
import scipy.linalg
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.cluster import KMeans
from sklearn.cross_decomposition import CCA
from sklearn.metrics import adjusted_rand_score
from sklearn.metrics.pairwise import rbf_kernel

import consilience as cs
import dense
from consilience.affinities import Gaussian
from consilience.baselines import CCAKMeans, CCASpectral
from consilience.baselines.cca import fit_canonical, fit_kernel_components, fit_principal_components
from consilience.datasets import make_gaussian_views

pytestmark = pytest.mark.quick


def some_blocks(n_views=2, n=80):
    views, _ = make_gaussian_views(n, n_features=(4, 6, 3)[:n_views], separation=4, random_state=3)
    return [np.array(block) for _, block in views.items()]


def same_up_to_sign(A, B, atol=1e-8):
    signs = np.sign(np.sum(A * B, axis=0))
    np.testing.assert_allclose(A * signs, B, atol=atol)


def test_correlations_match_scikit_learn():
    X, Y = some_blocks()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        reference = CCA(3, scale=False, max_iter=20_000, tol=1e-14).fit(X, Y)
    u, v = reference.transform(X, Y)
    expected = [np.corrcoef(u[:, j], v[:, j])[0, 1] for j in range(3)]
    model = CCASpectral(3, regularization=0, random_state=0).fit([X, Y])
    np.testing.assert_allclose(model.correlations_, expected, atol=1e-6)


@pytest.mark.parametrize(("n_views", "regularization"), [(2, 0.0), (2, 2.0), (3, 0.1)])
def test_linear_kind_solves_the_generalized_eigenproblem(n_views, regularization):
    blocks = some_blocks(n_views)
    correlations, features = dense.compute_canonical_correlations(blocks, 3, regularization)
    model = CCASpectral(3, regularization=regularization, random_state=0).fit(blocks)
    np.testing.assert_allclose(model.correlations_, correlations, atol=1e-10)
    same_up_to_sign(model.features_, features)
    if n_views == 2:
        for n_components, n_kept in ((2, 2), (50, 6)):
            options = {"n_components": n_components, "regularization": regularization, "random_state": 0}
            model = CCASpectral(3, **options).fit(blocks)
            assert model.features_.shape == (80, n_kept)


@pytest.mark.parametrize("n_views", [2, 3])
def test_kernel_kind_solves_the_generalized_eigenproblem(n_views):
    blocks = some_blocks(n_views)
    scores = []
    for X in blocks:
        K = dense.compute_gaussian_kernel(X)
        H = np.eye(80) - 1 / 80
        values, vectors = np.linalg.eigh(H @ K @ H)
        scores.append(vectors[:, -15:] * np.sqrt(values[-15:]))
    correlations, features = dense.compute_canonical_correlations(scores, 3, 0.1)
    model = CCASpectral(3, kind="kernel", rank=15, random_state=0).fit(blocks)
    np.testing.assert_allclose(model.correlations_, correlations, atol=1e-8)
    same_up_to_sign(model.features_, features, atol=1e-6)


def test_linear_kernel_and_other_units_change_nothing():
    X, Y = some_blocks()
    linear = CCASpectral(3, random_state=0).fit([X, Y])
    kernel = CCASpectral(3, kind="kernel", kernel="linear", random_state=0).fit([X, Y])
    np.testing.assert_allclose(kernel.correlations_, linear.correlations_, atol=1e-8)
    same_up_to_sign(kernel.features_, linear.features_, atol=1e-6)
    rescaled = CCASpectral(3, random_state=0).fit([X * 1000 + 5, Y / 7 - 3])
    np.testing.assert_allclose(linear.correlations_, rescaled.correlations_, atol=1e-9)
    assert np.array_equal(linear.labels_, rescaled.labels_)


def test_covariances_use_entities_with_both_views():
    X, Y = some_blocks()
    has_both = np.arange(80) < 60
    views = cs.Views([X, np.where(has_both[:, None], Y, np.nan)])
    model = CCASpectral(2, regularization=0, random_state=0).fit(views)
    centered_X, centered_Y = X - X.mean(axis=0), Y[has_both] - Y[has_both].mean(axis=0)
    white = [np.linalg.inv(np.linalg.cholesky(F.T @ F / len(F))) for F in (centered_X, centered_Y)]
    between = white[0] @ (centered_X[has_both].T @ centered_Y / 60) @ white[1].T
    np.testing.assert_allclose(model.correlations_, np.linalg.svd(between)[1][:2], atol=1e-9)


def test_features_average_over_present_views():
    scores = [block - block.mean(axis=0) for block in some_blocks()]
    both, first, second = (np.tile(array, (80, 1)) for array in ([True, True], [True, False], [False, True]))
    canonical = fit_canonical(scores, both, 3, 0.1)
    nothing = [np.zeros_like(array) for array in scores]
    alone = (
        canonical.compute_features([scores[0], nothing[1]], first),
        canonical.compute_features([nothing[0], scores[1]], second),
    )
    np.testing.assert_allclose(canonical.compute_features(scores, both), (alone[0] + alone[1]) / 2, atol=1e-12)


def test_wide_views_use_leading_components(tune):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((50, 3)) @ rng.standard_normal((3, 30)) * 3 + 0.1 * rng.standard_normal((50, 30))
    whole, scores = fit_principal_components(X, 5, rng)
    tune("baselines.cca", all_columns=10)
    for form in (X, sp.csr_array(X)):
        components, leading = fit_principal_components(form, 5, rng)
        same_up_to_sign(leading, scores, atol=1e-8)
        same_up_to_sign(components.place(form[:4]), scores[:4], atol=1e-8)
    assert whole.directions.shape == (30, 5)


def test_components_repeat_scores_of_fitted_entities():
    X, _ = some_blocks()
    rng = np.random.default_rng(0)
    K = Gaussian().build_operator(X, rng)
    components, scores = fit_kernel_components(K, 10, rng)
    np.testing.assert_allclose(components.place(K.compare_with(X[:9])), scores[:9], atol=1e-8)
    np.testing.assert_allclose(scores.mean(axis=0), 0, atol=1e-12)


def test_one_view_has_its_principal_components():
    X, _ = some_blocks()
    model = CCASpectral(3, random_state=0).fit(X)
    centred = X - X.mean(axis=0)
    same_up_to_sign(model.features_, centred @ np.linalg.svd(centred, full_matrices=False)[2][:3].T)
    assert np.isnan(model.correlations_).all()


def test_view_labels_equal_predictions_from_one_view():
    views, _ = make_gaussian_views(80, n_features=(4, 6), separation=5, missing=0.2, random_state=0)
    model = CCASpectral(3, random_state=0).fit(views)
    for v, name in enumerate(views.names):
        has_view = views.present[:, v]
        assert np.array_equal(model.view_labels_[name][has_view], model.predict(views[has_view][[name]]))


@pytest.mark.parametrize(("kind", "v"), [("linear", 0), ("linear", 1), ("kernel", 1)])
def test_kmeans_clusters_projections_of_one_view(kind, v):
    blocks = some_blocks()
    options, start = {"kind": kind, "n_components": 2, "random_state": 0}, np.arange(80) % 3
    model = CCAKMeans(3, view=f"view{v}", init=start, **options).fit(blocks)
    spectral = CCASpectral(3, **options).fit(blocks)
    np.testing.assert_allclose(model.correlations_, spectral.correlations_, atol=1e-10)
    other = CCAKMeans(3, view=f"view{1 - v}", **options).fit(blocks)
    same_up_to_sign((model.features_ + other.features_) / 2, spectral.features_, atol=1e-6)
    average = CCAKMeans(3, **options).fit(blocks)  # of all views
    np.testing.assert_allclose(average.features_, spectral.features_, atol=1e-12)
    between = [np.corrcoef(model.features_[:, j], other.features_[:, j])[0, 1] for j in range(2)]
    assert min(between) > 0.1  # directions of the two views belong together
    centers = np.stack([model.features_[start == j].mean(axis=0) for j in range(3)])
    reference = KMeans(3, init=centers, n_init=1, tol=0).fit(model.features_)
    assert adjusted_rand_score(model.labels_, reference.labels_) == 1
    np.testing.assert_allclose(model.cost_, reference.inertia_, rtol=1e-6)
    np.testing.assert_allclose(model.score(blocks), -model.cost_, rtol=1e-9)


@pytest.mark.parametrize("kind", ["linear", "kernel"])
def test_entities_without_the_chosen_view_take_the_average_of_the_others(kind):
    views, _ = make_gaussian_views(90, n_features=(4, 6, 3), separation=5, missing=0.3, random_state=0)
    options = {"kind": kind, "random_state": 0}
    average = CCAKMeans(3, **options).fit(views).features_
    chosen = CCAKMeans(3, view="view1", **options).fit(views)
    has_view = views.present[:, 1]
    assert 0 < has_view.sum() < 90
    np.testing.assert_allclose(chosen.features_[~has_view], average[~has_view], atol=1e-12)
    alone = views[has_view][["view1"]]  # other views of these entities do not matter
    np.testing.assert_allclose(
        chosen._compute_features(alone)["canonical features"], chosen.features_[has_view], atol=1e-8
    )
    assert np.array_equal(chosen.predict(views), chosen.labels_)
    assert np.array_equal(chosen.predict(views[~has_view]), chosen.labels_[~has_view])


def test_rank_limits_the_leading_components():
    narrow, wide = (CCASpectral(2, rank=rank, random_state=0).fit(some_blocks()).correlations_ for rank in (2, None))
    assert np.all(narrow < wide + 1e-12)


def test_kernels_per_view():
    views, y = make_gaussian_views(90, n_features=(4, 6), separation=12, random_state=0)
    model = CCASpectral(3, kind="kernel", kernel={"view0": Gaussian(2.0), "view1": "polynomial"}, random_state=0).fit(
        views
    )
    assert adjusted_rand_score(y, model.labels_) > 0.9
    assert np.array_equal(model.predict(views), model.labels_)


def test_precomputed_kernels():
    X, Y = some_blocks()
    kernels = {"a": dense.compute_gaussian_kernel(X), "b": dense.compute_gaussian_kernel(Y)}
    model = CCASpectral(3, kind="kernel", kernel="precomputed", random_state=0).fit(kernels)
    computed = CCASpectral(3, kind="kernel", random_state=0).fit([X, Y])
    np.testing.assert_allclose(model.correlations_, computed.correlations_, atol=1e-8)
    assert np.array_equal(model.predict({name: K[:9] for name, K in kernels.items()}), model.labels_[:9])
    assert not any("_table" in operator.__dict__ for operator in computed._analysis.operators.values())  # is dropped
    present = np.ones((80, 2), bool)
    present[[3, 40], 0] = False
    views = cs.Views(kernels, present=present)
    model.fit(views)
    assert np.array_equal(model.predict(views[30:50]), model.labels_[30:50])


def test_rows_of_zeros_are_missing_by_cosine():
    X, Y = (np.abs(block) for block in some_blocks())
    X[4] = 0
    model = CCASpectral(3, kind="kernel", kernel="cosine", random_state=0).fit([X, Y])
    assert model.view_labels_["view0"][4] == -1
    Y[4] = 0
    with pytest.warns(UserWarning, match="entity 4 is all zeros in every view it has .* is placed at the center"):
        labels = model.predict([X, Y])
    assert labels[4] in (0, 1, 2)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"kind": "deep"}, "'kind' parameter"),
        ({"n_components": 0}, "'n_components' parameter"),
        ({"regularization": -0.1}, "'regularization' parameter"),
        ({"rank": 0}, "'rank' parameter"),
        ({"kind": "kernel", "kernel": "rbf"}, "'kernel' parameter"),
        ({"kind": "kernel", "kernel": ["gaussian", "rbf"]}, "view 'view1': no kernel 'rbf'; choose from"),
        ({"kind": "kernel", "kernel": {"view0": "gaussian"}}, "kernel has nothing for view 'view1'"),
        ({"affinity": "precomputed"}, "'affinity' parameter"),
    ],
)
def test_cca_refuses_invalid_options(options, message):
    with pytest.raises(ValueError, match=message):
        CCASpectral(3, **options).fit(some_blocks())


def test_cca_refuses_views_without_information():
    X, _ = some_blocks()
    for kind in ("linear", "kernel"):
        with pytest.raises(ValueError, match="view 'same' is the same for every entity: leave the view out"):
            CCASpectral(3, kind=kind).fit({"a": X, "same": np.full((80, 2), 3.0)})
    with pytest.raises(ValueError, match=r"one entity \(n_samples=1\) cannot be compared with another"):
        CCASpectral(1).fit(np.ones((1, 2)))
    with pytest.raises(ValueError, match="view='text' is not a view: give one of 'view0', 'view1', or None"):
        CCAKMeans(3, view="text").fit(some_blocks())


def test_precomputed_kernels_are_square_or_rows_of_views():
    views, y = make_gaussian_views(90, n_clusters=3, separation=8, random_state=0)
    kernels = {name: rbf_kernel(X, gamma=0.1) for name, X in views.items()}
    model = CCASpectral(3, kind="kernel", kernel="precomputed", random_state=0)
    halves = {name: K[:45] for name, K in kernels.items()}
    with pytest.raises(ValueError, match=r"needs a square matrix of similarities, 45 x 45, got shape \(45, 90\)"):
        model.fit(halves)
    kernels = cs.Views(kernels)
    rest = np.arange(60, 90)
    fitted = clone(model).fit(kernels[:60])  # what scikit-learn's tools do to rows, whatever their columns
    assert adjusted_rand_score(y[rest], fitted.predict(kernels[rest])) > 0.95


def test_constant_kernel_is_refused():
    X, Y, Z = (np.random.default_rng(seed).standard_normal((3, 2)) for seed in range(3))
    views = cs.Views({"a": X, "b": Y, "c": Z}, present=np.array([[0, 1, 1], [1, 1, 0], [1, 1, 1]], dtype=bool))
    with pytest.raises(ValueError, match="view 'a' is the same for every entity under its kernel: leave the view out"):
        CCASpectral(3, kind="kernel", kernel="nearest-neighbors").fit(views)


def test_failure_of_the_subset_driver_is_recovered(monkeypatch):
    rng = np.random.default_rng(0)
    scores, present = [rng.standard_normal((30, 3)), rng.standard_normal((30, 4))], np.ones((30, 2), dtype=bool)
    expected = fit_canonical(scores, present, 2, 0.1)
    solve = scipy.linalg.eigh

    def fail_on_subsets(M, subset_by_index=None, **options):
        if subset_by_index is not None:
            raise np.linalg.LinAlgError("Internal Error.")
        return solve(M, **options)

    monkeypatch.setattr(scipy.linalg, "eigh", fail_on_subsets)
    result = fit_canonical(scores, present, 2, 0.1)
    np.testing.assert_allclose(result.correlations, expected.correlations)
    for weights, expected_weights in zip(result.weights, expected.weights, strict=True):
        np.testing.assert_allclose(np.abs(weights), np.abs(expected_weights), atol=1e-9)


def test_view_without_variance_has_no_correlations():
    scores = [np.array([[-0.1, 0.2], [0.1, -0.2], [0.0, 0.0]]), np.zeros((3, 1))]
    present = np.array([[True, True], [True, False], [False, True]])
    result = fit_canonical(scores, present, 1, 0.1)
    assert np.isfinite(result.correlations).all()
    assert not result.weights[1].any()
