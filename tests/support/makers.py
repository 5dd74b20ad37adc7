"""Every baseline, made ready for data with so many clusters: a new one is picked up by one line here."""

from sklearn.cluster import KMeans

import consilience as cs
from consilience.baselines import (
    CCASpectral,
    ConcatenatedViews,
    CoRegularizedSpectral,
    KernelAddition,
    KernelProduct,
    MergedViews,
    MinimumDisagreement,
    SingleView,
)


def concatenated(k, **options):
    return ConcatenatedViews(KMeans(k, n_init=3, random_state=0), **options)


def merged(k, **options):
    return MergedViews(cs.MultiViewKMeans(k, n_init=3, random_state=0), {}, **options)


def single(k, **options):
    return SingleView(KMeans(k, n_init=3, random_state=0), **options)


def addition(k, **options):
    return KernelAddition(k, **{"random_state": 0, "affinity": "gaussian", "n_init": 3, **options})


def product(k, **options):
    return KernelProduct(k, **{"random_state": 0, "n_init": 3, **options})


def disagreement(k, **options):
    return MinimumDisagreement(k, **{"random_state": 0, "affinity": "gaussian", "n_init": 3, **options})


def pairwise(k, **options):
    return CoRegularizedSpectral(k, **{"random_state": 0, "affinity": "gaussian", "n_init": 3, **options})


def centroid(k, **options):
    return pairwise(k, kind="centroid", **options)


def linear_cca(k, **options):
    return CCASpectral(k, **{"random_state": 0, "n_init": 3, **options})


def kernel_cca(k, **options):
    return linear_cca(k, kind="kernel", **options)


SPECTRAL = [addition, product, disagreement, pairwise, centroid, linear_cca, kernel_cca]
WRAPPERS = [concatenated, merged, single]
ALL = WRAPPERS + SPECTRAL
