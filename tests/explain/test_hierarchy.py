"""The tree that merges clusters."""

import time
from itertools import combinations

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.metrics import normalized_mutual_info_score

import consilience as cs
from consilience.explain import Hierarchy, build_consensus_graph, build_hierarchy
from consilience.explain.hierarchy import PRIOR

pytestmark = pytest.mark.quick


def merge(labels, K):
    """Build the hierarchy of a graph, with views in which all clusters have the same mean."""
    n = K.shape[0]
    return build_hierarchy(labels, cs.Views([np.ones((n, 1))]), graph=K)


def make_similarities(n, rng, density=0.2):
    upper = sp.random_array((n, n), density=density, rng=rng)
    return (upper + upper.T).toarray()


def merge_literally(labels, K):
    """Merge sets of entities, recomputing all similarities from the entities at each step."""
    groups = {node: np.flatnonzero(labels == c) for node, c in enumerate(np.unique(labels[labels >= 0]))}
    clustered = np.flatnonzero(labels >= 0)
    K = K[np.ix_(clustered, clustered)]
    position = {entity: i for i, entity in enumerate(clustered)}
    n, merges, heights = len(groups), [], []

    def ratio(a, b):
        rows, columns = [position[i] for i in groups[a]], [position[i] for i in groups[b]]
        expected = K[rows].sum() * K[columns].sum() / K.sum()
        return K[np.ix_(rows, columns)].sum() / expected + PRIOR  # the means of all clusters are equal

    for step in range(n - 1):
        a, b = max(combinations(sorted(groups), 2), key=lambda pair: ratio(*pair))
        heights.append(1 / (1 + ratio(a, b)))
        merges.append([a, b])
        groups[n + step] = np.concatenate([groups.pop(a), groups.pop(b)])
    return merges, heights


@pytest.mark.parametrize(("make", "seed"), [(np.asarray, 0), (sp.csr_array, 1), (np.asarray, 2)])
def test_hierarchy_is_average_linkage_of_the_graph(make, seed):
    rng = np.random.default_rng(seed)
    labels = rng.integers(-1, 9, 60)
    K = make_similarities(60, rng)
    hierarchy = merge(labels, make(K))
    merges, heights = merge_literally(labels, K)
    assert hierarchy.merges.tolist() == merges
    np.testing.assert_allclose(hierarchy.heights, heights)
    assert (np.diff(hierarchy.heights) >= 0).all()


def test_consensus_graph_recovers_nested_groups():
    rng = np.random.default_rng(0)
    coarse = np.repeat(np.arange(4), 75)
    fine = coarse * 3 + rng.integers(3, size=300)
    blocks = []
    for _ in range(2):
        far, near = rng.normal(size=(4, 6)) * 8, rng.normal(size=(12, 6)) * 2
        blocks.append(far[coarse] + near[fine] + rng.normal(size=(300, 6)))
    hierarchy = build_hierarchy(fine, cs.Views(blocks))
    assert normalized_mutual_info_score(coarse, hierarchy.cut(4)[fine]) == pytest.approx(1)


def test_clusters_without_any_link_merge_last_by_their_means():
    labels = np.repeat([0, 1, 2, 3], [4, 2, 3, 3])
    K = (labels[:, None] == labels).astype(float)
    K[0, 9] = K[9, 0] = 0.5  # joins clusters 0 and 3
    views = cs.Views([np.array([0.0, 1, 5, 9])[labels, None], np.array([[0, 1], [5, 5], [4, 4], [1, 0]])[labels]])
    hierarchy = build_hierarchy(labels, views, graph=K)
    assert hierarchy.merges.tolist() == [[0, 3], [1, 2], [4, 5]]
    assert (hierarchy.heights[1:] >= 1 / (1 + PRIOR)).all()
    assert hierarchy.cut(2).tolist() == [0, 1, 1, 0]
    blocks = {"a": np.array([[0.0], [5], [1], [np.nan]]), "b": sp.csr_array([[2.0, 0], [0, 1], [9, 0], [0, 3]])}
    views = cs.Views(blocks, present=np.arange(8).reshape(4, 2) != 6)
    hierarchy = build_hierarchy(np.arange(4), views, graph=np.eye(4))
    assert hierarchy.cut(2).tolist() == [0, 1, 0, 1], "means in the views that both clusters have"


def test_cut_numbers_groups_by_their_first_cluster():
    hierarchy = Hierarchy(np.array([0, 2, 3, 5]), np.array([[1, 3], [0, 2], [4, 5]]), np.array([0.1, 0.2, 0.3]))
    assert hierarchy.cut(4).tolist() == [0, -1, 2, 3, -1, 5]
    assert hierarchy.cut(3).tolist() == [0, -1, 1, 2, -1, 1]
    assert hierarchy.cut(2).tolist() == [0, -1, 1, 0, -1, 1]
    assert hierarchy.cut(1).tolist() == [0, -1, 0, 0, -1, 0]
    assert hierarchy.order == [2, 5, 0, 3]
    for n in (0, 5):
        with pytest.raises(ValueError, match=rf"n={n} must be between 1 and the number of clusters, 4"):
            hierarchy.cut(n)


def test_levels_end_with_the_clusters_also_with_at_most_one_and_no_similarities():
    for n_clusters, levels in ((2, [1, 2]), (7, [*range(1, 8)]), (13, [1, 2, 3, 4, 5, 6, 8, 10, 12, 13])):
        hierarchy = merge(np.arange(n_clusters), np.ones((n_clusters, n_clusters)))
        assert hierarchy.levels == levels
        assert [len(np.unique(hierarchy.cut(n))) for n in levels] == levels
    for labels in ([-1, -1], [0, 0], [3, -1]):
        hierarchy = merge(np.array(labels), np.ones((2, 2)))
        assert hierarchy.merges.shape == (0, 2)
        assert hierarchy.n_clusters == len({label for label in labels if label >= 0})
        assert hierarchy.order == [label for label in labels[:1] if label >= 0]
        assert hierarchy.levels == [hierarchy.n_clusters] * hierarchy.n_clusters
    hierarchy = merge(np.array([0, 1, 2]), np.zeros((3, 3)))
    assert hierarchy.merges.tolist() == [[0, 1], [2, 3]]
    np.testing.assert_allclose(hierarchy.heights, 1 / (1 + PRIOR))
    views = cs.Views([np.ones((3, 1))])
    with pytest.raises(ValueError, match=r"entity of the views, which are 3, got the shapes \(3,\) and \(3, 2\)"):
        build_hierarchy([0, 1, 1], views, graph=np.ones((3, 2)))
    with pytest.raises(ValueError, match=r"which are 3, got the shapes \(2,\) and \(3, 3\)"):
        build_hierarchy([0, 1], views)


def test_500_clusters_are_fast():
    rng = np.random.default_rng(0)
    views = cs.Views([rng.normal(size=(3000, 10))])
    labels, graph = np.arange(3000) % 500, build_consensus_graph(views)
    start = time.process_time()
    hierarchy = build_hierarchy(labels, views, graph=graph)
    assert time.process_time() - start < 5  # far less on a machine that does nothing else
    assert hierarchy.n_clusters == 500
