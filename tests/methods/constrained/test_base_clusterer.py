"""Tests of any constrained clusterer as the base of constrained clustering in several views."""

import warnings

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import BaseEstimator, clone
from sklearn.cluster import KMeans
from sklearn.metrics import adjusted_rand_score

import consilience as cs
import literal_constrained as literal
from consilience import Constraints
from consilience.datasets import make_four_quadrants, make_gaussian_views
from consilience.methods.constrained.base_clusterer import select_feasible
from consilience.persist import check_savable, load, save, save_as
from quadrants import count_violations, make_quadrants, sample_constraints


def fit_model(base, n=20, n_samples=200, **options):
    views, y, constraints = make_quadrants(n=n, n_samples=n_samples)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        model = cs.MultiViewConstrainedKMeans(2, base=base, random_state=0, **options)
        return model.fit(views, constraints=constraints), views, y, constraints


class SeededKMeans(BaseEstimator):
    """K-means from the means of two must-linked pairs: labels, and neither centers nor a cost."""

    def __init__(self, n_clusters=8, shift=0.0):
        self.n_clusters = n_clusters
        self.shift = shift

    def fit(self, X, constraints=None):
        model = cs.PCKMeans(self.n_clusters, init="farthest", order="index", random_state=0)
        self.labels_ = model.fit(X + self.shift, constraints=constraints).labels_
        return self


class PlainBase:
    """A base without get_params and set_params, which is copied instead of cloned."""

    def __init__(self):
        self.n_clusters, self.random_state, self.seen = 99, None, []

    def fit(self, X, **options):
        self.seen.append((X.shape, options["constraints"].size))
        model = cs.PCKMeans(self.n_clusters, init="farthest", random_state=self.random_state).fit(X, **options)
        self.labels_, self.cost_, self.cluster_centers_ = model.labels_, model.cost_, model.cluster_centers_


class Predictor(SeededKMeans):
    """A base whose `predict` puts every row into cluster 1."""

    def predict(self, X):
        return np.ones(X.shape[0], int)


BASES = {
    "cop": "cop",
    "PCKMeans": cs.PCKMeans(init="farthest"),
    "MPCKMeans": cs.MPCKMeans(),
    "MPCKMeans, full, shared": cs.MPCKMeans(metric="full", shared_metric=True),
    "COPKMeans": cs.COPKMeans(n_init=2),
    "labels only": SeededKMeans(),
    "not of scikit-learn": PlainBase(),
}


@pytest.mark.parametrize("base", BASES.values(), ids=BASES)
def test_bases_find_clusters(base):
    model, views, y, constraints = fit_model(base, n_samples=120)
    assert adjusted_rand_score(y, model.labels_) > 0.9
    assert model.converged_
    assert min(model.propagated_[name].precision(y).must_link for name in views.names) > 0.95
    assert model.predict(views).shape == model.labels_.shape
    assert (model.predict(views) == model.labels_).mean() > 0.95
    assert model.transform(views).shape == (len(views), 2)
    assert list(model.estimators_) == ["a", "b"]
    again = clone(model).fit(views, constraints=constraints)
    assert np.array_equal(again.labels_, model.labels_)
    assert again.cost_ == model.cost_


def test_number_of_clusters_and_seed_are_set_in_copies_of_base():
    base = PlainBase()
    fit_model(base)
    assert vars(base) == {"n_clusters": 99, "random_state": None, "seen": []}
    model, _, _, _ = fit_model(cs.MPCKMeans(7, random_state=None, penalty="unit"))
    for estimator in model.estimators_.values():
        assert estimator.n_clusters == 2
        assert estimator.penalty == "unit"
    seeds = {estimator.random_state for estimator in model.estimators_.values()}
    assert len(seeds) == 1, "draws are the same in every view"
    assert seeds != {None}
    assert fit_model("pck")[0].estimators_ == {}


def test_estimator_equals_its_name_for_one_view():
    """The names differ from estimators in their draws; with centers and the order of visits there are none."""
    X, y = make_four_quadrants(random_state=0)[0]["a"], make_four_quadrants(random_state=0)[1]
    constraints = Constraints.sample(y, 20, random_state=0).closure()
    start = X[:2]
    bases = [("pck", cs.PCKMeans, {}), ("mpck", cs.MPCKMeans, {}), ("cop", cs.COPKMeans, {})]
    bases += [("mpck", cs.MPCKMeans, {"metric": metric, "shared_metric": True}) for metric in ("diagonal", "full")]
    for name, estimator, options in bases:
        by_name = cs.MultiViewConstrainedKMeans(2, base=name, init={"view0": start}, order="index", **options)
        base = estimator(init=start, order="index", **options)
        by_object = cs.MultiViewConstrainedKMeans(2, base=base, order="index")
        by_name.fit(X, constraints=constraints)
        by_object.fit(X, constraints=constraints)
        alone = clone(base).set_params(n_clusters=2).fit(X, constraints=constraints)
        assert np.array_equal(by_name.labels_, by_object.labels_)
        assert by_name.cost_ == pytest.approx(by_object.cost_)
        assert adjusted_rand_score(by_object.labels_, alone.labels_) == 1
        assert by_object.cost_ == alone.cost_
        np.testing.assert_allclose(by_name.metrics_["view0"], by_object.metrics_["view0"])
        np.testing.assert_allclose(by_name.transform(X), by_object.transform(X))


def test_centers_and_cost_follow_from_labels():
    model, views, _, _ = fit_model(SeededKMeans())
    total = 0.0
    for v, name in enumerate(views.names):
        present = views.present[:, v]
        labels, links = model.view_labels_[name], model.constraints_[name]
        X, assigned = views[name][present], labels[present]
        np.testing.assert_allclose(model.cluster_centers_[name], literal.means(X, assigned, 2))
        assert (model.metrics_[name] == 1).all()
        total += np.sum((X - model.cluster_centers_[name][assigned]) ** 2)
        parted = labels[links.must_link[:, 0]] != labels[links.must_link[:, 1]]
        joined = labels[links.cannot_link[:, 0]] == labels[links.cannot_link[:, 1]]
        total += links.must_weights[parted].sum() + links.cannot_weights[joined].sum()
    assert model.cost_ == pytest.approx(total)


def test_labels_decide_about_convergence_without_cost():
    class Alternating(SeededKMeans):
        """Exchanges the cluster numbers in every other fit, and the clusters of two rows until the sixth."""

        n_fits = 0

        def fit(self, X, constraints=None):
            super().fit(X, constraints)
            Alternating.n_fits += 1
            if Alternating.n_fits % 2:
                self.labels_ = 1 - self.labels_
            if Alternating.n_fits <= 6:
                self.labels_[: Alternating.n_fits] = 1 - self.labels_[: Alternating.n_fits]
            return self

    model = fit_model(Alternating(), view_order="given")[0]
    assert model.converged_
    assert model.n_iter_ > 3


def test_predict_uses_base():
    model, views, _, _ = fit_model(Predictor())
    labels = model.predict(views)
    numbers = {int(np.bincount(model.view_labels_[n][model.view_labels_[n] >= 0]).size) for n in views.names}
    assert numbers == {2}
    for v, name in enumerate(views.names):
        fitted_labels = model.estimators_[name].labels_
        only = views.present[:, v] & (views.present.sum(axis=1) == 1)
        assert len(set(labels[only])) == 1, "every row is in one cluster of the base"
        assert len(set(fitted_labels)) == 2
    without = fit_model(SeededKMeans())[0]
    nearest = without.transform(views).argmin(axis=1)
    alone = views.present.sum(axis=1) == 1
    assert np.array_equal(without.predict(views)[alone], nearest[alone])


def test_sparse_views_reach_base_as_scipy():
    kinds = []

    class Recorder(SeededKMeans):
        def fit(self, X, constraints=None):
            kinds.append(sp.issparse(X))
            self.labels_ = cs.PCKMeans(self.n_clusters, random_state=0).fit(X, constraints=constraints).labels_
            return self

    views, y = make_four_quadrants(80, random_state=0)
    mixed = cs.Views({"a": sp.csr_array(views["a"]), "b": views["b"]})
    model = cs.MultiViewConstrainedKMeans(2, base=Recorder(), transfer="direct", view_order="given", random_state=0)
    model.fit(mixed, constraints=Constraints.sample(y, 20, random_state=0))
    assert kinds[:2] == [True, False]
    assert model.predict(mixed).shape == (len(views),)


def test_automatic_threshold_with_estimator():
    model, _, y, _ = fit_model(cs.COPKMeans(n_init=1), n=8, n_samples=40, threshold="auto", max_iter=2)
    assert adjusted_rand_score(y, model.labels_) > 0.9
    assert set(model.thresholds_) == {"a", "b"}


@pytest.mark.parametrize("k", [2, 4])
def test_cop_satisfies_constraints_of_each_view(k):
    """The views overlap, so that received constraints contradict those of the view and each other."""
    views, y = make_gaussian_views(100, n_clusters=k, n_features=(2, 3), separation=3, missing=0.3, random_state=1)
    constraints = sample_constraints(views, y, 16)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        model = cs.MultiViewConstrainedKMeans(k, base="cop", max_iter=2, random_state=0)
        model.fit(views, constraints=constraints)
    assert model.n_violations_ > 0, "some received constraints are violated"
    for name, links in constraints.items():
        assert count_violations(model.view_labels_[name], links) == 0
        shared = constraints["view1" if name == "view0" else "view0"]
        both = views.present.all(axis=1)
        for kind in ("must_link", "cannot_link"):
            pairs = getattr(shared, kind)
            pairs = pairs[both[pairs].all(axis=1)]
            labels = model.view_labels_[name]
            assert ((labels[pairs[:, 0]] == labels[pairs[:, 1]]) == (kind == "must_link")).all()


def test_received_constraints_are_left_out_weakest_first():
    trusted = Constraints([(0, 1)], [(1, 2)])
    received = Constraints([(0, 2, 0.9), (3, 4, 0.8), (4, 5, 0.5)], [(3, 5, 0.7), (0, 1, 0.99), (6, 7, 0.6)])
    every, consistent, *fewer, last = select_feasible(trusted, trusted | received)
    assert every == trusted | received
    assert consistent == trusted | Constraints([(3, 4, 0.8)], [(3, 5, 0.7), (6, 7, 0.6)])
    assert fewer == [trusted | Constraints([(3, 4, 0.8)])]
    assert last == trusted
    for given_links in (trusted, Constraints()):
        assert list(select_feasible(given_links, given_links)) == [given_links, given_links]


def test_contradictions_between_views_are_refused_by_cop():
    views, _, _ = make_quadrants()
    first, other = views.present.all(axis=1).nonzero()[0][:2].tolist()
    constraints = {"a": Constraints([(first, other)]), "b": Constraints(cannot_link=[(first, other)])}
    message = (
        rf"view 'b': COPKMeans satisfies all constraints, .* such as the cannot-links \({first}, {other}\)\. Check"
    )
    with pytest.raises(cs.InfeasibleConstraintsError, match=message):
        cs.MultiViewConstrainedKMeans(2, base="cop").fit(views, constraints=constraints)
    named = cs.Views(dict(views.items()), present=views.present, ids=[f"e{i}" for i in range(len(views))])
    with pytest.raises(ValueError, match=rf"such as the cannot-links \(e{first}, e{other}\)"):
        cs.MultiViewConstrainedKMeans(2, base="cop").fit(named, constraints=constraints)


def test_infeasible_constraints_are_refused_by_cop():
    views, _, _ = make_quadrants()
    rows = np.flatnonzero(views.present[:, 0])[:3].tolist()
    triangle = {"a": Constraints(cannot_link=[rows[:2], rows[1:], rows[::2]])}
    with pytest.raises(cs.InfeasibleConstraintsError, match=r"view 'a': COPKMeans .*cannot-links \(\d+, \d+\), \("):
        cs.MultiViewConstrainedKMeans(2, base="cop").fit(views, constraints=triangle)


def test_bases_that_raise_infeasible_get_fewer_constraints():
    sizes = []

    class Picky(SeededKMeans):
        """Accepts ten constraints at most."""

        def fit(self, X, constraints=None):
            sizes.append(constraints.size)
            if constraints.size > 40:
                raise cs.InfeasibleConstraintsError("too many")
            return super().fit(X, constraints)

    fit_model(Picky(), n=6)
    assert max(sizes) > 40
    assert min(sizes) <= 40
    with pytest.raises(cs.InfeasibleConstraintsError, match=r"view 'a': Picky satisfies all .* \(too many\). Check"):
        fit_model(Picky(), n=60, view_order="given")


def test_gamma_reaches_propagation():
    """In narrow clusters a larger gamma lets constraints reach farther."""
    views, _, constraints = make_quadrants()
    narrow = views.map(lambda X: X * [1, 0.01])
    small, default, large = (
        cs.MultiViewConstrainedKMeans(2, gamma=gamma, random_state=0).fit(narrow, constraints=constraints)
        for gamma in (1e-9, 1e-6, 0.3)
    )
    plain = cs.MultiViewConstrainedKMeans(2, random_state=0).fit(narrow, constraints=constraints)
    assert plain.propagated_ == default.propagated_
    n_small, n_large = (sum(links.size for links in m.propagated_.values()) for m in (small, large))
    assert n_large > n_small


def test_declared_base_of_user_is_saved(tmp_path):
    declared = save_as("test-seeded-k-means")(Predictor)
    model, views, _, _ = fit_model(declared())
    save(model, tmp_path / "model.zip")
    assert np.array_equal(load(tmp_path / "model.zip").predict(views), model.predict(views))


def test_undeclared_base_is_refused_before_fit():
    message = r"attribute base: a SeededKMeans of .* cannot be saved: files hold objects of consilience"
    with pytest.raises(TypeError, match=message):
        check_savable(cs.MultiViewConstrainedKMeans(2, base=SeededKMeans()))


def test_models_of_earlier_files_get_new_options():
    from consilience._saving import SAVED_CLASSES

    upgrade = SAVED_CLASSES.by_name["constrained-k-means"].upgrade
    assert upgrade({"n_clusters": 2}, 1) == {"n_clusters": 2, "gamma": 1e-6, "shared_metric": False}


class Unlabeled(BaseEstimator):
    def fit(self, X, constraints=None):
        return self


def with_attributes(**attributes):
    """Return a base that has these attributes after fit."""

    class Odd(BaseEstimator):
        def fit(self, X, constraints=None):
            self.labels_ = np.arange(X.shape[0]) % 2
            for name, value in attributes.items():
                setattr(self, name, value(X) if callable(value) else value)
            return self

    return Odd()


WRONG_LABELS = "labels_ of view '[ab]' must be 100 whole numbers from 0 to 1, got "
PARAMETER = "The 'base' parameter of MultiViewConstrainedKMeans must be .*"
BAD_BASES = {
    "a class": (cs.MPCKMeans, TypeError, r"base=MPCKMeans is a class: give an object, MPCKMeans\(\)"),
    "no constraints": (KMeans(2), TypeError, "base=KMeans clusters without constraints: its fit must take"),
    "an unknown name": ("kop", ValueError, f"{PARAMETER}'cop'.* Got 'kop'"),
    "no fit": (object(), ValueError, f"{PARAMETER} implementing 'fit'"),
    "no labels": (Unlabeled(), TypeError, "base Unlabeled has no labels_ after fit: it must store the cluster of each"),
    "too few labels": (with_attributes(labels_=[0, 1]), ValueError, rf"base Odd: {WRONG_LABELS}shape \(2,\)"),
    "noise": (with_attributes(labels_=lambda X: np.full(len(X), -1)), ValueError, f"{WRONG_LABELS}values from -1"),
    "clusters": (with_attributes(labels_=lambda X: np.arange(len(X))), ValueError, f"{WRONG_LABELS}values .* to 99"),
    "fractions": (with_attributes(labels_=lambda X: np.full(len(X), 0.5)), ValueError, f"{WRONG_LABELS}values .* 0.5"),
    "other centers": (
        with_attributes(cluster_centers_=np.zeros((3, 2))),
        ValueError,
        r"Odd: cluster_centers_ of view 'a' must .* \(3, 2\)",
    ),
    "other metrics": (with_attributes(metrics_=np.zeros(2)), ValueError, r"metrics_ of view .* got \(2,\)"),
    "an error of the base": (cs.PCKMeans(init=np.zeros((3, 2))), ValueError, "by the base PCKMeans: init for view 'X'"),
}


@pytest.mark.parametrize(("base", "error", "message"), BAD_BASES.values(), ids=BAD_BASES)
def test_refuses_bases(base, error, message):
    views, _, constraints = make_quadrants()
    with pytest.raises(error, match=message):
        cs.MultiViewConstrainedKMeans(2, base=base).fit(views, constraints=constraints)


def test_refuses_predictions_of_base():
    class Liar(SeededKMeans):
        def predict(self, X):
            return np.full(X.shape[0], 2)

    model, views, _, _ = fit_model(Liar())
    message = r"base Liar: the result of predict must be 100 whole numbers from 0 to 1, got values from 2 to 2"
    with pytest.raises(ValueError, match=message):
        model.predict(views)


UNUSED_OPTIONS = {
    "metric": ({"metric": "full"}, "metric='full' is not used with base='pck', only with base='mpck': use"),
    "shared metric": ({"base": "cop", "shared_metric": True}, "shared_metric=True is not used with base='cop', only"),
    "metric of estimator": ({"base": cs.MPCKMeans(), "metric": "full"}, "base=MPCKMeans, only with base='mpck': set"),
    "init of estimator": ({"base": cs.MPCKMeans(), "init": "largest"}, "init is not used with base=MPCKMeans, which"),
    "gamma": ({"transfer": "direct", "gamma": 0.1}, "gamma=0.1 is not used with transfer='direct', only with"),
}


@pytest.mark.parametrize(("options", "message"), UNUSED_OPTIONS.values(), ids=UNUSED_OPTIONS)
def test_refuses_options_that_are_not_used(options, message):
    views, _, constraints = make_quadrants(n_samples=40, n=4)
    with pytest.raises(ValueError, match=message):
        cs.MultiViewConstrainedKMeans(2, **options).fit(views, constraints=constraints)
