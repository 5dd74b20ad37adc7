"""Multi-view clustering: find the groups in data that is described in several ways at once."""

from . import affinities, baselines, datasets, families, metrics
from .baselines import compare
from .cluster import (
    CoEM,
    CoTrainedSpectral,
    MultiViewAgglomerative,
    MultiViewKMeans,
    MultiViewSphericalKMeans,
    PerView,
    select_n_clusters,
)
from .data import Table, Views, align

__version__ = "0.1.0"

__all__ = [
    "CoEM",
    "CoTrainedSpectral",
    "MultiViewAgglomerative",
    "MultiViewKMeans",
    "MultiViewSphericalKMeans",
    "PerView",
    "Table",
    "Views",
    "affinities",
    "align",
    "baselines",
    "compare",
    "datasets",
    "families",
    "metrics",
    "select_n_clusters",
]
