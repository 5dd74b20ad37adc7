"""Cases that occur with large data: wide rows, views that a sample lacks, many clusters."""

import warnings
from types import SimpleNamespace

import numpy as np
import pytest

import consilience as cs
from consilience.arrays.parallel import _threads
from consilience.datasets import make_gaussian_views
from consilience.methods.coem.algorithm import choose_posterior_span
from consilience.rows import Shard, Source, ViewRows
from consilience.rows.source import plan_loads


def wide_reader(n, d):
    """A storage that is never read."""
    return SimpleNamespace(
        shape=(n, d), dtype=np.dtype(np.float32), sparse=False, size=n * d, edges=None, description="nowhere"
    )


@pytest.mark.parametrize(("n", "d", "k"), [(62_500, 5000, 3), (125_000, 1000, 2), (625_000, 256, 4), (625_000, 8, 10)])
def test_loads_of_wide_rows_are_small(n, d, k):
    X = Source.over(wide_reader(n, d))
    shard = Shard({"a": ViewRows(X, np.ones(n, bool))})
    loads = plan_loads({"a": X}, n, choose_posterior_span(shard, k))
    assert max(load.stop - load.start for load in loads) * d * 4 <= 40 * 2**20
    assert [loads[0].start, loads[-1].stop] == [0, n]


@pytest.mark.parametrize("family", ["gaussian", "gaussian-full", "gaussian-tied", "gaussian-spherical"])
def test_view_that_the_sample_lacks(tune, family):
    tune("methods.common.starts", most_sampled=50)
    views, y = make_gaussian_views(1000, n_clusters=3, n_features=(3, 3), separation=8, random_state=0)
    present = np.ones((1000, 2), bool)
    present[:, 1] = False
    present[[7, 8, 9, 10, 11, 12], 1] = True
    model = cs.CoEM(3, families=family, n_init=1, random_state=0).fit(cs.Views(views, present=present))
    assert cs.metrics.normalized_mutual_info_score(y, model.labels_) > 0.9


@pytest.mark.parametrize("estimator", [cs.CoEM, cs.MultiViewKMeans])
def test_sample_grows_with_the_number_of_clusters(tune, estimator):
    tune("methods.common.starts", most_sampled=50)
    views, _ = make_gaussian_views(3000, n_clusters=3, n_features=(3, 3), random_state=0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = estimator(60, n_init=1, max_iter=3, random_state=0).fit(views)
    assert 10 < model.labels_.max() < 60


@pytest.mark.parametrize("estimator", [cs.CoEM(2, families="multinomial"), cs.MultiViewSphericalKMeans(2)])
def test_warnings_point_to_the_callers_line(estimator):
    X = np.random.default_rng(0).integers(1, 5, (40, 3)).astype(float)
    X[5] = 0
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        model = estimator.fit({"a": X})
        model.predict({"a": X})
    lost = [warning for warning in caught if "all zeros" in str(warning.message)]
    assert len(lost) == 2
    assert {warning.filename for warning in lost} == {__file__}


def test_refused_prediction_leaves_no_threads():
    views, _ = make_gaussian_views(500, n_clusters=3, n_features=(3,), random_state=0)
    model = cs.CoEM(3, families="gaussian", random_state=0).fit(views)
    with pytest.raises(ValueError, match="out") as kept:
        model.predict_proba(views, out=np.zeros((500, 2)))
    assert kept.value is not None
    assert _threads.get() is None
