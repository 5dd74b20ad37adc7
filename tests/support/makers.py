"""Functions that make each baseline for k clusters: add a new baseline to `ALL`, and the tests use it."""

from functools import partial

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

FEW = {"n_init": 3, "random_state": 0}


def make_concatenated(k, **options):
    return ConcatenatedViews(KMeans(k, **FEW), **options)


def make_merged(k, **options):
    return MergedViews(cs.MultiViewKMeans(k, **FEW), {}, **options)


def make_single(k, **options):
    return SingleView(KMeans(k, **FEW), **options)


make_addition = partial(KernelAddition, affinity="gaussian", **FEW)
make_disagreement = partial(MinimumDisagreement, affinity="gaussian", **FEW)
make_pairwise = partial(CoRegularizedSpectral, affinity="gaussian", **FEW)
make_centroid = partial(make_pairwise, kind="centroid")
make_linear_cca = partial(CCASpectral, **FEW)
SPECTRAL = [
    make_addition,
    partial(KernelProduct, **FEW),
    make_disagreement,
    partial(make_disagreement, embedding="mean"),
    make_pairwise,
    make_centroid,
    make_linear_cca,
    partial(make_linear_cca, kind="kernel"),
]
KMEANS = [partial(CCAKMeans, **FEW)]
WRAPPERS = [make_concatenated, make_merged, make_single]
ALL = WRAPPERS + SPECTRAL + KMEANS
