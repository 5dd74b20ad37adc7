"""The data: views of the same entities, what is known of pairs of them, and the small table results come in."""

from ..rows import open_sparse, read_whole
from .align import align
from .blocks import index_columns, reindex_rows
from .coerce import coerce_view, is_frame
from .constraints import Constraints
from .links import PAIR_BYTES, Links, check_pairs_fit, compact_pairs, label_components, list_partners
from .per_view import resolve_per_view
from .table import Table
from .views import Views

__all__ = [
    "PAIR_BYTES",
    "Constraints",
    "Links",
    "Table",
    "Views",
    "align",
    "check_pairs_fit",
    "coerce_view",
    "compact_pairs",
    "index_columns",
    "is_frame",
    "label_components",
    "list_partners",
    "open_sparse",
    "read_whole",
    "reindex_rows",
    "resolve_per_view",
]
