"""Data to try things on: what ships, and what is made."""

from .digits import Dataset, load_digits_views
from .quadrants import make_four_quadrants
from .synthetic import make_corrupted_views, make_gaussian_views, make_overlapping_views, make_text_views

__all__ = [
    "Dataset",
    "load_digits_views",
    "make_corrupted_views",
    "make_four_quadrants",
    "make_gaussian_views",
    "make_overlapping_views",
    "make_text_views",
]
