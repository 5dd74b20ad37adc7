"""How similar two entities are in one view, as operators that multiply thin matrices."""

from ..arrays import KernelRows
from .base import Affinity, CrossOperator, NoAffinityError, Operator, ViewOperator
from .choose import AFFINITIES, EXACT_UP_TO, Auto, make_affinity
from .gaussian import Gaussian
from .graph import NearestNeighbors, Precomputed
from .kernels import ChiSquared, Cosine, HistogramIntersection, KernelAffinity, Linear, Polynomial
from .landmarks import Landmarks, Nystroem

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
    "make_affinity",
]
