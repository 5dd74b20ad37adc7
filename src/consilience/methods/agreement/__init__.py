"""Cross-fitted agreement: each view predicts every entity's cluster from the other entities, and the views vote."""

from .constraints import KeptConstraints
from .ensemble import Ensemble, ViewPredictors, Vote, balance_votes, choose_clusters, encode_labels
from .geometry import Geometry, SimilarityGeometry, choose_geometries
from .information import mutual_information
from .model import ComponentRule, GraphRule, NeighborRule, SpaceModel, ViewModel
from .predictors import (
    GraphFeatures,
    LeaveOneOutRidge,
    NeighborGraph,
    NeighborVote,
    Predictor,
    count_graph_features,
    search_neighbors,
)
from .refine import Round, refine_labels

__all__ = [
    "ComponentRule",
    "Ensemble",
    "Geometry",
    "GraphFeatures",
    "GraphRule",
    "KeptConstraints",
    "LeaveOneOutRidge",
    "NeighborGraph",
    "NeighborRule",
    "NeighborVote",
    "Predictor",
    "Round",
    "SimilarityGeometry",
    "SpaceModel",
    "ViewModel",
    "ViewPredictors",
    "Vote",
    "balance_votes",
    "choose_clusters",
    "choose_geometries",
    "count_graph_features",
    "encode_labels",
    "mutual_information",
    "refine_labels",
    "search_neighbors",
]
