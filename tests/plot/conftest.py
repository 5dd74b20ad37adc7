"""Restore the state of matplotlib after every test."""

import matplotlib as mpl
import pytest

mpl.use("Agg")

import matplotlib.pyplot as plt
import numpy as np

import consilience as cs
from consilience.explain import OriginalColumn


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


@pytest.fixture(scope="session")
def assessment(views, kmeans):
    return cs.assess(kmeans, views)


@pytest.fixture(scope="session")
def columns(kmeans):
    """Columns of all kinds in which the clusters differ."""
    rng, labels = np.random.default_rng(0), kmeans.labels_
    n, stages = len(labels), np.array(["I", "II", "III", None], dtype=object)
    words = [" ".join(rng.choice(["ache", "cough", ("rash", "fever", "pain")[c]], 4)) for c in labels]
    return {
        column.name: column
        for column in (
            OriginalColumn(
                "age", np.where(rng.random(n) < 0.1, np.nan, 40 + 10 * labels + rng.normal(size=n)), "number"
            ),
            OriginalColumn("stage", stages[np.minimum(labels + rng.integers(0, 2, n), 3)], "category", "", True),
            OriginalColumn("seen", 18_000 + 100.0 * labels + rng.integers(0, 90, n), "date", "", True),
            OriginalColumn("notes", np.array(words, dtype=object), "text"),
            OriginalColumn("months", rng.exponential(10.0 + 20 * labels), "number", "", True, rng.random(n) < 0.7),
        )
    }
