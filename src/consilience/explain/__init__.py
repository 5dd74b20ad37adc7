"""What a clustering says, in numbers: what marks a cluster, who is contested, how sure the model is."""

from .confidence import confidence, contested
from .embedding import embed
from .information import describe_support
from .profile import Mark, profile, typical

__all__ = [
    "Mark",
    "confidence",
    "contested",
    "describe_support",
    "embed",
    "profile",
    "typical",
]
