"""The data: views of the same entities, and the small table results come in."""

from .align import align
from .table import Table
from .views import Views

__all__ = ["Table", "Views", "align"]
