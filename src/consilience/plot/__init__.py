"""Displays: the constructor takes the data, and ``plot`` draws it. Only this package imports matplotlib."""

from .agreement import AgreementDisplay
from .constraints import ConstraintsDisplay
from .contested import ContestedDisplay
from .contingency import ContingencyDisplay
from .convergence import ConvergenceDisplay
from .curves import CurvesDisplay
from .dendrogram import DendrogramDisplay
from .described import DescribedDisplay
from .embedding import EmbeddingDisplay
from .group_profile import GroupProfileDisplay
from .hierarchy import HierarchyDisplay
from .joint_map import JointMapDisplay
from .profile import ProfileDisplay
from .propagation import PropagationDisplay
from .rounds import RoundsDisplay
from .selection import SelectionDisplay
from .survival import SurvivalDisplay
from .verdict import VerdictDisplay
from .view_weights import ViewWeightsDisplay

__all__ = [
    "AgreementDisplay",
    "ConstraintsDisplay",
    "ContestedDisplay",
    "ContingencyDisplay",
    "ConvergenceDisplay",
    "CurvesDisplay",
    "DendrogramDisplay",
    "DescribedDisplay",
    "EmbeddingDisplay",
    "GroupProfileDisplay",
    "HierarchyDisplay",
    "JointMapDisplay",
    "ProfileDisplay",
    "PropagationDisplay",
    "RoundsDisplay",
    "SelectionDisplay",
    "SurvivalDisplay",
    "VerdictDisplay",
    "ViewWeightsDisplay",
]
