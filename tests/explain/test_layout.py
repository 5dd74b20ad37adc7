"""The joint map: t-SNE of the joint embedding."""

import sys
from types import SimpleNamespace

import numpy as np
import pytest
from scipy.spatial.distance import pdist, squareform
from sklearn.manifold import TSNE, trustworthiness
from sklearn.manifold._t_sne import _joint_probabilities
from threadpoolctl import threadpool_limits

import consilience as cs
from consilience.arrays import use_threads
from consilience.explain import joint_embedding, joint_map, layout
from consilience.explain.layout import Grid, _weigh_nearest
from consilience.explain.layout_kernels import attract_points


@pytest.fixture(scope="module")
def groups():
    views, y = cs.datasets.make_gaussian_views(300, n_clusters=4, separation=8, random_state=0)
    return joint_embedding(views), y


def share_of_neighbors_in_class(points, y, k=5):
    distances = squareform(pdist(points))
    np.fill_diagonal(distances, np.inf)
    return np.mean(y[np.argsort(distances, axis=1)[:, :k]] == y[:, None])


def test_groups_stay_together(groups):
    embedded, y = groups
    points = joint_map(embedded)
    assert points.shape == (300, 2)
    assert share_of_neighbors_in_class(points, y) > 0.98
    assert trustworthiness(embedded, points, n_neighbors=10) > 0.97


def test_repulsion_is_the_sum_over_all_pairs():
    rng = np.random.default_rng(0)
    points = np.concatenate([rng.normal(size=(300, 2)), rng.normal(size=(200, 2)) * 3 + 20]).astype(np.float32)
    forces, total = Grid.of(points).repel(points)
    difference = points[:, None] - points[None]
    q = 1 / (1 + (difference.astype(float) ** 2).sum(axis=2))
    expected = (q[:, :, None] ** 2 * difference).sum(axis=1)
    assert abs(total - (q.sum() - len(points))) < 1e-3 * total
    assert np.abs(forces - expected).max() < 0.01 * np.abs(expected).max()
    # new points are repelled by the sources
    others, _ = Grid.of(points).repel(np.array([[100.0, 100.0], [0.5, 0.5]], np.float32))
    for point, force in zip(((100, 100), (0.5, 0.5)), others, strict=True):
        difference = np.asarray(point) - points
        weight = 1 / (1 + (difference**2).sum(axis=1)) ** 2
        np.testing.assert_allclose(force, (weight[:, None] * difference).sum(axis=0), rtol=0.02)


def test_weights_are_those_of_t_sne():
    rows = np.random.default_rng(0).normal(size=(60, 5))
    edges = _weigh_nearest(rows, None, 59 / 3).toarray()  # all others are neighbors
    np.testing.assert_allclose(edges.sum(axis=1), 1, rtol=1e-5)
    expected = squareform(_joint_probabilities(squareform(pdist(rows, "sqeuclidean")), 59 / 3, verbose=0))
    np.testing.assert_allclose((edges + edges.T) / (2 * 60), expected, atol=1e-6)


def test_attraction_is_the_sum_over_the_edges():
    rng = np.random.default_rng(0)
    points = rng.normal(size=(20, 2)).astype(np.float32)
    edges = _weigh_nearest(rng.normal(size=(20, 3)), None, 2.0)
    forces = np.empty_like(points)
    attract_points(points, points, edges.indptr, edges.indices, edges.data, forces)
    difference = points[:, None] - points[None]
    weights = edges.toarray() / (1 + (difference**2).sum(axis=2))
    np.testing.assert_allclose(forces, (weights[:, :, None] * difference).sum(axis=1), atol=1e-5)


def measure_cost(embedded, points):
    """Kullback-Leibler divergence that t-SNE minimizes, with all pairs."""
    p = _joint_probabilities(squareform(pdist(embedded, "sqeuclidean")), layout.PERPLEXITY, verbose=0)
    q = 1 / (1 + pdist(points, "sqeuclidean"))
    q = q / (2 * q.sum())
    return float(2 * np.sum(p * np.log(np.maximum(p, 1e-12) / q)))


def test_cost_is_as_low_as_that_of_scikit_learn(groups):
    embedded = groups[0][:150]
    with threadpool_limits(1):
        theirs = TSNE(2, init="pca", random_state=0).fit_transform(embedded)
    assert measure_cost(embedded, joint_map(embedded)) < 1.05 * measure_cost(embedded, theirs)


def test_map_does_not_depend_on_threads_and_repeats(groups, monkeypatch, tune):
    embedded, _ = groups
    tune("explain.layout", chunk=70)
    expected = joint_map(embedded)
    for n_threads in (1, 3):
        monkeypatch.setattr(layout, "use_threads", lambda _, n=n_threads: use_threads(n))
        np.testing.assert_array_equal(joint_map(embedded), expected)
    state = np.random.get_state()[1].tolist()  # noqa: NPY002
    joint_map(embedded, random_state=3)
    assert np.random.get_state()[1].tolist() == state  # noqa: NPY002


def test_entities_outside_the_sample_are_put_among_their_neighbors(tune):
    tune("explain.layout", most_laid_out=200)
    views, y = cs.datasets.make_gaussian_views(600, n_clusters=4, separation=8, random_state=0)
    embedded = joint_embedding(views)
    points = joint_map(embedded)
    assert np.isfinite(points).all()
    assert share_of_neighbors_in_class(points, y) > 0.98
    assert trustworthiness(embedded, points, n_neighbors=10) > 0.93


def test_map_of_noise_has_no_groups():
    rng = np.random.default_rng(0)
    points = joint_map(joint_embedding(cs.Views([rng.normal(size=(400, 8)), rng.normal(size=(400, 8))])))
    labels = cs.MultiViewKMeans(2, random_state=0).fit_predict(points)
    means = np.stack([points[labels == k].mean(axis=0) for k in (0, 1)])
    along = (points - means.mean(axis=0)) @ (means[1] - means[0]) / np.linalg.norm(means[1] - means[0])
    width = along.std()
    assert np.mean(np.abs(along) < 0.2 * width) > 0.05  # no empty space between the halves


def test_few_entities_and_degenerate_embeddings_have_finite_positions():
    rng = np.random.default_rng(0)
    degenerate = (
        np.zeros((40, 5)),
        np.zeros((40, 0)),
        np.repeat([[0.0, 1.0], [3.0, 1.0]], 200, axis=0),
        np.eye(50)[:, :4],  # mostly equal
        np.arange(30.0)[:, None],
        np.full((20, 2), 1e-300) * np.arange(20)[:, None],
        rng.normal(size=(20, 2)) * 1e150,
    )
    few = [rng.normal(size=(n, 3)) for n in (0, 1, 2, 3, 4, 5, 9)]
    for rows, method in (*((rows, "tsne") for rows in (*degenerate, *few)), *((rows, "spectral") for rows in few)):
        points = joint_map(rows, method=method)
        assert points.shape == (len(rows), 2)
        assert np.isfinite(points).all()


def test_rows_with_nan_have_no_position(groups):
    embedded = groups[0].copy()
    embedded[[3, 7], [0, 2]] = np.nan, np.inf
    points = joint_map(embedded)
    assert np.flatnonzero(np.isnan(points).any(axis=1)).tolist() == [3, 7]
    np.testing.assert_array_equal(np.delete(points, [3, 7], axis=0), joint_map(np.delete(embedded, [3, 7], axis=0)))


def test_other_methods(groups, monkeypatch):
    rows = groups[0]
    np.testing.assert_array_equal(joint_map(rows, method="spectral"), rows[:, :2])
    calls = []

    class UMAP:
        def __init__(self, **options):
            calls.append(options)

        def fit_transform(self, rows):
            return rows[:, :2] + 1

    monkeypatch.setitem(sys.modules, "umap", SimpleNamespace(UMAP=UMAP))
    np.testing.assert_array_equal(joint_map(rows, method="umap", random_state=5), rows[:, :2] + 1)
    assert calls == [{"n_neighbors": 15, "random_state": 5, "n_jobs": 1}]
    monkeypatch.setitem(sys.modules, "umap", None)
    with pytest.raises(ImportError, match=r"method='umap' needs umap-learn: pip install 'consilience\[umap\]'"):
        joint_map(rows, method="umap")
    with pytest.raises(ValueError, match=r"method='pca' must be one of 'tsne', 'spectral', 'umap'"):
        joint_map(rows, method="pca")
    with pytest.raises(ValueError, match=r"embedding must have two dimensions, .*got shape \(5,\)"):
        joint_map(np.zeros(5))
