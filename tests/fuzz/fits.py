"""Every estimator and baseline, with random parameters, on random views."""

from __future__ import annotations

import copy
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.cluster import DBSCAN, AgglomerativeClustering, KMeans
from sklearn.preprocessing import Binarizer, MaxAbsScaler

import consilience as cs
from consilience import baselines

from .blocks import random_views, similarities
from .case import ACCEPTED, Case, Failure, Refused, call, require

INVALID = (0, -1, 2.5, "nonsense", None, [], {}, float("nan"), float("inf"), True, np.zeros((2, 2)), (1, "a"))
AFFINITIES = (*tuple(sorted(cs.affinities.AFFINITIES)), "auto")
DIVERGENCES = tuple(sorted(cs.divergences.DIVERGENCES))
FAMILIES = (*sorted(cs.families.FAMILIES), "auto")

ITERATED = {"n_init": (1, 2), "max_iter": (1, 3, 20), "tol": (0.0, 1e-6, 0.5), "init": ("k-means++", "random")}
SPECTRAL = {
    "affinity": AFFINITIES,
    "bandwidth": (None, None, "median", 1.0, 1e-9, 1e9),
    "assign_labels": ("kmeans", "cluster-qr"),
    "n_init": (1, 2),
}
CONSTRAINED = {"order": ("random", "index"), "max_iter": (1, 3, 20), "tol": (0.0, 1e-3)}

# the parameters of each estimator beside n_clusters, random_state and views, and their valid values
PARAMETERS: dict[type, dict[str, tuple[Any, ...]]] = {
    cs.MultiViewKMeans: ITERATED | {"patience": (1, 5)},
    cs.MultiViewSphericalKMeans: ITERATED | {"patience": (1, 5)},
    cs.CoEM: ITERATED
    | {
        "families": FAMILIES,
        "eta": (0.0, 0.25, 1.0),
        "anneal": (None, "geometric", "linear", [0.1, 1.0]),
        "priors": ("uniform", "global", "view"),
        "assignment": ("joint", "average"),
    },
    cs.Consilience: {
        "affinity": ("auto", "auto", "precomputed"),
        "predictors": (
            ("components", "graph"),
            ("components", "graph", "neighbors"),
            ["graph"],
            ("neighbors",),
            ("components",),
        ),
        "init": ("auto",),
        "n_init": (1, 2),
        "max_iter": (1, 3, 20),
        "tol": (0.0, 1e-3, 0.5),
        "penalty": (0.05, 1e-9, 1e6),
        "balance": (0.0, 0.5, 1.0),
        "sample_size": (10, 12, 20_000),
    },
    cs.CoTrainedSpectral: SPECTRAL
    | {
        "n_iter": ("auto", "compactness", 0, 1, 3),
        "n_projections": (None, 1, 2),
        "embedding": ("concat", "v0", "view0"),
    },
    cs.ConvexMixture: {
        "weights": ("learned", "uniform"),
        "divergence": ("squared-euclidean", *DIVERGENCES),
        "beta": (1.0, "auto", 1e-6, 1e6),
        "beta_unit": ("beta0", "absolute"),
        "normalizer": (False, True),
        "min_weight": (0.0, 0.01, 1.0),
        "refine": (None, "kernel-kmeans"),
        "solver": ("newton", "em"),
        "inner_tol": (1e-4, 1e-2),
        "max_iter": (1, 10, 100),
        "tol": (1e-3, 1e-4),
    },
    cs.MultiViewAgglomerative: {
        "linkage": ("average", "single", "complete"),
        "metric": ("cosine", "euclidean", "precomputed"),
    },
    cs.PCKMeans: CONSTRAINED | {"init": ("largest", "farthest"), "n_init": (1, 2)},
    cs.COPKMeans: CONSTRAINED | {"init": ("largest", "farthest"), "n_init": (1, 3)},
    cs.MPCKMeans: CONSTRAINED
    | {
        "init": ("largest", "farthest"),
        "n_init": (1, 2),
        "metric": ("diagonal", "full", "identity"),
        "shared_metric": (False, True),
        "penalty": ("distance", "unit"),
    },
    cs.MultiViewConstrainedKMeans: CONSTRAINED
    | {
        "base": ("pck", "mpck", "cop", cs.PCKMeans(init="farthest"), cs.MPCKMeans(metric="full")),
        "transfer": ("propagate", "direct", "membership", "none"),
        "threshold": (0.5, 0.9, "auto"),
        "metric": ("diagonal", "diagonal", "full"),
        "shared_metric": (False, False, True),
        "gamma": (1e-6, 1e-6, 0.1),
        "init": (None, "largest", "farthest"),
    },
    baselines.KernelAddition: SPECTRAL,
    baselines.KernelProduct: SPECTRAL,
    baselines.MinimumDisagreement: SPECTRAL | {"embedding": ("concat", "mean", "v0", "view0")},
    baselines.CoRegularizedSpectral: SPECTRAL
    | {"kind": ("pairwise", "centroid"), "weight": (0.05, 0.0, 10.0), "max_iter": (1, 20), "tol": (0.0, 1e-4)},
    baselines.CCASpectral: SPECTRAL
    | {
        "kind": ("linear", "kernel"),
        "n_components": (None, 1, 2),
        "regularization": (0.1, 0.0, 10.0),
        "kernel": AFFINITIES,
        "rank": (None, 1, 5),
    },
    baselines.CCAKMeans: {
        "n_init": (1, 2),
        "kind": ("linear", "kernel"),
        "n_components": (None, 1, 2),
        "regularization": (0.1, 0.0, 10.0),
        "kernel": AFFINITIES,
        "rank": (None, 1, 5),
        "view": (None, "v0", "view0"),
    },
    baselines.ConcatenatedViews: {},
    baselines.SingleView: {"view": (None, "v0", "view0")},
    baselines.MergedViews: {"join": ("concat", "sum")},
    cs.SpectralFeatures: {"affinity": AFFINITIES, "bandwidth": (None, None, "median", 1.0, 1e-9, 1e9)},
    cs.PerView: {},
}
LINKED = (cs.COPKMeans, cs.PCKMeans, cs.MPCKMeans, cs.MultiViewConstrainedKMeans, cs.Consilience)
SINGLE = (cs.COPKMeans, cs.PCKMeans, cs.MPCKMeans, cs.SpectralFeatures)
WRAPPERS = (baselines.ConcatenatedViews, baselines.SingleView, baselines.MergedViews, cs.PerView)
SQUARE = ("affinity", "metric", "divergence", "kernel")
REPEATED_BY_PREDICT = (cs.MultiViewKMeans, cs.MultiViewSphericalKMeans, cs.CoEM, cs.ConvexMixture)


def check(case: Case) -> str:
    """Fit one estimator; require a clean refusal, or labels and attributes that keep every promise."""
    kind = case.choose(PARAMETERS)
    X, n = random_views(case, most_views=1 if kind in SINGLE and case.chance(0.95) else 3)
    make, parameters = random_estimator(case, kind, n)
    case.note(estimator=kind.__name__, parameters=parameters)
    square = [name for name in SQUARE if isinstance(parameters.get(name), str) and parameters[name] == "precomputed"]
    if square and case.chance(0.9):
        X = square_views(case, n, distances=square[0] in ("metric", "divergence"))
    if callable(X):
        X = call(X)
    before = copy.deepcopy(X)
    fit = partial(call, tolerated=(UserWarning, RuntimeWarning)) if kind in WRAPPERS else call  # of other libraries
    fit_options = {"constraints": random_constraints(case, n)} if kind in LINKED and case.chance(0.7) else {}
    case.note(**fit_options)
    try:
        model = make()
        expected = {name: repr(value) for name, value in model.get_params(deep=True).items()}
        fit(model.fit, X, **fit_options)
    except Refused:
        require(not hasattr(model, "labels_"), "a refused fit left labels_ behind")
        raise
    finally:
        require(same(X, before), "the input was modified")
    after = {name: repr(value) for name, value in model.get_params(deep=True).items()}
    require(after == expected, f"fit changed the parameters to {after}")
    if kind in (cs.SpectralFeatures, cs.PerView):
        check_transformer(model, X)
        return ACCEPTED
    check_labels(kind, model, parameters)
    try:
        again = fit(clone(model).fit, X, **fit_options)
        labels = fit(clone(model).fit_predict, X, **fit_options)
    except Refused as refusal:
        raise Failure(f"the second fit is refused: {refusal}") from refusal
    require(np.array_equal(model.labels_, again.labels_), "two fits with the same seed differ")
    require(np.array_equal(model.labels_, labels), "fit_predict differs from fit(...).labels_")
    check_attributes(model)
    check_prediction(case, kind, model, X)
    return ACCEPTED


def random_estimator(case: Case, kind: type, n: int) -> tuple[Callable[[], Any], dict[str, Any]]:
    """Choose parameters, mostly valid, a few at a time."""
    choices = PARAMETERS[kind]
    chosen = [name for name in choices if case.chance(0.5)]
    parameters = {name: case.choose(choices[name]) for name in chosen}
    n_clusters = int(case.choose([2, 2, 2, 3, 3, 4, 4, 1, 8, n, n - 1]))
    n_clusters = max(min(n_clusters, n), 1) if not case.chance(0.02) else n + 1
    seed = int(case.rng.integers(100))
    if kind is cs.SpectralFeatures:
        parameters |= {"n_components": n_clusters, "random_state": seed}
    elif kind is cs.PerView:
        parameters |= {"transformer": case.choose([Binarizer(), MaxAbsScaler(), Binarizer(threshold=1.5)])}
    elif kind in (baselines.ConcatenatedViews, baselines.SingleView):
        parameters["estimator"] = inner_estimator(case, n_clusters, seed)
    elif kind is baselines.MergedViews:
        parameters["estimator"] = cs.MultiViewKMeans(n_clusters, n_init=1, random_state=seed)
        parameters["groups"] = case.choose([{}, {"both": ["v0", "v1"]}, {"both": ["view0", "view1"]}, {"x": ["v9"]}])
    else:
        parameters["n_clusters"] = n_clusters if kind is not cs.ConvexMixture or case.chance(0.8) else None
        if kind not in (cs.ConvexMixture, cs.MultiViewAgglomerative):
            parameters["random_state"] = seed
    if "init" in choices and case.chance(0.1):
        parameters["init"] = random_init(case, n, n_clusters)
    if kind not in WRAPPERS and case.chance(0.1):
        parameters["n_jobs"] = case.choose([1, 2, -1])
    if case.chance(0.05):
        name = case.choose(parameters)
        parameters[name] = case.choose(INVALID if name != "random_state" else (-1, "nonsense", 2.5))
    return (lambda: kind(**parameters)), parameters


def inner_estimator(case: Case, n_clusters: int, seed: int) -> Any:
    """Draw the estimator that a baseline wraps."""
    return case.choose(
        [
            KMeans(n_clusters, n_init=1, random_state=seed),
            AgglomerativeClustering(n_clusters),
            DBSCAN(),
            cs.MultiViewKMeans(n_clusters, n_init=1, random_state=seed),
            cs.PCKMeans(n_clusters, random_state=seed),
        ]
    )


def random_init(case: Case, n: int, n_clusters: int) -> Any:
    """Draw labels, responsibilities or centres to start from, some of the wrong shape."""
    rng = case.rng
    labels = rng.integers(max(n_clusters, 1), size=n)
    return case.choose(
        [
            labels,
            labels[: n // 2],
            labels.tolist(),
            {"v0": labels, "view0": labels},
            {"v0": labels},
            {"v0": rng.normal(size=(n_clusters, 3))},
            rng.dirichlet(np.ones(n_clusters), size=n),
            rng.normal(size=(n_clusters, 3)),
        ]
    )


def random_constraints(case: Case, n: int) -> Any:
    """Draw constraints: some contradict each other or name entities that do not exist."""
    rng = case.rng
    if n < 2 or case.chance(0.05):
        return case.choose([None, cs.Constraints(), "nonsense", [(0, 1)]])
    top = n if not case.chance(0.05) else n + 2
    pairs = rng.integers(top, size=(int(rng.integers(1, 12)), 2))
    pairs = pairs[pairs[:, 0] != pairs[:, 1]]
    if case.chance(0.6):  # consistent: both ends agree with a hidden partition
        group = rng.integers(2, size=top)
        same_group = group[pairs[:, 0]] == group[pairs[:, 1]]
        must, cannot = pairs[same_group], pairs[~same_group]
    else:
        must, cannot = pairs[::2], pairs[1::2]
    weights = {"must_weights": rng.random(len(must)) + 0.01} if case.chance(0.3) else {}
    return cs.Constraints(must, cannot, **weights)


def square_views(case: Case, n: int, distances: bool) -> dict[str, np.ndarray]:
    """Draw similarities or distances for estimators whose affinity or metric is 'precomputed'."""
    views = {f"v{i}": similarities(case, n) for i in range(int(case.choose([1, 2, 2])))}
    return {name: np.diag(S)[:, None] - S for name, S in views.items()} if distances else views


def check_labels(kind: type, model: Any, parameters: dict[str, Any]) -> None:
    """Require integer labels of every entity within the allowed range."""
    labels = model.labels_
    n = len(next(iter(model.view_labels_.values()))) if hasattr(model, "view_labels_") else len(labels)
    require(isinstance(labels, np.ndarray) and labels.shape == (n,), f"labels_ is {type(labels)} {np.shape(labels)}")
    require(labels.dtype.kind in "iu", f"labels_ holds {labels.dtype}")
    inner = parameters.get("estimator")
    k = parameters.get("n_clusters") or getattr(inner, "n_clusters", None) or n
    lowest = -1 if kind is baselines.SingleView or isinstance(inner, DBSCAN) else 0
    require(labels.min(initial=0) >= lowest and labels.max(initial=0) < k, f"labels_ lie outside {lowest}..{k - 1}")


def check_attributes(model: Any) -> None:
    """Require finite numbers in the fitted attributes, except where NaN is documented."""
    documented = {
        "agreement_",
        "correlations_",
        "view_scores_",
        "beta_search_",
        "thresholds_",
        "history_",
        "merges_",
        "distances_",
    }
    for name, value in vars(model).items():
        if name.endswith("_") and not name.startswith("_") and name not in documented:
            check_finite(name, value)
    if hasattr(model, "agreement_"):
        agreement = np.asarray(model.agreement_)
        valid = np.isnan(agreement) | ((agreement >= 0) & (agreement <= 1))
        require(valid.all(), f"agreement_ is {agreement}")


def check_finite(name: str, value: Any) -> None:
    """Require finite numbers in arrays and in mappings of arrays."""
    if isinstance(value, dict):
        for key, part in value.items():
            check_finite(f"{name}[{key!r}]", part)
    elif isinstance(value, (float, np.floating, np.ndarray)):
        array = np.asarray(value)
        require(array.dtype.kind != "f" or np.isfinite(array).all(), f"{name} holds NaN or infinity")


def check_prediction(case: Case, kind: type, model: Any, X: Any) -> None:
    """Require that `predict` and its relatives work on the training views."""
    n = len(model.labels_)
    if hasattr(model, "predict"):
        labels = call_on_training_views(model.predict, X)
        require(labels.shape == (n,) and labels.dtype.kind in "iu", "predict returns no integer per entity")
        if kind in REPEATED_BY_PREDICT:
            require(np.array_equal(labels, model.labels_), "predict on the training views differs from labels_")
        else:
            require(labels.min(initial=0) >= -1 and labels.max(initial=0) < n, "predict returns labels out of range")
    if hasattr(model, "predict_proba"):
        P = call_on_training_views(model.predict_proba, X)
        require(np.isfinite(P).all() and (P >= 0).all(), "predict_proba holds NaN or negative numbers")
        require(np.allclose(P.sum(axis=1), 1, atol=1e-5), "predict_proba does not sum to one")
    if hasattr(model, "transform"):
        D = np.asarray(call_on_training_views(model.transform, X))
        require(D.shape[0] == n and np.isfinite(D).all(), "transform holds NaN or infinity")
    if hasattr(model, "score") and case.chance(0.3):
        require(np.isfinite(call_on_training_views(model.score, X)), "score is not finite")


def call_on_training_views(method: Callable[[Any], Any], X: Any) -> Any:
    """Call a method on the views of the fit, which it must not refuse."""
    try:
        return call(method, X)
    except Refused as refusal:
        raise Failure(f"{method.__name__} refuses the training views: {refusal}") from refusal


def check_transformer(model: Any, X: Any) -> None:
    """Require one row of finite numbers per entity."""
    result = call_on_training_views(model.transform, X)
    parts = dict(result.items()).values() if isinstance(result, cs.Views) else [result]
    for part in parts:
        values = part.data if sp.issparse(part) else np.asarray(part, dtype=float)
        if isinstance(model, cs.SpectralFeatures):
            require(np.isfinite(values).all(), "transform holds NaN or infinity")


def same(X: Any, Y: Any) -> bool:
    """Compare two inputs number by number."""
    if isinstance(X, cs.Views):
        return same(dict(X.items()), dict(Y.items())) and np.array_equal(X.present, Y.present)
    if isinstance(X, dict):
        return all(same(X[name], Y[name]) for name in X)
    if isinstance(X, (list, tuple)) and X and not np.isscalar(X[0]):
        return len(X) == len(Y) and all(same(x, y) for x, y in zip(X, Y, strict=True))
    if sp.issparse(X):
        return np.array_equal(X.toarray(), Y.toarray(), equal_nan=True)
    if hasattr(X, "to_numpy"):
        X, Y = X.to_numpy(), Y.to_numpy()
    X, Y = np.asarray(X), np.asarray(Y)
    if X.dtype == object:
        return repr(X.tolist()) == repr(Y.tolist())
    return np.array_equal(X, Y, equal_nan=X.dtype.kind == "f")
