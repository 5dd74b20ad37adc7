"""The data: views of the same entities, constraints on pairs of them, and the table that results come in."""

from ..rows import open_sparse
from .align import align
from .constraints import Constraints
from .table import Table
from .views import Views

__all__ = ["Constraints", "Table", "Views", "align", "open_sparse"]
