"""Dissimilarities of rows and centers, and of pairs of rows, one per file."""

from .base import Divergence, Likelihood, Measure, NoDivergenceError, PairDivergence
from .bernoulli import Bernoulli
from .cosine import Cosine
from .itakura_saito import ItakuraSaito
from .kullback_leibler import KullbackLeibler
from .mahalanobis import Mahalanobis
from .precomputed import Kernel, Precomputed
from .squared_euclidean import SquaredEuclidean

DIVERGENCES: dict[str, type[PairDivergence]] = {
    "squared-euclidean": SquaredEuclidean,
    "cosine": Cosine,
    "kl": KullbackLeibler,
    "bernoulli": Bernoulli,
    "itakura-saito": ItakuraSaito,
    "mahalanobis": Mahalanobis,
    "precomputed": Precomputed,
    "kernel": Kernel,
}

__all__ = [
    "DIVERGENCES",
    "Bernoulli",
    "Cosine",
    "Divergence",
    "ItakuraSaito",
    "Kernel",
    "KullbackLeibler",
    "Likelihood",
    "Mahalanobis",
    "Measure",
    "NoDivergenceError",
    "PairDivergence",
    "Precomputed",
    "SquaredEuclidean",
]
