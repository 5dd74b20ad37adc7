"""Spectral baselines without n x n matrices against dense versions."""

import tracemalloc
import warnings
from itertools import islice

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.linalg import subspace_angles
from sklearn.cluster import SpectralClustering
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import adjusted_rand_score

import consilience as cs
import dense
import literal
from consilience.affinities import Gaussian, NearestNeighbors
from consilience.affinities.base import compute_degrees
from consilience.affinities.graph import StoredSimilarities
from consilience.baselines import CoRegularizedSpectral, KernelAddition, KernelProduct, MinimumDisagreement
from consilience.baselines.co_regularized import run_centroid, run_pairwise
from consilience.baselines.combined_kernels import SimilarityCrossProduct, SimilarityProduct, SimilaritySum
from consilience.baselines.minimum_disagreement import minimum_disagreement
from consilience.datasets import make_gaussian_views
from consilience.methods.spectral.algorithm import embed_view


def sine(first, second):
    return float(np.sin(subspace_angles(first, second)).max())


def some_views(n_views=2, n=70, missing=0.0):
    views, _ = make_gaussian_views(n, n_features=(4, 6, 3)[:n_views], separation=4, missing=missing, random_state=2)
    return views


def kernels_of(views):
    return [dense.compute_gaussian_kernel(block) for _, block in views.items()]


def fit(method, views, **options):
    return method(3, **{"affinity": "gaussian", "random_state": 0, **options}).fit(views)


@pytest.mark.parametrize(("kind", "combine"), [(KernelAddition, np.sum), (KernelProduct, np.prod)])
def test_sum_and_product_match_dense_version(kind, combine):
    for n_views in (1, 3):
        views = some_views(n_views)
        K = combine(kernels_of(views), axis=0)
        model = fit(kind, views)
        assert sine(model.embedding_, dense.compute_leading_eigenvectors(dense.normalize_kernel(K), 3)) < 1e-8


@pytest.mark.parametrize(("kind", "combine"), [(KernelAddition, np.sum), (KernelProduct, np.prod)])
def test_sum_and_product_with_missing_views_match_dense_version(kind, combine):
    views = some_views(3, n=40, missing=0.3)
    kernels = []
    for (_, block), has_view in zip(views.items(), views.present.T, strict=True):
        whole = np.zeros((40, 40))
        whole[np.ix_(has_view, has_view)] = dense.compute_gaussian_kernel(block[has_view])
        kernels.append(whole)
    sizes = [np.linalg.norm(K) / has_view.sum() for K, has_view in zip(kernels, views.present.T, strict=True)]
    filled = [size * K for size, K in zip(sizes, literal.fill_missing_kernels(kernels, views.present), strict=True)]
    model = fit(kind, views)
    assert (
        sine(model.embedding_, dense.compute_leading_eigenvectors(dense.normalize_kernel(combine(filled, axis=0)), 3))
        < 1e-8
    )


@pytest.mark.parametrize("kind", [KernelAddition, KernelProduct, MinimumDisagreement, CoRegularizedSpectral])
def test_one_view_is_ordinary_spectral_clustering(kind):
    K = dense.compute_gaussian_kernel(make_gaussian_views(60, separation=10, random_state=0)[0]["view0"])
    model = fit(kind, {"a": K}, affinity="precomputed")
    assert sine(model.embeddings_["a"], dense.compute_leading_eigenvectors(dense.normalize_kernel(K), 3)) < 1e-8
    reference = SpectralClustering(3, affinity="precomputed", random_state=0).fit_predict(K)
    assert adjusted_rand_score(model.labels_, reference) == 1


@pytest.mark.parametrize("kind", [KernelAddition, KernelProduct])
def test_product_of_gaussians_is_gaussian_of_concatenated_views(kind):
    views = some_views(2)
    joined = cs.Views({"all": np.hstack([block for _, block in views.items()])})
    together, apart = fit(kind, joined, bandwidth=2.0), fit(kind, views, bandwidth=2.0)
    same = sine(together.embedding_, apart.embedding_) < 1e-8
    assert same == (kind is KernelProduct)


@pytest.mark.parametrize("kind", [KernelAddition, KernelProduct])
def test_uninformative_view_changes_nothing(kind):
    views = some_views(2)
    K1, K2 = kernels_of(views)
    nothing = np.zeros_like(K1) if kind is KernelAddition else np.ones_like(K1)
    stored = [StoredSimilarities(K) for K in (K1, K2, nothing)]
    combined = SimilaritySum(stored) if kind is KernelAddition else SimilarityCrossProduct(stored)
    U = np.random.default_rng(0).standard_normal((70, 2))
    expected = (K1 + K2 if kind is KernelAddition else K1 * K2) @ U
    np.testing.assert_allclose(combined @ U, expected, rtol=1e-12)


def test_each_view_is_placed_in_the_joint_embedding():
    views = some_views(2)
    K1, K2 = kernels_of(views)
    model = fit(KernelAddition, views)
    K = K1 + K2
    root = K.sum(axis=1) ** -0.5
    values = np.diag(model.embedding_.T @ dense.normalize_kernel(K) @ model.embedding_)
    expected = (K1 @ (root[:, None] * model.embedding_)) / np.sqrt(K1.sum(axis=1))[:, None] / values
    np.testing.assert_allclose(model.embeddings_["view0"], expected, atol=1e-9)


@pytest.mark.parametrize("cached", [True, False])
def test_product_in_tiles_equals_whole_product(cached, tune):
    tune("arrays.pairwise", tile=70 * 16, max_cached_bytes=1 << 30 if cached else 0)
    views = some_views(2)
    rng = np.random.default_rng(0)
    operators = [Gaussian().build_operator(block, rng) for _, block in views.items()]
    K1, K2 = kernels_of(views)
    U = rng.standard_normal((70, 3))
    product = SimilarityProduct(operators)
    for _ in range(2):  # the second time from the cached table
        np.testing.assert_allclose(product @ U, (K1 * K2) @ U, rtol=1e-10)
    assert ("_table" in product.__dict__) == cached
    np.testing.assert_allclose(product.columns(np.array([3, 60])), (K1 * K2)[:, [3, 60]], rtol=1e-10)
    np.testing.assert_allclose(compute_degrees(product), (K1 * K2).sum(axis=1), rtol=1e-10)
    crosses = [operator.compare_with(block[:7]) for operator, (_, block) in zip(operators, views.items(), strict=True)]
    np.testing.assert_allclose(SimilarityCrossProduct(crosses) @ U, (K1 * K2)[:7] @ U, rtol=1e-10)


def test_product_does_not_store_all_pairs(tune):
    tune("arrays.pairwise", tile=1 << 16, max_cached_bytes=0)
    views = some_views(2, n=1500)
    tracemalloc.start()
    model = KernelProduct(3, bandwidth=3.0, n_init=1, random_state=0, n_jobs=1).fit(views)
    fitting = tracemalloc.get_traced_memory()[1]
    tracemalloc.reset_peak()
    label = model.predict(views[:1])
    predicting = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert label == model.labels_[:1]
    assert max(fitting, predicting) < 1500**2 * 8


def test_product_of_neighbor_graphs_warns_about_components():
    rng = np.random.default_rng(0)
    views = {"a": rng.random((60, 4)), "b": rng.random((60, 4))}
    with pytest.warns(UserWarning, match="the product of the views' similarities has a similarity graph of more"):
        model = KernelProduct(3, affinity=NearestNeighbors(4, "euclidean"), random_state=0).fit(views)
    assert set(model.labels_) <= {0, 1, 2}


def test_sum_connects_components_of_one_view():
    parts = np.kron(np.eye(6), np.ones((10, 10)))  # six parts, more than the clusters
    views = {"apart": parts, "whole": dense.compute_gaussian_kernel(some_views(1, n=60)["view0"])}
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = KernelAddition(3, affinity="precomputed", random_state=0).fit(views)
    assert len(np.unique(model.labels_)) == 3
    with pytest.warns(UserWarning, match="the sum of the views' similarities has a similarity graph of more"):
        KernelAddition(3, affinity="precomputed", random_state=0).fit({"apart": parts})


def test_sum_with_too_few_dimensions_and_isolated_entities_of_a_product_warn():
    K = np.outer(np.arange(1.0, 21), np.arange(1.0, 21))
    with (
        pytest.warns(UserWarning, match="the sum of the views' similarities has 1 dimensions, fewer than n_clusters=2"),
        pytest.warns(ConvergenceWarning, match="clusters are empty"),
    ):
        KernelAddition(2, affinity="precomputed", random_state=0).fit({"a": K})
    K = dense.compute_gaussian_kernel(some_views(1, n=30)["view0"])
    K[4], K[:, 4] = 0, 0
    with pytest.warns(UserWarning, match=r"the product of the views' similarities has entity 4 similar to no other"):
        KernelProduct(2, affinity="precomputed", random_state=0).fit({"a": K, "b": 1 - 1e-3 * np.eye(30)})


def test_minimum_disagreement_of_two_views_matches_the_paper():
    views = some_views(2)
    u, s, v = dense.embed_minimum_disagreement(*kernels_of(views), 3)
    model = fit(MinimumDisagreement, views)
    assert sine(model.embeddings_["view0"], u) < 1e-8
    assert sine(model.embeddings_["view1"], v) < 1e-8
    np.testing.assert_allclose(model.singular_values_, s, atol=1e-9)
    for embedding in model.embeddings_.values():
        np.testing.assert_allclose(embedding.T @ embedding, np.eye(3), atol=1e-8)


def test_minimum_disagreement_of_three_views_matches_dense_graph():
    views = some_views(3, n=50)
    model = fit(MinimumDisagreement, views)
    expected = np.vstack(dense.embed_all_pairs(kernels_of(views), 3))
    embedding = np.vstack(list(model.embeddings_.values()))
    assert sine(embedding, expected) < 1e-8
    np.testing.assert_allclose(embedding.T @ embedding, 3 * np.eye(3), atol=1e-8)


@pytest.mark.parametrize("n_views", [2, 3])
def test_new_vertices_repeat_fitted_vertices(n_views):
    operators = [Gaussian().build_operator(block, np.random.default_rng(0)) for _, block in some_views(n_views).items()]
    for K, view in zip(operators, minimum_disagreement(operators, 3, np.random.default_rng(0)), strict=True):
        np.testing.assert_allclose(view.place(K, np.empty((70, 0))), view.U, atol=1e-9)


@pytest.mark.parametrize(("embedding", "width"), [("concat", 6), ("view1", 3)])
@pytest.mark.parametrize("kind", [MinimumDisagreement, CoRegularizedSpectral])
def test_clustered_embedding_can_be_chosen(kind, embedding, width):
    views = some_views(2)
    model = fit(kind, views, embedding=embedding)
    assert sum(part.shape[1] for part in model._joint_embedding.joint) == width
    assert np.array_equal(model.predict(views), model.labels_)
    with pytest.raises(ValueError, match=r"embedding='text' is not a view: give 'concat'.* or one of 'view0', 'view1'"):
        fit(kind, views, embedding="text")


@pytest.mark.parametrize("n_views", [1, 2, 3])
def test_mean_embedding_matches_dense_version(n_views):
    views = some_views(n_views)
    kernels = kernels_of(views)
    if n_views == 1:
        parts = [dense.compute_leading_eigenvectors(dense.normalize_kernel(kernels[0]), 3)]
    elif n_views == 2:
        parts = list(dense.embed_minimum_disagreement(*kernels, 3)[::2])
    else:
        parts = dense.embed_all_pairs(kernels, 3)
    mean = sum(U / np.linalg.norm(U, axis=1, keepdims=True) for U in parts) / n_views
    model = fit(MinimumDisagreement, views, embedding="mean")
    embedding, _ = model._place(views)
    np.testing.assert_allclose(embedding @ embedding.T, mean @ mean.T, atol=1e-7)  # columns are unique up to signs
    assert adjusted_rand_score(model.labels_, cs.MultiViewKMeans(3, random_state=0).fit(mean).labels_) == 1
    assert np.array_equal(model.predict(views), model.labels_)


def test_mean_embedding_of_views_that_an_entity_has():
    views = some_views(3, n=60, missing=0.3)
    model = fit(MinimumDisagreement, views, embedding="mean")
    unit = [U / np.linalg.norm(U, axis=1, keepdims=True) for U in model.embeddings_.values()]
    embedding, _ = model._place(views)
    for i, has_view in enumerate(views.present):
        expected = np.mean([unit[v][i] for v in np.flatnonzero(has_view)], axis=0)
        np.testing.assert_allclose(embedding[i], expected, atol=1e-8)
    assert np.array_equal(model.predict(views), model.labels_)


def test_views_named_like_options():
    first, second = (block for _, block in some_views(2).items())
    with pytest.raises(ValueError, match="embedding='mean' could mean all views or the view 'mean': rename the view"):
        fit(MinimumDisagreement, {"mean": first, "b": second}, embedding="mean")
    named = fit(MinimumDisagreement, {"concat": first, "mean": second})
    assert np.array_equal(named.labels_, fit(MinimumDisagreement, {"a": first, "b": second}).labels_)


@pytest.mark.parametrize(("n_views", "n_rounds"), [(2, 1), (3, 3)])
@pytest.mark.filterwarnings("ignore:no convergence in .* rounds")
def test_pairwise_co_regularization_matches_dense_version(n_views, n_rounds):
    views = some_views(n_views)
    expected, objectives = dense.co_regularize_pairwise(kernels_of(views), 3, 0.2, n_rounds)
    model = fit(CoRegularizedSpectral, views, weight=0.2, max_iter=n_rounds, tol=0)
    assert all(sine(embedding, U) < 1e-7 for embedding, U in zip(model.embeddings_.values(), expected, strict=True))
    np.testing.assert_allclose(model.history_["objective"], objectives[n_views - 1 :: n_views], rtol=1e-9)
    assert np.all(np.diff(objectives) >= -1e-10)
    assert model.n_iter_ == n_rounds
    assert model.embedding_ is None


@pytest.mark.parametrize("weights", [[0.2, 0.2], [0.3, 0.05]])
@pytest.mark.filterwarnings("ignore:no convergence in .* rounds")
def test_centroid_co_regularization_matches_dense_version(weights):
    views = some_views(2)
    expected, middle, objectives = dense.co_regularize_centroid(kernels_of(views), 3, weights, 3)
    model = fit(CoRegularizedSpectral, views, kind="centroid", weight=weights, max_iter=3, tol=0)
    assert all(sine(embedding, U) < 1e-7 for embedding, U in zip(model.embeddings_.values(), expected, strict=True))
    assert sine(model.embedding_, middle) < 1e-7
    np.testing.assert_allclose(model.history_["objective"], objectives, rtol=1e-9)


@pytest.mark.parametrize(("kind", "weight"), [(run_pairwise, 0.01), (run_pairwise, 2.0), (run_centroid, 0.1)])
def test_objective_never_falls(kind, weight):
    operators = [Gaussian().build_operator(block, np.random.default_rng(0)) for _, block in some_views(3).items()]
    first = [embed_view(K, 3, np.random.default_rng(0)) for K in operators]
    states = list(islice(kind(operators, first, [weight] * 3, np.random.default_rng(0)), 12))
    objectives = np.array([state.objective for state in states])
    assert np.all(np.diff(objectives) >= -1e-10)
    assert objectives[-1] > objectives[0]


@pytest.mark.parametrize("kind", [run_pairwise, run_centroid])
def test_recipe_reproduces_the_eigenvectors(kind):
    views = some_views(3)
    operators = [Gaussian().build_operator(block, np.random.default_rng(0)) for _, block in views.items()]
    first = [embed_view(K, 3, np.random.default_rng(0)) for K in operators]
    *_, state = islice(kind(operators, first, [0.3] * 3, np.random.default_rng(0)), 6)
    L = [dense.normalize_kernel(K) for K in kernels_of(views)]
    for vectors in [*state.views, *([] if state.centroid is None else [state.centroid])]:
        np.testing.assert_allclose(
            sum(M @ part for M, part in zip(L, vectors.recipe, strict=True)), vectors.U, atol=1e-7
        )


def test_weight_pulls_the_views_together():
    views = some_views(2)
    models = [fit(CoRegularizedSpectral, views, weight=weight) for weight in (0.0, 0.1, 1.0)]
    sines = [sine(*model.embeddings_.values()) for model in models]
    assert sines[0] > sines[1] > sines[2]
    for name, K in zip(views.names, kernels_of(views), strict=True):
        assert (
            sine(models[0].embeddings_[name], dense.compute_leading_eigenvectors(dense.normalize_kernel(K), 3)) < 1e-8
        )


def test_max_iter_warns_and_tol_stops_earlier():
    views = some_views(2)
    with pytest.warns(ConvergenceWarning, match="no convergence in 1 rounds: raise max_iter, or tol"):
        model = fit(CoRegularizedSpectral, views, max_iter=1)
    assert not model.converged_
    loose, tight = (fit(CoRegularizedSpectral, views, weight=0.3, tol=tol) for tol in (1e-2, 1e-6))
    assert loose.converged_
    assert loose.n_iter_ < tight.n_iter_


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"weight": [0.1, 0.2]}, r"kind='pairwise' has one weight for all pairs of views, got weight=\[0.1, 0.2\]"),
        ({"weight": -1.0}, "'weight' parameter"),
        ({"kind": "centroid", "weight": {"view0": 0.1}}, "weight has nothing for view 'view1'"),
        ({"kind": "centroid", "weight": [0.1, -0.2]}, "view 'view1': weight -0.2 must be a number, 0 or more"),
        ({"kind": "centroid", "weight": 0.0}, "no view has a weight above 0, which leaves no consensus"),
        ({"embedding": "centroid"}, "embedding='centroid' needs kind='centroid'"),
        ({"kind": "triple"}, "'kind' parameter"),
        ({"max_iter": 0}, "'max_iter' parameter"),
        ({"tol": -1.0}, "'tol' parameter"),
    ],
)
def test_co_regularization_refuses_invalid_options(options, message):
    model = CoRegularizedSpectral(3, **options)
    with pytest.raises(ValueError, match=message):
        model.fit(some_views(2))
    assert not hasattr(model, "labels_")


def test_interrupted_rounds_leave_the_model_unchanged(monkeypatch):
    def interrupting(*_):
        raise KeyboardInterrupt

    views = some_views(2)
    model = fit(CoRegularizedSpectral, views)
    labels = model.labels_.copy()
    monkeypatch.setattr("consilience.methods.common.run.RoundCounter.__call__", interrupting)
    with pytest.raises(KeyboardInterrupt, match="stopped early: the model is as it was before fit"):
        model.fit(views[:50])
    assert np.array_equal(model.labels_, labels)


def test_sparse_precomputed_similarities():
    rng = np.random.default_rng(0)
    views, y = make_gaussian_views(60, separation=12, random_state=0)
    graphs = {n: NearestNeighbors(12, "euclidean").build_operator(block, rng).matrix for n, block in views.items()}
    for kind in (KernelAddition, KernelProduct, MinimumDisagreement, CoRegularizedSpectral):
        sparse = kind(3, affinity="precomputed", random_state=0).fit({n: sp.csr_array(G) for n, G in graphs.items()})
        whole = kind(3, affinity="precomputed", random_state=0).fit({n: G.toarray() for n, G in graphs.items()})
        assert adjusted_rand_score(y, sparse.labels_) == 1
        assert adjusted_rand_score(sparse.labels_, whole.labels_) == 1


@pytest.mark.parametrize(
    ("kind", "affinity"), [("pairwise", "gaussian"), ("pairwise", "linear"), ("centroid", "linear")]
)
@pytest.mark.filterwarnings("ignore::UserWarning")  # the embeddings have fewer dimensions than clusters
def test_co_regularized_predicts_with_one_cluster_per_entity(kind, affinity):
    for seed in range(10):
        rng = np.random.default_rng(seed)
        views = [rng.normal(size=(10, 3)), rng.normal(size=(10, 1))]
        model = CoRegularizedSpectral(10, kind=kind, affinity=affinity, random_state=0).fit(views)
        labels = model.predict(views)
        assert labels.shape == (10,)
        assert set(labels) <= set(range(10))
