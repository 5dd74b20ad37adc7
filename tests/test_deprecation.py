"""Deprecated names work, warn with the replacement and the version of removal, and are removed in that version."""

import sys
import warnings
from importlib import import_module
from pkgutil import walk_packages
from types import ModuleType

import pytest
from sklearn.base import BaseEstimator, clone
from sklearn.pipeline import Pipeline

import consilience
from consilience import _deprecation
from consilience._deprecation import Deprecation, deprecate_name, deprecate_parameter

pytestmark = pytest.mark.quick

VERSIONS = {"since": "0.3.0", "removed": "0.10.0"}


@pytest.fixture(autouse=True)
def forget_declarations(monkeypatch):
    monkeypatch.setattr(_deprecation, "DEPRECATIONS", [])


@pytest.fixture
def module(monkeypatch):
    module = ModuleType("made_up")
    module.smoothing = 3
    monkeypatch.setitem(sys.modules, "made_up", module)
    return module


def test_old_name_of_attribute_works_and_warns(module):
    deprecate_name("made_up", "eta", "smoothing", **VERSIONS)
    message = r"made_up\.eta is deprecated since version 0\.3\.0 and will be removed in 0\.10\.0: use"
    with pytest.warns(FutureWarning, match=message) as caught:
        assert module.eta == 3
    assert caught[0].filename == __file__
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert module.smoothing == 3
    with pytest.raises(AttributeError, match="module 'made_up' has no attribute 'rho'"):
        _ = module.rho


def test_several_old_names_and_names_that_are_imported_on_first_use(module):
    module.__getattr__ = lambda name: f"imported {name}"
    deprecate_name("made_up", "eta", "smoothing", **VERSIONS)
    deprecate_name("made_up", "rho", "distance", **VERSIONS)
    with pytest.warns(FutureWarning, match=r"made_up\.eta") as of_eta:
        assert module.eta == 3
    with pytest.warns(FutureWarning, match=r"made_up\.rho") as of_rho:
        assert module.rho == "imported distance"
    assert of_eta[0].filename == of_rho[0].filename == __file__
    assert module.other == "imported other"


def test_name_that_is_still_defined_is_refused(module):
    with pytest.raises(ValueError, match=r"made_up\.smoothing is defined, so that its use would give no warning"):
        deprecate_name("made_up", "smoothing", "strength", **VERSIONS)


def test_old_name_of_parameter_works_and_warns():
    @deprecate_parameter("rho", "distance", **VERSIONS)
    @deprecate_parameter("eta", "smoothing", **VERSIONS)
    def smooth(x, smoothing=1, distance=None):
        """Return both values."""
        return x, smoothing

    with pytest.warns(FutureWarning, match="is deprecated") as of_both:
        assert smooth(2, eta=5, rho=3) == (2, 5)
    assert [warning.filename for warning in of_both] == [__file__, __file__]
    with pytest.warns(FutureWarning, match=r"parameter 'eta' of .*smooth .* removed in 0\.10\.0: use") as caught:
        assert smooth(2, eta=5) == (2, 5)
    assert caught[0].filename == __file__
    assert smooth.__doc__ == "Return both values."
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert smooth(2) == (2, 1)
        assert smooth(2, 4) == smooth(2, smoothing=4) == (2, 4)
    with pytest.raises(TypeError, match="got both 'smoothing' and its deprecated name 'eta': pass 'smoothing' only"):
        smooth(2, smoothing=4, eta=5)


def test_estimator_accepts_the_old_name_in_grids_but_has_the_new_name_only():
    @deprecate_parameter("eta", "smoothing", **VERSIONS)
    class Model(BaseEstimator):
        def __init__(self, smoothing=1):
            self.smoothing = smoothing

    with pytest.warns(FutureWarning, match=r"parameter 'eta' of .*Model is deprecated"):
        model = Model(eta=5)
    assert clone(model).get_params() == {"smoothing": 5}
    with pytest.warns(FutureWarning, match=r"parameter 'eta' of .*Model is deprecated"):
        Pipeline([("model", model)]).set_params(model__eta=6)
    assert model.smoothing == 6
    with pytest.raises(TypeError, match="got both 'smoothing' and its deprecated name 'eta'"):
        model.set_params(eta=1, smoothing=2)


def test_replacement_that_does_not_exist_is_refused():
    with pytest.raises(ValueError, match="smooth has no parameter 'strength' that could replace 'eta'"):

        @deprecate_parameter("eta", "strength", **VERSIONS)
        def smooth(smoothing=1):
            return smoothing


def test_name_works_in_two_minor_versions():
    for since, removed in (("0.3.0", "0.3.0"), ("0.3.0", "0.4.2"), ("1.3.0", "0.9.0")):
        with pytest.raises(ValueError, match=r"parameter 'eta' of .* it must work in 2 minor versions"):
            deprecate_parameter("eta", "smoothing", since=since, removed=removed)(lambda smoothing: smoothing)
    for removed in ("0.5.0", "1.0.0"):
        deprecate_parameter("eta", "smoothing", since="0.3.0", removed=removed)(lambda smoothing: smoothing)


def test_name_is_overdue_from_the_version_of_its_removal():
    deprecation = Deprecation("made_up.eta", "made_up.smoothing", **VERSIONS)
    assert [deprecation.is_overdue(version) for version in ("0.9.3", "0.10.0rc1", "1.0.0")] == [False, True, True]


def test_no_deprecation_is_overdue(monkeypatch):
    monkeypatch.undo()  # the declarations of the package
    for module in walk_packages(consilience.__path__, "consilience."):
        if module.name not in ("consilience.__main__", "consilience.arrays.triton_kernels"):  # which needs Triton
            import_module(module.name)
    overdue = [
        deprecation for deprecation in _deprecation.DEPRECATIONS if deprecation.is_overdue(consilience.__version__)
    ]
    assert overdue == [], "remove these names and their tests, and say so in CHANGELOG.md"
