"""Tests of multi-view agglomerative clustering: against scipy with one view, against a literal Table 2 with several."""

from itertools import combinations, pairwise

import array_api_strict
import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.cluster.hierarchy import dendrogram, fcluster, is_valid_linkage, linkage
from scipy.spatial.distance import cdist, pdist, squareform
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.metrics import adjusted_rand_score
from sklearn.utils.estimator_checks import parametrize_with_checks

import consilience as cs
from consilience.arrays import available_memory
from consilience.datasets import make_gaussian_views, make_text_views
from consilience.methods.agglomerative.algorithm import (
    LINKAGES,
    PrecomputedDistances,
    count_table_bytes,
    find_nearest_clusters,
    iterate_merges,
    prepare_cosine,
    prepare_euclidean,
)

pytestmark = pytest.mark.quick

every_linkage = pytest.mark.parametrize("linked", LINKAGES)
every_metric = pytest.mark.parametrize("metric", ["cosine", "euclidean"])


def blobs(n=60, seed=0, n_columns=4):
    rng = np.random.default_rng(seed)
    return rng.standard_normal((n, n_columns)) + 3 * rng.standard_normal((3, n_columns))[rng.integers(3, size=n)]


def overlapping_views(n=40, n_views=2, missing=0.0, seed=0):
    return make_gaussian_views(
        n, n_clusters=3, n_features=(4, 3, 5)[:n_views], separation=2, missing=missing, random_state=seed
    )[0]


def square_distances(views, metric="euclidean"):
    """Return the (n, n) distances of each view, NaN where one of the two lacks it."""
    return [squareform(pdist(np.asarray(block), metric)) for _, block in views.items()]


def literal(distances, present, linked):
    """Run Table 2 with every linkage distance recomputed from the members, and missing views as documented."""
    n, n_views = present.shape
    of = {"single": np.min, "complete": np.max, "average": np.mean}[linked]
    clusters = {i: [i] for i in range(n)}
    merges = []
    for t in range(n - 1):
        best = None
        for v in [(t + turn) % n_views for turn in range(n_views)]:
            for a, b in combinations(sorted(clusters, key=lambda c: min(clusters[c])), 2):
                mine, others = ([i for i in clusters[c] if present[i, v]] for c in (a, b))
                if mine and others:
                    distance = of(distances[v][np.ix_(mine, others)])
                    if best is None or distance < best[0]:
                        best = distance, v, a, b
            if best is not None:
                break
        distance, v, a, b = best or (np.nan, -1, *sorted(clusters)[:2])
        clusters[n + t] = clusters.pop(a) + clusters.pop(b)
        merges.append((min(a, b), max(a, b), distance, v, len(clusters[n + t])))
    return merges


def assert_equals_literal(model, views, distances):
    expected = literal(distances, views.present, model.linkage)
    first, second, distance, v, size = map(np.array, zip(*expected, strict=True))
    assert np.array_equal(model.children_, np.column_stack([first, second]))
    np.testing.assert_allclose(model.distances_, distance, rtol=1e-9)
    assert model.merge_views_.tolist() == [views.names[u] if u >= 0 else "" for u in v]
    assert np.array_equal(model.merges_["size"], size)


@parametrize_with_checks([cs.MultiViewAgglomerative(2)])
@pytest.mark.filterwarnings("ignore:entity .* is all zeros:UserWarning")
def test_check_estimator(estimator, check):
    check(estimator)


@pytest.mark.parametrize(
    ("linked", "metric", "n"),
    [
        ("single", "cosine", 80),
        ("single", "euclidean", 3),
        ("complete", "cosine", 2),
        ("complete", "euclidean", 200),
        ("average", "cosine", 17),
        ("average", "euclidean", 80),
    ],
)
def test_one_view_equals_scipy(linked, metric, n):
    X = blobs(n, seed=n)
    model = cs.MultiViewAgglomerative(1, linkage=linked, metric=metric).fit(X)
    Z = linkage(pdist(X, metric), linked)
    assert np.array_equal(model.children_, Z[:, :2].astype(int))
    np.testing.assert_allclose(model.distances_, Z[:, 2], rtol=1e-9)
    assert np.array_equal(model.merges_["size"], Z[:, 3])
    for k in (1, 2, n // 2 + 1):
        assert adjusted_rand_score(model.cut(k), fcluster(Z, k, "maxclust")) == 1


@pytest.mark.parametrize(
    ("linked", "n_views", "missing"),
    [
        ("single", 2, 0.2),
        ("single", 3, 0.5),
        ("complete", 2, 0.5),
        ("complete", 3, 0.0),
        ("average", 2, 0.0),
        ("average", 3, 0.2),
        ("average", 3, 0.5),
    ],
)
def test_matches_literal_table_2(linked, n_views, missing):
    """The distances between entities that lack a view are not read."""
    views = overlapping_views(30, n_views, missing)
    distances = square_distances(views)
    model = cs.MultiViewAgglomerative(3, linkage=linked, metric="euclidean").fit(views)
    assert_equals_literal(model, views, distances)
    tables = cs.Views(dict(zip(views.names, distances, strict=True)), present=views.present)
    precomputed = cs.MultiViewAgglomerative(3, linkage=linked, metric="precomputed").fit(tables)
    assert_equals_literal(precomputed, views, distances)
    for name, labels in model.view_labels_.items():
        assert np.array_equal(precomputed.view_labels_[name], labels)


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 10**6), st.sampled_from(LINKAGES), st.integers(1, 3), st.integers(2, 14))
def test_ties_go_to_first_entities(seed, linked, n_views, n):
    """Distances of 1, 2 or 4 have many ties; average linkage cannot be identical to the last bit."""
    rng = np.random.default_rng(seed)
    linked = "single" if linked == "average" else linked
    half = [np.triu(2 ** rng.integers(3, size=(n, n)), 1).astype(float) for _ in range(n_views)]
    present = rng.random((n, n_views)) < 0.7
    present[np.arange(n), rng.integers(n_views, size=n)] = True
    present[0] = True  # every view has an entity
    views = cs.Views([(D + D.T).astype(np.float32 if seed % 2 else np.float64) for D in half], present=present)
    model = cs.MultiViewAgglomerative(1, linkage=linked, metric="precomputed").fit(views)
    assert_equals_literal(model, views, [D + D.T for D in half])


@every_linkage
def test_compacting_table_changes_nothing(linked, tune):
    """Slices of seven merges give the same result as one slice."""
    views = overlapping_views(100, 3, missing=0.3)
    whole = cs.MultiViewAgglomerative(3, linkage=linked).fit(views)
    tune("methods.agglomerative.algorithm", merges_per_state=7)
    sliced = cs.MultiViewAgglomerative(3, linkage=linked).fit(views)
    assert np.array_equal(whole.children_, sliced.children_)
    assert np.array_equal(whole.distances_, sliced.distances_)


def test_precomputed_distances_follow_selected_entities():
    views = overlapping_views(30)
    precomputed = cs.Views(dict(zip(views.names, square_distances(views), strict=True)))
    for rows in (np.random.default_rng(0).permutation(30), slice(0, 12)):
        expected = cs.MultiViewAgglomerative(3, metric="euclidean").fit(views[rows])
        model = cs.MultiViewAgglomerative(3, metric="precomputed").fit(precomputed[rows])
        assert np.array_equal(model.children_, expected.children_)


def test_metric_per_view():
    views = overlapping_views(40)
    by_name = cs.MultiViewAgglomerative(2, metric={"view1": "cosine", "view0": "euclidean"}).fit(views)
    by_place = cs.MultiViewAgglomerative(2, metric=["euclidean", "cosine"]).fit(views)
    D = [square_distances(views)[0], square_distances(views, "cosine")[1]]
    assert_equals_literal(by_name, views, D)
    assert np.array_equal(by_name.children_, by_place.children_)
    mixed = cs.MultiViewAgglomerative(2, metric=["precomputed", "cosine"]).fit([D[0], views["view1"]])
    assert np.array_equal(mixed.children_, by_name.children_)


@pytest.mark.parametrize(
    ("linked", "metric", "dtype"),
    [("average", "cosine", np.float32), ("complete", "euclidean", np.float64), ("single", "cosine", np.float64)],
)
def test_sparse_equals_dense(linked, metric, dtype):
    views = make_text_views(120, n_words=(40, 300), topic_share=0.6, missing=0.2, random_state=0)[0]
    rng = np.random.default_rng(0)
    dense = cs.Views(
        {n: (b.toarray() * rng.uniform(0.5, 2, b.shape)).astype(dtype) for n, b in views.items()}, present=views.present
    )
    full = cs.MultiViewAgglomerative(3, linkage=linked, metric=metric).fit(dense)
    sparse = cs.Views({name: sp.csr_array(block) for name, block in dense.items()}, present=views.present)
    model = cs.MultiViewAgglomerative(3, linkage=linked, metric=metric).fit(sparse)
    assert np.array_equal(model.children_, full.children_)
    np.testing.assert_allclose(model.distances_, full.distances_, rtol=1e-5 if dtype == np.float32 else 1e-12)


@every_metric
def test_float32_stays_float32_with_equal_result(metric):
    views = overlapping_views(100, missing=0.2)
    single = views.map(lambda block: block.astype(np.float32))
    wide = single.map(lambda block: block.astype(np.float64))
    narrow, reference = (cs.MultiViewAgglomerative(3, metric=metric).fit(X) for X in (single, wide))
    np.testing.assert_allclose(narrow.distances_, reference.distances_, rtol=1e-4)
    assert adjusted_rand_score(narrow.labels_, reference.labels_) == 1
    X, present = np.ones((10, 2), np.float32), np.ones(10, bool)
    assert prepare_cosine(X, present).compute_block(slice(0, 3)).dtype == np.float32
    assert count_table_bytes([prepare_cosine(X, present), prepare_euclidean(X, present)]) == 2 * 45 * 4
    assert count_table_bytes([prepare_cosine(X, present), prepare_euclidean(X.astype(float), present)]) == 2 * 45 * 8


@every_metric
@pytest.mark.parametrize(
    ("kind", "dtype", "rtol"),
    [(np.asarray, np.float64, 1e-9), (np.asarray, np.float32, 2e-4), (sp.csr_array, np.float32, 2e-4)],
)
def test_distances_of_close_rows_are_accurate(metric, kind, dtype, rtol):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((12, 6)) + 100
    X[6:] = X[:6] * (1 + 1e-3 * rng.standard_normal((6, 6)))
    X[11] = X[0]
    X = X.astype(dtype)
    view = {"cosine": prepare_cosine, "euclidean": prepare_euclidean}[metric](
        cs.arrays.as_rows(kind(X)), np.ones(12, bool)
    )
    block = view.compute_block(slice(0, 12))
    X = X.astype(np.float64)
    unit = X / np.linalg.norm(X, axis=1, keepdims=True)
    expected = cdist(X, X) if metric == "euclidean" else cdist(unit, unit, "sqeuclidean") / 2
    np.testing.assert_allclose(block, expected, rtol=rtol, atol=1e-30 if dtype == np.float64 else 1e-11)
    assert block[0, 11] == 0
    np.testing.assert_allclose(view.compute_block(slice(3, 5), 2), expected[3:5, 2:], rtol=rtol, atol=1e-11)


def test_blocks_equal_whole_matrix(tune):
    views = overlapping_views(60, missing=0.3)
    whole = cs.MultiViewAgglomerative(3, metric="euclidean").fit(views)
    tune("methods.agglomerative.algorithm", block=500, least_rows=3)
    for n_jobs in (1, 3):
        parts = cs.MultiViewAgglomerative(3, metric="euclidean", n_jobs=n_jobs).fit(views)
        assert np.array_equal(parts.children_, whole.children_)
        np.testing.assert_allclose(parts.distances_, whole.distances_, rtol=1e-12)
        for name, labels in whole.view_labels_.items():
            assert np.array_equal(parts.view_labels_[name], labels)


@every_linkage
def test_order_of_rows_and_names_of_views_do_not_matter(linked):
    views = overlapping_views(120, 3, missing=0.2)
    order = np.random.default_rng(0).permutation(120)
    named = cs.Views(
        {f"a view called {name}": block[order] for name, block in views.items()}, present=views.present[order]
    )
    straight, other = (cs.MultiViewAgglomerative(5, linkage=linked).fit(X) for X in (views, named))
    for k in (2, 5, 30):
        assert adjusted_rand_score(straight.cut(k)[order], other.cut(k)) == 1
    assert [f"a view called {name}" for name in straight.merge_views_] == other.merge_views_.tolist()


def test_views_take_turns():
    views = overlapping_views(20, 3)[["view2", "view0", "view1"]]
    model = cs.MultiViewAgglomerative(2).fit(views)
    assert model.merge_views_.tolist() == [views.names[t % 3] for t in range(19)]


@settings(max_examples=20, deadline=None)
@given(st.integers(0, 10**6), st.integers(1, 30), st.sampled_from(LINKAGES))
def test_cuts_are_nested_and_numbered_in_order(seed, n, linked):
    views = overlapping_views(n, 2, 0.3, seed)
    views = views[["view0", "view1"]] if views.present.any(axis=0).all() else cs.Views([np.eye(n)])
    model = cs.MultiViewAgglomerative(1, linkage=linked).fit(views)
    cuts = [model.cut(k) for k in range(1, n + 1)]
    for k, labels in enumerate(cuts, 1):
        assert len(np.unique(labels)) == k
        _, first = np.unique(labels, return_index=True)
        assert np.all(np.diff(first) > 0)
    for coarse, fine in pairwise(cuts):
        assert all(len(set(coarse[fine == j])) == 1 for j in set(fine))


def test_labels_equal_cut_whatever_the_form_of_the_input(to_kind):
    views = overlapping_views(50)
    kind = {name: to_kind(np.array(block)) for name, block in views.items()}
    columns = {"view0": slice(0, 4), "view1": [4, 5, 6]}
    whole = np.hstack([block for _, block in views.items()])
    expected = cs.MultiViewAgglomerative(1).fit(views)
    for k, X, groups in ((1, views, None), (3, kind, None), (50, whole, columns)):
        model = cs.MultiViewAgglomerative(k, views=groups)
        assert np.array_equal(model.fit_predict(X), model.labels_)
        assert np.array_equal(model.labels_, model.cut(k))
        assert np.array_equal(model.children_, expected.children_)
    assert np.array_equal(model.cut(50), np.arange(50))


def test_linkage_matrix_is_scipys():
    model = cs.MultiViewAgglomerative(3, linkage="complete").fit(overlapping_views(40, missing=0.3))
    Z = model.linkage_matrix()
    assert is_valid_linkage(Z)
    assert Z[:, 2].tolist() == list(range(1, 40))
    assert list(model.merges_) == ["first", "second", "distance", "view", "size"]
    assert sorted(dendrogram(Z, no_plot=True)["leaves"]) == list(range(model.n_leaves_)) == list(range(40))
    for k in (2, 7):
        assert adjusted_rand_score(fcluster(Z, k, "maxclust"), model.cut(k)) == 1


@pytest.mark.parametrize(("metric", "kind"), [("cosine", sp.csr_array), ("euclidean", np.asarray)])
def test_view_labels_are_nearest_clusters(metric, kind):
    views = overlapping_views(40, missing=0.3)
    blocks = {name: kind(np.nan_to_num(block)) for name, block in views.items()}
    model = cs.MultiViewAgglomerative(5, metric=metric).fit(cs.Views(blocks, present=views.present))
    for v, D in enumerate(square_distances(views, metric)):
        for i in np.flatnonzero(views.present[:, v]):
            others = [
                [m for m in range(40) if m != i and model.labels_[m] == j and views.present[m, v]] for j in range(5)
            ]
            means = [D[i, rows].mean() if rows else np.inf for rows in others]
            assert model.view_labels_[views.names[v]][i] == np.argmin(means)
        assert (model.view_labels_[views.names[v]][~views.present[:, v]] == -1).all()
    assert np.array_equal(model.agreement_, cs.metrics.agreement_matrix(model.view_labels_))


def test_only_entity_with_view_keeps_cluster():
    D = np.ones((3, 3)) - np.eye(3)
    alone = find_nearest_clusters(PrecomputedDistances(D, np.array([False, True, False])), np.array([0, 1, 1]))
    assert alone.tolist() == [-1, 1, -1]
    assert find_nearest_clusters(PrecomputedDistances(D, np.ones(3, bool)), np.array([0, 1, 1])).tolist() == [1, 0, 0]


def test_incomparable_clusters_are_merged_last():
    """Entities 0 to 3 have one view, 4 to 6 the other, so the two groups cannot be compared."""
    present, rng = np.array([[True, False]] * 4 + [[False, True]] * 3), np.random.default_rng(0)
    model = cs.MultiViewAgglomerative(2, metric="euclidean")
    model.fit(cs.Views([rng.random((7, 2)), rng.random((7, 2))], present=present))
    assert model.merge_views_.tolist() == ["view0", "view1", "view0", "view1", "view0", ""]
    assert np.isnan(model.distances_[-1])
    assert model.labels_.tolist() == [0, 0, 0, 0, 1, 1, 1]
    assert np.isnan(model.agreement_[0, 1])


def test_incomparable_entities_are_merged_by_lowest_nodes():
    views = cs.Views([np.eye(4), np.eye(4)], present=np.array([[1, 0], [1, 0], [0, 1], [0, 1]], bool))
    distances = [PrecomputedDistances(np.ones((4, 4)), views.present[:, v] & (np.arange(4) % 2 == 0)) for v in range(2)]
    *_, tree = iterate_merges(distances, "average")
    assert tree.children.tolist() == [[0, 1], [2, 3], [4, 5]]
    assert tree.deciders.tolist() == [-1, -1, -1]


def test_warns_of_zero_rows_and_merges_them_last():
    views = overlapping_views(20).map(lambda block: np.where(np.arange(20)[:, None] == 3, 0, block))
    with pytest.warns(UserWarning, match=r"entity 3 is all zeros in every view it has \(1 such\).* merged last.*Drop"):
        model = cs.MultiViewAgglomerative(2).fit(views)
    assert 3 in model.children_[-1]
    assert model.labels_.tolist() == [int(i == 3) for i in range(20)]
    assert model.view_labels_["view1"][3] == -1
    assert cs.MultiViewAgglomerative(3, metric="euclidean").fit(views).view_labels_["view1"][3] >= 0


def test_one_entity():
    model = cs.MultiViewAgglomerative(1).fit([np.ones((1, 2)), np.ones((1, 3))])
    assert model.labels_.tolist() == [0]
    assert model.children_.shape == (0, 2)
    assert model.linkage_matrix().shape == (0, 4)


def test_many_equal_entities():
    X = np.repeat([[1.0, 2.0], [2.0, 1.0], [-1.0, 1.0]], 20, axis=0)
    for metric in ("cosine", "euclidean"):
        model = cs.MultiViewAgglomerative(3, metric=metric).fit([X, X[:, ::-1]])
        assert np.array_equal(model.labels_, np.repeat([0, 1, 2], 20))


def test_fit_does_not_change_data():
    """Features are those of the checks of scikit-learn."""
    distances = square_distances(overlapping_views())
    cs.MultiViewAgglomerative(3, metric="precomputed").fit(distances)
    assert all(map(np.array_equal, distances, square_distances(overlapping_views())))


def test_verbose(capfd):
    cs.MultiViewAgglomerative(2).fit(overlapping_views())
    assert capfd.readouterr() == ("", "")
    cs.MultiViewAgglomerative(2, verbose=True).fit(overlapping_views())
    assert capfd.readouterr().err.splitlines() == [
        "MultiViewAgglomerative: start 1 of 1, round 1: merges 0, of 39",
        "MultiViewAgglomerative: start 1 of 1, round 2: merges 39, of 39",
    ]


def test_interrupt_leaves_model_unchanged(monkeypatch, tune):
    views, seen = overlapping_views(), []
    tune("methods.agglomerative.algorithm", merges_per_state=10)

    def interrupt(counter, run, round_, record):
        seen.append(record["merges"])
        if len(seen) == 3:
            raise KeyboardInterrupt("enough")

    monkeypatch.setattr("consilience.methods.common.run.RoundCounter.__call__", interrupt)
    model = cs.MultiViewAgglomerative(2)
    with pytest.raises(KeyboardInterrupt, match="enough"):
        model.fit(views)
    assert seen == [0, 10, 20]
    assert not hasattr(model, "labels_")


def test_refuses_tables_larger_than_memory(monkeypatch):
    monkeypatch.setattr("consilience.methods.agglomerative.estimator.available_memory", lambda: 1000)
    message = (
        r"the distances of 40 entities in 2 views take 0\.0 GiB of memory, but 0\.0 GiB are free: cluster fewer "
        r"entities .* or use MultiViewKMeans or MultiViewSphericalKMeans"
    )
    with pytest.raises(MemoryError, match=message):
        cs.MultiViewAgglomerative(2).fit(overlapping_views())
    monkeypatch.setattr("consilience.methods.agglomerative.estimator.available_memory", lambda: None)

    def raise_memory_error(*_):
        raise MemoryError

    monkeypatch.setattr("consilience.methods.agglomerative.algorithm.compute_tables", raise_memory_error)
    with pytest.raises(MemoryError, match=r"take 0\.0 GiB of memory, more than the system gives: cluster fewer"):
        cs.MultiViewAgglomerative(2).fit(overlapping_views())


def test_table_and_free_memory_are_in_bytes():
    """The rows take no memory, but their distances would take more than any machine has."""
    X = np.broadcast_to(np.ones((1, 1), np.float32), (10**8, 1))
    wanted = count_table_bytes([PrecomputedDistances(X, X[:, 0])])
    assert wanted == 4 * (10**8 * (10**8 - 1) // 2)
    free = available_memory()
    assert free is None or 0 < free < wanted


MATRIX = {"metric": "precomputed"}


@pytest.mark.parametrize(
    ("options", "X", "message"),
    [
        ({"metric": ["cosine", "manhattan"]}, overlapping_views(), "view 'view1': no metric 'manhattan'; choose from"),
        ({"metric": ["cosine"]}, overlapping_views(), r"metric lists 1 values for 2 views \('view0', 'view1'\)"),
        ({"metric": {"text": "cosine"}}, overlapping_views(), "metric names view 'text'; the views are 'view0',"),
        (MATRIX, overlapping_views(), r"'view0': metric='precomputed' needs a square .*, 40 x 40, got shape \(40, 4\)"),
        (MATRIX, [np.ones((3, 5))], r"needs a square matrix of distances, 3 x 3, got shape \(3, 5\)"),
        (MATRIX, [sp.csr_array(np.ones((3, 3)))], r"needs all distances, got a sparse matrix: give toarray\(\) of it"),
        (MATRIX, [np.array([[0.0, -2.0], [-2.0, 0.0]])], "has a negative distance, -2: .* needs a symmetric matrix"),
        (MATRIX, [np.eye(4)], "puts entity 0 at a distance from itself: .* Turn similarities s into distances"),
        (MATRIX, [np.array([[0.0, 3.0], [4.0, 0.0]])], "entities 0 and 1 have two distances: .*average the matrix"),
        (
            MATRIX,
            cs.Views([np.array([[0.0, np.nan], [np.nan, 0.0]])], present=np.ones((2, 1), bool)),
            "view 'view0' has NaN or infinity in row 0: impute the value",
        ),
        ({}, [np.zeros((5, 3)), np.ones((5, 2))], "view 'view0' is all zeros, which have no direction: leave the view"),
        ({}, [np.ones((5, 3)), array_api_strict.ones((5, 2))], "of .*numpy, view 'view1' of array_api_strict: convert"),
        ({"n_clusters": 41}, overlapping_views(), "n_clusters=41 is more than the 40 entities"),
        ({"n_clusters": 0}, overlapping_views(), "'n_clusters' parameter .* must be an int"),
        ({"linkage": "ward"}, overlapping_views(), "'linkage' parameter .*'average'"),
        ({"metric": "manhattan"}, overlapping_views(), "'metric' parameter .*'cosine'"),
        ({"n_jobs": 0}, overlapping_views(), "n_jobs=0 has no meaning"),
    ],
)
def test_refuses(options, X, message):
    model = cs.MultiViewAgglomerative(**{"n_clusters": 2, **options})
    with pytest.raises((ValueError, TypeError), match=message):
        model.fit(X)
    assert not hasattr(model, "labels_")


def test_cut_refuses():
    model = cs.MultiViewAgglomerative(2).fit(overlapping_views())
    for k in (0, 41, 2.0, "3", None):
        with pytest.raises(ValueError, match=rf"n_clusters={k!r} must be a whole number from 1 to 40"):
            model.cut(k)
    with pytest.raises(NotFittedError, match="not fitted"):
        clone(model).cut(2)


def test_tolerates_rounding_in_precomputed_distances():
    X = blobs(30).astype(np.float32)
    unit = X / np.linalg.norm(X, axis=1, keepdims=True)
    D = 1 - unit @ unit.T
    model = cs.MultiViewAgglomerative(3, metric="precomputed").fit([D + np.triu(D) * np.float32(1e-6)])
    assert adjusted_rand_score(model.labels_, cs.MultiViewAgglomerative(3).fit_predict(X)) == 1


@pytest.mark.protocol
@pytest.mark.parametrize("linked", ["average", "complete"])
def test_reproduces_negative_finding_of_paper(linked):
    """Concatenated views are clustered better, as the paper says."""
    wins = 0
    for seed in range(6):
        views, y = make_text_views(200, n_clusters=4, topic_share=0.3, random_state=seed)
        together = sp.hstack([block for _, block in views.items()]).tocsr()
        ours, theirs = (cs.MultiViewAgglomerative(4, linkage=linked).fit_predict(X) for X in (views, together))
        wins += cs.metrics.average_entropy(y, ours) > cs.metrics.average_entropy(y, theirs)
    assert wins >= 5
