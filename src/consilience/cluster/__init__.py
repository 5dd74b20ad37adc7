"""The estimators, one a file."""

from .kmeans import MultiViewKMeans
from .spherical_kmeans import MultiViewSphericalKMeans

__all__ = ["MultiViewKMeans", "MultiViewSphericalKMeans"]
