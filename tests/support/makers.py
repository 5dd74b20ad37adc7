"""Functions that make each baseline for k clusters: add a new baseline to `ALL`, and the tests use it."""

from sklearn.cluster import KMeans

import consilience as cs
from consilience.baselines import (
    CCAKMeans,
    CCASpectral,
    ConcatenatedViews,
    CoRegularizedSpectral,
    KernelAddition,
    KernelProduct,
    MergedViews,
    MinimumDisagreement,
    SingleView,
)


def make_concatenated(k, **options):
    return ConcatenatedViews(KMeans(k, n_init=3, random_state=0), **options)


def make_merged(k, **options):
    return MergedViews(cs.MultiViewKMeans(k, n_init=3, random_state=0), {}, **options)


def make_single(k, **options):
    return SingleView(KMeans(k, n_init=3, random_state=0), **options)


def make_addition(k, **options):
    return KernelAddition(k, **{"random_state": 0, "affinity": "gaussian", "n_init": 3, **options})


def make_product(k, **options):
    return KernelProduct(k, **{"random_state": 0, "n_init": 3, **options})


def make_disagreement(k, **options):
    return MinimumDisagreement(k, **{"random_state": 0, "affinity": "gaussian", "n_init": 3, **options})


def make_mean_disagreement(k, **options):
    return make_disagreement(k, embedding="mean", **options)


def make_pairwise(k, **options):
    return CoRegularizedSpectral(k, **{"random_state": 0, "affinity": "gaussian", "n_init": 3, **options})


def make_centroid(k, **options):
    return make_pairwise(k, kind="centroid", **options)


def make_linear_cca(k, **options):
    return CCASpectral(k, **{"random_state": 0, "n_init": 3, **options})


def make_kernel_cca(k, **options):
    return make_linear_cca(k, kind="kernel", **options)


def make_cca_kmeans(k, **options):
    return CCAKMeans(k, **{"random_state": 0, "n_init": 3, **options})


SPECTRAL = [
    make_addition,
    make_product,
    make_disagreement,
    make_mean_disagreement,
    make_pairwise,
    make_centroid,
    make_linear_cca,
    make_kernel_cca,
]
KMEANS = [make_cca_kmeans]
WRAPPERS = [make_concatenated, make_merged, make_single]
ALL = WRAPPERS + SPECTRAL + KMEANS
