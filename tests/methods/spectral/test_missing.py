"""Similarities of missing views, against the paper's rule entry by entry."""

import numpy as np
import pytest

import literal
from consilience.affinities import Gaussian, NearestNeighbors, Nystroem
from consilience.methods.spectral.similarities import Similarities

AFFINITIES = [Gaussian(1.0), NearestNeighbors(5, "euclidean"), Nystroem(Gaussian(1.0), 10)]


def some_views(n=40, n_views=3, seed=0):
    """Create rows of each view, and a mask in which every entity has a view and some pairs share none."""
    rng = np.random.default_rng(seed)
    present = rng.random((n, n_views)) < 0.6
    present[np.flatnonzero(~present.any(axis=1)), 0] = True
    return [rng.standard_normal((n, 3)) for _ in range(n_views)], present


def similarities(blocks, present, affinity):
    rng = np.random.default_rng(0)
    return Similarities(
        [affinity.build_operator(X[has_view], rng) for X, has_view in zip(blocks, present.T, strict=True)], present
    )


def dense(operator, columns, rows=None):
    """Return a view's similarities as a dense matrix, zero where the view is missing."""
    rows = columns if rows is None else rows
    K = np.zeros((len(rows), len(columns)))
    K[np.ix_(rows, columns)] = operator @ np.eye(columns.sum())
    return K


@pytest.mark.parametrize(("affinity", "n_views"), [*zip(AFFINITIES, (2, 3, 4), strict=True), (AFFINITIES[0], 4)])
def test_filled_similarities_match_the_paper(affinity, n_views):
    blocks, present = some_views(n_views=n_views)
    filled = similarities(blocks, present, affinity)
    kernels = [dense(view, has_view) for view, has_view in zip(filled.views, present.T, strict=True)]
    expected = literal.fill_missing_kernels(kernels, present)
    for v, operator in enumerate(filled.operators):
        # equal up to the scale of the view, which no embedding depends on
        K = operator @ np.eye(len(present))
        np.testing.assert_allclose(K / np.linalg.norm(K), expected[v] / np.linalg.norm(expected[v]), atol=1e-10)
        np.testing.assert_allclose(
            K[np.ix_(present[:, v], present[:, v])], kernels[v][np.ix_(present[:, v], present[:, v])], atol=1e-10
        )
        np.testing.assert_allclose(operator.columns(np.array([2, 5])), K[:, [2, 5]], atol=1e-12)
        assert operator.shape == (40, 40)
        assert operator.exact == filled.views[0].exact


def test_complete_views_are_unchanged():
    blocks, _ = some_views()
    filled = similarities(blocks, np.ones((40, 3), bool), Gaussian(1.0))
    assert filled.operators is filled.views


def test_entities_without_common_view_have_similarity_zero():
    blocks, present = some_views(n_views=2)
    present[:20] = [True, False]
    present[20:] = [False, True]
    K = similarities(blocks, present, Gaussian(1.0)).operators[0] @ np.eye(40)
    assert np.all(K[:20, 20:] == 0)
    assert np.all(K[20:, 20:] > 0)


@pytest.mark.parametrize("complete", [False, True])
def test_new_entities_are_filled_like_fitted_ones(complete):
    blocks, present = some_views()
    present = np.ones_like(present) if complete else present
    filled = similarities(blocks, present, Gaussian(1.0))
    rows = slice(5, 25)
    crosses = [
        view.compare_with(X[rows][has_view[rows]])
        for view, X, has_view in zip(filled.views, blocks, present.T, strict=True)
    ]
    for operator, other in zip(filled.operators, filled.fill(crosses, present[rows]), strict=True):
        np.testing.assert_allclose(other @ np.eye(40), (operator @ np.eye(40))[rows], atol=1e-12)


def test_new_entities_may_lack_a_complete_view():
    blocks, _ = some_views(n_views=2)
    present = np.ones((40, 2), bool)
    filled = similarities(blocks, present, Gaussian(1.0))
    only_second = np.tile([False, True], (3, 1))
    first, second = filled.fill([None, filled.views[1].compare_with(blocks[1][:3])], only_second)
    K = filled.views[1] @ np.eye(40)
    scale = filled.views[0].norm() / filled.views[1].norm()
    np.testing.assert_allclose(first @ np.eye(40), scale * K[:3])
    np.testing.assert_allclose(second @ np.eye(40), K[:3])
