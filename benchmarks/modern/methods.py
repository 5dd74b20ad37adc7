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
from consilience.files import ViewContent, fit_and_encode, join_contents
from consilience.pipeline.encodings import select_encodings
from consilience.pipeline.loading import choose_method
from consilience.registry import find_estimator

from .ports import cluster_gmc, cluster_sgla
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


def declare_method(name: str, labels: Labels, *needs: str, random: bool = True) -> dict[str, Method]:
    return {name: Method({name: labels}, needs, random=random)}


# Consilience: sparse views, with missing views marked


def fit_ours(build: Callable[[Prepared, int], Any], take: str = "weighed") -> Labels:
    return lambda data, seed: build(data, seed).fit(getattr(data, take)).labels_


def get_command_kinds(data: Prepared) -> dict[str, str]:
    """Return the kinds of the views as the command line detects them: weighted counts are numbers."""
    return {name: "counts" if kind == "counts" else "numbers" for name, kind in data.kinds.items()}


def fit_automatic(data: Prepared, seed: int) -> np.ndarray:
    """Fit as ``consilience cluster`` does without options except -k and --seed.

    Matrices of links are given as a list of links, so that their encoding is chosen, as for a file of links.
    """
    kinds, n = get_command_kinds(data), len(data.target)
    contents = [ViewContent(name, "", kinds[name], (X, None), n, None) for name, X in data.counts.items()]
    name, _ = choose_method("auto", contents, has_constraints=False, encode={})
    method = find_estimator(name)
    if data.links is None:
        model = method.build(data.n_clusters, kinds, seed=seed)
        return model.fit(data.counts if method.takes_raw_counts else data.weighed).labels_
    contents = data.links.replace_matrices(contents)
    entities, rare = join_contents(contents), not method.takes_raw_counts
    choices = select_encodings(contents, entities, rare=rare, n_clusters=data.n_clusters, random_state=seed)
    encoded = fit_and_encode(contents, rare=rare, entities=entities, encode=choices.encode)
    labels = np.full(len(data.target), -1)  # entities that the chosen encodings do not describe
    labels[encoded.kept] = method.build(data.n_clusters, encoded.kinds, seed=seed).fit(encoded.views).labels_
    return labels


def build_concatenated(model: Callable[..., Any], **settings: Any) -> Callable[[Prepared, int], Any]:
    return lambda data, seed: cs.baselines.ConcatenatedViews(
        model(n_clusters=data.n_clusters, random_state=seed, **settings)
    )


def build_single_view(first: bool) -> Callable[[Prepared, int], Any]:
    return lambda data, seed: cs.baselines.SingleView(
        cs.CoTrainedSpectral(data.n_clusters, random_state=seed), view=data.weighed.names[0] if first else None
    )


def build_by_command(name: str) -> Callable[[Prepared, int], Any]:
    return lambda data, seed: find_estimator(name).build(data.n_clusters, get_command_kinds(data), seed=seed)


def build_with_seed(model: Callable[..., Any]) -> Callable[[Prepared, int], Any]:
    return lambda data, seed: model(data.n_clusters, random_state=seed)


def fit_dense(model: Callable[..., Any]) -> Labels:
    """Fit a method of consilience to the input of the peers: reduced, zeros for missing views."""
    return lambda data, seed: model(data.n_clusters, random_state=seed).fit(data.dense).labels_


# Peers: dense views, with zeros for missing views unless the method supports them


def fit_peer(
    module: str, name: str, *, gaps: bool = False, most_views: int | None = None, k: str = "n_clusters"
) -> Labels:
    def labels(data: Prepared, seed: int) -> np.ndarray:
        if most_views is not None and len(data.dense) > most_views:
            raise ValueError(ONLY_TWO)
        model = getattr(import_module(module), name)(**{k: data.n_clusters}, random_state=seed)
        return model.fit_predict(data.with_gaps if gaps else data.dense)

    return labels


def fit_lmgec(data: Prepared, seed: int) -> np.ndarray:
    """Fit LMGEC, which has no seed: numpy's global seed is set."""
    np.random.seed(seed)  # noqa: NPY002
    return np.asarray(import_module("mvcluster.cluster").LMGEC(n_clusters=data.n_clusters).fit(data.dense).labels_)


def fuse_networks(data: Prepared) -> tuple[np.ndarray, int]:
    """Fuse similarity networks, which is deterministic."""
    snf = import_module("snf")
    return snf.snf(*snf.make_affinity(*data.dense)), data.n_clusters


def cluster_fused(made: tuple[np.ndarray, int], seed: int) -> np.ndarray:
    spectral_clustering = import_module("sklearn.cluster").spectral_clustering
    return spectral_clustering(made[0], n_clusters=made[1], random_state=seed)


@dataclass(frozen=True, eq=False)
class Graphs:
    """Input of the Leiden methods."""

    mdata: Any
    n_clusters: int


def build_view_graphs(data: Prepared) -> Graphs:
    """Build a nearest-neighbor graph per view."""
    anndata, scanpy, mudata = (import_module(name) for name in ("anndata", "scanpy", "mudata"))
    views = {}
    for name, X in zip(data.weighed.names, data.dense, strict=True):
        views[name] = anndata.AnnData(X.astype(np.float32))
        scanpy.pp.neighbors(views[name], use_rep="X")
    return Graphs(mudata.MuData(views), data.n_clusters)


def build_weighted_graph(data: Prepared) -> Graphs:
    """Combine the graphs of the views by weighted nearest neighbors."""
    made = build_view_graphs(data)
    import_module("muon").pp.neighbors(made.mdata)
    return made


def run_multiplex_leiden(made: Graphs, seed: int, resolution: float | None = None) -> np.ndarray:
    import_module("muon").tl.leiden(
        made.mdata, random_state=seed + 1, resolution=resolution
    )  # it interprets 0 as no seed
    return made.mdata.obs["leiden"].to_numpy().astype(int)


def run_weighted_leiden(made: Graphs, seed: int, resolution: float = 1.0) -> np.ndarray:
    whole = import_module("anndata").AnnData(np.zeros((made.mdata.n_obs, 1), dtype=np.float32))
    graph = made.mdata.obsp["connectivities"]
    import_module("scanpy").tl.leiden(whole, adjacency=graph, random_state=seed, resolution=resolution)
    return whole.obs["leiden"].to_numpy().astype(int)


def search_resolution(leiden: Callable[..., np.ndarray], made: Graphs, seed: int) -> np.ndarray:
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


def make_leiden_lines(name: str, leiden: Callable[..., np.ndarray]) -> dict[str, Callable[[Any, int], np.ndarray]]:
    return {f"{name}, own number": leiden, f"{name}, k": partial(search_resolution, leiden)}


def build_consilience(**options: Any) -> Callable[[Prepared, int], Any]:
    """Build Consilience with other options, to measure their effect."""
    return lambda data, seed: cs.Consilience(data.n_clusters, random_state=seed, **options)


def fit_port(cluster: Callable[[list[np.ndarray], int], np.ndarray]) -> Labels:
    """Fit a port of a method that does not depend on the seed."""
    return lambda data, _: cluster(data.dense, data.n_clusters)


SCVERSE = ("anndata", "igraph", "leidenalg", "mudata", "muon", "scanpy")

METHODS: dict[str, Method] = {
    **declare_method("consilience auto", fit_automatic),
    **declare_method("Consilience", fit_ours(build_with_seed(cs.Consilience))),
    **declare_method("GMC (port)", fit_port(cluster_gmc), random=False),
    **declare_method("SGLA (port)", fit_port(cluster_sgla), random=False),
    **declare_method("MultiViewSphericalKMeans", fit_ours(build_with_seed(cs.MultiViewSphericalKMeans))),
    **declare_method("MultiViewKMeans", fit_ours(build_with_seed(cs.MultiViewKMeans))),
    **declare_method("CoTrainedSpectral", fit_ours(build_with_seed(cs.CoTrainedSpectral))),
    **declare_method("CoEM", fit_ours(build_with_seed(cs.CoEM), "counts")),
    **declare_method("CoEM, as the command", fit_ours(build_by_command("co-em"), "counts")),
    **declare_method("KernelAddition", fit_ours(build_with_seed(cs.baselines.KernelAddition))),
    **declare_method("CoRegularizedSpectral", fit_ours(build_with_seed(cs.baselines.CoRegularizedSpectral))),
    **declare_method("side by side, k-means", fit_ours(build_concatenated(KMeans, n_init=10))),
    # the default kernel of SpectralClustering, exp(-|x - y|^2), is 0 for nearly all pairs of standardized rows
    **declare_method(
        "side by side, spectral", fit_ours(build_concatenated(SpectralClustering, affinity="nearest_neighbors"))
    ),
    **declare_method("first view, spectral", fit_ours(build_single_view(first=True))),
    **declare_method("view chosen blindly, spectral", fit_ours(build_single_view(first=False))),
    **declare_method("imml NEMO", fit_peer("imml.cluster", "NEMO", gaps=True), "imml"),
    "muon multiplex": Method(
        make_leiden_lines("muon multiplex Leiden", run_multiplex_leiden), SCVERSE, build_view_graphs
    ),
    "snfpy": Method({"snfpy SNF": cluster_fused}, ("snf",), fuse_networks),
    **declare_method("imml SIMCADC", fit_peer("imml.cluster", "SIMCADC", gaps=True), "imml"),
    **declare_method("imml EEIMVC", fit_peer("imml.cluster", "EEIMVC", gaps=True), "imml"),
    **declare_method("imml LFIMVC", fit_peer("imml.cluster", "LFIMVC", gaps=True), "imml"),
    **declare_method("polyview MultiViewKMeans", fit_peer("polyview", "MultiViewKMeans"), "polyview"),
    **declare_method(
        "mvlearn MultiviewSphericalKMeans",
        fit_peer("mvlearn.cluster", "MultiviewSphericalKMeans", most_views=2),
        "mvlearn",
    ),
    **declare_method(
        "mvlearn MultiviewKMeans", fit_peer("mvlearn.cluster", "MultiviewKMeans", most_views=2), "mvlearn"
    ),
    **declare_method("Consilience, input of the other libraries", fit_dense(cs.Consilience)),
    **declare_method("CoTrainedSpectral, peers' input", fit_dense(cs.CoTrainedSpectral)),
    **declare_method("MultiViewSphericalKMeans, peers' input", fit_dense(cs.MultiViewSphericalKMeans)),
    **declare_method("polyview co-regularised", fit_peer("polyview", "MultiViewCoRegSpectralClustering"), "polyview"),
    **declare_method(
        "polyview co-trained",
        fit_peer("polyview.cluster.mv_cotrain_sc", "MultiViewCoTrainSpectralClustering"),
        "polyview",
    ),
    **declare_method("polyview MultiViewNMF", fit_peer("polyview", "MultiViewNMF", k="n_components"), "polyview"),
    **declare_method("mvcluster LMGEC", fit_lmgec, "mvcluster", "tensorflow"),
    **declare_method("polyclustx SGLA", fit_peer("polyclustx.models", "SGLA"), "polyclustx"),
    **declare_method("polyclustx MultiViewKMeans", fit_peer("polyclustx.models", "MultiViewKMeans"), "polyclustx"),
    **declare_method(
        "polyclustx co-trained", fit_peer("polyclustx.models", "MultiViewSpectralClustering"), "polyclustx"
    ),
    **declare_method("polyclustx GCoMVKM", fit_peer("polyclustx.models", "GCoMVKM"), "polyclustx"),
    **declare_method("polyclustx DGF", fit_peer("polyclustx.models", "DGF"), "polyclustx"),
    **declare_method("polyclustx UMC", fit_peer("polyclustx.models", "UMC"), "polyclustx"),
    **declare_method("imml DAIMC", fit_peer("imml.cluster", "DAIMC", gaps=True), "imml"),
    **declare_method("imml IMSR", fit_peer("imml.cluster", "IMSR", gaps=True), "imml"),
    **declare_method("imml PIMVC", fit_peer("imml.cluster", "PIMVC", gaps=True), "imml"),
    **declare_method("imml OPIMC", fit_peer("imml.cluster", "OPIMC", gaps=True), "imml"),
    **declare_method("ConvexMixture", fit_ours(lambda data, _: cs.ConvexMixture(data.n_clusters)), random=False),
    **declare_method("mvlearn co-trained", fit_peer("mvlearn.cluster", "MultiviewSpectralClustering"), "mvlearn"),
    **declare_method(
        "mvlearn co-regularised", fit_peer("mvlearn.cluster", "MultiviewCoRegSpectralClustering"), "mvlearn"
    ),
    "muon WNN": Method(make_leiden_lines("muon WNN + Leiden", run_weighted_leiden), SCVERSE, build_weighted_graph),
    **declare_method("imml SUMO", fit_peer("imml.cluster", "SUMO", gaps=True), "imml"),
    **declare_method("imml MONET", fit_peer("imml.cluster", "MONET", gaps=True), "imml"),
    **declare_method("Consilience, components only", fit_ours(build_consilience(predictors=("components",)))),
    **declare_method("Consilience, graph only", fit_ours(build_consilience(predictors=("graph",)))),
    **declare_method(
        "Consilience, components and neighbours", fit_ours(build_consilience(predictors=("components", "neighbors")))
    ),
    **declare_method("Consilience, one start of each kind", fit_ours(build_consilience(n_init=1))),
    **declare_method("Consilience, no balance", fit_ours(build_consilience(balance=0.0))),
    **declare_method("Consilience, equal sizes", fit_ours(build_consilience(balance=1.0))),
}

# The methods of the leaderboard, in this order: a run that is stopped early has the most important ones. The page says
# which methods are left out.
LEADERBOARD: tuple[str, ...] = (
    "consilience auto", "Consilience", "Consilience, input of the other libraries", "GMC (port)", "SGLA (port)",
    "KernelAddition", "muon multiplex", "polyclustx SGLA", "imml NEMO", "CoRegularizedSpectral", "CoTrainedSpectral",
    "MultiViewSphericalKMeans", "MultiViewKMeans", "side by side, spectral", "side by side, k-means",
    "polyview co-regularised", "polyview co-trained", "snfpy", "imml EEIMVC", "CoEM, as the command",
    "mvlearn co-regularised", "polyview MultiViewKMeans", "imml LFIMVC", "imml SIMCADC", "polyclustx GCoMVKM",
    "mvcluster LMGEC", "mvlearn MultiviewSphericalKMeans", "mvlearn MultiviewKMeans", "mvlearn co-trained",
    "imml PIMVC", "imml IMSR", "imml OPIMC", "imml DAIMC", "polyview MultiViewNMF", "polyclustx MultiViewKMeans",
    "polyclustx co-trained", "polyclustx UMC", "polyclustx DGF", "muon WNN",
)  # fmt: skip
