"""Rounds on a device copy only a few numbers to the host."""

import numpy as np
import pytest
from sklearn.base import clone

import consilience as cs
from consilience.arrays import to_numpy
from consilience.datasets import make_gaussian_views
from consilience.divergences import Cosine, SquaredEuclidean
from consilience.methods.coem.algorithm import co_em
from consilience.methods.coem.prepare import prepare_mixture
from consilience.methods.coem.priors import PRIORS
from consilience.methods.coem.start import start_from_init
from consilience.methods.common.shards import prepare_kmeans
from consilience.methods.kmeans.algorithm import multi_view_kmeans
from transfers import DEVICE, count_transfers, put_on_device

K, ROUNDS = 3, 3
missing_or_not = pytest.mark.parametrize("missing", [0.0, 0.3])


def views_on_device(missing, dtype=np.float64, counts=False):
    views, y = make_gaussian_views(300, n_clusters=K, n_features=(4, 3), separation=4, missing=missing, random_state=0)
    rows = {name: np.nan_to_num(np.asarray(block)).astype(dtype) for name, block in views.items()}
    if counts:
        rows = {name: np.floor(np.abs(block)) + 1 for name, block in rows.items()}
    return cs.Views({name: put_on_device(block) for name, block in rows.items()}, present=views.present), y


def record_transfers(states):
    """Record what is copied from the device in a few rounds after the first."""
    next(states)
    with count_transfers() as transferred:
        for _ in range(ROUNDS):
            next(states)
    return transferred


def co_em_states(views, y, family, etas, prior):
    shards, families, _ = prepare_mixture(views, dict.fromkeys(views.names, family), K)
    return co_em(shards, start_from_init(y, shards, families, K, PRIORS[prior]), etas, PRIORS[prior])


BLENDED = [0.2, 0.4, 0.6, 0.8]


@pytest.mark.parametrize(
    ("family", "dtype", "missing", "etas", "prior"),
    [
        ("gaussian", np.float64, 0.0, [1.0], "global"),
        ("gaussian", np.float32, 0.3, [1.0], "global"),
        ("gaussian-full", np.float32, 0.0, [1.0], "global"),
        ("gaussian-full", np.float64, 0.3, [1.0], "global"),
        ("gaussian-tied", np.float64, 0.3, [1.0], "global"),
        ("gaussian-spherical", np.float32, 0.3, [1.0], "global"),
        *(("gaussian", np.float64, 0.3, BLENDED, prior) for prior in PRIORS),
        ("multinomial", np.float64, 0.3, [0.7], "global"),
        ("poisson", np.float64, 0.3, [0.7], "global"),
    ],
)
def test_co_em_round_fetches_only_its_quality(family, dtype, missing, etas, prior):
    views, y = views_on_device(missing, dtype, counts=family in ("multinomial", "poisson"))
    transferred = record_transfers(co_em_states(views, y, family, etas, prior))
    assert transferred.arrays == [(6,)] * ROUNDS  # two log-likelihoods, certainty, disagreement, counted, agreed
    assert transferred.numbers == 0


@missing_or_not
@pytest.mark.parametrize("divergence", [SquaredEuclidean(), Cosine()], ids=["k-means", "spherical"])
def test_kmeans_round_fetches_costs_and_cluster_sizes(divergence, missing):
    views, y = views_on_device(missing)
    shards = prepare_kmeans(views, divergence).with_labels(y)
    transferred = record_transfers(multi_view_kmeans(shards, divergence, K))
    # an M-step per view; costs, agreement, changes
    assert sorted(transferred.arrays) == [(K,)] * ROUNDS * 2 + [(5,)] * ROUNDS
    assert transferred.numbers == 0


@missing_or_not
def test_fitted_parameters_stay_on_the_device(missing):
    views, _ = views_on_device(missing)
    on_host = cs.Views({name: to_numpy(block) for name, block in views.items()}, present=views.present)
    make = cs.CoEM(K, n_init=1, random_state=0)
    again, model = clone(make).fit(on_host), make.fit(views)
    kept = [value for params in model.params_.values() for value in params.values()]
    assert all(value.device == DEVICE for value in [*kept, *model.responsibilities_.values()])
    assert isinstance(model.labels_, np.ndarray)
    assert np.array_equal(again.labels_, model.labels_)
    assert np.array_equal(model.predict(on_host), model.predict(views))  # a model goes to where the rows are
