"""Clustering by cross-fitted agreement as users meet it."""

import re
import warnings

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import adjusted_rand_score, normalized_mutual_info_score

import consilience as cs
from consilience.datasets import make_gaussian_views, make_text_views
from consilience.methods.agreement.ensemble import mutual_information
from consilience.methods.agreement.starts import agree_on_labels, propose_constrained_start
from consilience.methods.common.margins import measure_vote_margins

ALL_PREDICTORS = ("components", "graph", "neighbors")


def make_clear_views(n=180, missing=0.0, seed=0):
    """Two views of measurements, one with many columns, and three clusters far apart."""
    return make_gaussian_views(n, n_clusters=3, n_features=(4, 15), separation=14, missing=missing, random_state=seed)


def make_clear_text(n=180, seed=0):
    """Two sparse views of word counts, and three clusters."""
    views, y = make_text_views(n, n_clusters=3, topic_share=0.7, random_state=seed)
    return {name: sp.csr_array(block, dtype=float) for name, block in views.items()}, y


def make_vague_views(n=150, missing=0.2, seed=0):
    """Three views with clusters that overlap."""
    return make_gaussian_views(
        n, n_clusters=4, n_features=(4, 12, 3), separation=2.5, missing=missing, random_state=seed
    )


def make_crossed_views(n=200, seed=0):
    """Four views: two with one grouping, two with another, independent of the first."""
    rng = np.random.default_rng(seed)
    first, second = rng.integers(2, size=n), rng.integers(2, size=n)
    centers = rng.standard_normal((4, 2, 5)) * 4
    groupings = (first, first, second, second)
    blocks = [rng.standard_normal((n, 5)) + means[y] for means, y in zip(centers, groupings, strict=True)]
    return blocks, first, second


def fit(X, k=3, constraints=None, **options):
    return cs.Consilience(k, **{"n_init": 1, "random_state": 0, **options}).fit(X, constraints=constraints)


def same_clusters(first, second):
    return adjusted_rand_score(first, second) == 1


# results


@pytest.mark.parametrize(
    ("data", "predictors"),
    [
        (make_clear_views, ("components",)),
        (make_clear_text, ("components",)),
        (make_clear_text, ("graph",)),
        (make_clear_views, ("neighbors",)),
        (make_clear_views, ALL_PREDICTORS),
    ],
)
def test_finds_clear_clusters_and_predicts_new_entities(data, predictors):
    views, y = data()
    views = cs.Views(views)
    model = fit(views[:120], predictors=predictors)
    assert same_clusters(model.labels_, y[:120])
    assert same_clusters(model.predict(views[120:]), y[120:])
    assert model.score(views[120:]) == pytest.approx(mutual_information(y[120:], y[120:], 3), rel=0.1)
    assert model.runner_up_ is None
    assert model.predict(views[:0]).shape == (0,)
    assert model.predict_proba(views[:0]).shape == (0, 3)


def test_noise_view_costs_little_and_has_no_share():
    views, y = make_clear_views(seed=1)
    noise = np.random.default_rng(0).standard_normal((180, 30))
    model, with_noise = fit(views), fit({**dict(views.items()), "noise": noise})
    scores = [normalized_mutual_info_score(y, fitted.labels_) for fitted in (model, with_noise)]
    assert scores[1] >= scores[0] - 0.03
    *clear, noisy = with_noise.view_information_["share"]
    assert noisy < 0.05
    assert min(clear) > 0.9


def test_runner_up_is_the_other_grouping():
    blocks, first, second = make_crossed_views()
    model = fit(blocks, 2)
    agreement = [adjusted_rand_score(y, model.labels_) for y in (first, second)]
    others = [adjusted_rand_score(y, model.runner_up_) for y in (second, first)]
    assert max(agreement) > 0.95
    assert others[int(np.argmax(agreement))] > 0.95


def test_one_view_is_plain_clustering():
    views, y = make_clear_views()
    model = fit(views["view1"])
    assert same_clusters(model.labels_, y)
    assert not any("graphs" in start for start in model.scores_["start"])


def test_similarities():
    views, y = make_clear_views()
    similarities = {name: np.exp(-np.square(X[:, None] - X[None]).sum(axis=2) / 50) for name, X in views.items()}
    model = fit(similarities, affinity="precomputed")
    assert same_clusters(model.labels_, y)
    blocks = {"given": sp.csr_array(similarities["view0"]), "rows": views["view1"]}
    mixed = fit(blocks, affinity={"given": "precomputed", "rows": "auto"})
    assert same_clusters(mixed.labels_, y)
    assert np.array_equal(mixed.predict({name: X[:10] for name, X in blocks.items()}), mixed.labels_[:10])


# invariants


def test_order_of_views_and_entities():
    views = cs.Views(make_clear_text()[0])
    labels = fit(views).labels_
    assert same_clusters(labels, fit(views[list(views.names)[::-1]]).labels_)
    order = np.random.default_rng(1).permutation(len(views))
    assert same_clusters(labels[order], fit(views[order]).labels_)


def test_units_of_dense_columns_and_lengths_of_sparse_rows():
    rng = np.random.default_rng(2)
    views, y = make_vague_views()
    scaled = views.map(lambda X: X * 2.0 ** rng.integers(-30, 30, X.shape[1]))
    assert np.array_equal(fit(views, 4, init=y).labels_, fit(scaled, 4, init=y).labels_)
    views, _ = make_clear_text()
    scaled = {name: sp.csr_array(X * 2.0 ** rng.integers(-30, 30, 180)[:, None]) for name, X in views.items()}
    assert np.array_equal(fit(views).labels_, fit(scaled).labels_)


def test_labels_do_not_depend_on_threads():
    rng = np.random.default_rng(0)
    shares = 0.1 + 0.3 * (np.arange(12) % 4 == np.arange(600)[:, None] % 4)
    tied = [sp.csr_array(np.hstack([rng.random((600, 12)) < shares, np.full((600, 1), 0.1)])) for _ in "ab"]
    for views, options in ((make_vague_views()[0], {"n_init": 2, "predictors": ALL_PREDICTORS}), (tied, {})):
        first, *others = (fit(views, 4, n_jobs=n, **options) for n in (1, 2, 4))
        for other in others:
            assert np.array_equal(first.labels_, other.labels_)
            assert first.scores_["bits"].tolist() == other.scores_["bits"].tolist()


def test_no_cluster_is_lost():
    views, _ = make_vague_views()
    model = fit(views, 30)
    assert set(model.labels_) == set(range(30))
    labels = np.minimum(np.arange(150), 11)  # eleven clusters of one
    assert set(fit(views, 12, init=labels).labels_) == set(range(12))


def test_scores_of_starts_and_information_of_views():
    views, _ = make_vague_views()
    model = fit(views, 4, n_init=3)
    bits, similarity = model.scores_["bits"], model.scores_["similarity"]
    assert model.cost_ == -bits.max()
    assert similarity[np.argmax(bits)] == pytest.approx(1)
    assert len(bits) == 3 * (1 + 1 + 2 + 3) + 1  # spherical, k-means, two of all graphs, one per view, the consensus
    assert model.history_["bits"][-1] == bits.max()
    assert model.scores_["rounds"][np.argmax(bits)] == model.n_iter_ == len(model.history_["bits"])
    assert model.converged_ == (model.history_["changed"][-1] <= model.tol)
    # the information of each view is what its labels tell
    columns = (model.view_information_[column] for column in ("view", "bits", "baseline", "share"))
    assert model.view_information_["view"].tolist() == list(views.names)
    for name, bits, baseline, share in zip(*columns, strict=True):
        has_view = model.view_labels_[name] >= 0
        labels = model.labels_[has_view]
        assert bits == pytest.approx(mutual_information(labels, model.view_labels_[name][has_view], 4))
        entropy = mutual_information(labels, labels, 4)
        assert 0 < baseline < 0.5 * entropy
        assert share == pytest.approx(max(0, bits - baseline) / (entropy - baseline))
    assert np.array_equal(model.agreement_, cs.metrics.agreement_matrix(model.view_labels_))


def test_confidence_orders_entities():
    views, y = make_gaussian_views(300, n_clusters=2, n_features=(3, 3), separation=1.5, random_state=0)
    model = fit(views, 2)
    assert 0 <= model.confidence_.min() < model.confidence_.max() <= 1
    right = (model.labels_ == y) == (np.mean(model.labels_ == y) > 0.5)
    assert not right.all()
    assert model.confidence_[right].mean() > 1.3 * model.confidence_[~right].mean()


def test_margins():
    votes = np.array([[1.0, 0.5, 0], [1, 1, 0], [0.5, -1, -3], [-1, -2, -3], [0.2, 1, 0]])
    assert measure_vote_margins(votes, np.array([0, 0, 0, 0, 0])).tolist() == [0.5, 0, 1, 0, 0]
    assert measure_vote_margins(votes[:, :1], np.zeros(5, int)).tolist() == [1] * 5


def test_array_libraries(to_kind):
    views, y = make_clear_views(missing=0.3)
    kind = cs.Views({name: to_kind(np.array(X)) for name, X in views.items()})
    reference = fit(views, init=y)
    model = fit(kind, init=y, predictors=("components", "graph"))
    assert np.array_equal(model.labels_, reference.labels_)
    assert isinstance(model.labels_, np.ndarray)
    assert model.cost_ == pytest.approx(reference.cost_, rel=1e-3)
    assert np.array_equal(model.predict(kind), reference.predict(views))
    assert np.array_equal(model.predict(views), reference.predict(views))
    assert adjusted_rand_score(y, fit(kind, predictors=ALL_PREDICTORS).labels_) > 0.97


def test_saved_and_loaded(tmp_path):
    views, y = make_vague_views()
    model = cs.refine(views, np.array(["x", "y", "z", "u"])[y], predictors=ALL_PREDICTORS)
    cs.save(model, tmp_path / "model.zip")
    back = cs.load(tmp_path / "model.zip")
    assert np.array_equal(back.predict_proba(views), model.predict_proba(views))
    assert back.scores_["start"].tolist() == model.scores_["start"].tolist()
    assert back.classes_.tolist() == ["u", "x", "y", "z"]


@pytest.mark.parametrize(("missing", "options"), [(0.4, {}), (0.2, {"sample_size": 150})])
def test_missing_views_and_samples_that_predict_the_others(missing, options):
    views, y = make_clear_views(n=400, missing=missing)
    model = fit(views, **options)
    assert model.labels_.shape == model.confidence_.shape == (400,)
    assert adjusted_rand_score(y, model.labels_) > 0.97
    assert adjusted_rand_score(y, model.predict(views)) > 0.97
    for v, labels in enumerate(model.view_labels_.values()):
        assert np.array_equal(labels >= 0, views.present[:, v])


@pytest.mark.parametrize("row", [0, 45, 99])
def test_bad_row_outside_the_sample_is_refused(row):
    views, _ = make_clear_views(n=100)
    block = np.array(views["view1"])
    block[row, 2] = np.nan
    model = cs.Consilience(3, sample_size=20, random_state=0)
    with pytest.raises(ValueError, match=f"view 'view1' has NaN or infinity in row {row}: impute the value"):
        model.fit({"view0": views["view0"], "view1": block})
    assert not hasattr(model, "labels_")


def test_interrupt_keeps_the_best_start_so_far(monkeypatch):
    def interrupt(counter, start, round_, record):
        if counter.title == "Consilience" and start == 2:
            raise KeyboardInterrupt

    monkeypatch.setattr("consilience.methods.common.run.RoundCounter.__call__", interrupt)
    views, model = make_vague_views()[0], cs.Consilience(4, random_state=0, n_jobs=1)
    with pytest.raises(KeyboardInterrupt, match="stopped early: the model holds the best result so far"):
        model.fit(views)
    assert len(model.scores_["bits"]) >= 2
    assert model.labels_.shape == model.predict(views).shape == (150,)


def test_only_verbose_fit_prints(capfd):
    views, _ = make_vague_views()
    fit(views, 4)
    assert capfd.readouterr() == ("", "")
    fit(views, 4, verbose=True)
    assert re.search(r"Consilience: start 1 of 7, round 1: bits -?\d", capfd.readouterr().err)


# constraints


def satisfies(labels, constraints):
    """Return which must-links and which cannot-links labels satisfy."""
    (i, j), (k, m) = constraints.must_link.T, constraints.cannot_link.T
    return np.append(labels[i] == labels[j], labels[k] != labels[m])


def test_constraints_are_not_broken(monkeypatch):
    views, y = make_vague_views()
    constraints = cs.Constraints.sample(y, 60, random_state=0)
    assert satisfies(cs.refine(views, y, constraints=constraints).labels_, constraints).all()
    assert not satisfies(cs.refine(views, y).labels_, constraints).all()
    starts = []

    def remember_starts(*arguments):
        for origin, labels in propose_constrained_start(*arguments):
            starts.append(labels)
            yield origin, labels

    monkeypatch.setattr("consilience.methods.agreement.estimator.propose_constrained_start", remember_starts)
    model = fit(views, 4, constraints=constraints)
    assert "constrained k-means" in model.scores_["start"].tolist()
    before, after = satisfies(starts[0], constraints), satisfies(model.labels_, constraints)
    assert after.sum() >= before.sum()


def test_constraints_with_rows_of_zeros_and_small_views():
    text, y = make_clear_text(seed=1)
    views = {name: sp.csr_array(X.toarray() * (np.arange(180) >= 5)[:, None]) for name, X in text.items()}
    constraints = cs.Constraints.sample(y, 40, random_state=0) | cs.Constraints([(0, 1)], [(2, 10)])
    with pytest.warns(UserWarning, match="entity 0 is all zeros in every view it has"):
        model = fit(views, constraints=constraints)
    assert same_clusters(model.labels_[5:], y[5:])
    measurements, y = make_clear_views()
    small = np.where(np.arange(180)[:, None] % 60 == 0, measurements["view0"], np.nan)
    views = {"large": measurements["view1"], "small": small}
    assert adjusted_rand_score(y, fit(views, 4, constraints=cs.Constraints.sample(y, 40, random_state=0)).labels_) > 0.7


def test_constraints_by_id_and_contradictions():
    views, y = make_clear_views()
    named = cs.Views(dict(views.items()), ids=[f"e{i}" for i in range(180)])
    by_id = cs.Constraints([("e0", "e1")], [("e2", "e3")], by="id")
    labels = fit(named, constraints=by_id).labels_
    assert np.array_equal(labels, fit(views, constraints=cs.Constraints([(0, 1)], [(2, 3)])).labels_)
    same = np.flatnonzero(y == 0)[:2]
    contradiction = cs.Constraints([same], [same])
    pair = re.escape(f"({same[0]}, {same[1]})")
    with pytest.warns(UserWarning, match=rf"cannot-links contradict must-links \(1 such\), as {pair}"):
        assert fit(views, constraints=contradiction).labels_.shape == (180,)
    with pytest.raises(ValueError, match=r"must-link \(0, 999\) names entity 999, but there are 180"):
        fit(views, constraints=cs.Constraints([(0, 999)]))
    with pytest.raises(TypeError, match="constraints must be Constraints"):
        fit(views, constraints=[(0, 1)])
    with pytest.raises(ValueError, match=r"constraints need all 180 entities at once, .*: raise sample_size"):
        fit(views, constraints=cs.Constraints([(0, 1)]), sample_size=50)


# odd and bad input


@pytest.mark.parametrize("constraints", [None, cs.Constraints([(0, 1)], [(2, 3)])])
def test_one_cluster(constraints):
    views, _ = make_clear_views()
    model = fit(views, 1, constraints=constraints)
    assert not model.labels_.any()
    assert model.cost_ == 0
    assert model.predict_proba(views).tolist() == [[1.0]] * 180
    assert model.confidence_.tolist() == [1] * 180


def test_as_many_clusters_as_entities():
    views, _ = make_clear_views(n=12)
    with pytest.warns(UserWarning, match=r"12 entities are fewer than 4 per cluster.*Lower n_clusters=12") as caught:
        model = fit(views, 12)
    assert caught[0].filename == __file__
    assert sorted(model.labels_) == list(range(12))
    with pytest.warns(UserWarning, match="12 entities are fewer than 4 per cluster"):
        assert sorted(cs.refine(views, np.arange(12)).labels_) == list(range(12))


def test_one_column_identical_views_and_duplicate_rows():
    rng = np.random.default_rng(0)
    y = np.repeat([0, 1, 2], 30)
    column = (10 * y + rng.standard_normal(90))[:, None]
    assert same_clusters(fit(column).labels_, y)
    assert same_clusters(fit({"a": column, "b": column, "c": column}).labels_, y)
    block = np.repeat([[1.5, 2.0], [3.5, 1.0], [0.0, 0.0]], 30, axis=0)
    assert same_clusters(fit({"a": block, "b": block[:, ::-1]}).labels_, y)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # there are fewer distinct entities than clusters
        assert fit(block, 5).labels_.max() < 5


@pytest.mark.parametrize(
    ("block", "message"),
    [
        (np.full((60, 3), 2.5), "view 'odd' is the same for every entity: leave the view out"),
        (np.nextafter(0.1, np.arange(60.0)[:, None] == 5), "up to rounding: subtract its mean .*, or leave the view"),
        (sp.csr_array((60, 4)), "view 'odd' is all zeros, which have no direction: leave the view out"),
        (sp.csr_array(np.ones((60, 4))), "view 'odd' is the same for every entity: leave the view out"),
        (np.where(np.arange(60)[:, None] == 3, 1.0, np.nan), "only one entity has view 'odd', which tells no clusters"),
    ],
)
def test_views_that_are_refused(block, message):
    model = cs.Consilience(3)
    with pytest.raises((ValueError, TypeError), match=message):
        model.fit({"good": make_clear_views(n=60)[0]["view0"], "odd": block})
    assert not hasattr(model, "labels_")


def test_views_that_no_entity_connects():
    X = make_clear_views()[0]["view0"]
    present = np.repeat([[True, True, False], [False, False, True]], 90, axis=0)
    with pytest.raises(ValueError, match=r"no entity has view 'c' together with view 'a' .*: cluster them apart, or"):
        fit(cs.Views({"a": X, "b": X + 1, "c": X}, present=present))
    present[0, 2] = True  # an entity that has a and c connects them
    fit(cs.Views({"a": X, "b": X + 1, "c": X}, present=present))


def test_rows_of_zeros_in_sparse_views():
    text, y = make_clear_text()
    words, tags = (X.toarray() for X in text.values())
    tags[::3] = 0
    model = fit({"words": sp.csr_array(words), "tags": sp.csr_array(tags)})
    assert (model.view_labels_["tags"][::3] == -1).all()
    assert (model.view_labels_["words"] >= 0).all()
    assert same_clusters(model.labels_, y)
    words[:6] = 0
    with pytest.warns(UserWarning, match=r"entity 0 is all zeros in every view it has \(2 such\): it gets the largest"):
        model = fit({"words": sp.csr_array(words), "tags": sp.csr_array(tags)})
    assert model.labels_[[0, 3]].tolist() == [np.argmax(np.bincount(model.labels_))] * 2
    assert model.confidence_[0] == 0
    with (
        pytest.warns(UserWarning, match="all zeros in every view"),
        pytest.warns(ConvergenceWarning, match="2 of 6 clusters are empty"),
    ):
        model = fit(sp.csr_array(np.eye(30, 8) * (np.arange(8) < 4)), 6)
    assert len(set(model.labels_)) == 4


@pytest.mark.parametrize(
    ("similarities", "message"),
    [
        (-np.eye(60), "view 'view0': .*none negative, and one is -1: turn distances d into similarities"),
        (np.triu(np.ones((60, 60))), "view 'view0': .*it is not symmetric"),
        (np.zeros((60, 60)), "view 'view0': .*all are zero: leave the view out"),
        (np.ones((60, 50)), r"view 'view0': .*needs a square matrix of similarities, 60 x 60, got shape \(60, 50\)"),
    ],
)
def test_similarities_that_are_refused(similarities, message):
    with pytest.raises(ValueError, match=message):
        fit(similarities, affinity="precomputed")


def test_sparse_similarities_with_an_isolated_entity():
    y = np.repeat([0, 1, 2], 20)
    S = (y[:, None] == y).astype(float)
    S[7], S[:, 7] = 0, 0
    others = np.arange(60) != 7
    assert same_clusters(fit(sp.csr_array(S), affinity="precomputed").labels_[others], y[others])


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"predictors": ("components", "kernel")}, "The 'predictors' parameter of Consilience must be a sequence"),
        ({"predictors": ()}, "The 'predictors' parameter of Consilience must be a sequence, not empty"),
        ({"predictors": "graph"}, "'predictors' parameter"),
        ({"affinity": "gaussian"}, "'affinity' parameter"),
        ({"affinity": {"view0": "gaussian", "view1": "auto"}}, "view 'view0': affinity=.* must be 'auto' or 'precom"),
        ({"affinity": {"view0": "auto"}}, "view1"),
        ({"balance": 1.5}, "'balance' parameter"),
        ({"penalty": 0.0}, "'penalty' parameter"),
        ({"n_init": 0}, "'n_init' parameter"),
        ({"max_iter": 0}, "'max_iter' parameter"),
        ({"tol": -0.1}, "'tol' parameter"),
        ({"sample_size": 5}, "'sample_size' parameter"),
        ({"init": "random"}, "'init' parameter"),
        ({"init": np.zeros(59, int)}, r"labels to start from \(init\) must be one per entity, shape \(60,\), got"),
        ({"init": np.zeros((60, 3), int)}, r"must be one per entity, shape \(60,\), got shape \(60, 3\)"),
        ({"init": np.zeros(60)}, "init must hold whole numbers below n_clusters=3, got numbers of type float64"),
        ({"init": ["a"] * 60}, "init must hold whole numbers below n_clusters=3"),
        ({"init": np.full(60, 3)}, "init has label 3, but n_clusters=3: labels run from 0 to one less"),
        ({"init": np.full(60, -1)}, "init has no label from 0 on: give at least one"),
    ],
)
def test_parameters_that_are_refused(options, message):
    with pytest.raises((ValueError, TypeError), match=message):
        fit(make_clear_views(n=60)[0], **options)


def test_open_labels_to_start_from():
    views, y = make_clear_views()
    start = np.where(np.arange(180) % 4, -1, y)
    model = fit(views, init=start)
    assert np.array_equal(model.labels_, y)
    assert model.scores_["start"].tolist() == ["given labels"]
    with pytest.warns(ConvergenceWarning, match="1 of 3 clusters are empty"):
        fit(views, init=np.minimum(y, 1))


# refine


def test_refine_repairs_labels():
    views, y = make_clear_views()
    noisy = np.where(np.arange(180) % 5 == 0, (y + 1) % 3, y)
    model = cs.refine(views, noisy)
    assert np.array_equal(model.labels_, y)
    assert model.classes_.tolist() == [0, 1, 2]
    with pytest.raises(TypeError, match="refine takes n_clusters and init from the labels"):
        cs.refine(views, noisy, n_clusters=3)


@pytest.mark.parametrize("missing", [None, np.nan, "", "pandas"])
def test_refine_takes_names(missing):
    views, y = make_clear_views()
    names = np.array(["plum", "apple", "fig"], dtype=object)[y]
    absent = pytest.importorskip("pandas").NA if missing == "pandas" else missing
    model = cs.refine(views, np.where(np.arange(180) % 7, names, absent))
    assert model.classes_.tolist() == ["apple", "fig", "plum"]
    assert np.array_equal(model.classes_[model.labels_], names)


@pytest.mark.parametrize("values", [[7, 20, 3], [0.5, 2.5, 1.5], [True, False, True]])
def test_refine_takes_numbers(values):
    views, y = make_clear_views()
    labels = np.array(values)[y]
    start = np.where(np.arange(180) % 6, labels, -1) if labels.dtype != bool else labels
    model = cs.refine(views, start.tolist())
    assert model.classes_.tolist() == sorted(set(values))
    assert np.mean(model.classes_[model.labels_] == labels) > 0.95


@pytest.mark.parametrize(
    ("labels", "error", "message"),
    [
        (np.zeros(60, int), ValueError, "labels name only 1 cluster, but refinement needs at least 2"),
        ([None] * 60, ValueError, "labels name no cluster, but refinement needs at least 2"),
        (np.full(60, -1), ValueError, "labels name no cluster"),
        (np.arange(59) % 3, ValueError, r"must be one per entity, shape \(60,\), got shape \(59,\)"),
        (np.arange(70), ValueError, r"must be one per entity, shape \(60,\), got shape \(70,\)"),
        (np.zeros((60, 2), int), ValueError, r"labels must have one dimension, .*got shape \(60, 2\)"),
        ("plum", ValueError, "labels must have one dimension"),
        (["plum", 1] * 30, TypeError, "labels must be all numbers or all names"),
        ([(1, 2), (3, 4)] * 30, ValueError, "labels must have one dimension"),
        ([{1}, {2}] * 30, TypeError, "labels must be all numbers or all names"),
    ],
)
def test_labels_that_refine_refuses(labels, error, message):
    with pytest.raises(error, match=message):
        cs.refine(make_clear_views(n=60)[0], labels)


@pytest.mark.parametrize("seed", range(3))
def test_sample_holds_entities_of_rare_views_and_labels(seed):
    views, _ = make_clear_views()
    rare = np.full((180, 3), np.nan)
    rare[[3, 50, 90, 110, 140, 170]] = np.random.default_rng(0).standard_normal((6, 3))
    model = fit({"common": views["view0"], "rare": rare}, sample_size=40, random_state=seed)
    assert len(model.labels_) == 180
    refined = cs.refine(views, np.where(np.arange(180) < 2, 1, 0), sample_size=40, random_state=seed)
    assert set(refined.labels_) == {0, 1}


def test_interrupted_prediction_leaves_no_fitted_model(monkeypatch):
    def interrupt(*_):
        raise KeyboardInterrupt("while predicting")

    monkeypatch.setattr(cs.Consilience, "_extend", interrupt)
    model = cs.Consilience(4, sample_size=50, random_state=0)
    with pytest.raises(KeyboardInterrupt, match="while predicting"):
        model.fit(make_clear_views()[0])
    assert not hasattr(model, "labels_")


def test_agreement_on_labels_leaves_disputed_entities_open():
    first = np.array([0, 0, 1, 1, 2, 2])
    renamed = np.array([2, 2, 0, 0, 1, 1])
    other = np.array([0, 0, 1, 1, 2, 0])
    assert agree_on_labels([first, renamed, other], 3).tolist() == first.tolist()
    assert agree_on_labels([first, other], 3).tolist() == [0, 0, 1, 1, 2, -1]


def test_confidence_of_new_entities_is_that_of_entities_outside_a_sample():
    views, _ = make_vague_views(300, missing=0.1)
    model = fit(views, 4, sample_size=120)
    margins = model.predict_confidence(views)
    is_same = np.isclose(margins, model.confidence_)
    assert 150 <= is_same.sum() < 300  # entities of the sample are left out of what predicts them
    assert 0 <= margins.min() < margins.max() <= 1


def test_entity_between_two_clusters_is_doubtful():
    views, y = make_clear_views()
    model = fit(views[:150])
    centers = {name: [np.asarray(views[name])[y == k].mean(axis=0) for k in (0, 1)] for name in views.names}
    between = {name: np.mean(pair, axis=0)[None] for name, pair in centers.items()}
    assert model.predict_confidence(between)[0] < model.predict_confidence(views[150:]).min()
