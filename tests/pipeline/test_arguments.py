"""What `consilience.cluster` takes as data, and what it says about wrong arguments."""

import re

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp

import consilience as cs

rng = np.random.default_rng(0)
NUMBERS = np.repeat([0.0, 8.0], 10)[:, None] + rng.normal(size=(20, 3))
TEXTS = ["red apple"] * 10 + ["steel knife"] * 10
FRAME = pd.DataFrame(NUMBERS, columns=["length", "width", "height"])
IDS = [f"e{i}" for i in range(20)]
CLUSTERS = [0] * 10 + [1] * 10


def cluster(data, **options):
    return cs.cluster(data, 2, method="k-means", assess=False, **options)


@pytest.mark.parametrize(
    ("data", "names"),
    [
        ((NUMBERS, NUMBERS[:, :2]), ("view0", "view1")),
        ([sp.csr_array(NUMBERS), FRAME], ("view0", "view1")),
        ([FRAME.iloc[:, 0], FRAME.iloc[:, 1], pd.Series(TEXTS)], ("view0", "view1", "view2")),
        ([("size", NUMBERS), ("words", TEXTS)], ("size", "words")),
        ([NUMBERS], ("view0",)),
        (NUMBERS.tolist(), ("data",)),
        (list(NUMBERS), ("data",)),
        ([tuple(row) for row in NUMBERS.tolist()], ("data",)),
        (NUMBERS[:, 0].tolist(), ("data",)),
        (TEXTS, ("data",)),
        ({"a": NUMBERS.tolist(), "b": TEXTS}, ("a", "b")),
        (np.array(list(zip(NUMBERS[:, 0], TEXTS, strict=True)), dtype=[("x", float), ("t", "U20")]), ("data",)),
    ],
)
def test_list_of_matrices_is_a_list_of_views_and_one_of_rows_a_table(data, names, tmp_path):
    result = cluster(data)
    assert result.views.names == names
    assert result.predict(data).tolist() == result.labels.tolist()
    assert len(result.predict_frame(data)["cluster"]) == len(result.frame["cluster"]) == 20
    assert cs.metrics.adjusted_rand_score(CLUSTERS, result.labels) == 1
    if names[0] == "size":  # is loaded and updated
        loaded = cs.load_run(result.save(tmp_path / "run"), data)
        assert loaded.views.names == names
        assert loaded.update(data).labels.tolist() == result.labels.tolist()


@pytest.mark.parametrize("take", [cs.cluster, lambda data: cs.Consilience(2).fit({"data": data})])
def test_array_of_three_dimensions_becomes_views_or_flat_rows(take):
    with pytest.raises(ValueError, match=r"shape \(2, 20, 3\): make each part a view, {'a': X\[0\].*X\.reshape\(len"):
        take(np.stack([NUMBERS, NUMBERS]))


FRAMED = (FRAME, r"DataFrame of shape \(20, 3\)")
MATRIX = (NUMBERS, r"ndarray of shape \(20, 3\)")


@pytest.mark.parametrize(
    ("call", "data", "described"),
    [
        (lambda data: cs.select_n_clusters(data, range(2, 4)), *MATRIX),
        (lambda data: cs.assess(data, cs.Consilience(2)), *FRAMED),
        (lambda data: cs.Consilience(data).fit(NUMBERS), cs.Views([NUMBERS, NUMBERS]), r"Views of shape \(20, 6\)"),
        (lambda data: cs.cluster(NUMBERS, data), TEXTS * 50, r"list of 1,000 items"),
        (lambda data: cs.cluster(NUMBERS, 2, outliers=data), *FRAMED),
        (lambda data: cs.cluster(NUMBERS, 2, random_state=data), *MATRIX),
        (lambda data: cs.cluster(NUMBERS, 2, namer=data), *FRAMED),
    ],
)
def test_messages_describe_data_by_its_size(call, data, described):
    with pytest.raises((TypeError, ValueError), match=described) as caught:
        call(data)
    assert len(str(caught.value)) < 250


TABLE = FRAME.assign(text=TEXTS)
NAMED = {"a": pd.Series(TEXTS, index=IDS), "b": FRAME.set_axis(IDS)}
EMPTY = pd.DataFrame(np.nan, index=range(5), columns=["a", "b"])
SAME_COLUMNS = pd.DataFrame(NUMBERS, columns=["a", "a", "b"])
ONE_LINK, FAR_LINK = cs.Constraints([[0, 1]], []), cs.Constraints([[0, 99]], [])
INFINITE = np.where(NUMBERS > 8, np.inf, NUMBERS)
WRONG_CALLS = [
    ((None,), {}, TypeError, "data is None: give a frame"),
    ((3,), {}, TypeError, "is of type int: give a frame"),
    (({1, 2},), {}, TypeError, "is of type set: give a frame"),
    ((iter(TEXTS),), {}, TypeError, "is of type list_iterator: give a frame"),
    ((pd.DataFrame(),), {}, ValueError, r"frame of shape \(0, 0\): it has no rows or no columns"),
    ((TABLE[:0],), {}, ValueError, r"frame of shape \(0, 4\): it has no rows"),
    ((TABLE[[]],), {}, ValueError, r"frame of shape \(20, 0\): it has no rows or no columns"),
    ((np.zeros((0, 3)),), {}, ValueError, "must have rows and columns"),
    (([],), {}, ValueError, "is an empty list: it has no rows"),
    ((list(NUMBERS.T), 2), {}, TypeError, "list of 3 arrays of one dimension, .* views as a mapping, .* numpy.stack"),
    (([np.zeros((20, 3, 2)), NUMBERS], 2), {}, ValueError, r"^view 'data\[0\]' must have two dimensions"),
    (({},), {}, ValueError, "data is an empty mapping: give at least one view"),
    ((EMPTY,), {}, ValueError, "no column that can be used: 'a', 'b' "),
    ((np.full((20, 2), np.nan), 2), {}, ValueError, "every cell is empty"),
    ((INFINITE, 2), {}, ValueError, "infinite number in row"),
    ((NUMBERS + 1j, 2), {}, TypeError, "must hold real numbers"),
    ((np.ones((20, 2)), 2), {}, ValueError, "is the same for every entity: leave the view out"),
    ((SAME_COLUMNS, 2), {}, ValueError, "two columns called 'a': rename one"),
    (({"a": NUMBERS, "b": NUMBERS[:5]}, 2), {}, ValueError, r"has 5 rows, view 'a' 20.*id_column="),
    (([__file__, __file__],), {}, TypeError, "data is a list of files: name each as a view"),
    (("none.csv",), {}, FileNotFoundError, "no file none.csv"),
    ((TABLE, 0), {}, ValueError, "n_clusters must be an integer of 1 or more"),
    ((TABLE, True), {}, ValueError, "n_clusters must be an integer of 1 or more"),
    ((TABLE, "three"), {}, ValueError, "n_clusters must be .* got 'three'"),
    ((TABLE, 50), {}, ValueError, "n_clusters=50 is more than the number of entities, 20"),
    ((TABLE, 2), {"kinds": {"text": "txt"}}, ValueError, "no kind 'txt': choose among"),
    ((TABLE, 2), {"kinds": {"tekst": "text"}}, ValueError, "kinds names 'tekst'.*Did you mean 'text'"),
    ((TABLE, 2), {"kinds": "text"}, TypeError, "kinds must be a mapping, such as"),
    ((TABLE, 2), {"encode": {"x": "lsa"}}, ValueError, "encode names the view 'x', but the views are 'data'"),
    ((TABLE, 2), {"encode": {"dat": "words"}}, ValueError, "encode names the view 'dat'.*Did you mean 'data'"),
    ((NAMED, 2), {"encode": {"a": "wrds"}, "kinds": {"a": "text"}}, ValueError, "Did you mean 'words'"),
    ((TABLE, 2), {"labels": "clas"}, ValueError, r"no file has a column 'clas' \(labels\)"),
    ((TABLE, 2), {"labels": [1, 2]}, ValueError, "^labels has 2 labels for 20 entities: give one each"),
    ((TABLE, 2), {"labels": NUMBERS}, ValueError, r"labels must be .* one class per row, got shape \(20, 3\)"),
    ((TABLE, 2), {"labels": [None] * 20}, ValueError, "^labels has no label for any of the entities"),
    ((TABLE, 2), {"seeds": list(range(20))}, ValueError, "seeds has 20 classes .* so give n_clusters=20 or more"),
    ((TABLE, 2), {"seeds": CLUSTERS, "method": "agglomerative"}, ValueError, 'method="agglomerative" takes no seeds'),
    ((TABLE, "small-groups"), {"seeds": CLUSTERS}, ValueError, "takes no seeds: give n_clusters=N"),
    ((TABLE, 2), {"constraints": [(0, 1)]}, TypeError, r"constraints must be Constraints\(must_link="),
    ((TABLE, 2), {"constraints": FAR_LINK}, ValueError, "constraints names the position 99"),
    ((TABLE, 2), {"constraints": ONE_LINK, "method": "k-means"}, ValueError, "takes no constraints: use consilience"),
    ((TABLE, 2), {"describe": ["agee"]}, ValueError, r"no column 'agee' \(describe\)"),
    ((TABLE, 2), {"describe": 3}, TypeError, "describe must be a frame, names of columns"),
    ((NAMED, 2), {"mapping": "same.csv"}, FileNotFoundError, r"there is no file same\.csv"),
    ((TABLE, 2), {"mapping": 3}, TypeError, "mapping must be the path of a table, or a list of paths, got 3"),
    ((TABLE, 2), {"method": "kmeans"}, ValueError, "no method 'kmeans': did you mean 'k-means'"),
    ((TABLE, 2), {"method": None}, TypeError, "method must be a string, such as 'co-em', got None"),
    ((TABLE, 2), {"method": cs.CoEM(2)}, TypeError, "method must be a string, such as 'co-em', got CoEM"),
    ((TABLE, 2), {"options": {"ninit": 5}, "method": "co-em"}, ValueError, "no option 'ninit': did you mean 'n_init'"),
    ((TABLE, 2), {"options": {"eta": 7}, "method": "co-em"}, ValueError, "eta must be a float in the range"),
    ((TABLE, 2), {"options": ["n_init=3"]}, TypeError, "options must be a mapping, such as"),
    ((TABLE, 2), {"options": {"eta": 1}}, ValueError, "method=\"consilience\" has no option 'eta'"),
    ((TABLE, 2), {"outliers": 0.1, "method": "agglomerative"}, ValueError, "takes no outliers"),
    ((TABLE, 2), {"outliers": 2}, ValueError, "outliers must be a number between 0 and 0.5"),
    ((TABLE, 2), {"id_column": "idd"}, ValueError, r"no column 'idd' \(id_column\)"),
    ((TABLE, 2), {"id_column": 3}, TypeError, "id_column must be a string, such as 'sku', got 3"),
    ((TABLE, 2), {"title": 3}, TypeError, "title must be a string"),
    ((TABLE, 2), {"assess": "no"}, TypeError, "assess must be True or False, got 'no'"),
    ((TABLE, 2), {"names": ["a", "b"]}, TypeError, "names must be a mapping, such as"),
    ((TABLE, 2), {"random_state": 1.5}, ValueError, "random_state must be an integer of 0 or more"),
]


@pytest.mark.parametrize(("data", "options", "error", "message"), WRONG_CALLS)
def test_wrong_calls_name_the_argument_and_what_to_do(data, options, error, message):
    with pytest.raises(error, match=message) as caught:
        cs.cluster(*data, **options)
    assert not re.search(r"(?<![\w-])(--[a-z]|-k\b)", str(caught.value))


@pytest.fixture(scope="module")
def result():
    return cluster(TABLE)


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda result: result.rename(["x"]), TypeError, "names must be a mapping, such as {0: 'knives'}"),
        (lambda result: result.compare(TABLE), TypeError, r"other must be a Result.*DataFrame of shape \(20, 4\)"),
        (lambda result: result.save(3), TypeError, "folder must be a path, such as 'groups', got 3"),
        (lambda result: result.to_excel(3), TypeError, r"path must be a path, such as 'groups\.xlsx', got 3"),
        (lambda result: result.figure(width="wide"), TypeError, "width must be a number of mm, got 'wide'"),
        (lambda result: result.predict(None), TypeError, "data is None: give a frame"),
        (lambda result: result.predict(TABLE[["length"]]), ValueError, "no column 'width'; it has 'length'"),
    ],
)
def test_wrong_calls_of_a_result_name_the_argument(call, error, message, result):
    with pytest.raises(error, match=message):
        call(result)
