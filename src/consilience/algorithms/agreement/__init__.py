"""Cross-fitted agreement: each view predicts every entity's cluster from the other entities, and the views vote."""

from .constraints import HeldConstraints
from .ensemble import Ensemble, ViewPredictors, Vote, balance_votes, choose_clusters, indicate
from .geometry import Geometry, SimilarityGeometry, choose_geometries
from .information import mutual_information
from .model import ComponentRule, GraphRule, NeighborRule, SpaceModel, ViewModel
from .predictors import (
    GraphFeatures,
    LeaveOneOutRidge,
    NeighborVote,
    Predictor,
    count_graph_features,
    embed_graph,
)
from .refine import Round, refine_labels

__all__ = [
    "ComponentRule",
    "Ensemble",
    "Geometry",
    "GraphFeatures",
    "GraphRule",
    "HeldConstraints",
    "LeaveOneOutRidge",
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
    "embed_graph",
    "indicate",
    "mutual_information",
    "refine_labels",
]
