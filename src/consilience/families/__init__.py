"""Distributions of one view within a cluster, one per file; `FAMILIES` maps names to classes."""

from collections.abc import Iterable

from array_api_compat import size

from ..arrays import Array, is_sparse, namespace, stored_values
from .base import Family
from .bernoulli import Bernoulli
from .categorical import Categorical
from .gaussian import Gaussian, GaussianFull, GaussianSpherical, GaussianTied
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

LARGEST_EXACT = 2**53  # larger floating-point numbers are all whole, so being whole means nothing

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

# what ``families="auto"`` chooses from, the most special first, and why
AUTOMATIC: dict[type[Family], str] = {
    Bernoulli: "all values are 0 or 1",
    Multinomial: "all values are counts: whole numbers, none negative",
    Gaussian: "the values are real numbers",
}


def choose(X: Array) -> tuple[Family, str]:
    """Choose the family for ``families="auto"``, and say why.

    Parameters
    ----------
    X : array of shape (n_rows, n_columns)
        Rows of the view; only the stored values of sparse rows are looked at.

    Returns
    -------
    Family, str
        The family, and the reason as a clause such as "the values are real numbers".

    Examples
    --------
    >>> import numpy as np
    >>> import consilience as cs
    >>> family, reason = cs.families.choose(np.array([[0, 3], [2, 1]]))
    >>> family.name, reason
    ('multinomial', 'all values are counts: whole numbers, none negative')
    >>> cs.families.choose(np.array([[0.5, 3.0]]))[0].name
    'gaussian'
    """
    values = stored_values(X)
    xp = namespace(values)
    family: type[Family] = Gaussian
    if not size(values) or bool(xp.all((values >= 0) & (values == xp.floor(values)) & (values <= LARGEST_EXACT))):
        family = Multinomial if size(values) and bool(xp.max(values) > 1) else Bernoulli
    return family(), AUTOMATIC[family]


def choose_most_general(choices: Iterable[tuple[Family, str]]) -> tuple[Family, str]:
    """Pick the most general of the families that `choose` chose for parts of the rows, and the reason."""
    order = list(AUTOMATIC)
    return max(choices, key=lambda choice: order.index(type(choice[0])))


def find_complaint(family: Family, X: Array) -> str | None:
    """What is wrong with rows for a family, to complete the message «family 'x' needs ...»; None if nothing is."""
    if is_sparse(X) and not family.accepts_sparse:
        accepting = ", ".join(repr(name) for name, candidate in FAMILIES.items() if candidate.accepts_sparse)
        return (
            f"needs dense rows, got a sparse matrix {X.shape}. Use a family that accepts sparse rows ({accepting}), or "
            "reduce the view first (scikit-learn's TruncatedSVD)"
        )
    return family.complaint(X)
