"""From each kind of content to numbers, and the same way for new entities. One kind a file."""

from .categories import CategoriesEncoder
from .counts import CountsEncoder
from .links import LinksEncoder
from .numbers import NumbersEncoder
from .similarities import SimilaritiesEncoder
from .text import TextEncoder
from .weighting import TermWeighting

__all__ = [
    "CategoriesEncoder",
    "CountsEncoder",
    "LinksEncoder",
    "NumbersEncoder",
    "SimilaritiesEncoder",
    "TermWeighting",
    "TextEncoder",
]
