"""How many clusters the data supports, judged without labels."""

from .select import select_n_clusters
from .selection import Selection

__all__ = ["Selection", "select_n_clusters"]
