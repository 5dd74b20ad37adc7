"""Missing views filled in, against the paper's rule entry by entry."""

import numpy as np
import pytest

import literal
from consilience.affinities import Gaussian, NearestNeighbors, Nystroem
from consilience.methods.spectral.similarities import Similarities

AFFINITIES = [Gaussian(1.0), NearestNeighbors(5, "euclidean"), Nystroem(Gaussian(1.0), 10)]


def some_views(n=40, n_views=3, seed=0):
    """Rows of each view, and a mask in which everyone has a view and some share none."""
    rng = np.random.default_rng(seed)
    present = rng.random((n, n_views)) < 0.6
    present[np.flatnonzero(~present.any(axis=1)), 0] = True
    return [rng.standard_normal((n, 3)) for _ in range(n_views)], present


def similarities(blocks, present, affinity):
    rng = np.random.default_rng(0)
    return Similarities(
        [affinity.build_operator(X[there], rng) for X, there in zip(blocks, present.T, strict=True)], present
    )


def dense(own, there, also=None):
    """A view's similarities as a whole matrix, zero where it is missing."""
    also = there if also is None else also
    K = np.zeros((len(also), len(there)))
    K[np.ix_(also, there)] = own @ np.eye(there.sum())
    return K


@pytest.mark.parametrize("n_views", [2, 3, 4])
@pytest.mark.parametrize("affinity", AFFINITIES, ids=lambda own: type(own).__name__)
def test_filled_in_as_the_paper_says(affinity, n_views):
    blocks, present = some_views(n_views=n_views)
    found = similarities(blocks, present, affinity)
    kernels = [dense(own, there) for own, there in zip(found.views, present.T, strict=True)]
    expected = literal.filled_kernels(kernels, present)
    for v, operator in enumerate(found.operators):
        # the same up to the factor of the view's own, which no embedding depends on
        K = operator @ np.eye(len(present))
        np.testing.assert_allclose(K / np.linalg.norm(K), expected[v] / np.linalg.norm(expected[v]), atol=1e-10)
        np.testing.assert_allclose(
            K[np.ix_(present[:, v], present[:, v])], kernels[v][np.ix_(present[:, v], present[:, v])], atol=1e-10
        )
        np.testing.assert_allclose(operator.columns(np.array([2, 5])), K[:, [2, 5]], atol=1e-12)
        assert operator.shape == (40, 40)
        assert operator.exact == found.views[0].exact


def test_nothing_is_touched_where_nothing_is_missing():
    blocks, _ = some_views()
    found = similarities(blocks, np.ones((40, 3), bool), Gaussian(1.0))
    assert found.operators is found.views


def test_some_entities_share_no_view():
    blocks, present = some_views(n_views=2)
    present[:20] = [True, False]
    present[20:] = [False, True]
    K = similarities(blocks, present, Gaussian(1.0)).operators[0] @ np.eye(40)
    assert np.all(K[:20, 20:] == 0)
    assert np.all(K[20:, 20:] > 0)


@pytest.mark.parametrize("complete", [False, True])
def test_others_are_filled_in_as_the_entities_were(complete):
    blocks, present = some_views()
    present = np.ones_like(present) if complete else present
    found = similarities(blocks, present, Gaussian(1.0))
    rows = slice(5, 25)
    crosses = [
        own.compare_with(X[rows][there[rows]]) for own, X, there in zip(found.views, blocks, present.T, strict=True)
    ]
    for operator, other in zip(found.operators, found.fill_crosses(crosses, present[rows]), strict=True):
        np.testing.assert_allclose(other @ np.eye(40), (operator @ np.eye(40))[rows], atol=1e-12)


def test_others_may_lack_what_all_entities_have():
    blocks, _ = some_views(n_views=2)
    present = np.ones((40, 2), bool)
    found = similarities(blocks, present, Gaussian(1.0))
    only_second = np.tile([False, True], (3, 1))
    first, second = found.fill_crosses([None, found.views[1].compare_with(blocks[1][:3])], only_second)
    K = found.views[1] @ np.eye(40)
    scale = found.views[0].norm() / found.views[1].norm()
    np.testing.assert_allclose(first @ np.eye(40), scale * K[:3])
    np.testing.assert_allclose(second @ np.eye(40), K[:3])
