"""Choosing the number of clusters."""

import numpy as np
import pytest
from scipy.spatial.distance import pdist, squareform
from sklearn.cluster import KMeans
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import consilience as cs
from consilience.cluster.select import _most_supported, _pick, shared_bits
from consilience.data import Table
from consilience.datasets import make_gaussian_views, make_text_views
from consilience.families import Multinomial


@pytest.mark.parametrize("k", [3, 5])
@pytest.mark.parametrize("estimator", [cs.MultiViewSphericalKMeans(n_init=2), cs.CoEM(n_init=2)])
def test_finds_the_number_that_text_was_made_with(estimator, k):
    views, _ = make_text_views(400, n_clusters=k, n_words=(200, 200), topic_share=0.4, random_state=0)
    found = cs.select_n_clusters(estimator, views, range(2, 8), n_resamples=4, random_state=0)
    assert found.n_clusters == k
    assert found.reason.startswith(f"{k} clusters: ")
    assert "views share" in found.reason
    assert found.table["n_clusters"].tolist() == list(range(2, 8))
    assert np.isnan(found.table["likelihood"]).all() == (not isinstance(estimator, cs.CoEM))


def test_finds_the_number_with_views_missing():
    views, _ = make_gaussian_views(400, n_clusters=4, n_features=(4, 4), separation=8, missing=0.3, random_state=0)
    found = cs.select_n_clusters(cs.MultiViewKMeans(n_init=3), views, range(2, 7), random_state=0)
    assert found.n_clusters == 4


def test_one_view_is_judged_by_stability():
    views, _ = make_gaussian_views(300, n_clusters=3, n_features=(4,), separation=8, random_state=0)
    found = cs.select_n_clusters(cs.MultiViewKMeans(n_init=3), views["view0"], range(2, 6), random_state=0)
    assert found.n_clusters == 3
    assert np.isnan(found.table["agreement"]).all()
    assert "resamples share" in found.reason


def test_no_clusters_at_all():
    views = cs.Views([np.random.default_rng(v).normal(size=(300, 3)) for v in range(2)])
    found = cs.select_n_clusters(cs.CoEM(eta=0.25, n_init=2), views, range(1, 5), random_state=0)
    assert found.n_clusters == 1
    assert found.reason == "1 cluster: more do not make held-out entities more likely."
    assert np.isnan(found.table["stability"][0])


def test_a_pipeline_is_taken_whole():
    views, _ = make_gaussian_views(300, n_clusters=3, n_features=(4, 3), separation=8, random_state=0)
    views = views.map(lambda block: block * [1, 1000, 1][: block.shape[1]] if block.shape[1] == 3 else block)
    pipeline = make_pipeline(cs.PerView(StandardScaler()), cs.CoEM(eta=0.25, n_init=2))
    found = cs.select_n_clusters(pipeline, views, [2, 3, 4], n_resamples=3, random_state=0)
    assert found.n_clusters == 3
    assert np.isfinite(found.table["likelihood"]).all()
    assert pipeline[-1].n_clusters == 4  # its own default: not changed


def test_same_seed_same_table_and_nothing_is_changed():
    views, _ = make_gaussian_views(120, n_clusters=3, random_state=0)
    estimator = cs.MultiViewKMeans(n_init=1)
    one, two, other = (
        cs.select_n_clusters(estimator, views, [2, 3], n_resamples=3, random_state=seed).table for seed in (0, 0, 1)
    )
    assert all(np.array_equal(one[name], two[name], equal_nan=True) for name in one)
    assert not np.array_equal(one["consensus"], other["consensus"])
    assert estimator.get_params() == cs.MultiViewKMeans(n_init=1).get_params()
    assert not hasattr(estimator, "labels_")


def test_what_decides_between_near_ties():
    def table(likelihood):
        return Table.from_rows(
            {
                "n_clusters": k,
                "agreement": 0.9,
                "shared_bits": 0.9,
                "stability": 0.9,
                "consensus": consensus,
                "standard_error": 0.02,
                "likelihood": value,
            }
            for k, consensus, value in zip([2, 3, 4], [0.5, 0.80, 0.81], likelihood, strict=True)
        )

    picked = _pick(table([-9, -7, -5]), 4)
    assert picked.n_clusters == 4
    assert "within one standard error for 3 and 4; of these 4 makes held-out entities most likely." in repr(picked)
    assert _pick(table([-1, -5, -7]), 4).n_clusters == 3  # 2 is most likely, but not in question
    limited = _pick(table([-9, -7, -5]), 3)
    assert limited.n_clusters == 3
    assert "More than 3 do not make held-out entities more likely." in limited.reason
    without = _pick(table([np.nan] * 3), 4)
    assert without.n_clusters == 3
    assert "of these 3 is the smallest" in without.reason


def test_the_limit_is_the_fewest_clusters_that_are_as_likely():
    by_resample = np.array([[-5.0, -6.0, -7.0], [-3.0, -3.95, -5.1], [-3.1, -3.9, -5.0], [-2.9, -4.0, -5.05]])
    assert _most_supported([2, 3, 4, 5], by_resample) == 3  # resamples differ by whole units, candidates 3 to 5 do not
    better = by_resample.copy()
    better[3] += 1
    assert _most_supported([2, 3, 4, 5], better) == 5
    assert _most_supported([2, 3, 4, 5], by_resample * np.nan) == 5


def test_shared_bits_are_mutual_information_beyond_chance():
    rng = np.random.default_rng(0)
    a = np.repeat(range(4), 250)
    assert shared_bits(a, a) == pytest.approx(2, abs=0.02)
    assert shared_bits(a, a // 2) == pytest.approx(1, abs=0.02)
    assert np.mean([shared_bits(a, rng.permutation(a)) for _ in range(20)]) == pytest.approx(0, abs=0.003)


def test_it_prints_its_table_and_its_reason():
    views, _ = make_gaussian_views(120, n_clusters=3, separation=8, random_state=0)
    found = cs.select_n_clusters(cs.MultiViewKMeans(n_init=1), views, [2, 3], n_resamples=2, random_state=0)
    assert repr(found) == f"{found.table!r}\n{found.reason}"
    assert "<table>" in found._repr_html_()


@pytest.mark.parametrize(
    ("candidates", "options", "message"),
    [
        ([], {}, "no candidates: give numbers of clusters"),
        ([0, 1], {}, "candidates must be whole numbers from 1 on"),
        ([2.5], {}, "candidates must be whole numbers from 1 on"),
        ([2, 81], {}, "81 clusters are more than the 80 entities that a resample is fitted on"),
        ([2, "a"], {}, "candidates must be whole numbers from 1 on"),
        (3, {}, "'candidates' parameter of select_n_clusters must be an array-like"),
        ([2], {"n_resamples": 1}, r"'n_resamples' parameter .* in the range \[2, inf\)"),
        ([2], {"n_resamples": "2"}, "'n_resamples' parameter"),
        ([2], {"random_state": "a"}, "'random_state' parameter"),
    ],
)
def test_refuses(candidates, options, message):
    views, _ = make_gaussian_views(120, random_state=0)
    with pytest.raises(ValueError, match=message):
        cs.select_n_clusters(cs.MultiViewKMeans(), views, candidates, **options)


def test_few_entities_with_both_views():
    views, _ = make_gaussian_views(60, n_clusters=2, separation=6, random_state=0)
    present = np.repeat([[True, False], [False, True]], 30, axis=0)
    present[[0, 59]] = True
    views = cs.Views(views, present=present)
    for seed in range(4):
        found = cs.select_n_clusters(cs.MultiViewKMeans(n_init=1), views, [2, 3], n_resamples=4, random_state=seed)
        assert found.n_clusters in (2, 3)


def test_likelihoods_of_minus_infinity_say_nothing():
    rng = np.random.default_rng(0)
    views = cs.Views([rng.multinomial(4, np.ones(50) / 50, 60) for _ in range(2)])
    estimator = cs.CoEM(families=Multinomial(smoothing=0), n_init=1)
    found = cs.select_n_clusters(estimator, views, [1, 2, 3], n_resamples=3, random_state=0)
    assert np.isnan(found.table["likelihood"]).all()
    assert found.n_clusters in (1, 2, 3)


def test_estimators_of_others():
    views, _ = make_gaussian_views(200, n_clusters=3, n_features=(4,), separation=8, random_state=0)
    X = views["view0"]
    for data in (X, X.tolist()):
        found = cs.select_n_clusters(KMeans(n_init=2), data, [2, 3, 4], n_resamples=3, random_state=0)
        assert found.n_clusters == 3


def test_a_dendrogram_of_given_distances():
    views, _ = make_gaussian_views(120, n_clusters=3, n_features=(4,), separation=12, random_state=0)
    D = squareform(pdist(views["view0"]))
    found = cs.select_n_clusters(cs.MultiViewAgglomerative(metric="precomputed"), D, [2, 3, 4], random_state=0)
    assert found.n_clusters == 3


def test_families_are_chosen_by_all_entities():
    rng = np.random.default_rng(0)
    X = (rng.random((60, 5)) < 0.5).astype(float)
    X[:, 1] = 1
    X[0, 0] = 2  # most resamples would take this for zeros and ones
    found = cs.select_n_clusters(cs.CoEM(n_init=1), X, [1, 2], n_resamples=5, random_state=0)
    assert np.isfinite(found.table["likelihood"]).all()


def test_one_candidate_has_no_rival():
    views, _ = make_gaussian_views(60, random_state=0)
    found = cs.select_n_clusters(cs.CoEM(eta=0.25, n_init=1), views, [1], n_resamples=2, random_state=0)
    assert found.reason == "1 cluster: there is nothing to compare it with."
