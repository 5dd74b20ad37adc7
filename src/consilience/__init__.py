"""Multi-view clustering: find the groups in data that is described in several ways at once.

Public names are imported when they are first used, so that the command line can handle Ctrl-C and print its help
before numpy, scipy and scikit-learn are loaded. Type checkers need the imports and a literal ``__all__``, and Python
the table of names by module; tests/test_imports.py checks that they agree.
"""

from ._lazy import import_on_first_use
from ._version import __version__

TYPE_CHECKING = False  # type checkers take this name for true; importing it from typing would delay the command line
if TYPE_CHECKING:
    from . import affinities, baselines, datasets, divergences, explain, families, metrics, plot
    from .assessment import Assessment, assess
    from .baselines import compare
    from .data import Constraints, Table, Views, align, open_sparse
    from .methods import (
        CoEM,
        Consilience,
        ConvexMixture,
        COPKMeans,
        CoTrainedSpectral,
        InfeasibleConstraintsError,
        MPCKMeans,
        MultiViewAgglomerative,
        MultiViewConstrainedKMeans,
        MultiViewKMeans,
        MultiViewSphericalKMeans,
        PCKMeans,
        PerView,
        SpectralFeatures,
        refine,
        select_views,
        suggest_constraints,
    )
    from .methods.convex.kernel_kmeans import kernel_kmeans
    from .methods.convex.proportions import mixture_proportions
    from .persist import load, save
    from .pipeline.cluster import cluster
    from .pipeline.result import Result, load_run
    from .report import Report
    from .selection import select_n_clusters
else:
    _SUBPACKAGES = (
        "affinities",
        "assessment",
        "baselines",
        "data",
        "datasets",
        "divergences",
        "explain",
        "families",
        "files",
        "methods",
        "metrics",
        "persist",
        "pipeline",
        "plot",
        "report",
        "selection",
    )
    _NAMES_BY_MODULE = {
        "methods.convex.kernel_kmeans": ("kernel_kmeans",),
        "methods.convex.proportions": ("mixture_proportions",),
        "assessment": ("Assessment", "assess"),
        "baselines": ("compare",),
        "methods": (
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
        ),
        "data": ("Constraints", "Table", "Views", "align", "open_sparse"),
        "persist": ("load", "save"),
        "pipeline.cluster": ("cluster",),
        "pipeline.result": ("Result", "load_run"),
        "report": ("Report",),
        "selection": ("select_n_clusters",),
    }
    __getattr__, __dir__ = import_on_first_use(__name__, _NAMES_BY_MODULE, _SUBPACKAGES)


__all__ = [
    "Assessment",
    "COPKMeans",
    "CoEM",
    "CoTrainedSpectral",
    "Consilience",
    "Constraints",
    "ConvexMixture",
    "InfeasibleConstraintsError",
    "MPCKMeans",
    "MultiViewAgglomerative",
    "MultiViewConstrainedKMeans",
    "MultiViewKMeans",
    "MultiViewSphericalKMeans",
    "PCKMeans",
    "PerView",
    "Report",
    "Result",
    "SpectralFeatures",
    "Table",
    "Views",
    "__version__",
    "affinities",
    "align",
    "assess",
    "baselines",
    "cluster",
    "compare",
    "datasets",
    "divergences",
    "explain",
    "families",
    "kernel_kmeans",
    "load",
    "load_run",
    "metrics",
    "mixture_proportions",
    "open_sparse",
    "plot",
    "refine",
    "save",
    "select_n_clusters",
    "select_views",
    "suggest_constraints",
]
