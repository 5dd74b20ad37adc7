"""Explanations of a clustering: features of clusters, contested entities, confidence, and maps of views."""

from .columns import OriginalColumn
from .comparisons import compare_clusters, compare_each_cluster
from .confidence import confidence, contested
from .differences import Difference, find_differences
from .embedding import embed, joint_embedding, joint_map
from .hierarchy import Hierarchy, build_hierarchy
from .information import describe_support
from .names import NO_CLUSTER, name_clusters
from .profile import Mark, profile, typical
from .survival import SurvivalCurve, SurvivalTest, compare_survival, estimate_survival

__all__ = [
    "NO_CLUSTER",
    "Difference",
    "Hierarchy",
    "Mark",
    "OriginalColumn",
    "SurvivalCurve",
    "SurvivalTest",
    "build_hierarchy",
    "compare_clusters",
    "compare_each_cluster",
    "compare_survival",
    "confidence",
    "contested",
    "describe_support",
    "embed",
    "estimate_survival",
    "find_differences",
    "joint_embedding",
    "joint_map",
    "name_clusters",
    "profile",
    "typical",
]
