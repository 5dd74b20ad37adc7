"""How a cluster generates one view, one distribution a file; names map to objects in `FAMILIES`."""

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
