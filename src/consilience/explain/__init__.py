"""Explanations of a clustering: names and features of clusters, contested entities, confidence, and maps of views."""

from .columns import OriginalColumn
from .confidence import confidence, contested
from .embedding import embed, joint_embedding, joint_map
from .hierarchy import Hierarchy, build_hierarchy
from .information import describe_support
from .levels import name_levels
from .namer import ClusterDescription
from .names import NO_CLUSTER, name_clusters
from .profile import Mark, profile, typical

__all__ = [
    "NO_CLUSTER",
    "ClusterDescription",
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
    "name_levels",
    "profile",
    "typical",
]
