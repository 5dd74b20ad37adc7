"""Explanations of a clustering: names and features of clusters, contested entities, confidence, and maps of views."""

from .columns import OriginalColumn
from .comparisons import compare_clusters, compare_each_cluster
from .confidence import clarity, contested
from .consensus import build_consensus_graph, embed_graph, joint_embedding
from .differences import Difference, find_differences
from .embedding import embed
from .hierarchy import Hierarchy, build_hierarchy
from .information import describe_support
from .layout import joint_map
from .levels import name_levels
from .namer import ClusterDescription
from .names import NO_CLUSTER, name_clusters
from .profile import Mark, profile, typical
from .survival import SurvivalCurve, SurvivalTest, compare_survival, estimate_survival

__all__ = [
    "NO_CLUSTER",
    "ClusterDescription",
    "Difference",
    "Hierarchy",
    "Mark",
    "OriginalColumn",
    "SurvivalCurve",
    "SurvivalTest",
    "build_consensus_graph",
    "build_hierarchy",
    "clarity",
    "compare_clusters",
    "compare_each_cluster",
    "compare_survival",
    "contested",
    "describe_support",
    "embed",
    "embed_graph",
    "estimate_survival",
    "find_differences",
    "joint_embedding",
    "joint_map",
    "name_clusters",
    "name_levels",
    "profile",
    "typical",
]
