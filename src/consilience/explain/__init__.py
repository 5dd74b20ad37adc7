"""Explanations of a clustering: features of clusters, contested entities, confidence, and maps of views."""

from .confidence import confidence, contested
from .embedding import embed, joint_embedding, joint_map
from .information import describe_support
from .names import NO_CLUSTER, name_clusters
from .profile import Mark, profile, typical

__all__ = [
    "NO_CLUSTER",
    "Mark",
    "confidence",
    "contested",
    "describe_support",
    "embed",
    "joint_embedding",
    "joint_map",
    "name_clusters",
    "profile",
    "typical",
]
