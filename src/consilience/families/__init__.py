"""Distributions of one view within a cluster, one per file; `FAMILIES` maps names to classes."""

from .base import Family
from .bernoulli import Bernoulli
from .categorical import Categorical
from .choose import FAMILIES, choose
from .gaussian import Gaussian, GaussianSpherical
from .gaussian_full import GaussianFull, GaussianTied
from .multinomial import Multinomial
from .poisson import Poisson
from .von_mises_fisher import VonMisesFisher

__all__ = [
    "FAMILIES",
    "Bernoulli",
    "Categorical",
    "Family",
    "Gaussian",
    "GaussianFull",
    "GaussianSpherical",
    "GaussianTied",
    "Multinomial",
    "Poisson",
    "VonMisesFisher",
    "choose",
]
