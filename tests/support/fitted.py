"""Every estimator in every mode, on data it can be fitted on: a new one is picked up by one line here."""

import warnings
from functools import partial

import numpy as np
import scipy.sparse as sp

import consilience as cs
from consilience import affinities, baselines, divergences
from consilience.datasets import make_gaussian_views

N = 60
KNOWN, NEW = np.arange(48), np.arange(40, N)  # some of the new are known


def views_of(kind):
    """Three views without a negative number."""
    missing = 0.3 if kind == "missing" else 0
    views, _ = make_gaussian_views(N, n_clusters=3, n_features=(4, 6, 3), separation=6, missing=missing, random_state=3)
    positive = views.map(lambda X: np.abs(X) + 0.01)
    return positive.map(sp.csr_array) if kind == "sparse" else positive


def yes_or_no(kind):
    return views_of(kind).map(lambda X: X if sp.issparse(X) and not X.nnz else X > 2).map(lambda X: X * 1.0)


def shares(kind):
    return views_of(kind).map(lambda X: X / (1 + abs(X).max()) if sp.issparse(X) else X / (1 + np.nanmax(X)))


def categories():
    rng = np.random.default_rng(0)
    return cs.Views({name: rng.integers(0, 3, (N, 4)) for name in ("a", "b")})


def distances():
    """Of everybody to those of the fit."""
    blocks = views_of("dense").items()
    return cs.Views({name: np.square(X[:, None] - X[KNOWN]).sum(axis=2) for name, X in blocks})


def similarities(sparse=False):
    return distances().map(lambda D: sp.csr_array(np.exp(-D / 20)) if sparse else np.exp(-D / 20))


def inner_products():
    return cs.Views({name: X @ X[KNOWN].T for name, X in views_of("dense").items()})


def one_view(kind):
    return views_of(kind)["view0"]


LINKS = cs.Constraints([(0, 1), (2, 3)], [(0, 2), (4, 5)])
SEEDED = {"random_state": 0}
QUICK = {"random_state": 0, "n_init": 2}
PREDICTORS = ("components", "graph", "neighbors")
MEASURED = {"squared-euclidean", "cosine", "mahalanobis"}  # refined by kernel k-means
DENSE_ONLY = {"gaussian-full", "gaussian-tied", "mahalanobis", "itakura-saito"}

MODES = {}  # name -> data, estimator
for kind in ("dense", "sparse", "missing"):
    own = partial(views_of, kind)
    MODES |= {
        f"cross-fitted {kind}": (own, cs.Consilience(3, n_init=1, **SEEDED)),
        f"cross-fitted neighbors {kind}": (own, cs.Consilience(3, predictors=PREDICTORS, n_init=1, **SEEDED)),
        f"k-means {kind}": (own, cs.MultiViewKMeans(3, **QUICK)),
        f"spherical k-means {kind}": (own, cs.MultiViewSphericalKMeans(3, **QUICK)),
        f"agglomerative {kind}": (own, cs.MultiViewAgglomerative(3)),
        f"convex {kind}": (own, cs.ConvexMixture(3, weights="uniform")),
        f"spectral features {kind}": (own, cs.PerView(cs.SpectralFeatures(3, **SEEDED))),
        f"constrained {kind}": (own, cs.MultiViewConstrainedKMeans(3, transfer="direct")),
        f"addition {kind}": (own, baselines.KernelAddition(3, **QUICK)),
        f"product {kind}": (own, baselines.KernelProduct(3, **QUICK)),
        f"disagreement {kind}": (own, baselines.MinimumDisagreement(3, **QUICK)),
        f"pairwise {kind}": (own, baselines.CoRegularizedSpectral(3, **QUICK)),
        f"centroid {kind}": (own, baselines.CoRegularizedSpectral(3, kind="centroid", **QUICK)),
        f"linear cca {kind}": (own, baselines.CCASpectral(3, **QUICK)),
        f"kernel cca {kind}": (own, baselines.CCASpectral(3, kind="kernel", **QUICK)),
        f"merged {kind}": (own, baselines.MergedViews(cs.MultiViewKMeans(3, **QUICK), {})),
        f"concatenated {kind}": (own, baselines.ConcatenatedViews(cs.MultiViewKMeans(3, **QUICK))),
        f"single {kind}": (own, baselines.SingleView(cs.MultiViewKMeans(3, **QUICK))),
    }
    for family in cs.families.FAMILIES:
        if family != "categorical" and not (kind == "sparse" and family in DENSE_ONLY):
            data = partial(yes_or_no, kind) if family == "bernoulli" else own
            MODES[f"co-em {family} {kind}"] = data, cs.CoEM(3, families=family, eta=0.3, **QUICK)
    for affinity in affinities.AFFINITIES:
        if affinity != "precomputed":
            MODES[f"spectral {affinity} {kind}"] = own, cs.CoTrainedSpectral(3, affinity=affinity, n_iter=2, **QUICK)
    for divergence in divergences.DIVERGENCES:
        if divergence not in ("precomputed", "kernel") and not (kind == "sparse" and divergence in DENSE_ONLY):
            data = partial(shares, kind) if divergence == "bernoulli" else own
            MODES[f"convex {divergence} {kind}"] = data, cs.ConvexMixture(3, divergence=divergence)
            if divergence in MEASURED:
                refined = cs.ConvexMixture(3, divergence=divergence, refine="kernel-kmeans")
                MODES[f"convex refined {divergence} {kind}"] = data, refined
dense = partial(views_of, "dense")
MODES |= {
    "co-em categorical": (categories, cs.CoEM(3, families="categorical", **QUICK)),
    "co-em objects": (dense, cs.CoEM(3, families=[cs.families.Gaussian(), "gaussian-full", "gaussian"], **QUICK)),
    "co-em annealed": (dense, cs.CoEM(3, anneal=[0.5, 0.2], priors="view", assignment="average", **QUICK)),
    "constrained metric": (dense, cs.MultiViewConstrainedKMeans(3, base="mpck")),
    "cross-fitted precomputed": (similarities, cs.Consilience(3, affinity="precomputed", n_init=1, **SEEDED)),
    "cross-fitted precomputed sparse": (
        partial(similarities, sparse=True),
        cs.Consilience(3, affinity="precomputed", n_init=1, **SEEDED),
    ),
    "cross-fitted constraints": (dense, cs.Consilience(3, **SEEDED)),
    "spectral precomputed": (similarities, cs.CoTrainedSpectral(3, affinity="precomputed", **QUICK)),
    "spectral precomputed sparse": (
        partial(similarities, sparse=True),
        cs.CoTrainedSpectral(3, affinity="precomputed", **QUICK),
    ),
    "spectral local": (dense, cs.CoTrainedSpectral(3, affinity="gaussian", bandwidth="local", **QUICK)),
    "spectral one view": (dense, cs.CoTrainedSpectral(3, embedding="view1", **QUICK)),
    "spectral rotated": (dense, cs.CoTrainedSpectral(3, assign_labels="cluster_qr", **QUICK)),
    "convex precomputed": (distances, cs.ConvexMixture(3, divergence="precomputed")),
    "convex refined precomputed": (distances, cs.ConvexMixture(3, divergence="precomputed", refine="kernel-kmeans")),
    "convex kernel": (inner_products, cs.ConvexMixture(3, divergence="kernel")),
    "convex refined kernel": (inner_products, cs.ConvexMixture(3, divergence="kernel", refine="kernel-kmeans")),
    "convex auto": (dense, cs.ConvexMixture(beta="auto")),
    "pck-means": (partial(one_view, "dense"), cs.PCKMeans(3, **SEEDED)),
    "pck-means sparse": (partial(one_view, "sparse"), cs.PCKMeans(3, **SEEDED)),
    "mpck-means": (partial(one_view, "dense"), cs.MPCKMeans(3, **SEEDED)),
    "mpck-means full": (partial(one_view, "dense"), cs.MPCKMeans(3, metric="full", **SEEDED)),
    "features": (partial(one_view, "sparse"), cs.SpectralFeatures(3, **SEEDED)),
    "columns": (
        lambda: views_of("dense")["view1"],
        cs.MultiViewKMeans(3, views={"left": slice(0, 3), "right": [3, 4, 5]}, **QUICK),
    ),
}


def fitted(mode):
    """A fitted model, and data it has not seen."""
    data, model = MODES[mode]
    X = data()
    constrained = mode.startswith(("pck", "mpck", "constrained")) or mode.endswith("constraints")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # data so small make poor clusters
        return model.fit(X[KNOWN], **({"constraints": LINKS} if constrained else {})), X[NEW]


ANSWERS = ("predict", "predict_proba", "transform", "score_samples", "score")


def answers(model, X):
    """All that a model says of data, by the method that says it."""
    found = {name: getattr(model, name)(X) for name in ANSWERS if hasattr(model, name)}
    found |= {"cut": model.cut(2), "linkage": model.linkage_matrix()} if hasattr(model, "cut") else {}
    found |= {name: value for name, value in vars(model).items() if name in ("labels_", "agreement_", "history_")}
    return found
