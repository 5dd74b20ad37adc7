"""What no estimator takes, and the sentence it says."""

from functools import cache

import array_api_strict
import numpy as np
import pytest
import scipy.sparse as sp

import consilience as cs
from estimators import ESTIMATORS, ITERATED, convex_mixture
from makers import ALL as BASELINES

every_estimator = pytest.mark.parametrize("estimator", ESTIMATORS)


def make_two_blocks(n=20, seed=0):
    rng = np.random.default_rng(seed)
    return {"text": rng.random((n, 3)), "links": rng.random((n, 4))}


def set_value(value, row=5):
    blocks = make_two_blocks()
    blocks["links"][row, 1] = value
    return blocks


def scale_blocks(scale, dtype):
    blocks = make_two_blocks()
    return {"text": blocks["text"].astype(dtype), "links": (scale * blocks["links"]).astype(dtype)}


def make_corrupt_matrix():
    X = sp.csr_array(np.eye(6))
    X.indices[2] = 99
    return X


LACKING = {name: np.where(np.arange(20)[:, None] == 7, np.nan, block) for name, block in make_two_blocks().items()}
TOO_LARGE = r"view 'links' has numbers up to .* whose squares do not fit .*: rescale"
CASES = {
    "different numbers of rows": (
        {"text": np.ones((20, 3)), "links": np.ones((18, 4))},
        r"view 'links' has 18 rows, view 'text' 20: .*present=.*ids=.*consilience\.align",
    ),
    "view that no entity has": ({**make_two_blocks(), "links": np.full((20, 4), np.nan)}, "no entity has view 'links'"),
    "an entity without views": (LACKING, r"entity 7 has none of the views \(1 such\): drop it with views\[keep\]"),
    "an entity with an id": (cs.Views(LACKING, ids=[f"paper-{i}" for i in range(20)]), "entity paper-7 has none"),
    "NaN in a present row": (set_value(np.nan), r"view 'links' has NaN or infinity in row 5: impute the value"),
    "infinity in a present row": (set_value(np.inf), r"view 'links' has NaN or infinity in row 5: impute"),
    "sparse NaN": ({**make_two_blocks(), "links": sp.csr_array(set_value(np.nan)["links"])}, "infinity in row 5"),
    "strings": ({**make_two_blocks(), "links": np.array([["a", "b"]] * 20)}, r"real numbers, got <U1\. Encode text"),
    "objects": ({**make_two_blocks(), "links": np.array([[1, "b"]] * 20, dtype=object)}, "real numbers, got object"),
    "a vector": ({**make_two_blocks(), "links": np.ones(20)}, r"dimensions .* got shape \(20,\): use reshape"),
    "a vector in a list": ([np.ones((9, 2)), np.ones(9)], "view 'view1' must have two dimensions"),
    "None in a list": ([np.ones((9, 2)), None], "view 'view1' is None"),
    "a corrupt sparse matrix": ([make_corrupt_matrix(), np.eye(6)], "indices must be < 6"),
    "numbers that are too large": (scale_blocks(1e160, np.float64), TOO_LARGE),
    "numbers that are too large for float32": (scale_blocks(1e20, np.float32), TOO_LARGE),
    "numbers that are too small for float32": (scale_blocks(1e-30, np.float32), TOO_LARGE),
    "sums that are too large for float32": (
        np.array([[3e38, -3e38], [-3e38, 3e38], [3e38, 3e38], [-3e38, -3e38]], dtype=np.float32),
        r"too large|whose squares do not fit",
    ),
    "no columns": ({**make_two_blocks(), "links": np.ones((20, 0))}, r"view 'links' has 0 columns: leave it out"),
    "two array libraries": (
        {**make_two_blocks(), "links": array_api_strict.ones((20, 4))},
        r"view 'text' is an array of .*numpy, view 'links' of array_api_strict: convert them to one library",
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_fit_refuses(case):
    blocks, message = CASES[case]
    takes_any_size = "too large" in case or "too small" in case  # numbers of any size are no problem for kernels
    for make in ESTIMATORS if takes_any_size else [*ESTIMATORS, *BASELINES]:
        model = make(2)
        with pytest.raises((ValueError, TypeError), match=message):
            model.fit(blocks)
        assert not hasattr(model, "labels_")


def test_frames_are_refused_with_names_of_entities_and_columns():
    pd = pytest.importorskip("pandas")
    a = pd.DataFrame({"x": [1.0, 2.0, 3.0, 4.0]}, index=list("wxyz"))
    b = pd.DataFrame({"y": [1.0, 2.0, 3.0, 4.0], "z": [1.0, 2.0, 3.0, np.nan]}, index=list("zyxw"))
    text = pd.DataFrame({"size": [1.0, 2.0], "name": ["a", "b"]})
    for estimator in ESTIMATORS:
        with pytest.raises(ValueError, match=r"view 'b' has NaN or infinity in row 3 \(entity w\): impute"):
            estimator(n_clusters=2).fit({"a": a, "b": b})
        with pytest.raises(TypeError, match=r"column 'name' holds no numbers\. Encode it"):
            estimator(n_clusters=2).fit(text)


@pytest.mark.parametrize("k", [0, -1, 2.5, "3", None, True, np.True_])
def test_invalid_n_clusters(k):
    message = r"'n_clusters' parameter .* must be an int in the range \[1, inf\)|n_clusters=True is a truth value"
    for estimator in ESTIMATORS:
        if k is None and estimator is convex_mixture:
            continue  # it finds the number by itself
        with pytest.raises((TypeError, ValueError), match=message):
            estimator(n_clusters=k).fit(make_two_blocks())


@every_estimator
def test_options_that_do_not_suit_the_data(estimator):
    with pytest.raises(ValueError, match=r"n_clusters=21 is more than the 20 entities .*: ask for fewer clusters"):
        estimator(n_clusters=21).fit(make_two_blocks())
    with pytest.raises(ValueError, match="n_jobs=0 has no meaning"):
        estimator(n_clusters=2, n_jobs=0).fit(make_two_blocks())
    with pytest.raises(ValueError, match="view 'links' selects column 9, which the data does not have"):
        estimator(n_clusters=2, views={"text": [0, 1], "links": [9]}).fit(np.ones((20, 4)))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"n_init": 0}, "'n_init' parameter"),
        ({"max_iter": 0}, "'max_iter' parameter"),
        ({"tol": -1.0}, "'tol' parameter"),
        ({"patience": 0}, "'patience' parameter"),
        ({"init": "best"}, "'init' parameter .*'k-means\\+\\+'"),
        ({"random_state": -1}, "'random_state' parameter"),
        ({"n_jobs": 1.5}, "'n_jobs' parameter"),
        ({"views": [1, 2]}, "'views' parameter"),
    ],
)
def test_other_parameters(options, message):
    for estimator in ITERATED:
        with pytest.raises(ValueError, match=message):
            estimator(n_clusters=2, **options).fit(make_two_blocks())


@pytest.mark.parametrize(
    ("init", "message"),
    [
        (np.zeros(19, int), "init gives 19 labels for 20 entities: give one each"),
        ({"links": np.zeros(19, int)}, "init gives 19 labels for 20 entities: give one each"),
        (np.full(20, 3), r"init labels must be whole numbers from 0 to 2 \(n_clusters=3\)"),
        (np.full(20, 0.5), "init labels must be whole numbers from 0 to 2"),
        ({"pictures": np.ones((3, 3))}, "init names view 'pictures'; the views are 'text', 'links'"),
        ({"links": np.ones((3, 3))}, r"init for view 'links' has shape \(3, 3\): give centers \(3, 4\)"),
        ({}, "init gives no entity a start: give something for one of the views 'text', 'links'"),
        ({"links": np.full((3, 4), np.nan)}, "init for view 'links' holds NaN or infinity"),
        (np.ones((3, 4)), r"init of shape \(3, 4\) is neither 20 labels nor responsibilities \(20, 3\)"),
    ],
)
def test_invalid_init(init, message):
    for estimator in ITERATED:
        with pytest.raises(ValueError, match=message):
            estimator(n_clusters=3, init=init).fit(make_two_blocks())


@cache
def fit_two_blocks():
    models = [*(estimator(2, n_init=1, random_state=0) for estimator in ESTIMATORS), *(make(2) for make in BASELINES)]
    return [model.fit(make_two_blocks()) for model in models]


@pytest.mark.parametrize(
    ("new", "message"),
    [
        ({"links": np.ones((5, 3))}, "view 'links' has 3 columns, but had 4 in fit: give the same columns"),
        ({"pictures": np.ones((5, 3))}, "none of the views 'pictures' was in fit: give at least one of 'text'"),
        ({"text": np.ones((5, 3)), "pictures": np.ones((5, 3))}, "view 'pictures' was not in fit: leave it out"),
        ([np.ones((5, 3))], "1 views without names, but .* was fitted on 2: give those that are there by name"),
        ({"text": np.full((5, 3), np.nan)}, r"entity 0 has none of the views \(5 such\)"),
    ],
)
@pytest.mark.parametrize("method", ["predict", "transform", "predict_proba", "score"])
def test_predict_refuses(method, new, message):
    for model in fit_two_blocks():
        if hasattr(model, method):
            with pytest.raises(ValueError, match=message):
                getattr(model, method)(new)


@every_estimator
def test_nan_in_missing_sparse_row_is_ignored(estimator):
    blocks = make_two_blocks()
    spoilt = sp.csr_array(blocks["links"])
    spoilt.data[spoilt.indptr[3]] = np.nan
    present = np.ones((20, 2), bool)
    present[3, 1] = False
    model = estimator(n_clusters=2, random_state=0).fit(cs.Views({**blocks, "links": spoilt}, present=present))
    assert set(model.labels_) <= {0, 1}
    assert model.view_labels_["links"][3] == -1


def test_view_of_zeros_is_refused():
    with pytest.raises(ValueError, match="view 'links' is all zeros, which have no direction: leave the view out"):
        cs.MultiViewSphericalKMeans(n_clusters=2).fit({**make_two_blocks(), "links": np.zeros((20, 4))})


def test_zero_rows_are_missing_for_cosine():
    blocks = make_two_blocks()
    blocks["links"][3] = 0
    model = cs.MultiViewSphericalKMeans(n_clusters=2, random_state=0).fit(blocks)
    assert model.view_labels_["links"][3] == -1
    assert model.view_labels_["text"][3] >= 0
    blocks["text"][3] = 0
    with pytest.warns(UserWarning, match=r"entity 3 is all zeros in every view it has \(1 such\).*Drop such rows"):
        model = cs.MultiViewSphericalKMeans(n_clusters=2, random_state=0).fit(blocks)
    assert model.labels_[3] == 0
