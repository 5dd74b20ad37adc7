"""How alike two entities are in one view, as operators that multiply thin matrices, one a file."""

from .._backend import Points
from .base import Affinity, Cross, NoAffinityError, Operator, ViewOperator, chosen_columns, degrees, one_part
from .chi_squared import ChiSquared
from .choose import AFFINITIES, Auto
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
    "Affinity",
    "Auto",
    "ChiSquared",
    "Cosine",
    "Cross",
    "Gaussian",
    "HistogramIntersection",
    "KernelAffinity",
    "Landmarks",
    "Linear",
    "NearestNeighbors",
    "NoAffinityError",
    "Nystroem",
    "Operator",
    "Points",
    "Polynomial",
    "Precomputed",
    "ViewOperator",
    "chosen_columns",
    "degrees",
    "one_part",
]
