"""Restore the state of matplotlib after every test."""

import matplotlib as mpl
import pytest

mpl.use("Agg")

import matplotlib.pyplot as plt

import consilience as cs


@pytest.fixture(autouse=True)
def nothing_global_changes():
    plt.close("all")
    before = dict(mpl.rcParams)
    yield
    plt.close("all")
    assert dict(mpl.rcParams) == before


@pytest.fixture(scope="session")
def views():
    return cs.datasets.make_gaussian_views(120, n_features=(4, 3, 2), missing=0.2, random_state=0)[0]


@pytest.fixture(scope="session")
def kmeans(views):
    return cs.MultiViewKMeans(3, n_init=2, random_state=0).fit(views)


@pytest.fixture(scope="session")
def tree(views):
    return cs.MultiViewAgglomerative(4, metric="euclidean").fit(views)


@pytest.fixture(scope="session")
def spectral(views):
    return cs.CoTrainedSpectral(3, random_state=0).fit(views)


@pytest.fixture(scope="session")
def mixture(views):
    return cs.ConvexMixture(3).fit(views)


@pytest.fixture(scope="session")
def constraints():
    return cs.Constraints.sample(cs.datasets.make_gaussian_views(120, n_features=(4, 3, 2), random_state=0)[1], 30, 0)


@pytest.fixture(scope="session")
def constrained(views, constraints):
    return cs.MultiViewConstrainedKMeans(3, threshold=0.9, random_state=0).fit(views, constraints=constraints)


@pytest.fixture(scope="session")
def selection(views):
    return cs.select_n_clusters(cs.MultiViewKMeans(n_init=1), views, range(1, 5), n_splits=1)
