"""SpectralFeatures."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.pipeline import make_pipeline
from sklearn.utils.estimator_checks import parametrize_with_checks

import consilience as cs


def some_data(n=120, d=4, seed=0):
    return np.random.default_rng(seed).normal(size=(n, d))


def literal(X, bandwidth, n_components):
    """Eigenvectors 2 to d + 1 of I - D^-1/2 A D^-1/2, standardized (Eaton et al. 2010, section 5.1)."""
    A = np.exp(-((X[:, None] - X[None]) ** 2).sum(axis=2) / (2 * bandwidth**2))
    root = 1 / np.sqrt(A.sum(axis=1))
    _, vectors = np.linalg.eigh(np.eye(len(X)) - root[:, None] * A * root[None, :])
    U = vectors[:, 1 : n_components + 1]
    return (U - U.mean(axis=0)) / U.std(axis=0)


@parametrize_with_checks([cs.SpectralFeatures(1)])
@pytest.mark.filterwarnings("ignore:entity .* is all zeros:UserWarning", "ignore:the similarities have:UserWarning")
def test_check_estimator(estimator, check):
    check(estimator)


@pytest.mark.parametrize("bandwidth", [0.8, 2.0])
def test_matches_the_paper_up_to_signs(bandwidth):
    X = some_data()
    features = cs.SpectralFeatures(3, bandwidth=bandwidth).fit_transform(X)
    expected = literal(X, bandwidth, 3)
    np.testing.assert_allclose(features, expected * np.sign(np.sum(features * expected, axis=0)), atol=1e-8)


def test_seed_does_not_matter():
    X = some_data()
    first, second = (cs.SpectralFeatures(3, random_state=seed).fit_transform(X) for seed in (0, 1))
    np.testing.assert_allclose(first, second, atol=1e-8)


def test_new_entities_are_placed_beside_equal_ones():
    X = some_data()
    model = cs.SpectralFeatures(3).fit(X)
    np.testing.assert_allclose(model.transform(X[::-1]), model.transform(X)[::-1], atol=1e-12)
    np.testing.assert_allclose(model.transform(X[:5] + 1e-9), model.transform(X[:5]), atol=1e-6)


def test_per_view_with_missing_views_and_constraints():
    views, y = cs.datasets.make_gaussian_views(150, n_features=(30, 40), separation=9, missing=0.3, random_state=0)
    pipeline = make_pipeline(
        cs.PerView(cs.SpectralFeatures(2)), cs.MultiViewConstrainedKMeans(3, init="farthest", random_state=0)
    )
    constraints = cs.Constraints.sample(y, 30, random_state=0)
    labels = pipeline.fit(views, multiviewconstrainedkmeans__constraints=constraints).predict(views)
    assert cs.metrics.adjusted_rand_score(y, labels) > 0.95


def test_sparse_equals_dense():
    X = np.where(np.random.default_rng(0).random((80, 12)) < 0.4, 1.0, 0.0)
    X[:, 0] += 0.1
    dense, sparse = (cs.SpectralFeatures(2, affinity="cosine").fit_transform(matrix) for matrix in (X, sp.csr_array(X)))
    np.testing.assert_allclose(dense, sparse, atol=1e-8)


def test_too_few_entities():
    with pytest.raises(ValueError, match=r"n_components=5 needs more entities than the 5 there are"):
        cs.SpectralFeatures(5).fit(some_data(5))


def test_too_few_dimensions_warn():
    X = np.repeat(np.eye(3), 10, axis=0)
    with pytest.warns(UserWarning, match=r"the similarities have 2 dimensions beside the first, fewer than n_comp"):
        features = cs.SpectralFeatures(4).fit_transform(X)
    assert np.linalg.matrix_rank(features) == 2


def test_two_views_are_refused():
    with pytest.raises(ValueError, match=r"SpectralFeatures takes one view, got 2 .*PerView"):
        cs.SpectralFeatures().fit([some_data(), some_data()])
