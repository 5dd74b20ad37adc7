"""How similar two entities are in one view, as operators that multiply thin matrices."""

from ..arrays import KernelRows
from .base import (
    Affinity,
    CrossOperator,
    HostOperator,
    NoAffinityError,
    Operator,
    ViewOperator,
    cast_to,
    compute_degrees,
    extract_columns,
    find_components,
)
from .choose import AFFINITIES, EXACT_UP_TO, Auto, make_affinity
from .dot_product import Cosine, Linear, Polynomial
from .gaussian import Gaussian
from .graph import Precomputed
from .histograms import ChiSquared, HistogramIntersection
from .kernel import KernelAffinity
from .landmarks import Landmarks
from .nearest_neighbors import NearestNeighbors
from .nystroem import Nystroem

__all__ = [
    "AFFINITIES",
    "EXACT_UP_TO",
    "Affinity",
    "Auto",
    "ChiSquared",
    "Cosine",
    "CrossOperator",
    "Gaussian",
    "HistogramIntersection",
    "HostOperator",
    "KernelAffinity",
    "KernelRows",
    "Landmarks",
    "Linear",
    "NearestNeighbors",
    "NoAffinityError",
    "Nystroem",
    "Operator",
    "Polynomial",
    "Precomputed",
    "ViewOperator",
    "cast_to",
    "compute_degrees",
    "extract_columns",
    "find_components",
    "make_affinity",
]
