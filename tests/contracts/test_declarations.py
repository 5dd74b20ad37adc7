"""What a declaration promises holds: every estimator of the registry is built, fitted, saved and compared by it."""

import re
import warnings
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import clone

import consilience as cs
from consilience import baselines, methods
from consilience.cli import main
from consilience.persist import check_savable
from consilience.registry import COUNT_KINDS, EstimatorDeclaration, declare_estimator, find_estimator, list_estimators
from reference import list_fields

DECLARATIONS = list_estimators()
every_declaration = pytest.mark.parametrize("declaration", DECLARATIONS.values(), ids=list(DECLARATIONS))
N, CLASSES = 90, np.arange(90) % 3


def make_views(kind):
    """Return two views of three clear clusters, as the command line prepares files of this kind."""
    rng = np.random.default_rng(0)
    X = {name: rng.normal(size=(N, 3)) + 8 * np.eye(3)[CLASSES] for name in "ab"}
    if kind == "similarities":
        return cs.Views({name: np.exp(-np.square(x[:, None] - x).sum(axis=2) / 20) for name, x in X.items()})
    if kind in COUNT_KINDS:
        means = np.repeat(np.eye(3), 5, axis=1)[CLASSES] * 5 + 0.2
        return cs.Views({name: sp.csr_array(rng.poisson(means).astype(float)) for name in "ab"})
    return cs.Views(X)


def fit_declared(declaration, kind="numbers", **options):
    views = make_views(kind)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the data is small
        return declaration.build(3, dict.fromkeys(views.names, kind)).fit(views, **options), views


@every_declaration
def test_every_kind_of_view_is_taken(declaration):
    kinds = ["numbers", "categories"]
    if not declaration.takes_few_columns:  # sparse views are reduced first
        kinds += ["counts", "text", "names", "links"]
    if declaration.takes_similarities:  # others are refused by the command line
        kinds.append("similarities")
    for kind in kinds:
        model, _ = fit_declared(declaration, kind)
        assert cs.metrics.adjusted_rand_score(CLASSES, model.labels_) > 0.9, kind


@every_declaration
def test_fitted_attributes_are_described_and_serve_command_line_and_report(declaration):
    model, views = fit_declared(declaration)
    assert model.labels_.shape == (N,)
    assert list(model.view_labels_) == list(views.names)
    assert np.shape(model.agreement_) == (2, 2)
    assert "<!doctype html>" in cs.Report(model, views).to_html()
    assert cs.explain.clarity(model, views).shape == (N,)
    names = {name for name in dir(model) if name.endswith("_") and not name.startswith("_")}
    assert names - list_fields(type(model), "Attributes") == set()


@every_declaration
def test_equal_seeds_clones_and_saved_models_give_equal_labels(declaration, tmp_path):
    check_savable(declaration.build(3, {"a": "numbers"}))
    model, views = fit_declared(declaration)
    again, _ = fit_declared(declaration)
    np.testing.assert_array_equal(model.labels_, again.labels_)
    np.testing.assert_array_equal(clone(model).fit(views).labels_, model.labels_)
    cs.save(model, tmp_path / "model.zip")
    loaded = cs.load(tmp_path / "model.zip")
    np.testing.assert_array_equal(loaded.labels_, model.labels_)
    if declaration.can_predict:
        np.testing.assert_array_equal(loaded.predict(views), model.predict(views))


def test_constraints_outliers_and_chosen_numbers_are_as_declared():
    views = make_views("numbers")
    kinds = dict.fromkeys(views.names, "numbers")
    for declaration in DECLARATIONS.values():
        if declaration.takes_constraints:
            model, _ = fit_declared(declaration, constraints=cs.Constraints([(0, 3)], [(0, 1)]))
            assert model.labels_[0] == model.labels_[3]
        if declaration.finds_outliers:
            assert (declaration.build(3, kinds).set_params(outliers=0.05).fit(views).labels_ < 0).any()
        if declaration.chooses_n_clusters:
            assert len(np.unique(declaration.build(None, kinds).fit(views).labels_)) >= 2


def test_every_multi_view_estimator_is_declared():
    """Wrappers of multi-view estimators and estimators of one view are not methods of the command line."""
    wrappers = {"MergedViews", "SingleView", "PerView"}
    one_view = {"COPKMeans", "PCKMeans", "MPCKMeans", "SpectralFeatures"}
    public = {
        name for package in (methods, baselines) for name in package.__all__ if hasattr(getattr(package, name), "fit")
    }
    declared = {declaration.estimator_class.__name__ for declaration in DECLARATIONS.values()}
    assert public - wrappers - one_view == declared
    assert all(declaration.title for declaration in DECLARATIONS.values())


def test_declaration_replaces_one_of_its_name(monkeypatch):
    monkeypatch.setattr("consilience.registry._DECLARATIONS", dict(DECLARATIONS))
    declare_estimator(EstimatorDeclaration("k-means", "another title", cs.MultiViewKMeans))
    assert find_estimator("k-means").title == "another title"
    assert find_estimator("k-means").estimator_class is cs.MultiViewKMeans
    assert list(list_estimators()) == list(DECLARATIONS)


def test_unknown_method_is_refused_with_the_choices():
    with pytest.raises(ValueError, match="there is no method 'magic': choose from consilience, spectral, "):
        find_estimator("magic")


@pytest.fixture
def page_estimator(monkeypatch):
    """The estimator that the documentation builds and declares."""
    page = Path(__file__).parents[2] / "docs" / "add-an-estimator.md"
    names = {}
    exec(re.search(r"```python\n(.*?)```", page.read_text(encoding="utf-8"), flags=re.DOTALL)[1], names)
    monkeypatch.setattr("consilience.registry._DECLARATIONS", dict(DECLARATIONS))
    declare_estimator(EstimatorDeclaration("centered", "k-means of centered columns", names["CenteredKMeans"]))
    return find_estimator("centered")


def test_estimator_of_the_documentation_fulfills_the_contract(page_estimator, tmp_path):
    model, views = fit_declared(page_estimator)
    assert "<!doctype html>" in cs.Report(model, views).to_html()
    test_equal_seeds_clones_and_saved_models_give_equal_labels(page_estimator, tmp_path)
    test_every_kind_of_view_is_taken(page_estimator)


def test_estimator_of_the_documentation_takes_dense_sparse_and_dask_views(page_estimator):
    dask = pytest.importorskip("dask.array")
    views = make_views("numbers")
    build = page_estimator.estimator_class
    labels = build(3, random_state=0).fit(views).labels_
    for convert in (
        sp.csr_array,
        lambda X: dask.from_array(X, chunks=(40, 3)),
        lambda X: dask.from_array(X, chunks=(40, 3)).map_blocks(sp.csr_array),
    ):
        converted = cs.Views({name: convert(block) for name, block in views.items()})
        model = build(3, random_state=0).fit(converted)
        np.testing.assert_array_equal(model.labels_, labels)
        np.testing.assert_array_equal(model.predict(converted), labels)


@pytest.fixture
def run_method(monkeypatch, tmp_path, capsys):
    """Declare a class as a method, run `consilience cluster`, and return what it prints as an error."""
    monkeypatch.setattr("consilience.registry._DECLARATIONS", dict(DECLARATIONS))
    monkeypatch.setattr("consilience.pipeline.steps.assess_fit", lambda *_: pytest.fail("assessed"))

    def run(location):
        declare_estimator(EstimatorDeclaration("new", "a new method", location))
        for name, block in make_views("numbers").items():
            np.save(tmp_path / f"{name}.npy", block)
        views = [f"--view={tmp_path / name}.npy" for name in "ab"]
        assert main(["cluster", *views, "--method", "new", "-k", "3", "--out", str(tmp_path / "run")]) == 1
        assert not (tmp_path / "run").exists()
        return capsys.readouterr().err

    return run


def test_undeclared_class_is_refused_by_the_command_line_before_fitting(run_method):
    class Unsaved(cs.MultiViewKMeans):
        def fit(self, X, y=None):
            raise AssertionError("fitted")

    assert "a Unsaved of " in run_method(Unsaved)


def test_attribute_that_cannot_be_saved_is_refused_right_after_fitting(run_method, monkeypatch):
    def fit(self, X, y=None, fit=cs.MultiViewKMeans.fit):
        fit(self, X)
        self.callback_ = print
        return self

    monkeypatch.setattr(cs.MultiViewKMeans, "fit", fit)
    assert "attribute callback_: " in run_method(cs.MultiViewKMeans)


def test_missing_results_are_refused_right_after_fitting(run_method, monkeypatch):
    def fit(self, X, y=None):
        self.labels_ = np.zeros(len(X), int)
        return self

    monkeypatch.setattr(cs.MultiViewKMeans, "fit", fit)
    error = run_method(cs.MultiViewKMeans)
    assert "--method new: MultiViewKMeans.fit must set view_labels_, agreement_" in error


def test_class_that_cannot_be_imported_is_named(run_method):
    error = run_method("consilience.methods:Nothing")
    assert "the class of method 'new', consilience.methods:Nothing, cannot be imported" in error
