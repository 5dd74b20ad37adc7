"""The data: views of the same entities, what is known of pairs of them, and the small table results come in."""

from ..rows import open_sparse, read_whole
from .align import align
from .blocks import index_columns, take_rows
from .coerce import is_frame, to_block
from .constraints import Constraints
from .links import PAIR_BYTES, Links, both_ways, check_pairs_fit, components, numbered
from .per_view import per_view
from .table import Table
from .views import Views

__all__ = [
    "PAIR_BYTES",
    "Constraints",
    "Links",
    "Table",
    "Views",
    "align",
    "both_ways",
    "check_pairs_fit",
    "components",
    "index_columns",
    "is_frame",
    "numbered",
    "open_sparse",
    "per_view",
    "read_whole",
    "take_rows",
    "to_block",
]
