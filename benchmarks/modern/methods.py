"""The methods by name, each with default options: only the number of clusters and the seed are set.

Exceptions are explained next to the method. Peers are imported only by the process that runs them. To add a method, add
a line to `METHODS` with a function from a prepared data set to labels, and the packages that it needs. Methods run in
this order, so that a run can be stopped early.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from importlib import import_module
from typing import Any

import numpy as np
from sklearn.cluster import KMeans, SpectralClustering

import consilience as cs
from consilience.cli.choosing import choose_method
from consilience.files import ViewContent
from consilience.registry import find_estimator

from .sets import Prepared

Labels = Callable[[Prepared, int], np.ndarray]  # from a data set and a seed
ONLY_TWO = "takes two views only"


@dataclass(frozen=True)
class Method:
    """A line of the table, or several lines that share expensive work.

    `lines` maps names to functions of the result of `share` (without it, of the data set) and a seed.
    """

    lines: Mapping[str, Callable[[Any, int], np.ndarray]]
    needs: tuple[str, ...] = ()  # packages that are imported before the fit is timed
    share: Callable[[Prepared], Any] | None = None
    random: bool = True  # whether the result depends on the seed


def one(name: str, labels: Labels, *needs: str, random: bool = True) -> dict[str, Method]:
    return {name: Method({name: labels}, needs, random=random)}


# Consilience: sparse views, with missing views marked


def ours(build: Callable[[Prepared, int], Any], take: str = "weighed") -> Labels:
    return lambda data, seed: build(data, seed).fit(getattr(data, take)).labels_


def said_kinds(data: Prepared) -> dict[str, str]:
    """Return the kinds of the views as the command line detects them: weighted counts are numbers."""
    return {name: "counts" if kind == "counts" else "numbers" for name, kind in data.kinds.items()}


def automatic(data: Prepared, seed: int) -> np.ndarray:
    """Fit the method that ``consilience cluster --method auto`` chooses."""
    kinds, n = said_kinds(data), len(data.target)
    contents = [ViewContent(name, "", kinds[name], (X, None), n, None) for name, X in data.weighed.items()]
    method = find_estimator(choose_method("auto", contents, has_constraints=False)[0])
    model = method.build(data.n_clusters, kinds, seed=seed)
    return model.fit(data.counts if method.takes_raw_counts else data.weighed).labels_


def side_by_side(model: Callable[..., Any], **settings: Any) -> Callable[[Prepared, int], Any]:
    return lambda data, seed: cs.baselines.ConcatenatedViews(
        model(n_clusters=data.n_clusters, random_state=seed, **settings)
    )


def alone(first: bool) -> Callable[[Prepared, int], Any]:
    return lambda data, seed: cs.baselines.SingleView(
        cs.CoTrainedSpectral(data.n_clusters, random_state=seed), view=data.weighed.names[0] if first else None
    )


def by_command(name: str) -> Callable[[Prepared, int], Any]:
    return lambda data, seed: find_estimator(name).build(data.n_clusters, said_kinds(data), seed=seed)


def seeded(model: Callable[..., Any]) -> Callable[[Prepared, int], Any]:
    return lambda data, seed: model(data.n_clusters, random_state=seed)


def dense(model: Callable[..., Any]) -> Labels:
    """Fit a method of consilience to the input of the peers: reduced, zeros for missing views."""
    return lambda data, seed: model(data.n_clusters, random_state=seed).fit(data.dense).labels_


# Peers: dense views, with zeros for missing views unless the method supports them


def peer(module: str, name: str, *, gaps: bool = False, most_views: int | None = None, k: str = "n_clusters") -> Labels:
    def labels(data: Prepared, seed: int) -> np.ndarray:
        if most_views is not None and len(data.dense) > most_views:
            raise ValueError(ONLY_TWO)
        model = getattr(import_module(module), name)(**{k: data.n_clusters}, random_state=seed)
        return model.fit_predict(data.with_gaps if gaps else data.dense)

    return labels


def lmgec(data: Prepared, seed: int) -> np.ndarray:
    """Fit LMGEC, which has no seed: numpy's global seed is set."""
    np.random.seed(seed)  # noqa: NPY002
    return np.asarray(import_module("mvcluster.cluster").LMGEC(n_clusters=data.n_clusters).fit(data.dense).labels_)


def fused(data: Prepared) -> tuple[np.ndarray, int]:
    """Fuse similarity networks, which is deterministic."""
    snf = import_module("snf")
    return snf.snf(*snf.make_affinity(*data.dense)), data.n_clusters


def of_fused(made: tuple[np.ndarray, int], seed: int) -> np.ndarray:
    spectral_clustering = import_module("sklearn.cluster").spectral_clustering
    return spectral_clustering(made[0], n_clusters=made[1], random_state=seed)


@dataclass(frozen=True, eq=False)
class Graphs:
    """Input of the Leiden methods."""

    mdata: Any
    n_clusters: int


def view_graphs(data: Prepared) -> Graphs:
    """Build a nearest-neighbor graph per view."""
    anndata, scanpy, mudata = (import_module(name) for name in ("anndata", "scanpy", "mudata"))
    views = {}
    for name, X in zip(data.weighed.names, data.dense, strict=True):
        views[name] = anndata.AnnData(X.astype(np.float32))
        scanpy.pp.neighbors(views[name], use_rep="X")
    return Graphs(mudata.MuData(views), data.n_clusters)


def weighted_graph(data: Prepared) -> Graphs:
    """Combine the graphs of the views by weighted nearest neighbors."""
    made = view_graphs(data)
    import_module("muon").pp.neighbors(made.mdata)
    return made


def multiplex(made: Graphs, seed: int, resolution: float | None = None) -> np.ndarray:
    import_module("muon").tl.leiden(
        made.mdata, random_state=seed + 1, resolution=resolution
    )  # it interprets 0 as no seed
    return made.mdata.obs["leiden"].to_numpy().astype(int)


def weighted(made: Graphs, seed: int, resolution: float = 1.0) -> np.ndarray:
    whole = import_module("anndata").AnnData(np.zeros((made.mdata.n_obs, 1), dtype=np.float32))
    graph = made.mdata.obsp["connectivities"]
    import_module("scanpy").tl.leiden(whole, adjacency=graph, random_state=seed, resolution=resolution)
    return whole.obs["leiden"].to_numpy().astype(int)


def with_k(leiden: Callable[..., np.ndarray], made: Graphs, seed: int) -> np.ndarray:
    """Search by bisection for the resolution that gives the number of clusters, or nearly; no classes are used."""
    low, high, nearest = 0.0, 8.0, None
    for _ in range(15):
        middle = (low + high) / 2
        labels = leiden(made, seed, middle)
        n_communities = len(np.unique(labels))
        if nearest is None or abs(n_communities - made.n_clusters) < abs(len(np.unique(nearest)) - made.n_clusters):
            nearest = labels
        if n_communities == made.n_clusters:
            break
        low, high = (middle, high) if n_communities < made.n_clusters else (low, middle)
    return nearest


def leiden_pair(name: str, leiden: Callable[..., np.ndarray]) -> dict[str, Callable[[Any, int], np.ndarray]]:
    return {f"{name}, own number": leiden, f"{name}, k": partial(with_k, leiden)}


def consilience_with(**options: Any) -> Callable[[Prepared, int], Any]:
    """Build Consilience with other options, to measure their effect."""
    return lambda data, seed: cs.Consilience(data.n_clusters, random_state=seed, **options)


SCVERSE = ("anndata", "igraph", "leidenalg", "mudata", "muon", "scanpy")

METHODS: dict[str, Method] = {
    **one("consilience auto", automatic),  # Consilience on all these data sets
    **one("MultiViewSphericalKMeans", ours(seeded(cs.MultiViewSphericalKMeans))),
    **one("MultiViewKMeans", ours(seeded(cs.MultiViewKMeans))),
    **one("CoTrainedSpectral", ours(seeded(cs.CoTrainedSpectral))),
    **one("CoEM", ours(seeded(cs.CoEM), "counts")),
    **one("CoEM, as the command", ours(by_command("co-em"), "counts")),
    **one("KernelAddition", ours(seeded(cs.baselines.KernelAddition))),
    **one("CoRegularizedSpectral", ours(seeded(cs.baselines.CoRegularizedSpectral))),
    **one("side by side, k-means", ours(side_by_side(KMeans, n_init=10))),
    # the default kernel of SpectralClustering, exp(-|x - y|^2), is 0 for nearly all pairs of standardized rows
    **one("side by side, spectral", ours(side_by_side(SpectralClustering, affinity="nearest_neighbors"))),
    **one("first view, spectral", ours(alone(first=True))),
    **one("view chosen blindly, spectral", ours(alone(first=False))),
    **one("imml NEMO", peer("imml.cluster", "NEMO", gaps=True), "imml"),
    "muon multiplex": Method(leiden_pair("muon multiplex Leiden", multiplex), SCVERSE, view_graphs),
    "snfpy": Method({"snfpy SNF": of_fused}, ("snf",), fused),
    **one("imml SIMCADC", peer("imml.cluster", "SIMCADC", gaps=True), "imml"),
    **one("imml EEIMVC", peer("imml.cluster", "EEIMVC", gaps=True), "imml"),
    **one("imml LFIMVC", peer("imml.cluster", "LFIMVC", gaps=True), "imml"),
    **one("polyview MultiViewKMeans", peer("polyview", "MultiViewKMeans"), "polyview"),
    **one(
        "mvlearn MultiviewSphericalKMeans", peer("mvlearn.cluster", "MultiviewSphericalKMeans", most_views=2), "mvlearn"
    ),
    **one("mvlearn MultiviewKMeans", peer("mvlearn.cluster", "MultiviewKMeans", most_views=2), "mvlearn"),
    **one("CoTrainedSpectral, peers' input", dense(cs.CoTrainedSpectral)),
    **one("MultiViewSphericalKMeans, peers' input", dense(cs.MultiViewSphericalKMeans)),
    **one("polyview co-regularised", peer("polyview", "MultiViewCoRegSpectralClustering"), "polyview"),
    **one(
        "polyview co-trained", peer("polyview.cluster.mv_cotrain_sc", "MultiViewCoTrainSpectralClustering"), "polyview"
    ),
    **one("polyview MultiViewNMF", peer("polyview", "MultiViewNMF", k="n_components"), "polyview"),
    **one("mvcluster LMGEC", lmgec, "mvcluster", "tensorflow"),
    **one("polyclustx SGLA", peer("polyclustx.models", "SGLA"), "polyclustx"),
    **one("polyclustx MultiViewKMeans", peer("polyclustx.models", "MultiViewKMeans"), "polyclustx"),
    **one("polyclustx co-trained", peer("polyclustx.models", "MultiViewSpectralClustering"), "polyclustx"),
    **one("polyclustx GCoMVKM", peer("polyclustx.models", "GCoMVKM"), "polyclustx"),
    **one("polyclustx DGF", peer("polyclustx.models", "DGF"), "polyclustx"),
    **one("polyclustx UMC", peer("polyclustx.models", "UMC"), "polyclustx"),
    **one("imml DAIMC", peer("imml.cluster", "DAIMC", gaps=True), "imml"),
    **one("imml IMSR", peer("imml.cluster", "IMSR", gaps=True), "imml"),
    **one("imml PIMVC", peer("imml.cluster", "PIMVC", gaps=True), "imml"),
    **one("imml OPIMC", peer("imml.cluster", "OPIMC", gaps=True), "imml"),
    **one("ConvexMixture", ours(lambda data, _: cs.ConvexMixture(data.n_clusters)), random=False),
    **one("mvlearn co-trained", peer("mvlearn.cluster", "MultiviewSpectralClustering"), "mvlearn"),
    **one("mvlearn co-regularised", peer("mvlearn.cluster", "MultiviewCoRegSpectralClustering"), "mvlearn"),
    "muon WNN": Method(leiden_pair("muon WNN + Leiden", weighted), SCVERSE, weighted_graph),
    **one("imml SUMO", peer("imml.cluster", "SUMO", gaps=True), "imml"),
    **one("imml MONET", peer("imml.cluster", "MONET", gaps=True), "imml"),
    **one("Consilience, components only", ours(consilience_with(predictors=("components",)))),
    **one("Consilience, graph only", ours(consilience_with(predictors=("graph",)))),
    **one("Consilience, components and neighbours", ours(consilience_with(predictors=("components", "neighbors")))),
    **one("Consilience, one start of each kind", ours(consilience_with(n_init=1))),
    **one("Consilience, no balance", ours(consilience_with(balance=0.0))),
    **one("Consilience, equal sizes", ours(consilience_with(balance=1.0))),
}
