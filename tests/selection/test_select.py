"""The number of clusters that data supports."""

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.spatial.distance import pdist, squareform
from sklearn.cluster import DBSCAN, AgglomerativeClustering, KMeans
from sklearn.metrics import adjusted_mutual_info_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import consilience as cs
from consilience.datasets import make_gaussian_views, make_text_views
from consilience.selection import Selection
from consilience.selection.candidates import find_peaks, limit_clusters, propose_coarse, propose_fine
from consilience.selection.predictors import SharedPredictors, measure_agreement, measure_modularity
from consilience.selection.select import LEAST_EVIDENCE, name_numbers, tabulate, write_selection, write_sentence


@pytest.fixture(scope="module")
def four_groups():
    return make_gaussian_views(300, n_clusters=4, n_features=(4, 4), separation=8, random_state=3)[0]


@pytest.fixture(scope="module")
def selection_of_four(four_groups):
    return cs.select_n_clusters(cs.Consilience(n_jobs=1), four_groups, [2, 4, 6])


@pytest.mark.parametrize(("k", "estimator"), [(5, cs.Consilience()), (3, cs.MultiViewSphericalKMeans(n_init=2))])
def test_finds_number_of_clusters_of_text(k, estimator):
    views, _ = make_text_views(300, n_clusters=k, n_words=(200, 200), topic_share=0.4, random_state=0)
    selection = cs.select_n_clusters(estimator, views, range(2, 8))
    assert selection.n_clusters == k
    assert selection.supported[0] == k
    assert selection.reason.startswith(f"{k} clusters")
    assert selection.sentences[0].startswith(f"{k}: views predict each other's clusters")
    assert selection.table["n_clusters"].tolist() == list(range(2, 8))


def test_finds_the_number_without_candidates(four_groups):
    selection = cs.select_n_clusters(cs.Consilience(), four_groups)
    assert selection.n_clusters == 4
    assert selection.table["n_clusters"].tolist()[-1] == 37  # an eighth of the entities


def test_finds_the_number_with_views_missing():
    views, _ = make_gaussian_views(400, n_clusters=4, n_features=(4, 4), separation=8, missing=0.3, random_state=0)
    assert cs.select_n_clusters(cs.Consilience(), views, range(2, 7)).n_clusters == 4
    assert cs.select_n_clusters(cs.MultiViewKMeans(n_init=2), views, range(2, 7)).n_clusters == 4


def test_finds_many_clusters():
    views, _ = make_gaussian_views(600, n_clusters=30, n_features=(12, 12), separation=14, random_state=0)
    selection = cs.select_n_clusters(cs.Consilience(), views, [10, 20, 25, 30, 35, 40], n_splits=1)
    assert selection.n_clusters == 30


def test_one_view_is_judged_by_stability_and_modularity():
    views, _ = make_gaussian_views(300, n_clusters=3, n_features=(4,), separation=8, random_state=0)
    selection = cs.select_n_clusters(cs.Consilience(), views["view0"], range(2, 6))
    assert selection.n_clusters == 3
    assert np.isnan(selection.table["agreement"]).all()
    assert "modularity" in selection.sentences[0]


@pytest.mark.parametrize(("kind", "seed"), [("gaussian", 0), ("uniform", 1), ("permuted", 0), ("words", 1)])
def test_independent_views_have_no_groups(kind, seed):
    rng = np.random.default_rng(seed)
    if kind == "permuted":
        blocks = make_gaussian_views(120, n_clusters=4, n_features=(4, 4), separation=8, random_state=seed)[0]
        views = cs.Views({name: block[rng.permutation(120)] for name, block in blocks.items()})
    elif kind == "words":
        views = cs.Views([sp.csr_array(rng.poisson(0.1, size=(120, 300)).astype(float)) for _ in range(2)])
    else:
        draw = rng.normal if kind == "gaussian" else rng.uniform
        views = cs.Views([draw(size=(120, 5)) for _ in range(3)])
    selection = cs.select_n_clusters(cs.Consilience(), views)
    assert selection.n_clusters == 1
    assert selection.supported == ()
    assert selection.reason.startswith("No evidence for groups: ")


def test_pipeline():
    views, _ = make_gaussian_views(300, n_clusters=3, n_features=(4, 3), separation=8, random_state=0)
    views = views.map(lambda block: block * [1, 1000, 1][: block.shape[1]] if block.shape[1] == 3 else block)
    pipeline = make_pipeline(cs.PerView(StandardScaler()), cs.MultiViewKMeans(n_init=2))
    before = pipeline[-1].n_clusters
    assert cs.select_n_clusters(pipeline, views, [2, 3, 4]).n_clusters == 3
    assert pipeline[-1].n_clusters == before
    assert not hasattr(pipeline[-1], "labels_")


@pytest.mark.parametrize(
    "estimator",
    [
        cs.CoEM(n_init=1, eta=0.5),
        cs.CoTrainedSpectral(),
        cs.MultiViewAgglomerative(metric="euclidean"),  # cannot predict
        cs.baselines.ConcatenatedViews(KMeans(n_init=2)),
        cs.baselines.KernelAddition(),
    ],
)
def test_estimators_of_every_kind(estimator, four_groups):
    assert cs.select_n_clusters(estimator, four_groups[:160], [2, 4, 6], n_splits=1).n_clusters == 4


@pytest.mark.parametrize("estimator", [KMeans(n_init=2), AgglomerativeClustering()])
def test_scikit_learn_estimators(estimator):
    views, _ = make_gaussian_views(200, n_clusters=3, n_features=(4,), separation=8, random_state=0)
    assert cs.select_n_clusters(estimator, views["view0"], [2, 3, 4]).n_clusters == 3


def test_precomputed_similarities(four_groups):
    similarities = {name: np.exp(-(squareform(pdist(block)) ** 2) / 20) for name, block in four_groups[:120].items()}
    views = cs.Views(similarities)
    selection = cs.select_n_clusters(cs.Consilience(affinity="precomputed"), views, [2, 4, 6])
    assert selection.n_clusters == 4
    spectral = cs.CoTrainedSpectral(affinity="precomputed")
    assert cs.select_n_clusters(spectral, views, [2, 4, 6], n_splits=1).n_clusters == 4


@pytest.mark.parametrize("kind", [cs.Consilience, cs.MultiViewKMeans])
def test_steps_before_a_clusterer_of_columns_are_fitted_to_each_half(kind, four_groups):
    X = np.hstack([block for _, block in four_groups.items()])
    clusterer = kind(views={"left": slice(0, 4), "right": slice(4, 8)})
    for estimator in (clusterer, make_pipeline(StandardScaler(), clusterer)):
        assert cs.select_n_clusters(estimator, X, [2, 4, 6], n_splits=1).n_clusters == 4


def test_duplicated_noise_has_no_groups():
    rng = np.random.default_rng(0)
    views = cs.Views([np.repeat(rng.normal(size=(60, 5)), 3, axis=0) for _ in range(2)])
    selection = cs.select_n_clusters(cs.Consilience(), views)
    assert selection.n_clusters == 1
    assert "120 entities are identical to others in all views and count once." in selection.reason


def test_copies_count_as_one_view(four_groups):
    views = cs.Views({"a": four_groups["view0"], "b": four_groups["view0"].copy()})
    selection = cs.select_n_clusters(cs.Consilience(), views, [2, 4])
    assert np.isnan(selection.table["agreement"]).all()
    assert "Views 'a' and 'b' are nearly copies, and count as one." in selection.reason


def test_few_entities_are_judged_without_agreement():
    views, _ = make_gaussian_views(18, n_clusters=2, n_features=(4, 4), separation=12, random_state=0)
    selection = cs.select_n_clusters(cs.Consilience(), views)
    assert selection.n_clusters == 2
    assert "The views share fewer than 20 entities, so that their agreement cannot be judged." in selection.reason


@pytest.mark.parametrize("seed", range(2))
def test_one_view_of_noise_has_no_groups(seed):
    X = np.random.default_rng(seed).normal(size=(200, 6))
    selection = cs.select_n_clusters(cs.Consilience(), X)
    assert selection.n_clusters == 1
    assert "clusters are no clearer than those of independent columns" in selection.reason


def test_groups_of_a_single_view_are_mentioned(four_groups):
    noise = np.random.default_rng(0).normal(size=(300, 6))
    selection = cs.select_n_clusters(cs.Consilience(), {"groups": four_groups["view0"], "noise": noise}, range(2, 7))
    assert selection.n_clusters == 1
    assert "one view may hold groups that the others do not show: cluster each view alone." in selection.reason


def test_labels_to_start_from_are_not_used(four_groups):
    estimator = cs.MultiViewKMeans(2, init=np.arange(300) % 2)
    assert cs.select_n_clusters(estimator, four_groups, [2, 4, 6], n_splits=1).n_clusters == 4


def test_result_does_not_depend_on_threads(four_groups, selection_of_four):
    expected = selection_of_four.table
    threaded, other_seed = (
        cs.select_n_clusters(cs.Consilience(n_jobs=2), four_groups, [2, 4, 6], random_state=seed).table
        for seed in (0, 1)
    )
    assert all(np.array_equal(expected[name], threaded[name]) for name in expected)
    assert not np.array_equal(expected["stability"], other_seed["stability"])


def test_large_data_is_sampled(four_groups):
    selection = cs.select_n_clusters(cs.Consilience(), four_groups, [2, 4, 6], max_entities=120)
    assert selection.n_clusters == 4
    assert "Judged by 120 of the 300 entities, drawn at random." in selection.reason


@pytest.mark.parametrize(
    ("candidates", "options", "message"),
    [
        ([], {}, "no candidates: give numbers of clusters"),
        ([0, 1], {}, "candidates must be whole numbers from 1 on"),
        ([2.5], {}, "candidates must be whole numbers from 1 on"),
        ([2, 61], {}, "61 clusters are more than the 60 entities of a half of the data: try fewer"),
        ([2, "a"], {}, "candidates must be whole numbers from 1 on"),
        ([1], {}, "the only candidate is 1: give larger numbers"),
        ("all", {}, "'candidates' parameter of select_n_clusters must be"),
        ([2], {"n_splits": 0}, "'n_splits' parameter"),
        ([2], {"max_entities": 3}, "'max_entities' parameter"),
        ([2], {"random_state": "a"}, "'random_state' parameter"),
    ],
)
def test_refuses(candidates, options, message):
    views, _ = make_gaussian_views(120, random_state=0)
    with pytest.raises(ValueError, match=message):
        cs.select_n_clusters(cs.Consilience(), views, candidates, **options)


def test_refuses_estimators_and_views_without_a_choice(four_groups):
    with pytest.raises(ValueError, match="15 entities are too few to choose the number of clusters"):
        cs.select_n_clusters(cs.Consilience(), four_groups[:15])
    with pytest.raises(TypeError, match="DBSCAN has no parameter n_clusters"):
        cs.select_n_clusters(DBSCAN(), four_groups["view0"], [2, 3])
    with pytest.raises(TypeError, match=r"Consilience is a class: give an estimator, Consilience\(\)"):
        cs.select_n_clusters(cs.Consilience, four_groups)
    views = cs.Views({**dict(four_groups.items()), "constant": np.ones((300, 2))})
    with pytest.raises(ValueError, match="view 'constant' is the same for every entity"):
        cs.select_n_clusters(cs.Consilience(), views, [2, 3])


def test_interrupted_search_raises(four_groups, monkeypatch):
    def interrupt(*_):
        raise KeyboardInterrupt("stop")

    monkeypatch.setattr(SharedPredictors, "cluster", interrupt)
    with pytest.raises(KeyboardInterrupt, match="stop"):
        cs.select_n_clusters(cs.Consilience(), four_groups, [2, 3])


# candidates and peaks


def test_coarse_grid_begins_with_every_number_and_ends_at_the_largest():
    assert propose_coarse(125) == [2, 3, 4, 5, 6, 7, 8, 10, 12, 14, 16, 20, 25, 31, 39, 49, 61, 76, 95, 119, 125]
    assert propose_coarse(2) == [2]
    assert propose_coarse(11) == [2, 3, 4, 5, 6, 7, 8, 10, 11]
    assert [limit_clusters(n) for n in (15, 16, 80, 1000, 10**6)] == [1, 2, 10, 125, 125]


def test_fine_grid_fills_the_gaps_beside_peaks():
    tried = [2, 3, 4, 5, 6, 7, 8, 10, 12, 14, 16, 20, 25, 31]
    scores = np.zeros(len(tried))
    scores[tried.index(10)] = 1.0
    assert propose_fine(tried, scores) == [9, 11]
    scores = np.zeros(len(tried))
    scores[tried.index(25)] = 1.0
    assert propose_fine(tried, scores) == [22, 23, 27, 29]
    scores = np.zeros(len(tried))
    scores[0] = 1.0
    assert propose_fine(tried, scores) == []


def test_at_most_three_peaks_are_highest_nearby_and_high_enough():
    numbers = np.array([2, 3, 4, 6, 9, 13, 20])
    assert find_peaks(numbers, np.array([0.1, 0.9, 0.2, 0.3, 1.0, 0.5, 0.7])) == [4, 1, 6]
    assert find_peaks(numbers, np.array([0.1, 0.45, 0.2, 0.3, 1.0, 0.4, 0.49])) == [4]  # others are below half
    assert find_peaks(numbers, np.array([np.nan, 0.9, 0.8, 0.3, 0.2, 0.1, 0.1])) == [1]
    assert find_peaks(numbers, np.zeros(7)) == []
    numbers = np.array([2, 4, 8, 16, 32])
    assert find_peaks(numbers, np.array([0.7, 0.9, 0.8, 1.0, 0.95])) == [3, 4, 1]


# figures


def test_score_combines_agreement_gain_and_stability():
    figures = {"information": 2.0, "agreement": 0.5, "stability": 0.25, "modularity": 0.3}
    evidence = {k: {"n_clusters": k, **figures} for k in (2, 3)}
    table = tabulate(evidence, np.array([1.0]), judges_agreement=True)  # one bit by chance
    np.testing.assert_allclose(table["score"], 0.5 * np.sqrt((2 - 1) * 0.25))
    table = tabulate(evidence, np.array([0.1]), judges_agreement=False)
    np.testing.assert_allclose(table["score"], (0.3 - 0.1) * np.sqrt(0.25))


def make_table(agreement, stability):
    rows = [
        {"n_clusters": k, "information": 1.0, "by_chance": 0.0, "modularity": 0.2, "score": score}
        for k, score in ((2, 0.1), (3, 0.05))
    ]
    return cs.Table.from_rows({**row, "agreement": agreement, "stability": stability} for row in rows)


@pytest.mark.parametrize(
    ("factor", "stability", "expected"), [(0.99, 0.9, 1), (1.01, 0.9, 2), (9, 0.09, 1), (9, 0.11, 2)]
)
def test_evidence_needs_stability_and_more_agreement_than_chance_gives(factor, stability, expected, four_groups):
    table = make_table(factor * LEAST_EVIDENCE / np.sqrt(300), stability)
    assert write_selection(table, four_groups, True, False, []).n_clusters == expected


def test_edge_of_candidates_is_named(four_groups):
    selection = cs.select_n_clusters(cs.Consilience(), four_groups, [2, 4], n_splits=1)
    assert "4 is the largest number that was tried, so that more may be supported: try larger" in selection.reason
    selection = cs.select_n_clusters(cs.Consilience(), four_groups, [4, 6], n_splits=1)
    assert "4 is the smallest number that was tried, so that fewer may be supported" in selection.reason


def test_supported_numbers_in_words():
    assert name_numbers([4]) == "4 clusters"
    assert name_numbers([4, 11]) == "4 clusters, or in more detail 11"
    assert name_numbers([11, 4, 30]) == "11 clusters, or more coarsely 4, or in more detail 30"


def test_sentences_grade_the_figures():
    rows = [
        {"n_clusters": 2, "agreement": 0.9, "stability": 0.5, "modularity": 0.3},
        {"n_clusters": 3, "agreement": 0.1, "stability": 0.8, "modularity": 0.3},
    ]
    table = cs.Table.from_rows(rows)
    assert write_sentence(table, 0, True) == (
        "2: views predict each other's clusters well (adjusted mutual information 0.90); fits to halves of the "
        "entities give similar clusters (adjusted Rand index 0.50)."
    )
    assert "a little (adjusted mutual information 0.10)" in write_sentence(table, 1, True)
    assert write_sentence(table, 1, False) == (
        "3: fits to halves of the entities give nearly the same clusters (adjusted Rand index 0.80); the graph's "
        "modularity is 0.30."
    )


def test_agreement_compares_each_view_with_the_others(four_groups):
    predictors = SharedPredictors.build(four_groups, {"view0": False, "view1": False}, 8)
    state = predictors.cluster(4, np.random.default_rng(0))
    ensemble = predictors.build_ensemble(4)
    vote = ensemble.vote(state.labels)
    first, second = (ensemble.choose(votes, state.labels) for votes in vote.by_view)
    expected = adjusted_mutual_info_score(first, second)  # with two views the others are the other
    assert measure_agreement(ensemble, vote, state.labels) == pytest.approx(expected, abs=1e-6)


def test_permuted_predictors_share_nothing(four_groups):
    predictors = SharedPredictors.build(four_groups, {"view0": False, "view1": False}, 8)
    permuted = predictors.permute(np.random.default_rng(0))
    state = permuted.cluster(4, np.random.default_rng(0))
    ensemble = permuted.build_ensemble(4)
    assert abs(measure_agreement(ensemble, ensemble.vote(state.labels), state.labels)) < 0.1


def test_predictors_of_a_half_place_other_entities(four_groups):
    rows, others = np.arange(0, 300, 2), np.arange(1, 300, 2)
    predictors = SharedPredictors.build(four_groups[rows], {"view0": False, "view1": False}, 8)
    state = predictors.cluster(4, np.random.default_rng(0))
    predicted = predictors.predict(state, predictors.place(four_groups[others]), len(others))
    model = cs.Consilience(4, random_state=0).fit(four_groups)
    assert cs.metrics.adjusted_rand_score(model.labels_[others], predicted) > 0.95


def test_modularity_of_two_cliques():
    block = np.ones((3, 3))
    graph = sp.block_diag([sp.csr_array(block), sp.csr_array(block)], format="csr")
    assert measure_modularity(graph, np.repeat([0, 1], 3)) == pytest.approx(0.5)
    assert measure_modularity(graph, np.zeros(6, int)) == pytest.approx(0)
    assert measure_modularity(sp.csr_array(np.eye(4)), np.arange(4)) == 0  # loops do not count


# presentation


def test_selection_is_shown_with_reasons_and_table(selection_of_four):
    shown = repr(selection_of_four)
    assert shown.startswith(f"{selection_of_four.reason}\n{selection_of_four.sentences[0]}\n")
    assert repr(selection_of_four.table) in shown
    assert "<table>" in selection_of_four._repr_html_()
    assert "<b>" not in Selection(2, "<b>", cs.Table({"n_clusters": np.array([2])}))._repr_html_()


# many small groups


def make_duplicates(sizes, jitter=0.1, seed=0):
    rng = np.random.default_rng(seed)
    groups = np.repeat(np.arange(len(sizes)), sizes)
    views = {
        name: rng.normal(size=(len(sizes), 20))[groups] + jitter * rng.normal(size=(len(groups), 20)) for name in "abc"
    }
    return cs.Views(views), groups


@pytest.mark.parametrize(("largest", "jitter"), [(2, 0.1), (4, 0.0), (10, 0.1), (15, 0.1)])
def test_duplicates_are_found(largest, jitter):
    views, groups = make_duplicates(1 + np.arange(40) % largest, jitter)
    selection = cs.select_n_clusters(cs.Consilience(), views, small_groups=True)
    assert selection.n_clusters == 40
    assert cs.metrics.adjusted_rand_score(groups, selection.labels) == 1
    assert selection.table["groups"].sum() == 40
    assert (selection.table["groups"] * selection.table["size"]).sum() == len(views)


def test_useless_view_does_not_hide_duplicates():
    views, groups = make_duplicates(np.full(40, 2))
    noise = np.random.default_rng(1).normal(size=(80, 20))
    selection = cs.select_n_clusters(cs.Consilience(), {**dict(views.items()), "noise": noise}, small_groups=True)
    assert cs.metrics.adjusted_rand_score(groups, selection.labels) == 1


@pytest.mark.parametrize("n_views", [2, 8])
def test_unrelated_entities_stay_single(n_views):
    rng = np.random.default_rng(0)
    views = cs.Views([rng.normal(size=(200, 3)) for _ in range(n_views)])
    selection = cs.select_n_clusters(cs.Consilience(), views, small_groups=True)
    assert selection.n_clusters >= 198


def test_known_pairs_hold_in_small_groups():
    views, groups = make_duplicates(np.full(40, 2))
    pairs = cs.Constraints(must_link=[(0, 79), (4, 6)], cannot_link=[(10, 11), (20, 30), (4, 7)])
    labels = cs.select_n_clusters(cs.Consilience(), views, small_groups=True, constraints=pairs).labels
    assert labels[0] == labels[1] == labels[78] == labels[79]  # the pairs of both ends
    assert labels[10] != labels[11]
    assert labels[4] == labels[5] == labels[6] != labels[7]  # 7 would be joined to 4 through 6
    others = np.setdiff1d(np.arange(80), [0, 1, 4, 5, 6, 7, 10, 11, 78, 79])
    assert cs.metrics.adjusted_rand_score(groups[others], labels[others]) == 1


def test_small_groups_need_two_views_and_constraints_need_small_groups():
    views, _ = make_duplicates(np.full(40, 2))
    with pytest.raises(ValueError, match="constraints are used with small_groups=True only: leave them out"):
        cs.select_n_clusters(cs.Consilience(), views, constraints=cs.Constraints([(0, 1)]))
    with pytest.raises(ValueError, match="small groups need at least two views"):
        cs.select_n_clusters(cs.Consilience(), views["a"], small_groups=True)
