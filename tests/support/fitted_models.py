"""Every estimator in every mode, with data that it can be fitted on."""

import warnings
from functools import partial
from itertools import cycle

import numpy as np
import scipy.sparse as sp

import consilience as cs
from consilience import affinities, baselines, divergences
from consilience.datasets import make_gaussian_views

N = 60
TRAIN, NEW = np.arange(48), np.arange(40, N)  # the new rows overlap the training rows


def make_views(kind):
    """Return three views without negative values."""
    missing = 0.3 if kind == "missing" else 0
    views, _ = make_gaussian_views(N, n_clusters=3, n_features=(4, 6, 3), separation=6, missing=missing, random_state=3)
    positive = views.map(lambda X: np.abs(X) + 0.01)
    return positive.map(sp.csr_array) if kind == "sparse" else positive


def make_binary_views(kind):
    return make_views(kind).map(lambda X: X if sp.issparse(X) and not X.nnz else X > 2).map(lambda X: X * 1.0)


def make_fraction_views(kind):
    return make_views(kind).map(lambda X: X / (1 + abs(X).max()) if sp.issparse(X) else X / (1 + np.nanmax(X)))


def make_categories():
    rng = np.random.default_rng(0)
    return cs.Views({name: rng.integers(0, 3, (N, 4)) for name in ("a", "b")})


def make_distances():
    """Return the squared distances of all rows to the training rows."""
    blocks = make_views("dense").items()
    return cs.Views({name: np.square(X[:, None] - X[TRAIN]).sum(axis=2) for name, X in blocks})


def make_similarities(sparse=False):
    return make_distances().map(lambda D: sp.csr_array(np.exp(-D / 20)) if sparse else np.exp(-D / 20))


def make_inner_products():
    return cs.Views({name: X @ X[TRAIN].T for name, X in make_views("dense").items()})


def make_one_view(kind):
    return make_views(kind)["view0"]


LINKS = cs.Constraints([(0, 1), (2, 3)], [(0, 2), (4, 5)])
SEEDED = {"random_state": 0}
QUICK = {"random_state": 0, "n_init": 2}
REFINED = {"refine": "kernel-kmeans"}
PREDICTORS = ("components", "graph", "neighbors")
REFINABLE = {"squared-euclidean", "cosine", "mahalanobis"}  # divergences that kernel k-means can refine
DENSE_ONLY = {"gaussian-full", "gaussian-tied", "mahalanobis", "itakura-saito"}

turns = cycle(("dense", "sparse", "missing"))


def take_turns(make=make_views, needs_dense=False):
    """Return views of the next kind in turn."""
    kind = next(turns)
    return partial(make, "missing" if kind == "sparse" and needs_dense else kind)


GENERAL = {  # estimators that take every kind of views
    "cross-fitted": cs.Consilience(3, n_init=1, **SEEDED),
    "cross-fitted neighbors": cs.Consilience(3, predictors=PREDICTORS, n_init=1, **SEEDED),
    "k-means": cs.MultiViewKMeans(3, **QUICK),
    "spherical k-means": cs.MultiViewSphericalKMeans(3, **QUICK),
    "agglomerative": cs.MultiViewAgglomerative(3),
    "convex": cs.ConvexMixture(3, weights="uniform"),
    "spectral features": cs.PerView(cs.SpectralFeatures(3, **SEEDED)),
    "constrained": cs.MultiViewConstrainedKMeans(3, transfer="direct"),
    "addition": baselines.KernelAddition(3, **QUICK),
    "product": baselines.KernelProduct(3, **QUICK),
    "disagreement": baselines.MinimumDisagreement(3, **QUICK),
    "mean disagreement": baselines.MinimumDisagreement(3, embedding="mean", **QUICK),
    "pairwise": baselines.CoRegularizedSpectral(3, **QUICK),
    "centroid": baselines.CoRegularizedSpectral(3, kind="centroid", **QUICK),
    "linear cca": baselines.CCASpectral(3, **QUICK),
    "kernel cca": baselines.CCASpectral(3, kind="kernel", **QUICK),
    "linear cca k-means": baselines.CCAKMeans(3, view="view0", **QUICK),
    "kernel cca k-means": baselines.CCAKMeans(3, kind="kernel", **QUICK),
    "merged": baselines.MergedViews(cs.MultiViewKMeans(3, **QUICK), {}),
    "concatenated": baselines.ConcatenatedViews(cs.MultiViewKMeans(3, **QUICK)),
    "single": baselines.SingleView(cs.MultiViewKMeans(3, **QUICK)),
}
MODES = {name: (take_turns(), model) for name, model in GENERAL.items()}  # data, estimator
for family in cs.families.FAMILIES:
    if family != "categorical":
        make = make_binary_views if family == "bernoulli" else make_views
        model = cs.CoEM(3, families=family, eta=0.3, **QUICK)
        MODES[f"co-em {family}"] = take_turns(make, family in DENSE_ONLY), model
for affinity in affinities.AFFINITIES:
    if affinity != "precomputed":
        MODES[f"spectral {affinity}"] = take_turns(), cs.CoTrainedSpectral(3, affinity=affinity, n_iter=2, **QUICK)
for divergence in divergences.DIVERGENCES:
    if divergence not in ("precomputed", "kernel"):
        data = take_turns(make_fraction_views if divergence == "bernoulli" else make_views, divergence in DENSE_ONLY)
        MODES[f"convex {divergence}"] = data, cs.ConvexMixture(3, divergence=divergence)
        if divergence in REFINABLE:
            MODES[f"convex refined {divergence}"] = data, cs.ConvexMixture(3, divergence=divergence, **REFINED)
dense, similarities = partial(make_views, "dense"), partial(make_similarities, sparse=True)
neighbors, full = affinities.NearestNeighbors(8, approximate=True), cs.MPCKMeans(metric="full", n_init=2)
MODES |= {
    "co-em categorical": (make_categories, cs.CoEM(3, families="categorical", **QUICK)),
    "co-em objects": (dense, cs.CoEM(3, families=[cs.families.Gaussian(), "gaussian-full", "gaussian"], **QUICK)),
    "co-em annealed": (dense, cs.CoEM(3, anneal=[0.5, 0.2], priors="view", assignment="average", **QUICK)),
    "constrained metric": (dense, cs.MultiViewConstrainedKMeans(3, base="mpck")),
    "cross-fitted precomputed": (make_similarities, cs.Consilience(3, affinity="precomputed", n_init=1, **SEEDED)),
    "cross-fitted precomputed sparse": (similarities, cs.Consilience(3, affinity="precomputed", n_init=1, **SEEDED)),
    "cross-fitted constraints": (dense, cs.Consilience(3, **SEEDED)),
    "spectral precomputed": (make_similarities, cs.CoTrainedSpectral(3, affinity="precomputed", **QUICK)),
    "spectral precomputed sparse": (similarities, cs.CoTrainedSpectral(3, affinity="precomputed", **QUICK)),
    "spectral local": (dense, cs.CoTrainedSpectral(3, affinity="gaussian", bandwidth="local", **QUICK)),
    "spectral approximate": (dense, cs.CoTrainedSpectral(3, affinity=neighbors, **QUICK)),
    "spectral one view": (dense, cs.CoTrainedSpectral(3, embedding="view1", **QUICK)),
    "spectral compact": (dense, cs.CoTrainedSpectral(3, n_iter="compactness", **QUICK)),
    "spectral rotated": (dense, cs.CoTrainedSpectral(3, assign_labels="cluster-qr", **QUICK)),
    "convex precomputed": (make_distances, cs.ConvexMixture(3, divergence="precomputed")),
    "convex refined precomputed": (make_distances, cs.ConvexMixture(3, divergence="precomputed", **REFINED)),
    "convex kernel": (make_inner_products, cs.ConvexMixture(3, divergence="kernel")),
    "convex refined kernel": (make_inner_products, cs.ConvexMixture(3, divergence="kernel", **REFINED)),
    "convex em": (dense, cs.ConvexMixture(3, solver="em", inner_tol=1e-3)),
    "convex auto": (dense, cs.ConvexMixture(beta="auto")),
    "pck-means": (partial(make_one_view, "sparse"), cs.PCKMeans(3, **SEEDED)),
    "mpck-means": (partial(make_one_view, "dense"), cs.MPCKMeans(3, **SEEDED)),
    "mpck-means full": (partial(make_one_view, "dense"), cs.MPCKMeans(3, metric="full", **SEEDED)),
    "cop-means": (partial(make_one_view, "dense"), cs.COPKMeans(3, **SEEDED)),
    "constrained cop": (dense, cs.MultiViewConstrainedKMeans(3, base="cop", **SEEDED)),
    "constrained estimator": (dense, cs.MultiViewConstrainedKMeans(3, base=full, **SEEDED)),
    "features": (partial(make_one_view, "sparse"), cs.SpectralFeatures(3, **SEEDED)),
    "columns": (
        lambda: make_views("dense")["view1"],
        cs.MultiViewKMeans(3, views={"left": slice(0, 3), "right": [3, 4, 5]}, **QUICK),
    ),
}


def fit_mode(mode):
    data, model = MODES[mode]
    X = data()
    constrained = mode.startswith(("pck", "mpck", "cop", "constrained")) or mode.endswith("constraints")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the data is too small for good clusters
        return model.fit(X[TRAIN], **({"constraints": LINKS} if constrained else {})), X[NEW]


METHODS = ("predict", "predict_proba", "transform", "score_samples", "score")


def apply_model(model, X):
    """Return the results of all methods on new data, and the attributes of the fit, by name."""
    results = {name: getattr(model, name)(X) for name in METHODS if hasattr(model, name)}
    results |= {"cut": model.cut(2), "linkage": model.linkage_matrix()} if hasattr(model, "cut") else {}
    results |= {name: value for name, value in vars(model).items() if name in ("labels_", "agreement_", "history_")}
    return results
