"""Assessments: figures computed independently, verdicts on data whose truth is known, and inputs of every kind."""

import json
import warnings
from dataclasses import replace
from importlib import import_module
from itertools import pairwise
from types import SimpleNamespace

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.optimize import linear_sum_assignment
from sklearn.decomposition import PCA
from sklearn.exceptions import NotFittedError
from sklearn.metrics import normalized_mutual_info_score
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler

import consilience as cs
from consilience.assessment.assessment import rank_margins
from consilience.assessment.checkpoint import describe_parameters
from consilience.assessment.left_out import (
    COPIES,
    find_copies,
    measure_left_out_margins,
    prepare_apart,
    share_neighbors,
)
from consilience.assessment.reference import WORDS, estimate_right
from consilience.methods.common.halves import ModelData, last_step
from estimators import ESTIMATORS, convex_mixture

module = import_module("consilience.assessment.assess")  # whose name in the package is that of the function
FIGURES = ("disagreement", "ambiguity", "doubt", "impurity")


@pytest.fixture(scope="module")
def clean():
    """Three views of three well separated clusters, their truth, and a fitted model."""
    views, y = cs.datasets.make_gaussian_views(120, n_clusters=3, n_features=(5, 5, 5), separation=8, random_state=0)
    return views, y, cs.Consilience(3, random_state=0, n_jobs=1).fit(views)


@pytest.fixture(scope="module")
def blocks(clean):
    return dict(clean[0].items())


@pytest.fixture(scope="module")
def clean_assessment(clean):
    return cs.assess(clean[2], clean[0])


def fit_and_assess(X, model=None, **options):
    model = cs.Consilience(3, random_state=0, n_jobs=1) if model is None else model
    return cs.assess(model.fit(X), X, **options)


def assert_same(first, second):
    """Check that two assessments have the same figures, arrays and tables to the last bit."""
    for name in (*FIGURES, "n_assessed", "n_splits", "verdict", "advice", "copies"):
        assert getattr(first, name) == getattr(second, name), name
    np.testing.assert_array_equal(first.stability, second.stability)
    np.testing.assert_array_equal(first.margin, second.margin)
    np.testing.assert_array_equal(first.certainty, second.certainty)
    for table in ("views", "clusters"):
        for column in getattr(first, table):
            np.testing.assert_array_equal(getattr(first, table)[column], getattr(second, table)[column])


# verdicts


@pytest.mark.quick
def test_clean_views_are_stable_and_confirmed(clean_assessment):
    assert clean_assessment.verdict == "stable"
    assert clean_assessment.views["confirmed"].all()
    assert clean_assessment.advice == []
    assert clean_assessment.leading is None
    assert clean_assessment.disagreement < 0.05
    assert (clean_assessment.certainty == "sure").mean() > 0.9
    assert "results of the default method on reference sets" in clean_assessment.worth
    text, page = repr(clean_assessment), clean_assessment._repr_html_()
    for sentence in (clean_assessment.headline, clean_assessment.worth, clean_assessment.estimate):
        assert sentence in text
        assert sentence in page
    counts = clean_assessment.to_dict()["certainty"]
    assert list(counts) == [word for word, _ in WORDS]
    assert sum(counts.values()) == 120


def test_noise_is_unreliable():
    rng = np.random.default_rng(0)
    views = {name: rng.normal(size=(150, 6)) for name in "abc"}
    assessment = fit_and_assess(views)
    assert assessment.verdict == "do not rely"
    assert assessment.unconfirmed == ["a", "b", "c"]
    assert assessment.advice == ["No view confirms another, and nothing here tells which of them is right."]
    assert "sure" not in assessment.certainty


def test_added_noise_is_named_and_the_alternative_recovers():
    views, y = cs.datasets.make_gaussian_views(200, n_clusters=3, n_features=(5, 5), separation=7, random_state=1)
    noise = np.random.default_rng(1).normal(size=(200, 20))
    alone = cs.Consilience(3, random_state=0, n_jobs=1).fit(views)
    with_noise = {**dict(views.items()), "noise": noise}
    assessment = fit_and_assess(with_noise, refit=True)
    assert assessment.unconfirmed == ["noise"]
    assert assessment.advice[0] == "No other view confirms view 'noise': compare the result without it."
    assert assessment.advice[1].startswith("Without view 'noise': stable")
    alternative = assessment.alternative
    assert alternative.left_out == ("noise",)
    assert normalized_mutual_info_score(y, alternative.model.labels_) >= normalized_mutual_info_score(y, alone.labels_)


def test_clusters_of_an_unconfirmed_view_are_unreliable():
    views, _ = cs.datasets.make_gaussian_views(150, n_clusters=3, n_features=(5, 5), separation=6, random_state=0)
    rng = np.random.default_rng(3)
    blobs = rng.integers(3, size=150)
    X = {**dict(views.items()), "blobs": 30 * np.eye(3)[blobs] + rng.normal(size=(150, 3))}
    model = cs.Consilience(3, init=blobs, max_iter=1, tol=0.99, random_state=0, n_jobs=1).fit(X)
    assert normalized_mutual_info_score(blobs, model.labels_) > 0.5
    assessment = cs.assess(model, X)
    assert assessment.unconfirmed == ["blobs"]
    assert assessment.leading == "blobs"
    assert assessment.verdict == "do not rely"
    assert "the clusters follow view 'blobs', which no other view confirms" in assessment.headline
    assert assessment.impurity is assessment.impurity_range is None
    assert assessment.estimate == (
        "There is no estimate of the impurity, and no confidence, because the clusters follow view 'blobs', which no "
        "other view confirms."
    )
    assert assessment.worth.startswith("Where clusters followed a view that no other confirms, more than 30%")
    assert "impurity" not in cs.assessment.Alternative(("a",), None, np.arange(150), assessment, 0.5).describe()
    figures = assessment.to_dict()
    assert figures["impurity"] is figures["impurity_range"] is None
    assert np.isnan(assessment.confidence).all()
    assert set(assessment.certainty) == {""}


@pytest.mark.parametrize(("kind", "parameter"), [(cs.CoTrainedSpectral, "embedding"), (cs.baselines.CCAKMeans, "view")])
def test_refit_without_the_view_that_a_parameter_names(blocks, kind, parameter):
    noise = np.random.default_rng(1).normal(size=(120, 6))
    X = {"a": blocks["view1"], "b": blocks["view2"], "noise": noise}
    alternative = fit_and_assess(X, kind(3, random_state=0, **{parameter: "noise"}), refit=True).alternative
    assert alternative.left_out == ("noise",)
    assert getattr(alternative.model, parameter) == getattr(kind(), parameter)


def test_two_unconfirmed_views_are_not_ranked(blocks):
    noise = np.random.default_rng(0).normal(size=(120, 8))
    assessment = fit_and_assess({"good": blocks["view0"], "noise": noise}, refit=True)
    assert assessment.unconfirmed == ["good", "noise"]
    assert assessment.alternative is None
    assert assessment.leading is None
    assert assessment.verdict != "stable"
    (advice,) = assessment.advice
    assert "Views 'good' and 'noise' do not confirm each other, and nothing here tells which of them is right" in advice


@pytest.mark.quick
def test_unknown_shares_do_not_count(clean_assessment):
    for order in ([0, 1, 2], [2, 1, 0], [1, 2, 0]):
        rows = [
            {"view": "a", "support": 0.5, "confirmed_by": "b", "confirmed": True, "trust": 0.5, "share": np.nan},
            {"view": "b", "support": 0.5, "confirmed_by": "a", "confirmed": True, "trust": 0.5, "share": 0.01},
            {"view": "c", "support": 0.0, "confirmed_by": "", "confirmed": False, "trust": 0.0, "share": 0.9},
        ]
        views = cs.data.Table.from_rows([rows[v] for v in order])
        assessment = replace(clean_assessment, views=views)
        assert assessment.leading == "c"
        assert sorted(assessment.dissenting) == ["a", "b"]


@pytest.mark.parametrize(
    ("similarity", "disagreement", "sentence"),
    [
        (0.96, 0.0, "The result is no more reliable without it, which may therefore stay."),
        (0.9, 0.0, "Both results are about as repeatable: compare them."),
        (0.9, 0.2, "The result without it is less repeatable, which does not mean that it is worse: compare them."),
    ],
)
def test_unconfirmed_view_may_stay_only_if_it_changes_little(clean_assessment, similarity, disagreement, sentence):
    inner = replace(clean_assessment, disagreement=clean_assessment.disagreement + disagreement)
    alternative = cs.assessment.Alternative(("noise",), None, np.arange(120), inner, similarity)
    assert replace(clean_assessment, alternative=alternative).advice[1:] == [sentence]


def test_fit_with_empty_cluster_is_not_stable(clean):
    views, y, _ = clean
    model = cs.MultiViewKMeans(4, random_state=0).fit(views)
    model.labels_ = y + 1
    model.n_clusters = 4
    assessment = cs.assess(model, views)
    assert assessment.verdict == "mixed"
    assert assessment.reason.endswith("but 1 of the requested clusters has no entities.")
    assert assessment.notes[0].startswith("Only 3 of the 4 requested clusters have entities")


def test_views_with_another_grouping_prevent_stable_verdict():
    rng = np.random.default_rng(0)
    first, second = rng.integers(3, size=(2, 150))
    X = {name: 9 * np.eye(4)[first] + rng.normal(size=(150, 4)) for name in "ab"}
    X |= {name: 9 * np.eye(4)[second] + rng.normal(size=(150, 4)) for name in "cd"}
    assessment = fit_and_assess(X)
    assert assessment.unconfirmed == []
    assert assessment.dissenting in (["a", "b"], ["c", "d"])
    assert assessment.verdict == "mixed"
    quoted = " and ".join(map(repr, assessment.dissenting))
    assert f"views {quoted} confirm each other and do not predict these clusters" in assessment.reason
    assert assessment.advice[0].startswith(f"The data hold two groupings, of which views {quoted} show the other. ")


# figures


def test_disagreement_equals_literal_computation(clean):
    views, _ = cs.datasets.make_gaussian_views(60, n_clusters=3, separation=2, random_state=4)
    model = cs.MultiViewKMeans(3, random_state=0, n_init=1).fit(views)
    assessment = cs.assess(model, views, random_state=7)

    rng = np.random.default_rng(7)
    seed = rng.integers(2**31, size=2).tolist()[0]
    rng = np.random.default_rng(seed)
    order = rng.permutation(np.arange(60))
    rows, others = np.sort(order[:30]), np.sort(order[30:])
    seeds = rng.integers(2**31, size=2).tolist()
    first = cs.MultiViewKMeans(3, random_state=seeds[0], n_init=1).fit(views[rows])
    second = cs.MultiViewKMeans(3, random_state=seeds[1], n_init=1).fit(views[others])

    def count_pairs(labels, other_labels):
        return np.array([[np.sum((labels == i) & (other_labels == j)) for j in range(3)] for i in range(3)])

    def match(labels, other_labels):
        return linear_sum_assignment(-count_pairs(labels, other_labels))[1]

    def disagree(labels, other_labels):
        return np.mean(match(labels, other_labels)[labels] != other_labels)

    between = (
        disagree(first.predict(views[others]), second.labels_) + disagree(second.predict(views[rows]), first.labels_)
    ) / 2
    repeated = np.empty(60)
    for fit, seen, unseen in ((first, rows, others), (second, others, rows)):
        repeated[unseen] = match(fit.labels_, model.labels_[seen])[fit.predict(views[unseen])] == model.labels_[unseen]
    assert assessment.disagreement == pytest.approx(max(between, 1 - repeated.mean()))
    assert 0 < assessment.disagreement < 1
    np.testing.assert_array_equal(assessment.stability, repeated)


def test_margins_equal_those_of_the_default_method(clean):
    views, _, model = clean
    prepared = prepare_apart(views, dict.fromkeys(views.names, False), 3)
    np.testing.assert_allclose(measure_left_out_margins(prepared, model.labels_, 3), model.confidence_, atol=1e-6)


@pytest.fixture(scope="module")
def vague_assessment():
    return fit_and_assess(cs.datasets.make_gaussian_views(150, n_clusters=3, separation=3, random_state=0)[0])


def test_words_follow_from_the_confidence_of_each_entity(vague_assessment):
    margin = vague_assessment.margin
    confidence = estimate_right(rank_margins(margin, margin), vague_assessment.ambiguity)
    np.testing.assert_allclose(vague_assessment.confidence, confidence, rtol=0, atol=0.011)
    expected = [next(word for word, least in WORDS if p >= least) for p in vague_assessment.confidence]
    assert vague_assessment.certainty.tolist() == expected
    assert len(set(expected)) > 1
    order = [word for word, _ in WORDS]
    sorted_words = [order.index(word) for word in vague_assessment.certainty[np.argsort(-margin)]]
    assert sorted_words == sorted(sorted_words)


@pytest.mark.quick
def test_confidence_of_new_entities_is_that_of_equal_margins(vague_assessment):
    margin, confidence = vague_assessment.margin, vague_assessment.confidence
    for new, nearest in ((-1.0, margin.argmin()), (2.0, margin.argmax())):
        assert vague_assessment.estimate_confidence([new]) == pytest.approx(confidence[nearest], abs=0.011)
    rows = np.random.default_rng(0).permutation(150)[:20]
    np.testing.assert_array_equal(vague_assessment.estimate_confidence(margin[rows]), confidence[rows])
    np.testing.assert_array_equal(vague_assessment.estimate_confidence(margin[rows] + 1e-9), confidence[rows])
    assert np.isnan(vague_assessment.estimate_confidence([np.nan])).tolist() == [True]


def test_figures_and_clusters_average_entities(clean, clean_assessment):
    assert clean_assessment.ambiguity == pytest.approx(1 - clean_assessment.margin.mean())
    assert clean_assessment.doubt == pytest.approx((clean_assessment.disagreement + clean_assessment.ambiguity) / 2)
    low, high = clean_assessment.impurity_range
    assert low <= clean_assessment.impurity <= high
    _, _, model = clean
    for cluster, size, stability, margin in zip(
        *(clean_assessment.clusters[name] for name in ("cluster", "size", "stability", "margin")), strict=True
    ):
        members = model.labels_ == cluster
        assert size == members.sum()
        assert stability == pytest.approx(clean_assessment.stability[members].mean())
        assert margin == pytest.approx(clean_assessment.margin[members].mean())


def test_trust_orders_views_by_quality():
    views, _ = cs.datasets.make_gaussian_views(300, n_clusters=3, n_features=(5, 5, 5), separation=7, random_state=0)
    X = dict(views.items())
    X["view2"] = X["view2"] + np.random.default_rng(0).normal(scale=4, size=X["view2"].shape)
    assessment = fit_and_assess(X)
    assert np.argmin(assessment.views["trust"]) == 2


# repeatability


def test_same_seed_gives_same_assessment_with_any_number_of_threads(clean, clean_assessment):
    views, _, model = clean
    again = cs.Consilience(3, random_state=0, n_jobs=3).fit(views)
    assert_same(cs.assess(again, views), clean_assessment)
    before, parameters = model.labels_.copy(), model.get_params()
    other = cs.assess(model, views, random_state=1)
    assert other.views["support"].tolist() != clean_assessment.views["support"].tolist()
    np.testing.assert_array_equal(model.labels_, before)  # the model is not changed
    assert model.get_params() == parameters


def test_interrupted_assessment_continues_from_checkpoint(clean, clean_assessment, tmp_path, monkeypatch):
    views, _, model = clean
    path = tmp_path / "steps.npz"
    fits = []
    fit_half = ModelData.fit_half

    def interrupt(*arguments):
        if len(fits) == 1:
            raise KeyboardInterrupt("stop")
        fits.append(1)
        return fit_half(*arguments)

    monkeypatch.setattr(ModelData, "fit_half", interrupt)
    with pytest.raises(KeyboardInterrupt, match="stop"):
        cs.assess(model, views, checkpoint=path)
    fits.clear()
    monkeypatch.setattr(ModelData, "fit_half", lambda *arguments: (fits.append(1), fit_half(*arguments))[1])
    assert_same(cs.assess(model, views, checkpoint=path), clean_assessment)
    assert len(fits) == 1  # the first half was read from the file
    assert_same(cs.assess(model, views, checkpoint=path), clean_assessment)
    assert len(fits) == 1


def test_checkpoint_of_other_data_or_seed_is_refused(clean, blocks, tmp_path):
    views, _, model = clean
    path = tmp_path / "steps.npz"
    cs.assess(model, views, checkpoint=path)
    with pytest.raises(ValueError, match="checkpoint of another model, data or seed: delete it or choose another file"):
        cs.assess(model, views, checkpoint=path, random_state=1)
    changed = {name: block.copy() for name, block in blocks.items()}
    changed["view2"][110, 3] += 0.1
    sparse = {name: sp.csr_array(block) for name, block in changed.items()}
    other = cs.Consilience(3, random_state=0, n_jobs=2).fit(views)
    other.penalty = 0.04
    runs = [
        (model, changed, {}),
        (model, sparse, {}),
        (other, views, {}),
        (model, views, {"constraints": cs.Constraints([(0, 1)], [])}),
        (model, views, {"y": np.full(len(views), -1)}),
    ]
    for different, data, options in runs:
        with pytest.raises(ValueError, match="checkpoint of another model, data or seed"):
            cs.assess(different, data, checkpoint=path, **options)
    with pytest.raises(ValueError, match="the checkpoint cannot be written: there is no folder"):
        cs.assess(model, views, checkpoint=tmp_path / "none" / "steps.npz")


def test_parameters_are_described_alike_in_every_process():
    first, second = ([*describe_parameters(cs.Consilience(3, random_state=np.random.default_rng(0)))] for _ in range(2))
    assert first == second
    start = [*describe_parameters(cs.MultiViewKMeans(3, init={"a": np.zeros((3, 2)), "b": sp.csr_array(np.eye(3))}))]
    assert [part.shape for part in start if isinstance(part, np.ndarray)] == [(3, 2), (4,), (3,), (3,)]


def test_refit_continues_from_checkpoint(blocks, tmp_path, monkeypatch):
    noise = np.random.default_rng(1).normal(size=(120, 20))
    X = {"a": blocks["view1"], "b": blocks["view2"], "noise": noise}
    model = cs.MultiViewKMeans(3, random_state=0).fit(X)
    path = tmp_path / "steps.npz"
    expected = cs.assess(model, X, refit=True, checkpoint=path)
    assert expected.alternative.left_out == ("noise",)

    def refuse(*_, **__):
        raise AssertionError("computed again")

    monkeypatch.setattr(ModelData, "fit_half", refuse)
    monkeypatch.setattr(module, "judge_sample", refuse)
    again = cs.assess(model, X, refit=True, checkpoint=path)
    assert_same(again, expected)
    assert_same(again.alternative.assessment, expected.alternative.assessment)


@pytest.mark.quick
def test_damaged_checkpoint_is_refused(clean, tmp_path):
    views, _, model = clean
    path = tmp_path / "steps.npz"
    cs.assess(model, views, checkpoint=path)
    content = path.read_bytes()
    middle = content.index(b"predicted") + 200
    flipped = bytes(255 - byte for byte in content[middle : middle + 8])
    for damaged in (content[: len(content) // 2], content[:middle] + flipped + content[middle + 8 :], b"no zip"):
        path.write_bytes(damaged)
        with pytest.raises(ValueError, match="is not a checkpoint of an assessment, or is damaged: delete it"):
            cs.assess(model, views, checkpoint=path)


# every estimator, and every kind of data


@pytest.mark.parametrize("build", ESTIMATORS, ids=lambda build: build.__name__)
def test_every_estimator_that_predicts_can_be_assessed(clean, build):
    views, y, _ = clean
    model = build(3) if build is convex_mixture else build(3, random_state=0)
    model.fit(views)
    assessment = cs.assess(model, views)
    assert assessment.views["confirmed"].all()
    assert assessment.stability.shape == assessment.margin.shape == assessment.certainty.shape == (120,)
    assert 0 <= assessment.disagreement <= 1
    assert 0 <= assessment.ambiguity <= 1
    if normalized_mutual_info_score(y, model.labels_) > 0.95 and build is not convex_mixture:
        assert assessment.verdict == "stable"


def test_pipeline_views_are_judged_after_its_transformers(blocks):
    X = np.hstack(list(blocks.values()))
    swap = FunctionTransformer(lambda X: X[:, [*range(5, 15), 0, 1, 2, 3, 4]])
    columns = {"a": slice(0, 5), "b": slice(5, 10), "c": slice(10, 15)}
    inner = cs.MultiViewKMeans(3, views=columns, random_state=0)
    through = fit_and_assess(X, make_pipeline(swap, inner))
    direct = fit_and_assess(swap.fit_transform(X), cs.MultiViewKMeans(3, views=columns, random_state=0))
    for column in ("support", "share", "trust"):
        np.testing.assert_array_equal(through.views[column], direct.views[column])
    few = make_pipeline(PCA(4), cs.MultiViewKMeans(3, views={"a": [0, 1], "b": [2, 3]}, random_state=0))
    assert fit_and_assess(X, few).views["view"].tolist() == ["a", "b"]


@pytest.mark.parametrize("kind", ["columns", "views"])
def test_pipeline_is_refitted_without_unconfirmed_views(blocks, kind):
    noise = np.random.default_rng(1).normal(size=(120, 6))
    X = {"a": blocks["view1"], "b": blocks["view2"], "noise": noise}
    settings = {"affinity": {"a": "gaussian", "b": "cosine", "noise": "gaussian"}, "random_state": 0}
    if kind == "columns":
        X = np.hstack(list(X.values()))
        settings["views"] = {"a": slice(0, 5), "b": slice(5, 10), "noise": slice(10, 16)}
        first = StandardScaler()
    else:
        first = cs.PerView(StandardScaler())
    model = make_pipeline(first, cs.CoTrainedSpectral(3, **settings))
    alternative = fit_and_assess(X, model, refit=True).alternative
    assert alternative.left_out == ("noise",)
    assert set(last_step(alternative.model).affinity) == {"a", "b"}
    data = X if kind == "columns" else cs.Views({name: X[name] for name in "ab"})
    np.testing.assert_array_equal(alternative.model.predict(data), last_step(alternative.model).labels_)


def test_constraints_reach_the_last_step_of_a_pipeline(clean):
    views, y, _ = clean
    links = cs.Constraints.sample(y, 20, random_state=0)
    model = make_pipeline(cs.PerView(StandardScaler()), cs.MultiViewConstrainedKMeans(3, random_state=0))
    model.fit(views, multiviewconstrainedkmeans__constraints=links)
    assert cs.assess(model, views, constraints=links).verdict == "stable"


def test_sparse_and_missing_views():
    text, _ = cs.datasets.make_text_views(150, n_clusters=3, random_state=0)
    assert all(sp.issparse(block) for _, block in text.items())
    gaussian, _ = cs.datasets.make_gaussian_views(200, n_features=(5, 5, 5), separation=8, missing=0.3, random_state=0)
    for views in (text, gaussian):
        assessment = fit_and_assess(views)
        assert assessment.views["confirmed"].all()
        assert np.isfinite(assessment.stability).all()


def test_precomputed_similarities(blocks):
    kernels = {name: np.exp(-((X[:, None] - X[None]) ** 2).sum(axis=2) / 50) for name, X in blocks.items()}
    model = cs.Consilience(3, affinity="precomputed", random_state=0, n_jobs=1)
    assert fit_and_assess(kernels, model).verdict == "stable"


def test_halves_get_the_constraints_between_their_entities(clean, monkeypatch):
    views, y, _ = clean
    same, different = np.flatnonzero(y == 0)[:6], np.flatnonzero(y == 1)[:6]
    links = cs.Constraints(list(pairwise(same)), list(zip(same, different, strict=True)))
    model = cs.MultiViewConstrainedKMeans(3, random_state=0).fit(views, constraints=links)
    fits = []
    fit = cs.MultiViewConstrainedKMeans.fit

    def record(self, X, y=None, *, constraints=None):
        fits.append((X, constraints))
        return fit(self, X, y, constraints=constraints)

    monkeypatch.setattr(cs.MultiViewConstrainedKMeans, "fit", record)
    assert cs.assess(model, views, constraints=links).verdict == "stable"
    assert len(fits) == 2
    for half, constraints in fits:
        entities = [int(np.flatnonzero((views["view0"] == row).all(axis=1))[0]) for row in half["view0"]]
        half_pairs = {frozenset(entities[i] for i in pair) for pair in constraints.cannot_link.tolist()}
        pairs = map(frozenset, zip(same.tolist(), different.tolist(), strict=True))
        assert half_pairs == {pair for pair in pairs if pair <= set(entities)}


def test_halves_get_the_known_classes_of_their_entities(clean, monkeypatch):
    views, y, _ = clean
    seeds = np.where(np.arange(len(y)) % 5 == 0, y, -1)
    model = cs.MultiViewKMeans(3, random_state=0).fit(views, seeds)
    fits = []
    fit = cs.MultiViewKMeans.fit

    def record(self, X, y=None):
        fits.append((X, y))
        return fit(self, X, y)

    monkeypatch.setattr(cs.MultiViewKMeans, "fit", record)
    assert cs.assess(model, views, y=seeds.tolist()).verdict == "stable"
    assert len(fits) == 2
    for half, classes in fits:
        entities = [int(np.flatnonzero((views["view0"] == row).all(axis=1))[0]) for row in half["view0"]]
        assert classes.tolist() == seeds[entities].tolist()
    with pytest.raises(ValueError, match=r"y must have one class per entity, -1 if unknown: 120 entities, got shape"):
        cs.assess(model, views, y=seeds[:7])


def test_labels_to_start_from_do_not_reach_the_halves(clean):
    views, _, _ = clean
    noise = {name: np.random.default_rng(v).normal(size=block.shape) for v, (name, block) in enumerate(views.items())}
    labels = np.arange(120) % 3
    assert cs.assess(cs.refine(noise, labels), noise).verdict == "do not rely"


def test_centers_to_start_from_do_not_reach_the_halves(clean, monkeypatch):
    views, y, _ = clean
    centers = {name: np.array([block[y == c].mean(axis=0) for c in range(3)]) for name, block in views.items()}
    model = cs.MultiViewKMeans(3, init=centers, random_state=0).fit(views)
    starts = []
    fit = cs.MultiViewKMeans.fit
    monkeypatch.setattr(cs.MultiViewKMeans, "fit", lambda self, X: (starts.append(self.init), fit(self, X))[1])
    cs.assess(model, views)
    assert starts == [cs.MultiViewKMeans().init] * 2


def test_large_data_is_sampled(clean):
    views, _ = cs.datasets.make_gaussian_views(400, n_clusters=2, separation=8, random_state=0)
    assessment = fit_and_assess(views, cs.MultiViewKMeans(2, random_state=0), max_entities=100)
    assert assessment.n_assessed == 100
    assert np.isfinite(assessment.margin).sum() == np.isfinite(assessment.stability).sum() == 100
    assert ((assessment.certainty == "") == np.isnan(assessment.margin)).all()
    assert assessment.notes == ["100 of the 400 entities, drawn at random, were assessed."]


def test_compared_sample_has_enough_entities_of_each_pair(tune):
    tune("assessment.assess", most_compared=150, least_compared=40)
    views, _ = cs.datasets.make_gaussian_views(600, n_clusters=3, separation=9, random_state=0)
    present = np.ones((600, 2), bool)
    present[50:, 1] = False
    views = cs.Views(dict(views.items()), present=present)
    compared = module.draw_compared(views, np.arange(600), np.random.default_rng(0))
    assert 150 <= len(compared) <= 190
    assert present[compared, 1].sum() == 40
    assert fit_and_assess(views).unconfirmed == []


def test_outliers_are_not_counted(clean):
    views, _, _ = clean
    model = cs.MultiViewKMeans(3, random_state=0).fit(views)
    model.labels_ = np.where(np.arange(120) < 10, -1, model.labels_)
    assessment = cs.assess(model, views)
    assert assessment.verdict == "stable"
    assert (assessment.certainty[:10] == "").all()
    assert np.isnan(assessment.margin[:10]).all()
    assert np.isnan(assessment.stability[:10]).all()
    assert assessment.clusters["size"].sum() == 110


# input that says little or nothing


def test_one_view_cannot_be_confirmed(blocks):
    assessment = fit_and_assess({"only": blocks["view1"]})
    assert assessment.verdict == "mixed"
    assert assessment.reason.endswith("but there is no second view to confirm the clusters.")
    assert assessment.advice == []
    assert assessment.unconfirmed == []
    assert assessment.impurity is None
    assert assessment.estimate == "There is no estimate of the impurity, because there is no second view."


def test_copies_do_not_confirm_each_other(blocks):
    X = blocks["view1"]
    assessment = fit_and_assess({"<b>": X, "b": X.copy()})
    assert assessment.copies == [("<b>", "b")]
    assert assessment.verdict == "mixed"
    assert assessment.unconfirmed == []
    assert assessment.advice == ["Views '<b>' and 'b' are nearly copies of each other: that they agree proves nothing."]
    page = assessment._repr_html_()
    assert "<b>" not in page
    assert "&lt;b&gt;" in page
    assert "there are no two views that could confirm each other" in assessment.reason
    assert assessment.impurity is None
    assert assessment.estimate == "There is no estimate of the impurity, because no two views confirm each other."


def test_noise_does_not_confirm_its_own_near_copies():
    rng = np.random.default_rng(0)
    noise = rng.normal(size=(150, 5))
    X = {"a": noise, "b": noise + 0.1 * rng.normal(size=(150, 5)), "c": noise + 0.05 * rng.normal(size=(150, 5))}
    assessment = fit_and_assess(X)
    assert assessment.copies == [("a", "b"), ("a", "c"), ("b", "c")]
    assert assessment.compared == []
    assert assessment.verdict != "stable"


def test_copy_of_a_copy_is_a_copy():
    prepared = []
    for shift in (0, 3, 6):  # neighbors change from view to view
        steps = np.r_[0, np.arange(1 + shift, 21 + shift)]
        rows = np.repeat(np.arange(60), len(steps))
        matrix = sp.csr_array((np.ones(len(rows)), (rows, (rows + np.tile(steps, 60)) % 60)), shape=(60, 60))
        prepared.append(SimpleNamespace(entities=np.arange(60), spaces=[SimpleNamespace(matrix=matrix)]))
    labels = np.zeros(60, np.int64)
    assert share_neighbors(prepared[0], prepared[2], labels) < COPIES < share_neighbors(*prepared[:2], labels)
    assert find_copies(prepared, labels)["copies"].tolist() == [[0, 1], [0, 2], [1, 2]]


def test_views_that_share_many_neighbors_are_called_alike():
    rng = np.random.default_rng(0)
    first = 6 * np.eye(8)[np.arange(150) % 3] + rng.normal(size=(150, 8))
    other = 6 * np.eye(8)[np.arange(150) % 3] + rng.normal(size=(150, 8))
    X = {"a": first, "b": first + 0.4 * rng.normal(size=(150, 8)), "other": other}
    assessment = fit_and_assess(X)
    assert assessment.alike == [("a", "b")]
    assert assessment.copies == []
    assert assessment.advice == ["Views 'a' and 'b' are very alike: that they agree proves little."]


@pytest.mark.parametrize(("n", "k"), [(40, 5), (100, 10)])
def test_views_with_the_same_small_clusters_are_no_copies(n, k):
    views, _ = cs.datasets.make_gaussian_views(n, n_clusters=k, n_features=(5, 5), separation=30, random_state=0)
    assessment = fit_and_assess(views, cs.MultiViewKMeans(k, random_state=0))
    assert assessment.copies == assessment.alike == []
    assert assessment.unconfirmed == []


def test_copies_are_confirmed_by_a_third_view_only(blocks):
    X = blocks["view1"]
    confirmed = fit_and_assess({"a": X, "b": X.copy(), "c": blocks["view2"]})
    assert confirmed.views["confirmed_by"].tolist()[:2] == ["c", "c"]
    noise = np.random.default_rng(0).normal(size=(120, 6))
    unconfirmed = fit_and_assess({"a": X, "b": X.copy(), "noise": noise})
    assert unconfirmed.unconfirmed == ["a", "b", "noise"]
    assert unconfirmed.verdict != "stable"


def test_constant_view_is_ignored(blocks):
    model = cs.MultiViewKMeans(3, random_state=0)
    X = {"a": blocks["view1"], "b": blocks["view2"], "constant": np.ones((120, 3))}
    assessment = fit_and_assess(X, model)
    assert assessment.compared == ["a", "b"]
    assert assessment.unconfirmed == []
    assert assessment.advice == [
        "View 'constant' could not be judged: it is the same for all assessed entities that have it."
    ]
    alone = fit_and_assess({"a": blocks["view1"], "constant": np.ones((120, 3))}, model)
    assert alone.verdict != "stable"
    assert alone.advice[0].startswith("View 'a' could not be compared with another view")


def test_reason_why_a_view_is_not_judged(blocks):
    present = np.ones((120, 4), bool)
    views = {"a": blocks["view0"], "b": blocks["view1"], "inside": blocks["view2"], "rare": blocks["view2"]}
    labels = cs.MultiViewKMeans(3, random_state=0).fit(views).labels_
    present[labels != 0, 2] = False
    present[15:, 3] = False
    X = cs.Views(views, present=present)
    assessment = fit_and_assess(X, cs.MultiViewKMeans(3, random_state=0))
    assert assessment.unjudged == {"inside": "one cluster", "rare": "few"}
    assert any("'inside' is no evidence for or against the clusters: all" in sentence for sentence in assessment.advice)
    assert "View 'rare' could not be judged: fewer than 20 of the assessed entities have it." in assessment.advice


def test_noise_is_not_confirmed_by_duplicated_entities():
    rng = np.random.default_rng(0)
    X = {name: np.repeat(rng.normal(size=(40, 6)), 6, axis=0) for name in "ab"}
    assessment = fit_and_assess(X, cs.MultiViewKMeans(3, random_state=0))
    assert assessment.unconfirmed == ["a", "b"]
    assert assessment.verdict == "do not rely"
    np.testing.assert_array_equal(assessment.margin[::6], assessment.margin[5::6])
    assert assessment.notes[0] == (
        "240 of the assessed entities are identical to another in all views. They were kept in the same half, and "
        "views were compared on one entity of each group of identical ones."
    )


def test_identical_entities_come_into_the_same_half(blocks, monkeypatch):
    rows = np.r_[np.arange(120), np.arange(20)]
    X = {name: block[rows] for name, block in blocks.items()}
    model = cs.MultiViewKMeans(3, random_state=0).fit(X)
    halves = []
    fit_half = ModelData.fit_half

    def record(data, model, rows, others, seed):
        halves.append(set(rows.tolist()))
        return fit_half(data, model, rows, others, seed)

    monkeypatch.setattr(ModelData, "fit_half", record)
    assert cs.assess(model, X).verdict == "stable"
    assert all((twin in half) == (twin + 120 in half) for half in halves for twin in range(20))


def test_views_of_disjoint_entities_are_not_compared(blocks):
    present = np.zeros((120, 2), bool)
    present[:60, 0] = present[60:, 1] = True
    views = cs.Views({"a": blocks["view0"], "b": blocks["view1"]}, present=present)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the method warns that nothing connects the views
        assessment = fit_and_assess(views, cs.MultiViewKMeans(3, random_state=0))
    assert assessment.verdict != "stable"
    assert assessment.compared == assessment.unconfirmed == []
    assert [sentence[:30] for sentence in assessment.advice] == [
        f"View '{name}' could not be compared" for name in "ab"
    ]


def test_halves_without_a_cluster(clean):
    views, y, _ = clean
    rows = np.r_[np.flatnonzero(y == 0), np.flatnonzero(y == 1), np.flatnonzero(y == 2)[:1]]
    model = cs.MultiViewKMeans(3, random_state=0).fit(views[rows])
    assessment = cs.assess(model, views[rows])
    assert 0 <= assessment.disagreement <= 1
    assert np.isnan(assessment.clusters["stability"][assessment.clusters["size"] == 1]).all()


def test_small_data_is_assessed_with_a_note(clean):
    views, _, _ = clean
    assessment = fit_and_assess(views[:16])
    assert any("fewer than 20 assessed entities per cluster" in note for note in assessment.notes)
    assert assessment.unconfirmed == []  # too few entities to judge a view


def test_refuses_too_few_entities_or_clusters_and_other_data(clean):
    views, _, fitted = clean
    model = cs.MultiViewKMeans(3, random_state=0)
    with pytest.raises(ValueError, match="only 10 of the entities differ from each other, too few to fit 3 clusters"):
        fit_and_assess(views[np.arange(120) % 10], model)
    with pytest.raises(ValueError, match=r"10 entities are too few to fit 3 clusters to each half .* at least 4 .* 12"):
        fit_and_assess(views[:10], model)
    with pytest.raises(ValueError, match=r"max_entities=11 is too few for 3 clusters: .* at least 4 entities per"):
        fit_and_assess(views, model, max_entities=11)
    with pytest.raises(ValueError, match=r"the model has a single cluster, .* fit at least 2 clusters"):
        fit_and_assess(views, cs.MultiViewKMeans(1, random_state=0))
    with pytest.raises(NotFittedError, match="Consilience instance is not fitted yet"):
        cs.assess(cs.Consilience(3), views)
    with pytest.raises(ValueError, match="X has 50 entities, but the model was fitted to 120: give the data"):
        cs.assess(fitted, views[:50])


def test_no_half_can_be_clustered(clean, monkeypatch):
    views, _, model = clean

    def refuse(*_):
        raise ValueError("view 'view0' is the same for every entity")

    monkeypatch.setattr(ModelData, "fit_half", refuse)
    with pytest.raises(ValueError, match=r"no half of the 120 entities could be clustered on its own, .*view 'view0'"):
        cs.assess(model, views)


def test_method_without_predict(clean):
    views, _, _ = clean
    model = cs.MultiViewAgglomerative(3).fit(views)
    with pytest.raises(TypeError, match=r"MultiViewAgglomerative has no predict.*assess Consilience, or cs\.refine"):
        cs.assess(model, views)
    assert cs.assess(cs.refine(views, model.labels_), views).verdict == "stable"


def test_reordered_rows_are_noticed(clean, clean_assessment):
    views, _, model = clean
    notes = " ".join(cs.assess(model, views[np.random.default_rng(0).permutation(120)]).notes)
    assert "the model predicts other clusters than it has in labels_: check that this is the data of the fit" in notes
    assert "check that this is the data" not in " ".join(clean_assessment.notes)


def test_grid_search_is_assessed_by_best_estimator(clean):
    views, _, _ = clean
    search = GridSearchCV(cs.MultiViewKMeans(3, random_state=0), {"n_init": [1, 2]}, cv=2).fit(views)
    assert_same(cs.assess(search, views), cs.assess(search.best_estimator_, views))


def test_assessment_can_be_saved_and_written_as_json(blocks, tmp_path):
    noise = np.random.default_rng(0).normal(size=(120, 10))
    X = {"a": blocks["view1"], "b": blocks["view2"], "noise": noise}
    assessment = fit_and_assess(X, cs.Consilience(3, outliers=0.1, random_state=0, n_jobs=1), refit=True)
    assert assessment.alternative.similarity > 0.99  # outliers do not count
    cs.save(assessment, tmp_path / "assessment.zip")
    again = cs.load(tmp_path / "assessment.zip")
    assert repr(again) == repr(assessment)
    assert json.loads(json.dumps(assessment.to_dict()))["verdict"] == assessment.verdict


def test_related_views_do_not_confirm_each_other_and_averaged_rows_leave_no_estimate(blocks):
    views = cs.Views({"a": blocks["view0"], "b": blocks["view1"]})
    model = cs.Consilience(3, random_state=0).fit(views)
    plain, related = cs.assess(model, views), cs.assess(model, views, related=[("a", "b")])
    assert plain.verdict == "stable"
    assert plain.impurity is not None
    assert related.compared == []
    assert related.verdict == "mixed"
    assert related.impurity is None
    assert "there are no two views that could confirm each other" in related.headline
    averaged = cs.assess(model, views, averaged=["b"])
    assert averaged.verdict == "mixed"
    assert averaged.impurity is None
    assert "rows of view 'b' are averages" in averaged.headline
    assert "averages over several entities, so that these figures are too good" in averaged.estimate
