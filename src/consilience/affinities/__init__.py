"""How alike two entities are in one view, as operators that multiply thin matrices, one a file."""

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
    single_component,
)
from .chi_squared import ChiSquared
from .choose import AFFINITIES, EXACT_UP_TO, Auto
from .cosine import Cosine
from .gaussian import Gaussian
from .histogram_intersection import HistogramIntersection
from .kernel import KernelAffinity
from .landmarks import Landmarks
from .linear import Linear
from .nearest_neighbors import NearestNeighbors
from .nystroem import Nystroem
from .polynomial import Polynomial
from .precomputed import Precomputed

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
    "single_component",
]
