"""How many clusters the data supports, and which encoding of it is best, judged without labels."""

from .representations import RepresentationChoice, compare_representations
from .select import select_n_clusters
from .selection import Selection

__all__ = ["RepresentationChoice", "Selection", "compare_representations", "select_n_clusters"]
