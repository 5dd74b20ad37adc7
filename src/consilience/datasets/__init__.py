"""Data to try things on: what ships, and what is made."""

from .dataset import Dataset
from .digits import load_digits_views
from .quadrants import make_four_quadrants
from .synthetic import make_corrupted_views, make_gaussian_views, make_overlapping_views, make_text_views
from .word_senses import WordSenses, load_word_senses, read_word_senses

__all__ = [
    "Dataset",
    "WordSenses",
    "load_digits_views",
    "load_word_senses",
    "make_corrupted_views",
    "make_four_quadrants",
    "make_gaussian_views",
    "make_overlapping_views",
    "make_text_views",
    "read_word_senses",
]
