"""Multi-view clustering: find the groups in data that is described in several ways at once."""

from . import affinities, baselines, datasets, divergences, families, metrics
from .algorithms.kernel_kmeans import kernel_kmeans
from .algorithms.proportions import mixture_proportions
from .baselines import compare
from .cluster import (
    CoEM,
    ConvexMixture,
    CoTrainedSpectral,
    MPCKMeans,
    MultiViewAgglomerative,
    MultiViewConstrainedKMeans,
    MultiViewKMeans,
    MultiViewSphericalKMeans,
    PCKMeans,
    PerView,
    SpectralFeatures,
    select_n_clusters,
    suggest_constraints,
)
from .data import Constraints, Table, Views, align

__version__ = "0.1.0"

__all__ = [
    "CoEM",
    "CoTrainedSpectral",
    "Constraints",
    "ConvexMixture",
    "MPCKMeans",
    "MultiViewAgglomerative",
    "MultiViewConstrainedKMeans",
    "MultiViewKMeans",
    "MultiViewSphericalKMeans",
    "PCKMeans",
    "PerView",
    "SpectralFeatures",
    "Table",
    "Views",
    "affinities",
    "align",
    "baselines",
    "compare",
    "datasets",
    "divergences",
    "families",
    "kernel_kmeans",
    "metrics",
    "mixture_proportions",
    "select_n_clusters",
    "suggest_constraints",
]
