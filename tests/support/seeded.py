"""Estimators that take known classes and batches, and views of four clusters for them."""

import pytest

import consilience as cs
from consilience.datasets import make_gaussian_views

N_CLUSTERS = 4


def co_em(**options):
    return cs.CoEM(
        **{"n_clusters": N_CLUSTERS, "eta": 0.25, "families": "gaussian", "n_init": 2, "random_state": 0, **options}
    )


def kmeans(**options):
    return cs.MultiViewKMeans(**{"n_clusters": N_CLUSTERS, "n_init": 2, "random_state": 0, **options})


def spherical(**options):
    return cs.MultiViewSphericalKMeans(**{"n_clusters": N_CLUSTERS, "n_init": 2, "random_state": 0, **options})


SEEDED = [co_em, kmeans, spherical]
every_seeded = pytest.mark.parametrize("make", SEEDED)


def make_blobs(missing=0.0, n=200, separation=3, seed=0):
    return make_gaussian_views(
        n, n_clusters=N_CLUSTERS, n_features=(4, 6, 3), separation=separation, missing=missing, random_state=seed
    )
