"""The data: views of the same entities, and the small table results come in."""

from .align import align
from .per_view import per_view
from .table import Table
from .views import Views

__all__ = ["Table", "Views", "align", "per_view"]
