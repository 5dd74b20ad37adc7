"""The methods by name: which estimator, and how each kind of view goes into it.

Estimators are imported when they are built, because the help text needs the names and titles alone.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from .say import UsageError

if TYPE_CHECKING:
    from ..files import ViewContent

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
    constraints: bool = False  # whether it takes pairs that must, or cannot, be in one cluster
    predicts: bool = True
    few_columns: bool = False  # whether wide views are reduced first
    finds_k: bool = False  # whether it chooses the number of clusters itself
    most: int | None = None  # entities beyond which `compare` leaves it out: time grows with their square


def _k_means(given: Setting) -> Any:
    from ..methods import MultiViewKMeans

    return MultiViewKMeans(given.n_clusters, random_state=given.seed, verbose=given.verbose)


def _spherical(given: Setting) -> Any:
    from ..methods import MultiViewSphericalKMeans

    return MultiViewSphericalKMeans(given.n_clusters, random_state=given.seed, verbose=given.verbose)


def _co_em(given: Setting) -> Any:
    from ..methods import CoEM

    families = {name: "multinomial" for name, kind in given.kinds.items() if kind in COUNTED}
    families |= {name: "gaussian" for name, kind in given.kinds.items() if kind == "numbers"}
    return CoEM(given.n_clusters, families=families, eta=0.5, random_state=given.seed, verbose=given.verbose)


def _choose_affinities(kinds: Mapping[str, str]) -> dict[str, str]:
    """Return the affinity of each view: similarities are taken as they are."""
    return {name: "precomputed" if kind == "similarities" else "auto" for name, kind in kinds.items()}


def _consilience(given: Setting) -> Any:
    from ..methods import Consilience

    affinity = _choose_affinities(given.kinds)
    return Consilience(given.n_clusters, affinity=affinity, random_state=given.seed, verbose=given.verbose)


def _spectral(given: Setting) -> Any:
    from ..methods import CoTrainedSpectral

    affinity = _choose_affinities(given.kinds)
    return CoTrainedSpectral(given.n_clusters, affinity=affinity, random_state=given.seed, verbose=given.verbose)


def _kernel_addition(given: Setting) -> Any:
    from ..baselines import KernelAddition

    affinity = _choose_affinities(given.kinds)
    return KernelAddition(given.n_clusters, affinity=affinity, random_state=given.seed, verbose=given.verbose)


def _co_regularized(given: Setting) -> Any:
    from ..baselines import CoRegularizedSpectral

    affinity = _choose_affinities(given.kinds)
    return CoRegularizedSpectral(given.n_clusters, affinity=affinity, random_state=given.seed, verbose=given.verbose)


def _convex(given: Setting) -> Any:
    from ..methods import ConvexMixture

    names = {"similarities": "kernel", **dict.fromkeys(COUNTED, "cosine")}
    divergence = {name: names.get(kind, "squared-euclidean") for name, kind in given.kinds.items()}
    return ConvexMixture(given.n_clusters, divergence=divergence, verbose=given.verbose)


def _agglomerative(given: Setting) -> Any:
    from ..methods import MultiViewAgglomerative

    metric = {name: "cosine" if kind in COUNTED else "euclidean" for name, kind in given.kinds.items()}
    return MultiViewAgglomerative(given.n_clusters, metric=metric, verbose=given.verbose)


def _constrained(given: Setting) -> Any:
    from ..methods import MultiViewConstrainedKMeans

    return MultiViewConstrainedKMeans(given.n_clusters, init="farthest", random_state=given.seed, verbose=given.verbose)


METHODS = {
    "consilience": Method(_consilience, "cross-fitted agreement of the views", similarities=True, constraints=True),
    "spectral": Method(_spectral, "co-trained spectral clustering", similarities=True),
    "kernel-addition": Method(_kernel_addition, "spectral clustering of the summed similarities", similarities=True),
    "co-regularized": Method(_co_regularized, "co-regularized spectral clustering", similarities=True, most=5000),
    "co-em": Method(_co_em, "co-EM", rare=False),
    "spherical": Method(_spherical, "multi-view spherical k-means"),
    "k-means": Method(_k_means, "multi-view k-means"),
    "convex": Method(_convex, "convex mixture", similarities=True, finds_k=True, most=1000),
    "agglomerative": Method(_agglomerative, "multi-view agglomerative clustering", predicts=False, most=5000),
    "constrained": Method(_constrained, "multi-view constrained k-means", constraints=True, few_columns=True),
}
DEFAULT = "consilience"
REASON = "the default for all kinds of views"
REASON_WITH_CONSTRAINTS = "the default, also with constraints"
MOST_CONSTRAINED = 20_000  # entities up to which the default takes constraints: it clusters a sample of more


def choose_method(given: str, contents: Sequence[ViewContent], constraints: bool) -> tuple[str, str]:
    """Return the method's name and why it was chosen; refuse one that cannot take the data or the constraints."""
    name, reason = given, "as you said"
    if given == "auto":
        name, reason = DEFAULT, REASON_WITH_CONSTRAINTS if constraints else REASON
    if constraints and not METHODS[name].constraints:
        accepting = _join_names("constraints")
        raise UsageError(f"--method {name} takes no --constraints: use {accepting}")
    with_similarities = [content.name for content in contents if content.kind == "similarities"]
    if with_similarities and not METHODS[name].similarities:
        accepting = _join_names("similarities")
        raise ValueError(
            f"view {with_similarities[0]!r} holds similarities, which --method {name} cannot take: use {accepting}"
        )
    return name, reason


def check_n_entities(given: str, name: str, reason: str, n_entities: int, constraints: bool) -> tuple[str, str]:
    """Return the method's name and the reason after the number of entities is known."""
    if name != DEFAULT or not constraints or n_entities <= MOST_CONSTRAINED:
        return name, reason
    if given == "auto":
        return "constrained", f"the default takes constraints for up to {MOST_CONSTRAINED:,} entities"
    raise ValueError(
        f"--method {name} takes --constraints for up to {MOST_CONSTRAINED:,} entities, got {n_entities:,}: "
        "use constrained"
    )


def check_outliers(given: str, outliers: float | str | None) -> None:
    """Refuse `--outliers` for a method that puts every entity into a cluster."""
    name = DEFAULT if given == "auto" else given
    if outliers is None or _finds_outliers(name):
        return
    accepting = [other for other in METHODS if _finds_outliers(other)]
    remedy = f"use {' or '.join(accepting)}" if accepting else "leave it out"
    raise UsageError(f"--method {name} takes no --outliers, because it puts every entity into a cluster: {remedy}")


def _finds_outliers(name: str) -> bool:
    """Return whether a method can leave entities out of all clusters."""
    return "outliers" in METHODS[name].build(Setting(2, 0, {})).get_params()


def _join_names(ability: str) -> str:
    """List the methods that have an ability, for a message."""
    return " or ".join(name for name, method in METHODS.items() if getattr(method, ability))
