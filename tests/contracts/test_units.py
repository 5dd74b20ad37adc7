"""Estimators that are scale-free by design find the same clusters whatever the units of the data.

Every public estimator, affinity, divergence and family declares itself here: in `CASES` if the units of the data do not
matter to it, else in `UNIT_DEPENDENT` with the reason. A new one that is in neither fails the last test.
"""

import warnings
from typing import Any, NamedTuple

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import BaseEstimator, clone
from sklearn.cluster import KMeans
from sklearn.metrics import adjusted_rand_score
from sklearn.preprocessing import StandardScaler

import consilience as cs
from consilience import affinities, baselines, divergences, families
from consilience.datasets import make_gaussian_views

NAMES = ["view0", "view1", "view2"]
SCALES = [*(dict.fromkeys(NAMES, scale) for scale in (1e-12, 1e12)), {"view0": 1e-6}, {"view0": 1e9}]
EXACT_SCALES = [dict.fromkeys(NAMES, 2.0**-40), {"view0": 2.0**40}]  # floating-point arithmetic is exact with these


class Case(NamedTuple):
    """An estimator that is scale-free by design."""

    estimator: Any
    data: str = (
        "missing"  # 'missing': some rows lack views; 'complete'; 'positive': complete and above 0; 'single' view
    )
    constraints: bool = False
    each_view: bool = True  # whether the units of a single view may change, or only those of all views together


CASES = {
    "CoEM": Case(cs.CoEM(3, n_init=2)),
    "Consilience": Case(cs.Consilience(3, n_init=1)),
    "Consilience, all predictors": Case(cs.Consilience(3, predictors=("components", "graph", "neighbors"), n_init=1)),
    "CoTrainedSpectral": Case(cs.CoTrainedSpectral(3, n_init=2)),
    "CoTrainedSpectral, local": Case(cs.CoTrainedSpectral(3, affinity="gaussian", bandwidth="local", n_init=2)),
    "ConvexMixture": Case(cs.ConvexMixture(3)),
    "ConvexMixture, uniform": Case(cs.ConvexMixture(3, weights="uniform")),
    "ConvexMixture, refined": Case(cs.ConvexMixture(3, refine="kernel-kmeans"), each_view=False),
    "COPKMeans": Case(cs.COPKMeans(3), "single", constraints=True),
    "MPCKMeans": Case(cs.MPCKMeans(3), "single", constraints=True),
    "MPCKMeans, no constraints": Case(cs.MPCKMeans(3), "single"),
    "MPCKMeans, shared": Case(cs.MPCKMeans(3, shared_metric=True), "single", constraints=True),
    "MPCKMeans, full": Case(cs.MPCKMeans(3, metric="full"), "single", constraints=True),
    "MPCKMeans, full, shared": Case(cs.MPCKMeans(3, metric="full", shared_metric=True), "single", constraints=True),
    "MPCKMeans, unit penalty": Case(cs.MPCKMeans(3, penalty="unit"), "single", constraints=True),
    "MPCKMeans, identity": Case(cs.MPCKMeans(3, metric="identity"), "single", constraints=True),
    "MultiViewAgglomerative, cosine": Case(cs.MultiViewAgglomerative(3, metric="cosine"), "complete"),
    "MultiViewAgglomerative, euclidean": Case(cs.MultiViewAgglomerative(3, metric="euclidean"), "complete"),
    **{
        f"MultiViewConstrainedKMeans, {name}": Case(
            cs.MultiViewConstrainedKMeans(3, max_iter=4, **options), constraints=True
        )
        for name, options in {
            "mpck": {"base": "mpck"},
            "mpck, shared": {"base": "mpck", "shared_metric": True},
            "mpck, full": {"base": "mpck", "metric": "full"},
            "cop": {"base": "cop"},
            "estimator": {"base": cs.MPCKMeans(metric="full")},
        }.items()
    },
    "MultiViewConstrainedKMeans, pck, no constraints": Case(cs.MultiViewConstrainedKMeans(3)),
    "MultiViewKMeans": Case(cs.MultiViewKMeans(3, n_init=2), each_view=False),  # the last vote sums distances
    "MultiViewSphericalKMeans": Case(cs.MultiViewSphericalKMeans(3, n_init=2)),
    "PCKMeans, no constraints": Case(cs.PCKMeans(3), "single"),
    "CCAKMeans": Case(baselines.CCAKMeans(3, n_init=2), "complete"),
    "CCAKMeans, kernel": Case(baselines.CCAKMeans(3, kind="kernel", n_init=2), "complete"),
    "CCASpectral": Case(baselines.CCASpectral(3, n_init=2), "complete"),
    "CCASpectral, kernel": Case(baselines.CCASpectral(3, kind="kernel", n_init=2), "complete"),
    "CoRegularizedSpectral": Case(baselines.CoRegularizedSpectral(3, n_init=2)),
    "CoRegularizedSpectral, centroid": Case(baselines.CoRegularizedSpectral(3, kind="centroid", n_init=2)),
    "ConcatenatedViews": Case(baselines.ConcatenatedViews(KMeans(3, n_init=2)), "complete", each_view=False),
    "KernelAddition": Case(baselines.KernelAddition(3, n_init=2)),
    "KernelProduct": Case(baselines.KernelProduct(3, n_init=2)),
    "MergedViews": Case(
        baselines.MergedViews(cs.MultiViewKMeans(3, n_init=2), {"both": ["view0", "view1"]}),
        "complete",
        each_view=False,
    ),
    "MinimumDisagreement": Case(baselines.MinimumDisagreement(3, n_init=2)),
    "MinimumDisagreement, mean": Case(baselines.MinimumDisagreement(3, embedding="mean", n_init=2)),
    "SingleView": Case(baselines.SingleView(KMeans(3, n_init=2), "view0"), "complete"),
    "SpectralFeatures": Case(cs.PerView(cs.SpectralFeatures(3)), "complete"),
    "PerView": Case(cs.PerView(StandardScaler()), "complete"),
    **{
        f"affinity, {name}": Case(cs.CoTrainedSpectral(3, affinity=name, n_init=2), "positive")
        for name in ("cosine", "gaussian", "intersection", "landmarks", "linear", "nearest-neighbors", "nystroem")
    },
    **{
        f"divergence, {name}": Case(cs.ConvexMixture(3, divergence=name), "positive")
        for name in ("cosine", "itakura-saito", "kl", "mahalanobis")
    },
    **{
        f"family, {name}": Case(cs.CoEM(3, families=name, n_init=2))
        for name in ("gaussian", "gaussian-full", "gaussian-spherical", "gaussian-tied", "von-mises-fisher")
    },
}

UNIT_DEPENDENT = {
    "PCKMeans": "the weights of constraints are in units of squared distances, as in the paper",
    "MultiViewConstrainedKMeans, pck": "the weights of constraints are in units of squared distances, as in the paper",
    "affinity, chi2": "gamma is in units of the histograms: 1 suits rows that sum to one",
    "affinity, polynomial": "a constant is added to the inner products",
    "affinity, precomputed": "similarities have no units",
    "divergence, bernoulli": "probabilities have no units",
    "divergence, kernel": "kernels are given",
    "divergence, precomputed": "divergences are given",
    "family, bernoulli": "zeros and ones have no units",
    "family, categorical": "codes have no units",
    "family, multinomial": "counts have no units",
    "family, poisson": "counts have no units",
}


def make_data(case, separation=9):
    """Views of the kind that a case needs, and constraints."""
    missing = 0.2 if case.data == "missing" else 0.0
    views, y = make_gaussian_views(60, n_features=(3, 4, 3), separation=separation, missing=missing, random_state=3)
    if case.data == "positive":
        views = views.map(lambda X: np.exp(X / 4))
    return views, cs.Constraints.sample(y, 12, random_state=0)


def fit(case, scales, separation=9):
    """Fit to data that are multiplied by scales, view by view; return the labels, or what a transformer returns."""
    views, constraints = make_data(case, separation)
    X = cs.Views({name: scales.get(name, 1.0) * block for name, block in views.items()}, present=views.present)
    model = clone(case.estimator)
    seeds = [name for name in model.get_params() if name.endswith("random_state")]
    model.set_params(**dict.fromkeys(seeds, 0))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        if isinstance(model, cs.PerView):
            return np.hstack([block for _, block in model.fit_transform(X).items()])
        options = {"constraints": constraints} if case.constraints else {}
        return model.fit(X["view0"] if case.data == "single" else X, **options).labels_


def assert_same(result, expected):
    """Equal clusters, or equal features up to rounding and the signs of eigenvectors."""
    if result.ndim == 2:
        np.testing.assert_allclose(np.abs(result), np.abs(expected), atol=1e-6)
    else:
        assert adjusted_rand_score(expected, result) == 1


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_units_do_not_matter(case):
    """Where clusters overlap, an absolute tolerance or regulariser would show; rounding is the same in exact units."""
    for separation, all_scales in ((9, SCALES), (3, EXACT_SCALES)):
        expected = fit(case, {}, separation)
        assert separation == 3 or expected.ndim == 2 or len(set(expected)) == 3
        for scales in all_scales:
            if case.each_view or len(scales) == len(NAMES):
                assert_same(fit(case, scales, separation), expected)


DEPENDENT_CASES = {
    "PCKMeans": Case(cs.PCKMeans(3), "single", constraints=True),
    "MultiViewConstrainedKMeans, pck": Case(cs.MultiViewConstrainedKMeans(3), constraints=True),
    "affinity, chi2": Case(cs.CoTrainedSpectral(3, affinity="chi2", n_init=2), "positive"),
    "affinity, polynomial": Case(cs.CoTrainedSpectral(3, affinity="polynomial", n_init=2), "positive"),
}


@pytest.mark.parametrize("name", DEPENDENT_CASES)
def test_units_matter_where_declared(name):
    """The other entries of UNIT_DEPENDENT take data that have no units, or similarities and divergences."""
    assert name in UNIT_DEPENDENT
    case, scales = DEPENDENT_CASES[name], dict.fromkeys(NAMES, 1e-6)
    assert adjusted_rand_score(fit(case, {}, separation=3), fit(case, scales, separation=3)) < 1


@pytest.mark.parametrize("estimator", [cs.MultiViewKMeans(3, n_init=2), cs.MultiViewSphericalKMeans(3, n_init=2)])
def test_units_of_sparse_views_do_not_matter(estimator):
    views, _ = make_gaussian_views(60, n_clusters=3, n_features=(6, 8), separation=9, random_state=0)
    views = {name: sp.csr_array(np.where(np.abs(X) < 0.5, 0, X)) for name, X in views.items()}
    expected = clone(estimator).set_params(random_state=0).fit_predict(views)
    for scale in (1e-12, 1e-3, 1e12):
        scaled = {name: scale * X for name, X in views.items()}
        assert_same(clone(estimator).set_params(random_state=0).fit_predict(scaled), expected)


@pytest.mark.parametrize("scale", [2.0**-40, 2.0**40])
@pytest.mark.parametrize("estimator", [cs.PCKMeans(3), cs.MultiViewConstrainedKMeans(3, transfer="none")])
def test_units_do_not_matter_to_pck_means_if_weights_follow(estimator, scale):
    X, y = make_gaussian_views(60, n_clusters=3, n_features=(3,), separation=3, random_state=0)
    constraints = cs.Constraints.sample(y, 12, random_state=0)
    model, other = (
        clone(estimator).set_params(random_state=0).fit(s * X["view0"], constraints=s**2 * constraints)
        for s in (1.0, scale)
    )
    assert np.array_equal(model.labels_, other.labels_)


def test_every_estimator_declares_whether_units_matter():
    declared = {name.split(",")[0] for name in [*CASES, *UNIT_DEPENDENT]}
    public = [(package, name) for package in (cs, baselines) for name in package.__all__]
    classes = {name for package, name in public if isinstance(getattr(package, name), type)}
    estimators = {
        name for name in classes if issubclass(getattr(cs, name, getattr(baselines, name, None)), BaseEstimator)
    }
    assert estimators - declared == set()
    assert {"CoEM", "MPCKMeans", "SingleView"} <= estimators


@pytest.mark.parametrize(
    ("kind", "names"),
    [
        ("affinity", set(affinities.AFFINITIES) - {"auto"}),  # chooses among the others
        ("divergence", set(divergences.DIVERGENCES) - {"squared-euclidean"}),  # the default of ConvexMixture
        ("family", set(families.FAMILIES)),
    ],
)
def test_every_way_to_compare_rows_declares_whether_units_matter(kind, names):
    declared = {name.removeprefix(f"{kind}, ") for name in [*CASES, *UNIT_DEPENDENT] if name.startswith(f"{kind}, ")}
    assert declared == names
