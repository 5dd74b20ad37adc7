"""How far a clustering can be relied on, judged by entities that the models have not seen."""

from .assess import assess
from .assessment import Alternative, Assessment

__all__ = ["Alternative", "Assessment", "assess"]
