"""The estimators, one a file."""

from .kmeans import MultiViewKMeans
from .per_view import PerView
from .spherical_kmeans import MultiViewSphericalKMeans

__all__ = ["MultiViewKMeans", "MultiViewSphericalKMeans", "PerView"]
