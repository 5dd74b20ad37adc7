"""k-means of the rows of one array."""

import numpy as np
import pytest
from scipy.spatial.distance import cdist
from sklearn.cluster import KMeans
from sklearn.exceptions import ConvergenceWarning

from consilience.methods.kmeans.points import cluster_points

OPTIONS = {"n_init": 10, "init": "k-means++", "random_state": 0}


def draw_points(n=400, n_columns=5, seed=0):
    rng = np.random.default_rng(seed)
    return rng.standard_normal((6, n_columns))[rng.integers(6, size=n)] + 0.4 * rng.standard_normal((n, n_columns))


@pytest.mark.parametrize(
    ("dtype", "init", "offset"),
    [(np.float64, "k-means++", 0.0), (np.float64, "random", 1000.0), (np.float32, "k-means++", 1000.0)],
)
def test_cost_is_that_of_scikit_learn(dtype, init, offset):
    X = (draw_points() + offset).astype(dtype)
    clusters = cluster_points(X, 6, **OPTIONS | {"init": init})
    distances = cdist(X, clusters.centers)
    expected = KMeans(6, n_init=10, random_state=0).fit(X.astype(np.float64)).inertia_
    assert np.sum(distances.min(axis=1) ** 2) <= expected * 1.01
    tolerance = (100 + 4 * offset) * np.finfo(dtype).eps
    np.testing.assert_allclose(clusters.measure_distances(X), distances, atol=tolerance)
    labels = clusters.predict(X)
    assert np.array_equal(labels, distances.argmin(axis=1))
    np.testing.assert_allclose(clusters.centers, [X[labels == j].mean(axis=0) for j in range(6)], atol=tolerance)


@pytest.mark.parametrize("n_init", [1, 5])
def test_result_does_not_depend_on_the_number_of_threads(n_init, tune):
    tune("arrays.parallel", least_chunk=100)
    X, options = draw_points(3000), OPTIONS | {"n_init": n_init}
    first, *others = (cluster_points(X, 6, **options, n_jobs=n_jobs).centers for n_jobs in (1, 2, 5))
    assert all(np.array_equal(first, other) for other in others)


def test_start_may_be_labels_or_centers():
    X = draw_points()
    labels = np.random.default_rng(1).integers(0, 3, size=len(X))  # the last cluster starts empty
    for init in (labels, X[:4]):
        clusters = cluster_points(X, 4, **OPTIONS | {"init": init})
        assert set(clusters.predict(X)) == {0, 1, 2, 3}


def test_too_few_distinct_points_leave_clusters_empty():
    X = np.repeat([[0.0, 1.0], [1.0, 0.0]], 5, axis=0)
    with pytest.warns(ConvergenceWarning, match="1 of 3 clusters are empty"):
        clusters = cluster_points(X, 3, **OPTIONS)
    np.testing.assert_allclose(clusters.measure_distances(X).min(axis=1), 0, atol=1e-12)


def test_seeds_are_drawn_from_a_sample_of_many_points(tune):
    tune("methods.common.starts", most_sampled=100)
    X = draw_points(2000)
    whole = KMeans(6, n_init=10, random_state=0).fit(X).inertia_
    assert np.sum(cluster_points(X, 6, **OPTIONS).measure_distances(X).min(axis=1) ** 2) <= whole * 1.01
