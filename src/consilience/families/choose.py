"""Families by name, and the choice of one by a look at the data."""

from __future__ import annotations

import numpy as np

from .._backend import Array, stored_values, to_numpy
from .base import Family
from .bernoulli import Bernoulli
from .categorical import Categorical
from .gaussian import Gaussian, GaussianSpherical
from .gaussian_full import GaussianFull, GaussianTied
from .multinomial import Multinomial
from .poisson import Poisson
from .von_mises_fisher import VonMisesFisher

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
    values = to_numpy(stored_values(X))
    if not values.size or (np.all(values >= 0) and np.all(values == np.floor(values))):
        if values.max(initial=0) <= 1:
            return Bernoulli(), "all values are 0 or 1"
        return Multinomial(), "all values are counts: whole numbers, none negative"
    return Gaussian(), "the values are real numbers"
