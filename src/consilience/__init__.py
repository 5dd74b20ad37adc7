"""Multi-view clustering: find the groups in data that is described in several ways at once."""

from . import affinities, baselines, datasets, divergences, explain, families, metrics, plot
from ._version import __version__
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
from .data import Constraints, Table, Views, align, open_sparse
from .persist import load, save
from .report import Report

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
    "Report",
    "SpectralFeatures",
    "Table",
    "Views",
    "__version__",
    "affinities",
    "align",
    "baselines",
    "compare",
    "datasets",
    "divergences",
    "explain",
    "families",
    "kernel_kmeans",
    "load",
    "metrics",
    "mixture_proportions",
    "open_sparse",
    "plot",
    "save",
    "select_n_clusters",
    "suggest_constraints",
]
