"""The data: views of the same entities, and the small table results come in."""

from .align import align
from .blocks import index_columns, take_rows
from .coerce import is_frame, to_block
from .per_view import per_view
from .table import Table
from .views import Views

__all__ = ["Table", "Views", "align", "index_columns", "is_frame", "per_view", "take_rows", "to_block"]
