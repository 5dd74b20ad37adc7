"""Points of rows, against plain standardisation and numpy's singular value decomposition."""

import numpy as np
import pytest
import scipy.sparse as sp

import consilience as cs
from consilience.arrays import CSR, as_rows
from consilience.methods.agreement.geometry import (
    LARGEST_EXACT,
    SimilarityGeometry,
    choose_geometries,
    compute_leading_components,
    count_components,
    scale_to_unit,
)


def make_rows(n, p, seed=0):
    """Return rows whose singular values fall quickly, so that leading ones are determined."""
    rng = np.random.default_rng(seed)
    rank = min(n, p)
    return rng.standard_normal((n, rank)) * 0.7 ** np.arange(rank) @ rng.standard_normal((rank, p))


@pytest.mark.parametrize(
    ("shape", "sparse"),
    [
        ((60, 200), False),
        ((60, 200), True),
        ((200, 60), True),
        ((30, 30), False),
        ((LARGEST_EXACT + 20, LARGEST_EXACT + 10), False),  # a randomized search
    ],
)
def test_components_are_leading_right_singular_vectors(shape, sparse):
    Z = make_rows(*shape)
    V = compute_leading_components(sp.csr_array(Z) if sparse else Z, 12, np.random.default_rng(0))
    assert V.shape == (shape[1], 12)
    expected = np.linalg.svd(Z, full_matrices=False)[2][:12].T
    np.testing.assert_allclose(V.T @ V, np.eye(12), atol=1e-6)
    np.testing.assert_allclose(V @ V.T, expected @ expected.T, atol=1e-5)


def test_components_beyond_the_rank_are_zeros():
    Z = make_rows(40, 3) @ np.random.default_rng(1).standard_normal((3, 100))
    V = compute_leading_components(Z, 10, np.random.default_rng(0))
    np.testing.assert_allclose(V[:, :3] @ V[:, :3].T, np.linalg.pinv(Z) @ Z, atol=1e-8)
    assert np.abs(V[:, 3:]).max() == 0


def test_dense_rows_have_two_geometries():
    X = make_rows(50, 80) * np.logspace(-3, 3, 80) + np.linspace(-5, 5, 80)
    by_direction, as_they_are = choose_geometries(X, np.random.default_rng(0))
    assert (by_direction.direction, as_they_are.direction) == (True, False)
    Z = (X - X.mean(axis=0)) / X.std(axis=0)
    for geometry, rows in ((as_they_are, Z), (by_direction, Z / np.linalg.norm(Z, axis=1, keepdims=True))):
        expected = rows @ np.linalg.svd(rows)[2][: count_components(50)].T
        if geometry.direction:
            expected /= np.linalg.norm(expected, axis=1, keepdims=True)
        expected /= np.sqrt(np.mean(np.sum(expected**2, axis=1)))
        points = geometry.transform(X)
        np.testing.assert_allclose(points @ points.T, expected @ expected.T, atol=1e-8)
        np.testing.assert_allclose(geometry.transform(X[:7]), points[:7], atol=1e-10)


def test_few_columns_have_one_geometry_of_all_columns():
    X = make_rows(50, 9)
    (geometry,) = choose_geometries(X, np.random.default_rng(0))
    np.testing.assert_allclose(geometry.transform(X), (X - X.mean(axis=0)) / X.std(axis=0) / 3, atol=1e-12)
    assert len(choose_geometries(make_rows(50, 10), np.random.default_rng(0))) == 2


def test_constant_columns_are_ignored():
    X = make_rows(50, 4)
    (with_constant,) = choose_geometries(np.column_stack([X, np.full(50, 1e8)]), np.random.default_rng(0))
    (without,) = choose_geometries(X, np.random.default_rng(0))
    Y = np.column_stack([X, np.full(50, 7.0)])
    np.testing.assert_allclose(with_constant.transform(Y)[:, :4], without.transform(X), atol=1e-12)
    assert not with_constant.is_constant
    rounded = np.nextafter(0.1, np.where(np.arange(10).reshape(5, 2) == 3, 1, 0.1))
    assert not (rounded == rounded[0]).all()
    (constant,) = choose_geometries(rounded, np.random.default_rng(0))
    assert constant.is_constant


@pytest.mark.parametrize("n_columns", [6, 300])
def test_sparse_rows_are_compared_by_direction(n_columns):
    rng = np.random.default_rng(0)
    X = make_rows(40, n_columns)
    X[:, rng.random(n_columns) < 0.3] = 0
    (geometry,) = choose_geometries(as_rows(sp.csr_array(X)), rng)
    unit = X / np.linalg.norm(X, axis=1, keepdims=True)
    if n_columns > count_components(40):
        unit = unit @ np.linalg.svd(unit)[2][: count_components(40)].T
        unit /= np.linalg.norm(unit, axis=1, keepdims=True)
    points = geometry.transform(as_rows(sp.csr_array(X)))
    np.testing.assert_allclose(points @ points.T, unit @ unit.T, atol=1e-6)
    for scaled in (1e-120 * X, X * rng.random((40, 1)) * 1e6, 2.0**40 * X):
        np.testing.assert_allclose(geometry.transform(as_rows(sp.csr_array(scaled))), points, atol=1e-10)
    np.testing.assert_allclose(geometry.transform(X), points, atol=1e-12)


def test_unit_sparse_rows():
    X = np.array([[3.0, 4, 0], [0, 0, 0], [0, 1e-200, 0], [1e200, 0, -1e200], [0, 0, 0]])
    expected = [[0.6, 0.8, 0], [0, 0, 0], [0, 1, 0], [0.5**0.5, 0, -(0.5**0.5)], [0, 0, 0]]
    np.testing.assert_allclose(scale_to_unit(sp.csr_array(X)).toarray(), expected)
    explicit = sp.csr_array(X)
    explicit.data[:2] = 0
    assert not scale_to_unit(explicit).toarray()[0].any()
    assert scale_to_unit(sp.csr_array((3, 4))).nnz == 0


@pytest.mark.parametrize("rows", [1, 3])
def test_fewer_sparse_rows_than_components(rows):
    X = CSR.from_scipy(sp.csr_array(np.eye(3, 50)[:rows]))
    (geometry,) = choose_geometries(X, np.random.default_rng(0))
    points = geometry.transform(X)
    np.testing.assert_allclose(points @ points.T, np.eye(rows), atol=1e-8)


@pytest.mark.parametrize("sparse", [False, True])
def test_similarities_become_kernel_components(sparse):
    X = make_rows(60, 5)
    S = np.exp(-np.square(X[:, None] - X).sum(axis=2) / 20)
    geometry = SimilarityGeometry.fit(as_rows(sp.csr_array(S) if sparse else S), np.random.default_rng(0))
    values, vectors = np.linalg.eigh(S)
    number = count_components(60)
    expected = vectors[:, -number:] * np.sqrt(values[-number:])
    expected /= np.linalg.norm(expected, axis=1, keepdims=True)
    points = geometry.transform(S)
    np.testing.assert_allclose(points @ points.T, expected @ expected.T, atol=1e-4)
    np.testing.assert_allclose(np.mean(np.sum(points**2, axis=1)), 1)


def test_geometries_of_array_libraries(to_kind):
    X = make_rows(50, 80)
    for geometry, reference in zip(
        choose_geometries(to_kind(X), np.random.default_rng(0)),
        choose_geometries(X, np.random.default_rng(0)),
        strict=True,
    ):
        points, expected = np.asarray(geometry.transform(to_kind(X))), reference.transform(X)
        np.testing.assert_allclose(points @ points.T, expected @ expected.T, atol=1e-8)
        np.testing.assert_allclose(np.asarray(reference.transform(to_kind(X))), expected, atol=1e-10)


def test_similarities_with_many_equal_eigenvalues():
    """Links of a sample fall into many small parts, for which ARPACK fails unless its subspace is enlarged."""
    links = sp.csr_array(cs.datasets.load_word_senses().views["links"]).astype(float)
    rows = np.sort(np.random.default_rng(3).choice(links.shape[0], 1100, replace=False))
    similarities = sp.csr_array(links[rows][:, rows] + sp.eye_array(1100))
    geometry = SimilarityGeometry.fit(as_rows(similarities), np.random.default_rng(0))
    values = np.linalg.eigvalsh(similarities.toarray())[-200:]
    # The columns of `into` are eigenvectors over the roots of their values.
    np.testing.assert_allclose(np.sort(1 / np.sum(geometry.into**2, axis=0)), values, rtol=1e-6)
