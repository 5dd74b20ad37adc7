"""Declarations of the estimators: name, title, what each takes, and how it is built for data of given kinds.

Everything that needs a list of estimators reads it here: `--method` of the command line, ``consilience compare``, the
check that a model can be saved before it is fitted, and the contract tests. A declaration names its class by import
path, because the command line prints its help before numpy is loaded.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from importlib import import_module
from typing import Any

from ._suggest import suggest_name

COUNT_KINDS = ("counts", "text", "names", "links")  # kinds of views whose values are 0 or more and mostly 0
DIRECTION_KINDS = (*COUNT_KINDS, "embedding")  # kinds of views in which the direction of a row matters
DEFAULT_METHOD = "consilience"
TABLE_VIEW = "view0"  # what estimators call the only view if they are given a table


@dataclass(frozen=True)
class ContractCase:
    """How the contract tests use an estimator.

    Examples
    --------
    >>> from consilience.registry import find_estimator
    >>> case = find_estimator("co-em").contract
    >>> case.options, case.is_iterative
    ({'eta': 0.25}, True)
    """

    options: Mapping[str, Any] = field(default_factory=dict)  #: constructor arguments
    is_complete: bool = True  #: whether it passes all contracts of an estimator, not only those of a declaration
    is_iterative: bool = False  #: whether rounds lower a cost, from a start that can be given


@dataclass(frozen=True)
class EstimatorDeclaration:
    """An estimator as the command line, the comparison and the contract tests use it.

    Examples
    --------
    >>> import consilience as cs
    >>> from consilience.registry import EstimatorDeclaration
    >>> declaration = EstimatorDeclaration(
    ...     "many-starts", "k-means from 50 starts", cs.MultiViewKMeans, lambda kinds: {"n_init": 50}, takes_seeds=True
    ... )
    >>> declaration.can_predict, declaration.takes_constraints, declaration.build(3, {"text": "counts"}).n_init
    (True, False, 50)
    """

    name: str  #: value of --method
    title: str  #: what the help and the report call it
    location: str | type  #: the class, or where to import it: "package.module:Class"
    choose_options: Callable[[Mapping[str, str]], dict[str, Any]] = lambda _: {}  #: constructor arguments by view kinds
    takes_similarities: bool = False  #: whether a view may be a matrix of similarities
    takes_raw_counts: bool = False  #: counts are otherwise weighted by tf-idf
    takes_few_columns: bool = False  #: wide views are reduced first
    takes_seeds: bool = False  #: whether `fit` takes the known classes of some entities as ``y``
    takes_view_constraints: bool = False  #: whether `fit` takes constraints by view
    chooses_n_clusters: bool = False  #: whether it finds the number of clusters itself
    is_compared: bool = True  #: whether ``consilience compare`` tries it
    max_compared: int | None = None  #: number of entities above which ``consilience compare`` leaves it out
    wraps: EstimatorDeclaration | None = None  #: method that clusters the one view that this one makes of all
    example: str = ""  #: an option and its value, for the help
    contract: ContractCase = field(default_factory=ContractCase)  #: how the contract tests use it

    @property
    def estimator_class(self) -> type:
        """The class, imported on first use."""
        if isinstance(self.location, type):
            return self.location
        module, _, name = self.location.partition(":")
        try:
            return getattr(import_module(module), name)
        except (ImportError, AttributeError) as error:
            message = f"the class of method {self.name!r}, {self.location}, cannot be imported: {error}"
            raise ImportError(message) from error

    @property
    def parameters(self) -> set[str]:
        """Names of the constructor arguments."""
        return set(inspect.signature(self.estimator_class).parameters)

    @property
    def can_predict(self) -> bool:
        """Whether it predicts the clusters of new entities."""
        return hasattr(self.estimator_class, "predict") and (self.wraps is None or self.wraps.can_predict)

    @property
    def finds_outliers(self) -> bool:
        """Whether it can leave entities out of all clusters."""
        return "outliers" in self.parameters

    @property
    def takes_constraints(self) -> bool:
        """Whether `fit` takes must-link and cannot-link constraints."""
        return "constraints" in inspect.signature(self.estimator_class.fit).parameters  # type: ignore[attr-defined]

    @property
    def uses_seeds(self) -> bool:
        """Whether the known classes of some entities reach the fit: as ``y``, or as constraints."""
        return self.takes_seeds or self.takes_constraints

    def build(self, n_clusters: int | None, kinds: Mapping[str, str], *, seed: int = 0, verbose: bool = False) -> Any:
        """Return an unfitted estimator for views of these kinds; options that its class lacks are left out.

        Parameters
        ----------
        n_clusters : int or None
            Number of clusters; None if the method chooses it.
        kinds : mapping of str to str
            The kind of each view, a name of `consilience.files.KINDS`.
        seed : int, default=0
            The estimator's `random_state`.
        verbose : bool, default=False
            Whether the estimator reports its progress.
        """
        common = {"random_state": seed, "verbose": verbose}
        options = {name: value for name, value in common.items() if name in self.parameters}
        options |= self.choose_options(kinds)
        if self.wraps is None:
            return self.estimator_class(n_clusters, **options)
        wrapped = self.wraps.build(n_clusters, {TABLE_VIEW: join_kinds(kinds)}, seed=seed, verbose=verbose)
        return self.estimator_class(wrapped, **options)


def join_kinds(kinds: Mapping[str, str]) -> str:
    """Return the kind of a view that has the columns of views of these kinds."""
    for kind, parts in (("counts", COUNT_KINDS), ("embedding", DIRECTION_KINDS)):
        if all(part in parts for part in kinds.values()):
            return kind
    return "numbers"


_DECLARATIONS: dict[str, EstimatorDeclaration] = {}


def declare_estimator(declaration: EstimatorDeclaration) -> None:
    """Add an estimator, or replace the one of this name.

    Parameters
    ----------
    declaration : EstimatorDeclaration
        The estimator; its ``name`` is the value of ``--method``.

    Examples
    --------
    >>> from dataclasses import replace
    >>> from consilience.registry import declare_estimator, find_estimator
    >>> k_means = find_estimator("k-means")
    >>> declare_estimator(replace(k_means, title="k-means of all views"))
    >>> find_estimator("k-means").title
    'k-means of all views'
    >>> declare_estimator(k_means)  # as before
    """
    _DECLARATIONS[declaration.name] = declaration


def list_estimators() -> dict[str, EstimatorDeclaration]:
    """Return all declarations by name, in the order in which the help lists them.

    Examples
    --------
    >>> from consilience.registry import list_estimators
    >>> [name for name, declaration in list_estimators().items() if declaration.takes_raw_counts]
    ['co-em']
    """
    return dict(_DECLARATIONS)


def find_estimator(name: str) -> EstimatorDeclaration:
    """Return the declaration of a name.

    Parameters
    ----------
    name : str
        The value of ``--method``. An unknown name raises a ValueError that suggests similar ones.

    Examples
    --------
    >>> from consilience.registry import find_estimator
    >>> find_estimator("k-means").title
    'multi-view k-means'
    """
    if name not in _DECLARATIONS:
        raise ValueError(f"there is no method {name!r}: {suggest_name(name, _DECLARATIONS)}")
    return _DECLARATIONS[name]


def _choose_affinities(kinds: Mapping[str, str], default: str = "auto") -> dict[str, Any]:
    return {"affinity": {view: "precomputed" if kind == "similarities" else default for view, kind in kinds.items()}}


def _choose_families(kinds: Mapping[str, str]) -> dict[str, Any]:
    families = {"numbers": "gaussian", "embedding": "von-mises-fisher", **dict.fromkeys(COUNT_KINDS, "multinomial")}
    return {"families": {view: families[kind] for view, kind in kinds.items() if kind in families}, "eta": 0.5}


def _choose_divergences(kinds: Mapping[str, str]) -> dict[str, Any]:
    divergences = {"similarities": "kernel", **dict.fromkeys(DIRECTION_KINDS, "cosine")}
    return {"divergence": {view: divergences.get(kind, "squared-euclidean") for view, kind in kinds.items()}}


def _choose_metrics(kinds: Mapping[str, str]) -> dict[str, Any]:
    return {"metric": {view: "cosine" if kind in DIRECTION_KINDS else "euclidean" for view, kind in kinds.items()}}


_K_MEANS = EstimatorDeclaration(
    "k-means",
    "multi-view k-means",
    "consilience.methods:MultiViewKMeans",
    takes_seeds=True,
    contract=ContractCase(is_iterative=True),
    example="n_init=20",
)

for _declaration in (
    EstimatorDeclaration(
        DEFAULT_METHOD,
        "cross-fitted agreement of the views",
        "consilience.methods:Consilience",
        _choose_affinities,
        takes_similarities=True,
        example="penalty=0.1",
    ),
    EstimatorDeclaration(
        "spectral",
        "co-trained spectral clustering",
        "consilience.methods:CoTrainedSpectral",
        _choose_affinities,
        takes_similarities=True,
        example="n_iter=5",
    ),
    EstimatorDeclaration(
        "kernel-addition",
        "spectral clustering of the summed similarities",
        "consilience.baselines:KernelAddition",
        _choose_affinities,
        takes_similarities=True,
        contract=ContractCase(is_complete=False),
        example="affinity=gaussian",
    ),
    EstimatorDeclaration(
        "co-regularized",
        "co-regularized spectral clustering",
        "consilience.baselines:CoRegularizedSpectral",
        _choose_affinities,
        takes_similarities=True,
        max_compared=5000,
        contract=ContractCase(is_complete=False),
        example="kind=centroid",
    ),
    EstimatorDeclaration(
        "co-em",
        "co-EM",
        "consilience.methods:CoEM",
        _choose_families,
        takes_raw_counts=True,
        takes_seeds=True,
        contract=ContractCase({"eta": 0.25}, is_iterative=True),  # with eta=1 overlapping clusters become uniform
        example="eta=1",
    ),
    EstimatorDeclaration(
        "spherical",
        "multi-view spherical k-means",
        "consilience.methods:MultiViewSphericalKMeans",
        takes_seeds=True,
        contract=ContractCase(is_iterative=True),
        example="n_init=20",
    ),
    _K_MEANS,
    EstimatorDeclaration(
        "convex",
        "convex mixture",
        "consilience.methods:ConvexMixture",
        _choose_divergences,
        takes_similarities=True,
        chooses_n_clusters=True,
        max_compared=1000,
        example="weights=uniform",
    ),
    EstimatorDeclaration(
        "agglomerative",
        "multi-view agglomerative clustering",
        "consilience.methods:MultiViewAgglomerative",
        _choose_metrics,
        max_compared=5000,
        contract=ContractCase(is_complete=False),
        example="linkage=complete",
    ),
    EstimatorDeclaration(
        "constrained",
        "multi-view constrained k-means",
        "consilience.methods:MultiViewConstrainedKMeans",
        lambda _: {"init": "farthest"},
        takes_few_columns=True,
        takes_view_constraints=True,
        example="base=mpck",
    ),
    EstimatorDeclaration(
        "kernel-product",
        "spectral clustering of the multiplied similarities",
        "consilience.baselines:KernelProduct",
        partial(_choose_affinities, default="gaussian"),
        takes_similarities=True,
        is_compared=False,
        contract=ContractCase(is_complete=False),
        example="bandwidth=local",
    ),
    EstimatorDeclaration(
        "cca",
        "spectral clustering of canonical correlation features",
        "consilience.baselines:CCASpectral",
        is_compared=False,
        contract=ContractCase(is_complete=False),
        example="kind=kernel",
    ),
    EstimatorDeclaration(
        "cca-k-means",
        "k-means of canonical correlation features",
        "consilience.baselines:CCAKMeans",
        is_compared=False,
        contract=ContractCase(is_complete=False),
        example="view=a",
    ),
    EstimatorDeclaration(
        "minimum-disagreement",
        "spectral clustering that minimizes the disagreement of the views",
        "consilience.baselines:MinimumDisagreement",
        _choose_affinities,
        takes_similarities=True,
        is_compared=False,
        contract=ContractCase(is_complete=False),
        example="affinity=gaussian",
    ),
    EstimatorDeclaration(
        "concatenation",
        "clustering of all columns side by side, by another method",
        "consilience.baselines:ConcatenatedViews",
        is_compared=False,
        wraps=_K_MEANS,
        contract=ContractCase(is_complete=False),
        example="estimator=co-em",
    ),
):
    declare_estimator(_declaration)
