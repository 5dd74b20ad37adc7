"""Encoders from the content of a view to numbers, one per kind; new entities are encoded in the same way."""

from .categories import CategoriesEncoder
from .counts import CountsEncoder, TermWeighting
from .links import LinksEncoder
from .numbers import NumbersEncoder
from .similarities import SimilaritiesEncoder
from .text import TextEncoder

__all__ = [
    "CategoriesEncoder",
    "CountsEncoder",
    "LinksEncoder",
    "NumbersEncoder",
    "SimilaritiesEncoder",
    "TermWeighting",
    "TextEncoder",
]
