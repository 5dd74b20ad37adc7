"""The estimators, one a file."""

from .agglomerative import MultiViewAgglomerative
from .coem import CoEM
from .consilience import Consilience, refine
from .constrained import MultiViewConstrainedKMeans
from .convex import ConvexMixture
from .kmeans import MultiViewKMeans
from .mpckmeans import MPCKMeans
from .pckmeans import PCKMeans
from .per_view import PerView
from .spectral import CoTrainedSpectral
from .spectral_features import SpectralFeatures
from .spherical_kmeans import MultiViewSphericalKMeans
from .suggest import suggest_constraints

__all__ = [
    "CoEM",
    "CoTrainedSpectral",
    "Consilience",
    "ConvexMixture",
    "MPCKMeans",
    "MultiViewAgglomerative",
    "MultiViewConstrainedKMeans",
    "MultiViewKMeans",
    "MultiViewSphericalKMeans",
    "PCKMeans",
    "PerView",
    "SpectralFeatures",
    "refine",
    "suggest_constraints",
]
