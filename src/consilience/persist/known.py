"""What a file may name: nothing else is ever made, called or imported because a file says so.

The names are part of the format. Whoever renames a class gives the old name here, so that old files load.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .. import affinities, baselines, divergences, families, files
from .. import methods as cluster
from ..affinities.chi_squared import ExponentialChi
from ..affinities.cosine import unit_rows
from ..affinities.gaussian import Bell, LocalBell, SquaredDistances
from ..affinities.graph import Graph
from ..affinities.histogram_intersection import Intersection
from ..affinities.landmarks import nearest_landmarks
from ..affinities.linear import Product
from ..affinities.low_rank import LowRank
from ..affinities.nearest_neighbors import join
from ..affinities.polynomial import Power
from ..affinities.precomputed import given
from ..affinities.space import Space
from ..arrays import CSR, KernelMatrix, Points
from ..assessment import Alternative, Assessment
from ..baselines._canonical import Canonical, Kernel, Linear
from ..baselines._co_regularization import Normalised, Vectors
from ..baselines._joint import Joint
from ..baselines._side_by_side import Filler
from ..baselines.cca import KernelAnalysis, LinearAnalysis
from ..baselines.co_regularized import Placed
from ..baselines.kernel_addition import Sum
from ..baselines.kernel_product import CrossProduct
from ..baselines.minimum_disagreement import Connected, Separate
from ..data import Constraints, Views
from ..data.links import Links
from ..divergences.bernoulli import LogisticLoss
from ..divergences.cosine import Angles
from ..divergences.itakura_saito import Ratios
from ..divergences.kernel import InnerProducts
from ..divergences.kullback_leibler import RelativeEntropy
from ..divergences.mahalanobis import Whitened
from ..divergences.precomputed import Given
from ..divergences.squared_euclidean import EuclideanMeasure
from ..methods.agreement import (
    ComponentRule,
    Geometry,
    GraphRule,
    NeighborGraph,
    NeighborRule,
    SimilarityGeometry,
    SpaceModel,
    ViewModel,
)
from ..methods.common.cluster_means import ClusterMeans
from ..methods.constrained.cluster_metrics import Diagonal, Full, Identity
from ..methods.constrained.multiview import Fitted
from ..methods.convex.exemplars import Exemplars, ViewExemplars, mean_posterior, weighted_posterior
from ..methods.convex.inputs import Known
from ..methods.convex.kernel_kmeans import Means
from ..methods.convex.refined import Refined, ViewMeans
from ..methods.spectral.algorithm import First, Projected
from ..methods.spectral.base import Centres
from ..methods.spectral.ending import Rotation
from ..methods.spectral.estimator import CoTrained
from ..methods.spectral.missing import Similarities
from ..selection import Selection


def _named(package: str, *known: Any) -> dict[str, Any]:
    return {f"{package}.{own.__qualname__}": own for own in known}


#: Classes whose instances are saved as their attributes, by the name they have in files.
KNOWN: dict[str, type] = {
    **_named("data", Views, Constraints, Links),
    **_named("cluster", cluster.CoEM, cluster.MultiViewKMeans, cluster.MultiViewSphericalKMeans),
    **_named("cluster", cluster.MultiViewAgglomerative, cluster.ConvexMixture, cluster.CoTrainedSpectral),
    **_named("cluster", cluster.PCKMeans, cluster.MPCKMeans, cluster.MultiViewConstrainedKMeans),
    **_named("cluster", cluster.SpectralFeatures, cluster.PerView, Selection),
    **_named("cluster", cluster.Consilience),
    **_named("cluster", Centres, ClusterMeans, CoTrained, Fitted, Known),
    **_named("assessment", Assessment, Alternative),
    **_named("baselines", baselines.KernelAddition, baselines.KernelProduct, baselines.CCASpectral),
    **_named("baselines", baselines.MinimumDisagreement, baselines.CoRegularizedSpectral),
    **_named("baselines", baselines.ConcatenatedViews, baselines.MergedViews, baselines.SingleView),
    **_named("baselines", Joint, Filler, LinearAnalysis, KernelAnalysis, Linear, Kernel, Canonical),
    **_named("baselines", Separate, Connected, Placed, Normalised, Vectors),
    **_named("families", *families.FAMILIES.values()),
    **_named("divergences", *divergences.DIVERGENCES.values()),
    **_named("divergences", EuclideanMeasure, Angles, RelativeEntropy, LogisticLoss, Ratios, Whitened),
    **_named("divergences", Given, InnerProducts),
    **_named("affinities", affinities.Auto, affinities.Gaussian, affinities.NearestNeighbors, affinities.Landmarks),
    **_named("affinities", affinities.Nystroem, affinities.Cosine, affinities.Linear, affinities.Polynomial),
    **_named("affinities", affinities.ChiSquared, affinities.HistogramIntersection, affinities.Precomputed),
    **_named("affinities", Bell, LocalBell, SquaredDistances, Power, Product, ExponentialChi, Intersection),
    **_named("affinities", Graph, LowRank, Space),
    **_named("algorithms", Identity, Diagonal, Full, Rotation, Exemplars, ViewExemplars, Refined, ViewMeans, Means),
    **_named("algorithms", First, Projected, Similarities),
    **_named("algorithms", Geometry, SimilarityGeometry, NeighborGraph, SpaceModel, ViewModel),
    **_named("algorithms", ComponentRule, GraphRule, NeighborRule),
    **_named("backend", CSR, KernelMatrix, Points),
    **_named("files", files.NumbersEncoder, files.CountsEncoder, files.TextEncoder, files.CategoriesEncoder),
    **_named("files", files.LinksEncoder, files.SimilaritiesEncoder, files.Weighting, files.Part),
}

#: Functions that fitted models hold on to (a class here is one that is called), and methods of the classes above.
CALLED: dict[str, Callable[..., Any]] = {
    **_named("affinities", join, nearest_landmarks, given, unit_rows),
    **_named("algorithms", weighted_posterior, mean_posterior),
    **_named("baselines", Sum, CrossProduct),
    **_named("backend", KernelMatrix.against),
}
