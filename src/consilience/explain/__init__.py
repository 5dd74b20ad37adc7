"""What a clustering says, in numbers: what marks a cluster, who is contested, how sure the model is."""

from .confidence import confidence, contested
from .embedding import embed
from .profile import Mark, profile, typical

__all__ = ["Mark", "confidence", "contested", "embed", "profile", "typical"]
