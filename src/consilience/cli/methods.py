"""The methods by name: which estimator, and how each kind of view goes into it.

Estimators are imported when they are built, because the help text needs the names and titles alone.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ..files import Content

FEW = 10  # columns below which a direction leaves out too much of what a row says
COUNTED = ("counts", "text", "names", "links")  # kinds of which the direction of a row counts, not its length


@dataclass(frozen=True)
class Setting:
    """What a method is built from."""

    n_clusters: Any  # None: the method's own choice, where it has one
    seed: int
    kinds: Mapping[str, str]  # of each view
    verbose: bool = False


@dataclass(frozen=True)
class Method:
    """One line of the table."""

    build: Callable[[Setting], Any]
    title: str
    rare: bool = True  # whether words are weighed by their rarity; raw counts otherwise
    similarities: bool = False  # whether it takes precomputed similarities
    predicts: bool = True
    few_columns: bool = False  # whether wide views are reduced first
    finds_k: bool = False  # whether it chooses the number of clusters itself
    most: int | None = None  # entities beyond which `compare` leaves it out: time grows with their square


def _k_means(given: Setting) -> Any:
    from ..cluster import MultiViewKMeans

    return MultiViewKMeans(given.n_clusters, random_state=given.seed, verbose=given.verbose)


def _spherical(given: Setting) -> Any:
    from ..cluster import MultiViewSphericalKMeans

    return MultiViewSphericalKMeans(given.n_clusters, random_state=given.seed, verbose=given.verbose)


def _co_em(given: Setting) -> Any:
    from ..cluster import CoEM

    families = {name: "multinomial" for name, kind in given.kinds.items() if kind in COUNTED}
    families |= {name: "gaussian" for name, kind in given.kinds.items() if kind == "numbers"}
    return CoEM(given.n_clusters, families=families, eta=0.5, random_state=given.seed, verbose=given.verbose)


def _spectral(given: Setting) -> Any:
    from ..cluster import CoTrainedSpectral

    affinity = {name: "precomputed" if kind == "similarities" else "auto" for name, kind in given.kinds.items()}
    return CoTrainedSpectral(given.n_clusters, affinity=affinity, random_state=given.seed, verbose=given.verbose)


def _convex(given: Setting) -> Any:
    from ..cluster import ConvexMixture

    names = {"similarities": "kernel", **dict.fromkeys(COUNTED, "cosine")}
    divergence = {name: names.get(kind, "squared-euclidean") for name, kind in given.kinds.items()}
    return ConvexMixture(given.n_clusters, divergence=divergence, verbose=given.verbose)


def _agglomerative(given: Setting) -> Any:
    from ..cluster import MultiViewAgglomerative

    metric = {name: "cosine" if kind in COUNTED else "euclidean" for name, kind in given.kinds.items()}
    return MultiViewAgglomerative(given.n_clusters, metric=metric, verbose=given.verbose)


def _constrained(given: Setting) -> Any:
    from ..cluster import MultiViewConstrainedKMeans

    return MultiViewConstrainedKMeans(given.n_clusters, init="farthest", random_state=given.seed, verbose=given.verbose)


METHODS = {
    "spectral": Method(_spectral, "co-trained spectral clustering", similarities=True),
    "co-em": Method(_co_em, "co-EM", rare=False),
    "spherical": Method(_spherical, "multi-view spherical k-means"),
    "k-means": Method(_k_means, "multi-view k-means"),
    "convex": Method(_convex, "convex mixture", similarities=True, finds_k=True, most=1000),
    "agglomerative": Method(_agglomerative, "multi-view agglomerative clustering", predicts=False, most=5000),
    "constrained": Method(_constrained, "multi-view constrained k-means", few_columns=True),
}


def _best_guess(contents: Sequence[Content], constraints: bool) -> tuple[str, str]:
    """By what the views are: see the user guide for the figures behind it."""
    if constraints:
        return "constrained", "there are constraints"
    if any(one.kind == "similarities" for one in contents):
        return "spectral", "it takes similarities"
    if all(one.kind == "numbers" and one.data[0].shape[1] < FEW for one in contents):
        return "spectral", "a good first guess for measurements in few columns"
    return "spherical", "a good first guess for words, links and many columns"


def chosen_method(asked: str, contents: Sequence[Content], constraints: bool) -> tuple[str, str]:
    """The method's name, and why it was taken; a mismatch with the data or the constraints is an error."""
    if asked == "auto":
        name, why = _best_guess(contents, constraints)
    else:
        name, why = asked, "as you said"
    if constraints and name != "constrained":
        raise ValueError(f"--constraints are for --method constrained, not {name}")
    alike = [one.name for one in contents if one.kind == "similarities"]
    if alike and not METHODS[name].similarities:
        takers = " or ".join(other for other, method in METHODS.items() if method.similarities)
        raise ValueError(f"view {alike[0]!r} holds similarities, which --method {name} cannot take: use {takers}")
    return name, why
