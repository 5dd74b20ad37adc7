"""Scores of a clustering: against true classes, and of the agreement between views, without classes."""

from sklearn.metrics import adjusted_rand_score, normalized_mutual_info_score

from .agreement import agreement_matrix, agreement_rate, disagreement_bound
from .classes import PairwiseScores, average_entropy, evaluate, pairwise_scores

__all__ = [
    "PairwiseScores",
    "adjusted_rand_score",
    "agreement_matrix",
    "agreement_rate",
    "average_entropy",
    "disagreement_bound",
    "evaluate",
    "normalized_mutual_info_score",
    "pairwise_scores",
]
