"""Tests of constrained clustering of partly mapped views: results, warnings and errors."""

import warnings
from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.spatial.distance import cdist
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import adjusted_rand_score

import consilience as cs
from consilience.datasets import make_four_quadrants, make_gaussian_views
from consilience.methods.constrained.co_constrained import CANDIDATES, ViewClusterer
from consilience.methods.constrained.propagate import TRANSFERS, Transfer
from quadrants import make_quadrants, sample_constraints

BASES = {"pck": {}, "mpck": {"base": "mpck"}, "mpck full": {"base": "mpck", "metric": "full"}}
every_base = pytest.mark.parametrize("base", BASES)


def fit_model(views, constraints=None, n_clusters=2, **options):
    options = {"random_state": 0} | options
    return cs.MultiViewConstrainedKMeans(n_clusters, **options).fit(views, constraints=constraints)


def fit_without_warnings(views, constraints=None, n_clusters=2, **options):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return fit_model(views, constraints, n_clusters, **options)


def same_partition(labels, others):
    return adjusted_rand_score(labels, others) == 1.0


def assert_same_model(model, other):
    assert np.array_equal(model.labels_, other.labels_)
    assert model.cost_ == other.cost_
    assert model.n_iter_ == other.n_iter_
    for name, labels in model.view_labels_.items():
        assert np.array_equal(labels, other.view_labels_[name])
        assert np.array_equal(model.cluster_centers_[name], other.cluster_centers_[name])
        assert np.array_equal(model.metrics_[name], other.metrics_[name])
    assert model.propagated_ == other.propagated_
    assert model.constraints_ == other.constraints_
    assert model.thresholds_ == other.thresholds_


@every_base
def test_attributes(base):
    views, _, constraints = make_quadrants()
    model = fit_model(views, constraints, **BASES[base])
    n = len(views)
    assert model.labels_.shape == (n,)
    assert set(model.labels_) == {0, 1}
    assert list(model.view_labels_) == list(model.propagated_) == list(model.constraints_) == ["a", "b"]
    for v, values in enumerate(model.view_labels_.values()):
        assert np.array_equal(values >= 0, views.present[:, v]), "-1 where the entity lacks the view, and only there"
    assert {name: values.shape for name, values in model.cluster_centers_.items()} == {"a": (2, 2), "b": (2, 2)}
    shape = (2, 2, 2) if base == "mpck full" else (2, 2)
    assert {values.shape for values in model.metrics_.values()} == {shape}
    assert model.thresholds_ == {"a": 0.5, "b": 0.5}
    assert model.converged_
    assert model.n_features_in_ == 4
    both = views.present.all(axis=1)
    agreeing = np.mean((model.view_labels_["a"] == model.view_labels_["b"])[both])
    np.testing.assert_allclose(model.agreement_, [[1, agreeing], [agreeing, 1]])
    history = model.history_
    assert list(history) == ["round", "objective", "objective_a", "objective_b", "violations", "propagated"]
    assert history["round"].tolist() == list(range(1, model.n_iter_ + 1))
    np.testing.assert_allclose(history["objective"], history["objective_a"] + history["objective_b"])
    assert history["objective"][-1] == model.cost_
    assert history["violations"][-1] == model.n_violations_
    assert history["propagated"][-1] == sum(links.size for links in model.propagated_.values())


def test_constraints_include_closure_and_received():
    views, _, constraints = make_quadrants()
    model = fit_model(views, constraints)
    for name, other in (("a", "b"), ("b", "a")):
        links = model.constraints_[name]
        assert links | constraints[name] == links
        assert links | model.propagated_[other] == links, "the last round of the other view changed nothing"
        assert links.size > constraints[name].size
        handed = np.concatenate([model.propagated_[name].must_link, model.propagated_[name].cannot_link])
        assert views.present[handed].all(), "what is handed on is between entities with both views"
        weights = np.concatenate([model.propagated_[name].must_weights, model.propagated_[name].cannot_weights])
        assert weights.min() >= 0.5
        assert weights.max() <= 1.0


def test_labels_are_majority_of_views():
    views, y = make_gaussian_views(90, n_clusters=3, n_features=(2, 2, 2), separation=3, missing=0.3, random_state=1)
    model = fit_without_warnings(views, sample_constraints(views, y, 10), 3, max_iter=3)
    labels = np.array(list(model.view_labels_.values()))
    votes = np.array([(labels == h).sum(axis=0) for h in range(3)])
    assert (votes[model.labels_, np.arange(90)] == votes.max(axis=0)).all()
    tied = (votes == votes.max(axis=0)).sum(axis=0) > 1
    assert tied.any()
    costs = np.where((votes == votes.max(axis=0)).T, model.transform(views), np.inf)
    assert np.array_equal(model.labels_[tied], costs.argmin(axis=1)[tied])


def test_common_constraints_apply_in_every_view():
    views, y, _ = make_quadrants()
    both = views.present.all(axis=1).nonzero()[0]
    common = cs.Constraints.sample(y[both], 20, random_state=0).renumbered(both)
    assert_same_model(fit_model(views, common), fit_model(views, {"a": common, "b": common}))


def test_by_row_after_align():
    views, _, constraints = make_quadrants()
    rows = {
        name: cs.Constraints.from_table(constraints[name].renumbered(row).table(), by="row")
        for name, row in zip(views.names, views.rows.T, strict=True)
    }
    assert rows["b"].must_link.max() < 100
    assert_same_model(fit_model(views, rows), fit_model(views, constraints))
    order = np.random.default_rng(0).permutation(len(views))
    turned = fit_model(views[order], rows, order="index")
    assert same_partition(turned.labels_, fit_model(views, constraints, order="index").labels_[order])


def draw_centers(views, seed=0, k=2):
    rng = np.random.default_rng(seed)
    return {
        name: X[views.present[:, v]][rng.permutation(int(views.present[:, v].sum()))[:k]]
        for v, (name, X) in enumerate(views.items())
    }


@pytest.mark.parametrize("base", ["pck", "mpck"])
def test_no_transfer_equals_single_view_estimators(base):
    views, _, constraints = make_quadrants(2)
    centers = draw_centers(views)
    model = fit_model(views, constraints, init=centers, order="index", transfer="none", base=base)
    total, n_violations = 0.0, 0
    for v, (name, X) in enumerate(views.items()):
        present = views.present[:, v]
        place = np.cumsum(present) - 1
        single = {"pck": cs.PCKMeans, "mpck": cs.MPCKMeans}[base](2, init=centers[name], order="index")
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            single.fit(X[present], constraints=constraints[name].closure().renumbered(place))
        assert same_partition(model.view_labels_[name][present], single.labels_)
        assert model.history_[f"objective_{name}"][-1] == pytest.approx(single.cost_)
        assert model.propagated_[name].size == 0
        assert model.constraints_[name] == constraints[name].closure()
        total += single.cost_
        n_violations += single.n_violations_
    assert model.cost_ == pytest.approx(total)
    assert model.n_violations_ == n_violations
    assert model.n_iter_ == 2


def test_propagation_helps_on_quadrants():
    """A safe version of the paper's experiment: PCK-Means from the largest groups, half of the rows mapped."""
    scores = {"propagate": [], "direct": []}
    precision = []
    for seed in range(6):
        views, y, constraints = make_quadrants(seed)
        for transfer, values in scores.items():
            model = fit_without_warnings(views, constraints, init="largest", transfer=transfer)
            labels = [(y[labels >= 0], labels[labels >= 0]) for labels in model.view_labels_.values()]
            values.append(np.mean([cs.metrics.pairwise_scores(*both).f for both in labels]))
            if transfer == "propagate":
                precision += [model.propagated_[name].precision(y) for name in views.names]
    propagated, direct = (np.mean(values) for values in scores.values())
    assert propagated > 0.9
    assert propagated - direct > 0.05
    assert np.min(np.mean(precision, axis=0)) > 0.95


def test_three_views():
    """The third view is mapped only to the second."""
    y = {"a": np.arange(60) % 2, "b": np.arange(50) % 2, "c": np.arange(40) % 2}
    rng = np.random.default_rng(0)
    blocks = {name: rng.standard_normal((len(classes), 2)) + [[6, 0]] * classes[:, None] for name, classes in y.items()}
    views = cs.align(
        blocks, {("a", "b"): [(i, i) for i in range(30)], ("b", "c"): [(i, i - 20) for i in range(20, 50)]}
    )
    assert sorted(views.present.sum(axis=1))[-1] == 3
    truth = np.zeros(len(views), int)
    for v, name in enumerate(views.names):
        present = views.present[:, v]
        truth[present] = y[name][views.rows[present, v]]
    constraints = {"a": cs.Constraints.sample(y["a"], 20, random_state=0)}
    rows = {"a": cs.Constraints.from_table(constraints["a"].table(), by="row")}
    model = fit_model(views, rows, init="farthest")
    assert same_partition(model.labels_, truth)
    assert model.agreement_.shape == (3, 3)
    np.testing.assert_allclose(model.agreement_, 1)
    assert list(model.history_)[2:5] == ["objective_a", "objective_b", "objective_c"]
    received = model.constraints_["c"].size
    assert received > 0, "what was given in the first view has come to the third"
    assert np.isin(model.propagated_["a"].must_link, np.flatnonzero(views.present.sum(axis=1) > 1)).all()


def three_views(separation, seed=0, missing=0.3):
    views, y = make_gaussian_views(
        80, n_clusters=4, n_features=(4, 5, 3), separation=separation, missing=missing, random_state=seed
    )
    return views, y


def permute_rows(views, constraints, order):
    """Return rows in another order, with constraints between the same entities."""
    return views[order], {name: links.renumbered(np.argsort(order)) for name, links in constraints.items()}


def assert_same_clusters(model, other, order=None):
    """Assert that labels, objectives and numbers of rounds are identical."""
    order = np.arange(len(model.labels_)) if order is None else order
    assert np.array_equal(other.labels_, model.labels_[order])
    for name, labels in model.view_labels_.items():
        assert np.array_equal(other.view_labels_[name], labels[order])
        assert np.array_equal(other.history_[f"objective_{name}"], model.history_[f"objective_{name}"])
    assert other.cost_ == model.cost_
    assert other.n_iter_ == model.n_iter_


@pytest.mark.parametrize(
    ("options", "n_constraints", "separation"),
    [
        ({}, 0, 10),
        ({}, 6, 3),
        (BASES["mpck"], 24, 10),
        (BASES["mpck"], 0, 3),
        (BASES["mpck full"], 6, 10),
        (BASES["mpck full"], 24, 3),
        ({"transfer": "direct"}, 10, 5),
        ({"transfer": "membership"}, 10, 5),
        ({"transfer": "none"}, 10, 5),
    ],
)
def test_orders_of_views_and_rows_do_not_matter(options, n_constraints, separation):
    views, y = three_views(separation)
    constraints = sample_constraints(views, y, n_constraints) if n_constraints else {}
    model = fit_without_warnings(views, constraints, 4, max_iter=4, **options)
    names = ["view2", "view0", "view1"]
    other = fit_without_warnings(views[names], constraints, 4, max_iter=4, **options)
    assert list(other.view_labels_) == list(other.propagated_) == list(other.cluster_centers_) == names
    assert list(other.history_)[2:5] == [f"objective_{name}" for name in names]
    assert_same_clusters(model, other)
    order = np.random.default_rng(0).permutation(len(y))
    turned = permute_rows(views, constraints, order)
    assert_same_clusters(model, fit_without_warnings(*turned, 4, max_iter=4, **options), order)


def test_row_order_does_not_matter_with_equal_rows():
    views, y = three_views(4, missing=0.0)
    rounded = cs.Views({name: X.round() if name == "view2" else X for name, X in views.items()})
    assert len(np.unique(rounded["view2"], axis=0)) < len(y)
    constraints = sample_constraints(rounded, y, 40)
    order = np.random.default_rng(0).permutation(len(y))
    model = fit_without_warnings(rounded, constraints, 4, max_iter=2)
    turned = permute_rows(rounded, constraints, order)
    assert_same_clusters(model, fit_without_warnings(*turned, 4, max_iter=2), order)


def test_row_order_does_not_matter_with_sparse_rows():
    sparse, _, y = sparse_views()
    constraints = {"a": cs.Constraints.sample(y, 10, random_state=0)}
    order = np.random.default_rng(0).permutation(len(y))
    model = fit_without_warnings(sparse, constraints, transfer="direct")
    assert_same_clusters(
        model, fit_without_warnings(*permute_rows(sparse, constraints, order), transfer="direct"), order
    )


def list_clustered_views(monkeypatch, views, constraints, **options):
    names, cluster = [], ViewClusterer.cluster

    def record(self, name, *args):
        names.append(name)
        return cluster(self, name, *args)

    with monkeypatch.context() as patch:
        patch.setattr(ViewClusterer, "cluster", record)
        fit_without_warnings(views, constraints, **options)
    return names


def test_view_order(monkeypatch):
    views, _, constraints = make_quadrants(mapped=1.0)
    blurred = np.random.default_rng(0).standard_normal(views["a"].shape)
    views = cs.Views({"a": views["a"] + blurred, "b": views["b"]})
    for names in (["a", "b"], ["b", "a"]):
        given_order = list_clustered_views(monkeypatch, views[names], constraints, view_order="given")
        assert given_order[:4] == [*names, *names]
        auto = list_clustered_views(monkeypatch, views[names], constraints)
        assert auto[:2] == names, "each view alone"
        assert auto[2:4] == ["a", "b"], "view b has the more compact clusters; its first turn is the one alone"


def test_values_of_missing_rows_do_not_matter():
    views, _, constraints = make_quadrants()
    filled = cs.Views({name: np.nan_to_num(X, nan=99.0) for name, X in views.items()}, present=views.present)
    assert_same_model(fit_model(filled, constraints), fit_model(views, constraints))


def test_array_types(to_kind):
    a, b = (np.array(X[:60]) for _, X in make_four_quadrants(mapped=1.0, random_state=0)[0].items())
    mapping = {("a", "b"): [(i, i) for i in range(30)]}
    constraints = {"a": cs.Constraints([(0, 1), (2, 3)], [(0, 59)], by="row")}
    plain = fit_without_warnings(cs.align({"a": a, "b": b}, mapping), constraints)
    views = cs.align({"a": to_kind(a), "b": to_kind(b)}, mapping)
    other = fit_without_warnings(views, constraints)
    assert_same_model(plain, other)
    assert np.array_equal(other.predict(views), plain.predict(cs.align({"a": a, "b": b}, mapping)))
    assert other.transform(views).shape == (90, 2)
    complete = {name: to_kind(X) for name, X in (("a", a), ("b", b))}
    assert_same_model(fit_without_warnings({"a": a, "b": b}, constraints), fit_without_warnings(complete, constraints))


def test_result_does_not_depend_on_threads(tune):
    views, _, constraints = make_quadrants()
    model = fit_model(views, constraints)
    tune("methods.constrained.propagate", rows=3)
    for n_jobs in (1, 5, -1):
        assert_same_model(model, fit_model(views, constraints, n_jobs=n_jobs))


@every_base
def test_predict_repeats_labels_without_constraints(base):
    views, _ = make_gaussian_views(90, n_clusters=3, n_features=(2, 3, 2), separation=4, missing=0.3, random_state=0)
    model = fit_without_warnings(views, None, 3, **BASES[base])
    assert np.array_equal(model.predict(views), model.labels_)
    assert np.array_equal(model.predict(views[20:35]), model.labels_[20:35])
    assert np.array_equal(clone(model).fit_predict(views), model.labels_)
    assert model.constraints_ == dict.fromkeys(views.names, cs.Constraints())


def test_predict_with_different_views_per_entity():
    views, y = make_gaussian_views(120, n_clusters=3, n_features=(2, 3), separation=3, random_state=0)
    model = fit_without_warnings(views[:80], cs.Constraints.sample(y[:80], 10, random_state=0), 3, init="farthest")
    present = np.tile([[True, False], [False, True], [True, True]], (14, 1))[:40]
    predicted = model.predict(cs.Views(dict(views[80:].items()), present=present))
    for kind, names in enumerate((["view0"], ["view1"], ["view0", "view1"])):
        assert np.array_equal(predicted[kind::3], model.predict(views[80:][names])[kind::3])


def test_transform_returns_standardized_squared_distances():
    views, _, constraints = make_quadrants()
    model = fit_model(views, constraints)
    total = np.zeros((len(views), 2))
    for name, X in views.items():
        labels, centers = model.view_labels_[name], model.cluster_centers_[name]
        present = labels >= 0
        squares = cdist(X[present], centers, "sqeuclidean")
        total[present] += squares / (squares[np.arange(present.sum()), labels[present]].mean() / 2)
    np.testing.assert_allclose(model.transform(views), total)
    assert model.score(views) == pytest.approx(-total.min(axis=1).sum())
    new = {"a": np.array([[-3.0, 0.0]]), "b": np.array([[3.0, 0.0]])}
    nearer = {name: cdist(X, model.cluster_centers_[name]).argmin() for name, X in new.items()}
    assert nearer["a"] != nearer["b"]
    assert model.predict(new) == model.transform(new).argmin(axis=1)


def test_threshold_per_view():
    views, _, constraints = make_quadrants()
    model = fit_model(views, constraints, threshold={"b": 0.4, "a": 0.8})
    assert model.thresholds_ == {"a": 0.8, "b": 0.4}
    for name, least in model.thresholds_.items():
        weights = np.concatenate([model.propagated_[name].must_weights, model.propagated_[name].cannot_weights])
        assert least <= weights.min() < least + 0.1
    assert_same_model(model, fit_model(views, constraints, threshold=[0.8, 0.4]))


def test_automatic_threshold():
    """The choice depends neither on the order of views nor on that of rows."""
    views, _, constraints = make_quadrants(n=8, mapped=1.0, n_samples=40)
    order = np.random.default_rng(0).permutation(len(views))
    turned, links = permute_rows(views, constraints, order)
    model, other = (
        fit_without_warnings(data, given_links, threshold="auto", max_iter=2)
        for data, given_links in ((views, constraints), (turned[["b", "a"]], links))
    )
    chosen = model.thresholds_["a"]
    assert chosen in CANDIDATES
    assert model.thresholds_ == other.thresholds_ == {"a": chosen, "b": chosen}
    assert_same_clusters(model, other, order)


@pytest.mark.parametrize("transfer", ["direct", "membership", "none"])
def test_threshold_is_not_chosen_without_propagation(transfer):
    views, _, constraints = make_quadrants(n_samples=40, n=6, mapped=1.0)
    for given_links in (constraints, None):
        model = fit_without_warnings(views, given_links, threshold="auto", transfer=transfer, max_iter=5)
        assert model.thresholds_ == {"a": 0.5, "b": 0.5}


def sparse_views(n=40):
    views, y = make_four_quadrants(2 * n, random_state=0)
    return cs.Views({"a": sp.csr_array(views["a"]), "b": views["b"]}), views, y


def test_refuses_to_propagate_and_full_metrics_in_sparse_views():
    sparse, _, y = sparse_views()
    with pytest.raises(ValueError, match=r"view 'a' is sparse \(40, 2\): constraints propagate in dense views of few"):
        fit_model(sparse, cs.Constraints.sample(y, 10, random_state=0))
    with pytest.raises(ValueError, match=r"view 'a' is sparse \(40, 2\), and metric='full' needs dense rows: use"):
        fit_model(sparse, base="mpck", metric="full", transfer="direct")


@pytest.mark.parametrize(("transfer", "base"), [("direct", "mpck"), ("membership", "pck"), ("none", "pck")])
def test_sparse_views_transfer_without_propagation(transfer, base):
    sparse, dense, y = sparse_views()
    constraints = cs.Constraints.sample(y, 10, random_state=0)
    model, other = (
        fit_without_warnings(blocks, constraints, transfer=transfer, base=base) for blocks in (sparse, dense)
    )
    assert np.array_equal(model.labels_, other.labels_)
    assert model.cost_ == pytest.approx(other.cost_)
    assert np.array_equal(model.predict(sparse), other.predict(dense))


def test_refuses_views_without_common_entity():
    views, _, constraints = make_quadrants(mapped=0.0)
    with pytest.raises(ValueError, match="no entity has two views, so nothing can be transferred between them: give"):
        fit_model(views, constraints)
    alone = fit_model(views, constraints, transfer="none")
    assert set(alone.labels_) == {0, 1}
    assert np.isnan(alone.agreement_[0, 1])


def test_refuses_constraint_in_missing_view():
    views, _, _ = make_quadrants()
    lacking = int(np.flatnonzero(~views.present[:, 1])[0])
    having = int(np.flatnonzero(views.present[:, 1])[0])
    low, high = sorted((lacking, having))
    with pytest.raises(ValueError, match=rf"cannot-link \({low}, {high}\) is given in view 'b', which entity"):
        fit_model(views, {"b": cs.Constraints(cannot_link=[(lacking, having)])})


BAD_CONSTRAINTS = {
    "none to choose by": (None, ValueError, "threshold='auto' needs at least two constraints within views"),
    "one to choose by": ({"a": cs.Constraints([(0, 1)])}, ValueError, "needs at least two constraints"),
    "an unknown view": ({"c": cs.Constraints()}, ValueError, r"constraints name view 'c'; the views are 'a', 'b'"),
    "a list in a view": ({"a": [(0, 1)]}, TypeError, r"constraints of view 'a' must be Constraints\(.*, got list"),
    "rows of no view": (cs.Constraints([(0, 1)], by="row"), ValueError, "constraints by row are of one view: give"),
    "a row too far": ({"b": cs.Constraints([(0, 100)], by="row")}, ValueError, r"must-link \(0, 100\) names row 100"),
}


@pytest.mark.parametrize(("constraints", "error", "message"), BAD_CONSTRAINTS.values(), ids=BAD_CONSTRAINTS)
def test_refuses_constraints(constraints, error, message):
    views, _, _ = make_quadrants()
    with pytest.raises(error, match=message):
        fit_model(views, constraints, threshold="auto")


def test_refuses_more_clusters_than_entities_in_view():
    rng = np.random.default_rng(0)
    views = cs.align(
        {"a": rng.standard_normal((9, 2)), "b": rng.standard_normal((3, 2))}, {("a", "b"): [(0, 0), (1, 1)]}
    )
    with pytest.raises(ValueError, match=r"view 'b' has 3 entities \(n_samples=3\), fewer than n_clusters=4: ask for"):
        fit_model(views, n_clusters=4)


PARAMETER = "The '{}' parameter of MultiViewConstrainedKMeans must be"
BAD_OPTIONS = [
    ({"threshold": 0}, PARAMETER.format("threshold") + r" a float in the range \(0"),
    ({"threshold": "high"}, PARAMETER.format("threshold")),
    ({"threshold": {"a": 0.5, "b": 0}}, "the threshold of view 'b' must be a number above 0, got 0"),
    ({"threshold": [0.5, np.nan]}, "the threshold of view 'b' must be a number above 0, got nan"),
    ({"threshold": {"a": "auto", "b": 0.5}}, "the threshold of view 'a' must be a number above 0, got 'auto'"),
    ({"threshold": {"a": 0.5}}, "threshold has nothing for view 'b': name every one of 'a', 'b'"),
    ({"init": {"a": np.zeros((3, 2))}}, r"init for view 'a' has shape \(3, 2\): give centers \(2, 2\)"),
    ({"init": {"c": np.zeros((2, 2))}}, "init names view 'c'; the views are 'a', 'b'"),
    ({"init": "k-means++"}, PARAMETER.format("init")),
    ({"gamma": 0}, PARAMETER.format("gamma")),
    ({"shared_metric": 2}, PARAMETER.format("shared_metric")),
    ({"transfer": "some"}, PARAMETER.format("transfer")),
    ({"metric": "rank"}, PARAMETER.format("metric")),
    ({"max_iter": 0}, PARAMETER.format("max_iter")),
    ({"tol": -1}, PARAMETER.format("tol")),
]


@pytest.mark.parametrize(("options", "message"), BAD_OPTIONS)
def test_refuses_options(options, message):
    views, _, constraints = make_quadrants(n_samples=40, n=6)
    with pytest.raises(ValueError, match=message):
        fit_model(views, constraints, **options)


def test_centers_for_some_views():
    views, _, constraints = make_quadrants()
    centers = draw_centers(views)
    model, given_both, largest = (
        fit_model(views, constraints, init=init, transfer="none") for init in ({"a": centers["a"]}, centers, "largest")
    )
    assert model.history_["objective_a"].tolist() == given_both.history_["objective_a"].tolist()
    assert model.history_["objective_b"].tolist() == largest.history_["objective_b"].tolist()
    assert given_both.history_["objective_b"][-1] != largest.history_["objective_b"][-1]


@pytest.mark.parametrize("transfer", ["direct", "propagate"])
def test_conflict_across_views_counts_only_in_its_view(transfer):
    views, _, _ = make_quadrants()
    first, other = views.present.all(axis=1).nonzero()[0][:2].tolist()
    constraints = {"a": cs.Constraints([(first, other)]), "b": cs.Constraints(cannot_link=[(first, other)])}
    with pytest.warns(UserWarning, match=rf"cannot-links contradict must-links \(1 such\), as \({first}, {other}\)"):
        model = fit_model(views, constraints, transfer=transfer)
    assert model.constraints_["b"].cannot_link.tolist() == [[first, other]]
    assert [first, other] in model.constraints_["b"].must_link.tolist(), "what was given in the other view holds here"
    assert model.propagated_["b"].cannot_link.tolist() == [], "a view hands on what the others contradict"
    assert model.constraints_["a"].cannot_link.tolist() == []


def test_warns_if_nothing_is_propagated():
    views, y, _ = make_quadrants()
    alone = np.flatnonzero(~views.present[:, 1])
    constraints = {"a": cs.Constraints.sample(y[alone], 4, random_state=0).renumbered(alone)}
    with pytest.warns(UserWarning, match="no constraint reaches entities with several views, so none is transferred"):
        fit_model(views, constraints, threshold=0.9999999)


def test_warns_of_empty_clusters():
    X = np.repeat([[0.0], [1.0]], 4, axis=0)
    message = "1 of 3 clusters are empty in view 'a': there may be fewer distinct .*; lower n_clusters, or check the"
    with pytest.warns(UserWarning, match=message):
        fit_model({"a": X}, n_clusters=3)


def test_max_iter_and_tol_truncate_rounds():
    views, _, constraints = make_quadrants(4)
    whole = fit_model(views, constraints)
    assert whole.n_iter_ > 2
    message = r"the views still changed each other after 2 rounds; the round of lowest cost"
    with pytest.warns(ConvergenceWarning, match=message):
        short = fit_model(views, constraints, max_iter=2)
    assert not short.converged_
    assert short.n_iter_ == 2
    assert short.history_["objective"].tolist() == whole.history_["objective"][:2].tolist()
    loose = fit_model(views, constraints, tol=10.0)
    assert loose.n_iter_ == 2
    assert loose.converged_


@pytest.mark.parametrize("turn", [3, 4])
def test_interrupt_in_second_round_keeps_first(turn, monkeypatch):
    views, _, constraints = make_quadrants(4)
    first = fit_without_warnings(views, constraints, max_iter=1)
    infer, turns = TRANSFERS["propagate"].infer, []

    def until(view):
        turns.append(view)
        if len(turns) == turn:
            raise KeyboardInterrupt
        return infer(view)

    monkeypatch.setitem(TRANSFERS, "propagate", Transfer(until, propagates=True))
    model = cs.MultiViewConstrainedKMeans(2, random_state=0)
    with pytest.raises(KeyboardInterrupt, match="stopped early: the model holds the result of the last whole round"):
        model.fit(views, constraints=constraints)
    assert not model.converged_
    assert_same_model(model, first)
    assert np.array_equal(model.predict(views), first.predict(views))


def test_interrupt_in_first_round_leaves_model_unfitted(monkeypatch):
    views, _, constraints = make_quadrants()

    def at_once(turn):
        raise KeyboardInterrupt("now")

    monkeypatch.setitem(TRANSFERS, "propagate", Transfer(at_once, propagates=True))
    model = cs.MultiViewConstrainedKMeans(2, random_state=0)
    with pytest.raises(KeyboardInterrupt, match="now"):
        model.fit(views, constraints=constraints)
    assert not hasattr(model, "labels_")


def test_only_verbose_fit_prints(capfd):
    views, _, constraints = make_quadrants()
    quiet = fit_model(views, constraints)
    assert capfd.readouterr() == ("", "")
    assert_same_model(fit_model(views, constraints, verbose=True), quiet)
    assert "MultiViewConstrainedKMeans: start 1 of 1, round 1: objective" in capfd.readouterr().err


@pytest.mark.parametrize(("n", "mapped", "n_mapped"), [(200, 1.0, 100), (40, 0.0, 0), (80, 0.31, 12)])
def test_quadrant_sizes(n, mapped, n_mapped):
    views, y = make_four_quadrants(n, mapped=mapped, random_state=0)
    assert views.names == ("a", "b")
    assert views.present.sum(axis=0).tolist() == [n // 2, n // 2]
    assert views.present.all(axis=1).sum() == n_mapped
    assert len(views) == len(y) == n - n_mapped
    for v in range(2):
        present = views.present[:, v]
        assert sorted(views.rows[present, v]) == list(range(n // 2)), "every row is there once"
        assert (y[present] == 1).sum() == n // 4


def test_quadrants_are_split_left_and_right_and_mapped_within():
    views, y = make_four_quadrants(800, mapped=0.5, random_state=1)
    for v, (_, X) in enumerate(views.items()):
        present = views.present[:, v]
        assert np.mean((X[present, 0] > 0) == (y[present] == 1)) > 0.99
        for side in (0, 1):
            assert 0.45 < (X[present & (y == side), 1] > 0).mean() < 0.55, "above and below say nothing"
    both = views.present.all(axis=1)
    a, b, quadrant = views["a"][both], views["b"][both], views.rows[both] // 100
    assert np.array_equal(quadrant[:, 0], quadrant[:, 1])
    apart = np.linalg.norm(a - b, axis=1).mean()
    assert apart < 0.5 * np.linalg.norm(a - b[np.random.default_rng(0).permutation(len(b))], axis=1).mean()
    assert apart < 0.7


def test_quadrants_refuse_sizes_and_shares():
    for n in (0, 204):
        with pytest.raises(ValueError, match=rf"n_samples={n} must be a multiple of 8: four quadrants in two views"):
            make_four_quadrants(n)
    for mapped in (-0.1, 1.5, np.nan):
        with pytest.raises(ValueError, match=rf"mapped={mapped} must be a share from 0 to 1"):
            make_four_quadrants(mapped=mapped)


def test_constant_view_is_harmless():
    views = cs.Views({"a": np.ones((10, 2)), "b": np.random.default_rng(0).standard_normal((10, 2))})
    constraints = {"a": cs.Constraints([(0, 1)], [(2, 3)])}
    model = cs.MultiViewConstrainedKMeans(2, random_state=0).fit(views, constraints=constraints)
    assert np.isfinite(model.cost_)


@pytest.mark.parametrize("scale", [1e-4, 1e6])
def test_propagation_does_not_depend_on_units(scale):
    """Collinear columns have a singular covariance; gamma must neither dominate it nor vanish in it."""
    views, y, constraints = make_quadrants()
    wide = views.map(lambda block: scale * np.column_stack([block, block.sum(axis=1)]))
    model = cs.MultiViewConstrainedKMeans(2, random_state=0).fit(wide, constraints=constraints)
    assert min(model.propagated_["a"].precision(y)) > 0.95


def test_cannot_link_within_mapped_row_is_conflict():
    rng = np.random.default_rng(0)
    views = cs.align({"a": rng.random((6, 2)), "b": rng.random((5, 2))}, {("a", "b"): [(0, 0), (1, 0), (2, 1)]})
    constraints = {"a": cs.Constraints(cannot_link=[(0, 1)], by="row")}
    with pytest.warns(UserWarning, match=r"cannot-links contradict must-links \(1 such\), as \(0, 1\)"):
        cs.MultiViewConstrainedKMeans(2, transfer="direct", random_state=0).fit(views, constraints=constraints)


def test_unsettled_run_keeps_best_of_later_rounds(monkeypatch):
    views, _, constraints = make_quadrants()
    real = ViewClusterer.cluster
    calls = iter(range(1000))

    def restless(self, name, view, trusted, links):
        state = real(self, name, view, trusted, links)
        return replace(state, cost=state.cost + [0.0, 0.0, 7.0, 7.0, 3.0, 3.0][next(calls) % 6])

    monkeypatch.setattr(ViewClusterer, "cluster", restless)
    with pytest.warns(ConvergenceWarning, match="still changed each other after 8 rounds; the round of lowest cost"):
        model = cs.MultiViewConstrainedKMeans(2, max_iter=8, random_state=0).fit(views, constraints=constraints)
    assert model.cost_ == model.history_["objective"][4:].min()
