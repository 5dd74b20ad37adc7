"""The estimators, one folder per method. Each is imported when it is first used, because no fit needs all of them."""

from .._lazy import import_on_first_use

TYPE_CHECKING = False  # type checkers take this name for true
if TYPE_CHECKING:
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
else:
    _NAMES_BY_MODULE = {
        "agglomerative.estimator": ("MultiViewAgglomerative",),
        "agreement.estimator": ("Consilience", "refine"),
        "coem.estimator": ("CoEM",),
        "common.per_view": ("PerView",),
        "constrained.cop": ("COPKMeans",),
        "constrained.mpck": ("MPCKMeans",),
        "constrained.multiview": ("MultiViewConstrainedKMeans",),
        "constrained.pairwise": ("InfeasibleConstraintsError",),
        "constrained.pck": ("PCKMeans",),
        "constrained.suggest": ("suggest_constraints",),
        "convex.estimator": ("ConvexMixture",),
        "convex.select": ("select_views",),
        "kmeans.estimator": ("MultiViewKMeans", "MultiViewSphericalKMeans"),
        "spectral.estimator": ("CoTrainedSpectral",),
        "spectral.features": ("SpectralFeatures",),
    }
    __getattr__, __dir__ = import_on_first_use(__name__, _NAMES_BY_MODULE)

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
