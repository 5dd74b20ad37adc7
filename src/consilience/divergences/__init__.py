"""Dissimilarities of rows and centres, one a file."""

from .base import Divergence, Rows
from .cosine import Cosine
from .squared_euclidean import SquaredEuclidean

__all__ = ["Cosine", "Divergence", "Rows", "SquaredEuclidean"]
