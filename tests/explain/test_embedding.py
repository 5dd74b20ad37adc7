"""Where a view puts the entities, in the plane."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.decomposition import PCA

import consilience as cs
from consilience.explain import embed


def test_dense_views_use_principal_components():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(30, 5)) * [9, 5, 1, 1, 1]
    place = embed(cs.Views({"x": X}), "x")
    assert place.shape == (30, 2)
    assert np.allclose(np.abs(place), np.abs(PCA(2).fit_transform(X)))


@pytest.mark.parametrize("sparse", [False, True])
def test_missing_rows_are_nan(sparse):
    rng = np.random.default_rng(0)
    X, present = rng.poisson(2, size=(40, 8)) + 0.0, rng.random(40) < 0.6
    block = sp.csr_array(np.where(present[:, None], X, 0)) if sparse else np.where(present[:, None], X, np.nan)
    views = cs.Views({"x": block, "y": np.ones((40, 1))}, present=np.stack([present, present | True], axis=1))
    place = embed(views, "x")
    assert np.array_equal(np.isfinite(place).all(axis=1), present)
    assert np.isnan(place[~present]).all()
    rows = np.flatnonzero(present)
    assert np.allclose(place[rows], embed(views[rows], "x"))


def test_sparse_views_tell_directions_apart():
    rng = np.random.default_rng(0)
    X = np.zeros((30, 9))
    for i in range(30):
        X[i, 3 * (i % 3) : 3 * (i % 3) + 3] = rng.random(3) + 0.5
    place = embed(cs.Views({"x": sp.csr_array(X)}), "x")
    centres = np.array([place[c::3].mean(axis=0) for c in range(3)])
    apart = np.linalg.norm(centres[:, None] - centres, axis=2)[np.triu_indices(3, 1)]
    assert apart.min() > 3 * max(place[c::3].std() for c in range(3)) or apart.min() > 0.5


@pytest.mark.parametrize("make", [np.asarray, sp.csr_array])
def test_embedding_is_deterministic_for_values_of_any_size(make):
    X = np.random.default_rng(0).poisson(1, size=(50, 20))
    expected = embed(cs.Views({"x": make(X + 0.0)}), "x")
    before = np.random.get_state()[1].tolist()  # noqa: NPY002
    embed(cs.Views({"x": make(X + 0.0)}), "x", random_state=3)
    assert np.random.get_state()[1].tolist() == before  # noqa: NPY002
    assert np.array_equal(embed(cs.Views({"x": make(X + 0.0)}), "x"), expected)
    for dtype in (np.float32, np.int64, np.uint8):
        assert np.allclose(embed(cs.Views({"x": make(X.astype(dtype))}), "x"), expected, atol=1e-5)


def test_small_and_constant_views_have_finite_places():
    blocks = [np.array([[1.0, 2.0, 3.0]]), np.ones((5, 3)), np.ones((5, 1)), np.array([[1.0, 2.0], [3.0, 5.0]])]
    sparse = [[[1.0, 2.0, 3.0]], [[1.0], [2.0], [0.0]], np.ones((5, 4)), np.eye(4)[:, :2], np.eye(2, 6)]
    for block in (*blocks, *map(sp.csr_array, sparse)):
        place = embed(cs.Views({"x": block}), "x")
        assert place.shape == (block.shape[0], 2)
        assert np.isfinite(place).all()
    views = cs.Views({"x": np.array([[1.0], [3.0], [8.0]]), "y": np.array([[np.nan], [4.0], [np.nan]])})
    assert np.allclose(np.abs(embed(views, "x")), [[3, 0], [1, 0], [4, 0]]), "one column varies along one axis"
    assert np.isfinite(embed(views, "y")).all(axis=1).tolist() == [False, True, False]
    with pytest.raises((ValueError, KeyError), match="'z'"):
        embed(views, "z")
