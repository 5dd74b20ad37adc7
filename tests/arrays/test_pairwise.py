"""A function of two rows as a matrix: on every kind of array, held and not, in blocks and whole."""

import numpy as np
import pytest
from array_api_compat import device
from scipy.spatial.distance import cdist

from consilience.arrays import KernelMatrix, fits_in_memory, namespace, to_numpy
from consilience.divergences import Likelihood, SquaredEuclidean
from transfers import count_transfers, put_on_device


def matrix_of(X, held=True, shift=0.0):
    measure = SquaredEuclidean().learn(X)
    points = measure.points(X)
    return KernelMatrix(Likelihood(measure, 0.5), points, points.slice_rows(slice(0, 40)), held, shift)


def rows():
    return np.random.default_rng(0).standard_normal((70, 3))


@pytest.fixture(params=[1 << 27, 40 * 20])
def _blocks(request, monkeypatch):
    monkeypatch.setattr("consilience.arrays.parallel.DEVICE_BLOCK", request.param)
    monkeypatch.setattr("consilience.arrays.pairwise.TILE", min(request.param, 1 << 20))


@pytest.mark.usefixtures("_blocks")
@pytest.mark.parametrize("held", [True, False])
@pytest.mark.parametrize("shift", [0.0, 0.25])
def test_products_are_of_the_kind_of_the_rows(to_kind, held, shift):
    X, U = rows(), np.random.default_rng(1).standard_normal((70, 2))
    K = np.exp(-0.5 * cdist(X, X[:40], "sqeuclidean")) - shift
    found = matrix_of(to_kind(X), held, shift)
    chosen = np.array([3, 0, 39])
    for kind in (to_kind, np.asarray):  # what numpy holds goes where the rows are
        pairs = (
            (found @ kind(U[:40]), K @ U[:40]),
            (found.T @ kind(U), K.T @ U),
            (found.columns(kind(chosen)), K[:, chosen]),
        )
        for own, expected in pairs:
            assert namespace(own) is namespace(to_kind(X))
            np.testing.assert_allclose(to_numpy(own), expected, atol=1e-12)
    assert found.norm() == pytest.approx(np.linalg.norm(K))
    assert found.least() == pytest.approx(K.min())


@pytest.mark.usefixtures("_blocks")
@pytest.mark.parametrize("held", [True, False])
def test_a_device_keeps_products_and_gives_one_number(held):
    X, U = put_on_device(rows()), np.random.default_rng(1).standard_normal((70, 2))
    found = matrix_of(X, held)
    with count_transfers() as fetched:
        products = found @ U[:40], found.T @ put_on_device(U), found.columns(np.arange(3))
    assert [device(own) for own in products] == [device(X)] * 3
    assert (fetched.arrays, fetched.numbers) == ([], 0)
    with count_transfers() as fetched:
        found.norm()
        found.least()
    assert fetched.numbers + len(fetched.arrays) == 2  # at once, however many blocks there are
    assert sum(map(np.prod, fetched.arrays), 0) <= 2 * len(found.blocks)


def test_a_table_on_a_device_is_held_as_far_as_its_memory_goes(monkeypatch):
    X = put_on_device(rows())
    assert fits_in_memory(1 << 30, X)
    assert not fits_in_memory((1 << 30) + 1, X)  # nothing is known of the memory
    monkeypatch.setattr("consilience.arrays.pairwise.available_device_memory", lambda _: 100 << 30)
    assert fits_in_memory(80 << 30, X)
    assert not fits_in_memory(81 << 30, X)
