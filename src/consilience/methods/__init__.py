"""The estimators, one folder per method."""

from .agglomerative.estimator import MultiViewAgglomerative
from .agreement.estimator import Consilience, refine
from .coem.estimator import CoEM
from .common.per_view import PerView
from .constrained.cop import COPKMeans
from .constrained.mpck import MPCKMeans
from .constrained.multiview import MultiViewConstrainedKMeans
from .constrained.pairwise import InfeasibleConstraintsError
from .constrained.pck import PCKMeans
from .constrained.suggest import suggest_constraints
from .convex.estimator import ConvexMixture
from .convex.select import select_views
from .kmeans.estimator import MultiViewKMeans, MultiViewSphericalKMeans
from .spectral.estimator import CoTrainedSpectral
from .spectral.features import SpectralFeatures

__all__ = [
    "COPKMeans",
    "CoEM",
    "CoTrainedSpectral",
    "Consilience",
    "ConvexMixture",
    "InfeasibleConstraintsError",
    "MPCKMeans",
    "MultiViewAgglomerative",
    "MultiViewConstrainedKMeans",
    "MultiViewKMeans",
    "MultiViewSphericalKMeans",
    "PCKMeans",
    "PerView",
    "SpectralFeatures",
    "refine",
    "select_views",
    "suggest_constraints",
]
