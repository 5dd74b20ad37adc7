"""Families by name, and the choice of one by a look at the data."""

from __future__ import annotations

from array_api_compat import size

from ..arrays import Array, namespace, stored_values
from .base import Family
from .bernoulli import Bernoulli
from .categorical import Categorical
from .gaussian import Gaussian, GaussianSpherical
from .gaussian_full import GaussianFull, GaussianTied
from .multinomial import Multinomial
from .poisson import Poisson
from .von_mises_fisher import VonMisesFisher

EXACT = 2**53  # larger floating-point numbers are all whole, which says nothing about what they are

FAMILIES: dict[str, type[Family]] = {
    family.name: family
    for family in (
        Multinomial,
        Bernoulli,
        Poisson,
        Categorical,
        Gaussian,
        GaussianFull,
        GaussianTied,
        GaussianSpherical,
        VonMisesFisher,
    )
}


def choose(X: Array) -> tuple[Family, str]:
    """What ``families="auto"`` takes for these rows, and why."""
    values = stored_values(X)
    xp = namespace(values)
    if not size(values) or bool(xp.all((values >= 0) & (values == xp.floor(values)) & (values <= EXACT))):
        if not size(values) or bool(xp.max(values) <= 1):
            return Bernoulli(), "all values are 0 or 1"
        return Multinomial(), "all values are counts: whole numbers, none negative"
    return Gaussian(), "the values are real numbers"
