"""Explanations of a clustering: features of clusters, contested entities, confidence, and maps of views."""

from .columns import OriginalColumn
from .confidence import confidence, contested
from .embedding import embed, joint_embedding, joint_map
from .hierarchy import Hierarchy, build_hierarchy
from .information import describe_support
from .names import NO_CLUSTER, name_clusters
from .profile import Mark, profile, typical

__all__ = [
    "NO_CLUSTER",
    "Hierarchy",
    "Mark",
    "OriginalColumn",
    "build_hierarchy",
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
